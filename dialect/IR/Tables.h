//===- Tables.h - Syntax of the tables of embeddings ------------*- C++ -*-===//

#ifndef CONVBERT_DIALECT_IR_TABLES_H
#define CONVBERT_DIALECT_IR_TABLES_H

#include "mlir/IR/OpImplementation.h"
#include <optional>

namespace mlir::convbert {

/// `%word, %position, %type`, or, where vectors come in place of ids, `%position, %type`: an optional group would take
/// whatever comes first for `word`.
ParseResult parseTables(OpAsmParser &parser, std::optional<OpAsmParser::UnresolvedOperand> &word,
                        OpAsmParser::UnresolvedOperand &position, OpAsmParser::UnresolvedOperand &type);
void printTables(OpAsmPrinter &printer, Operation *op, Value word, Value position, Value type);

} // namespace mlir::convbert

#endif // CONVBERT_DIALECT_IR_TABLES_H
