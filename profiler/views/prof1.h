/* HP's profile data file, "<PROF1>". Source: PA-64, section 6 ("Profile data file format"). */
#ifndef PROFILER_VIEWS_PROF1_H
#define PROFILER_VIEWS_PROF1_H

#define PROF1_MAGIC "<PROF1>\n"

enum { PROF1_MAGIC_BYTES = 8, PROF1_SAMPLES_HEADER = 40, PROF1_CALLS_HEADER = 24 };

/* Each begins with its type and its length, header included, in 8 bytes each; then come, in bytes:
 * of samples low pc (8), high pc (8), scale (4), bytes of a bucket (4), buckets; of calls their
 * number (4), bytes of a counter (4), the pc of each, or of arcs from and to (8 each), counters. */
enum prof1_section { PROF1_SAMPLES = 1, PROF1_CALL_COUNTS = 2, PROF1_CALL_ARCS = 3 };

#endif
