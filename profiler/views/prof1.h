/* HP's profile data file, "<PROF1>". Source: PA-64, section 6 ("Profile data file format"). */
#ifndef PROFILER_VIEWS_PROF1_H
#define PROFILER_VIEWS_PROF1_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "probe/base/err.h"
#include "profiler/views/pc_counts.h"

#define PROF1_MAGIC "<PROF1>\n"

enum { PROF1_MAGIC_BYTES = 8, PROF1_SAMPLES_HEADER = 40, PROF1_CALLS_HEADER = 24 };

/* Each begins with its type and its length, header included, in 8 bytes each; then come, in bytes:
 * of samples low pc (8), high pc (8), scale (4), bytes of a bucket (4), buckets; of calls their
 * number (4), bytes of a counter (4), the pc of each, or of arcs from and to (8 each), counters. */
enum prof1_section { PROF1_SAMPLES = 1, PROF1_CALL_COUNTS = 2, PROF1_CALL_ARCS = 3 };

/* What a file holds; sections of one type one behind the other. */
struct prof1_file {
    bool big;        /* the most significant byte first */
    unsigned others; /* sections of other types, which were skipped */
    struct pc_counts counts;
};

/* prof1_is - whether a file that begins so is one. */
bool prof1_is(const uint8_t *head, size_t n);

/* prof1_is_old - whether it looks like the 32-bit format that prof and gprof had before; a guess,
 * since those files do not say what they are. Source: PA-64, section 6; sys/gmon.h of 4.4BSD. */
bool prof1_is_old(const uint8_t *head, size_t n);

/* prof1_decode - the whole of a file; either byte order, by the type of the first section
 * out    prof1_free()
 * Returns 0; -ERR_FORMAT, with the offset: no header, cut short, a length or a number that cannot
 * be; -ERR_NOMEM. */
int prof1_decode(const uint8_t *data, size_t len, struct prof1_file **out, struct err *err);

/* prof1_free - NULL is fine. */
void prof1_free(struct prof1_file *f);

#endif
