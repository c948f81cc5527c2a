/* Writers of formats that other people's programs read. Each is a row of exporters.c and has the
 * signature of its `write`; docs/formats.md says what other programs read of them, and which
 * programs were tried. */
#ifndef PROFILER_VIEWS_EXPORT_H
#define PROFILER_VIEWS_EXPORT_H

#include "profiler/views/exporters.h"

/* export_folded - a line a call path, one number each: o->value, by default C1, or hits where
 * nothing was counted. Source: brendangregg/FlameGraph, flamegraph.pl, head comment. */
int export_folded(const struct profile *p, const struct report_options *o,
                  const struct text_sink *out, struct err *err);

/* export_speedscope - a "sampled" profile a column. Source: jlfwong/speedscope,
 * src/lib/file-format-spec.ts. */
int export_speedscope(const struct profile *p, const struct report_options *o,
                      const struct text_sink *out, struct err *err);

/* export_callgrind - functions, and calls between them with all columns; calls of a recursive
 * function are counted so that self and calls add up to its C1+children. Source: Valgrind 3.19
 * manual, "Callgrind Format Specification". */
int export_callgrind(const struct profile *p, const struct report_options *o,
                     const struct text_sink *out, struct err *err);

/* export_gmon - GNU's gmon.out: o->value as a histogram, of samples o->buckets; calls as arcs, in
 * the byte order and with the addresses of o->symbols (NULL: little-endian). Source: GNU
 * binutils 2.40, gprof manual, "File Format"; the number of bins is what gprof's hist.c reads, not
 * what the manual says. */
int export_gmon(const struct profile *p, const struct report_options *o,
                const struct text_sink *out, struct err *err);

/* export_prof1 - HP's file for prof and gprof: samples in buckets (o->buckets), or of a trace call
 * counts and arcs; what it cannot hold is told to o->notes. Source: PA-64, section 6. */
int export_prof1(const struct profile *p, const struct report_options *o,
                 const struct text_sink *out, struct err *err);

/* export_pprof - gzipped profile.proto. Source: google/pprof, proto/profile.proto. */
int export_pprof(const struct profile *p, const struct report_options *o,
                 const struct text_sink *out, struct err *err);

/* export_lcov - functions with their hits; lines and branches where the target counts exactly.
 * -ERR_USAGE without o->symbols, and of samples. Source: geninfo(1) of LCOV 1.16, "FILES". */
int export_lcov(const struct profile *p, const struct report_options *o,
                const struct text_sink *out, struct err *err);

/* What follows has when what ran: -ERR_USAGE without o->recording, and of samples. */

/* export_chrome - JSON trace events, B and E of spans (profiler/profile/spans.h). Source:
 * Google, "Trace Event Format", which catapult-project/catapult links to. */
int export_chrome(const struct profile *p, const struct report_options *o,
                  const struct text_sink *out, struct err *err);

/* export_ctf - the same spans as a Common Trace Format 1.8 trace: its metadata to out[0], its
 * stream to out[1]. Source: diamon.org, "CTF specification v1.8.3". */
int export_ctf(const struct profile *p, const struct report_options *o, const struct text_sink *out,
               struct err *err);

/* export_perfetto - the same spans as track events of a protobuf trace, losses as its readers count
 * them. Source: google/perfetto, protos/perfetto/trace. */
int export_perfetto(const struct profile *p, const struct report_options *o,
                    const struct text_sink *out, struct err *err);

#endif
