#include "lib/Runtime/Manifest.h"

#include "lib/Runtime/Error.h"

#include <nlohmann/json.hpp>

#include <cstdlib>
#include <map>

using namespace convbert::rt;
using json = nlohmann::json;

static int64_t follow(int64_t length, const std::vector<LengthStep> &steps) {
  for (const LengthStep &step : steps)
    length = length + step.extra < 0 ? 0 : (length + step.extra) / step.stride + 1;
  return length;
}

int64_t ArrayInfo::bytes(int64_t batch, int64_t length) const {
  int64_t total = elementBytes;
  for (int64_t size : shape) {
    int64_t factor = size == kBatch     ? batch
                     : size == kLength  ? length
                     : size <= kDerived ? follow(length, derived[kDerived - size])
                                        : size;
    if (factor < 0 || __builtin_mul_overflow(total, factor, &total))
      return -1;
  }
  return total;
}

static const json &member(const json &object, const char *key, const std::string &where) {
  if (!object.is_object() || !object.contains(key))
    throw Failure("description of the compiled model: requires \"" + std::string(key) + "\" in " + where +
                  ", but found none");
  return object[key];
}

static std::string stringMember(const json &object, const char *key, const std::string &where) {
  const json &value = member(object, key, where);
  if (!value.is_string())
    throw Failure("description of the compiled model: requires a string for \"" + std::string(key) + "\" in " + where +
                  ", but found " + value.type_name());
  return value.get<std::string>();
}

static int64_t sizeMember(const json &object, const char *key, const std::string &where) {
  const json &value = member(object, key, where);
  if (!value.is_number_integer() || value.get<int64_t>() < 0)
    throw Failure("description of the compiled model: requires a size >= 0 for \"" + std::string(key) + "\" in " +
                  where + ", but found " + value.dump());
  return value.get<int64_t>();
}

static int64_t bytesOfDType(const std::string &dtype, const std::string &where) {
  static const std::map<std::string, int64_t> kBytes = {{"bool", 1},    {"int8", 1},   {"uint8", 1},   {"int16", 2},
                                                        {"int32", 4},   {"int64", 8},  {"float16", 2}, {"bfloat16", 2},
                                                        {"float32", 4}, {"float64", 8}};
  auto found = kBytes.find(dtype);
  if (found == kBytes.end())
    throw Failure("description of the compiled model: requires a known \"dtype\" in " + where + ", but found \"" +
                  dtype + "\"");
  return found->second;
}

/// {"tokens": [[extra, stride], ...]}.
static std::vector<LengthStep> lengthSteps(const json &size, const std::string &where) {
  std::vector<LengthStep> steps;
  auto isNumber = [](const json &value) {
    return value.is_number_integer() && std::abs(value.get<int64_t>()) < (int64_t(1) << 40);
  };
  for (const json &step : member(size, "tokens", "the shape of " + where)) {
    if (!step.is_array() || step.size() != 2 || !isNumber(step[0]) || !isNumber(step[1]) || step[1] < 1)
      throw Failure("description of the compiled model: requires pairs of numbers in \"tokens\" of " + where +
                    ", but found " + step.dump());
    steps.push_back({step[0].get<int64_t>(), step[1].get<int64_t>()});
  }
  return steps;
}

static std::vector<ArrayInfo> arrays(const json &manifest, const char *key) {
  const json &list = member(manifest, key, "\"manifest\"");
  if (!list.is_array())
    throw Failure("description of the compiled model: requires a list for \"" + std::string(key) + "\", but found " +
                  list.type_name());
  std::vector<ArrayInfo> result;
  for (const json &item : list) {
    std::string where = std::string(key) + "[" + std::to_string(result.size()) + "]";
    ArrayInfo info;
    info.name = stringMember(item, "name", where);
    info.dtype = stringMember(item, "dtype", where);
    info.elementBytes = bytesOfDType(info.dtype, where);
    if (item.contains("limit"))
      info.limit = sizeMember(item, "limit", where);
    for (const json &size : member(item, "shape", where)) {
      if (size == "B")
        info.shape.push_back(kBatch);
      else if (size == "T")
        info.shape.push_back(kLength);
      else if (size.is_number_integer() && size.get<int64_t>() >= 0)
        info.shape.push_back(size.get<int64_t>());
      else if (size.is_object()) {
        info.shape.push_back(kDerived - static_cast<int64_t>(info.derived.size()));
        info.derived.push_back(lengthSteps(size, where));
      } else
        throw Failure("description of the compiled model: requires sizes, \"B\" or \"T\" in the shape of " + where +
                      ", but found " + size.dump());
    }
    result.push_back(std::move(info));
  }
  return result;
}

static std::vector<WeightLocation> weightLocations(const json &root, const std::vector<ArrayInfo> &parameters) {
  const json &list = member(root, "weights", "its top level");
  if (!list.is_array() || list.size() != parameters.size())
    throw Failure("description of the compiled model: requires one entry of \"weights\" for each of the " +
                  std::to_string(parameters.size()) + " parameters, but found " + std::to_string(list.size()));
  std::vector<WeightLocation> result;
  for (size_t i = 0; i < parameters.size(); ++i) {
    std::string where = "\"weights\" for " + parameters[i].name;
    WeightLocation location;
    location.file = stringMember(list[i], "file", where);
    location.offset = sizeMember(list[i], "offset", where);
    location.bytes = sizeMember(list[i], "bytes", where);
    int64_t required = parameters[i].bytes(-1, -1);
    if (location.bytes != required)
      throw Failure("parameter " + parameters[i].name + ": requires " + std::to_string(required) +
                    " bytes for its shape, but found " + std::to_string(location.bytes) + " in " + location.file);
    result.push_back(std::move(location));
  }
  return result;
}

static std::map<std::string, FileStamp> fileStamps(const json &root) {
  std::map<std::string, FileStamp> result;
  if (!root.contains("files"))
    return result;
  const json &files = root["files"];
  if (!files.is_object())
    throw Failure("description of the compiled model: requires an object for \"files\", but found " +
                  std::string(files.type_name()));
  for (const auto &[path, stamp] : files.items()) {
    std::string where = "\"files\" for " + path;
    result[path] = {sizeMember(stamp, "bytes", where), sizeMember(stamp, "modified", where)};
  }
  return result;
}

Description convbert::rt::parseDescription(const std::string &text, bool hasWeights) {
  json root = json::parse(text, /*callback=*/nullptr, /*allow_exceptions=*/false);
  if (root.is_discarded())
    throw Failure("description of the compiled model: requires a JSON object, but found text that is no JSON");
  Description result;
  result.object = stringMember(root, "object", "its top level");
  const json &manifest = member(root, "manifest", "its top level");
  result.manifestText = manifest.dump();
  Manifest &m = result.manifest;
  // A model without tables has no limits.
  for (auto [key, limit] : {std::pair{"vocab_size", &m.vocabSize}, std::pair{"max_positions", &m.maxPositions},
                            std::pair{"type_vocab_size", &m.typeVocabSize}})
    if (manifest.contains(key))
      *limit = sizeMember(manifest, key, "\"manifest\"");
  m.minRowPitch = sizeMember(manifest, "min_row_pitch", "\"manifest\"");
  m.inputs = arrays(manifest, "inputs");
  m.outputs = arrays(manifest, "outputs");
  m.parameters = arrays(manifest, "parameters");
  if (root.contains("packed"))
    result.packed = stringMember(root, "packed", "its top level");
  else if (hasWeights)
    result.weights = weightLocations(root, m.parameters);
  result.files = fileStamps(root);
  return result;
}
