//===- convbert-fuzz-ir.cpp - Random modules through all passes and phases ===//
//
//   convbert-fuzz-ir --seconds 600 --seed 1
//
// For every module: it survives a round trip, and every pass and every phase either succeeds and leaves valid IR, or
// fails with a diagnostic.  What breaks that is written to a directory, with the command that replays it.
//
//===----------------------------------------------------------------------===//

#include "lib/Pipelines/Registration.h"
#include "mlir/IR/MLIRContext.h"
#include "tools/ToolMain.h"
#include "tools/convbert-fuzz-ir/Planted.h"
#include "tools/convbert-fuzz-ir/Workers.h"
#include "llvm/Support/JSON.h"

using namespace mlir;
using namespace mlir::convbert;
using namespace mlir::convbert::fuzz;
namespace cl = llvm::cl;

static llvm::json::Object toJSON(const Finding &finding) {
  return llvm::json::Object{{"kind", finding.kind},       {"pass", finding.pass},
                            {"message", finding.message}, {"pipeline", finding.pipeline},
                            {"file", finding.file},       {"times", finding.times},
                            {"replays", finding.replays}, {"seed", static_cast<int64_t>(finding.subject.seed)}};
}

static bool writeReport(const Report &report, StringRef path) {
  llvm::json::Object counts;
  for (const auto &[key, count] : report.counts)
    counts[key] = count;
  llvm::json::Array findings;
  for (const Finding &finding : report.findings)
    findings.push_back(toJSON(finding));
  std::error_code error;
  llvm::raw_fd_ostream os(path, error);
  if (!error)
    os << llvm::json::Value(llvm::json::Object{{"counts", std::move(counts)}, {"findings", std::move(findings)}})
       << "\n";
  return !error;
}

/// Sum of the counts whose key begins with `prefix`.
static int64_t sum(const Report &report, StringRef prefix) {
  int64_t total = 0;
  for (const auto &[key, count] : report.counts)
    if (StringRef(key).starts_with(prefix))
      total += count;
  return total;
}

int main(int argc, char **argv) {
  initTool("convbert-fuzz-ir");
  hideOptions();
  FreedOption freed("seed");
  cl::OptionCategory category("convbert-fuzz-ir options");
  cl::opt<uint64_t> seed("seed", cl::desc("Seed of the first module; the others follow"), cl::init(1),
                         cl::cat(category));
  cl::opt<int64_t> seconds("seconds", cl::desc("Time to spend"), cl::init(10), cl::cat(category));
  cl::opt<int64_t> count("count", cl::desc("Modules at most (0: as the time allows)"), cl::cat(category));
  cl::opt<int64_t> limit("limit", cl::desc("Seconds of a processor that one pass may take"), cl::init(20),
                         cl::cat(category));
  cl::opt<std::string> directory("directory", cl::desc("Where to write modules with findings"), cl::init("fuzz-ir"),
                                 cl::cat(category));
  cl::opt<std::string> report("report", cl::desc("Write all counts and findings to this file (JSON)"),
                              cl::cat(category));
  cl::opt<std::string> plant("plant", cl::desc("Add a pass that does wrong: crash, hang, silent, ignored or invalid"),
                             cl::cat(category));
  cl::opt<bool> print("print", cl::desc("Print the module of the seed, and nothing else"), cl::cat(category));
  cl::opt<bool> here("here", cl::desc("Check the module of the seed in this process, for a debugger"),
                     cl::cat(category));
  cl::opt<bool> list("list", cl::desc("Print the ops and passes under test, and nothing else"), cl::cat(category));
  cl::ParseCommandLineOptions(argc, argv, "Runs all passes and phases on random modules\n");

  DialectRegistry registry;
  registerAll(registry);
  registerAllPasses();
  if (!plant.empty() && !plantPass(plant)) {
    llvm::errs() << "convbert-fuzz-ir: requires crash, hang, silent, ignored or invalid to plant, but found " << plant
                 << "\n";
    return 2;
  }
  Registered registered = Registered::list();
  if (list || print) {
    MLIRContext context(registry);
    context.loadAllAvailableDialects();
    if (print)
      llvm::outs() << *Generator(context, seed).generate() << "\n";
    for (RegisteredOperationName op : context.getRegisteredOperations())
      if (list && op.getDialectNamespace() == "convbert")
        llvm::outs() << "op " << op.getStringRef() << "\n";
    for (StringRef pass : llvm::concat<std::string>(registered.passes, registered.pipelines))
      if (list)
        llvm::outs() << "pass " << pass << "\n";
    return 0;
  }

  if (here) {
    checkHere(registry, registered, seed);
    return 0;
  }
  Options options{seed, seconds, count, limit, directory};
  Report result = runWorkers(registry, registered, options);
  for (const Finding &finding : result.findings)
    llvm::outs() << finding.kind << ": " << finding.pass << " " << finding.message << " (" << finding.times << " times"
                 << (finding.replays ? "" : "; takes the modules before it")
                 << ")\n  convbert-opt --pass-pipeline='builtin.module(" << finding.pipeline << ")' " << finding.file
                 << "\n";
  llvm::outs() << sum(result, "modules") << " modules, " << sum(result, "runs ") << " runs of passes and phases ("
               << sum(result, "done ") << " succeeded), " << sum(result, "round trips") << " round trips, "
               << result.findings.size() << " findings\n";
  if (!report.empty() && !writeReport(result, report)) {
    llvm::errs() << "convbert-fuzz-ir: requires a file for the report that can be written, but found " << report
                 << "\n";
    return 1;
  }
  return result.findings.empty() && sum(result, "modules") > 0 ? 0 : 1;
}
