//===- ArrayFiles.cpp - Files and directories of several arrays -----------===//

#include "lib/Import/Safetensors.h"
#include "lib/Import/ZipArchive.h"
#include "tools/convbert-run/Array.h"
#include "llvm/ADT/StringSwitch.h"
#include "llvm/ADT/Twine.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/MemoryBuffer.h"
#include "llvm/Support/Path.h"

using namespace mlir;
using namespace mlir::convbert;
using llvm::StringRef;
using Arrays = std::map<std::string, Array>;

static llvm::Error add(Arrays &arrays, StringRef name, llvm::Expected<Array> array) {
  if (!array)
    return array.takeError();
  arrays.emplace(name.str(), std::move(*array));
  return llvm::Error::success();
}

//===----------------------------------------------------------------------===//
// .npz: a zip file of .npy files, stored or deflated
//===----------------------------------------------------------------------===//

/// Unpacked bytes of a member: more than any array that fits a machine's memory by far.
static constexpr uint64_t kMaxMember = uint64_t(1) << 36;

static llvm::Expected<Arrays> readNpz(StringRef path) {
  llvm::Expected<std::unique_ptr<ByteSource>> source = openFile(path);
  if (!source)
    return source.takeError();
  llvm::Expected<ZipArchive> archive = ZipArchive::open(**source);
  if (!archive)
    return archive.takeError();
  Arrays arrays;
  for (const ZipMember &member : archive->getMembers()) {
    llvm::Expected<std::string> bytes = archive->read(member, kMaxMember);
    if (!bytes)
      return bytes.takeError();
    StringRef name(member.name);
    name.consume_back(".npy");
    if (llvm::Error error = add(arrays, name, parseNpy(*bytes, path + ":" + member.name)))
      return error;
  }
  return arrays;
}

//===----------------------------------------------------------------------===//
// .safetensors
//===----------------------------------------------------------------------===//

static StringRef getDType(StringRef tag) {
  return llvm::StringSwitch<StringRef>(tag)
      .Case("BOOL", "bool")
      .Case("I8", "int8")
      .Case("U8", "uint8")
      .Case("I16", "int16")
      .Case("U16", "uint16")
      .Case("I32", "int32")
      .Case("U32", "uint32")
      .Case("I64", "int64")
      .Case("U64", "uint64")
      .Case("F16", "float16")
      .Case("BF16", "bfloat16")
      .Case("F32", "float32")
      .Case("F64", "float64")
      .Default("");
}

static llvm::Expected<Arrays> readSafetensors(StringRef path) {
  llvm::Expected<std::vector<TensorInfo>> tensors = readSafetensorsHeader(path);
  if (!tensors)
    return tensors.takeError();
  auto buffer = llvm::MemoryBuffer::getFile(path, /*IsText=*/false, /*RequiresNullTerminator=*/false);
  if (!buffer)
    return llvm::createStringError(path + ": " + buffer.getError().message());
  StringRef bytes = (*buffer)->getBuffer();
  Arrays arrays;
  for (const TensorInfo &tensor : *tensors) {
    Array array{getDType(tensor.dtype).str(), tensor.shape, {}};
    llvm::Expected<int64_t> required = countBytes(array.dtype, array.shape);
    if (!required)
      return llvm::createStringError(path + ": " + tensor.name + ": " + llvm::toString(required.takeError()));
    // The file may have changed since its header was read.
    if (array.dtype.empty() || uint64_t(*required) != tensor.bytes || tensor.offset > bytes.size() ||
        tensor.bytes > bytes.size() - tensor.offset)
      return llvm::createStringError(path + ": " + tensor.name + ": requires plain numbers, but found " + tensor.dtype);
    StringRef data = bytes.substr(tensor.offset, tensor.bytes);
    array.bytes.assign(data.begin(), data.end());
    arrays.emplace(tensor.name, std::move(array));
  }
  return arrays;
}

//===----------------------------------------------------------------------===//
// Directories of .npy files
//===----------------------------------------------------------------------===//

static llvm::Expected<Arrays> readDirectory(StringRef path) {
  Arrays arrays;
  std::error_code code;
  for (llvm::sys::fs::directory_iterator entry(path, code), end; entry != end && !code; entry.increment(code))
    if (StringRef file = entry->path(); llvm::sys::path::extension(file) == ".npy")
      if (llvm::Error error = add(arrays, llvm::sys::path::stem(file), readNpy(file)))
        return error;
  if (code)
    return llvm::createStringError(path + ": " + code.message());
  return arrays;
}

llvm::Expected<Arrays> convbert::readArrays(StringRef path) {
  if (llvm::sys::fs::is_directory(path))
    return readDirectory(path);
  StringRef extension = llvm::sys::path::extension(path);
  if (extension == ".npz")
    return readNpz(path);
  if (extension == ".safetensors")
    return readSafetensors(path);
  if (extension != ".npy")
    return llvm::createStringError(path +
                                   ": requires a .npy, .npz or .safetensors file or a directory of .npy files, "
                                   "but found '" +
                                   extension + "'");
  Arrays arrays;
  if (llvm::Error error = add(arrays, llvm::sys::path::stem(path), readNpy(path)))
    return error;
  return arrays;
}
