//===- WorkspaceBytes.h - How large the workspace of a call is --*- C++ -*-===//

#ifndef CONVBERT_LIB_OUTLINE_WORKSPACEBYTES_H
#define CONVBERT_LIB_OUTLINE_WORKSPACEBYTES_H

#include "lib/Outline/HostBuilder.h"

namespace mlir::convbert {

/// A function of the compiled object that C can call, empty; `b` then writes its body.
func::FuncOp createEntry(OpBuilder &b, StringRef name, TypeRange arguments, TypeRange results);

/// Threads times what one of them needs; the `memory` phase writes the body of `@scratch_bytes` in `module`.
Value emitScratchBytes(ModuleOp module, OpBuilder &b, Location loc, const HostContext &context);

/// `@workspace_bytes` for entry `fn`, whose arenas and those of its callees need `total`.
void emitWorkspaceBytes(func::FuncOp fn, const TileSizes &tiles, const Lengths &lengths, const Footprint &total);

} // namespace mlir::convbert

#endif // CONVBERT_LIB_OUTLINE_WORKSPACEBYTES_H
