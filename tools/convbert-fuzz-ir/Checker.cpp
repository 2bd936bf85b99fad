//===- Checker.cpp - What must hold for any valid module ------------------===//

#include "tools/convbert-fuzz-ir/Checker.h"
#include "lib/Pipelines/Phases.h"
#include "mlir/Bytecode/BytecodeWriter.h"
#include "mlir/IR/Verifier.h"
#include "mlir/Parser/Parser.h"
#include "mlir/Pass/Pass.h"
#include "mlir/Pass/PassInstrumentation.h"
#include "mlir/Pass/PassRegistry.h"
#include "tools/convbert-fuzz-ir/Errors.h"
#include <unistd.h>

using namespace mlir;
using namespace mlir::convbert;
using namespace mlir::convbert::fuzz;

namespace {

/// Names the pass that runs and verifies what it leaves behind.
struct Watcher : PassInstrumentation {
  explicit Watcher(Journal &journal) : journal(journal) {}
  void runBeforePass(Pass *pass, Operation *) override {
    if (!pass->getArgument().empty())
      journal.beginPass(pass->getArgument());
  }
  void runAfterPass(Pass *pass, Operation *op) override {
    if (pass->getArgument().empty() || succeeded(verify(op)))
      return;
    // An upstream pass that does so on IR with a contradiction is refused by the pass manager, with a diagnostic.
    if (pass->getArgument().starts_with("convbert"))
      journal.find("invalid", "leaves IR that does not verify");
    else
      journal.count("upstream invalid " + pass->getArgument());
    journal.flush();
    _exit(kStopped);
  }
  Journal &journal;
};

} // namespace

static std::string print(ModuleOp module, bool generic = false) {
  std::string text;
  llvm::raw_string_ostream os(text);
  OpPrintingFlags flags;
  if (generic)
    flags.printGenericOpForm();
  module.print(os, flags);
  return text;
}

void Checker::checkRoundTrip(const Subject &subject, ModuleOp module) {
  Errors errors(context);
  journal.begin(subject, "");
  std::string text = print(module);
  auto compare = [&](StringRef form, StringRef printed) {
    journal.beginPass(("round trip of " + form).str());
    OwningOpRef<ModuleOp> parsed = parseSourceString<ModuleOp>(printed, &context);
    if (!parsed)
      journal.find("round-trip", "does not parse: " + errors.first);
    else if (print(*parsed) != text)
      journal.find("round-trip", "is another module after parsing");
  };
  compare("text", text);
  compare("generic text", print(module, /*generic=*/true));
  std::string bytes;
  llvm::raw_string_ostream os(bytes);
  journal.beginPass("round trip of bytecode");
  if (failed(writeBytecodeToFile(module, os)))
    journal.find("round-trip", "cannot be written");
  else
    compare("bytecode", bytes);
  journal.count("round trips");
}

PassManager &Checker::getPassManager(const std::string &pipeline) {
  std::unique_ptr<PassManager> &manager = managers[pipeline];
  if (manager)
    return *manager;
  manager = std::make_unique<PassManager>(&context, ModuleOp::getOperationName(), PassManager::Nesting::Implicit);
  manager->enableVerifier(false); // the instrumentation does it and tells a bad pass from a pass that refuses
  manager->addInstrumentation(std::make_unique<Watcher>(journal));
  std::string error;
  llvm::raw_string_ostream os(error);
  if (failed(parsePassPipeline(pipeline, *manager, os)))
    journal.find("pipeline", "does not parse: " + error);
  return *manager;
}

bool Checker::run(const Subject &subject, ModuleOp module, const std::string &pipeline) {
  Errors errors(context);
  journal.begin(subject, pipeline);
  bool done = succeeded(getPassManager(pipeline).run(module));
  StringRef name = pipeline;
  if (!name.contains(',')) {
    name.consume_front("func.func(");
    name = name.take_until([](char c) { return c == '{' || c == ')'; });
  }
  journal.count("runs " + name);
  if (done)
    journal.count("done " + name);
  else
    journal.count("refused " + name + ": " + StringRef(errors.first).take_front(70));
  if (!done && errors.count == 0)
    journal.find("silent", "fails without a diagnostic");
  if (done && errors.count != 0)
    journal.find("ignored", "succeeds after an error: " + errors.first);
  return done;
}

std::string Checker::withOptions(StringRef name, Random &random) {
  bool onFunctions = registered.onFunctions.contains(name) || (name == "convbert-decompose" && random.chance(50));
  auto with = [&](StringRef options) {
    std::string pass = (name + (options.empty() ? "" : "{" + options + "}")).str();
    return onFunctions ? "func.func(" + pass + ")" : pass;
  };
  StringRef isa = random.pick<StringRef>({"isa=generic", "isa=avx2", "isa=avx512", "isa=neon", "isa=none"});
  if (name == "convbert-verify-phase")
    return with(("phase=" + random.pick(getPhases()).name).str());
  if (name == "convbert-print-cost")
    return with(random.pick<StringRef>({"batch=1 length=128", "batch=65536 length=65536", "batch=0"}));
  if (name == "convbert-pack-parameters" || name == "convbert-outline" || name == "convbert-schedule" ||
      (llvm::is_contained(registered.pipelines, name) && !name.contains(',')))
    return with(isa);
  return with("");
}

