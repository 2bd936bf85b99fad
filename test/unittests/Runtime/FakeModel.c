/* A compiled object by hand: the functions that the compiler emits, small enough to know every answer.
 *
 * Two float32 parameters: table [vocab][4] and bias [4].  Packed: both, one after the other, one step each.
 * Inputs in order: input_ids, attention_mask, token_type_ids, position_ids.  Output 0, [B][T][4]:
 *   out[b][t][j] = table[id][j] + bias[j] + 1000 * mask + 100 * type + position
 * Output 1, [B][2] int64: row_start[b], address of the workspace modulo 64. */
#include <stdint.h>
#include <string.h>

typedef struct {
  void *allocated;
  char *data;
  int64_t offset, size, stride;
} Span;

#ifndef PACKED_BYTES
#define PACKED_BYTES (10 * 16 + 16)
#endif

int64_t _mlir_ciface_packed_bytes(void) { return PACKED_BYTES; }
int64_t _mlir_ciface_packed_layout(void) { return PACKED_BYTES; }
int64_t _mlir_ciface_prepack_steps(void) { return 2; }

static Span *element(const Span *table, int64_t i) { return (Span *)table->data + table->offset + i * table->stride; }

void _mlir_ciface_prepack(const Span *raw, const Span *packed, int64_t step, int32_t threads) {
  const Span *from = element(raw, step);
  memcpy(packed->data + (step == 0 ? 0 : element(raw, 0)->size), from->data + from->offset, from->size);
}

int64_t _mlir_ciface_workspace_bytes(const Span *shape, int32_t threads) {
  const int64_t *s = (const int64_t *)shape->data;
  return s[2 + s[0]] * 16 * threads;
}

#ifndef WITHOUT_FORWARD
void _mlir_ciface_forward(const Span *packed, const Span *inputs, const Span *outputs, const Span *workspace,
                          const Span *shape, int32_t threads) {
  const int64_t *s = (const int64_t *)shape->data;
  const int64_t batch = s[0], length = s[1], *start = s + 2, *lengths = s + 3 + batch;
  const float *table = (const float *)packed->data, *bias = table + 40;
  const int64_t *ids = (const int64_t *)element(inputs, 0)->data;
  const uint8_t *mask = (const uint8_t *)element(inputs, 1)->data;
  const int64_t *types = (const int64_t *)element(inputs, 2)->data;
  const int64_t *positions = (const int64_t *)element(inputs, 3)->data;
  float *out = (float *)element(outputs, 0)->data;
  int64_t *info = (int64_t *)element(outputs, 1)->data;
  memset(workspace->data, 0xff, workspace->size);
  for (int64_t b = 0; b < batch; ++b) {
    info[2 * b] = start[b];
    info[2 * b + 1] = (int64_t)((uintptr_t)workspace->data % 64);
    for (int64_t t = 0; t < lengths[b]; ++t)
      for (int64_t j = 0; j < 4; ++j) {
        int64_t i = b * length + t;
        out[4 * i + j] = table[4 * ids[i] + j] + bias[j] + 1000 * mask[i] + 100 * types[i] + positions[i];
      }
  }
}
#endif
