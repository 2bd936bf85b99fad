//===- Workers.cpp - Checks in processes that may die ---------------------===//

#include "tools/convbert-fuzz-ir/Workers.h"
#include "mlir/IR/MLIRContext.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/MemoryBuffer.h"
#include "llvm/Support/raw_ostream.h"
#include <cerrno>
#include <csignal>
#include <fcntl.h>
#include <malloc.h>
#include <new>
#include <poll.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

using namespace mlir;
using namespace mlir::convbert::fuzz;

#if defined(__SANITIZE_ADDRESS__)
static constexpr bool kAddressSanitizer = true;
#elif defined(__has_feature)
static constexpr bool kAddressSanitizer = __has_feature(address_sanitizer);
#else
static constexpr bool kAddressSanitizer = false;
#endif

/// Modules that a worker checks: contexts grow with every new attribute.
static constexpr uint64_t kBatch = 400;
/// Modules with the same finding that are tried for a smaller reproducer.
static constexpr int64_t kTries = 25;

namespace {

class Parent {
public:
  Parent(const DialectRegistry &registry, const Registered &registered, const Options &options)
      : registry(registry), registered(registered), options(options), deadline(now() + 1000 * options.seconds) {
    void *memory = mmap(nullptr, sizeof(Status), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    status = new (memory) Status();
  }
  ~Parent() { munmap(status, sizeof(Status)); }

  Report run() {
    uint64_t next = options.seed, end = options.count ? next + options.count : UINT64_MAX;
    while (next < end && now() < deadline)
      next = runBatch(next, std::min(end, next + kBatch));
    return std::move(report);
  }

private:
  /// Forks a worker that does `body`; the parent gets the process and the reading end of its pipe.
  template <typename Body> std::pair<pid_t, int> start(Body body) {
    int ends[2];
    if (pipe(ends) != 0)
      llvm::report_fatal_error("requires a pipe, but the system has none left");
    status->started = now();
    status->startedCpu = 0;
    llvm::outs().flush();
    pid_t child = fork();
    if (child < 0)
      llvm::report_fatal_error("requires another process, but the system refuses one");
    if (child != 0) {
      close(ends[1]);
      return {child, ends[0]};
    }
    close(ends[0]);
    for (int signal : {SIGSEGV, SIGABRT, SIGBUS, SIGILL, SIGFPE, SIGTRAP})
      std::signal(signal, SIG_DFL); // no stack trace, which takes a second
    rlimit memory{6ull << 30, 6ull << 30}, none{0, 0};
    setrlimit(RLIMIT_CORE, &none);
    // AddressSanitizer wants terabytes of addresses, and does better than to fill memory.
    if (!kAddressSanitizer) {
      setrlimit(RLIMIT_AS, &memory);
      // A pass that reads memory after its end, or before its beginning, shall not find what it hopes for.
      mallopt(M_PERTURB, 0xa5);
    }
    int null = open("/dev/null", O_WRONLY);
    dup2(null, STDERR_FILENO);
    dup2(null, STDOUT_FILENO);
    MLIRContext context(registry, MLIRContext::Threading::DISABLED);
    context.printOpOnDiagnostic(false);
    Journal journal(*status, ends[1]);
    Checker checker(context, journal, registry, registered);
    body(checker);
    journal.flush();
    _exit(0);
  }

  /// Whether the step that `child` is at has had its time; much more of it if `child` waits for something.
  bool isLate(pid_t child) const {
    int64_t limit = 1000 * options.limit;
    return getCpuTime(child) > status->startedCpu + limit || now() > status->started + 30 * limit;
  }

  /// Reads what the worker sends until it ends; kills it if a step takes too long.  Returns its
  /// state as `waitpid` has it, or nothing if it was killed.
  std::optional<int> wait(pid_t child, int pipe) {
    std::string received;
    bool killed = false;
    for (bool open = true; open;) {
      pollfd events{pipe, POLLIN, 0};
      if (poll(&events, 1, 100) > 0) {
        char buffer[4096];
        ssize_t size = read(pipe, buffer, sizeof buffer);
        open = size > 0 || (size < 0 && errno == EINTR);
        received.append(buffer, std::max<ssize_t>(size, 0));
        for (size_t at; (at = received.find('\n')) != std::string::npos; received.erase(0, at + 1))
          receive(StringRef(received).take_front(at));
      }
      if (!killed && isLate(child)) {
        killed = true;
        kill(child, SIGKILL);
      }
    }
    close(pipe);
    int state = 0;
    waitpid(child, &state, 0);
    return killed ? std::nullopt : std::optional(state);
  }

  void receive(StringRef line) {
    SmallVector<StringRef> fields;
    line.split(fields, '\t');
    int64_t count = 0;
    if (fields.size() == 3 && fields[0] == "count" && !fields[2].getAsInteger(10, count))
      report.counts[fields[1].str()] += count;
    Subject subject;
    if (fields.size() == 8 && fields[0] == "find" && !fields[6].getAsInteger(10, subject.seed) &&
        !fields[7].getAsInteger(10, subject.mutation)) {
      subject.prefix = fields[5].str();
      noted.push_back({fields[1].str(), fields[3].str(), fields[2].str(), fields[4].str(), subject, "", 1, 0});
    }
  }

  /// Checks modules [first, end); returns the first that has not been looked at.
  uint64_t runBatch(uint64_t first, uint64_t end) {
    auto [child, pipe] = start([&](Checker &checker) {
      for (uint64_t seed = first; seed < end && now() < deadline; ++seed)
        checker.check(seed);
    });
    std::optional<int> state = wait(child, pipe);
    uint64_t next = end;
    if (!state || !WIFEXITED(*state) || WEXITSTATUS(*state) != 0)
      next = std::max<uint64_t>(first, status->seed) + 1;
    Finding found{
        "", status->pass, "", status->pipeline, Subject{status->seed, status->prefix, status->mutation}, "", 1, 0};
    if (!state) {
      found.kind = "hang";
      found.message = "takes longer than " + std::to_string(options.limit) + " s";
      noted.push_back(found);
    } else if (state && (WIFSIGNALED(*state) ||
                         (WIFEXITED(*state) && WEXITSTATUS(*state) != 0 && WEXITSTATUS(*state) != kStopped))) {
      found.kind = "crash";
      found.message = WIFSIGNALED(*state) ? std::string("dies of signal ") + strsignal(WTERMSIG(*state))
                                          : "exits with code " + std::to_string(WEXITSTATUS(*state));
      noted.push_back(found);
    }
    for (Finding &finding : std::exchange(noted, {})) {
      // Some verifiers of other dialects do not stand whatever IR they meet.
      StringRef changed = finding.pass;
      if (changed.consume_front("change of ") && !changed.starts_with("convbert."))
        ++report.counts["upstream verifier dies of " + changed.str()];
      else
        record(finding);
    }
    return next;
  }

  /// Counts a finding and keeps the smallest module that shows it.
  void record(Finding &finding) {
    Finding *known = nullptr;
    for (Finding &other : report.findings)
      if (other.kind == finding.kind && other.pass == finding.pass &&
          (finding.kind == "crash" ||
           StringRef(other.message).take_front(60) == StringRef(finding.message).take_front(60)))
        known = &other;
    if (known && ++known->times > kTries)
      return;
    std::string name = finding.kind + "-" + finding.pass + "-" + std::to_string(finding.subject.seed);
    std::replace_if(name.begin(), name.end(), [](char c) { return !llvm::isAlnum(c) && c != '-'; }, '-');
    finding.file = options.directory + "/" + name + ".mlir";
    writeModule(finding);
    if (!known) {
      report.findings.push_back(finding);
    } else if (finding.size < known->size) {
      llvm::sys::fs::remove(known->file);
      finding.times = known->times;
      *known = finding;
    } else {
      llvm::sys::fs::remove(finding.file);
    }
  }

  /// Writes the module of `finding`, and tries it again, in a process of its own.
  void writeModule(Finding &finding) {
    llvm::sys::fs::create_directories(options.directory);
    auto [child, pipe] = start([&](Checker &checker) {
      OwningOpRef<ModuleOp> module = checker.build(finding.subject);
      if (!module)
        return;
      std::error_code error;
      llvm::raw_fd_ostream os(finding.file, error);
      os << "// " << finding.pass << " " << finding.message << "\n// seed " << finding.subject.seed;
      if (!finding.subject.prefix.empty())
        os << ", after " << finding.subject.prefix;
      if (finding.subject.mutation)
        os << ", with changes";
      os << "\n// convbert-opt --pass-pipeline='builtin.module(" << finding.pipeline << ")'\n" << *module << "\n";
      os.close();
      checker.replay(finding.subject, *module, finding.pipeline);
    });
    std::optional<int> state = wait(child, pipe);
    finding.replays = !state || *state != 0 || !noted.empty();
    noted.clear();
    uint64_t size = 0;
    finding.size = llvm::sys::fs::file_size(finding.file, size) ? INT64_MAX : static_cast<int64_t>(size);
  }

  const DialectRegistry &registry;
  const Registered &registered;
  const Options &options;
  int64_t deadline;
  Status *status;
  Report report;
  std::vector<Finding> noted; ///< of the batch that runs
};

} // namespace

void mlir::convbert::fuzz::checkHere(const DialectRegistry &registry, const Registered &registered, uint64_t seed) {
  Status status{};
  Journal journal(status, STDOUT_FILENO);
  MLIRContext context(registry, MLIRContext::Threading::DISABLED);
  Checker(context, journal, registry, registered).check(seed);
  journal.flush();
}

Report mlir::convbert::fuzz::runWorkers(const DialectRegistry &registry, const Registered &registered,
                                        const Options &options) {
  return Parent(registry, registered, options).run();
}
