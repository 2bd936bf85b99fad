// RUN: convbert-opt %s --convbert-schedule --canonicalize | FileCheck %s

// The tagged root becomes the parallel loop.
// CHECK-LABEL: func.func private @parallel
//       CHECK:   scf.forall (%{{.*}}) in (32)
//       CHECK:     linalg.transpose
//       CHECK:   bufferization.materialize_in_destination
func.func private @parallel(%w: memref<32x24x768xf32>, %p: memref<32x768x24xf32>, %threads: i32 {convbert.threads})
    attributes {convbert.kernel = "pack"} {
  %t = bufferization.to_tensor %w restrict : memref<32x24x768xf32> to tensor<32x24x768xf32>
  %e = tensor.empty() : tensor<32x768x24xf32>
  %r = linalg.transpose ins(%t : tensor<32x24x768xf32>) outs(%e : tensor<32x768x24xf32>) permutation = [0, 2, 1] {pack}
  bufferization.materialize_in_destination %r in restrict writable %p : (tensor<32x768x24xf32>, memref<32x768x24xf32>) -> ()
  return
}

// What carries no tag stays as it is.
// CHECK-LABEL: func.func private @serial
//   CHECK-NOT:   scf.forall
//       CHECK:   linalg.transpose
func.func private @serial(%w: memref<24x768xf32>, %p: memref<768x24xf32>) attributes {convbert.kernel = "pack"} {
  %t = bufferization.to_tensor %w restrict : memref<24x768xf32> to tensor<24x768xf32>
  %e = tensor.empty() : tensor<768x24xf32>
  %r = linalg.transpose ins(%t : tensor<24x768xf32>) outs(%e : tensor<768x24xf32>) permutation = [1, 0]
  bufferization.materialize_in_destination %r in restrict writable %p : (tensor<768x24xf32>, memref<768x24xf32>) -> ()
  return
}

// Kernels of kind copy and host functions are left alone.
// CHECK-LABEL: func.func private @copy
//       CHECK:   linalg.fill
func.func private @copy(%p: memref<24xf32>) attributes {convbert.kernel = "copy"} {
  %z = arith.constant 0.0 : f32
  linalg.fill ins(%z : f32) outs(%p : memref<24xf32>)
  return
}
