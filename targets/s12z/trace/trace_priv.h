/* The live trace, private to its files: board_time.c counts the program's time, arrivals.c takes
 * lines as they come, pins.c and bursts.c bring them, sessions.c arms the module for one session
 * after another, report.c says what happened, trace.c arms and disarms. Each calls only those named
 * before it. */
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
/* Samples in a bit, which lasts two bus clocks, of a capture that samples. */
enum { SAMPLES_WANTED = 4, SAMPLES_LEAST = 2 };

/* The program's time. At most one of runs_from_ns and held_from_ns is set. */
struct s12z_trace_time {
    uint32_t bus_hz;       /* 0 unknown */
    uint64_t runs_from_ns; /* since the last GO, or since arming while it ran; 0: halted */
    uint64_t
        held_from_ns; /* since the module halted it; 0: it runs, or the debugger has halted it */
    uint64_t board_ns, held_ns; /* how long it was profiled; of that, how long it stood still for
                                   the profile's sake */
};

/* Lines as they come. */
struct s12z_trace_arrivals {
    uint64_t line_tick[LINES],
        lines;        /* pins: when each line began to be sent; and how many lines came */
    uint64_t earlier; /* how many of them are of sessions before this one */
    bool last_came;   /* the session's last line has come */
    bool gap_due;     /* lines are missing before the next session */
    uint64_t overflow_tick;
    uint64_t ivbr_ns; /* when IVBR was read last */
    uint64_t damaged,
        damaged_ns; /* places where lines are damaged; when the first one was, in board_ns */
    struct err sink_err;
};

/* The capture of the pins, open from arming to disarming if pdo is set. */
struct s12z_trace_pins {
    struct probe
        *capture; /* the probe whose pdo it is: the adapter, or a logic analyser beside it */
    const struct pdo_ops *pdo; /* NULL: bursts */
    struct s12z_stream stream;
    struct s12z_edges edges;
    pdo_edge *edge; /* room for what is read at once */
    uint64_t tick_hz;
    uint64_t edge_ns; /* last time an edge came */
};

/* The session: from arming the module to its end. */
struct s12z_trace_session {
    struct s12z_plan plan; /* of this session, or the last one */
    bool under_way;        /* the module is armed for us, as far as we know */
    bool over;             /* the only stretch to be profiled has ended at its stop point */
    uint64_t begun_ns;     /* its arming, or the last GO */
    uint64_t burst_cycles; /* bus cycles before it, by the table, waits included */
    uint64_t look_ns;      /* pins: when the module was last asked */
    uint64_t wire_bits;    /* of all readouts */
};

/* Each part is written by its own file only. */
struct s12z_trace {
    struct s12z_target *t;
    uint64_t steps_before; /* the driver's steps when it was armed */
    uint64_t armed_ns;
    bool armed; /* by the user, until disarm() */
    struct trace_config cfg;
    struct s12z_events *events;
    struct s12z_trace_time time;         /* board_time.c */
    struct s12z_trace_arrivals arrivals; /* arrivals.c */
    struct s12z_trace_pins pins;         /* pins.c */
    struct s12z_trace_session session;   /* sessions.c */
};

/* The profile of this part; NULL: it never had one. */
static inline struct s12z_trace *s12z_trace_of(struct target *t) { return s12z_of(t)->trace; }

/* ---- the program's time (board_time.c) ---- */

/* Bus cycles of what was traced, by the cycle table. */
uint64_t s12z_trace_seen_cycles(const struct s12z_trace *tr);
/* Measures the bus clock into bus_hz. BDCFCLK follows it (assumed equal: docs/unverified.md), and
 * SYNC measures that. An adapter that cannot talk at it has measured it at a download, or not at
 * all. */
int s12z_trace_measure_bus(struct s12z_trace *tr, struct err *err);
/* The bus clock by the driver's last measurement of BDCFCLK. */
void s12z_trace_note_bus(struct s12z_trace *tr);
/* The program has run since from_ns. If the module had halted it, it was held until then. */
void s12z_trace_count_from(struct s12z_trace *tr, uint64_t from_ns);
/* The program ran until now_ns at the latest, and is held from then on. If the module halted it,
 * that was some time before it was noticed; how long it ran follows from the session's cycles. */
