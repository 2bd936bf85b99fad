//===- PickleOpcodes.cpp - What the opcodes of pickles mean -----*- C++ -*-===//

#include "lib/Import/JSONText.h"
#include "lib/Import/PickleMachine.h"

using llvm::Error;
using llvm::StringRef;
using llvm::Twine;

namespace mlir::convbert {

Error Unpickler::Machine::number(bool &handled) {
  uint64_t value;
  StringRef text;
  switch (opcode) {
  case 'N':
    return pushNew(Kind::None);
  case 0x88:
  case 0x89:
    return pushNew(Kind::Bool, opcode == 0x88);
  case 'J':
    if (Error failure = takeNumber(4, value))
      return failure;
    return pushNew(Kind::Int, int32_t(uint32_t(value)));
  case 'K':
  case 'M':
    if (Error failure = takeNumber(opcode == 'K' ? 1 : 2, value))
      return failure;
    return pushNew(Kind::Int, int64_t(value));
  case 'I':
  case 'L':
    if (Error failure = takeLine(text))
      return failure;
    return pushDecimal(text);
  case 0x8a:
    if (Error failure = takeCounted(1, text))
      return failure;
    return pushLong(text);
  case 0x8b:
    if (Error failure = takeNumber(4, value))
      return failure;
    if (int32_t(uint32_t(value)) < 0)
      return error("requires a length that is not negative, but found " + Twine(int32_t(uint32_t(value))));
    if (Error failure = takeBytes(value, text))
      return failure;
    return pushLong(text);
  case 'F':
    if (Error failure = takeLine(text))
      return failure;
    return pushNew(Kind::Float);
  case 'G':
    if (Error failure = takeBytes(8, text))
      return failure;
    return pushNew(Kind::Float);
  }
  handled = false;
  return Error::success();
}

Error Unpickler::Machine::string(bool &handled) {
  StringRef text;
  switch (opcode) {
  case 'S': {
    if (Error failure = takeLine(text))
      return failure;
    text = text.trim();
    if (text.size() < 2 || text.front() != text.back() || (text.front() != '\'' && text.front() != '"'))
      return error("requires a quoted string, but found " + quoted(text));
    text = text.drop_front().drop_back();
    if (text.contains('\\'))
      return error("requires a string without escapes, but found " + quoted(text));
    return pushText(text, /*mustBeUnicode=*/false);
  }
  case 'V':
    if (Error failure = takeLine(text))
      return failure;
    if (text.contains('\\'))
      return error("requires a string without escapes, but found " + quoted(text));
    return pushText(text, /*mustBeUnicode=*/true);
  case 'U':  // SHORT_BINSTRING
  case 'C':  // SHORT_BINBYTES
  case 0x8c: // SHORT_BINUNICODE
    if (Error failure = takeCounted(1, text))
      return failure;
    return pushText(text, opcode == 0x8c);
  case 'T': // BINSTRING
  case 'B': // BINBYTES
  case 'X': // BINUNICODE
    if (Error failure = takeCounted(4, text))
      return failure;
    return pushText(text, opcode == 'X');
  case 0x8d: // BINUNICODE8
  case 0x8e: // BINBYTES8
    if (Error failure = takeCounted(8, text))
      return failure;
    return pushText(text, opcode == 0x8d);
  }
  handled = false;
  return Error::success();
}

Error Unpickler::Machine::container(bool &handled) {
  size_t begin;
  switch (opcode) {
  case ')':
    return pushItems(Kind::Tuple, 0);
  case ']':
    return pushItems(Kind::List, 0);
  case '}':
    return pushItems(Kind::Dict, 0);
  case 0x85:
  case 0x86:
  case 0x87:
    return pushItems(Kind::Tuple, opcode - 0x84);
  case 't':
  case 'l':
  case 'd':
    if (Error failure = popMark(begin))
      return failure;
    if (opcode == 'd' && (stack.size() - begin) % 2 != 0)
      return error("requires keys with values, but found an odd number of values");
    return pushItems(opcode == 't' ? Kind::Tuple : opcode == 'l' ? Kind::List : Kind::Dict, stack.size() - begin);
  case 'a':
    return addItems(stack.size() - 1, /*pairs=*/false);
  case 's':
    return addItems(stack.size() - 2, /*pairs=*/true);
  case 'e':
  case 'u':
    if (Error failure = popMark(begin))
      return failure;
    return addItems(begin, /*pairs=*/opcode == 'u');
  }
  handled = false;
  return Error::success();
}

Error Unpickler::Machine::memory(bool &handled) {
  uint64_t key = 0;
  switch (opcode) {
  case 'p':
  case 'g': {
    StringRef line;
    if (Error failure = takeLine(line))
      return failure;
    if (line.getAsInteger(10, key))
      return error("requires the number of a memo, but found " + quoted(line));
    break;
  }
  case 'q':
  case 'h':
  case 'r':
  case 'j':
    if (Error failure = takeNumber(opcode == 'q' || opcode == 'h' ? 1 : 4, key))
      return failure;
    break;
  case 0x94: // MEMOIZE
    key = memo.size();
    break;
  case '(':
    marks.push_back(stack.size());
    return Error::success();
  case '1': { // POP_MARK
    size_t begin;
    if (Error failure = popMark(begin))
      return failure;
    stack.resize(begin);
    return Error::success();
  }
  case '0': { // POP: a mark, or a value
    if (!marks.empty() && marks.back() == stack.size()) {
      marks.pop_back();
      return Error::success();
    }
    PickleValue *ignored;
    return pop(ignored);
  }
  case '2': // DUP
    if (stack.empty())
      return error("requires a value on the stack, but found none");
    stack.push_back(stack.back());
    return Error::success();
  default:
    handled = false;
    return Error::success();
  }
  if (opcode == 'g' || opcode == 'h' || opcode == 'j') {
    auto entry = memo.find(key);
    if (entry == memo.end())
      return error("requires a memo that was set, but found number " + Twine(key));
    stack.push_back(entry->second);
    return Error::success();
  }
  if (stack.empty())
    return error("requires a value on the stack, but found none");
  memo[key] = stack.back();
  if (memo.size() > kMaxValues)
    return error("requires at most " + Twine(kMaxValues) + " memos, but found more");
  return Error::success();
}

Error Unpickler::Machine::reduce() {
  if (Error failure = pushItems(Kind::Call, 2))
    return failure;
  PickleValue *call = stack.back();
  const PickleValue *callee = call->items[0], *arguments = call->items[1];
  if (callee->kind != Kind::Global || arguments->kind != Kind::Tuple)
    return error("requires a call of a global with a tuple, but found " + callee->describe() + " with " +
                 arguments->describe());
  if (callee->text != "collections.OrderedDict")
    return Error::success();
  // The one call whose result is a container: empty here, filled by the opcodes that follow.
  if (!arguments->items.empty())
    return error("requires an OrderedDict without arguments, but found " + arguments->describe());
  call->kind = Kind::OrderedDict;
  call->items.clear();
  return Error::success();
}

/// BUILD gives an object its attributes.  Those of an OrderedDict (torch keeps version numbers there) do not matter.
Error Unpickler::Machine::build() {
  PickleValue *state;
  if (Error failure = pop(state))
    return failure;
  if (stack.empty() || stack.back()->kind != Kind::OrderedDict || state->kind != Kind::Dict)
    return error("requires BUILD to set attributes of an OrderedDict from a dict, but found " + state->describe() +
                 " for " + (stack.empty() ? "nothing" : stack.back()->describe()) + ", which is not allowed");
  return Error::success();
}

Error Unpickler::Machine::object(bool &handled) {
  StringRef module, name;
  switch (opcode) {
  case 'c':
  case 'i': // INST: a global and a call
    if (Error failure = takeLine(module))
      return failure;
    if (Error failure = takeLine(name))
      return failure;
    if (Error failure = pushGlobal(module, name))
      return failure;
    return opcode == 'i' ? error("requires calls by REDUCE, but found INST, which is not allowed") : Error::success();
  case 0x93: { // STACK_GLOBAL
    PickleValue *second, *first;
    if (Error failure = pop(second))
      return failure;
    if (Error failure = pop(first))
      return failure;
    if (first->kind != Kind::String || second->kind != Kind::String)
      return error("requires a global's name as strings, but found " + first->describe() + " and " +
                   second->describe());
    return pushGlobal(first->text, second->text);
  }
  case 'R':
    return reduce();
  case 'b':
    return build();
  case 'Q': // BINPERSID
    return pushItems(Kind::Persistent, 1);
  case 0x80: { // PROTO
    uint64_t version;
    if (Error failure = takeNumber(1, version))
      return failure;
    return version <= 5 ? Error::success() : error("requires protocol 0 to 5, but found " + Twine(version));
  }
  case 0x95: { // FRAME: its length only helps to read ahead
    uint64_t length;
    return takeNumber(8, length);
  }
  case '.':
    stopped = true;
    return Error::success();
  }
  handled = false;
  return Error::success();
}

} // namespace mlir::convbert
