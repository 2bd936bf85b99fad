//===- Safetensors.cpp - Headers of safetensors files -----------*- C++ -*-===//
//
// The format: 8 bytes of header length (little-endian), a JSON object of that many bytes, then the numbers.
//
//===----------------------------------------------------------------------===//

#include "lib/Import/Safetensors.h"
#include "lib/Import/JSONText.h"
#include "llvm/Support/CheckedArithmetic.h"
#include "llvm/Support/Endian.h"

using llvm::Twine;

namespace mlir::convbert {

namespace {

/// One file being read.
class HeaderReader {
public:
  explicit HeaderReader(const ByteSource &source) : source(source), path(source.getPath()) {}

  llvm::Expected<std::vector<TensorInfo>> read();

private:
  llvm::Error error(const Twine &message) const { return importError(Twine(path) + ": " + message); }
  llvm::Error tensorError(llvm::StringRef name, const Twine &message) const {
    return error("tensor " + quoted(name) + ": " + message);
  }

  llvm::Error readText();
  llvm::Error checkMetadata(const llvm::json::Value &value) const;
  llvm::Expected<TensorInfo> readTensor(llvm::StringRef name, const llvm::json::Value &value) const;
  llvm::Error readShape(TensorInfo &tensor, const llvm::json::Object &entry, uint64_t &elements) const;
  llvm::Error readOffsets(TensorInfo &tensor, const llvm::json::Object &entry) const;
  llvm::Error checkLayout(std::vector<TensorInfo> &tensors) const;

