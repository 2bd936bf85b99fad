// depthwise: register-tiled depthwise convolution of one block of tokens and channels.
//
// Matches  one convolution tagged `conv` (tokens, channels, taps) on a fill or a bias tagged `start`, both of static
//          shape.
// Needs    channels a multiple of nv; tokens + 2 vector registers, one more each tap that is to stay in a register.
// Leaves   the loops around as they are; a loop over vectors of nv channels, in it tokens and taps unrolled, the sums
//          in registers; 1-D transfers only.
//
// nv  lanes of a native vector
!any = !transform.any_op
!param = !transform.param<i64>

module attributes {transform.with_named_sequence} {
transform.named_sequence @depthwise.f32(%kernel: !any {transform.readonly},
                                        %nv: !param {transform.readonly, convbert.param = "nv"}) {
  %conv = transform.structured.match attributes {conv} in %kernel : (!any) -> !any
  transform.convbert.expect_count %conv, 1 "convolution tagged `conv`" : !any
  %tile, %channels = transform.structured.fuse %conv tile_sizes [0, %nv, 0] {apply_cleanup} : (!any, !param) -> (!any, !any)
  // What fusion left behind would be matched too.
  transform.apply_patterns to %kernel { transform.apply_patterns.canonicalization } {apply_cse} : !any
  %start = transform.structured.match attributes {start} in %kernel : (!any) -> !any
  transform.convbert.expect_count %start, 1 "start of the sums, tagged `start`" : !any
  %first = transform.structured.generalize %start : (!any) -> !any
  %row, %rows = transform.structured.tile_using_for %first tile_sizes [1, 0] : (!any) -> (!any, !any)
  // Before any cleanup: a row that is the bias as it stands would become a copy of memory.
  transform.structured.vectorize %row : !any
  transform.convbert.unroll_full %rows : !any
  // Taps outside: a tap is used for all tokens and then dead, and the tokens' sums do not wait for each other.
  %step, %taps = transform.structured.tile_using_for %tile tile_sizes [0, 0, 1] : (!any) -> (!any, !any)
  %one, %tokens = transform.structured.tile_using_for %step tile_sizes [1, 0, 0] : (!any) -> (!any, !any)
  transform.convbert.unroll_full %tokens : !any
  transform.convbert.unroll_full %taps : !any
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
    transform.apply_patterns.tensor.fold_tensor_subset_ops_into_vector_transfers
    transform.apply_patterns.canonicalization
  } {apply_cse} : !any
  transform.yield
}
}
