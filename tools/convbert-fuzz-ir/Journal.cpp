//===- Journal.cpp - What a worker tells its parent -----------------------===//

#include "tools/convbert-fuzz-ir/Journal.h"
#include "llvm/ADT/StringExtras.h"
#include <algorithm>
#include <chrono>
#include <cstring>
#include <ctime>
#include <unistd.h>

using namespace mlir::convbert::fuzz;

int64_t mlir::convbert::fuzz::now() {
  auto time = std::chrono::steady_clock::now().time_since_epoch();
  return std::chrono::duration_cast<std::chrono::milliseconds>(time).count();
}

int64_t mlir::convbert::fuzz::getCpuTime(pid_t process) {
  clockid_t clock;
  timespec time{};
  if (clock_getcpuclockid(process, &clock) != 0 || clock_gettime(clock, &time) != 0)
    return 0; // it has ended
  return 1000 * static_cast<int64_t>(time.tv_sec) + time.tv_nsec / 1000000;
}

template <size_t N> static void copy(char (&to)[N], llvm::StringRef from) {
  size_t length = std::min(from.size(), N - 1);
  std::memcpy(to, from.data(), length);
  to[length] = 0;
}

static void start(Status &status) {
  status.started = now();
  status.startedCpu = getCpuTime();
}

void Journal::begin(const Subject &subject, llvm::StringRef pipeline) {
  status.seed = subject.seed;
  status.mutation = subject.mutation;
  copy(status.prefix, subject.prefix);
  copy(status.pipeline, pipeline);
  copy(status.pass, pipeline);
  start(status);
}

void Journal::beginPass(llvm::StringRef pass) {
  copy(status.pass, pass);
  start(status);
}

void Journal::find(llvm::StringRef kind, llvm::StringRef message) {
  std::string text = message.str();
  std::replace_if(text.begin(), text.end(), [](char c) { return c == '\n' || c == '\t'; }, ' ');
  // The parent reads later: what the status says now goes along.
  std::string fields[] = {"find",
                          kind.str(),
                          text,
                          status.pass,
                          status.pipeline,
                          status.prefix,
                          std::to_string(status.seed),
                          std::to_string(status.mutation)};
  send(llvm::join(std::begin(fields), std::end(fields), "\t"));
}

void Journal::flush() {
  for (const auto &entry : counts)
    send("count\t" + entry.getKey().str() + "\t" + std::to_string(entry.getValue()));
  counts.clear();
}

void Journal::send(std::string line) {
  line += '\n';
  for (size_t sent = 0; sent < line.size();) {
    ssize_t written = write(pipe, line.data() + sent, line.size() - sent);
    if (written <= 0)
      _exit(4); // no parent, no purpose
    sent += written;
  }
}
