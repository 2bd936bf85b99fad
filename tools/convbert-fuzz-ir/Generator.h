//===- Generator.h - Random modules that verify -----------------*- C++ -*-===//
//
// A generator is sloppy and an operation's own verifier strict: operands are chosen so that most constraints hold, and
// what does not verify is dropped.  So the generator needs no copy of all rules, and verifiers meet what is wrong by a
// little.
//
//===----------------------------------------------------------------------===//

#ifndef CONVBERT_TOOLS_FUZZIR_GENERATOR_H
#define CONVBERT_TOOLS_FUZZIR_GENERATOR_H

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/IR/Builders.h"
#include "mlir/IR/BuiltinOps.h"
#include "mlir/IR/OwningOpRef.h"
#include "tools/convbert-fuzz-ir/Random.h"

namespace mlir::convbert::fuzz {

/// What kind of module is made.
enum class Style {
  Wild,    ///< anything of any type, nested and branched
  Model,   ///< what an importer might write: the phases get far
  Kernels, ///< kernel functions on memrefs, as phases leave them, or nearly so
};

/// One group of operands: none, one, or several values.
using Operands = SmallVector<Value, 1>;

class Generator {
public:
  Generator(MLIRContext &context, uint64_t seed);

  /// A module that verifies.
  OwningOpRef<ModuleOp> generate();

  Random random;
  OpBuilder b;
  Location loc;
  Style style;

  //===--------------------------------------------------------------------===//
  // Types and attributes
  //===--------------------------------------------------------------------===//

  /// The module's element type, or now and then another one.
  Type element();
  /// A number of features, heads, taps; small and odd ones are frequent, huge ones rare.
  int64_t features();
  int64_t heads();
  int64_t taps();
  /// `B x T x features`, `B x T` or `B x features` of the module's batches and lengths, dynamic or not.
  RankedTensorType tokens(int64_t features, Type element);
  RankedTensorType perToken(Type element);
  RankedTensorType pooled(int64_t features, Type element);
  /// The extent of dimension `axis` (0: batch, 1: length) or, now and then, another that agrees with it.
  int64_t loosen(int64_t extent, int64_t axis);
  /// Products of huge extents may have no type.
  static bool isPossible(Type type);
  FloatAttr eps();
  FloatAttr scale();
  IntegerAttr i64(int64_t value) { return b.getI64IntegerAttr(value); }
  /// `low + high = taps - 1`, most often.
  Attribute pads(int64_t taps);
  /// A random case of the enumeration attribute `#convbert.<mnemonic>`.
  Attribute enumCase(StringRef mnemonic);
  bool isOutIn(Attribute layout);
  /// `pads` of `taps` in a window with `dilation`, `edge` and `head_map`, most often the defaults.
  SmallVector<NamedAttribute> window(int64_t taps);

  //===--------------------------------------------------------------------===//
  // Values
  //===--------------------------------------------------------------------===//

  /// A value of `type`: one that is there, or one made for the purpose; null for a type that is none.
  Value value(Type type);
  /// A new one: argument, constant, global, or what operations make of other values.
  Value make(Type type);
  /// A value that is there and that `accepts` accepts, or null.
  Value find(llvm::function_ref<bool(Value)> accepts);
  /// A parameter of this shape; `layout` swaps the two dimensions.
  Value weight(ArrayRef<int64_t> shape, Type element);
  Value weight(int64_t out, int64_t in, Attribute layout, Type element);
  /// An activation of rank 2 or 3 (0: either).
  Value activation(int64_t rank);
  /// `value` or nothing.
  Operands maybe(llvm::function_ref<Value()> value, int64_t percent = 60);
  Value index(int64_t value);
  /// An index that nobody can know: dynamic extents that contradict each other would be a program without meaning.
  Value unknown();
  /// The size of dimension `axis` of `tensor`, for operations with dynamic sizes.
  Value dim(Value tensor, int64_t axis);
  /// Makes `value` known to those that come later in this region.
  void add(Value value) { values.push_back(value); }
  ArrayRef<Value> getValues() const { return values; }

  //===--------------------------------------------------------------------===//
  // Operations
  //===--------------------------------------------------------------------===//

  /// Creates an operation of the dialect with inferred result types (or `results`).  Returns null, with nothing
  /// inserted, if it does not verify.
  Operation *op(StringRef name, ArrayRef<Operands> operands, ArrayRef<NamedAttribute> attributes,
                TypeRange results = {});
  NamedAttribute attr(StringRef name, Attribute value) { return b.getNamedAttr(name, value); }
  /// Adds one random operation (or region, or call) to the current block.
  void addOperation();
  /// Builds a region's content: operations, visible only in there.
  void inScope(llvm::function_ref<void()> body);

  //===--------------------------------------------------------------------===//
  // Functions
  //===--------------------------------------------------------------------===//

  /// A new argument of the function that is being built, or null if that is not possible here.
  Value argument(Type type);
  func::FuncOp addFunction(StringRef name, bool isPrivate, int64_t operations);
  /// Forgets the values of the function before; the body of `fn` is built next, in a kernel with tile operations alone.
  void startFunction(func::FuncOp fn, bool tiles = false);
  void addCall();
  ModuleOp getModule() { return module; }

  unsigned depth = 0; ///< of nested regions

private:
  void buildWild();
  void buildModel();
  void buildKernels();
  void addBranch(func::FuncOp fn);
  void finish(func::FuncOp fn);
  void addRecursion();

  OwningOpRef<ModuleOp> owned;
  ModuleOp module;
  func::FuncOp function; ///< the one that is being built
  SmallVector<func::FuncOp> callees;
  SmallVector<Value> values;
  SmallVector<int64_t> batches, lengths, widths;
  SmallVector<Type> elements;
  int64_t otherElement = 0; ///< percent of values with another element type
  int64_t budget = 0;       ///< operations that may still be made: values are made of values of values ...
  bool tilesOnly = false;
};

/// A way to add something to the current block; it may add nothing.
struct Recipe {
  void (*add)(Generator &);
  int64_t weight;
};

ArrayRef<Recipe> getLayerRecipes();   ///< dense layers, norms, embeddings, heads
ArrayRef<Recipe> getMixingRecipes();  ///< convolutions and attention
ArrayRef<Recipe> getGatingRecipes();  ///< lightweight and dynamic convolution, gates
ArrayRef<Recipe> getWindowRecipes();  ///< convolutions with a window of their own, norms
ArrayRef<Recipe> getTileRecipes();    ///< bodies of kernels
ArrayRef<Recipe> getForeignRecipes(); ///< arith, tensor, linalg, math
ArrayRef<Recipe> getNestedRecipes();  ///< regions and calls

/// Applies one recipe of `recipes` by weight.
void addOneOf(Generator &g, ArrayRef<Recipe> recipes);

/// Ids, mask and first activations of a model's function.
void buildModelInputs(Generator &g, func::FuncOp function);

/// Functions on memrefs as later phases make them.
void addKernelFunction(Generator &g, unsigned number);

/// Changes `module` in a few places at random, such that it still verifies: attributes, operands, result types, uses.
/// `announce` gets each operation before it is changed.
void mutate(ModuleOp module, Random &random, int64_t changes, llvm::function_ref<void(Operation *)> announce);

} // namespace mlir::convbert::fuzz

#endif // CONVBERT_TOOLS_FUZZIR_GENERATOR_H
