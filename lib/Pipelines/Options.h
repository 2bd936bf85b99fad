//===- Options.h - Options of the line of phases ----------------*- C++ -*-===//

#ifndef CONVBERT_LIB_PIPELINES_OPTIONS_H
#define CONVBERT_LIB_PIPELINES_OPTIONS_H

#include "mlir/Pass/PassOptions.h"

namespace mlir::convbert {

/// What the phases need to know.  One struct for all, so that a phase can be replayed with the options of the whole.
struct PipelineOptions : PassPipelineOptions<PipelineOptions> {
  PassOptions::Option<std::string> isa{
      *this, "isa",
      llvm::cl::desc("Instruction set that register tiles and schedules are made for: generic (no FMA), avx2, avx512, "
                     "avx512bf16, whose matrix products multiply bf16, or neon"),
      llvm::cl::init("avx2")};
  PassOptions::Option<std::string> weights{
      *this, "weights", llvm::cl::desc("What the weights of matrix products are stored as: f32 or bf16"),
      llvm::cl::init("f32")};
};

} // namespace mlir::convbert

#endif // CONVBERT_LIB_PIPELINES_OPTIONS_H
