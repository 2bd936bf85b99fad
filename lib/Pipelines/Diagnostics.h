//===- Diagnostics.h - Messages for people ----------------------*- C++ -*-===//

#ifndef CONVBERT_LIB_PIPELINES_DIAGNOSTICS_H
#define CONVBERT_LIB_PIPELINES_DIAGNOSTICS_H

#include "mlir/IR/Diagnostics.h"

namespace mlir::convbert {

/// Where `location` is in a model: names of layers and parameters, or "file:line:column"; empty if it is unknown.
std::string describeLocation(Location location);

/// "encoder.layer.0.output: error: requires ...", on one line.  `prefix` stands for a location that is unknown.
std::string describeDiagnostic(const Diagnostic &diagnostic, StringRef prefix);

/// Prints diagnostics of imported modules, whose locations are names, a line each; those with a place in a file are
/// left to other handlers, which show the line.
class NamedDiagnosticHandler : public ScopedDiagnosticHandler {
public:
  /// `tool` stands for locations that are unknown.
  NamedDiagnosticHandler(MLIRContext &context, StringRef tool);
};

} // namespace mlir::convbert

#endif // CONVBERT_LIB_PIPELINES_DIAGNOSTICS_H