void s12z_trace_count_run(struct s12z_trace *tr, bool by_module, uint64_t now_ns);

/* ---- lines as they come (arrivals.c) ---- */

/* Takes a line: it becomes events, and so does what is missing before it. Returns 0, or a failure
 * in sink_err. */
int s12z_trace_take_line(struct s12z_trace *tr, uint64_t raw, const struct s12z_line *l,
                         const struct s12z_arrival *at);
/* Lines are missing before the one that began to be sent at next_tick (pins; 0 for bursts: until
 * now). They become a gap. */
int s12z_trace_close_gap(struct s12z_trace *tr, uint64_t next_tick, struct err *err);
/* A session begins, and none of its lines has come. */
void s12z_trace_await_lines(struct s12z_trace *tr);
/* Notes whether lines are missing before the next session, whose first line closes the gap then. */
void s12z_trace_set_gap_due(struct s12z_trace *tr, bool due);
/* Notes a place where lines are damaged. */
void s12z_trace_note_damage(struct s12z_trace *tr);
/* Reads IVBR, but not too often: programs move their vector table mostly at their start. */
void s12z_trace_read_vectors(struct s12z_trace *tr);
/* Returns ret, which came through decoders that have no struct err; their sink left the error in
 * sink_err. */
int s12z_trace_sink_result(struct s12z_trace *tr, int ret, struct err *err);

/* ---- from the pins (pins.c) ---- */

/* Opens the capture if the configuration and the adapter want that; else pdo stays NULL. */
int s12z_trace_open_pins(struct s12z_trace *tr, struct err *err);
/* Takes all edges that there are. Returns how many, or < 0. */
int s12z_trace_read_pins(struct s12z_trace *tr, struct err *err);
/* Nothing is sent any more (PTACT is 0): takes what is left in the capture. */
int s12z_trace_empty_pins(struct s12z_trace *tr, struct err *err);
/* The part was reset: what was on the pins meanwhile is no line. */
void s12z_trace_lose_edges(struct s12z_trace *tr);
/* Nothing more will come: takes the edges that are left and stops the capture. Returns ret, or the
 * failure of that. */
int s12z_trace_stop_pins(struct s12z_trace *tr, int ret, struct err *err);
/* Frees the capture, and stops it first if need be. */
void s12z_trace_close_pins(struct s12z_trace *tr);
/* How many samples the capture takes of one bit, which lasts two bus clocks; 0: edges are exact, or
 * the bus clock is not known. */
double s12z_trace_samples_per_bit(const struct s12z_trace *tr);

/* ---- in bursts (bursts.c) ---- */

/* Reads all lines of the buffer, which become events. The PLL stands still with the program, so the
 * readout may use the fast clock. */
int s12z_trace_read_buffer(struct s12z_trace *tr, struct err *err);

/* ---- sessions (sessions.c) ---- */

/* Gives the driver its hooks, and begins the first session if the program runs. */
int s12z_trace_hook_in(struct s12z_trace *tr, struct err *err);
/* The program runs: takes lines. After a session that has ended without halting it the next one
 * begins. */
int s12z_trace_look(struct s12z_trace *tr, struct err *err);
/* The profile ends: disarms the module and takes the last session's lines. If only the full buffer
 * had halted the program, it runs on. */
int s12z_trace_end_sessions(struct s12z_trace *tr, struct err *err);
/* The user begins a stretch, also if a stop point had ended the only one. */
void s12z_trace_allow_stretch(struct s12z_trace *tr);

/* ---- what the user should know (report.c) ---- */

/* As in struct target_trace_ops. */
int s12z_trace_status(struct target *target, struct trace_status *out, struct err *err);
int s12z_trace_explain(struct target *target, const struct text_sink *out, struct err *err);

#endif
