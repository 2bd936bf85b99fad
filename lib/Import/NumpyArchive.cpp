//===- NumpyArchive.cpp - Arrays of numpy.savez -----------------*- C++ -*-===//

#include "lib/Import/NumpyArchive.h"
#include "lib/Import/JSONText.h"
#include "lib/Import/ZipArchive.h"
#include "llvm/ADT/StringSwitch.h"
#include "llvm/Support/Endian.h"
#include <numeric>

using llvm::Error;
using llvm::StringRef;
using llvm::Twine;

namespace mlir::convbert {

namespace {

/// The header of one array: `{'descr': '<f4', 'fortran_order': False, 'shape': (2, 3), }`.
class HeaderParser {
public:
  explicit HeaderParser(StringRef text) : rest(text.trim()) {}

  /// Whether the text is such a dict.
  bool parse() {
    if (!take("{"))
      return false;
    bool hasType = false, hasOrder = false, hasShape = false;
    while (!take("}")) {
      if (take("'descr'")) {
        StringRef text;
        if (!take(":") || !takeString(text))
          return false;
        descr = text.str();
        hasType = true;
      } else if (take("'fortran_order'")) {
        if (!take(":") || !(take("False") || (columnMajor = take("True"))))
          return false;
        hasOrder = true;
      } else if (take("'shape'")) {
        shape.clear();
        if (!take(":") || !takeShape())
          return false;
        hasShape = true;
      } else {
        return false;
      }
      if (!take(",") && !rest.starts_with("}"))
        return false;
    }
    return rest.empty() && hasType && hasOrder && hasShape;
  }

  std::string descr;
  bool columnMajor = false;
  llvm::SmallVector<int64_t, 4> shape;

private:
  bool take(StringRef token) {
    rest = rest.ltrim();
    return rest.consume_front(token);
  }
  bool takeString(StringRef &text) {
    rest = rest.ltrim();
    size_t end = rest.starts_with("'") ? rest.find('\'', 1) : StringRef::npos;
    if (end == StringRef::npos)
      return false;
    text = rest.slice(1, end);
    rest = rest.drop_front(end + 1);
    return true;
  }
  bool takeShape() {
    if (!take("("))
      return false;
    while (!take(")")) {
      rest = rest.ltrim();
      int64_t size;
      if (rest.consumeInteger(10, size) || size < 0 || shape.size() == 8)
        return false;
      rest.consume_front("L"); // Python 2
      shape.push_back(size);
      if (!take(",") && !rest.ltrim().starts_with(")"))
        return false;
    }
    return true;
  }

  StringRef rest;
};

} // namespace

static StringRef elementType(StringRef descr) {
  return llvm::StringSwitch<StringRef>(descr)
      .Case("<f2", "F16")
      .Case("<f4", "F32")
      .Case("<f8", "F64")
      .Case("<i4", "I32")
      .Case("<i8", "I64")
      .Case("|b1", "BOOL")
      .Case("|u1", "U8")
      .Default("");
}

static llvm::Expected<TensorInfo> readArray(const ZipArchive &archive, const ZipMember &member, StringRef path) {
  auto error = [&](const Twine &message) {
    return importError(path + ": array " + quoted(member.name) + ": " + message);
  };
  llvm::Expected<std::string> start = archive.readStart(member, /*limit=*/16384);
  if (!start)
    return start.takeError();
  StringRef text = *start;
  if (!text.starts_with("\x93NUMPY") || text.size() < 12)
    return error("requires an array in NumPy's format, but found something else");
  unsigned version = text[6];
  // The header's length has 2 bytes in version 1, 4 in 2 and 3.
  if (version < 1 || version > 3)
    return error("requires version 1 to 3 of NumPy's format, but found " + Twine(version));
  uint64_t begin = version == 1 ? 10 : 12;
  uint64_t length = version == 1 ? llvm::support::endian::read16le(text.data() + 8)
                                 : llvm::support::endian::read32le(text.data() + 8);
  if (length > text.size() - begin)
    return error("requires a header that ends in the first " + Twine(text.size()) + " bytes, but found a length of " +
                 Twine(length));
  HeaderParser header(text.substr(begin, length));
  if (!header.parse())
    return error("requires a header with descr, fortran_order and shape, but found " +
                 quoted(text.substr(begin, length)));
  TensorInfo tensor;
  tensor.name = StringRef(member.name).drop_back(strlen(".npy")).str();
  tensor.dtype = elementType(header.descr).str();
  if (tensor.dtype.empty())
    return error("requires little-endian numbers of type f2, f4, f8, i4, i8, b1 or u1, but found dtype " +
                 quoted(header.descr));
  uint64_t width = elementBits(tensor.dtype) / 8, bytes = member.bytes - begin - length;
  std::optional<int64_t> count = elementCount(header.shape);
  if (!count || bytes % width != 0 || bytes / width != uint64_t(*count))
    return error("requires the bytes of shape " + shapeText(header.shape) + " and dtype " + tensor.dtype +
                 ", but found " + Twine(bytes) + " bytes");
  tensor.shape = header.shape;
  if (header.columnMajor && tensor.shape.size() > 1) {
    // The same numbers are a row-major array with the dimensions in reverse.
    std::reverse(tensor.shape.begin(), tensor.shape.end());
    llvm::SmallVector<int64_t, 4> reversed(tensor.shape.size());
    std::iota(reversed.rbegin(), reversed.rend(), 0);
    transposeTensor(tensor, reversed);
  }
  tensor.file = path.str();
  tensor.offset = (member.deflated ? 0 : member.dataOffset) + begin + length;
  tensor.bytes = bytes;
  tensor.member = member;
  return tensor;
}

llvm::Expected<std::vector<TensorInfo>> readNumpyArchive(const ByteSource &source) {
  llvm::Expected<ZipArchive> archive = ZipArchive::open(source);
  if (!archive)
    return archive.takeError();
  std::vector<TensorInfo> tensors;
  for (const ZipMember &member : archive->getMembers()) {
    if (!StringRef(member.name).ends_with(".npy"))
      return importError(source.getPath() + ": requires arrays (.npy), but found record " + quoted(member.name));
    llvm::Expected<TensorInfo> tensor = readArray(*archive, member, source.getPath());
    if (!tensor)
      return tensor.takeError();
    tensors.push_back(std::move(*tensor));
  }
  return tensors;
}

llvm::Expected<std::vector<TensorInfo>> readNumpyArchive(StringRef path) {
  llvm::Expected<std::unique_ptr<ByteSource>> source = openFile(path);
  if (!source)
    return source.takeError();
  return readNumpyArchive(**source);
}

} // namespace mlir::convbert
