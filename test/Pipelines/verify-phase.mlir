// One offence a phase, named with its operation and the phase.
// RUN: split-file %s %t
// RUN: convbert-opt %t/simplify.mlir --convbert-verify-phase=phase=simplify --verify-diagnostics
// RUN: convbert-opt %t/outline.mlir --convbert-verify-phase=phase=outline --verify-diagnostics --split-input-file
// RUN: convbert-opt %t/linalg.mlir --convbert-verify-phase=phase=linalg --verify-diagnostics
// RUN: convbert-opt %t/schedule.mlir --convbert-verify-phase=phase=schedule --verify-diagnostics
// RUN: convbert-opt %t/bufferize.mlir --convbert-verify-phase=phase=bufferize --verify-diagnostics --split-input-file
// RUN: convbert-opt %t/threads.mlir --convbert-verify-phase=phase=threads --verify-diagnostics
// RUN: convbert-opt %t/memory.mlir --convbert-verify-phase=phase=memory --verify-diagnostics --split-input-file
// RUN: convbert-opt %t/llvm.mlir --convbert-verify-phase=phase=llvm --verify-diagnostics --split-input-file
// RUN: convbert-opt %t/unknown.mlir --convbert-verify-phase=phase=nowhere --verify-diagnostics

//--- simplify.mlir
func.func @f(%x: tensor<?x?x4xf32>, %wd: tensor<4x3xf32>, %wp: tensor<8x4xf32>, %b: tensor<8xf32>) -> tensor<?x?x8xf32> {
  // expected-error @below {{phase 'simplify' requires no block operation at its exit, but found 'convbert.separable_conv1d' with a result of type 'tensor<?x?x8xf32>'}}
  %y = convbert.separable_conv1d %x, %wd, %wp, %b {pads = array<i64: 1, 1>}
    : (tensor<?x?x4xf32>, tensor<4x3xf32>, tensor<8x4xf32>, tensor<8xf32>) -> tensor<?x?x8xf32>
  return %y : tensor<?x?x8xf32>
}

//--- outline.mlir
// expected-error @below {{phase 'outline' requires no parameter that is not bound to a table at its exit, but found 'ml_program.global'}}
ml_program.global private @w(#ml_program.extern : tensor<4xf32>) : tensor<4xf32>

// -----

func.func @host(%n: index) {
  // expected-error @below {{phase 'outline' requires no tensor outside kernels at its exit, but found 'tensor.empty' with a result of type 'tensor<?xf32>'}}
  %t = tensor.empty(%n) : tensor<?xf32>
  return
}

// -----

// In a kernel they are at home.
func.func private @kernel(%n: index) attributes {convbert.kernel = "norm"} {
  %t = tensor.empty(%n) : tensor<?xf32>
  return
}

//--- linalg.mlir
func.func @f(%x: tensor<12x32xf32>, %taps: tensor<9x32xf32>) -> tensor<4x32xf32> {
  // expected-error @below {{phase 'linalg' requires no operation of the dialect at its exit, but found 'convbert.depthwise_tile'}}
  %y = convbert.depthwise_tile %x, %taps : (tensor<12x32xf32>, tensor<9x32xf32>) -> tensor<4x32xf32>
  return %y : tensor<4x32xf32>
}

//--- schedule.mlir
module attributes {transform.with_named_sequence} {
  // expected-error @below {{phase 'schedule' requires no transform operation at its exit, but found 'transform.named_sequence'}}
  transform.named_sequence @s(%op: !transform.any_op {transform.readonly}) {
    transform.yield
  }
}

//--- bufferize.mlir
func.func @f() {
  // expected-error @below {{phase 'bufferize' requires no tensor at its exit, but found 'tensor.empty' with a result of type 'tensor<8xf32>'}}
  %t = tensor.empty() : tensor<8xf32>
  return
}

// -----

func.func @f(%m: memref<8xf32>) {
  // expected-error @below {{phase 'bufferize' requires no copy of a buffer to itself at its exit, but found 'memref.copy'}}
  memref.copy %m, %m : memref<8xf32> to memref<8xf32>
  return
}

//--- threads.mlir
func.func @f(%n: index) {
  // expected-error @below {{phase 'threads' requires no parallel loop at its exit, but found 'scf.forall'}}
  scf.forall (%i) in (%n) {
  }
  return
}

//--- memory.mlir
func.func @f() {
  // expected-error @below {{phase 'memory' requires no allocation at its exit, but found 'memref.alloc'}}
  %a = memref.alloc() : memref<8xf32>
  return
}

// -----

func.func @f(%n: index) {
  // expected-error @below {{phase 'memory' requires no stack array of dynamic size at its exit, but found 'memref.alloca'}}
  %a = memref.alloca(%n) : memref<?xf32>
  return
}

// -----

func.func @f(%n: index) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %b = memref.alloca() : memref<8xf32>
  scf.for %i = %c0 to %n step %c1 {
    // expected-error @below {{phase 'memory' requires no stack array in a loop at its exit, but found 'memref.alloca'}}
    %a = memref.alloca() : memref<8xf32>
  }
  return
}

//--- llvm.mlir
// expected-error @below {{phase 'llvm' requires no operation that is not of the LLVM or OpenMP dialect at its exit, but found 'func.func'}}
func.func private @f()

// -----

llvm.func @f(%x: i64) {
  // expected-error @below {{phase 'llvm' requires no operation that is not of the LLVM or OpenMP dialect at its exit, but found 'builtin.unrealized_conversion_cast'}}
  %y = builtin.unrealized_conversion_cast %x : i64 to index
  llvm.return
}

//--- unknown.mlir
// expected-error @below {{requires the name of a phase (import, simplify, outline, linalg, schedule, bufferize, threads, memory, llvm), but found 'nowhere'}}
module {
}
