// The C interface over Model: exceptions become a status and a message.
#include "lib/Runtime/convbert-rt.h"

#include "lib/Runtime/Error.h"
#include "lib/Runtime/FMAPeak.h"
#include "lib/Runtime/Model.h"
#include "lib/Runtime/Threads.h"

#include <cstdlib>
#include <cstring>
#include <new>

using namespace convbert::rt;

struct convbert_rt_model {
  Model model;
};

static convbert_rt_status report(char **error, const char *message, convbert_rt_status status) {
  if (error)
    *error = strdup(message);
  return status;
}

template <typename Action> static convbert_rt_status guarded(char **error, Action action) {
  if (error)
    *error = nullptr;
  try {
    action();
    return CONVBERT_RT_OK;
  } catch (const InvalidArgument &e) {
    return report(error, e.what(), CONVBERT_RT_INVALID_ARGUMENT);
  } catch (const std::bad_alloc &) {
    return report(error, "out of memory", CONVBERT_RT_FAILURE);
  } catch (const std::exception &e) {
    return report(error, e.what(), CONVBERT_RT_FAILURE);
  }
}

convbert_rt_status convbert_rt_load(const char *description, int32_t threads, convbert_rt_model **model, char **error) {
  return convbert_rt_load_like(description, threads, /*like=*/nullptr, model, error);
}

convbert_rt_status convbert_rt_load_like(const char *description, int32_t threads, const convbert_rt_model *like,
                                         convbert_rt_model **model, char **error) {
  *model = nullptr;
  return guarded(error, [&] {
    if (!description)
      throw InvalidArgument("description: requires JSON text, but found none");
    *model = new convbert_rt_model{Model(description, threads, like ? &like->model : nullptr)};
  });
}

convbert_rt_status convbert_rt_load_functions(const char *description, const convbert_rt_functions *functions,
                                              int32_t threads, convbert_rt_model **model, char **error) {
  *model = nullptr;
  return guarded(error, [&] {
    if (!description || !functions)
      throw InvalidArgument("description and functions: requires both, but found none");
    *model = new convbert_rt_model{Model(description, *functions, threads)};
  });
}

static Arrays arraysOf(const void *const *parameters, const int64_t *bytes, int32_t count) {
  Arrays arrays;
  for (int32_t i = 0; i < count; ++i)
    arrays.emplace_back(parameters[i], bytes[i]);
  return arrays;
}

convbert_rt_status convbert_rt_load_arrays(const char *description, const void *const *parameters, const int64_t *bytes,
                                           int32_t count, int32_t threads, convbert_rt_model **model, char **error) {
  *model = nullptr;
  return guarded(error, [&] {
    if (!description)
      throw InvalidArgument("description: requires JSON text, but found none");
    *model = new convbert_rt_model{Model(description, arraysOf(parameters, bytes, count), threads)};
  });
}

convbert_rt_status convbert_rt_with_arrays(const convbert_rt_model *like, const void *const *parameters,
                                           const int64_t *bytes, int32_t count, convbert_rt_model **model,
                                           char **error) {
  *model = nullptr;
  return guarded(error,
                 [&] { *model = new convbert_rt_model{Model(like->model, arraysOf(parameters, bytes, count))}; });
}

void convbert_rt_free(convbert_rt_model *model) { delete model; }

convbert_rt_status convbert_rt_forward(convbert_rt_model *model, int64_t batch, int64_t length, const int64_t *lengths,
                                       const void *const *inputs, void *const *outputs, char **error) {
  return guarded(error, [&] { model->model.forward(batch, length, lengths, inputs, outputs); });
}

const char *convbert_rt_manifest(const convbert_rt_model *model) { return model->model.manifestText().c_str(); }

int32_t convbert_rt_num_inputs(const convbert_rt_model *model) {
  return static_cast<int32_t>(model->model.manifest().inputs.size());
}

int32_t convbert_rt_num_outputs(const convbert_rt_model *model) {
  return static_cast<int32_t>(model->model.manifest().outputs.size());
}

static int64_t bytesOf(const std::vector<ArrayInfo> &arrays, int32_t index, int64_t batch, int64_t length) {
  if (index < 0 || static_cast<size_t>(index) >= arrays.size())
    return -1;
  return arrays[index].bytes(batch, length);
}

int64_t convbert_rt_input_bytes(const convbert_rt_model *model, int32_t index, int64_t batch, int64_t length) {
  return bytesOf(model->model.manifest().inputs, index, batch, length);
}

int64_t convbert_rt_output_bytes(const convbert_rt_model *model, int32_t index, int64_t batch, int64_t length) {
  return bytesOf(model->model.manifest().outputs, index, batch, length);
}

int32_t convbert_rt_threads(const convbert_rt_model *model) { return model->model.threadCount(); }
const void *convbert_rt_packed(const convbert_rt_model *model) { return model->model.packedData(); }
int64_t convbert_rt_packed_bytes(const convbert_rt_model *model) { return model->model.packedBytes(); }
int64_t convbert_rt_workspace_bytes(const convbert_rt_model *model) { return model->model.workspaceBytes(); }
double convbert_rt_prepack_ms(const convbert_rt_model *model) { return model->model.prepackMilliseconds(); }
int32_t convbert_rt_available_cpus(void) { return availableCPUs(); }

double convbert_rt_fma_peak(const char *isa, int32_t threads, double seconds) {
  if (!isa || threads < 1)
    return 0;
  try {
    return measureFMAPeak(isa, threads, seconds);
  } catch (const std::exception &) { // no thread could be made
    return 0;
  }
}

void convbert_rt_string_free(char *string) { std::free(string); }
