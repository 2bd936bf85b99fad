//===- Npy.cpp - Files of one NumPy array ---------------------------------===//
//
// "\x93NUMPY", version, length of the header, and the header: a Python dictionary as text, such as
// {'descr': '<f4', 'fortran_order': False, 'shape': (3, 4), }.  The numbers follow.
//
//===----------------------------------------------------------------------===//

#include "tools/convbert-run/Array.h"
#include "llvm/ADT/StringSwitch.h"
#include "llvm/ADT/Twine.h"
#include "llvm/Support/Endian.h"
#include "llvm/Support/FileUtilities.h"
#include "llvm/Support/FormatVariadic.h"
#include "llvm/Support/MemoryBuffer.h"
#include "llvm/Support/raw_ostream.h"

using namespace mlir;
using namespace mlir::convbert;
using llvm::StringRef;

static constexpr llvm::StringLiteral kMagic = "\x93NUMPY";
/// NumPy itself refuses more.
static constexpr size_t kMaxRank = 64;

namespace {
/// What the header says, and a parser of the few forms that NumPy writes.
class Header {
public:
  llvm::Error parse(StringRef text) {
    rest = text;
    if (!consume("{"))
      return fail("a dictionary");
    while (!consume("}")) {
      std::string key;
      if (!parseString(key) || !consume(":"))
        return fail("a key");
      bool known = key == "descr"           ? parseString(descr)
                   : key == "fortran_order" ? parseBool(fortranOrder)
                   : key == "shape"         ? parseShape()
                                            : false;
      if (!known)
        return fail("a value of 'descr', 'fortran_order' or 'shape' for '" + key + "'");
      ++keys;
      if (!consume(",") && !rest.ltrim().starts_with("}"))
        return fail("',' or '}'");
    }
    if (keys != 3 || !rest.trim().empty())
      return fail("three keys and nothing else");
    return llvm::Error::success();
  }

  std::string descr;
  bool fortranOrder = false;
  llvm::SmallVector<int64_t, 4> shape;

private:
  llvm::Error fail(const llvm::Twine &what) {
    return llvm::createStringError("requires " + what + " in its header, but found '" + rest.take_front(20) + "'");
  }
  bool consume(StringRef token) {
    rest = rest.ltrim();
    return rest.consume_front(token);
  }
  bool parseString(std::string &value) {
    rest = rest.ltrim();
    if (rest.empty() || (rest[0] != '\'' && rest[0] != '"'))
      return false;
    size_t end = rest.find(rest[0], 1);
    if (end == StringRef::npos)
      return false;
    value = rest.slice(1, end).str();
    rest = rest.drop_front(end + 1);
    return true;
  }
  bool parseBool(bool &value) {
    value = consume("True");
    return value || consume("False");
  }
  bool parseShape() {
    if (!consume("("))
      return false;
    while (!consume(")")) {
      int64_t size;
      rest = rest.ltrim();
      if (shape.size() == kMaxRank || rest.consumeInteger(10, size) || size < 0)
        return false;
      shape.push_back(size);
      if (!consume(",") && !rest.ltrim().starts_with(")"))
        return false;
    }
    return true;
  }

  StringRef rest;
  unsigned keys = 0;
};
} // namespace

/// Our name of a NumPy type, or "".
static StringRef getDType(StringRef descr) {
  return llvm::StringSwitch<StringRef>(descr)
      .Case("|b1", "bool")
      .Cases({"|i1", "<i1"}, "int8")
      .Cases({"|u1", "<u1"}, "uint8")
      .Case("<i2", "int16")
      .Case("<u2", "uint16")
      .Case("<i4", "int32")
      .Case("<u4", "uint32")
      .Case("<i8", "int64")
      .Case("<u8", "uint64")
      .Case("<f2", "float16")
      .Case("<f4", "float32")
      .Case("<f8", "float64")
      .Default("");
}

