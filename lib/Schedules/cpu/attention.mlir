// attention: one tile of query rows of one head against all keys; also the transposition of key panels.
//
// Matches  what attention_tile becomes, each operation once: `bias` -> `qk` -> `panel_max` -> `lane_max` -> `exp` ->
//          `panel_sum` -> `lane_sum` -> `factor`, and `pv` -> `scale`, perhaps `probability`; `qk`, `exp` and
//          `probability` work in place on the scores, the reductions and `pv` start from fills.  Panels may be dynamic, all else is static.  One linalg.transpose tagged
//          `transpose`, on buffers.
// Needs    tile rows a multiple of `rows`; lanes of a panel and columns of a head multiples of nv and 16, columns also
//          of `narrow`, and of `wide` if `scale` is tagged `wide` and not `narrow`; (rows + 1) * lanes / nv + 1 vector
//          registers.
// Leaves   the loops around as they are; loops over panels and sub-tiles of `rows` rows with the sums in registers;
//          the scores in the one buffer that the tile was given; 1-D transfers only.
//
// nv      lanes of a native vector
// rows    query rows in registers at a time
// narrow  columns of the result in registers at a time
// wide    the same for heads that 32 divides
!any = !transform.any_op
!param = !transform.param<i64>

module attributes {transform.with_named_sequence} {
transform.named_sequence @attention.f32(%kernel: !any {transform.readonly},
                                        %nv: !param {transform.readonly, convbert.param = "nv"},
                                        %rows: !param {transform.readonly, convbert.param = "rows"},
                                        %narrow: !param {transform.readonly, convbert.param = "narrow"},
                                        %wide: !param {transform.readonly, convbert.param = "wide"}) {
  %k = transform.include @scores failures(propagate) (%kernel, %rows, %nv) : (!any, !param, !param) -> !any
  transform.include @softmax failures(propagate) (%kernel, %rows, %nv) : (!any, !param, !param) -> ()
  %scale = transform.structured.match attributes {scale} in %kernel : (!any) -> !any
  transform.convbert.expect_count %scale, 1 "end of the tile tagged `scale`" : !any
  %large = transform.structured.match attributes {scale, wide} in %kernel : (!any) -> !any
  %small = transform.structured.match attributes {scale, narrow} in %kernel : (!any) -> !any
  %sized = transform.merge_handles %large, %small : !any
  transform.convbert.expect_count %sized, 1 "end of the tile tagged `wide` or `narrow`" : !any
  %largeKeys = transform.foreach %large : !any -> !any {
  ^bb0(%op: !any):
    %loop = transform.include @values failures(propagate) (%kernel, %op, %rows, %wide, %nv) : (!any, !any, !param, !param, !param) -> !any
    transform.yield %loop : !any
  }
  %smallKeys = transform.foreach %small : !any -> !any {
  ^bb0(%op: !any):
    %loop = transform.include @values failures(propagate) (%kernel, %op, %rows, %narrow, %nv) : (!any, !any, !param, !param, !param) -> !any
    transform.yield %loop : !any
  }
  transform.include @transposition failures(propagate) (%kernel) : (!any) -> ()

  // All operations are on single rows and reduction steps now: each becomes a vector operation.
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
    transform.apply_patterns.vector.lower_multi_reduction lowering_strategy = "innerreduction"
    transform.apply_patterns.tensor.fold_tensor_subset_ops_into_vector_transfers
    transform.apply_patterns.canonicalization
  } {apply_cse} : !any
  %steps = transform.merge_handles %k, %largeKeys, %smallKeys : !any
  transform.convbert.expect_count %steps, 2 "loop over the columns of the keys, and over the keys of a panel" : !any
  // Sums become values carried by the loops.  Not the parallel loop: nothing may leave it.
  %loops = transform.structured.match ops{["scf.for"]} in %kernel : (!any) -> !any
  transform.apply_licm to %loops : !any
  transform.loop.hoist_loop_invariant_subsets %loops : !any
  transform.apply_patterns to %kernel { transform.apply_patterns.canonicalization } {apply_cse} : !any
  // Fewer issue slots a multiply-add.
  transform.loop.unroll %steps {factor = 4} : !any
  transform.yield
}

