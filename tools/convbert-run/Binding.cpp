//===- Binding.cpp - Parameters and inputs of a run -----------------------===//

#include "tools/convbert-run/Binding.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/FormatVariadic.h"
#include <cmath>
#include <cstring>
#include <random>
#include <sys/mman.h>
#include <unistd.h>

using namespace mlir;
using namespace mlir::convbert;
namespace json = llvm::json;

/// Tokens of a run: ids of a gigabyte.
static constexpr int64_t kMaxTokens = int64_t(1) << 27;

static llvm::Error makeError(const llvm::Twine &message) { return llvm::createStringError(message); }

llvm::SmallVector<int64_t, 4> ArrayType::instantiate(int64_t batch, int64_t length) const {
  return llvm::map_to_vector<4>(shape, [&](int64_t size) {
    return size == kBatch ? batch : size == kLength ? length : size;
  });
}

llvm::Expected<std::vector<ArrayType>> convbert::parseArrayTypes(const json::Object &manifest, StringRef key) {
  const json::Array *entries = manifest.getArray(key);
  if (!entries)
    return makeError("convbert.manifest: requires a list '" + key + "', but found none");
  std::vector<ArrayType> types;
  for (const json::Value &entry : *entries) {
    const json::Object *object = entry.getAsObject();
    const json::Array *shape = object ? object->getArray("shape") : nullptr;
    ArrayType type;
    if (!shape || !object->getString("name") || !object->getString("dtype"))
      return makeError(
          llvm::formatv("convbert.manifest: requires name, dtype and shape in '{0}', but found {1}", key, entry));
    type.name = object->getString("name")->str();
    type.dtype = object->getString("dtype")->str();
    for (const json::Value &size : *shape) {
      std::optional<int64_t> number = size.getAsInteger();
      if (!number && size != json::Value("B") && size != json::Value("T"))
        return makeError(llvm::formatv(
            "convbert.manifest: requires sizes, \"B\" or \"T\" in the shape of {0}, but found {1}", type.name, size));
      type.shape.push_back(number ? *number : size == json::Value("B") ? ArrayType::kBatch : ArrayType::kLength);
    }
    llvm::Expected<int64_t> bytes = countBytes(type.dtype, type.instantiate(1, 1));
    if (!bytes || getElementBytes(type.dtype) == 0)
      return makeError("convbert.manifest: requires a known dtype and sizes >= 0 for " + type.name + ", but found " +
                       (bytes ? type.dtype : llvm::toString(bytes.takeError())));
    types.push_back(std::move(type));
  }
  return types;
}

llvm::Expected<const ArrayType *> convbert::findArrayType(ArrayRef<ArrayType> types, StringRef name, StringRef kind) {
  const ArrayType *nearest = nullptr;
  for (const ArrayType &type : types) {
    if (type.name == name)
      return &type;
    if (!nearest || name.edit_distance(type.name) < name.edit_distance(nearest->name))
      nearest = &type;
  }
  return makeError("requires the name of " + kind + ", but found '" + name + "'" +
                   (nearest ? "; the nearest is '" + nearest->name + "'" : "; there is none"));
}

//===----------------------------------------------------------------------===//
// Parameters
//===----------------------------------------------------------------------===//

/// Random floating-point numbers with the variance 1 / (elements of a row); other types are zero.
static void fillRandom(const ArrayType &type, std::mt19937_64 &random, std::vector<char> &bytes) {
  double scale = std::sqrt(3.0 / (type.shape.empty() ? 1 : std::max<int64_t>(type.shape.back(), 1)));
  auto draw = [&] { return scale * (std::ldexp(static_cast<double>(random() >> 11), -52) - 1.0); };
  if (type.dtype == "float32")
    for (size_t i = 0; i + 4 <= bytes.size(); i += 4) {
      auto value = static_cast<float>(draw());
      std::memcpy(&bytes[i], &value, 4);
    }
  if (type.dtype == "float64")
    for (size_t i = 0; i + 8 <= bytes.size(); i += 8) {
      double value = draw();
      std::memcpy(&bytes[i], &value, 8);
    }
}

/// `given`, or an error unless it has the type of `type` for a batch of `batch` and `length`.
static llvm::Expected<Array> checkType(const Array &given, const ArrayType &type, int64_t batch, int64_t length) {
  llvm::SmallVector<int64_t, 4> shape = type.instantiate(batch, length);
  if (given.shape != shape)
    return makeError(type.name + ": requires " + describe(type.dtype, shape) + ", but found " +
                     describe(given.dtype, given.shape));
  return convertTo(given, type.dtype, type.name);
}

