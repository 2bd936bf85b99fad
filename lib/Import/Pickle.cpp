//===- Pickle.cpp - What a pickle describes, without running it -*- C++ -*-===//

#include "lib/Import/Pickle.h"
#include "lib/Import/JSONText.h"
#include "lib/Import/PickleMachine.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/JSON.h"

using llvm::Error;
using llvm::StringRef;
using llvm::Twine;

namespace mlir::convbert {

std::string PickleValue::describe() const {
  switch (kind) {
  case None:
    return "None";
  case Bool:
    return integer ? "True" : "False";
  case Int:
    return "the number " + std::to_string(integer);
  case BigInt:
    return "a number of more than 64 bits";
  case Float:
    return "a floating-point number";
  case String:
    return "the string " + quoted(text);
  case Tuple:
    return "a tuple of " + std::to_string(items.size());
  case List:
    return "a list of " + std::to_string(items.size());
  case Dict:
  case OrderedDict:
    return "a dict of " + std::to_string(items.size() / 2);
  case Global:
    return text.str();
  case Call:
    return "a call of " + items[0]->text.str();
  case Persistent:
    return "a storage";
  }
  llvm_unreachable("all kinds handled");
}

Error Unpickler::Machine::error(const Twine &message) const {
  std::string name = opcode >= ' ' && opcode < 127 ? "'" + std::string(1, char(opcode)) + "'"
                                                   : "0x" + llvm::utohexstr(opcode, /*LowerCase=*/true);
  return importError(owner.where + ": pickle: " + message + " (opcode " + name + " at byte " + Twine(start) + ")");
}

Error Unpickler::Machine::takeBytes(uint64_t count, StringRef &taken) {
  uint64_t left = owner.bytes.size() - owner.position;
  if (count > left)
    return error("requires a length of at most " + Twine(left) + " bytes, where the pickle ends, but found " +
                 Twine(count) + ": truncated?");
  taken = owner.bytes.substr(owner.position, count);
  owner.position += count;
  return Error::success();
}

Error Unpickler::Machine::takeLine(StringRef &line) {
  size_t end = owner.bytes.find('\n', owner.position);
  if (end == StringRef::npos)
    return error("requires a line, but the pickle ends: truncated?");
  line = owner.bytes.slice(owner.position, end);
  owner.position = end + 1;
  return Error::success();
}

Error Unpickler::Machine::takeNumber(unsigned width, uint64_t &number) {
  StringRef taken;
  if (Error failure = takeBytes(width, taken))
    return failure;
  number = 0;
  for (unsigned i = 0; i < width; ++i)
    number |= uint64_t(uint8_t(taken[i])) << (8 * i);
  return Error::success();
}

/// Bytes after their count, a number of `width` bytes.
Error Unpickler::Machine::takeCounted(unsigned width, StringRef &taken) {
  uint64_t count;
  if (Error failure = takeNumber(width, count))
    return failure;
  return takeBytes(count, taken);
}

Error Unpickler::Machine::make(Kind kind, PickleValue *&value) {
  if (owner.values.size() >= kMaxValues)
    return error("requires at most " + Twine(kMaxValues) + " values, but found more");
  value = &owner.values.emplace_back();
  value->kind = kind;
  return Error::success();
}

Error Unpickler::Machine::pushNew(Kind kind, int64_t integer, StringRef text) {
  PickleValue *value;
  if (Error failure = make(kind, value))
    return failure;
  value->integer = integer;
  value->text = text;
  stack.push_back(value);
  return Error::success();
}

Error Unpickler::Machine::pop(PickleValue *&value) {
  if (stack.empty() || (!marks.empty() && marks.back() == stack.size()))
    return error("requires a value on the stack, but found none");
  value = stack.back();
  stack.pop_back();
  return Error::success();
}

Error Unpickler::Machine::popMark(size_t &begin) {
  if (marks.empty())
    return error("requires a mark on the stack, but found none");
  begin = marks.back();
  marks.pop_back();
  return Error::success();
}

/// Replaces the top `count` values by a container of them.
Error Unpickler::Machine::pushItems(Kind kind, size_t count) {
  size_t floor = marks.empty() ? 0 : marks.back();
  if (stack.size() - floor < count)
    return error("requires " + Twine(count) + " values on the stack, but found " + Twine(stack.size() - floor));
  PickleValue *value;
  if (Error failure = make(kind, value))
    return failure;
  value->items.assign(stack.end() - count, stack.end());
  stack.resize(stack.size() - count);
  stack.push_back(value);
  return Error::success();
}

Error Unpickler::Machine::pushText(StringRef text, bool mustBeUnicode) {
  if (mustBeUnicode && !llvm::json::isUTF8(text))
    return error("requires a string in UTF-8, but found " + quoted(text));
  return pushNew(Kind::String, 0, text);
}

Error Unpickler::Machine::pushDecimal(StringRef line) {
  // Protocol 0 writes booleans this way.
  if (opcode == 'I' && (line == "00" || line == "01"))
    return pushNew(Kind::Bool, line == "01");
  int64_t number;
  line.consume_back("L");
  if (line.getAsInteger(10, number))
    return error("requires a decimal number of at most 64 bits, but found " + quoted(line));
  return pushNew(Kind::Int, number);
}

Error Unpickler::Machine::pushLong(StringRef digits) {
  if (digits.size() > 8)
    return pushNew(Kind::BigInt, 0, digits);
  uint64_t number = !digits.empty() && digits.back() < 0 ? ~uint64_t(0) : 0;
  for (unsigned i = digits.size(); i-- > 0;)
    number = number << 8 | uint8_t(digits[i]);
  return pushNew(Kind::Int, int64_t(number));
}

Error Unpickler::Machine::pushGlobal(StringRef module, StringRef name) {
  std::string full = (module + "." + name).str();
  if (!llvm::is_contained(owner.allowed, full))
    return error("requires tensors and nothing that runs, but found the global " + quoted(full) +
                 ", which is not allowed");
  return pushNew(Kind::Global, 0, owner.names.emplace_back(std::move(full)));
}

/// Moves the values from `begin` on into the container below them.
Error Unpickler::Machine::addItems(size_t begin, bool pairs) {
  size_t floor = marks.empty() ? 0 : marks.back();
  if (begin > stack.size() || begin <= floor)
    return error("requires a container below the mark, but found none");
  PickleValue *into = stack[begin - 1];
  bool dict = into->kind == Kind::Dict || into->kind == Kind::OrderedDict;
  if (pairs ? !dict : into->kind != Kind::List)
    return error(Twine("requires a ") + (pairs ? "dict" : "list") + " to add to, but found " + into->describe());
  if (pairs && (stack.size() - begin) % 2 != 0)
    return error("requires keys with values, but found an odd number of values");
  into->items.insert(into->items.end(), stack.begin() + begin, stack.end());
  stack.resize(begin);
  return Error::success();
}

Error Unpickler::Machine::step() {
  using Group = Error (Machine::*)(bool &);
  for (Group group : {&Machine::number, &Machine::string, &Machine::container, &Machine::memory, &Machine::object}) {
    bool handled = true;
    if (Error failure = (this->*group)(handled))
      return failure;
    if (handled)
      return Error::success();
  }
  return error("requires an opcode that describes data, but found another one, which is not allowed");
}

llvm::Expected<const PickleValue *> Unpickler::Machine::run() {
  while (!stopped) {
    start = owner.position;
    if (start >= owner.bytes.size())
      return error("requires a STOP, but the pickle ends: truncated?");
    opcode = owner.bytes[owner.position++];
    if (Error failure = step())
      return std::move(failure);
  }
  PickleValue *result;
  if (Error failure = pop(result))
    return std::move(failure);
  return result;
}

llvm::Expected<const PickleValue *> Unpickler::load() { return Machine(*this).run(); }

} // namespace mlir::convbert
