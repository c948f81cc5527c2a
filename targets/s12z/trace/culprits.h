/* Which functions fill the module's buffer: their returns and other indirect jumps make the most of
 * the lines before each overflow. */
#ifndef TARGETS_S12Z_TRACE_CULPRITS_H
#define TARGETS_S12Z_TRACE_CULPRITS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "targets/image.h"

struct s12z_culprit {
    uint32_t low;
    const char *name; /* from the image, valid as long as that; NULL: unknown */
    uint64_t lines;
};

enum {
    S12Z_CULPRITS_LINES = 64, /* of the buffer */
    S12Z_CULPRITS_MOST = 64,
    S12Z_CULPRITS_CALLS = 1024
};

/* How a function is called, for the range without it. */
struct s12z_called {
    uint32_t low, site, back; /* of the last call; where it went back to, 0: not seen yet */
    uint32_t caller, size;    /* the function of the first site, once there are two */
    uint64_t times;
    bool sites, callers; /* several of them */
};

struct s12z_culprits {
    uint32_t line[S12Z_CULPRITS_LINES]; /* a ring: where the last lines were made */
    unsigned nlines;
    /* Functions by hash: only later it shows which of them are culprits. */
    struct s12z_called called[S12Z_CULPRITS_CALLS];
    struct s12z_culprit culprit[S12Z_CULPRITS_MOST];
    size_t n;
    const struct image_function *functions; /* borrowed: the image's */
    size_t nfunctions;
};

/* s12z_culprits_init - nothing is known; c has been zeroed. The image's functions must live as
 * long as c. */
void s12z_culprits_init(struct s12z_culprits *c, const struct image *image);

/* s12z_culprits_line - the instruction at pc has made a line with a destination. */
static inline void s12z_culprits_line(struct s12z_culprits *c, uint32_t pc)
{
    c->line[c->nlines++ % S12Z_CULPRITS_LINES] = pc;
}
/* s12z_culprits_forget_lines - what comes is not behind the lines seen so far. */
static inline void s12z_culprits_forget_lines(struct s12z_culprits *c) { c->nlines = 0; }
/* s12z_culprits_overflow - the buffer was full: who made the last lines has filled it. */
void s12z_culprits_overflow(struct s12z_culprits *c);

/* s12z_culprits_call, _return - the program called or returned, from pc to target: this is how
 * functions come to be called, and where they return to. */
void s12z_culprits_call(struct s12z_culprits *c, uint32_t pc, uint32_t target);
void s12z_culprits_return(struct s12z_culprits *c, uint32_t pc, uint32_t target);

/* s12z_culprits_range, _list - as s12z_events_range() and s12z_events_culprits(). */
bool s12z_culprits_range(const struct s12z_culprits *c, uint32_t *start, uint32_t *stop);
size_t s12z_culprits_list(const struct s12z_culprits *c, struct s12z_culprit *out, size_t cap);

#endif
