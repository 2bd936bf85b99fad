// select: branches weighed by a softmax over the branches, of one block of tokens and 16 channels.
//
// Matches  what convbert.select_branches becomes: elementwise operations on 1 x C (one a branch and two more), and one on
//          1 x T x C, which is stored.  All shapes are static.
// Needs    nothing.
// Leaves   the loops around as they are; a loop over tokens, rows of C as vectors, however many native ones that is: what
//          is computed once for a block must have the width of what is computed for its tokens, or it goes through memory.
!any = !transform.any_op

module attributes {transform.with_named_sequence} {
transform.named_sequence @select.f32(%kernel: !any {transform.readonly}) {
  %stored = transform.structured.match ops{["bufferization.materialize_in_destination"]} in %kernel : (!any) -> !any
  transform.convbert.expect_count %stored, 1 "store of the weighed sum" : !any
  %sum = transform.get_producer_of_operand %stored[0] : (!any) -> !any
  transform.convbert.expect_count %sum, 1 "weighed sum of the branches" : !any
  %one, %tokens = transform.structured.tile_using_for %sum tile_sizes [0, 1] : (!any) -> (!any, !any)
  transform.apply_patterns to %kernel { transform.apply_patterns.canonicalization } {apply_cse} : !any
  %ops = transform.structured.match ops{["linalg.generic"]} in %kernel : (!any) -> !any
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
}
