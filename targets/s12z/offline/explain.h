/* Which of the unconfirmed encodings make a stream fit the program: the named settings, and trying
 * combinations of them. */
#ifndef TARGETS_S12Z_OFFLINE_EXPLAIN_H
#define TARGETS_S12Z_OFFLINE_EXPLAIN_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "probe/base/err.h"
#include "targets/s12z/settings.h"
#include "targets/s12z/trace/flow.h"
#include "targets/s12z/trace/stream.h"

/* One setting marked [stream] in settings.h. Its values are 0..nvalues-1, each with a name, and the
 * default is first. */
struct s12z_setting {
    const char *name;
    const char *values[4]; /* ends with NULL */
    const char *meaning;
    void (*set)(struct s12z_settings *s, unsigned value);
    unsigned (*get)(const struct s12z_settings *s);
    bool edges_only; /* of no effect unless the input is edges */
    bool wire_only;  /* of no effect on whole 8-byte lines */
};

/* s12z_setting_list - all, ends with a NULL name. */
const struct s12z_setting *s12z_setting_list(void);

/* s12z_setting_parse - "pthf=5" into out. Returns 0; -ERR_USAGE naming the settings, or the values
 * of this one. */
int s12z_setting_parse(struct s12z_settings *out, const char *text, struct err *err);

/* What a pass over the stream found. Zero-initialise. */
struct s12z_fit {
    uint64_t lines, bad; /* lines decoded; stretches that are none */
    uint64_t walked;     /* lines that fitted the program */
    uint64_t misfits;    /* lines that did not */
    uint64_t astray;     /* returns to another place than behind their call */
    uint64_t unplaced;   /* lines without a known position */
    unsigned pthf;       /* bytes of a PTHF as the stream itself shows; 0: it does not */
    /* how many stamps are near the time since the last line, and near that since the last change of
     * flow, where these two differ */
    uint64_t from_line, from_flow;
};

enum { S12Z_FITTING_LEVELS = 16 };
/* A pass under way. Zero-initialise; then set flow. */
struct s12z_fitting {
    struct s12z_fit fit;
    struct s12z_flow *flow;       /* borrowed; made with s12z_fit_event and the struct as its ctx */
    const struct s12z_line *line; /* being walked */
    /* the walker's core cycles at the last line, with what ran of the node under way; and its waits
     * then */
    uint64_t origin, waits;
    uint32_t resumed; /* where in that node the program went on; else its entry */
    unsigned nlevels; /* handlers under way, each with its PTVB's stamp */
    /* deeper ones are not judged */
    struct {
        uint32_t node, resumed;
        uint16_t stamp;
        uint64_t since_line;
        bool usable;
    } level[S12Z_FITTING_LEVELS];
};

/* s12z_fit_item - takes the next item of a pass: walks it and counts. Returns 0 or -ERR_NOMEM. */
int s12z_fit_item(struct s12z_fitting *x, const struct s12z_item *i);

/* s12z_fit_event - for s12z_flow_new(). */
void s12z_fit_event(void *ctx, const struct event *e);

/* s12z_fit_is_clean - whether lines were walked, none was bad, and all fitted. */
bool s12z_fit_is_clean(const struct s12z_fit *f);

/* Makes one pass with these settings, over at most so many lines (items of either kind). Returns 0
 * or -ERR_*. */
typedef int s12z_try(void *ctx, const struct s12z_settings *s, uint64_t max_lines,
                     struct s12z_fit *out, struct err *err);

enum {
    S12Z_MAX_CHANGES = 4,
    S12Z_MAX_VARIANTS = 192,
    S12Z_MAX_SETTINGS = 12,
    S12Z_EXPLAIN_LINES = 200000
};
struct s12z_variant {
    struct s12z_settings settings;
    unsigned nchanges; /* how many settings are not as given */
    struct s12z_fit fit;
    bool failed;
    bool fits; /* clean, and no other follows more of the stream */
};

struct s12z_explained {
    struct s12z_settings given;
    /* in the order tried: as given, each setting alone, combinations */
    struct s12z_variant row[S12Z_MAX_VARIANTS];
    size_t n;
    bool any_fits; /* some variant fits; then: */
    /* the row with the fewest changes that does. None fits: the row that comes nearest */
    size_t best;
    /* by place in the list: the stream fits as well with another value of the setting */
    bool undecided[S12Z_MAX_SETTINGS];
};

/* s12z_explain - tries settings on a stream: those given; each other value of each alone; if
 * nothing fits, all pairs of these, then up to four changes at once, beginning with the pairs that
 * come nearest; at last each setting around the best. What stamps count from does not change what
 * fits. The best variant's stamps show it, where interrupts came long enough after lines and soon
 * enough after branches. Makes at most S12Z_MAX_VARIANTS passes of S12Z_EXPLAIN_LINES lines.
 * edges      the input has edges
 * wire       it has a wire's bytes or edges
 * progress   may be NULL; called before each pass with how many were made
 * Returns 0 or -ERR_*. */
int s12z_explain(const struct s12z_settings *given, bool edges, bool wire, s12z_try *pass,
                 void (*progress)(void *ctx, size_t made), void *ctx, struct s12z_explained *out,
                 struct err *err);

/* s12z_explained_other - another explanation of the stream: the next row behind `from` that fits
 * and differs from the best in a setting that is not undecided; -1: none. Start with 0. */
int s12z_explained_other(const struct s12z_explained *e, size_t from);

#endif
