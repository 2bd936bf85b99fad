//===- Journal.h - What a worker tells its parent ---------------*- C++ -*-===//
//
// A worker may die at any moment, so it says what it is about to do in memory that both share, and sends findings and
// counts through a pipe.
//
//===----------------------------------------------------------------------===//

#ifndef CONVBERT_TOOLS_FUZZIR_JOURNAL_H
#define CONVBERT_TOOLS_FUZZIR_JOURNAL_H

#include "llvm/ADT/StringMap.h"
#include "llvm/ADT/StringRef.h"
#include "llvm/ADT/Twine.h"
#include <atomic>
#include <cstdint>
#include <string>
#include <sys/types.h>

namespace mlir::convbert::fuzz {

/// A module that can be made again: the generator's, then through a pipeline, then changed at random.
struct Subject {
  uint64_t seed = 0;
  std::string prefix;    ///< passes that it has been through; may be empty
  uint64_t mutation = 0; ///< seed of the changes; 0: none
};

/// What a worker is doing, in memory that outlives it.  Strings are cut to the size of their array.
struct Status {
  std::atomic<uint64_t> seed, mutation;
  std::atomic<int64_t> started;    ///< when the current step did: milliseconds of the steady clock
  std::atomic<int64_t> startedCpu; ///< the same in processor time of the worker
  char prefix[1024], pipeline[512], pass[128];
};

class Journal {
public:
  /// `pipe`: file descriptor to write to.
  Journal(Status &status, int pipe) : status(status), pipe(pipe) {}

  /// `pipeline` is about to run on `subject`.
  void begin(const Subject &subject, llvm::StringRef pipeline);
  void beginPass(llvm::StringRef pass);
  /// Something is wrong with what was begun last.
  void find(llvm::StringRef kind, llvm::StringRef message);
  void count(const llvm::Twine &key) { ++counts[key.str()]; }
  /// Sends the counts and forgets them.
  void flush();

private:
  void send(std::string line);
  Status &status;
  int pipe;
  llvm::StringMap<int64_t> counts;
};

/// Milliseconds of the steady clock.
int64_t now();
/// Milliseconds that `process` (0: this one) has had of a processor.  A busy machine is no hang.
int64_t getCpuTime(pid_t process = 0);

} // namespace mlir::convbert::fuzz

#endif // CONVBERT_TOOLS_FUZZIR_JOURNAL_H
