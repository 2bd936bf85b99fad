//===- Target.h - Instruction sets, and what is made to their measure -*- C++ -*-===//

#ifndef CONVBERT_LIB_OUTLINE_TARGET_H
#define CONVBERT_LIB_OUTLINE_TARGET_H

#include "mlir/Support/LLVM.h"
#include "llvm/ADT/StringRef.h"
#include "llvm/Support/MathExtras.h"
#include <optional>
#include <string>

namespace mlir::convbert {

/// Register tiles and paddings of a CPU target; all in elements.
struct TileSizes {
  int64_t rows;     ///< `mr`: rows of a dense register tile
  int64_t panel;    ///< `nr`: output features of a weight panel
  int64_t narrow;   ///< the same for products whose last panel would be filled badly: less reuse, but no waste
  int64_t keyPanel; ///< keys of an attention panel
  /// Matrix products multiply pairs of bf16: weights and the rows that are read are rounded.
  bool isPaired = false;

  /// Query rows of an attention tile; a sequence owns at least so many rows of every row buffer.
  static constexpr int64_t queryRows = 8;
  /// Token rows of a convolution tile.
  static constexpr int64_t tokenRows = 4;
  /// Channels of a depthwise block.
  static constexpr int64_t channelBlock = 32;
  /// Rows of feature vectors are padded to this, and so is the width of a head: a whole vector of every target.
  static constexpr int64_t lanes = 16;
  /// Rate of products with narrow panels against wide ones without padding, measured on AVX-512 for the base size.
  static constexpr int64_t narrowPercent = 98;
  /// Heads of convolution logits are padded to this.
  static constexpr int64_t headBlock = 8;

  /// The sizes for the name of an instruction set, or nothing.
  static std::optional<TileSizes> get(StringRef isa);

  /// Output features of a panel of a product with `features` of them.  A narrow panel multiplies at some
  /// `narrowPercent` of the rate of a wide one, so it pays where wide panels pad by more than that.
  int64_t getPanel(int64_t features) const {
    auto padded = [&](int64_t panel) { return static_cast<int64_t>(llvm::alignTo(features, panel)); };
    return padded(narrow) * 100 < padded(panel) * narrowPercent ? narrow : panel;
  }

  /// The last features of a product with `features` of them, those behind whole wide panels, if a narrow panel of their
  /// own leaves less to pad than panels of one width; else 0.
  int64_t getRest(int64_t features) const {
    int64_t rest = features % panel;
    bool pays = rest > 0 && rest <= narrow && features > panel && features - rest + narrow < padToPanels(features);
    return pays ? rest : 0;
  }

  /// `width` rounded up to whole panels.
  int64_t padToPanels(int64_t width) const { return llvm::alignTo(width, getPanel(width)); }

  /// Floats from one row of a row buffer to the next for rows of `width` features: room for whole weight panels and
  /// channel blocks, and one vector more so that rows do not fall on the same cache sets.
  int64_t pitch(int64_t width) const {
    int64_t used = std::max<int64_t>(llvm::alignTo(width, panel), llvm::alignTo(width, channelBlock));
    return llvm::alignTo(used, lanes) + lanes;
  }

  /// The same in bf16 for rows of `width` features that are read in pairs: the pair of the last one, and a vector more.
  static int64_t roundedPitch(int64_t width) { return llvm::alignTo(width, lanes) + lanes; }
};

/// What code is made to the measure of.  Parameters of the schedules: lib/Schedules/cpu/isa.mlir.
struct InstructionSet {
  StringLiteral name;
  TileSizes tiles;
  /// Bits of a vector register.
  unsigned vectorBits;
  /// One instruction multiplies and adds.  Without it a multiply-add is a product, rounded, and a sum.
  bool hasFMA = true;

  /// All of them, from the one that most CPUs have.
  static ArrayRef<InstructionSet> getAll();

  /// The one called `name`, or null.
  static const InstructionSet *find(StringRef name);

  /// "avx2, ... or neon", for messages.
  static std::string getNames();
};

} // namespace mlir::convbert

#endif // CONVBERT_LIB_OUTLINE_TARGET_H
