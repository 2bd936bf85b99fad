// RUN: convbert-opt %s --convbert-drop-marks | FileCheck %s

// CHECK: func.func private @k(memref<?xf32> {llvm.noalias}, i32, memref<?xi8>, index)
// CHECK-NOT: convbert
func.func private @k(memref<?xf32> {llvm.noalias, convbert.most = array<i64: 8>}, i32 {convbert.threads}, memref<?xi8> {convbert.scratch},
                     index {convbert.thread}) attributes {convbert.kernel = "norm"}
