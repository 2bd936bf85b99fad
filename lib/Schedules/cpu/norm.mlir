// norm, embed: sum of rows and layer normalisation of one row at a time.
//
// Matches  on a row cut in lanes, tensor<(C / lanes) x lanes>: at most one elementwise operation tagged `sum`, one
//          tagged `scale`; two reductions over the first dimension tagged `lane`; two full reductions of the lanes;
//          fills.
// Needs    static shapes; lanes a multiple of nv or below it.
// Leaves   the loops around as they are; loops over the row's slices with vectors of nv lanes, partial sums in
//          registers; the scalar mean and deviation.
//
// nv  lanes of a native vector
!any = !transform.any_op
!param = !transform.param<i64>

module attributes {transform.with_named_sequence} {
transform.named_sequence @norm.f32(%kernel: !any {transform.readonly},
                                   %nv: !param {transform.readonly, convbert.param = "nv"}) {
  transform.include @rows failures(propagate) (%kernel, %nv) : (!any, !param) -> ()
  transform.yield
}

transform.named_sequence @embed.f32(%kernel: !any {transform.readonly},
                                    %nv: !param {transform.readonly, convbert.param = "nv"}) {
  transform.include @rows failures(propagate) (%kernel, %nv) : (!any, !param) -> ()
  transform.yield
}

transform.named_sequence private @rows(%kernel: !any {transform.readonly}, %nv: !param {transform.readonly}) {
  %sum = transform.structured.match attributes {sum} in %kernel : (!any) -> !any
  transform.convbert.expect_count %sum, 0 to 1 "sum of the addends tagged `sum`" : !any
  %scale = transform.structured.match attributes {scale} in %kernel : (!any) -> !any
  transform.convbert.expect_count %scale, 1 "result tagged `scale`" : !any
  %elementwise = transform.merge_handles %sum, %scale : !any
  transform.foreach %elementwise : !any {
  ^bb0(%op: !any):
    %x, %lo, %li = transform.structured.tile_using_for %op tile_sizes [1, %nv] : (!any, !param) -> (!any, !any, !any)
    transform.convbert.unroll_full %li : !any
  }
  %lane = transform.structured.match attributes {lane} in %kernel : (!any) -> !any
  transform.convbert.expect_count %lane, 2 "reduction tagged `lane`" : !any
  transform.foreach %lane : !any {
  ^bb0(%op: !any):
    %x, %lo = transform.structured.tile_using_for %op tile_sizes [0, 1] : (!any) -> (!any, !any)
    %y, %li = transform.structured.tile_using_for %x tile_sizes [%nv, 0] : (!any, !param) -> (!any, !any)
    transform.convbert.unroll_full %li : !any
  }
  %fill = transform.structured.match ops{["linalg.fill"]} in %kernel : (!any) -> !any
  %generic = transform.structured.generalize %fill : (!any) -> !any
  %lanes = transform.structured.match ops{["linalg.generic"]} attributes {iterator_types = [#linalg.iterator_type<parallel>]} in %kernel : (!any) -> !any
  transform.convbert.expect_count %lanes, 1 to 2 "fill of partial sums" : !any
  transform.foreach %lanes : !any {
  ^bb0(%op: !any):
    %x, %l = transform.structured.tile_using_for %op tile_sizes [%nv] : (!any, !param) -> (!any, !any)
    transform.convbert.unroll_full %l : !any
  }
  transform.apply_patterns to %kernel {
    transform.apply_patterns.linalg.fold_unit_extent_dims_via_slices
    transform.apply_patterns.tensor.fold_tensor_empty
    transform.apply_patterns.canonicalization
  } {apply_cse} : !any
  %ops = transform.structured.match interface{LinalgOp} in %kernel : (!any) -> !any
  transform.foreach %ops : !any {
  ^bb0(%op: !any):
    transform.structured.vectorize %op : !any
  }
  transform.apply_patterns to %kernel {
    transform.apply_patterns.vector.cast_away_vector_leading_one_dim
    transform.apply_patterns.tensor.fold_tensor_subset_ops_into_vector_transfers
    transform.apply_patterns.canonicalization
  } {apply_cse} : !any
  // Not the parallel loop: nothing may leave it.
  %loops = transform.structured.match ops{["scf.for"]} in %kernel : (!any) -> !any
  transform.apply_licm to %loops : !any
  transform.loop.hoist_loop_invariant_subsets %loops : !any
  transform.apply_patterns to %kernel {
    transform.apply_patterns.vector.lower_multi_reduction lowering_strategy = "innerreduction"
    transform.apply_patterns.vector.cast_away_vector_leading_one_dim
    transform.apply_patterns.tensor.fold_tensor_subset_ops_into_vector_transfers
    transform.apply_patterns.canonicalization
  } {apply_cse} : !any
  transform.yield
}
}