  const ByteSource &source;
  llvm::StringRef path;
  std::string text;
  /// Where the numbers start, and how many bytes of them there are.
  uint64_t dataStart = 0;
  uint64_t dataBytes = 0;
};

} // namespace

llvm::Error HeaderReader::readText() {
  uint64_t fileBytes = source.getSize();
  if (fileBytes < 8)
    return error("too short: requires at least 8 bytes (the header length), but found " + Twine(fileBytes));
  char length[8];
  if (llvm::Error failure = source.read(length, 0))
    return failure;
  // Files that are often found in place of weights.
  if (llvm::StringRef(length, 8) == "version ")
    return error("requires a safetensors header, but found a Git LFS pointer; fetch the weights with 'git lfs pull'");
  uint64_t headerBytes = llvm::support::endian::read64le(length);
  if (headerBytes > fileBytes - 8)
    return error("requires a header that ends inside the file, but found a header length of " + Twine(headerBytes) +
                 " bytes, larger than the " + Twine(fileBytes - 8) +
                 " bytes that follow: truncated, or not a safetensors file");
  if (headerBytes < 2 || headerBytes > kMaxJSONBytes)
    return error("requires a header of 2 to " + Twine(kMaxJSONBytes) + " bytes, but found a header length of " +
                 Twine(headerBytes));
  text.resize(headerBytes);
  dataStart = 8 + headerBytes;
  dataBytes = fileBytes - dataStart;
  return source.read({text.data(), text.size()}, 8);
}

llvm::Error HeaderReader::checkMetadata(const llvm::json::Value &value) const {
  const llvm::json::Object *entries = value.getAsObject();
  if (!entries)
    return error("header: requires '__metadata__' to be an object of strings, but found " + describeJSON(value));
  for (const auto &[key, entry] : *entries)
    if (!entry.getAsString())
      return error("header: requires '__metadata__' to hold strings, but found " + describeJSON(entry) + " for " +
                   quoted(key));
  return llvm::Error::success();
}

llvm::Error HeaderReader::readShape(TensorInfo &tensor, const llvm::json::Object &entry, uint64_t &elements) const {
  const llvm::json::Array *shape = entry.getArray("shape");
  if (!shape)
    return tensorError(tensor.name, "requires an array 'shape', but found " +
                                        (entry.get("shape") ? describeJSON(*entry.get("shape")) : "none"));
  elements = 1;
  for (const llvm::json::Value &value : *shape) {
    std::optional<uint64_t> size = value.getAsUINT64();
    if (!size || *size > uint64_t(std::numeric_limits<int64_t>::max()))
      return tensorError(tensor.name,
                         "requires a shape of integers from 0 to 2^63-1, but found " + describeJSON(value));
    tensor.shape.push_back(*size);
    std::optional<uint64_t> product = llvm::checkedMulUnsigned(elements, *size);
    if (!product)
      return tensorError(tensor.name, "requires a shape that can be in a file, but the number of elements of " +
                                          shapeText(tensor.shape) + " overflows");
    elements = *product;
  }
  return llvm::Error::success();
}

llvm::Error HeaderReader::readOffsets(TensorInfo &tensor, const llvm::json::Object &entry) const {
  const llvm::json::Array *offsets = entry.getArray("data_offsets");
  if (!offsets || offsets->size() != 2)
    return tensorError(tensor.name, "requires 'data_offsets' of two integers, but found " +
                                        (offsets                     ? "an array of " + std::to_string(offsets->size())
                                         : entry.get("data_offsets") ? describeJSON(*entry.get("data_offsets"))
                                                                     : "none"));
  for (const llvm::json::Value &value : *offsets)
    if (!value.getAsUINT64())
      return tensorError(tensor.name,
                         "requires 'data_offsets' of two integers from 0 to 2^64-1, but found " + describeJSON(value));
  uint64_t begin = *(*offsets)[0].getAsUINT64();
  uint64_t end = *(*offsets)[1].getAsUINT64();
  if (begin > end)
    return tensorError(tensor.name, "requires 'data_offsets' in ascending order, but found [" + Twine(begin) + ", " +
                                        Twine(end) + "]");
  if (end > dataBytes)
    return tensorError(tensor.name, "requires 'data_offsets' inside the file's " + Twine(dataBytes) +
                                        " bytes of numbers, but found [" + Twine(begin) + ", " + Twine(end) +
                                        "], which lies beyond the end: truncated?");
  tensor.offset = dataStart + begin;
  tensor.bytes = end - begin;
  return llvm::Error::success();
}

llvm::Expected<TensorInfo> HeaderReader::readTensor(llvm::StringRef name, const llvm::json::Value &value) const {
  TensorInfo tensor;
  tensor.name = name.str();
  tensor.file = path.str();
  const llvm::json::Object *entry = value.getAsObject();
  if (!entry)
    return tensorError(name, "requires a header entry that is an object, but found " + describeJSON(value));
  std::optional<llvm::StringRef> dtype = entry->getString("dtype");
  if (!dtype)
    return tensorError(name, "requires a string 'dtype', but found " +
                                 (entry->get("dtype") ? describeJSON(*entry->get("dtype")) : "none"));
  tensor.dtype = dtype->str();
  uint64_t bits = elementBits(*dtype);
  if (!bits)
    return tensorError(name, "requires an element type of the safetensors format, but found dtype " + quoted(*dtype));
  uint64_t elements;
  if (llvm::Error failure = readShape(tensor, *entry, elements))
    return std::move(failure);
  if (llvm::Error failure = readOffsets(tensor, *entry))
    return std::move(failure);
  std::optional<uint64_t> totalBits = llvm::checkedMulUnsigned(elements, bits);
  if (!totalBits || *totalBits % 8 || *totalBits / 8 != tensor.bytes)
    return tensorError(name, "requires " + (totalBits ? Twine(*totalBits / 8) : Twine("more than 2^61")).str() +
                                 " bytes for shape " + shapeText(tensor.shape) + " and dtype " + *dtype +
                                 ", but its data_offsets hold " + Twine(tensor.bytes) + " bytes");
  return tensor;
}

llvm::Error HeaderReader::checkLayout(std::vector<TensorInfo> &tensors) const {
  llvm::sort(tensors, [](const TensorInfo &a, const TensorInfo &b) {
    return std::tie(a.offset, a.bytes, a.name) < std::tie(b.offset, b.bytes, b.name);
  });
  uint64_t end = dataStart;
  llvm::StringRef previous;
  for (const TensorInfo &tensor : tensors) {
    if (tensor.offset != end)
      return tensorError(tensor.name, "requires offset " + Twine(end - dataStart) + ", where " +
                                          (previous.empty() ? "the numbers start" : quoted(previous) + " ends") +
                                          ", but found offset " + Twine(tensor.offset - dataStart) + ": " +
                                          (tensor.offset < end ? "the two overlap" : "a gap of unused bytes"));
    end = tensor.offset + tensor.bytes;
    previous = tensor.name;
  }
  if (end != dataStart + dataBytes)
    return error("requires the last tensor to end with the file, but found " + Twine(dataStart + dataBytes - end) +
                 " trailing bytes that no tensor uses");
  return llvm::Error::success();
}

llvm::Expected<std::vector<TensorInfo>> HeaderReader::read() {
  if (llvm::Error failure = readText())
    return std::move(failure);
  llvm::Expected<llvm::json::Object> header = parseJSONObject(text, Twine(path) + ": header");
  if (!header)
    return header.takeError();
  std::vector<TensorInfo> tensors;
  for (const auto &[name, value] : *header) {
    if (name == "__metadata__") {
      if (llvm::Error failure = checkMetadata(value))
        return std::move(failure);
      continue;
    }
    llvm::Expected<TensorInfo> tensor = readTensor(name, value);
    if (!tensor)
      return tensor.takeError();
    tensors.push_back(std::move(*tensor));
  }
  if (llvm::Error failure = checkLayout(tensors))
    return std::move(failure);
  return tensors;
}

llvm::Expected<std::vector<TensorInfo>> readSafetensorsHeader(const ByteSource &source) {
  return HeaderReader(source).read();
}

llvm::Expected<std::vector<TensorInfo>> readSafetensorsHeader(llvm::StringRef path) {
  llvm::Expected<std::unique_ptr<ByteSource>> source = openFile(path);
  if (!source)
    return source.takeError();
  return readSafetensorsHeader(**source);
}

} // namespace mlir::convbert