void Checker::checkPasses(const Subject &subject, ModuleOp module, Random &random, int64_t percent) {
  auto tryOn = [&](StringRef name) {
    OwningOpRef<ModuleOp> copy = module.clone();
    run(subject, *copy, withOptions(name, random));
  };
  for (const std::string &pass : registered.passes)
    if (random.chance(percent))
      tryOn(pass);
  if (random.chance(percent / 2))
    tryOn(random.pick(ArrayRef(registered.pipelines)));
}

void Checker::checkFresh(const Subject &subject, ModuleOp module, Random &random) {
  bool single = random.chance(70);
  std::string pipeline = withOptions(random.pick(ArrayRef(single ? registered.passes : registered.pipelines)), random);
  MLIRContext fresh(registry, MLIRContext::Threading::DISABLED);
  Errors errors(fresh);
  journal.begin(subject, pipeline);
  OwningOpRef<ModuleOp> parsed = parseSourceString<ModuleOp>(print(module), &fresh);
  PassManager manager(&fresh, ModuleOp::getOperationName(), PassManager::Nesting::Implicit);
  if (!parsed || failed(parsePassPipeline(pipeline, manager)))
    return; // told elsewhere
  if (failed(manager.run(*parsed)) && errors.count == 0)
    journal.find("silent", "fails without a diagnostic");
  journal.count("fresh contexts");
}

void Checker::checkPhases(Subject subject, OwningOpRef<ModuleOp> module, Random &random) {
  std::string isa = random.pick<StringRef>({"generic", "avx2", "avx512", "neon"}).str();
  for (const Phase &phase : getPhases()) {
    if (phase.pipeline.empty())
      continue;
    std::string pipeline = (phase.pipeline + "{isa=" + isa + "}").str();
    if (!run(subject, *module, pipeline))
      return;
    journal.count("reached " + phase.name + " " + isa);
    subject.prefix += (subject.prefix.empty() ? "" : ",") + pipeline;
    if (random.chance(30))
      checkRoundTrip(subject, *module);
    if (!random.chance(40))
      continue;
    // What the phase leaves, with a few changes, is valid IR too.
    Subject changed = subject;
    changed.mutation = random.next() | 1;
    OwningOpRef<ModuleOp> copy = module->clone();
    change(changed, *copy);
    checkPasses(changed, *copy, random, 40);
  }
}

OwningOpRef<ModuleOp> Checker::build(const Subject &subject) {
  OwningOpRef<ModuleOp> module = Generator(context, subject.seed).generate();
  if (!subject.prefix.empty() && !run(subject, *module, subject.prefix))
    return nullptr;
  if (subject.mutation)
    change(subject, *module);
  return module;
}

void Checker::change(const Subject &subject, ModuleOp module) {
  Random random(subject.mutation);
  journal.begin(subject, "");
  mutate(module, random, random.between(1, 8),
         [&](Operation *op) { journal.beginPass(("change of " + op->getName().getStringRef()).str()); });
}

void Checker::replay(const Subject &subject, ModuleOp module, const std::string &pipeline) {
  if (!pipeline.empty())
    return (void)run(subject, module, pipeline);
  Random random(subject.seed);
  checkRoundTrip(subject, module);
  checkInterfaces(subject, module, random);
}

void Checker::countCoverage(ModuleOp module) {
  module.walk([&](Operation *op) {
    StringRef name = op->getName().getStringRef();
    if (!name.starts_with("convbert."))
      return;
    journal.count("op " + name);
    for (NamedAttribute named : op->getAttrDictionary())
      if (named.getValue().getDialect().getNamespace() == "convbert") {
        std::string text;
        llvm::raw_string_ostream(text) << named.getValue();
        journal.count("case " + name + " " + text);
      }
    if (op->getNumResults())
      if (auto type = dyn_cast<RankedTensorType>(op->getResult(0).getType())) {
        std::string text;
        llvm::raw_string_ostream(text) << type.getElementType();
        journal.count("element " + name + " " + text);
      }
  });
}

void Checker::check(uint64_t seed) {
  Subject subject{seed, "", 0};
  journal.begin(subject, "");
  journal.beginPass("generator");
  Random random(seed ^ 0xc0ffee);
  subject.mutation = random.chance(25) ? random.next() | 1 : 0;
  OwningOpRef<ModuleOp> module = build(subject);
  journal.count("modules");
  {
    Errors errors(context);
    if (failed(verify(*module)))
      return journal.find("generator", "makes a module that does not verify: " + errors.first);
  }
  countCoverage(*module);
  checkRoundTrip(subject, *module);
  checkInterfaces(subject, *module, random);
  checkPasses(subject, *module, random, 60);
  if (random.chance(5))
    checkFresh(subject, *module, random);
  checkPhases(subject, std::move(module), random);
  journal.flush();
}
