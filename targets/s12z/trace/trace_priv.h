/* The live trace, private to its files: board_time.c counts the program's time, arrivals.c takes
 * lines as they come, pins.c and bursts.c bring them, sessions.c arms the module again and again,
 * report.c says what happened, trace.c arms and disarms. Each calls those before it only. */
#ifndef TARGETS_S12Z_TRACE_TRACE_PRIV_H
#define TARGETS_S12Z_TRACE_TRACE_PRIV_H

#include "probe/base/util.h"
#include "targets/s12z/driver/driver.h"
#include "targets/s12z/driver/plan.h"
#include "targets/s12z/trace/edges.h"
#include "targets/s12z/trace/events.h"
#include "targets/s12z/trace/stream.h"
#include "targets/s12z/trace/trace.h"

enum { LINES = 64, LINE_BYTES = 8, IVBR = 0x0010 };
/* Samples in a bit, of a capture that samples: our reckoning from the bit's two bus clocks. */
enum { SAMPLES_WANTED = 4, SAMPLES_LEAST = 2 };

struct s12z_trace {
    struct s12z_target *t;
    uint64_t steps_before; /* t->steps when it was armed */
    struct trace_config cfg;
    struct s12z_plan plan;
    struct s12z_events *events;
    struct probe *capture;     /* whose pdo it is: the adapter, or a logic analyser beside it */
    const struct pdo_ops *pdo; /* NULL: bursts */
    struct s12z_stream stream;
    struct s12z_edges edges;
    pdo_edge *edge; /* EDGES of them */
    uint64_t tick_hz;
    bool armed;   /* by the user, until disarm() */
    bool session; /* the module is armed for us, as far as we know */
    bool over;    /* the only stretch there is has ended at its stop point */
    bool ended;   /* the session's last line has come over the pins */
    bool gap_due; /* lines are missing before the next session */
    enum event_cause gap_cause;
    uint64_t begun_ns;                /* the session's arming */
    uint64_t burst_cycles;            /* bus cycles before that session, by the table and waited */
    uint64_t look_ns, edge_ns;        /* last time asked; last time an edge came */
    uint64_t line_tick[LINES], lines; /* pins: when lines began to be sent */
    uint64_t lines_before;            /* of them, those of sessions before this one */
    uint64_t overflow_tick;
    uint32_t bus_hz;       /* 0 unknown */
    uint64_t runs_from_ns; /* since the last GO, or arming beside it; 0: halted */
    uint64_t held_from_ns; /* since the module halted it; 0: it runs, or a debugger has it */
    uint64_t board_ns, held_ns, wire_bits, resets, lost_edges, lost_edge_times;
    uint64_t armed_ns, ivbr_ns;
    uint64_t damaged, damaged_ns; /* places where lines are damaged; the first one, of board_ns */
    struct err sink_err;
    char why_not[96]; /* what the module could not be given */
};

/* The profile of this part; NULL: it never had one. */
static inline struct s12z_trace *s12z_trace_of(struct target *t) { return s12z_of(t)->trace; }

/* ---- the program's time (board_time.c) ---- */

/* Bus cycles of what was traced, by the table. */
uint64_t s12z_trace_seen_cycles(const struct s12z_trace *tr);
/* Measures the bus clock into bus_hz. BDCFCLK follows it (assumed equal: docs/unverified.md), and
 * SYNC measures that. An adapter that cannot talk at it has measured it at a download, or not at
 * all. */
int s12z_trace_measure_bus(struct s12z_trace *tr, struct err *err);
/* The program ran since the last GO, until now_ns at most. If the module halted it, that was some
 * time before anybody noticed: the session's cycles tell. */
void s12z_trace_count_run(struct s12z_trace *tr, bool by_module, uint64_t now_ns);
/* The program runs on: it was held since the module halted it, if it did. */
void s12z_trace_count_held(struct s12z_target *t);

/* ---- lines as they come (arrivals.c) ---- */

/* A line: with what is missing before it, it becomes events. Returns 0 or a failure in sink_err. */
int s12z_trace_take_line(struct s12z_trace *tr, uint64_t raw, const struct s12z_line *l,
                         const struct s12z_arrival *at);
/* Lines are missing before the one that began to be sent at next_tick (pins; 0 for bursts: until
 * now). They become a gap. */
int s12z_trace_close_gap(struct s12z_trace *tr, uint64_t next_tick, struct err *err);
/* A place where lines are damaged. */
void s12z_trace_note_damage(struct s12z_trace *tr);
/* Reads IVBR, but not too often: programs move their vector table, mostly at their start. */
void s12z_trace_read_vectors(struct s12z_trace *tr);
/* Returns ret, which came through decoders that know no errors: their sink left it in sink_err. */
int s12z_trace_sink_result(struct s12z_trace *tr, int ret, struct err *err);

/* ---- from the pins (pins.c) ---- */

/* Opens the capture if the configuration and the adapter want that; else pdo stays NULL. */
int s12z_trace_open_pins(struct s12z_trace *tr, struct err *err);
/* Moves all edges there are. Returns how many, or < 0. */
int s12z_trace_read_pins(struct s12z_trace *tr, struct err *err);
/* Nothing is sent any more (PTACT is 0): what is in the capture is all. */
int s12z_trace_empty_pins(struct s12z_trace *tr, struct err *err);
/* Samples taken in one bit, which lasts two bus clocks; 0: edges are exact, or the bus clock is
 * not known. */
double s12z_trace_samples_per_bit(const struct s12z_trace *tr);

/* ---- in bursts (bursts.c) ---- */

/* All lines of the buffer. While the program stands still its PLL does too: the readout may use
 * the fast clock. */
int s12z_trace_read_buffer(struct s12z_trace *tr, struct err *err);

/* ---- sessions (sessions.c) ---- */

/* Puts hooks into the driver, and begins the first session if the program runs. */
int s12z_trace_hook_in(struct s12z_trace *tr, struct err *err);
/* The program runs. Lines are moved; a session that has ended without halting it is followed by
 * the next. */
int s12z_trace_look(struct s12z_trace *tr, struct err *err);
/* The profile ends: all lines of its last session. An analyser that fails just then is a gap. */
int s12z_trace_end_last_session(struct s12z_trace *tr, uint8_t efr, struct err *err);
/* The module is disarmed. If its full buffer had halted the program before that, and nobody has
 * seen it yet, it runs on. */
int s12z_trace_run_on(struct s12z_target *t, struct err *err);

/* ---- what the user should know (report.c) ---- */

/* As in struct target_trace_ops. */
int s12z_trace_status(struct target *target, struct trace_status *out, struct err *err);
int s12z_trace_explain(struct target *target, const struct text_sink *out, struct err *err);

#endif
