// dense: register-tiled matrix product with a fused epilogue.
//
// Matches  one elementwise operation tagged `epi` (row tiles, mr, panels, nr) whose producer is a contraction of the
//          same shape tagged `mm`, itself on a fill.  Row tiles, panels and K may be dynamic; mr and nr are static.
//          Panels of bf16 are widened in the contraction, or come from an elementwise operation tagged `widen`.
// Needs    nr a multiple of nv; (mr + 1) * nr / nv + 1 vector registers.
// Leaves   one scf.forall over tasks of `chunk` panels; in it blocks of `mb` row tiles, panels, row tiles; K unrolled
//          by 4 with mr * nr / nv accumulators in registers; 1-D transfers of nv lanes only.  With `widen`, a panel is
//          widened once for all row tiles of a block.
//
// nv     lanes of a native vector
// mb     row tiles a cache block: that many rows stay in the L2 cache while the panels pass by
// chunk  panels a task
!any = !transform.any_op
!param = !transform.param<i64>

module attributes {transform.with_named_sequence} {
transform.named_sequence @dense.f32(%kernel: !any {transform.readonly},
                                    %nv: !param {transform.readonly, convbert.param = "nv"},
                                    %mb: !param {transform.readonly, convbert.param = "mb"},
                                    %chunk: !param {transform.readonly, convbert.param = "chunk"}) {
  %epi = transform.structured.match attributes {epi} in %kernel : (!any) -> !any
  transform.convbert.expect_count %epi, 1 "epilogue tagged `epi`" : !any
  %tagged = transform.structured.match attributes {mm} in %kernel : (!any) -> !any
  transform.convbert.expect_count %tagged, 1 "contraction tagged `mm`" : !any

  // Tasks, cache blocks, then single register tiles: panels outside, so that a panel stays in L1 for all row tiles.
  %r0, %task = transform.structured.fuse %epi tile_sizes [0, 0, %chunk, 0] {apply_cleanup, use_forall} : (!any, !param) -> (!any, !any)
  transform.annotate %task "convbert.any_extent" : !any
  %r1, %block = transform.structured.fuse %r0 tile_sizes [%mb, 0, 0, 0] {apply_cleanup} : (!any, !param) -> (!any, !any)
  %r2, %panel = transform.structured.fuse %r1 tile_sizes [0, 0, 1, 0] {apply_cleanup} : (!any) -> (!any, !any)
  %r3, %tile = transform.structured.fuse %r2 tile_sizes [1, 0, 0, 0] {apply_cleanup} : (!any) -> (!any, !any)
  // What fusion left behind would be matched too.
  transform.apply_patterns to %kernel { transform.apply_patterns.canonicalization } {apply_cse} : !any
  %widen = transform.structured.match attributes {widen} in %kernel : (!any) -> !any
  transform.convbert.expect_count %widen, 0 to 1 "elementwise operation tagged `widen`" : !any
  transform.foreach %widen : !any {
  ^bb0(%op: !any):
    %x, %wn, %wk, %wj = transform.structured.tile_using_for %op tile_sizes [1, 1, %nv] : (!any, !param) -> (!any, !any, !any, !any)
    transform.convbert.unroll_full %wj : !any
  }
  %fill = transform.structured.match ops{["linalg.fill"]} in %kernel : (!any) -> !any
  transform.convbert.expect_count %fill, 1 "fill of the accumulators" : !any
  %generic = transform.structured.generalize %fill : (!any) -> !any
  transform.apply_patterns to %kernel {
    transform.apply_patterns.linalg.fold_unit_extent_dims_via_slices
    transform.apply_patterns.tensor.fold_tensor_empty
    transform.apply_patterns.canonicalization
  } {apply_cse} : !any

  // Folding unit dimensions drops tags: from here on, match by iterator types.
  %mm = transform.structured.match ops{["linalg.generic"]} attributes {iterator_types = [#linalg.iterator_type<parallel>, #linalg.iterator_type<parallel>, #linalg.iterator_type<reduction>]} in %kernel : (!any) -> !any
  transform.convbert.expect_count %mm, 1 "contraction of one register tile" : !any
  %par = transform.structured.match ops{["linalg.generic"]} attributes {iterator_types = [#linalg.iterator_type<parallel>, #linalg.iterator_type<parallel>]} in %kernel : (!any) -> !any
  transform.convbert.expect_count %par, 2 "fill and epilogue of one register tile" : !any
  // m outside, n inside: the other order keeps all broadcasts alive and spills.
  %mm1, %lk = transform.structured.tile_using_for %mm tile_sizes [0, 0, 1] : (!any) -> (!any, !any)
  %mm2, %lm, %ln = transform.structured.tile_using_for %mm1 tile_sizes [1, %nv, 0] : (!any, !param) -> (!any, !any, !any)
  transform.convbert.unroll_full %ln : !any
  transform.convbert.unroll_full %lm : !any
  transform.foreach %par : !any {
  ^bb0(%op: !any):
    %x, %pn, %pm = transform.structured.tile_using_for %op tile_sizes [1, %nv] interchange = [1, 0] : (!any, !param) -> (!any, !any, !any)
    transform.convbert.unroll_full %pm : !any
    transform.convbert.unroll_full %pn : !any
  }
  transform.apply_patterns to %kernel { transform.apply_patterns.canonicalization } {apply_cse} : !any
  %ops = transform.structured.match interface{LinalgOp} in %kernel : (!any) -> !any
  transform.foreach %ops : !any {
  ^bb0(%op: !any):
    transform.structured.vectorize %op {create_named_contraction} : !any
  }
  transform.apply_patterns to %kernel {
    transform.apply_patterns.vector.reduction_to_contract
    transform.apply_patterns.vector.sink_ops
    transform.apply_patterns.vector.transfer_permutation_patterns
    transform.apply_patterns.tensor.fold_tensor_subset_ops_into_vector_transfers
    transform.apply_patterns.canonicalization
  } {apply_cse} : !any

  // Accumulators become values carried by the k loop.
  %loops = transform.structured.match interface{LoopLikeInterface} in %kernel : (!any) -> !any
  transform.apply_licm to %loops : !any
  transform.loop.hoist_loop_invariant_subsets %loops : !any
  transform.apply_patterns to %kernel { transform.apply_patterns.canonicalization } {apply_cse} : !any
  transform.apply_patterns to %kernel {
    transform.apply_patterns.vector.lower_contraction lowering_strategy = "outerproduct"
    transform.apply_patterns.vector.lower_outerproduct
    transform.apply_patterns.canonicalization
  } {apply_cse} : !any
  transform.apply_patterns to %kernel {
    transform.apply_patterns.vector.cast_away_vector_leading_one_dim
    transform.apply_patterns.tensor.fold_tensor_subset_ops_into_vector_transfers
    transform.apply_patterns.canonicalization
  } {apply_cse} : !any

  // Fewer issue slots a multiply-add: matters when the core is shared.
  %fma = transform.structured.match ops{["vector.fma"]} in %kernel : (!any) -> !any
  %k = transform.get_parent_op %fma {op_name = "scf.for", deduplicate} : (!any) -> !any
  transform.convbert.expect_count %k, 1 "loop over k" : !any
  transform.loop.unroll %k {factor = 4} : !any
  transform.yield
}
}
