//===- CostsTest.cpp - Multiply-accumulates, parameters, bytes of operations -===//
//
// One sequence of 128 tokens.  Width 768, 9 taps and 12 heads, or 6 heads beside 6 heads of 64, unless it says
// otherwise: the sizes for which the accounting of the model gives numbers.
//
//===----------------------------------------------------------------------===//

#include "dialect/IR/ConvBERTOps.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/IR/MLIRContext.h"
#include "mlir/Parser/Parser.h"
#include "llvm/ADT/StringSet.h"
#include "gtest/gtest.h"
#include <limits>

using namespace mlir;
using namespace mlir::convbert;

namespace {

struct Case {
  const char *arguments;
  const char *op;
  int64_t macs;
  /// True if the cost does not depend on the length.
  bool pooled = false;
};

const Case cases[] = {
    {"%x: tensor<?x?x768xf32>, %w: tensor<768x768xf32>",
     "convbert.dense %x, %w : (tensor<?x?x768xf32>, tensor<768x768xf32>) -> tensor<?x?x768xf32>", 75497472},
    {"%x: tensor<?x768xf32>, %w: tensor<768x768xf32>",
     "convbert.dense %x, %w : (tensor<?x768xf32>, tensor<768x768xf32>) -> tensor<?x768xf32>", 589824, true},
    // Half of the products of a full 384 x 1536 layer.
    {"%x: tensor<?x?x384xf32>, %w: tensor<2x192x768xf32>",
     "convbert.grouped_dense %x, %w : (tensor<?x?x384xf32>, tensor<2x192x768xf32>) -> tensor<?x?x1536xf32>",
     int64_t(128) * 384 * 1536 / 2},
    {"%i: tensor<?x?xi64>, %w: tensor<9x128xf32>, %g: tensor<128xf32>",
     "convbert.embeddings %i, %i, %i tables(%w, %w, %w) norm(%g, %g) {eps = 0.0 : f64} : (tensor<?x?xi64>, "
     "tensor<?x?xi64>, tensor<?x?xi64>, tensor<9x128xf32>, tensor<9x128xf32>, tensor<9x128xf32>, tensor<128xf32>, "
     "tensor<128xf32>) -> tensor<?x?x128xf32>",
     0},
    {"%i: tensor<?x?xi64>, %w: tensor<9x128xf32>, %g: tensor<128xf32>, %p: tensor<256x128xf32>, %b: tensor<256xf32>",
     "convbert.embeddings %i, %i, %i tables(%w, %w, %w) norm(%g, %g) project(%p, %b) {eps = 0.0 : f64} : "
     "(tensor<?x?xi64>, tensor<?x?xi64>, tensor<?x?xi64>, tensor<9x128xf32>, tensor<9x128xf32>, tensor<9x128xf32>, "
     "tensor<128xf32>, tensor<128xf32>, tensor<256x128xf32>, tensor<256xf32>) -> tensor<?x?x256xf32>",
     4194304},
    {"%x: tensor<?x?x768xf32>, %w1: tensor<3072x768xf32>, %b1: tensor<3072xf32>, %w2: tensor<768x3072xf32>, "
     "%b2: tensor<768xf32>",
     "convbert.feed_forward %x, %w1, %b1, %w2, %b2 {activation = #convbert.activation<gelu>} : (tensor<?x?x768xf32>, "
     "tensor<3072x768xf32>, tensor<3072xf32>, tensor<768x3072xf32>, tensor<768xf32>) -> tensor<?x?x768xf32>",
     603979776},
    // The small model's: 1.009 GFLOP.
    {"%x: tensor<?x?x256xf32>, %w: tensor<128x256xf32>, %b: tensor<128xf32>, %d: tensor<30522x128xf32>, "
     "%c: tensor<30522xf32>",
     "convbert.lm_head %x, %w, %b, %b, %b, %d, %c {eps = 0.0 : f64} : (tensor<?x?x256xf32>, tensor<128x256xf32>, "
     "tensor<128xf32>, tensor<128xf32>, tensor<128xf32>, tensor<30522x128xf32>, tensor<30522xf32>) -> "
     "tensor<?x?x30522xf32>",
     504266752},
    {"%x: tensor<?x?x128xf32>, %w: tensor<128x128xf32>, %b: tensor<128xf32>, %v: tensor<20x128xf32>, "
     "%c: tensor<20xf32>",
     "convbert.classifier_head %x, %w, %b, %v, %c {activation = #convbert.activation<gelu>} : (tensor<?x?x128xf32>, "
     "tensor<128x128xf32>, tensor<128xf32>, tensor<20x128xf32>, tensor<20xf32>) -> tensor<?x20xf32>",
     128 * 128 + 20 * 128, true},
    {"%x: tensor<?x?x768xf32>, %w: tensor<9x768xf32>, %b: tensor<9xf32>",
     "convbert.token_head %x, %w, %b : (tensor<?x?x768xf32>, tensor<9x768xf32>, tensor<9xf32>) -> tensor<?x?x9xf32>",
     128 * 9 * 768},
    {"%x: tensor<?x?x768xf32>, %w: tensor<2x768xf32>, %b: tensor<2xf32>",
     "convbert.span_head %x, %w, %b : (tensor<?x?x768xf32>, tensor<2x768xf32>, tensor<2xf32>) -> (tensor<?x?xf32>, "
     "tensor<?x?xf32>)",
     128 * 2 * 768},
    {"%x: tensor<?x?x768xf32>, %w: tensor<1x768xf32>, %b: tensor<1xf32>",
     "convbert.choice_head %x, %w, %b {summary = #convbert.pool<last>} : (tensor<?x?x768xf32>, tensor<1x768xf32>, "
     "tensor<1xf32>) -> tensor<?x1xf32>",
     768, true},
    {"%x: tensor<?x?x768xf32>, %w: tensor<768x9xf32>",
     "convbert.depthwise_conv1d %x, %w {pads = array<i64: 4, 4>} : (tensor<?x?x768xf32>, tensor<768x9xf32>) -> "
     "tensor<?x?x768xf32>",
     884736},
    {"%x: tensor<?x?x768xf32>, %d: tensor<768x9xf32>, %p: tensor<768x768xf32>",
     "convbert.separable_conv1d %x, %d, %p {pads = array<i64: 4, 4>} : (tensor<?x?x768xf32>, tensor<768x9xf32>, "
     "tensor<768x768xf32>) -> tensor<?x?x768xf32>",
     76382208},
    // The regular convolution of the table, and in groups; a stride halves the tokens.
    {"%x: tensor<?x?x768xf32>, %w: tensor<768x768x9xf32>",
     "convbert.conv1d %x, %w {pads = array<i64: 4, 4>} : (tensor<?x?x768xf32>, tensor<768x768x9xf32>) -> "
     "tensor<?x?x768xf32>",
     679477248},
    {"%x: tensor<?x?x768xf32>, %w: tensor<9x64x768xf32>",
     "convbert.conv1d %x, %w {pads = array<i64: 8, 0>, groups = 12 : i64, layout = #convbert.layout<in_out>} : "
     "(tensor<?x?x768xf32>, tensor<9x64x768xf32>) -> tensor<?x?x768xf32>",
     679477248 / 12},
    {"%x: tensor<?x?x768xf32>, %w: tensor<768x768x9xf32>",
     "convbert.conv1d %x, %w {pads = array<i64: 4, 4>, stride = 2 : i64} : (tensor<?x?x768xf32>, "
     "tensor<768x768x9xf32>) -> tensor<?x?x768xf32>",
     679477248 / 2},
    {"%x: tensor<?x?x768xf32>, %w: tensor<?x768x768x1xf32>",
     "convbert.conv1d %x, %w {pads = array<i64: 0, 0>} : (tensor<?x?x768xf32>, tensor<?x768x768x1xf32>) -> "
     "tensor<?x?x768xf32>",
     75497472},
    // Dilated taps reach over 8 tokens more.
    {"%x: tensor<?x?x768xf32>, %w: tensor<1536x5xf32>",
     "convbert.depthwise_conv1d %x, %w {pads = array<i64: 0, 0>, dilation = 2 : i64} : (tensor<?x?x768xf32>, "
     "tensor<1536x5xf32>) -> tensor<?x?x1536xf32>",
     (128 - 8) * 1536 * 5},
    {"%x: tensor<?x?x768xf32>, %v: tensor<768xf32>",
     "convbert.batch_norm %x, %v, %v, %v, %v {eps = 0.0 : f64} : (tensor<?x?x768xf32>, tensor<768xf32>, "
     "tensor<768xf32>, tensor<768xf32>, tensor<768xf32>) -> tensor<?x?x768xf32>",
     0},
    {"%z: tensor<?x4xf32>", "convbert.softmax %z {temperature = 30.0 : f64} : tensor<?x4xf32>", 0},
    {"%x: tensor<?x?x3072xf32>, %p: tensor<?x4xf32>",
     "convbert.weighted_sum %x, %p : (tensor<?x?x3072xf32>, tensor<?x4xf32>) -> tensor<?x?x768xf32>", 128 * 3072},
    // The convolution, the gate and the mix of the kernels.
    {"%x: tensor<?x?x768xf32>, %f: tensor<192x768xf32>, %e: tensor<4x192xf32>, %w: tensor<4x768x768x9xf32>",
     "convbert.kernel_attention_conv %x squeeze(%f) excite(%e) kernels(%w) {pads = array<i64: 4, 4>} : "
     "(tensor<?x?x768xf32>, tensor<192x768xf32>, tensor<4x192xf32>, tensor<4x768x768x9xf32>) -> tensor<?x?x768xf32>",
     679477248 + 246528 + 21233664},
    {"%x: tensor<?x?x768xf32>, %f: tensor<192x768xf32>, %e: tensor<4x192xf32>, %w: tensor<4x768x768x9xf32>",
     "convbert.kernel_attention_conv %x squeeze(%f) excite(%e) kernels(%w) {pads = array<i64: 4, 4>, aggregate = "
     "#convbert.aggregate<outputs>} : (tensor<?x?x768xf32>, tensor<192x768xf32>, tensor<4x192xf32>, "
     "tensor<4x768x768x9xf32>) -> tensor<?x?x768xf32>",
     4 * 679477248LL + 246528 + 128 * 4 * 768},
    {"%q: tensor<?x?x768xf32>, %w: tensor<108x768xf32>",
     "convbert.dynamic_kernel %q, %w {heads = 12 : i64, normalize = #convbert.norm<softmax>} : (tensor<?x?x768xf32>, "
     "tensor<108x768xf32>) -> tensor<?x?x12x9xf32>",
     10616832},
    {"%v: tensor<?x?x768xf32>, %t: tensor<?x?x12x9xf32>",
     "convbert.apply_kernel %v, %t {pads = array<i64: 4, 4>, normalize = #convbert.norm<none>} : "
     "(tensor<?x?x768xf32>, tensor<?x?x12x9xf32>) -> tensor<?x?x768xf32>",
     884736},
    // Generator and application; the product of query and key is elementwise.
    {"%q: tensor<?x?x384xf32>, %w: tensor<54x384xf32>",
     "convbert.span_dynamic_conv %q, %q, %q, %w {heads = 6 : i64, pads = array<i64: 4, 4>} : (tensor<?x?x384xf32>, "
     "tensor<?x?x384xf32>, tensor<?x?x384xf32>, tensor<54x384xf32>) -> tensor<?x?x384xf32>",
     128 * (54 * 384 + 384 * 9)},
    // Scores and mix.
    {"%q: tensor<?x?x768xf32>",
     "convbert.self_attention %q, %q, %q {heads = 12 : i64, scale = 0.125 : f64} : (tensor<?x?x768xf32>, "
     "tensor<?x?x768xf32>, tensor<?x?x768xf32>) -> tensor<?x?x768xf32>",
     25165824},
    // A layer of base without its feed-forward part: 1 769 570 304 / 2 - 603 979 776.
    {"%x: tensor<?x?x768xf32>, %w: tensor<384x768xf32>, %b: tensor<384xf32>, %d: tensor<768x9xf32>, "
     "%f: tensor<54x384xf32>, %g: tensor<54xf32>, %o: tensor<768x768xf32>, %c: tensor<768xf32>",
     "convbert.mixed_attention %x query(%w, %b) key(%w, %b) value(%w, %b) span(%d, %w, %b) kernel(%f, %g) "
     "conv(%w, %b) output(%o, %c) {attn_heads = 6 : i64, conv_heads = 6 : i64, head_size = 64 : i64} : "
     "(tensor<?x?x768xf32>, tensor<384x768xf32>, tensor<384xf32>, tensor<384x768xf32>, tensor<384xf32>, "
     "tensor<384x768xf32>, tensor<384xf32>, tensor<768x9xf32>, tensor<384x768xf32>, tensor<384xf32>, "
     "tensor<54x384xf32>, tensor<54xf32>, tensor<384x768xf32>, tensor<384xf32>, tensor<768x768xf32>, "
     "tensor<768xf32>) -> tensor<?x?x768xf32>",
     280805376},
    // The same of BERT.
    {"%x: tensor<?x?x768xf32>, %w: tensor<768x768xf32>, %b: tensor<768xf32>",
     "convbert.mixed_attention %x query(%w, %b) key(%w, %b) value(%w, %b) output(%w, %b) {attn_heads = 12 : i64, "
     "conv_heads = 0 : i64, head_size = 64 : i64} : (tensor<?x?x768xf32>, tensor<768x768xf32>, tensor<768xf32>, "
     "tensor<768x768xf32>, tensor<768xf32>, tensor<768x768xf32>, tensor<768xf32>, tensor<768x768xf32>, "
     "tensor<768xf32>) -> tensor<?x?x768xf32>",
     128 * (4 * 768 * 768 + 2 * 128 * 768)},
    // Elementwise work is not counted.
    {"%x: tensor<?x?x768xf32>", "convbert.activation %x {kind = #convbert.activation<gelu>} : tensor<?x?x768xf32>", 0},
    {"%x: tensor<?x?x768xf32>, %g: tensor<768xf32>",
     "convbert.layer_norm %x, %g, %g {eps = 0.0 : f64} : (tensor<?x?x768xf32>, tensor<768xf32>, tensor<768xf32>) -> "
     "tensor<?x?x768xf32>",
     0},
    {"%x: tensor<?x?x768xf32>",
     "convbert.pool %x {kind = #convbert.pool<mean>} : (tensor<?x?x768xf32>) -> tensor<?x768xf32>", 0},
    {"%m: tensor<?x?xi1>", "convbert.attention_bias %m : (tensor<?x?xi1>) -> tensor<?x?xf32>", 0},
    {"%x: tensor<?x?x768xf32>, %m: tensor<?x?xi1>",
     "convbert.mask_tokens %x, %m : (tensor<?x?x768xf32>, tensor<?x?xi1>) -> tensor<?x?x768xf32>", 0},
    {"%x: tensor<?x?x768xf32>, %s: tensor<12xf32>",
     "convbert.scale_heads %x, %s : (tensor<?x?x768xf32>, tensor<12xf32>) -> tensor<?x?x768xf32>", 0},
    // Lightweight: 9 taps on 768 channels; dynamic: the generator, 768 -> 12 * 9, and the same.
    {"%x: tensor<?x?x768xf32>, %w: tensor<12x9xf32>",
     "convbert.light_conv %x, %w {pads = array<i64: 4, 4>} : (tensor<?x?x768xf32>, tensor<12x9xf32>) -> "
     "tensor<?x?x768xf32>",
     884736},
    {"%x: tensor<?x?x768xf32>, %w: tensor<108x768xf32>",
     "convbert.dynamic_conv %x, %w {heads = 12 : i64, pads = array<i64: 4, 4>} : (tensor<?x?x768xf32>, "
     "tensor<108x768xf32>) -> tensor<?x?x768xf32>",
     11501568},
    {"%w: tensor<12x9xf32>", "convbert.normalize_taps %w : tensor<12x9xf32>", 0},
    {"%x: tensor<?x?x768xf32>, %b: tensor<768xf32>",
     "convbert.add_bias %x, %b : (tensor<?x?x768xf32>, tensor<768xf32>) -> tensor<?x?x768xf32>", 0},
    // Squeeze and rescale, an element each, and 2 * 768^2 / 16.
    {"%x: tensor<?x?x768xf32>, %w1: tensor<48x768xf32>, %w2: tensor<768x48xf32>",
     "convbert.squeeze_excite %x squeeze(%w1) excite(%w2) {gate = #convbert.activation<sigmoid>} : "
     "(tensor<?x?x768xf32>, tensor<48x768xf32>, tensor<768x48xf32>) -> tensor<?x?x768xf32>",
     270336},
    {"%x: tensor<?x?x768xf32>, %g: tensor<?x768xf32>",
     "convbert.scale_channels %x, %g : (tensor<?x?x768xf32>, tensor<?x768xf32>) -> tensor<?x?x768xf32>", 128 * 768},
    // M adds and M products an element, and C D + M D C.
    {"%x: tensor<?x?x768xf32>, %w: tensor<48x768xf32>, %a: tensor<3x48x768xf32>",
     "convbert.selective_kernel %x, %x, %x squeeze(%w) select(%a) : (tensor<?x?x768xf32>, tensor<?x?x768xf32>, "
     "tensor<?x?x768xf32>, tensor<48x768xf32>, tensor<3x48x768xf32>) -> tensor<?x?x768xf32>",
     2 * 3 * 128 * 768 + 768 * 48 + 3 * 48 * 768},
    {"%x: tensor<?x?x768xf32>, %l: tensor<?x768xf32>",
     "convbert.select_branches %x, %x by(%l, %l) : (tensor<?x?x768xf32>, tensor<?x?x768xf32>, tensor<?x768xf32>, "
     "tensor<?x768xf32>) -> tensor<?x?x768xf32>",
     2 * 128 * 768},
};

/// Two sequences of 128 tokens.
struct Memory {
  const char *arguments;
  const char *op;
  int64_t parameters, reads, writes;
};

constexpr int64_t kTokens = 2 * 128;

const Memory memories[] = {
    {"%x: tensor<?x?x768xf16>, %w: tensor<96x768xf16>, %b: tensor<96xf16>",
     "convbert.dense %x, %w, %b : (tensor<?x?x768xf16>, tensor<96x768xf16>, tensor<96xf16>) -> tensor<?x?x96xf16>",
     96 + 96 * 768, 4 * (kTokens * 768 + 96 * 768 + 96), 4 * kTokens * 96},
    // Rows of the tables; ids of eight bytes.
    {"%i: tensor<?x?xi64>, %t: tensor<30522x128xf32>, %g: tensor<128xf32>",
     "convbert.embeddings %i, %i, %i tables(%t, %t, %t) norm(%g, %g) {eps = 0.0 : f64} : (tensor<?x?xi64>, "
     "tensor<?x?xi64>, tensor<?x?xi64>, tensor<30522x128xf32>, tensor<30522x128xf32>, tensor<30522x128xf32>, "
     "tensor<128xf32>, tensor<128xf32>) -> tensor<?x?x128xf32>",
     3 * 30522 * 128 + 256, kTokens * 3 * (4 * 128 + 8) + 4 * 256, 4 * kTokens * 128},
    {"%x: tensor<?x?x768xf32>, %m: tensor<?x?xi1>",
     "convbert.mask_tokens %x, %m : (tensor<?x?x768xf32>, tensor<?x?xi1>) -> tensor<?x?x768xf32>", 0,
     kTokens * (4 * 768 + 1), 4 * kTokens * 768},
    // The parameters of the table, and biases; half of the tokens are written.
    {"%x: tensor<?x?x768xf32>, %w: tensor<768x768x9xf32>, %b: tensor<768xf32>",
     "convbert.conv1d %x, %w, %b {pads = array<i64: 4, 4>} : (tensor<?x?x768xf32>, tensor<768x768x9xf32>, "
     "tensor<768xf32>) -> tensor<?x?x768xf32>",
     5308416 + 768, 4 * (kTokens * 768 + 5308416 + 768), 4 * kTokens * 768},
    {"%x: tensor<?x?x768xf32>, %w: tensor<768x9xf32>, %b: tensor<768xf32>",
     "convbert.depthwise_conv1d %x, %w, %b {pads = array<i64: 4, 4>} : (tensor<?x?x768xf32>, tensor<768x9xf32>, "
     "tensor<768xf32>) -> tensor<?x?x768xf32>",
     6912 + 768, 4 * (kTokens * 768 + 6912 + 768), 4 * kTokens * 768},
    {"%x: tensor<?x?x768xf32>, %d: tensor<768x9xf32>, %p: tensor<768x768xf32>",
     "convbert.separable_conv1d %x, %d, %p {pads = array<i64: 8, 8>, dilation = 2 : i64} : (tensor<?x?x768xf32>, "
     "tensor<768x9xf32>, tensor<768x768xf32>) -> tensor<?x?x768xf32>",
     596736, 4 * (kTokens * 768 + 596736), 4 * kTokens * 768},
    // Kernels of each sequence are no parameters.
    {"%x: tensor<?x?x768xf32>, %w: tensor<?x768x768x9xf32>, %b: tensor<?x768xf32>",
     "convbert.conv1d %x, %w, %b {pads = array<i64: 4, 4>} : (tensor<?x?x768xf32>, tensor<?x768x768x9xf32>, "
     "tensor<?x768xf32>) -> tensor<?x?x768xf32>",
     0, 4 * (kTokens * 768 + 2 * (5308416 + 768)), 4 * kTokens * 768},
    {"%x: tensor<?x?x768xf32>, %v: tensor<768xf32>",
     "convbert.batch_norm %x, %v, %v, %v, %v {eps = 0.0 : f64} : (tensor<?x?x768xf32>, tensor<768xf32>, "
     "tensor<768xf32>, tensor<768xf32>, tensor<768xf32>) -> tensor<?x?x768xf32>",
     4 * 768, 4 * (kTokens * 768 + 4 * 768), 4 * kTokens * 768},
    {"%x: tensor<?x?x768xf32>, %f: tensor<192x768xf32>, %e: tensor<4x192xf32>, %w: tensor<4x768x768x9xf32>, "
     "%b: tensor<4x768xf32>",
     "convbert.kernel_attention_conv %x squeeze(%f) excite(%e) kernels(%w, %b) {pads = array<i64: 4, 4>} : "
     "(tensor<?x?x768xf32>, tensor<192x768xf32>, tensor<4x192xf32>, tensor<4x768x768x9xf32>, tensor<4x768xf32>) -> "
     "tensor<?x?x768xf32>",
     4 * 5308416 + 768 * 768 / 4 + 768 + 4 * 768, 4 * (kTokens * 768 + 4 * 5308416 + 768 * 768 / 4 + 768 + 4 * 768),
     4 * kTokens * 768},
    // Batch and length that are known are not asked for.
    {"%x: tensor<3x?x8xf32>", "convbert.pool %x {kind = #convbert.pool<mean>} : (tensor<3x?x8xf32>) -> tensor<3x8xf32>",
     0, 4 * 3 * 128 * 8, 4 * 3 * 8},
    {"%x: tensor<?x?x768xf32>",
     "convbert.self_attention %x, %x, %x {heads = 12 : i64, scale = 0.125 : f64, with_probabilities} : "
     "(tensor<?x?x768xf32>, tensor<?x?x768xf32>, tensor<?x?x768xf32>) -> (tensor<?x?x768xf32>, tensor<?x12x?x?xf32>)",
     0, 4 * 3 * kTokens * 768, 4 * kTokens * (768 + 12 * 128)},
    // H K, d H K, and 2 d^2 / r.
    {"%x: tensor<?x?x768xf32>, %w: tensor<12x9xf32>",
     "convbert.light_conv %x, %w {pads = array<i64: 4, 4>} : (tensor<?x?x768xf32>, tensor<12x9xf32>) -> "
     "tensor<?x?x768xf32>",
     108, 4 * (kTokens * 768 + 108), 4 * kTokens * 768},
    {"%x: tensor<?x?x768xf32>, %w: tensor<108x768xf32>, %q: tensor<?x?x768xf32>",
     "convbert.dynamic_conv %x, %w query(%q) {heads = 12 : i64, pads = array<i64: 4, 4>} : (tensor<?x?x768xf32>, "
     "tensor<108x768xf32>, tensor<?x?x768xf32>) -> tensor<?x?x768xf32>",
     82944, 4 * (2 * kTokens * 768 + 82944), 4 * kTokens * 768},
    {"%x: tensor<?x?x768xf32>, %w1: tensor<48x768xf32>, %w2: tensor<768x48xf32>, %m: tensor<?x?xi1>",
     "convbert.squeeze_excite %x squeeze(%w1) excite(%w2) mask(%m) {gate = #convbert.activation<sigmoid>} : "
     "(tensor<?x?x768xf32>, tensor<48x768xf32>, tensor<768x48xf32>, tensor<?x?xi1>) -> tensor<?x?x768xf32>",
     73728, 4 * (kTokens * 768 + 73728) + kTokens, 4 * kTokens * 768},
    {"%x: tensor<?x?x768xf32>, %w: tensor<48x768xf32>, %s: tensor<48xf32>, %a: tensor<2x48x768xf32>",
     "convbert.selective_kernel %x, %x squeeze(%w) scale(%s) shift(%s) select(%a) : (tensor<?x?x768xf32>, "
     "tensor<?x?x768xf32>, tensor<48x768xf32>, tensor<48xf32>, tensor<48xf32>, tensor<2x48x768xf32>) -> "
     "tensor<?x?x768xf32>",
     768 * 48 + 2 * 48 + 2 * 48 * 768, 4 * (2 * kTokens * 768 + 3 * 48 * 768 + 2 * 48), 4 * kTokens * 768},
    // The published share of a layer.
    {"%x: tensor<?x?x768xf32>, %w: tensor<384x768xf32>, %b: tensor<384xf32>, %d: tensor<768x9xf32>, "
     "%f: tensor<54x384xf32>, %g: tensor<54xf32>, %o: tensor<768x768xf32>, %c: tensor<768xf32>",
     "convbert.mixed_attention %x query(%w, %b) key(%w, %b) value(%w, %b) span(%d, %w, %b) kernel(%f, %g) "
     "conv(%w, %b) output(%o, %c) {attn_heads = 6 : i64, conv_heads = 6 : i64, head_size = 64 : i64} : "
     "(tensor<?x?x768xf32>, tensor<384x768xf32>, tensor<384xf32>, tensor<384x768xf32>, tensor<384xf32>, "
     "tensor<384x768xf32>, tensor<384xf32>, tensor<768x9xf32>, tensor<384x768xf32>, tensor<384xf32>, "
     "tensor<54x384xf32>, tensor<54xf32>, tensor<384x768xf32>, tensor<384xf32>, tensor<768x768xf32>, "
     "tensor<768xf32>) -> tensor<?x?x768xf32>",
     2094774, 4 * (kTokens * 768 + 2094774), 4 * kTokens * 768},
};

class Costs : public testing::Test {
protected:
  Costs() { context.loadDialect<ConvBERTDialect, func::FuncDialect>(); }

