/* Counts the allocations and new threads of repeated calls of a compiled model:
 *
 *   convbert-count-allocations DESCRIPTION.json THREADS BATCHxLENGTH...
 *
 * calls every shape twice and then ten times more, and prints "allocations N threads N before N": allocations of
 * the latter calls, threads made in all, allocations of loading and the first two calls. */
#define _GNU_SOURCE
#include "lib/Runtime/convbert-rt.h"

#include <dlfcn.h>
#include <errno.h>
#include <pthread.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

static long allocations, threads;

extern void *__libc_malloc(size_t);
extern void *__libc_calloc(size_t, size_t);
extern void *__libc_realloc(void *, size_t);
extern void *__libc_memalign(size_t, size_t);

static void count(long *counter) { __atomic_add_fetch(counter, 1, __ATOMIC_RELAXED); }

/* In the executable, these stand before the C library's for every library of the process. */
void *malloc(size_t size) {
  count(&allocations);
  return __libc_malloc(size);
}
void *calloc(size_t number, size_t size) {
  count(&allocations);
  return __libc_calloc(number, size);
}
void *realloc(void *block, size_t size) {
  count(&allocations);
  return __libc_realloc(block, size);
}
void *memalign(size_t alignment, size_t size) {
  count(&allocations);
  return __libc_memalign(alignment, size);
}
void *aligned_alloc(size_t alignment, size_t size) { return memalign(alignment, size); }
int posix_memalign(void **block, size_t alignment, size_t size) {
  *block = memalign(alignment, size);
  return *block ? 0 : ENOMEM;
}
void *mmap(void *address, size_t size, int protection, int flags, int file, off_t offset) {
  static void *(*next)(void *, size_t, int, int, int, off_t);
  if (!next)
    next = (void *(*)(void *, size_t, int, int, int, off_t))dlsym(RTLD_NEXT, "mmap");
  count(&allocations);
  return next(address, size, protection, flags, file, offset);
}
int pthread_create(pthread_t *thread, const pthread_attr_t *attributes, void *(*start)(void *), void *argument) {
  static int (*next)(pthread_t *, const pthread_attr_t *, void *(*)(void *), void *);
  if (!next)
    next = (int (*)(pthread_t *, const pthread_attr_t *, void *(*)(void *), void *))dlsym(RTLD_NEXT, "pthread_create");
  count(&threads);
  return next(thread, attributes, start, argument);
}

static char *readFile(const char *path) {
  FILE *file = fopen(path, "rb");
  if (!file)
    return NULL;
  char *text = calloc(1, 1 << 24);
  size_t size = fread(text, 1, (1 << 24) - 1, file);
  fclose(file);
  text[size] = 0;
  return text;
}

int main(int argc, char **argv) {
  char *text = argc > 3 ? readFile(argv[1]) : NULL, *error = NULL;
  if (!text) {
    fprintf(stderr, "usage: %s DESCRIPTION.json THREADS BATCHxLENGTH...\n", argv[0]);
    return 2;
  }
  convbert_rt_model *model;
  int load = convbert_rt_load(text, atoi(argv[2]), &model, &error);
  int32_t outputs = load == CONVBERT_RT_OK ? convbert_rt_num_outputs(model) : 0;
  void *results[64];
  long before = 0;
  for (int repeat = 0; load == CONVBERT_RT_OK && repeat < 12; ++repeat) {
    for (int i = 3; i < argc; ++i) {
      long batch = 0, length = 0;
      sscanf(argv[i], "%ldx%ld", &batch, &length);
      /* The caller's own arrays are not what is counted. */
      long own = allocations;
      int64_t *ids = calloc(batch * length, sizeof(int64_t));
      for (int32_t k = 0; k < outputs; ++k)
        results[k] = calloc(1, convbert_rt_output_bytes(model, k, batch, length));
      own = allocations - own;
      const void *inputs[4] = {ids};
      load = convbert_rt_forward(model, batch, length, NULL, inputs, results, &error);
      if (load != CONVBERT_RT_OK)
        break;
      for (int32_t k = 0; k < outputs; ++k)
        free(results[k]);
      free(ids);
      allocations -= own;
    }
    if (repeat == 1)
      before = allocations;
  }
  if (load != CONVBERT_RT_OK) {
    fprintf(stderr, "%s\n", error);
    return 1;
  }
  printf("allocations %ld threads %ld before %ld\n", allocations - before, threads, before);
  convbert_rt_free(model);
  free(text);
  return 0;
}
