//===- WorkspacePlanTest.cpp - Where activations lie ------------------------===//

#include "lib/Outline/WorkspacePlan.h"
#include "test/unittests/Outline/OutlineTest.h"
#include "llvm/ADT/MapVector.h"
#include "llvm/Support/FormatVariadic.h"
#include <random>

using namespace mlir;
using namespace mlir::convbert;

namespace {

struct WorkspacePlanTest : convbert::test::OutlineTest {
  /// Operations between which a buffer holds something that is still read, both included; worked out from the IR.
  struct Range {
    int64_t first = std::numeric_limits<int64_t>::max(), last = -1;
  };

  static llvm::MapVector<unsigned, Range> liveRanges(func::FuncOp fn, WorkspacePlan &plan) {
    llvm::DenseMap<Operation *, int64_t> position;
    int64_t count = 0;
    for (Operation &op : fn.getBody().front())
      position[&op] = ++count;
    llvm::MapVector<unsigned, Range> ranges;
    auto add = [&](Value value, int64_t defined) {
      if (!plan.hasView(value))
        return;
      Range &range = ranges[plan.getView(value).buffer];
      range.first = std::min(range.first, defined);
      range.last = std::max(range.last, defined);
      for (Operation *user : value.getUsers())
        range.last = std::max(range.last, position[user]);
    };
    for (BlockArgument argument : fn.getArguments())
      add(argument, 0);
    for (Operation &op : fn.getBody().front())
      for (Value result : op.getResults())
        add(result, position[&op]);
    return ranges;
  }

