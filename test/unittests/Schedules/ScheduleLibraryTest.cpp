//===- ScheduleLibraryTest.cpp - Loading and finding sequences ------------===//

#include "lib/Schedules/ScheduleLibrary.h"
#include "lib/Outline/CostModel.h"
#include "lib/Schedules/Passes.h"
#include "mlir/IR/Diagnostics.h"
#include "gtest/gtest.h"

using namespace mlir;
using namespace mlir::convbert;

namespace {

const char *kIsas =
    R"mlir(module attributes {convbert.isa = {wide = {nv = 16 : i64}, narrow = {nv = 8 : i64}}} {})mlir";

/// A file with one sequence of the given name and arguments.
std::string sequence(const std::string &name,
                     const std::string &arguments = "%k: !transform.any_op {transform.readonly}") {
  return "module attributes {transform.with_named_sequence} { transform.named_sequence @" + name + "(" + arguments +
         ") { transform.yield } }";
}

struct ScheduleLibraryTest : ::testing::Test {
  ScheduleLibraryTest() {
    DialectRegistry registry;
    createScheduleKernels()->getDependentDialects(registry);
    context.appendDialectRegistry(registry);
    context.loadAllAvailableDialects();
  }

  FailureOr<std::shared_ptr<ScheduleLibrary>> load(ArrayRef<std::string> texts) {
    SmallVector<ScheduleLibrary::File> files;
    for (const std::string &text : texts)
      files.emplace_back("file.mlir", text);
    ScopedDiagnosticHandler handler(&context, [&](Diagnostic &diagnostic) { error += diagnostic.str() + "\n"; });
    return ScheduleLibrary::load(&context, files);
  }

  /// Loads files that must be refused for the reason `why`.
  void expectRefused(ArrayRef<std::string> texts, StringRef why) {
    error.clear();
    EXPECT_TRUE(failed(load(texts)));
    EXPECT_TRUE(StringRef(error).contains(why)) << error;
  }

  MLIRContext context;
  std::string error;
};

} // namespace

TEST_F(ScheduleLibraryTest, EmbeddedFilesLoad) {
  auto library = ScheduleLibrary::load(&context);
  ASSERT_TRUE(succeeded(library));
  EXPECT_EQ((*library)->isaNames(), "avx2, avx512, avx512bf16, generic, neon");
  for (const InstructionSet &isa : InstructionSet::getAll()) {
    ASSERT_TRUE((*library)->hasIsa(isa.name)) << isa.name.str();
    auto dense = (*library)->find(isa.name, Float32Type::get(&context), "dense");
    EXPECT_EQ((*library)->parameters(dense, isa.name)[0],
              std::make_pair(StringRef("nv"), int64_t(isa.vectorBits / 32)));
    // What the cost model takes for granted of the schedules.
    auto block = std::make_pair(StringRef("mb"), CostModel::get(isa.name)->getCore().blockRows / isa.tiles.rows);
    EXPECT_TRUE(llvm::is_contained((*library)->parameters(dense, isa.name), block)) << isa.name.str();
  }
  Type f32 = Float32Type::get(&context), f64 = Float64Type::get(&context);
  for (StringRef kind : {"dense", "norm", "embed", "pack"})
    for (const InstructionSet &isa : InstructionSet::getAll())
      EXPECT_TRUE((*library)->find(isa.name, f32, kind)) << kind.str() << " " << isa.name.str();
  EXPECT_FALSE((*library)->find("avx2", f64, "dense"));
  EXPECT_TRUE((*library)->find("avx2", f64, "pack")) << "relayouts serve every element type";
}

TEST_F(ScheduleLibraryTest, MostSpecialSequenceIsFound) {
  auto library = load({kIsas, sequence("a"), sequence("a.f32"), sequence("a.f32.wide")});
  ASSERT_TRUE(succeeded(library)) << error;
  Type f32 = Float32Type::get(&context), f64 = Float64Type::get(&context);
  EXPECT_EQ((*library)->find("wide", f32, "a").getSymName(), "a.f32.wide");
  EXPECT_EQ((*library)->find("narrow", f32, "a").getSymName(), "a.f32");
  EXPECT_EQ((*library)->find("wide", f64, "a").getSymName(), "a");
  EXPECT_FALSE((*library)->find("wide", f32, "b"));
}

TEST_F(ScheduleLibraryTest, NamesAreChecked) {
  expectRefused({kIsas, sequence("a.f32.wide.more")},
                "requires a name `kind`, `kind.element` or `kind.element.isa`, but found @a.f32.wide.more");
  expectRefused({kIsas, sequence("a.f32.odd")},
                "requires one of the instruction sets narrow, wide in its name, but found @a.f32.odd");
  expectRefused({kIsas, sequence("a"), sequence("a")}, "requires a name of its own, but found @a");
}

TEST_F(ScheduleLibraryTest, ParametersAreChecked) {
  const std::string kernel = "%k: !transform.any_op {transform.readonly}, ";
  expectRefused({kIsas, sequence("a", "")}, "requires the kernel function as its first argument, but found none");
  expectRefused({kIsas, sequence("a", kernel + "%p: !transform.param<i64> {transform.readonly}")},
                "requires an attribute `convbert.param` on argument 1, but found none");
  expectRefused(
      {kIsas, sequence("a", kernel + "%p: !transform.param<i64> {transform.readonly, convbert.param = \"x\"}")},
      "requires a parameter \"x\" of ");
  expectRefused({"module attributes {convbert.isa = {wide = 3 : i64}} {}"},
                "requires a dictionary of parameters for each instruction set, but found 3 : i64 for \"wide\"");
}

TEST_F(ScheduleLibraryTest, BrokenFileIsReported) { expectRefused({"module {"}, "expected"); }
