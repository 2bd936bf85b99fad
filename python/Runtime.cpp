// convbert._runtime: loads and calls compiled models over the runtime's C interface.  No compiler, no LLVM.
#include "lib/Runtime/convbert-rt.h"

#include <nanobind/nanobind.h>
#include <nanobind/ndarray.h>
#include <nanobind/stl/optional.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/vector.h>

#include <algorithm>
#include <chrono>
#include <cstdlib>
#include <memory>
#include <new>
#include <optional>
#include <string>
#include <vector>

namespace nb = nanobind;

namespace {

using Input = nb::ndarray<nb::ro, nb::c_contig, nb::device::cpu>;
using Output = nb::ndarray<nb::c_contig, nb::device::cpu>;
using Lengths = nb::ndarray<const int64_t, nb::ndim<1>, nb::c_contig, nb::device::cpu>;

/// Raises ValueError for what the caller passed, RuntimeError for the rest.
void check(convbert_rt_status status, char *error) {
  if (status == CONVBERT_RT_OK)
    return;
  std::string message = error ? error : "unknown error";
  convbert_rt_string_free(error);
  if (status == CONVBERT_RT_INVALID_ARGUMENT)
    throw nb::value_error(message.c_str());
  PyErr_SetString(PyExc_RuntimeError, message.c_str());
  throw nb::python_error();
}

void checkBytes(const char *what, int32_t index, size_t found, int64_t required) {
  if (required >= 0 && found == static_cast<size_t>(required))
    return;
  std::string message = std::string(what) + " " + std::to_string(index) + ": requires " + std::to_string(required) +
                        " bytes, but found " + std::to_string(found);
  throw nb::value_error(message.c_str());
}

/// Parameters in memory, held while they are read.
struct Parameters {
  explicit Parameters(nb::sequence items) {
    for (nb::handle item : items) {
      arrays.push_back(nb::cast<Input>(item));
      addresses.push_back(arrays.back().data());
      bytes.push_back(static_cast<int64_t>(arrays.back().nbytes()));
    }
  }
  int32_t count() const { return static_cast<int32_t>(arrays.size()); }

  std::vector<Input> arrays;
  std::vector<const void *> addresses;
  std::vector<int64_t> bytes;
};

class Model {
public:
  Model(const std::string &description, int32_t threads, const Model *like) {
    char *error = nullptr;
    convbert_rt_status status;
    {
      nb::gil_scoped_release release;
      status = convbert_rt_load_like(description.c_str(), threads, like ? like->model : nullptr, &model, &error);
    }
    check(status, error);
  }
  Model(const std::string &description, nb::sequence parameters, int32_t threads) {
    char *error = nullptr;
    Parameters arrays(parameters);
    convbert_rt_status status;
    {
      nb::gil_scoped_release release;
      status = convbert_rt_load_arrays(description.c_str(), arrays.addresses.data(), arrays.bytes.data(),
                                       arrays.count(), threads, &model, &error);
    }
    check(status, error);
  }
  Model(const Model &like, nb::sequence parameters) {
    char *error = nullptr;
    Parameters arrays(parameters);
    convbert_rt_status status;
    {
      nb::gil_scoped_release release;
      status = convbert_rt_with_arrays(like.model, arrays.addresses.data(), arrays.bytes.data(), arrays.count(), &model,
                                       &error);
    }
    check(status, error);
  }
  ~Model() { convbert_rt_free(model); }
  Model(const Model &) = delete;

  /// The arrays of a call; the casts hold them alive while the GIL is released.
  struct Arrays {
    Arrays(convbert_rt_model *model, int64_t batch, int64_t length, nb::sequence inputs, nb::sequence outputs) {
      for (nb::handle item : inputs) {
        int32_t index = static_cast<int32_t>(inputArrays.size());
        if (item.is_none()) {
          inputArrays.emplace_back();
          inputPointers.push_back(nullptr);
          continue;
        }
        inputArrays.push_back(nb::cast<Input>(item));
        checkBytes("input", index, inputArrays.back()->nbytes(), convbert_rt_input_bytes(model, index, batch, length));
        inputPointers.push_back(inputArrays.back()->data());
      }
      for (nb::handle item : outputs) {
        int32_t index = static_cast<int32_t>(outputArrays.size());
        outputArrays.push_back(nb::cast<Output>(item));
        checkBytes("output", index, outputArrays.back().nbytes(),
                   convbert_rt_output_bytes(model, index, batch, length));
        outputPointers.push_back(outputArrays.back().data());
      }
      if (static_cast<int32_t>(inputPointers.size()) != convbert_rt_num_inputs(model) ||
          static_cast<int32_t>(outputPointers.size()) != convbert_rt_num_outputs(model))
        throw nb::value_error("requires one array for each input and output of the manifest");
    }

    std::vector<std::optional<Input>> inputArrays;
    std::vector<Output> outputArrays;
    std::vector<const void *> inputPointers;
    std::vector<void *> outputPointers;
  };

  void forward(int64_t batch, int64_t length, nb::sequence inputs, nb::sequence outputs,
               std::optional<Lengths> lengths) {
    Arrays arrays(model, batch, length, inputs, outputs);
    if (lengths && lengths->shape(0) != static_cast<size_t>(batch))
      throw nb::value_error("lengths: requires one value for each sequence");
    char *error = nullptr;
    convbert_rt_status status;
    {
      nb::gil_scoped_release release;
      status = convbert_rt_forward(model, batch, length, lengths ? lengths->data() : nullptr,
                                   arrays.inputPointers.data(), arrays.outputPointers.data(), &error);
    }
    check(status, error);
  }

