/* Zeroed memory straight from the operating system, for large tables of which most stays untouched:
 * a page costs nothing until it is written, and a fence that traps stands at either end. */
#ifndef PROBE_BASE_PAGES_H
#define PROBE_BASE_PAGES_H

#include <stddef.h>

/* pages_new - bytes (> 0) of zeros, aligned to a page.
 * Returns NULL when memory is out. Ends with pages_free(). */
void *pages_new(size_t bytes);

/* pages_free - gives memory of pages_new() back; bytes is what was asked for. NULL is fine. */
void pages_free(void *at, size_t bytes);

#endif
