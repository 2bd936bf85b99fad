//===- Passes.td - Passes that report and change nothing --------*- tablegen -*-===//

#ifndef CONVBERT_ANALYSIS_PASSES_TD
#define CONVBERT_ANALYSIS_PASSES_TD

include "mlir/Pass/PassBase.td"

def PrintCostPass : Pass<"convbert-print-cost", "::mlir::ModuleOp"> {
  let summary = "Print the number of parameters, multiply-accumulates and bytes";
  let description = [{
    Parameters are the elements of all `ml_program.global` operations.  Multiply-accumulates (MACs; a FLOP count is
    twice that) are those of `CostOpInterface`, summed over each public function and, once for every call, over the
    functions that it calls; elementwise work is not counted.  Bytes are those that the operations read and write, each
    by itself, at four bytes a float: what is left of them after fusion and caches is less.  Prints to standard error:

    ```
    parameters: 13143768
    @forward, batch 1, length 128: 1221001216 MACs, 52750816 bytes
      convbert.attention_bias  1   0         640
      convbert.embeddings      1   4194304   463872
      convbert.feed_forward    12  805306368 28372992
      convbert.layer_norm      24  0         9486336
      convbert.mixed_attention 12  411500544 14426976
    ```

    The columns are operation, how often it runs, MACs, bytes.
  }];
  let options = [
    Option<"batch", "batch", "int64_t", "1", "Sequences, 1 to 65536">,
    Option<"length", "length", "int64_t", "128", "Tokens of a sequence, 1 to 65536">
  ];
}

#endif // CONVBERT_ANALYSIS_PASSES_TD
