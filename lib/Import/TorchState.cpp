//===- TorchState.cpp - State dicts of torch.save ---------------*- C++ -*-===//

#include "lib/Import/TorchState.h"
#include "lib/Import/JSONText.h"
#include "llvm/ADT/StringSet.h"
#include "llvm/ADT/StringSwitch.h"
#include "llvm/Support/CheckedArithmetic.h"
#include "llvm/Support/JSON.h"

using llvm::Error;
using llvm::StringRef;
using llvm::Twine;

namespace mlir::convbert {

llvm::ArrayRef<StringRef> allowedTorchGlobals() {
  static const StringRef globals[] = {"collections.OrderedDict",
                                      "torch._utils._rebuild_parameter",
                                      "torch._utils._rebuild_tensor",
                                      "torch._utils._rebuild_tensor_v2",
                                      "torch.BFloat16Storage",
                                      "torch.BoolStorage",
                                      "torch.ByteStorage",
                                      "torch.CharStorage",
                                      "torch.DoubleStorage",
                                      "torch.FloatStorage",
                                      "torch.HalfStorage",
                                      "torch.IntStorage",
                                      "torch.LongStorage",
                                      "torch.ShortStorage"};
  return globals;
}

/// Safetensors' tag for the elements of a storage class.
static StringRef storageType(StringRef global) {
  return llvm::StringSwitch<StringRef>(global)
      .Case("torch.BFloat16Storage", "BF16")
      .Case("torch.BoolStorage", "BOOL")
      .Case("torch.ByteStorage", "U8")
      .Case("torch.CharStorage", "I8")
      .Case("torch.DoubleStorage", "F64")
      .Case("torch.FloatStorage", "F32")
      .Case("torch.HalfStorage", "F16")
      .Case("torch.IntStorage", "I32")
      .Case("torch.LongStorage", "I64")
      .Case("torch.ShortStorage", "I16")
      .Default("");
}

namespace {

/// Reads the entry of one name.
class EntryReader {
public:
  EntryReader(StringRef name, StringRef where) : where(where) { tensor.name = name.str(); }

  llvm::Expected<TorchTensor> read(const PickleValue &value);

private:
  Error error(const Twine &message) const {
    return importError(where + ": tensor " + quoted(tensor.name) + ": " + message);
  }
  Error readStorage(const PickleValue &value);
  Error readSizes(const PickleValue &value, StringRef what, llvm::SmallVectorImpl<int64_t> &sizes) const;

