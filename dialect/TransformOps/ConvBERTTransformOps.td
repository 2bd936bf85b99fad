//===- ConvBERTTransformOps.td - Transform operations -----------*- tablegen -*-===//
//
// What the schedules need and the upstream transform dialect lacks.
//
//===----------------------------------------------------------------------===//

#ifndef CONVBERT_TRANSFORM_OPS_TD
#define CONVBERT_TRANSFORM_OPS_TD

include "mlir/Dialect/Transform/IR/TransformDialect.td"
include "mlir/Dialect/Transform/Interfaces/TransformInterfaces.td"
include "mlir/Interfaces/SideEffectInterfaces.td"
include "mlir/IR/OpBase.td"

class ConvBERT_TransformOp<string mnemonic, list<Trait> traits = []>
    : Op<Transform_Dialect, "convbert." # mnemonic,
         !listconcat([DeclareOpInterfaceMethods<MemoryEffectsOpInterface>], traits)> {
  let cppNamespace = "::mlir::convbert";
}

def ConvBERT_UnrollFullOp : ConvBERT_TransformOp<"unroll_full", [
    DeclareOpInterfaceMethods<TransformOpInterface>, ReportTrackingListenerFailuresOpTrait]> {
  let summary = "Unroll loops completely";
  let description = [{
    Unrolls each `scf.for` of the handle, whose trip count must be a constant, until no loop is left.

    Why: `transform.loop.unroll` takes its factor as an attribute, so a sequence that serves several register tiles
    cannot use it, and a factor above the trip count silently does nothing.

    A trip count of zero removes the loop, of one inlines its body.  Consumes the handle.

    #### Return modes

    An operation other than `scf.for`, and a loop whose trip count is not a constant, are silenceable errors that
    point to the loop.

    ```mlir
    %tiled, %loop = transform.structured.tile_using_for %op tile_sizes [%nv]
      : (!transform.any_op, !transform.param<i64>) -> (!transform.any_op, !transform.any_op)
    transform.convbert.unroll_full %loop : !transform.any_op
    ```
  }];
  let arguments = (ins TransformHandleTypeInterface:$target);
  let assemblyFormat = "$target attr-dict `:` type($target)";
}

def ConvBERT_ExpectCountOp : ConvBERT_TransformOp<"expect_count", [
    DeclareOpInterfaceMethods<TransformOpInterface>]> {
  let summary = "Fail unless a handle has so many payload operations";
  let description = [{
    Why: a match that finds nothing succeeds, and everything after it silently does nothing.  Upstream's
    `num_associations` with `match.param.cmpi` reports the comparison, not the match that went wrong.

    #### Return modes

    A definite error at this operation that says `what` was looked for, how many were found and how many are
    required, with a note for each of the first few operations found.  Reads the handle.  A range is for operations
    that CSE may merge.

    ```mlir
    %epi = transform.structured.match attributes {epi} in %kernel : (!transform.any_op) -> !transform.any_op
    transform.convbert.expect_count %epi, 1 "epilogue tagged `epi`" : !transform.any_op
    transform.convbert.expect_count %fills, 1 to 2 "fill" : !transform.any_op
    ```
  }];
  let arguments = (ins TransformHandleTypeInterface:$target,
                       ConfinedAttr<I64Attr, [IntNonNegative]>:$count,
                       OptionalAttr<ConfinedAttr<I64Attr, [IntNonNegative]>>:$most, StrAttr:$what);
  let assemblyFormat = "$target `,` $count (`to` $most^)? $what attr-dict `:` type($target)";
}

#endif // CONVBERT_TRANSFORM_OPS_TD
