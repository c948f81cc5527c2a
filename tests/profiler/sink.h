/* What several tests of the profiler share. */
#ifndef TESTS_PROFILER_SINK_H
#define TESTS_PROFILER_SINK_H

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "probe/base/sink.h"

#define FIXTURES SOURCE_DIR "/tests/profiler/data/"

/* A text sink into memory. Zero-initialise, sink_to(), sink_text(), sink_free(). */
struct memory_sink {
    char *text;
    size_t len, cap;
    struct text_sink sink;
};
const struct text_sink *sink_to(struct memory_sink *m);
const char *sink_text(const struct memory_sink *m); /* "" if nothing came */
void sink_free(struct memory_sink *m);

/* A folder of its own for a test's files; removed with what is in it by temp_remove(). */
char *temp_folder(void);                               /* caller gives it to temp_remove() */
char *temp_path(const char *folder, const char *name); /* caller frees */
void temp_remove(char *folder);

/* Whole file; asserts that it can be read. Caller frees. */
uint8_t *load_file(const char *path, size_t *len);
void store_file(const char *path, const void *data, size_t len);

/* Random numbers that are the same everywhere. */
uint64_t random_next(uint64_t *state);
uint32_t random_below(uint64_t *state, uint32_t n); /* 0..n-1 */

#endif
