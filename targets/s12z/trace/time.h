/* What lines say of how long something took: stretches between lines, the functions that ran in
 * them by the cycle table, and the bus cycles they really took. There are two sources:
 *
 * - Stamps: a PTVB has the bus clocks since the line before it. The RTI's destination shows where
 * in its straight run the program was interrupted, so a stretch counts once that has come.
 * - Arrivals, where a capture gives them: a line that was sent at once (`prompt`) was made when its
 * sending began. From one such line to the next is a stretch, and lines that waited for others in
 * between lie inside of it. While that works, stamps are not needed.
 *
 * There is no stretch across gaps, overflow, and the ends of sessions; across waiting (WAI, STOP,
 * TSOVF, loops without a traced instruction, or far more time than estimated); with more functions
 * than S12Z_PARTS; or with a clock that changed. Nothing is allocated for a line. Without stamps
 * and arrivals a line costs two stores. */
#ifndef TARGETS_S12Z_TRACE_TIME_H
#define TARGETS_S12Z_TRACE_TIME_H

#include <stdbool.h>
#include <stdint.h>

#include "targets/event.h"
#include "targets/image.h"
#include "targets/s12z/settings.h"
#include "targets/s12z/trace/flow.h"
#include "targets/s12z/trace/line.h"
#include "targets/s12z/trace/rates.h"

enum {
    S12Z_TIME_LEVELS = 64 /* nested handlers, as the walker's */,
    S12Z_TIME_PARTS = 8 /* functions of a stamped stretch */
};

/* Functions are numbered as in the image; S12Z_NO_FUNCTION: code that belongs to none. */
#define S12Z_NO_FUNCTION UINT32_MAX

struct s12z_time_parts {
    struct s12z_share part[S12Z_PARTS];
    unsigned n;
    bool too_many;
};

/* A handler under way, and the stretch that its PTVB ended, which waits for the RTI. */
struct s12z_time_level {
    uint32_t node; /* entry of the straight run that was interrupted */
    bool hardware; /* else an exception by its own instruction */
    bool stamped;
    double measured;
    unsigned n;
    struct s12z_share part[S12Z_TIME_PARTS];
};

/* Initialise with s12z_time_init(). Fields are for reading. */
struct s12z_time {
    /* totals, bus cycles */
    uint64_t stretches, arrivals; /* by stamps, by arrivals */
    double measured, estimated;
    /* what stamps have measured beyond the estimate where the program waited */
    uint64_t waited;
    /* of measured/estimated, weighted by estimated: the sums of Welford's method */
    double weight, mean, square;
    struct s12z_rates rates;

    const struct image_function *functions; /* borrowed */
    size_t nfunctions;
    /* exceptions that led to each function; the last one is of code that belongs to none */
    uint64_t *entries;
    const struct s12z_flow *flow;          /* borrowed */
    const struct s12z_flow_totals *walked; /* its totals */
    bool stamps; /* stamps count from the line before; otherwise they are not used */
    bool traps;  /* exceptions by instructions make lines */
    /* since the last line: which code runs from when on, by the walker's total */
    struct {
        uint32_t pc;
        uint64_t core;
    } run[S12Z_PARTS];
    unsigned nrun;  /* 0: the place is not known; more than S12Z_PARTS: too many */
    uint64_t waits; /* the walker's, at the last line */
    /* where in run[0]'s straight run the stretch began; else its pc */
    uint32_t resumed;
    bool vague;             /* the stretch began somewhere in a straight run, at a TSOVF */
    bool entered, returned; /* the line under way entered a handler; it was an RTI's */
    bool failed;            /* out of memory inside of an event */
    struct s12z_time_level level[S12Z_TIME_LEVELS];
    unsigned nlevels;
    struct { /* the stretch from a prompt line on */
        bool open;
        unsigned level;
        uint64_t tick;
        double bus_ticks;
        struct s12z_time_parts parts;
    } chain;
};

/* s12z_time_init
 * image   its functions are borrowed until fini
 * flow    borrowed until fini; it has seen no line yet
 * set     copied as far as needed: what stamps count from, whether SWI and its like make lines
 * Returns 0 or -ERR_NOMEM; fini is fine then, too. */
int s12z_time_init(struct s12z_time *t, const struct image *image, const struct s12z_flow *flow,
                   const struct s12z_settings *set);
void s12z_time_fini(struct s12z_time *t);

/* s12z_time_event - an event of the walker, at once; core_cycles: as in s12z_flow_totals() then. */
void s12z_time_event(struct s12z_time *t, const struct event *e, uint64_t core_cycles);

/* s12z_time_line - the line has been walked
 * tick, bus_ticks   when its sending began, in ticks of which a bus clock has so many (0: not
 *                   known)
 * prompt            it was sent at once
 * Returns 0 or -ERR_NOMEM. */
int s12z_time_line(struct s12z_time *t, const struct s12z_line *l, uint64_t tick, double bus_ticks,
                   bool prompt);

/* s12z_time_gap - lines are missing here, or the place was lost. */
void s12z_time_gap(struct s12z_time *t);

/* s12z_time_factor - real cycles in an estimated one, over all stretches, and the standard
 * deviation of that from stretch to stretch, weighted by their length. Returns false with fewer
 * than two stretches. */
bool s12z_time_factor(const struct s12z_time *t, double *factor, double *spread);

/* s12z_time_rates - factors by function: s12z_rates_solve() with what the walker counted. */
size_t s12z_time_rates(struct s12z_time *t, struct s12z_rate *out, struct s12z_rate *others);

#endif