// q times keys: panels outside, so that a panel is read once from L2 for all rows.  The sums start from the bias.
transform.named_sequence private @scores(%kernel: !any {transform.readonly}, %rows: !param {transform.readonly}, %nv: !param {transform.readonly}) -> !any {
  %qk = transform.structured.match attributes {qk} in %kernel : (!any) -> !any
  transform.convbert.expect_count %qk, 1 "product tagged `qk`" : !any
  %tile, %panels, %tiles = transform.structured.fuse %qk tile_sizes [%rows, 1, 0, 0] interchange [1, 0, 2, 3] : (!any, !param) -> (!any, !any, !any)
  // What fusion left behind would be matched too.
  transform.apply_patterns to %kernel { transform.apply_patterns.canonicalization } {apply_cse} : !any
  %bias = transform.get_producer_of_operand %tile[2] : (!any) -> !any
  %start, %bm, %bi = transform.structured.tile_using_for %bias tile_sizes [1, 0, %nv] : (!any, !param) -> (!any, !any, !any)
  transform.convbert.unroll_full %bi : !any
  transform.convbert.unroll_full %bm : !any
  // The bias is a copy along the rows, which canonicalisation would make a slice: into vectors right away.
  %copies = transform.structured.match attributes {bias} in %kernel : (!any) -> !any
  transform.foreach %copies : !any {
  ^bb0(%op: !any):
    transform.structured.vectorize %op : !any
  }
  %step, %k = transform.structured.tile_using_for %tile tile_sizes [0, 0, 0, 1] : (!any) -> (!any, !any)
  %one, %m, %i = transform.structured.tile_using_for %step tile_sizes [1, 0, %nv, 0] : (!any, !param) -> (!any, !any, !any)
  transform.convbert.unroll_full %i : !any
  transform.convbert.unroll_full %m : !any
  transform.yield %k : !any
}

// Maximum, exponentials, sum.
transform.named_sequence private @softmax(%kernel: !any {transform.readonly}, %rows: !param {transform.readonly}, %nv: !param {transform.readonly}) {
  %max = transform.structured.match attributes {panel_max} in %kernel : (!any) -> !any
  transform.convbert.expect_count %max, 1 "reduction tagged `panel_max`" : !any
  transform.include @overPanels failures(propagate) (%max, %rows, %nv) : (!any, !param, !param) -> ()
  %lanesMax = transform.structured.match attributes {lane_max} in %kernel : (!any) -> !any
  transform.convbert.expect_count %lanesMax, 1 "reduction tagged `lane_max`" : !any
  %lm, %lml = transform.structured.fuse %lanesMax tile_sizes [1, 0] : (!any) -> (!any, !any)
  %exp = transform.structured.match attributes {exp} in %kernel : (!any) -> !any
  transform.convbert.expect_count %exp, 1 "exponential tagged `exp`" : !any
  %e, %em, %eo, %ei = transform.structured.tile_using_for %exp tile_sizes [1, 1, %nv] : (!any, !param) -> (!any, !any, !any, !any)
  transform.convbert.unroll_full %ei : !any
  %probability = transform.structured.match attributes {probability} in %kernel : (!any) -> !any
  transform.convbert.expect_count %probability, 0 to 1 "probabilities tagged `probability`" : !any
  transform.foreach %probability : !any {
  ^bb0(%op: !any):
    %p, %pm, %po, %pi = transform.structured.tile_using_for %op tile_sizes [1, 1, %nv] : (!any, !param) -> (!any, !any, !any, !any)
    transform.convbert.unroll_full %pi : !any
  }
  %sum = transform.structured.match attributes {panel_sum} in %kernel : (!any) -> !any
  transform.convbert.expect_count %sum, 1 "reduction tagged `panel_sum`" : !any
  transform.include @overPanels failures(propagate) (%sum, %rows, %nv) : (!any, !param, !param) -> ()
  %lanesSum = transform.structured.match attributes {lane_sum} in %kernel : (!any) -> !any
  transform.convbert.expect_count %lanesSum, 1 "reduction tagged `lane_sum`" : !any
  %ls, %lsl = transform.structured.fuse %lanesSum tile_sizes [1, 0] : (!any) -> (!any, !any)
  transform.yield
}