  /// Milliseconds of the fastest of `calls` calls.
  double fastestCall(int64_t batch, int64_t length, nb::sequence inputs, nb::sequence outputs, int64_t calls) {
    using Clock = std::chrono::steady_clock;
    Arrays arrays(model, batch, length, inputs, outputs);
    std::chrono::duration<double, std::milli> fastest = Clock::duration::max();
    char *error = nullptr;
    convbert_rt_status status = CONVBERT_RT_OK;
    {
      nb::gil_scoped_release release;
      for (int64_t call = 0; call < calls && status == CONVBERT_RT_OK; ++call) {
        auto start = Clock::now();
        status = convbert_rt_forward(model, batch, length, nullptr, arrays.inputPointers.data(),
                                     arrays.outputPointers.data(), &error);
        fastest = std::min<decltype(fastest)>(fastest, Clock::now() - start);
      }
    }
    check(status, error);
    return fastest.count();
  }

  convbert_rt_model *model = nullptr;
};

/// An array for results.  NumPy's own begin anywhere on 16 bytes, and a vector that lies on two cache lines costs
/// twice.  aligned_alloc() would not do: glibc's gives other memory for each call, whose lines are in no cache, where
/// malloc() gives again what was freed last.
nb::ndarray<nb::numpy, float> makeArray(const std::vector<size_t> &shape) {
  constexpr size_t cacheLine = 64;
  size_t bytes = sizeof(float);
  for (size_t extent : shape)
    bytes *= extent;
  size_t space = bytes + cacheLine;
  void *memory = std::malloc(space), *first = memory;
  if (!memory)
    throw std::bad_alloc();
  nb::capsule owner(memory, [](void *memory) noexcept { std::free(memory); });
  std::align(cacheLine, bytes, first, space);
  return {static_cast<float *>(first), shape.size(), shape.data(), owner};
}

} // namespace

NB_MODULE(_runtime, m) {
  m.doc() = "Loads and runs compiled models; see convbert.load() for the interface meant for users.";
  m.def("available_cpus", &convbert_rt_available_cpus,
        "CPUs that this process may use (affinity mask and control group quota).");
  m.def("empty", &makeArray, nb::arg("shape"), "An array of float32, with no values yet, that begins on a cache line.");
  m.def(
      "fma_peak",
      [](const std::string &isa, int32_t threads, double seconds) {
        nb::gil_scoped_release release;
        return convbert_rt_fma_peak(isa.c_str(), threads, seconds);
      },
      nb::arg("isa"), nb::arg("threads"), nb::arg("seconds"),
      "1e9 operations a second of threads that only multiply and add, on \"generic\", \"avx2\", \"avx512\" or "
      "\"avx512bf16\"; 0 if the CPU lacks it.");
  nb::class_<Model>(m, "Model")
      .def(nb::init<const std::string &, int32_t, const Model *>(), nb::arg("description"), nb::arg("threads") = 0,
           nb::arg("like") = nb::none(),
           "Loads what the compiler's JSON describes, and packs its weights, or shares those of `like` if they are the "
           "same.")
      .def_static(
          "with_arrays",
          [](const std::string &description, nb::sequence parameters, int32_t threads) {
            return new Model(description, parameters, threads);
          },
          nb::arg("description"), nb::arg("parameters"), nb::arg("threads") = 0,
          "Loads what the compiler's JSON describes, with C-contiguous arrays for the manifest's parameters.")
      .def(
          "with_parameters", [](const Model &self, nb::sequence parameters) { return new Model(self, parameters); },
          nb::arg("parameters"), "The same code, threads and workspaces with other parameters.")
      .def("forward", &Model::forward, nb::arg("batch"), nb::arg("length"), nb::arg("inputs"), nb::arg("outputs"),
           nb::arg("lengths") = nb::none(),
           "Runs a batch: inputs (None: its default) and outputs are C-contiguous arrays in the manifest's order.")
      .def("fastest_call", &Model::fastestCall, nb::arg("batch"), nb::arg("length"), nb::arg("inputs"),
           nb::arg("outputs"), nb::arg("calls"),
           "Milliseconds of the fastest of `calls` calls, with no Python around each.")
      .def_prop_ro("manifest", [](const Model &self) { return convbert_rt_manifest(self.model); })
      .def_prop_ro("threads", [](const Model &self) { return convbert_rt_threads(self.model); })
      .def_prop_ro(
          "packed",
          [](const Model &self) {
            return nb::ndarray<nb::numpy, const uint8_t, nb::ndim<1>>(
                convbert_rt_packed(self.model), {static_cast<size_t>(convbert_rt_packed_bytes(self.model))},
                nb::find(self));
          },
          "The packed weights, as read-only bytes that live as long as the model.")
      .def_prop_ro("packed_bytes", [](const Model &self) { return convbert_rt_packed_bytes(self.model); })
      .def_prop_ro("workspace_bytes", [](const Model &self) { return convbert_rt_workspace_bytes(self.model); })
      .def_prop_ro("prepack_ms", [](const Model &self) { return convbert_rt_prepack_ms(self.model); });
}
