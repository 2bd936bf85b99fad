//===- Geometry.h - Widths of an encoder layer from its tensors -*- C++ -*-===//

#ifndef CONVBERT_LIB_IMPORT_GEOMETRY_H
#define CONVBERT_LIB_IMPORT_GEOMETRY_H

#include "lib/Import/Config.h"
#include "lib/Import/LayerSchema.h"
#include "lib/Import/TensorInfo.h"

namespace mlir::convbert {

/// Which implementation's rule for the width of a head the tensors follow.
enum class HeadRule {
  /// D / num_attention_heads and D / (2 heads) are the same number, as in every published checkpoint.
  All,
  /// transformers 4.27 and later: half of D shared by the built heads.
  HalfWidth,
  /// The original TensorFlow code: D / num_attention_heads whatever the ratio, so 2A need not be D.
  NominalHeads
};

/// For messages and remarks: "all implementations", "transformers >= 4.27", "original TensorFlow".
llvm::StringRef headRuleName(HeadRule rule);

struct DerivedGeometry {
  LayerGeometry layer;
  /// None for layers of BERT and ELECTRA, where all agree: D / num_attention_heads.
  std::optional<HeadRule> rule;
};

/// Heads that layer `index` must have by the configuration.
LayerHeads requiredHeads(const Config &config, int64_t index);

/// Takes the widths of layer `index` from the shapes of its tensors (`params[LayerParam]`, null where hasLayerParam()
/// says that it has none), checks every tensor against them, and the result against the configuration.  The widths are
/// what most tensors say, so that an error names the tensor that is odd.  Head counts come from the tensors, too,
/// unless the layer is pruned or has no convolution heads.  Errors name the file and the tensor and quote the shape
/// found and the one required; where the tensors agree among themselves and the configuration does not, both are
/// quoted.
llvm::Expected<DerivedGeometry> deriveLayerGeometry(llvm::ArrayRef<const TensorInfo *> params, const Config &config,
                                                    int64_t index);

} // namespace mlir::convbert

#endif // CONVBERT_LIB_IMPORT_GEOMETRY_H
