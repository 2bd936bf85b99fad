#include "lib/Runtime/PackedWeights.h"

#include "lib/Runtime/Error.h"
#include "lib/Runtime/MappedFile.h"

#include <algorithm>
#include <atomic>
#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <system_error>
#include <thread>
#include <vector>

using namespace convbert::rt;

/// Packed bytes between two moments at which the pages of the files are dropped.
static constexpr int64_t kDropInterval = int64_t(64) << 20;

using Files = std::map<std::string, std::unique_ptr<MappedFile>>;

/// The raw table: one span of a mapped file for each parameter.
static std::vector<MemRef1D> bindParameters(const Description &description, Files &files) {
  std::vector<MemRef1D> raw;
  for (size_t i = 0; i < description.weights.size(); ++i) {
    const WeightLocation &location = description.weights[i];
    std::unique_ptr<MappedFile> &file = files[location.file];
    if (!file) {
      file = std::make_unique<MappedFile>(location.file);
      auto stamp = description.files.find(location.file);
      if (stamp != description.files.end() && !(stamp->second == file->stamp()))
        throw Failure("weight file " + location.file + ": requires the " + std::to_string(stamp->second.bytes) +
                      " bytes that were there when the checkpoint was compiled, but found another file of " +
                      std::to_string(file->size()) + " bytes; load the checkpoint again");
    }
    int64_t size = static_cast<int64_t>(file->size());
    if (location.offset > size || location.bytes > size - location.offset)
      throw Failure("parameter " + description.manifest.parameters[i].name + ": requires " +
                    std::to_string(location.bytes) + " bytes at offset " + std::to_string(location.offset) + " of " +
                    location.file + ", but found a file of " + std::to_string(size) +
                    " bytes; has it changed since it was compiled?");
    raw.emplace_back(file->data() + location.offset, location.bytes);
  }
  return raw;
}

/// Calls `work` with 0, ..., `count` - 1, each once, on as many as `threads` threads, of which this one is the first.
template <typename Work> static void forEach(int64_t count, int32_t threads, const Work &work) {
  std::atomic<int64_t> next{0};
  auto run = [&] {
    for (int64_t i = next++; i < count; i = next++)
      work(i);
  };
  std::vector<std::thread> others;
  try {
    for (int64_t i = 1; i < std::min<int64_t>(threads, count); ++i)
      others.emplace_back(run);
  } catch (const std::system_error &) {
    // The system grants no more: those that there are do all the work.
  }
  run();
  for (std::thread &other : others)
    other.join();
}

/// Packs the parameters that `raw` lists; `dropPages` is called after each 64 MB.
template <typename Drop>
static Memory pack(const CompiledObject &object, const Description &description, const std::vector<MemRef1D> &raw,
                   int32_t threads, Drop dropPages) {
  MemRef1D table(raw.data(), static_cast<int64_t>(raw.size()));

  int64_t bytes = object.packedBytes(), steps = object.prepackSteps();
  if (bytes < 0 || steps < 0)
    throw Failure("compiled object " + description.object + ": requires sizes >= 0, but found " +
                  std::to_string(bytes) + " packed bytes in " + std::to_string(steps) + " steps");
  Memory packed(bytes);
  MemRef1D destination(packed.data(), bytes);
  // Steps are about equal in size (a layer, a table), so their number stands for their bytes.
  double perStep = steps ? static_cast<double>(bytes) / steps : 0;
  double sinceDrop = 0;
  std::mutex mutex;
  forEach(steps, threads, [&](int64_t step) {
    object.prepack(table, destination, step, /*threads=*/1);
    std::lock_guard<std::mutex> lock(mutex);
    sinceDrop += perStep;
    if (sinceDrop < kDropInterval)
      return;
    // Who still reads them gets them again from the system's cache.
    dropPages();
    sinceDrop = 0;
  });
  return packed;
}

Memory convbert::rt::packWeights(const CompiledObject &object, const Description &description, int32_t threads) {
  Files files;
  std::vector<MemRef1D> raw = bindParameters(description, files);
  Memory packed = pack(object, description, raw, threads, [&] {
    for (const auto &entry : files)
      entry.second->dropResidentPages();
  });
  for (const auto &entry : files)
    entry.second->checkUnchanged();
  return packed;
}

Memory convbert::rt::packArrays(const CompiledObject &object, const Description &description, const Arrays &parameters,
                                int32_t threads) {
  const std::vector<ArrayInfo> &known = description.manifest.parameters;
  if (parameters.size() != known.size())
    throw InvalidArgument("parameters: requires " + std::to_string(known.size()) + " arrays, but found " +
                          std::to_string(parameters.size()));
  for (size_t i = 0; i < known.size(); ++i)
    if (int64_t bytes = known[i].bytes(-1, -1); !parameters[i].aligned || parameters[i].size != bytes)
      throw InvalidArgument("parameter " + known[i].name + ": requires " + std::to_string(bytes) +
                            " bytes for its shape, but found " + std::to_string(parameters[i].size));
  return pack(object, description, parameters, threads, [] {});
}

std::unique_ptr<MappedFile> convbert::rt::mapPackedWeights(const std::string &path, int64_t bytes) {
  auto file = std::make_unique<MappedFile>(path);
  if (static_cast<int64_t>(file->size()) != bytes)
    throw Failure("weight file " + path + ": requires the " + std::to_string(bytes) +
                  " bytes that its compiled object reads, but found " + std::to_string(file->size()) +
                  "; compile the checkpoint again");
  file->expectRepeatedReads();
  return file;
}
