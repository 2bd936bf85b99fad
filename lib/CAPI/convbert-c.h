/* The compiler's C interface.  All strings are UTF-8.  Functions may be called by several threads at once. */
#ifndef CONVBERT_C_H
#define CONVBERT_C_H

#include <stddef.h>

#if defined(__GNUC__)
#define CONVBERT_EXPORT __attribute__((visibility("default")))
#else
#define CONVBERT_EXPORT
#endif

#ifdef __cplusplus
extern "C" {
#endif

/* Imports the checkpoint in `directory` and compiles it, or finds the shared object in the cache.
 *
 * `options_json` is NULL or a JSON object; every member is optional:
 *   "target"     "native" (default), "x86-64-v2", "x86-64-v3", "x86-64-v4" or "x86-64-v4-bf16"; this machine must be
 *                able to run it
 *   "dtype"      what matrix products multiply: "float32" (default), or "bfloat16", which a target with AVX512_BF16 can
 *   "weights"    what the weights of matrix products are stored as: "f32" (default) or "bf16"
 *   "outputs"    array of further outputs: "hidden_states", "attentions", "conv_kernels", and "steps": all that
 *                is computed on the way, for verification
 *   "inputs"     array of further inputs: "head_mask"; "inputs_embeds": vectors in place of input_ids
 *   "cache_dir"  where compiled objects are kept; default $CONVBERT_CACHE, else $XDG_CACHE_HOME/convbert, else
 *                ~/.cache/convbert.  One that cannot be written to is replaced by a new temporary directory.
 *   "dump_dir"   where to leave the module after each phase (compiles even if the object is in the cache)
 *
 * Returns a JSON object, to be freed with convbert_string_free():
 *   "object"     path of the shared object           "cached"     whether it was there already
 *   "compile_ms" time of all phases, 0 if cached     "phases_ms"  time of each
 *   "import_ms"  time of reading the checkpoint      "target"     {"name", "isa", "cpu"}
 *   "manifest"   what the model takes and gives      "weights"    [{"name", "file", "offset", "bytes"}, ...]
 *   "dtype"      the option                          "stored_weights"  what weights were made: "f32" or "bf16"
 *   "steps"      if asked for: the module after phase simplify, layers inlined, in generic form; the outputs of the
 *                manifest then say which operation computes them ("op"), and "where" that is
 * or NULL with a one-line message in *error (if `error` is not NULL), to be freed too. */
CONVBERT_EXPORT char *convbert_compile_checkpoint(const char *directory, const char *options_json, char **error);

/* Imports the checkpoint in `directory` and compiles nothing.
 *
 * `options_json` as above; of its members "outputs", "inputs" and "cache_dir" are used.  Returns a JSON object, to be
 * freed: "manifest", "weights"  as above                  "notes"  what a user should know, one line each "parameters"
 * their number of elements "cost"                 {operation: {"count": n, "macs": [c0, c1, c2]}}: B * (c0 + c1 * T +
 * c2 * T^2) multiply-accumulates for B sequences of T tokens or NULL with a one-line message in *error (if `error` is
 * not NULL), to be freed too. */
CONVBERT_EXPORT char *convbert_inspect_checkpoint(const char *directory, const char *options_json, char **error);

/* Compiles a function that is no checkpoint, or finds its shared object in the cache.
 *
 * `ir` is the text or the bytecode (`bytes` bytes) of a module of the dialect with one public function, which takes
 * tensors of f32 (B x T x C, B x C, or static), i1 (B x T) and i64 (B x T, rows of tables), and gives tensors of f32.
 * Its weights are `ml_program.global`s with `#ml_program.extern` values.  An attribute `convbert.name` names an
 * argument or a result.
 *
 * `options_json` as above; of its members "target", "dtype", "weights", "cache_dir" and "dump_dir" are used.  Returns a
 * JSON object as convbert_compile_checkpoint() does, without "weights" and "files": the runtime takes the arrays
 * themselves (convbert_rt_load_arrays). */
CONVBERT_EXPORT char *convbert_compile_module(const char *ir, size_t bytes, const char *options_json, char **error);

/* Says what the operations of such a module cost, and compiles nothing.
 *
 * `options_json` is NULL or a JSON object with "batch" and "length" (default 1).  Returns a JSON object, to be freed:
 *   "operations"  [{"operation", "where", "parameters", "macs", "reads", "writes"}, ...], the last two in bytes
 * or NULL with a one-line message in *error (if `error` is not NULL), to be freed too. */
CONVBERT_EXPORT char *convbert_inspect_module(const char *ir, size_t bytes, const char *options_json, char **error);

/* Explains the checkpoint in `directory`: class, geometry, parameters, multiply-accumulates by length, every tensor
 * with type and shape.  Returns lines of text (free them with convbert_string_free), or NULL.  If the checkpoint cannot
 * be compiled, *error says why in one line (free it too); a text that is returned then holds what can be said all the
 * same. */
CONVBERT_EXPORT char *convbert_explain_checkpoint(const char *directory, char **error);

/* The version of the compiler, e.g. "0.1.0"; not to be freed. */
CONVBERT_EXPORT const char *convbert_version(void);

/* Frees a string that another function returned.  NULL is allowed. */
CONVBERT_EXPORT void convbert_string_free(char *string);

#ifdef __cplusplus
}
#endif

#endif /* CONVBERT_C_H */
