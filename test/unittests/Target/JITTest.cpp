// Object files linked into this process.
#include "lib/Target/CPU/JIT.h"
#include "lib/Pipelines/Registration.h"
#include "lib/Target/CPU/EmitObject.h"
#include "mlir/Parser/Parser.h"
#include <gtest/gtest.h>

using namespace mlir;
using namespace mlir::convbert;

namespace {

/// The object file of a module at phase `memory`.
SmallVector<char, 0> compile(StringRef source) {
  DialectRegistry registry;
  registerAll(registry);
  MLIRContext context(registry);
  OwningOpRef<ModuleOp> module = parseSourceString<ModuleOp>(source, &context);
  EXPECT_TRUE(module);
  llvm::Expected<CPUTarget> target = CPUTarget::parse("native");
  if (!module || !target) {
    ADD_FAILURE() << "no module, or " << llvm::toString(target.takeError());
    return {};
  }
  RunPhasesOptions options;
  options.isa = target->isa;
  options.from = "memory";
  PhaseTimes times;
  EXPECT_TRUE(succeeded(runPhases(*module, options, times)));
  FailureOr<SmallVector<char, 0>> object = emitObject(*module, *target, times);
  EXPECT_TRUE(succeeded(object));
  return succeeded(object) ? std::move(*object) : SmallVector<char, 0>();
}

StringRef bytes(const SmallVector<char, 0> &object) { return {object.data(), object.size()}; }

constexpr StringLiteral kTanh = R"(
  func.func @f(%x: f32) -> f32 attributes {llvm.emit_c_interface} {
    %y = math.tanh %x : f32
    return %y : f32
  })";

TEST(JITTest, CallsCompiledCode) {
  SmallVector<char, 0> object = compile(kTanh);
  auto code = JITObject::load(bytes(object));
  ASSERT_TRUE(static_cast<bool>(code)) << llvm::toString(code.takeError());
  auto function = (*code)->lookup<float(float)>("_mlir_ciface_f");
  ASSERT_TRUE(static_cast<bool>(function)) << llvm::toString(function.takeError());
  EXPECT_FLOAT_EQ((*function)(0.5f), std::tanh(0.5f));
}

TEST(JITTest, NamesAMissingFunction) {
  SmallVector<char, 0> object = compile(kTanh);
  auto code = JITObject::load(bytes(object));
  ASSERT_TRUE(static_cast<bool>(code)) << llvm::toString(code.takeError());
  auto function = (*code)->lookup<float(float)>("_mlir_ciface_g");
  ASSERT_FALSE(static_cast<bool>(function));
  EXPECT_EQ(llvm::toString(function.takeError()),
            "requires a function '_mlir_ciface_g' of the compiled code, but found none");
}

TEST(JITTest, BringsOpenMP) {
  SmallVector<char, 0> object = compile(R"(
    func.func @f(%m: memref<1xf32>) attributes {llvm.emit_c_interface} {
      %n = arith.constant 2 : i32
      omp.parallel num_threads(%n : i32) {
        %c0 = arith.constant 0 : index
        %x = arith.constant 3.0 : f32
        memref.store %x, %m[%c0] : memref<1xf32>
        omp.terminator
      }
      return
    })");
  auto code = JITObject::load(bytes(object));
  ASSERT_TRUE(static_cast<bool>(code)) << llvm::toString(code.takeError());
  auto function = (*code)->lookup<void(void *)>("_mlir_ciface_f");
  ASSERT_TRUE(static_cast<bool>(function)) << llvm::toString(function.takeError());
  float value = 0;
  struct {
    float *allocated, *aligned;
    int64_t offset, size, stride;
  } memref{&value, &value, 0, 1, 1};
  (*function)(&memref);
  EXPECT_EQ(value, 3.0f);
}

TEST(JITTest, RefusesForeignCalls) {
  SmallVector<char, 0> object = compile(R"(
    func.func private @system(f32)
    func.func @f(%x: f32) attributes {llvm.emit_c_interface} {
      func.call @system(%x) : (f32) -> ()
      return
    })");
  auto code = JITObject::load(bytes(object));
  ASSERT_FALSE(static_cast<bool>(code));
  EXPECT_NE(llvm::toString(code.takeError()).find("a reference to 'system'"), std::string::npos);
}

TEST(JITTest, RefusesOtherBytes) {
  auto code = JITObject::load("not an object file");
  ASSERT_FALSE(static_cast<bool>(code));
  llvm::consumeError(code.takeError());
}

} // namespace
