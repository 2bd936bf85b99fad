// RUN: sed 's/KIND/gelu/; s/TYPE/f64/g' %s     | convbert-opt --convbert-to-linalg | FileCheck %s --check-prefixes=F64,GELU
// RUN: sed 's/KIND/gelu_new/; s/TYPE/f64/g' %s | convbert-opt --convbert-to-linalg | FileCheck %s --check-prefixes=F64,TANH
// RUN: sed 's/KIND/tanh/; s/TYPE/f64/g' %s     | convbert-opt --convbert-to-linalg | FileCheck %s --check-prefixes=F64,TANH
// RUN: sed 's/KIND/silu/; s/TYPE/f64/g' %s     | convbert-opt --convbert-to-linalg | FileCheck %s --check-prefixes=F64,EXP
// RUN: sed 's/KIND/sigmoid/; s/TYPE/f64/g' %s  | convbert-opt --convbert-to-linalg | FileCheck %s --check-prefixes=F64,EXP
// RUN: sed 's/KIND/selu/; s/TYPE/f64/g' %s     | convbert-opt --convbert-to-linalg | FileCheck %s --check-prefixes=F64,EXPM1
// RUN: sed 's/KIND/mish/; s/TYPE/f64/g' %s     | convbert-opt --convbert-to-linalg | FileCheck %s --check-prefixes=F64,TANH
// RUN: sed 's/KIND/gelu_10/; s/TYPE/f64/g' %s  | convbert-opt --convbert-to-linalg | FileCheck %s --check-prefixes=F64,GELU
// RUN: sed 's/KIND/laplace/; s/TYPE/f64/g' %s  | convbert-opt --convbert-to-linalg | FileCheck %s --check-prefixes=F64,GELU
// RUN: sed 's/KIND/mish/; s/TYPE/f32/g' %s     | convbert-opt --convbert-to-linalg | FileCheck %s --check-prefixes=F32
// RUN: sed 's/KIND/laplace/; s/TYPE/f32/g' %s  | convbert-opt --convbert-to-linalg | FileCheck %s --check-prefixes=F32
// RUN: sed 's/KIND/sqrtsoftplus/; s/TYPE/f32/g' %s | convbert-opt --convbert-to-linalg | FileCheck %s --check-prefixes=F32,SQRT
// RUN: sed 's/KIND/gelu/; s/TYPE/f32/g' %s     | convbert-opt --convbert-to-linalg | FileCheck %s --check-prefixes=F32
// RUN: sed 's/KIND/gelu/; s/TYPE/bf16/g' %s    | convbert-opt --convbert-to-linalg | FileCheck %s --check-prefixes=BF16

// Doubles use the math library's functions, the tail of GELU without cancellation; what is narrower uses none.
// F64-LABEL: func.func @step
//      GELU:   math.erfc {{.*}} : f64
//      TANH:   math.tanh {{.*}} : f64
//       EXP:   math.exp {{.*}} : f64
//     EXPM1:   math.expm1 {{.*}} : f64
// F32-LABEL: func.func @step
//   F32-NOT:   math.{{erf|exp|tanh|log}}
//       F32:   math.fma {{.*}} : f32
//   F32-NOT:   math.{{erf|exp|tanh|log}}
//      SQRT:   math.sqrt {{.*}} : f32
//       F32:   linalg.yield
// BF16-LABEL: func.func @step
//       BF16:   arith.extf {{.*}} bf16 to f32
//       BF16:   %[[Y:.*]] = arith.truncf {{.*}} f32 to bf16
//       BF16:   linalg.yield %[[Y]]
func.func @step(%x: tensor<?x?x4xTYPE>) -> tensor<?x?x4xTYPE> {
  %r = convbert.activation %x {kind = #convbert.activation<KIND>} : tensor<?x?x4xTYPE>
  return %r : tensor<?x?x4xTYPE>
}
