/* Readers of formats that other people's programs write, too. Each is a row of importers.c and has
 * the signature of its `is` and `read`; docs/formats.md says what each tells. */
#ifndef PROFILER_VIEWS_IMPORT_H
#define PROFILER_VIEWS_IMPORT_H

#include "profiler/views/importers.h"

/* import_folded - lines of "outer;inner 12": counter 1 on call paths, and nothing else. The last
 * blank separates the count, a name may have others; equal paths add up. Refused: decimals, files
 * of two counts a line (difffolded.pl). Source: brendangregg/FlameGraph, flamegraph.pl,
 * difffolded.pl, head comments. */
bool import_folded_is(const uint8_t *head, size_t n);
int import_folded(const uint8_t *data, size_t len, struct profile **out, struct err *err);

/* import_prof1 - HP's file for prof and gprof, which has addresses: samples, calls of functions.
 * The old format of 32 bits is known, and refused. Source: PA-64, section 6. */
bool import_prof1_is(const uint8_t *head, size_t n);
int import_prof1(const uint8_t *data, size_t len, const struct symbols *syms, struct profile **out,
                 struct err *err);

/* import_gmon - what gprof reads, gcc -pg's and our own: samples, or another quantity, and calls.
 * Source: gmon.h. */
bool import_gmon_is(const uint8_t *head, size_t n);
int import_gmon(const uint8_t *data, size_t len, const struct symbols *syms, struct profile **out,
                struct err *err);

/* import_pprof - gzipped profile.proto, or not compressed: call paths with the columns as counters:
 * the one that pprof shows is C1, "hits" of our own are hits, the first other is C2. Source:
 * google/pprof, proto/profile.proto. */
bool import_pprof_is(const uint8_t *head, size_t n);
int import_pprof(const uint8_t *data, size_t len, struct profile **out, struct err *err);

/* import_callgrind - functions, and calls between them: the first two events are the counters; the
 * file has no call paths. Totals are held against the sums. Our own file is read as it was meant
 * (creator: probeprof): [program] is nobody, and doubt is found again. Source: Valgrind 3.19
 * manual, "Callgrind Format Specification". */
bool import_callgrind_is(const uint8_t *head, size_t n);
int import_callgrind(const uint8_t *data, size_t len, struct profile **out, struct err *err);

#endif
