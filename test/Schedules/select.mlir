// RUN: sed -e '/^@[*]BRANCHES@/{s///; h; s/@#@/0/gp; g; s/@#@/1/g}; s/@W@/32/g; s/@TILES@/%%u0Tensor, %%u1Tensor/; s/@LOGITS@/%%l0Tensor, %%l1Tensor/; s/@TYPES@/tensor<1x8x16xf32>, tensor<1x8x16xf32>, tensor<1x16xf32>, tensor<1x16xf32>/' %convbert_src_root/lib/Outline/kernels/select_branches.mlir.in \
// RUN:   | convbert-opt --pass-pipeline='builtin.module(func.func(convbert-to-linalg),canonicalize,cse,convbert-schedule{isa=avx2},canonicalize,cse)' \
// RUN:   | FileCheck %s
// RUN: sed -e '/^@[*]BRANCHES@/{s///; h; s/@#@/0/gp; g; s/@#@/1/g}; s/@W@/32/g; s/@TILES@/%%u0Tensor, %%u1Tensor/; s/@LOGITS@/%%l0Tensor, %%l1Tensor/; s/@TYPES@/tensor<1x8x16xf32>, tensor<1x8x16xf32>, tensor<1x16xf32>, tensor<1x16xf32>/' %convbert_src_root/lib/Outline/kernels/select_branches.mlir.in \
// RUN:   | convbert-opt --pass-pipeline='builtin.module(func.func(convbert-to-linalg),canonicalize,cse,convbert-schedule{isa=avx512},canonicalize,cse)' \
// RUN:   | FileCheck %s

// RUN: sed -e 's/@ROWS@/5/g; /^@[*]BRANCHES@/{s/@[*]BRANCHES@//; h; s/@#@/0/gp; g; s/@#@/1/g}; s/@W@/32/g; s/@TILES@/%%u0Tensor, %%u1Tensor/; s/@LOGITS@/%%l0Tensor, %%l1Tensor/; s/@TYPES@/tensor<1x5x16xf32>, tensor<1x5x16xf32>, tensor<1x16xf32>, tensor<1x16xf32>/' %convbert_src_root/lib/Outline/kernels/mix_taps.mlir.in \
// RUN:   | convbert-opt --pass-pipeline='builtin.module(func.func(convbert-to-linalg),canonicalize,cse,convbert-schedule{isa=avx512},canonicalize,cse)' \
// RUN:   | FileCheck %s --check-prefix=TAPS

// Two branches: the logits are read and two exponentials taken once for eight tokens, and nothing of them is written.
// CHECK-LABEL: func.func private @select_branches
//       CHECK:   scf.forall
//   CHECK-NOT:     vector.transfer_write
// CHECK-COUNT-2:   vector.transfer_read {{.*}} tensor<1x16xf32>, vector<16xf32>
//   CHECK-NOT:     vector.transfer_write
// CHECK-COUNT-2:   arith.select {{.*}} vector<16xf32>
//   CHECK-NOT:     tensor<1x16xf32>
//       CHECK:     arith.divf {{.*}} vector<16xf32>
//   CHECK-NOT:     tensor<1x16xf32>
//       CHECK:     scf.for {{.*}} iter_args({{.*}}) -> (tensor<1x8x16xf32>)
//   CHECK-NOT:       tensor<1x16xf32>
//   CHECK-NOT:     arith.divf
//   CHECK-NOT:   linalg.

// Rows that are taps: the same, for five of them.
// TAPS-LABEL: func.func private @mix_taps
//       TAPS:   scf.forall
//   TAPS-NOT:     vector.transfer_write
// TAPS-COUNT-2:   vector.transfer_read {{.*}} tensor<1x16xf32>, vector<16xf32>
//       TAPS:     arith.divf {{.*}} vector<16xf32>
//       TAPS:     scf.for {{.*}} iter_args({{.*}}) -> (tensor<1x5x16xf32>)
//   TAPS-NOT:       tensor<1x16xf32>
//   TAPS-NOT:   linalg.