// Reduction over the panels: `rows` rows of lanes at a time in registers.
transform.named_sequence private @overPanels(%reduction: !any {transform.consumed}, %rows: !param {transform.readonly}, %nv: !param {transform.readonly}) {
  %tile, %tiles = transform.structured.fuse %reduction tile_sizes [%rows, 0, 0] : (!any, !param) -> (!any, !any)
  %fill = transform.get_producer_of_operand %tile[1] : (!any) -> !any
  %start = transform.structured.generalize %fill : (!any) -> !any
  %s, %sm, %si = transform.structured.tile_using_for %start tile_sizes [1, %nv] : (!any, !param) -> (!any, !any, !any)
  transform.convbert.unroll_full %si : !any
  transform.convbert.unroll_full %sm : !any
  %step, %panels = transform.structured.tile_using_for %tile tile_sizes [0, 0, 1] : (!any) -> (!any, !any)
  %one, %m, %i = transform.structured.tile_using_for %step tile_sizes [1, %nv, 0] : (!any, !param) -> (!any, !any, !any)
  transform.convbert.unroll_full %i : !any
  transform.convbert.unroll_full %m : !any
  transform.yield
}

// Weights times values, divided by the sum of the weights before they leave the registers.
transform.named_sequence private @values(%kernel: !any {transform.readonly}, %scale: !any {transform.consumed}, %rows: !param {transform.readonly}, %columns: !param {transform.readonly}, %nv: !param {transform.readonly}) -> !any {
  %pv = transform.structured.match attributes {pv} in %kernel : (!any) -> !any
  transform.convbert.expect_count %pv, 1 "product tagged `pv`" : !any
  %fill = transform.get_producer_of_operand %pv[2] : (!any) -> !any
  %tile, %columnLoop, %rowLoop = transform.structured.tile_using_for %scale tile_sizes [%rows, %columns] interchange = [1, 0] : (!any, !param, !param) -> (!any, !any, !any)
  %product, %l0 = transform.structured.fuse_into_containing_op %pv into %rowLoop : (!any, !any) -> (!any, !any)
  %start, %l1 = transform.structured.fuse_into_containing_op %fill into %l0 : (!any, !any) -> (!any, !any)
  %end, %em, %ec = transform.structured.tile_using_for %tile tile_sizes [1, %nv] : (!any, !param) -> (!any, !any, !any)
  transform.convbert.unroll_full %ec : !any
  transform.convbert.unroll_full %em : !any
  %zeros = transform.structured.generalize %start : (!any) -> !any
  %zero, %zm, %zc = transform.structured.tile_using_for %zeros tile_sizes [1, %nv] : (!any, !param) -> (!any, !any, !any)
  transform.convbert.unroll_full %zc : !any
  transform.convbert.unroll_full %zm : !any
  %panel, %panels = transform.structured.tile_using_for %product tile_sizes [0, 0, 1, 0] : (!any) -> (!any, !any)
  %step, %keys = transform.structured.tile_using_for %panel tile_sizes [0, 0, 0, 1] : (!any) -> (!any, !any)
  %one, %m, %c = transform.structured.tile_using_for %step tile_sizes [1, %nv, 0, 0] : (!any, !param) -> (!any, !any, !any)
  transform.convbert.unroll_full %c : !any
  transform.convbert.unroll_full %m : !any
  transform.yield %keys : !any
}

// A key panel in squares of 16 x 16, which become shuffles.
transform.named_sequence private @transposition(%kernel: !any {transform.readonly}) {
  %transpose = transform.structured.match attributes {transpose} in %kernel : (!any) -> !any
  transform.convbert.expect_count %transpose, 1 "transposition tagged `transpose`" : !any
  %square, %l0, %l1 = transform.structured.tile_using_for %transpose tile_sizes [16, 16] : (!any) -> (!any, !any, !any)
  transform.structured.vectorize %square : !any
  transform.apply_patterns to %kernel {
    transform.apply_patterns.vector.transfer_permutation_patterns
  } : !any
  // Without canonicalisation: it would take the square apart into scalars before its rows are.
  transform.apply_patterns to %kernel {
    transform.apply_patterns.vector.lower_transpose lowering_strategy = "shuffle_16x16"
    transform.apply_patterns.vector.transfer_to_scf max_transfer_rank = 1 full_unroll = true
  } : !any
  transform.yield
}
}
