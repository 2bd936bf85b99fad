//===- PickleMachine.h - The stack machine that reads pickles ---*- C++ -*-===//

#ifndef CONVBERT_LIB_IMPORT_PICKLEMACHINE_H
#define CONVBERT_LIB_IMPORT_PICKLEMACHINE_H

#include "lib/Import/Pickle.h"
#include <unordered_map>

namespace mlir::convbert {

/// The stack machine, for one pickle.
class Unpickler::Machine {
public:
  explicit Machine(Unpickler &owner) : owner(owner) {}

  llvm::Expected<const PickleValue *> run();

private:
  using Kind = PickleValue::Kind;
  using Error = llvm::Error;
  using StringRef = llvm::StringRef;

  /// A message with the opcode that it is about.
  Error error(const llvm::Twine &message) const;

  // Bytes of the pickle.
  Error takeBytes(uint64_t count, StringRef &taken);
  Error takeLine(StringRef &line);
  Error takeNumber(unsigned width, uint64_t &number);
  Error takeCounted(unsigned width, StringRef &taken);

  // Values and the stack.
  Error make(Kind kind, PickleValue *&value);
  Error push(const PickleValue *value);
  Error pushNew(Kind kind, int64_t integer = 0, StringRef text = {});
  Error pop(PickleValue *&value);
  Error popMark(size_t &begin);
  Error pushItems(Kind kind, size_t count);
  Error pushText(StringRef text, bool mustBeUnicode);
  Error pushDecimal(StringRef line);
  Error pushLong(StringRef digits);
  Error pushGlobal(StringRef module, StringRef name);
  Error addItems(size_t begin, bool pairs);

  // Groups of opcodes; `handled` says whether the opcode belongs to the group.
  Error step();
  Error number(bool &handled);
  Error string(bool &handled);
  Error container(bool &handled);
  Error memory(bool &handled);
  Error object(bool &handled);
  Error reduce();
  Error build();

  Unpickler &owner;
  size_t start = 0;
  uint8_t opcode = 0;
  bool stopped = false;
  std::vector<PickleValue *> stack;
  std::vector<size_t> marks;
  std::unordered_map<uint64_t, PickleValue *> memo;
};

} // namespace mlir::convbert

#endif // CONVBERT_LIB_IMPORT_PICKLEMACHINE_H
