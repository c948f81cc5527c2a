/* Which of the unconfirmed encodings make a stream fit the program: named settings, and trying them out. */
#ifndef TARGETS_S12Z_TRACE_EXPLAIN_H
#define TARGETS_S12Z_TRACE_EXPLAIN_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "probe/base/err.h"
#include "targets/s12z/settings.h"

/* One setting marked [stream] in settings.h; values 0..nvalues-1, each with a name; the default first. */
struct s12z_setting {
    const char *name;
    const char *values[4]; /* ends with NULL */
    const char *meaning;
    void (*set)(struct s12z_settings *s, unsigned value);
    bool edges_only;       /* of no effect unless the input is edges */
    bool wire_only;        /* of no effect on whole 8-byte lines */
};

/* s12z_setting_list - all, ends with a NULL name. */
const struct s12z_setting *s12z_setting_list(void);

/* s12z_setting_parse - "pthf=5" into s. Returns 0; -ERR_USAGE naming the settings, or the values of this one. */
int s12z_setting_parse(struct s12z_settings *s, const char *text, struct err *err);

/* What a pass over the stream found. */
struct s12z_fit {
    uint64_t lines, bad;        /* lines decoded; stretches that are none */
    uint64_t walked;            /* lines that fitted the program */
    uint64_t misfits;           /* lines that did not */
    uint64_t astray;            /* returns to elsewhere than behind their call */
    uint64_t unplaced;          /* lines walked over without a position */
};

/* One pass with these settings. Returns 0 or -ERR_*. */
typedef int s12z_try(void *ctx, const struct s12z_settings *s, struct s12z_fit *out, struct err *err);

struct s12z_variant {
    const struct s12z_setting *setting; /* NULL: as given */
    unsigned value;
    struct s12z_fit fit;
    bool failed;
};

/* s12z_explain - tries the given settings, then each other value of each setting alone
 * edges, wire   whether the input has edges; whether it is a wire's bytes or edges
 * out           up to cap rows, the given settings first, the others as in the list
 * Returns how many rows, or -ERR_*. A row is consistent if s12z_fit_is_clean(). */
int s12z_explain(const struct s12z_settings *given, bool edges, bool wire, s12z_try *pass, void *ctx, struct s12z_variant *out, size_t cap,
                 struct err *err);

/* s12z_fit_is_clean - lines were walked, none was bad or did not fit. */
bool s12z_fit_is_clean(const struct s12z_fit *f);

#endif
