// span: softmax over the taps, and the convolution with the weights that come out of it, of one block of tokens.
//
// Matches  one operation tagged `softmax` (tokens, taps, heads) with its producers: two tagged `tap_reduction`, one
//          `tap_elementwise`, one `tap_factor`; one convolution tagged `conv` (tokens, heads, columns, taps) on a fill.
//          All shapes are static.
// Needs    heads of the softmax a multiple of 8; columns of a head a multiple of `narrow`, or of `wide`, whichever
//          the convolution is tagged with, too; tokens * columns of a block / nv + 2 vector registers.
// Leaves   the loops around as they are; a loop over tokens and vectors of 8 heads with the taps unrolled and the
//          softmax in registers; loops over heads and blocks of columns with tokens and taps unrolled and the sums in
//          registers; 1-D transfers only.
//
// nv      lanes of a native vector
// narrow  columns of a head in registers at a time
// wide    the same for heads that 32 divides
!any = !transform.any_op
!param = !transform.param<i64>

module attributes {transform.with_named_sequence} {
transform.named_sequence @span.f32(%kernel: !any {transform.readonly},
                                   %nv: !param {transform.readonly, convbert.param = "nv"},
                                   %narrow: !param {transform.readonly, convbert.param = "narrow"},
                                   %wide: !param {transform.readonly, convbert.param = "wide"}) {
  %conv = transform.structured.match attributes {conv} in %kernel : (!any) -> !any
  transform.convbert.expect_count %conv, 1 "convolution tagged `conv`" : !any
  transform.include @softmax failures(propagate) (%kernel) : (!any) -> ()
  %large = transform.structured.match attributes {conv, wide} in %kernel : (!any) -> !any
  %small = transform.structured.match attributes {conv, narrow} in %kernel : (!any) -> !any
  %sized = transform.merge_handles %large, %small : !any
  transform.convbert.expect_count %sized, 1 "convolution tagged `wide` or `narrow`" : !any
  transform.foreach %large : !any {
  ^bb0(%op: !any):
    transform.include @convolution failures(propagate) (%op, %wide, %nv) : (!any, !param, !param) -> ()
  }
  transform.foreach %small : !any {
  ^bb0(%op: !any):
    transform.include @convolution failures(propagate) (%op, %narrow, %nv) : (!any, !param, !param) -> ()
  }
  // What fusing tried and gave up: a copy of the softmax, where the convolution reads it as it is (multiples of 8 heads).
  transform.apply_dce to %kernel : !any
  %fill = transform.structured.match ops{["linalg.fill"]} in %kernel : (!any) -> !any
  transform.convbert.expect_count %fill, 2 "fill of the maximum and of the sum over the taps" : !any
  %start = transform.structured.generalize %fill : (!any) -> !any
  // Every operation is on single tokens and taps now: unrolled, and each a vector.
  transform.apply_patterns to %kernel {
    transform.apply_patterns.linalg.fold_unit_extent_dims_via_slices
    transform.apply_patterns.tensor.merge_consecutive_insert_extract_slice
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
    transform.apply_patterns.vector.transfer_permutation_patterns
    transform.apply_patterns.tensor.fold_tensor_subset_ops_into_vector_transfers
    transform.apply_patterns.canonicalization
  } {apply_cse} : !any
  transform.yield
}

// One token and 8 heads at a time (8 whatever the vector: most models have no more), taps unrolled.
transform.named_sequence private @softmax(%kernel: !any {transform.readonly}) {
  %last = transform.structured.match attributes {softmax} in %kernel : (!any) -> !any
  transform.convbert.expect_count %last, 1 "end of the softmax tagged `softmax`" : !any
  %fused, %tokens, %heads = transform.structured.fuse %last tile_sizes [1, 0, 8] {apply_cleanup} : (!any) -> (!any, !any, !any)
  // What fusion left behind would be matched too.
  transform.apply_patterns to %kernel { transform.apply_patterns.canonicalization } {apply_cse} : !any
  %reductions = transform.structured.match attributes {tap_reduction} in %kernel : (!any) -> !any
  transform.convbert.expect_count %reductions, 2 "reduction over the taps tagged `tap_reduction`" : !any
  transform.foreach %reductions : !any {
  ^bb0(%op: !any):
    %x, %taps = transform.structured.tile_using_for %op tile_sizes [0, 0, 1] : (!any) -> (!any, !any)
    transform.convbert.unroll_full %taps : !any
  }
  %end = transform.structured.match attributes {softmax} in %kernel : (!any) -> !any
  %exp = transform.structured.match attributes {tap_elementwise} in %kernel : (!any) -> !any
  %elementwise = transform.merge_handles %end, %exp : !any
  transform.convbert.expect_count %elementwise, 2 "elementwise operation of the softmax" : !any
  transform.foreach %elementwise : !any {
  ^bb0(%op: !any):
    %x, %taps = transform.structured.tile_using_for %op tile_sizes [0, 1, 0] : (!any) -> (!any, !any)
    transform.convbert.unroll_full %taps : !any
  }
  transform.yield
}

// One head and %columns columns at a time, tokens and taps unrolled.
transform.named_sequence private @convolution(%conv: !any {transform.consumed}, %columns: !param {transform.readonly}, %nv: !param {transform.readonly}) {
  // No cleanup: it would pull the softmax in, too.
  %tile, %head, %block = transform.structured.fuse %conv tile_sizes [0, 1, %columns, 0] : (!any, !param) -> (!any, !any, !any)
  %fill = transform.get_producer_of_operand %tile[2] : (!any) -> !any
  %zeros = transform.structured.generalize %fill : (!any) -> !any
  %zero, %zt, %zc = transform.structured.tile_using_for %zeros tile_sizes [1, 0, %nv] : (!any, !param) -> (!any, !any, !any)
  transform.convbert.unroll_full %zc : !any
  transform.convbert.unroll_full %zt : !any
  // Taps outside: the tokens' sums do not wait for each other.
  %step, %taps = transform.structured.tile_using_for %tile tile_sizes [0, 0, 0, 1] : (!any) -> (!any, !any)
  %one, %tokens, %vectors = transform.structured.tile_using_for %step tile_sizes [1, 0, %nv, 0] : (!any, !param) -> (!any, !any, !any)
  transform.convbert.unroll_full %vectors : !any
  transform.convbert.unroll_full %tokens : !any
  transform.convbert.unroll_full %taps : !any
  transform.yield
}
}