llvm::Expected<std::vector<WeightSource>> ParameterFile::fill(ArrayRef<ArrayType> parameters, Arrays given,
                                                              uint64_t seed) {
  for (const auto &entry : given)
    if (auto type = findArrayType(parameters, entry.first, "a parameter"); !type)
      return type.takeError();
  descriptor = memfd_create("convbert-parameters", MFD_CLOEXEC);
  if (descriptor < 0)
    return makeError("requires memory for the parameters, but the system refused a file in memory");
  std::string path = "/proc/self/fd/" + std::to_string(descriptor);
  std::mt19937_64 random(seed);
  std::vector<WeightSource> sources;
  uint64_t offset = 0;
  for (const ArrayType &type : parameters) {
    llvm::Expected<int64_t> size = countBytes(type.dtype, type.shape);
    if (!size)
      return makeError(type.name + ": " + llvm::toString(size.takeError()));
    std::vector<char> bytes;
    if (auto found = given.find(type.name); found != given.end()) {
      llvm::Expected<Array> array = checkType(found->second, type, 0, 0);
      if (!array)
        return array.takeError();
      bytes = std::move(array->bytes);
    } else {
      bytes.resize(*size);
      fillRandom(type, random, bytes);
    }
    // A file of no bytes cannot be mapped, and numbers lie at multiples of their size.
    bytes.resize(llvm::alignTo(std::max<size_t>(bytes.size(), 1), 64));
    for (size_t done = 0; done < bytes.size();) {
      ssize_t count = write(descriptor, bytes.data() + done, bytes.size() - done);
      if (count <= 0)
        return makeError(type.name + ": requires " + llvm::Twine(bytes.size()) + " bytes of memory, but found less");
      done += count;
    }
    sources.push_back({type.name, path, offset, static_cast<uint64_t>(*size)});
    offset += bytes.size();
  }
  return sources;
}

ParameterFile::~ParameterFile() {
  if (descriptor >= 0)
    close(descriptor);
}

//===----------------------------------------------------------------------===//
// Inputs
//===----------------------------------------------------------------------===//

llvm::Expected<BatchSize> BatchSize::parse(StringRef text) {
  BatchSize size;
  auto [batch, length] = text.split('x');
  if (batch.getAsInteger(10, size.batch) || length.getAsInteger(10, size.length) || size.batch < 1 || size.length < 1)
    return makeError("--shape requires BxT (sequences and tokens, both >= 1), but found '" + text + "'");
  return size;
}

/// What `given`, an array for `type`, says about the batch.
static llvm::Error learnSize(const Array &given, const ArrayType &type, std::optional<BatchSize> &size) {
  BatchSize found = size.value_or(BatchSize());
  if (given.shape.size() == type.shape.size())
    for (auto [given, required] : llvm::zip_equal(given.shape, type.shape)) {
      if (required == ArrayType::kBatch)
        found.batch = given;
      if (required == ArrayType::kLength)
        found.length = given;
    }
  if (size && (size->batch != found.batch || size->length != found.length))
    return makeError(type.name + ": requires a batch of " + llvm::Twine(size->batch) + "x" + llvm::Twine(size->length) +
                     " as the other inputs or --shape have, but found " + describe(given.dtype, given.shape));
  size = found;
  return llvm::Error::success();
}

/// Random ids below what the model's tables hold; nothing for a mask and for positions.
static std::optional<Array> drawInput(const ArrayType &type, const json::Object &manifest, std::mt19937_64 &random,
                                      BatchSize size) {
  Array array{type.dtype, type.instantiate(size.batch, size.length), {}};
  llvm::Expected<int64_t> bytes = countBytes(type.dtype, array.shape);
  if (!bytes) {
    llvm::consumeError(bytes.takeError());
    return std::nullopt; // the model refuses a batch of this size
  }
  bool isIds = type.name == "input_ids" || type.name == "token_type_ids";
  if (type.dtype == "int64" && isIds) {
    StringRef key = type.name == "input_ids" ? "vocab_size" : "type_vocab_size";
    int64_t limit = std::max<int64_t>(manifest.getInteger(key).value_or(1), 1);
    array.bytes.resize(*bytes);
    for (int64_t i = 0; i < *bytes / 8; ++i) {
      int64_t id = static_cast<int64_t>(random() >> 1) % limit;
      std::memcpy(&array.bytes[i * 8], &id, 8);
    }
    return array;
  }
  if (type.dtype != "float32" && type.dtype != "float64")
    return std::nullopt;
  array.bytes.resize(*bytes);
  // With a variance of one, whatever the shape.
  fillRandom({type.name, type.dtype, {1}}, random, array.bytes);
  return array;
}

llvm::Expected<std::vector<std::optional<Array>>> convbert::bindInputs(ArrayRef<ArrayType> types, Arrays given,
                                                                       const json::Object &manifest, uint64_t seed,
                                                                       std::optional<BatchSize> &size) {
  for (const auto &[name, array] : given) {
    llvm::Expected<const ArrayType *> type = findArrayType(types, name, "an input");
    if (!type)
      return type.takeError();
    if (llvm::Error error = learnSize(array, **type, size))
      return error;
  }
  size = size.value_or(BatchSize());
  // Refused here, since the system would kill rather than refuse.
  if (size->batch > kMaxTokens / size->length)
    return makeError("requires at most " + llvm::Twine(kMaxTokens) + " tokens, but found a batch of " +
                     llvm::Twine(size->batch) + "x" + llvm::Twine(size->length));
  std::mt19937_64 random(seed + 1);
  std::vector<std::optional<Array>> inputs;
  for (const ArrayType &type : types) {
    auto found = given.find(type.name);
    if (found == given.end()) {
      inputs.push_back(drawInput(type, manifest, random, *size));
      continue;
    }
    llvm::Expected<Array> array = checkType(found->second, type, size->batch, size->length);
    if (!array)
      return array.takeError();
    inputs.push_back(std::move(*array));
  }
  return inputs;
}
