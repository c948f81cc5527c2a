/* Nearest names: what to offer when the user mistyped one. */
#ifndef PROBE_BASE_NEAREST_H
#define PROBE_BASE_NEAREST_H

#include <stddef.h>

enum { NEAREST_MAX = 3, NEAREST_TEXT = 160 };

/* A search for the names nearest to `wanted`. Zero-initialise but for `wanted`; offer every
 * candidate; then read the text. Names are borrowed until nearest_text(). */
struct nearest {
    const char *wanted;
    const char *name[NEAREST_MAX];
    unsigned distance[NEAREST_MAX];
    size_t n;
};

/* nearest_offer - consider one candidate. Far-off names (more edits than a third of the longer name
 * plus one, and no common substring) are dropped. */
void nearest_offer(struct nearest *n, const char *candidate);

/* nearest_text - "did you mean a, b or c?", or fallback if nothing came near
 * buf, cap   output, always terminated
 * Returns buf. */
char *nearest_text(const struct nearest *n, const char *fallback, char *buf, size_t cap);

/* edit_distance - insertions, deletions, substitutions and swaps of neighbours that turn a into b,
 * letters compared without case. Only the first 64 characters of each count. Pure. */
unsigned edit_distance(const char *a, const char *b);

#endif
