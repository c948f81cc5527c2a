/* Texts like "be,tck=10M,fault=unplug@2s+500ms": what follows a simulated board's name. Pure; no
 * allocation. */
#ifndef PROBE_BASE_OPTIONS_H
#define PROBE_BASE_OPTIONS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "probe/base/err.h"

enum { OPTIONS_MAX_TEXT = 1024 };

/* options_each - calls item() for every comma-separated NAME or NAME=VALUE (value "" without one),
 * in order
 * item   returns 0, or -ERR_*, which ends it; its strings are borrowed for the call
 * Returns 0, item's failure, or -ERR_USAGE for a text of OPTIONS_MAX_TEXT or more characters. */
int options_each(const char *text,
                 int (*item)(void *ctx, const char *name, const char *value, struct err *err),
                 void *ctx, struct err *err);

/* options_number - the digits at *p, which moves behind them
 * base   10, 16, or 0: as in C, 0x of hexadecimal ones
 * A sign or a blank is no digit: strtoull() takes "-1" for 18446744073709551615. Returns false, *p
 * and *out untouched, if there is none, or more than 64 bits. */
bool options_number(const char **p, int base, uint64_t *out);

/* options_hz - "10M", "500k", "1000000" within lo..hi; -ERR_USAGE names the option and the range.
 */
int options_hz(const char *name, const char *text, uint64_t lo, uint64_t hi, uint64_t *out,
               struct err *err);

/* options_text - a copy, -ERR_USAGE if it does not fit cap bytes with its end. */
int options_text(char *to, size_t cap, const char *text, struct err *err);

/* When a fault is there: KIND (always), KIND@N (from count N on, or one in N: the kind's business),
 * KIND@T+D (from time T on for a time D: "unplug@2s+500ms"), KIND@T+D/P (and again every P). */
struct options_fault {
    size_t kind;              /* index into kinds */
    uint64_t n;               /* 0: none given */
    uint64_t from_ns, for_ns; /* for_ns 0: none given */
    uint64_t every_ns;        /* 0: once */
};

/* options_fault - kinds ends with NULL; -ERR_USAGE lists them or shows the forms. */
int options_fault(const char *text, const char *const *kinds, struct options_fault *out,
                  struct err *err);

#endif
