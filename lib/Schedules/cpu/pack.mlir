// pack: relayout of weights, once a model.
//
// Matches  any number of linalg operations tagged `pack`, the roots of their kernel.
// Needs    nothing.
// Leaves   one scf.forall over the outermost dimension for each; scalar inside, and all other operations as they are:
//          the loops run once and wait for memory.
!any = !transform.any_op

module attributes {transform.with_named_sequence} {
transform.named_sequence @pack(%kernel: !any {transform.readonly}) {
  %roots = transform.structured.match attributes {pack} in %kernel : (!any) -> !any
  transform.foreach %roots : !any {
  ^bb0(%op: !any):
    %tile, %task = transform.structured.tile_using_forall %op tile_sizes [1] : (!any) -> (!any, !any)
  }
  transform.yield
}
}