  StringRef where;
  TorchTensor tensor;
};

} // namespace

/// A storage is described as ('storage', class, key, device, elements), in old files with a view of it behind.
Error EntryReader::readStorage(const PickleValue &value) {
  const PickleValue *description = value.kind == PickleValue::Persistent ? value.items[0] : nullptr;
  if (!description || description->kind != PickleValue::Tuple || description->items.size() < 5)
    return error("requires a storage, but found " + value.describe());
  llvm::ArrayRef<const PickleValue *> items = description->items;
  if (items[0]->kind != PickleValue::String || items[0]->text != "storage" || items[1]->kind != PickleValue::Global ||
      items[2]->kind != PickleValue::String || items[4]->kind != PickleValue::Int || items[4]->integer < 0)
    return error("requires a storage as ('storage', class, key, device, elements), but found something else");
  tensor.dtype = storageType(items[1]->text).str();
  if (tensor.dtype.empty())
    return error("requires a storage class, but found " + items[1]->text);
  tensor.storageKey = items[2]->text.str();
  tensor.storageElements = items[4]->integer;
  if (items.size() == 5 || items[5]->kind == PickleValue::None)
    return Error::success();
  // (key of the view, first element, elements)
  llvm::ArrayRef<const PickleValue *> part = items[5]->items;
  if (items[5]->kind != PickleValue::Tuple || part.size() != 3 || part[1]->kind != PickleValue::Int ||
      part[1]->integer < 0)
    return error("requires a view of a storage as (key, offset, elements), but found " + items[5]->describe());
  std::optional<int64_t> offset = llvm::checkedAdd(tensor.view.offset, part[1]->integer);
  if (!offset)
    return error("requires an offset inside its storage, but found one that overflows");
  tensor.view.offset = *offset;
  return Error::success();
}

Error EntryReader::readSizes(const PickleValue &value, StringRef what, llvm::SmallVectorImpl<int64_t> &sizes) const {
  constexpr size_t maxRank = 8;
  if (value.kind != PickleValue::Tuple || value.items.size() > maxRank)
    return error("requires a " + what + " of at most " + Twine(maxRank) + " dimensions, but found " + value.describe());
  for (const PickleValue *item : value.items) {
    if (item->kind != PickleValue::Int)
      return error("requires a " + what + " of 64-bit integers, but found " + item->describe() +
                   " (too large, or no number)");
    sizes.push_back(item->integer);
  }
  return Error::success();
}

llvm::Expected<TorchTensor> EntryReader::read(const PickleValue &value) {
  const PickleValue *call = &value;
  // A parameter is a call with a tensor as the first argument.
  if (call->kind == PickleValue::Call && call->items[0]->text == "torch._utils._rebuild_parameter" &&
      !call->items[1]->items.empty())
    call = call->items[1]->items[0];
  if (call->kind == PickleValue::Dict || call->kind == PickleValue::OrderedDict)
    return error("requires a tensor, but found a nested dict; is this a training checkpoint?  Save the model's "
                 "state dict alone: torch.save(checkpoint[" +
                 quoted(tensor.name) + "], ...)");
  bool builds = call->kind == PickleValue::Call && (call->items[0]->text == "torch._utils._rebuild_tensor_v2" ||
                                                    call->items[0]->text == "torch._utils._rebuild_tensor");
  if (!builds || call->items[1]->items.size() < 4)
    return error("requires a tensor, but found " + call->describe());
  llvm::ArrayRef<const PickleValue *> arguments = call->items[1]->items;
  if (arguments[1]->kind != PickleValue::Int)
    return error("requires a storage offset of at most 64 bits, but found " + arguments[1]->describe() +
                 " (too large, or no number)");
  tensor.view.offset = arguments[1]->integer;
  if (tensor.view.offset < 0)
    return error("requires a storage offset that is not negative, but found " + Twine(tensor.view.offset));
  if (Error failure = readStorage(*arguments[0]))
    return std::move(failure);
  if (Error failure = readSizes(*arguments[2], "size", tensor.view.sizes))
    return std::move(failure);
  if (Error failure = readSizes(*arguments[3], "stride", tensor.view.strides))
    return std::move(failure);
  return std::move(tensor);
}

llvm::Expected<std::vector<TorchTensor>> readStateDict(const PickleValue &root, StringRef where) {
  if (root.kind != PickleValue::Dict && root.kind != PickleValue::OrderedDict)
    return importError(where + ": requires a state dict (a dict from names to tensors), but the pickle holds " +
                       root.describe());
  std::vector<TorchTensor> tensors;
  llvm::StringSet<> names;
  for (size_t i = 0; i < root.items.size(); i += 2) {
    const PickleValue &key = *root.items[i];
    if (key.kind != PickleValue::String || !llvm::json::isUTF8(key.text))
      return importError(where + ": requires a state dict with names as keys, but found " + key.describe());
    if (!names.insert(key.text).second)
      return importError(where + ": requires every name once, but found " + quoted(key.text) + " more than once");
    llvm::Expected<TorchTensor> tensor = EntryReader(key.text, where).read(*root.items[i + 1]);
    if (!tensor)
      return tensor.takeError();
    tensors.push_back(std::move(*tensor));
  }
  return tensors;
}

llvm::Expected<std::vector<TensorInfo>> readTorchFile(const ByteSource &source) {
  llvm::Expected<std::string> start = source.read(0, std::min<uint64_t>(source.getSize(), 8));
  if (!start)
    return start.takeError();
  if (StringRef(*start).starts_with("PK"))
    return readTorchZip(source);
  if (StringRef(*start).starts_with("\x80"))
    return readTorchLegacy(source);
  const char *what = *start == "version " ? "a Git LFS pointer; fetch the weights with 'git lfs pull'"
                     : StringRef(*start).starts_with("\x89HDF") ? "an HDF5 file (TensorFlow's tf_model.h5?)"
                     : start->empty()                           ? "an empty file"
                                                                : "an unknown format";
  return importError(source.getPath() + ": requires a file of torch.save (a zip archive or a pickle), but found " +
                     what);
}

llvm::Expected<std::vector<TensorInfo>> readTorchFile(StringRef path) {
  llvm::Expected<std::unique_ptr<ByteSource>> source = openFile(path);
  if (!source)
    return source.takeError();
  return readTorchFile(**source);
}

} // namespace mlir::convbert
