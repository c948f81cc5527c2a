/* gmon.out, what gprof reads: histograms of samples, or of another quantity, and calls by address.
 * Source: GNU gprof, section 9.2 "Profiling Data File Format"; binutils, gprof/gmon_out.h and
 * gmon_io.c for the number of bins, the width of counts, and version 0. */
#ifndef PROFILER_VIEWS_GMON_H
#define PROFILER_VIEWS_GMON_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "probe/base/err.h"
#include "profiler/views/pc_counts.h"

enum {
    GMON_HEADER_BYTES = 20,
    GMON_DIMENSION_BYTES = 15,
    GMON_BIN_MOST = 65535 /* a bin has 16 bits */
};
enum gmon_tag { GMON_HISTOGRAM = 0, GMON_ARC = 1, GMON_BLOCKS = 2 };

/* How numbers stand in a file, which does not say it: as in the program. */
struct gmon_shape {
    bool big;
    unsigned address_bytes; /* 4 or 8 */
};

struct gmon_file {
    struct pc_counts counts;
    char dimension[GMON_DIMENSION_BYTES + 1]; /* of histograms: "seconds", or what was counted */
    uint32_t rate; /* of the first one: so many make one of the dimension */
    size_t blocks; /* records of basic blocks, which were skipped */
};

/* gmon_is - whether a file that begins so is one. */
bool gmon_is(const uint8_t *head, size_t n);

/* gmon_decode - the whole of a file
 * shape  the program's; NULL: that in which all of the file can be read
 * out    gmon_free()
 * Returns 0; -ERR_FORMAT, with the offset: no header, another version, cut short, a record or a
 * range that cannot be, histograms of two dimensions; -ERR_NOMEM. */
int gmon_decode(const uint8_t *data, size_t len, const struct gmon_shape *shape,
                struct gmon_file **out, struct err *err);

/* gmon_free - NULL is fine. */
void gmon_free(struct gmon_file *f);

#endif
