//===- ModuleFile.cpp - Modules in files ----------------------------------===//

#include "lib/Pipelines/ModuleFile.h"
#include "mlir/Bytecode/BytecodeWriter.h"
#include "mlir/Parser/Parser.h"
#include "mlir/Support/FileUtilities.h"
#include "llvm/Support/FileUtilities.h"
#include "llvm/Support/SourceMgr.h"

using namespace mlir;
using namespace mlir::convbert;

llvm::Expected<OwningOpRef<ModuleOp>> convbert::readModule(StringRef path, llvm::SourceMgr &sources,
                                                           MLIRContext &context) {
  std::string message;
  std::unique_ptr<llvm::MemoryBuffer> buffer = openInputFile(path, &message);
  if (!buffer)
    return llvm::createStringError(message);
  sources.AddNewSourceBuffer(std::move(buffer), llvm::SMLoc());
  return parseSourceFile<ModuleOp>(sources, &context);
}

llvm::Error convbert::writeModule(ModuleOp module, StringRef path, ModuleFormat format, StringRef header) {
  llvm::Error error = llvm::writeToOutput(path, [&](llvm::raw_ostream &os) -> llvm::Error {
    if (format.bytecode)
      return failed(writeBytecodeToFile(module, os)) ? llvm::createStringError("bytecode cannot express the module")
                                                     : llvm::Error::success();
    os << header;
    module.print(os, OpPrintingFlags().enableDebugInfo(format.locations));
    os << "\n";
    return llvm::Error::success();
  });
  if (!error)
    return error;
  return llvm::createStringError("requires a writable file, but found " + path + ": " +
                                 llvm::toString(std::move(error)));
}
