/* The runtime's C interface: loads a compiled model, maps and packs its weights, and runs it.
 *
 * Needs neither the compiler nor LLVM.  All strings are UTF-8.  Functions that can fail return a convbert_rt_status
 * and, unless it is CONVBERT_RT_OK, store a one-line message in *error (if `error` is not NULL), to be freed with
 * convbert_rt_string_free().  A model may be used by several threads at once. */
#ifndef CONVBERT_RT_H
#define CONVBERT_RT_H

#include <stdint.h>

#if defined(__GNUC__)
#define CONVBERT_RT_EXPORT __attribute__((visibility("default")))
#else
#define CONVBERT_RT_EXPORT
#endif

#ifdef __cplusplus
extern "C" {
#endif

typedef enum {
  CONVBERT_RT_OK = 0,
  CONVBERT_RT_INVALID_ARGUMENT = 1, /* a batch, an input or the thread count: the model stays usable */
  CONVBERT_RT_FAILURE = 2           /* the compiled object, the weights or the machine */
} convbert_rt_status;

typedef struct convbert_rt_model convbert_rt_model;

/* Loads a model.
 *
 * `description` is a JSON object:
 *   "object"    path of the compiled shared object
 *   "manifest"  {"vocab_size", "max_positions", "type_vocab_size", "min_row_pitch", "inputs", "outputs", "parameters"};
 *               inputs, outputs and parameters are lists of {"name", "dtype", "shape"}, where a shape's entries are
 *               numbers, "B" (sequences), "T" (tokens of the longest one) or {"tokens": [[extra, stride], ...]}, the
 *               tokens that convolutions make of these, floor((T + extra) / stride) + 1 each; integers may also have a
 *               "limit" below which all must be; the first three members are missing where a model has no such table
 *   "weights"   [{"file", "offset", "bytes"}, ...], one for each parameter, offsets from the start of the file
 *   "packed"    instead of "weights": a file with the bytes of convbert_rt_packed() of such a model
 * Other members are ignored.  The weight files are mapped, packed for the compiled code, and unmapped again; a packed
 * one stays mapped, and processes share it.
 *
 * `threads` is the number of threads of a call; 0: the CPUs that this process may use; 1: no second thread is made. */
CONVBERT_RT_EXPORT convbert_rt_status convbert_rt_load(const char *description, int32_t threads,
                                                       convbert_rt_model **model, char **error);

/* As convbert_rt_load(), for another set of outputs or inputs of the checkpoint that `like` is of: the two share one
 * copy of the packed weights, if their compiled objects read them in the same layout and they come from the same files.
 * `like` may be NULL, and may be freed before the new model. */
CONVBERT_RT_EXPORT convbert_rt_status convbert_rt_load_like(const char *description, int32_t threads,
                                                            const convbert_rt_model *like, convbert_rt_model **model,
                                                            char **error);

/* As convbert_rt_load(), with the parameters in memory: `count` dense row-major arrays in the manifest's order, of
 * `bytes` each.  "weights" of the description is not looked at.  The arrays are read before this returns, and not
 * later.
 */
CONVBERT_RT_EXPORT convbert_rt_status convbert_rt_load_arrays(const char *description, const void *const *parameters,
                                                              const int64_t *bytes, int32_t count, int32_t threads,
                                                              convbert_rt_model **model, char **error);

/* A model with the code, the threads and the workspaces of `like`, which may be freed first, and other parameters. */
CONVBERT_RT_EXPORT convbert_rt_status convbert_rt_with_arrays(const convbert_rt_model *like,
                                                              const void *const *parameters, const int64_t *bytes,
                                                              int32_t count, convbert_rt_model **model, char **error);

/* The functions of compiled code (`_mlir_ciface_*` of a compiled object).  Their arguments are MLIR's descriptors of
 * memrefs: `shape` is a memref<?xi64>, `packed` and `workspace` are memref<?xi8>, the others memref<?xmemref<?xi8>>. */
typedef struct {
  int64_t (*packed_bytes)(void);
  int64_t (*prepack_steps)(void);
  int64_t (*workspace_bytes)(const void *shape, int32_t threads);
  void (*prepack)(const void *raw, const void *packed, int64_t step, int32_t threads);
  void (*forward)(const void *packed, const void *inputs, const void *outputs, const void *workspace, const void *shape,
                  int32_t threads);
} convbert_rt_functions;

/* As convbert_rt_load(), for code that is in this process already (linked in, or compiled by a JIT) and that outlives
 * the model.  "object" of the description is a name for messages; nothing is loaded. */
CONVBERT_RT_EXPORT convbert_rt_status convbert_rt_load_functions(const char *description,
                                                                 const convbert_rt_functions *functions,
                                                                 int32_t threads, convbert_rt_model **model,
                                                                 char **error);

/* Frees a model that no call is using.  NULL is allowed. */
CONVBERT_RT_EXPORT void convbert_rt_free(convbert_rt_model *model);

/* Runs a batch of `batch` sequences, dense row-major arrays of [batch][length] with length = tokens of the longest one.
 *
 * `lengths`: tokens of each sequence; NULL: all have `length` (padding is then computed like any token and masked in
 * attention only, as `transformers` does).
 * `inputs`, `outputs`: one pointer for each of the manifest's, in its order.  An input may be NULL unless
 * it is input_ids or float32: attention_mask is then all ones, token_type_ids zeros, position_ids 0 .. length-1.  dtype
 * "bool" is one byte, 0 or 1.  Output rows at or beyond a sequence's length are not written.  Outputs
 * may overlap neither inputs nor each other: they may be written while inputs are still read.
 *
 * Every id is checked before any table is read.  The first call of a shape may allocate, later ones do not. */
CONVBERT_RT_EXPORT convbert_rt_status convbert_rt_forward(convbert_rt_model *model, int64_t batch, int64_t length,
                                                          const int64_t *lengths, const void *const *inputs,
                                                          void *const *outputs, char **error);

/* The "manifest" member as given to convbert_rt_load(); lives as long as the model. */
CONVBERT_RT_EXPORT const char *convbert_rt_manifest(const convbert_rt_model *model);

CONVBERT_RT_EXPORT int32_t convbert_rt_num_inputs(const convbert_rt_model *model);
CONVBERT_RT_EXPORT int32_t convbert_rt_num_outputs(const convbert_rt_model *model);

/* Bytes of input / output number `index` for a batch; -1 if there is no such one or the size overflows. */
CONVBERT_RT_EXPORT int64_t convbert_rt_input_bytes(const convbert_rt_model *model, int32_t index, int64_t batch,
                                                   int64_t length);
CONVBERT_RT_EXPORT int64_t convbert_rt_output_bytes(const convbert_rt_model *model, int32_t index, int64_t batch,
                                                    int64_t length);

/* Threads of a call. */
CONVBERT_RT_EXPORT int32_t convbert_rt_threads(const convbert_rt_model *model);
/* The packed weights, which live as long as the model, and their bytes. */
CONVBERT_RT_EXPORT const void *convbert_rt_packed(const convbert_rt_model *model);
CONVBERT_RT_EXPORT int64_t convbert_rt_packed_bytes(const convbert_rt_model *model);
/* Bytes that all workspaces hold now. */
CONVBERT_RT_EXPORT int64_t convbert_rt_workspace_bytes(const convbert_rt_model *model);
/* Milliseconds that mapping and packing the weights took. */
CONVBERT_RT_EXPORT double convbert_rt_prepack_ms(const convbert_rt_model *model);

/* CPUs that this process may use: its affinity mask, cut to the CPU quota of its control group. */
CONVBERT_RT_EXPORT int32_t convbert_rt_available_cpus(void);

/* Multiply-adds times two that `threads` threads do in a second without touching memory, in 1e9; about `seconds` are
 * spent on it.  `isa` is "generic" (SSE), "avx2", "avx512" or "avx512bf16"; 0 if this CPU lacks it. */
CONVBERT_RT_EXPORT double convbert_rt_fma_peak(const char *isa, int32_t threads, double seconds);

CONVBERT_RT_EXPORT void convbert_rt_string_free(char *string);

#ifdef __cplusplus
}
#endif

#endif /* CONVBERT_RT_H */
