//===- Registration.h - Everything a tool can parse and run -----*- C++ -*-===//

#ifndef CONVBERT_LIB_PIPELINES_REGISTRATION_H
#define CONVBERT_LIB_PIPELINES_REGISTRATION_H

namespace mlir {
class DialectRegistry;
namespace convbert {

/// Adds the project's dialects and extensions and all upstream ones.
void registerAll(DialectRegistry &registry);

/// Adds the project's dialects and extensions alone.
void registerOwn(DialectRegistry &registry);

/// Registers the project's and all upstream passes and pipelines.  To be called once a process.
void registerAllPasses();

/// Registers the project's passes and pipelines alone.
void registerOwnPasses();

/// Registers one pipeline a phase, and `convbert-cpu`: all of them.
void registerPipelines();

} // namespace convbert
} // namespace mlir

#endif // CONVBERT_LIB_PIPELINES_REGISTRATION_H