  /// No two live buffers overlap, and every arena is exactly as large as the end of its last buffer.
  static void checkOffsets(func::FuncOp fn, WorkspacePlan &plan) {
    auto ranges = liveRanges(fn, plan);
    Footprint ends(kRowKinds, 0);
    for (auto &[index, range] : ranges) {
      const Buffer &buffer = plan.getBuffer(index);
      if (buffer.external)
        continue;
      int64_t end = buffer.offset + buffer.pitch * 4;
      int64_t &arena = ends[static_cast<unsigned>(buffer.kind)];
      arena = std::max(arena, end);
      if (buffer.kind != RowKind::Key)
        EXPECT_EQ(buffer.offset % 64, 0);
      for (auto &[otherIndex, otherRange] : ranges) {
        const Buffer &other = plan.getBuffer(otherIndex);
        if (otherIndex == index || other.external || other.kind != buffer.kind || otherRange.first > range.last ||
            range.first > otherRange.last)
          continue;
        EXPECT_TRUE(end <= other.offset || other.offset + other.pitch * 4 <= buffer.offset)
            << "buffers " << index << " and " << otherIndex << " overlap while both are live";
      }
    }
    EXPECT_EQ(plan.getFootprint(), ends);
  }
};

constexpr const char *kNorm = "  {0} = convbert.layer_norm {1}, %g, %g {{eps = 0.5 : f64} : (tensor<?x?x8xf32>, "
                              "tensor<8xf32>, tensor<8xf32>) -> tensor<?x?x8xf32>\n";

TEST_F(WorkspacePlanTest, AChainNeedsTwoRows) {
  std::string text = "func.func @f(%v0: tensor<?x?x8xf32>, %g: tensor<8xf32>) -> tensor<?x?x8xf32> {\n";
  for (int i = 0; i < 20; ++i)
    text += llvm::formatv(kNorm, "%v" + std::to_string(i + 1), "%v" + std::to_string(i));
  func::FuncOp fn = parseFunction(text + "  return %v20 : tensor<?x?x8xf32>\n}");
  TileSizes tiles = *TileSizes::get("avx2");
  FailureOr<WorkspacePlan> plan = WorkspacePlan::compute(fn, tiles);
  ASSERT_TRUE(succeeded(plan)) << errors;
  plan->assignOffsets();
  EXPECT_EQ(plan->getFootprint(), (Footprint{2 * 4 * tiles.pitch(8), 0, 0, 0}));
  checkOffsets(fn, *plan);
}

TEST_F(WorkspacePlanTest, CallersMemoryIsNotPlanned) {
  std::string text = "func.func @f(%v0: tensor<?x?x8xf32>, %g: tensor<8xf32>) -> tensor<?x?x8xf32> {\n";
  text += llvm::formatv(kNorm, "%v1", "%v0").str() + llvm::formatv(kNorm, "%v2", "%v1").str();
  func::FuncOp fn = parseFunction(text + "  return %v2 : tensor<?x?x8xf32>\n}");
  TileSizes tiles = *TileSizes::get("avx512");
  FailureOr<WorkspacePlan> plan = WorkspacePlan::compute(fn, tiles);
  ASSERT_TRUE(succeeded(plan)) << errors;
  Operation *returned = fn.getBody().front().getTerminator();
  plan->setExternal(fn.getArgument(0), fn.getArgument(0));
  plan->setExternal(returned->getOperand(0), fn.getArgument(0));
  plan->assignOffsets();
  EXPECT_EQ(plan->getFootprint(), (Footprint{4 * tiles.pitch(8), 0, 0, 0}));
}

TEST_F(WorkspacePlanTest, WeightsOfSequencesLiveUntilKernelsAreMixed) {
  func::FuncOp fn = parseFunction(R"(
    func.func @f(%x: tensor<?x?x8xf32>, %k: tensor<8x120xf32>, %c: tensor<8x5xf32>, %batch: index)
        -> (tensor<?x?x5xf32>, tensor<?x8xf32>) {
      %p = convbert.pool %x {kind = #convbert.pool<mean>} : (tensor<?x?x8xf32>) -> tensor<?x8xf32>
      %m = convbert.dense %p, %k {layout = #convbert.layout<in_out>} : (tensor<?x8xf32>, tensor<8x120xf32>)
        -> tensor<?x120xf32>
      %b = convbert.dense %p, %c {layout = #convbert.layout<in_out>} : (tensor<?x8xf32>, tensor<8x5xf32>)
        -> tensor<?x5xf32>
      %w = tensor.expand_shape %m [[0], [1, 2, 3]] output_shape [%batch, 5, 8, 3] : tensor<?x120xf32> into tensor<?x5x8x3xf32>
      %q = convbert.pool %x {kind = #convbert.pool<first>} : (tensor<?x?x8xf32>) -> tensor<?x8xf32>
      %y = convbert.conv1d %x, %w, %b {pads = array<i64: 1, 1>}
        : (tensor<?x?x8xf32>, tensor<?x5x8x3xf32>, tensor<?x5xf32>) -> tensor<?x?x5xf32>
      return %y, %q : tensor<?x?x5xf32>, tensor<?x8xf32>
    })");
  TileSizes tiles = *TileSizes::get("avx2");
  FailureOr<WorkspacePlan> plan = WorkspacePlan::compute(fn, tiles);
  ASSERT_TRUE(succeeded(plan)) << errors;
  plan->assignOffsets();
  auto ops = llvm::to_vector(fn.getBody().front().getOps<PoolOp>());
  auto offset = [&](Value value) { return plan->getBuffer(plan->getView(value).buffer).offset; };
  EXPECT_NE(offset(ops[0].getResult()), offset(ops[1].getResult()));
  // The mix has memory for 8 x 3 x 5 weights and 5 biases, in one panel of 24, and none for each sequence.
  EXPECT_EQ(plan->getFootprint()[static_cast<unsigned>(RowKind::Call)], 4 * (24 * 24 + 32));
  EXPECT_EQ(plan->getFootprint()[static_cast<unsigned>(RowKind::Sequence)], 2 * 4 * tiles.pitch(8));
}

TEST_F(WorkspacePlanTest, PartsOfAConcatenationLieSideBySide) {
  func::FuncOp fn = parseFunction(R"(
    func.func @f(%x: tensor<?x?x8xf32>, %u: tensor<5x8xf32>, %v: tensor<7x8xf32>, %w: tensor<9x8xf32>)
        -> tensor<?x?x21xf32> {
      %a = convbert.dense %x, %u : (tensor<?x?x8xf32>, tensor<5x8xf32>) -> tensor<?x?x5xf32>
      %b = convbert.dense %x, %v : (tensor<?x?x8xf32>, tensor<7x8xf32>) -> tensor<?x?x7xf32>
      %c = convbert.dense %x, %w : (tensor<?x?x8xf32>, tensor<9x8xf32>) -> tensor<?x?x9xf32>
      %bc = tensor.concat dim(2) %b, %c : (tensor<?x?x7xf32>, tensor<?x?x9xf32>) -> tensor<?x?x16xf32>
      %abc = tensor.concat dim(2) %a, %bc : (tensor<?x?x5xf32>, tensor<?x?x16xf32>) -> tensor<?x?x21xf32>
      return %abc : tensor<?x?x21xf32>
    })");
  TileSizes tiles = *TileSizes::get("avx512");
  FailureOr<WorkspacePlan> plan = WorkspacePlan::compute(fn, tiles);
  ASSERT_TRUE(succeeded(plan)) << errors;
  SmallVector<std::pair<int64_t, int64_t>> columns;
  unsigned buffer = plan->getView(fn.getBody().front().getTerminator()->getOperand(0)).buffer;
  for (Operation &op : fn.getBody().front().without_terminator()) {
    View view = plan->getView(op.getResult(0));
    EXPECT_EQ(view.buffer, buffer);
    columns.push_back({view.column, view.width});
  }
  EXPECT_EQ(columns, (SmallVector<std::pair<int64_t, int64_t>>{{0, 5}, {5, 7}, {12, 9}, {5, 16}, {0, 21}}));
  // The last part is written in whole panels: they end inside the row.
  EXPECT_GE(plan->getBuffer(buffer).pitch, 12 + tiles.panel);
}

/// Random straight-line functions: dense layers of random widths, products, norms, slices, concatenations, pools.
class RandomFunction {
public:
  explicit RandomFunction(unsigned seed) : random(seed) {}

  std::string get(int operations) {
    std::string body;
    add("%x", 8, "?x?x");
    for (int i = 0; i < operations; ++i)
      body += operation();
    // Any two values at the end, so that some live long.
    Entry a = any(), b = any();
    return "func.func @f(%x: tensor<?x?x8xf32>" + arguments + ") -> (" + a.type() + ", " + b.type() + ") {\n  " +
           "%c0 = arith.constant 0 : index\n  %c1 = arith.constant 1 : index\n" +
           "  %B = tensor.dim %x, %c0 : tensor<?x?x8xf32>\n  %T = tensor.dim %x, %c1 : tensor<?x?x8xf32>\n" + body +
           "  return " + a.name + ", " + b.name + " : " + a.type() + ", " + b.type() + "\n}\n";
  }

private:
  struct Entry {
    std::string name;
    int width;
    std::string lead;
    std::string type() const { return "tensor<" + lead + std::to_string(width) + "xf32>"; }
  };

  int number(int bound) { return std::uniform_int_distribution<int>(0, bound - 1)(random); }
  Entry any() { return values[number(values.size())]; }
  std::string fresh() { return "%v" + std::to_string(count++); }
  Entry add(std::string name, int width, std::string lead) {
    values.push_back({name, width, lead});
    return values.back();
  }

  std::string parameter(std::string type) {
    std::string name = "%p" + std::to_string(count++);
    arguments += ", " + name + ": " + type;
    return name;
  }

  /// A dense layer of `x` to `width` features, as text; the value is not yet known to others.
  std::string dense(const std::string &name, const Entry &x, int width, const Entry *times = nullptr) {
    std::string weight = llvm::formatv("tensor<{0}x{1}xf32>", width, x.width), y = Entry{name, width, x.lead}.type();
    return llvm::formatv("  {0} = convbert.dense {1}, {2}{3} : ({4}, {5}{6}) -> {7}\n", name, x.name, parameter(weight),
                         times ? " times " + times->name : "", x.type(), weight, times ? ", " + times->type() : "", y);
  }

  std::string operation() {
    Entry x = any();
    std::string name = fresh();
    switch (number(6)) {
    case 0: { // of the width of another value
      Entry y = any();
      if (y.lead != x.lead)
        return operation();
      std::string text = dense(name, x, y.width, &y);
      add(name, y.width, x.lead);
      return text;
    }
    case 1: {
      std::string type = llvm::formatv("tensor<{0}xf32>", x.width), g = parameter(type);
      add(name, x.width, x.lead);
      return llvm::formatv("  {0} = convbert.layer_norm {1}, {2}, {2} {{eps = 0.5 : f64} : ({3}, {4}, {4}) -> {3}\n",
                           name, x.name, g, x.type(), type);
    }
    case 2: {
      if (x.lead != "?x?x" || x.width < 2)
        return operation();
      int column = number(x.width - 1), width = 1 + number(x.width - column);
      Entry y = add(name, width, x.lead);
      return llvm::formatv("  {0} = tensor.extract_slice {1}[0, 0, {2}] [%B, %T, {3}] [1, 1, 1] : {4} to {5}\n", name,
                           x.name, column, width, x.type(), y.type());
    }
    case 3: { // parts in the order of their operands
      int width = 1 + number(60), otherWidth = 1 + number(60);
      std::string first = fresh(), second = fresh();
      std::string text = dense(first, x, width) + dense(second, x, otherWidth);
      Entry a{first, width, x.lead}, b{second, otherWidth, x.lead};
      Entry y = add(name, width + otherWidth, x.lead);
      return text + llvm::formatv("  {0} = tensor.concat dim({1}) {2}, {3} : ({4}, {5}) -> {6}\n", name,
                                  x.lead == "?x?x" ? 2 : 1, a.name, b.name, a.type(), b.type(), y.type())
                        .str();
    }
    case 4: {
      if (x.lead != "?x?x")
        return operation();
      Entry y = add(name, x.width, "?x");
      return llvm::formatv("  {0} = convbert.pool {1} {{kind = #convbert.pool<first>} : ({2}) -> {3}\n", name, x.name,
                           x.type(), y.type());
    }
    default: {
      int width = 1 + number(90);
      std::string text = dense(name, x, width);
      add(name, width, x.lead);
      return text;
    }
    }
  }

  std::mt19937 random;
  std::vector<Entry> values;
  std::string arguments;
  int count = 0;
};

TEST_F(WorkspacePlanTest, LiveBuffersNeverOverlap) {
  for (unsigned seed = 0; seed < 150; ++seed) {
    std::string text = RandomFunction(seed).get(/*operations=*/5 + seed % 40);
    SCOPED_TRACE(text);
    for (StringRef isa : {"generic", "avx2", "avx512", "neon"}) {
      func::FuncOp fn = parseFunction(text);
      FailureOr<WorkspacePlan> plan = WorkspacePlan::compute(fn, *TileSizes::get(isa));
      ASSERT_TRUE(succeeded(plan)) << errors;
      // Some belong to the caller.
      if (seed % 3 == 0)
        plan->setExternal(fn.getArgument(0), fn.getArgument(0));
      plan->assignOffsets();
      checkOffsets(fn, *plan);
      fn.walk([&](Operation *op) {
        for (Value value : op->getResults())
          if (plan->hasView(value)) {
            View view = plan->getView(value);
            EXPECT_LE(view.column + view.width, plan->getBuffer(view.buffer).width);
            EXPECT_EQ(view.width, cast<RankedTensorType>(value.getType()).getShape().back());
          }
      });
      if (testing::Test::HasFailure())
        return;
    }
  }
}

} // namespace
