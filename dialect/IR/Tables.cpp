//===- Tables.cpp - Syntax of the tables of embeddings ----------------------===//

#include "dialect/IR/Tables.h"

using namespace mlir;

using Operand = OpAsmParser::UnresolvedOperand;

ParseResult convbert::parseTables(OpAsmParser &parser, std::optional<Operand> &word, Operand &position, Operand &type) {
  SmallVector<Operand, 3> tables;
  SMLoc loc = parser.getCurrentLocation();
  if (parser.parseOperandList(tables))
    return failure();
  if (tables.size() != 2 && tables.size() != 3)
    return parser.emitError(loc) << "requires the tables (word,) position and type, but found " << tables.size();
  if (tables.size() == 3)
    word = tables.front();
  position = tables[tables.size() - 2];
  type = tables.back();
  return success();
}

void convbert::printTables(OpAsmPrinter &printer, Operation *, Value word, Value position, Value type) {
  if (word)
    printer << word << ", ";
  printer << position << ", " << type;
}