  /// The one operation with a cost in a function made of `item`.
  template <typename Item> CostOpInterface parse(const Item &item) {
    StringRef op = item.op;
    StringRef results = op.starts_with("convbert.span_head") || op.contains("with_") ? "%y:2 = " : "%y = ";
    std::string text =
        ("func.func @f(" + Twine(item.arguments) + ") {\n  " + results + item.op + "\n  return\n}\n").str();
    module = parseSourceString<ModuleOp>(text, &context);
    CostOpInterface found;
    if (module)
      module->walk([&](CostOpInterface op) { found = op; });
    return found;
  }

  MLIRContext context;
  OwningOpRef<ModuleOp> module;
};

TEST_F(Costs, FollowTheFormulas) {
  for (const Case &item : cases) {
    SCOPED_TRACE(item.op);
    CostOpInterface op = parse(item);
    ASSERT_TRUE(op);
    EXPECT_EQ(op.macCount(1, 128), item.macs);
    EXPECT_EQ(op.macCount(3, 128), 3 * item.macs);
    if (item.pooled)
      EXPECT_EQ(op.macCount(1, 512), item.macs);
  }
}

TEST_F(Costs, AttentionGrowsWithTheSquareOfTheLength) {
  for (const Case &item : cases)
    if (StringRef(item.op).starts_with("convbert.self_attention"))
      EXPECT_EQ(parse(item).macCount(1, 512), 16 * item.macs);
}

TEST_F(Costs, NeverWrap) {
  constexpr int64_t most = std::numeric_limits<int64_t>::max();
  for (const Case &item : cases) {
    SCOPED_TRACE(item.op);
    EXPECT_EQ(parse(item).macCount(most, most), item.macs ? most : 0);
  }
}

TEST_F(Costs, CountParametersAndBytes) {
  for (const Memory &item : memories) {
    SCOPED_TRACE(item.op);
    CostOpInterface op = parse(item);
    ASSERT_TRUE(op);
    EXPECT_EQ(op.parameterCount(), item.parameters);
    ByteCount bytes = op.byteCount(2, 128);
    EXPECT_EQ(bytes.reads, item.reads);
    EXPECT_EQ(bytes.writes, item.writes);
    constexpr int64_t most = std::numeric_limits<int64_t>::max();
    EXPECT_EQ(op.byteCount(most, most).reads, most);
  }
}

TEST_F(Costs, AreTestedForEveryOperationThatHasOne) {
  llvm::StringSet<> tested;
  for (const Case &item : cases)
    tested.insert(StringRef(item.op).split(' ').first);
  for (RegisteredOperationName name : context.getRegisteredOperations())
    if (name.hasInterface<CostOpInterface>())
      EXPECT_TRUE(tested.contains(name.getStringRef())) << name.getStringRef().str();
}

} // namespace
