//===- Remarks.cpp - What the compiler decided ----------------------------===//

#include "lib/Pipelines/Remarks.h"
#include "mlir/IR/Remarks.h"
#include "mlir/Remark/RemarkStreamer.h"
#include "llvm/Support/Regex.h"

using namespace mlir;

llvm::Error convbert::enableRemarks(MLIRContext &context, StringRef filter, StringRef file) {
  remark::RemarkCategories categories;
  // A kind of remark without a filter would be off, whatever the filter for all says.
  for (std::optional<std::string> *kind :
       {&categories.all, &categories.passed, &categories.missed, &categories.analysis, &categories.failed})
    *kind = filter.empty() ? ".*" : filter.str();
  std::string message;
  if (!llvm::Regex(*categories.all).isValid(message))
    return llvm::createStringError("requires a regular expression for the categories of remarks, but found '" + filter +
                                   "': " + message);
  auto policy = std::make_unique<remark::RemarkEmittingPolicyAll>();
  LogicalResult result =
      file.empty() ? remark::enableOptimizationRemarks(context, /*streamer=*/nullptr, std::move(policy), categories,
                                                       /*printAsEmitRemarks=*/true)
                   : remark::enableOptimizationRemarksWithLLVMStreamer(context, file, llvm::remarks::Format::YAML,
                                                                       std::move(policy), categories);
  if (succeeded(result))
    return llvm::Error::success();
  return llvm::createStringError("requires a writable file for remarks, but found " + file);
}