static llvm::Expected<Array> parse(StringRef bytes) {
  if (!bytes.consume_front(kMagic) || bytes.size() < 4)
    return llvm::createStringError("requires a .npy file, but found other bytes at its start");
  unsigned major = static_cast<uint8_t>(bytes[0]);
  if (major < 1 || major > 3)
    return llvm::createStringError(llvm::formatv("requires .npy version 1, 2 or 3, but found {0}", major));
  size_t prefix = major == 1 ? 4 : 6;
  if (bytes.size() < prefix)
    return llvm::createStringError("requires a header, but found the end of the file");
  uint32_t length = major == 1 ? llvm::support::endian::read16le(bytes.data() + 2)
                               : llvm::support::endian::read32le(bytes.data() + 2);
  bytes = bytes.drop_front(prefix);
  if (length > bytes.size())
    return llvm::createStringError(
        llvm::formatv("requires a header of {0} bytes, but found {1}", length, bytes.size()));
  Header header;
  if (llvm::Error error = header.parse(bytes.take_front(length)))
    return error;
  bytes = bytes.drop_front(length);

  Array array{getDType(header.descr).str(), header.shape, {}};
  if (array.dtype.empty())
    return llvm::createStringError("requires little-endian numbers, but found elements of type '" + header.descr + "'");
  if (header.fortranOrder && header.shape.size() > 1)
    return llvm::createStringError("requires an array in C order, but found Fortran order (save "
                                   "numpy.ascontiguousarray of it)");
  llvm::Expected<int64_t> required = countBytes(array.dtype, array.shape);
  if (!required)
    return required.takeError();
  if (static_cast<uint64_t>(*required) != bytes.size())
    return llvm::createStringError(llvm::formatv("requires {0} bytes for {1}, but found {2}", *required,
                                                 describe(array.dtype, array.shape), bytes.size()));
  array.bytes.assign(bytes.begin(), bytes.end());
  return array;
}

llvm::Expected<Array> convbert::parseNpy(StringRef bytes, const llvm::Twine &name) {
  llvm::Expected<Array> array = parse(bytes);
  if (!array)
    return llvm::createStringError(name + ": " + llvm::toString(array.takeError()));
  return array;
}

llvm::Expected<Array> convbert::readNpy(StringRef path) {
  auto buffer = llvm::MemoryBuffer::getFile(path, /*IsText=*/false, /*RequiresNullTerminator=*/false);
  if (!buffer)
    return llvm::createStringError(path + ": " + buffer.getError().message());
  return parseNpy((*buffer)->getBuffer(), path);
}

/// NumPy's name of `dtype`.  NumPy has no bfloat16: its bits are written as uint16.
static StringRef getDescr(StringRef dtype) {
  for (StringRef descr : {"|b1", "|i1", "|u1", "<i2", "<u2", "<i4", "<u4", "<i8", "<u8", "<f2", "<f4", "<f8"})
    if (getDType(descr) == dtype)
      return descr;
  return "<u2";
}

llvm::Error convbert::writeNpy(StringRef path, const Array &array) {
  std::string sizes;
  for (int64_t size : array.shape)
    sizes += std::to_string(size) + ", ";
  std::string header =
      llvm::formatv("{{'descr': '{0}', 'fortran_order': False, 'shape': ({1}), }", getDescr(array.dtype),
                    array.shape.size() == 1 ? StringRef(sizes).drop_back() : StringRef(sizes));
  // The numbers start at a multiple of 64.
  size_t prefix = kMagic.size() + 4;
  header.append(63 - (prefix + header.size()) % 64, ' ');
  header += '\n';
  if (header.size() > UINT16_MAX)
    return llvm::createStringError(path + ": requires fewer dimensions, but found " + llvm::Twine(array.shape.size()));
  return llvm::writeToOutput(path, [&](llvm::raw_ostream &os) {
    os << kMagic << '\x01' << '\x00';
    os << static_cast<char>(header.size() & 0xFF) << static_cast<char>(header.size() >> 8) << header;
    os.write(array.bytes.data(), array.bytes.size());
    return llvm::Error::success();
  });
}
