/* Folders of files that are either whole or not there: made under another name, then renamed. */
#ifndef PROFILER_CORE_FOLDER_ATOMIC_H
#define PROFILER_CORE_FOLDER_ATOMIC_H

#include <stdbool.h>
#include <stddef.h>

#include "probe/base/err.h"
#include "probe/base/sink.h"

enum { FOLDER_ATOMIC_FILES = 4 /* at most */ };

struct folder_atomic;

/* folder_atomic_open - a folder of n files, which is at path when it is closed
 * path   where nothing is, or an empty folder: what somebody else put there is not replaced
 * name   of each file; borrowed until closed
 * Returns 0; -ERR_IO, -ERR_NOMEM. */
int folder_atomic_open(const char *path, const char *const *name, size_t n,
                       struct folder_atomic **out, struct err *err);

/* folder_atomic_sink - whatever writes text adds it to file i. A failure is kept for the end. */
struct text_sink folder_atomic_sink(struct folder_atomic *f, size_t i);

/* folder_atomic_close - frees f. keep: the folder gets its name, unless something has failed; else,
 * and on failure, nothing stays. NULL is fine. Returns 0 or -ERR_IO. */
int folder_atomic_close(struct folder_atomic *f, bool keep, struct err *err);

#endif
