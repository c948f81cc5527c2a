/* One `probeprof run`: all the parts it builds and owns. Private to run_*.c and cmd_run.c. */
#ifndef PROFILER_CLI_RUN_H
#define PROFILER_CLI_RUN_H

#include <pthread.h>
#include <stdatomic.h>

#include <uv.h>

#include "probe/base/log.h"
#include "probe/probe.h"
#include "profiler/cli/capture.h"
#include "profiler/cli/command.h"
#include "profiler/bridge/begin.h"
#include "profiler/bridge/gdb_server.h"
#include "profiler/core/interrupt_lock.h"
#include "profiler/cli/live.h"
#include "profiler/cli/parts.h"
#include "profiler/cli/progress.h"
#include "profiler/cli/rotation.h"
#include "profiler/cli/slices.h"
#include "profiler/bridge/pump.h"
#include "profiler/bridge/recover.h"
#include "profiler/bridge/say.h"
#include "profiler/bridge/sampler.h"
#include "profiler/cli/serve.h"
#include "profiler/cli/settings.h"
#include "profiler/profile/marks_match.h"
#include "profiler/bridge/wire.h"
#include "profiler/bridge/worker.h"

enum run_phase {
    RUN_STARTING, /* loading, comparing, arming on the worker */
    RUN_BRIDGING, /* no profile, or its result has been shown */
    RUN_PROFILING,
    RUN_ENDING,  /* the profile was asked to end; the last events come in */
    RUN_QUITTING /* leaving */
};

/* Other counters or points, as somebody has asked for them; what is not set stays. */
struct run_change {
    bool sets_counter[2];
    uint16_t counter[2];
    bool sets_start, has_start;
    uint64_t start;
    bool sets_stops;
    uint64_t stops[TRACE_MAX_STOPS];
    size_t nstops;
};

struct run;

/* What the worker wants of the main thread (run_ask()). */
struct run_ask {
    pthread_mutex_t lock;
    enum { RUN_NOT_ASKED, RUN_ASKED, RUN_ANSWERED } state;
    int (*fn)(struct run *r, void *ctx, struct err *err);
    void *ctx;
    struct err *err;
    int ret;
};

/* A reader's command that the board is needed for; one at a time. */
struct serve_command {
    struct worker_job job;
    enum http_do what;
    struct http_ticket *ticket;
    struct run_change change; /* of counters and points */
    bool busy;
    int ret;
    struct err err;
};

enum { RUN_QUEUE_EVENTS = 1 << 16 }; /* between worker and loop */

struct run {
    struct cli *cli;
    struct settings set;
    struct log log;
    const struct part *part;
    uint16_t counter[2];
    char elf_path[SETTINGS_TEXT];
    bool profile; /* from the beginning */

    struct symbols *symbols;
    struct marks *marks; /* that hold for all that is shown; NULL: none */
    struct marks_matcher *matcher;
    struct svd *svd; /* of --svd; NULL: none */
    /* finds the program's tasks; NULL: it has no known system. Belongs to the worker once that
     * runs */
    struct tasks *tasks;
    struct tasks *gdb_tasks; /* the same for GDB: it looks when it is asked to */
    struct probe *probe;
    struct probe *pdo; /* --pdo; NULL: none */
    char found[1024];  /* lines of run_found() that are to be said */
    bool unpowered;    /* the adapter sees no target power */
    uint32_t found_hz; /* --speed auto: the clock that was found */
    struct say say;    /* for the bridge: run_say() */
    struct wire wire;
    struct target *target;
    struct worker *worker;
    struct gdb_server *server;
    struct sampler sampler;
    struct pump pump;
    bool has_pump;
    struct capture capture;
    unsigned armed_times; /* capture.armed.times that the rest of the run knows of */
    struct run_ask ask;
    struct rotation rotation; /* of the recording */
    struct slices slices;
    struct interrupt_lock lock; /* of a trace with its handlers; told once */
    struct saving {
        uint64_t next_ns, seen; /* when the next is due; events that the last one had */
        bool failed;            /* a failure was reported */
    } saving;                   /* --save-every */
    struct live live;
    struct progress progress; /* of --load */
    struct recording_header header;
    struct serve serve; /* the live feed; not started with --http off */
    struct serve_command command;
    struct top *top;  /* --top; NULL: none */
    int64_t away_ms;  /* wall clock since which the board is away; 0: it is not */
    uint64_t away_ns; /* the same of the host's clock */
    bool was_halted;  /* as the feed's log has it */

    uv_loop_t loop;
    bool has_loop;
    uv_async_t wake;
    uv_timer_t tick;
    uv_signal_t show, resize; /* SIGUSR1, SIGWINCH */

    enum run_phase phase;
    /* ticks in a row in which the program was halted and no GDB was attached */
    unsigned halted_ticks;
    unsigned stop_looks;       /* pump_view.stop_looks of the last */
    atomic_bool leaving;       /* long jobs of the worker ask, and give up */
    atomic_bool clear_wanted;  /* `monitor profile clear`: the worker asks */
    bool abandon;              /* second Ctrl-C: no more waiting for the board */
    bool terminate;            /* SIGTERM, SIGHUP: nothing is waited for that may not come */
    unsigned asked;            /* ending_view.asked that has been heeded */
    uint64_t begin_ns, end_ns; /* host clock */
    int64_t when;
    struct err failure;    /* first thing that went wrong in the loop */
    struct worker_job job; /* begin, then disarm: never two at once */
    struct begin begin;
    struct recover recover;
};

/* run_open - adapter, wire and part, up to a target that is attached. A missing or wrong part is
 * an error at once; after a fault that may pass it is tried again for some seconds. */
int run_open(struct run *r, struct err *err);

/* run_image - the program's image, which lives as long as `r`; NULL for a bridge without a program.
 */
static inline const struct image *run_image(const struct run *r)
{
    if (!r->symbols)
        return NULL;
    return symbols_image(r->symbols);
}

/* run_found - as run_note(), but shown when run_open() is done, so that a second try does not
 * repeat messages of the first. */
void run_found(struct run *r, const char *fmt, ...) __attribute__((format(printf, 2, 3)));

/* run_link - what is done on the open adapter before anything attaches: power, reset, clock, and
 * where on its chain the part stands (r->probe is then a probe around the adapter's: jtag_chain.h).
 */
int run_link(struct run *r, struct err *err);
void run_link_after(struct run *r); /* reports what is known once the part has answered */

/* run_parts - everything up to an attached target: symbols, addresses, adapter. On failure
 * run_fini(). */
int run_parts(struct run *r, struct err *err);

/* run_board_parts - the same for who does not profile: no pump, no files. The settings' events and
 * points are in *trace. */
int run_board_parts(struct run *r, struct trace_config *trace, struct err *err);

/* run_loop - worker, GDB server, profile; returns when it is over. */
int run_loop(struct run *r, struct err *err);

/* ---- the loop's parts, all on the main thread ---- */

/* What the program was at when its time ran out (ending_stage()). */
#define RUN_USING_BOARD "while the board was used"

/* run_fail - keeps the first thing that went wrong: the exit status. */
void run_fail(struct run *r, const struct err *e);

/* run_profile - the profile so far; caller frees. run_snapshot - the same for many readers, as
 * snapshots_take(); ctx is the run. run_unmarked - that without marks. */
int run_profile(struct run *r, struct profile **out, struct err *err);
int run_snapshot(void *ctx, const struct snapshot **out, struct err *err);
int run_unmarked(struct run *r, const struct snapshot **out, struct err *err);

/* run_show_result - table or document on standard output, and --output's file. run_show_table - the
 * table so far, there too (with --json, which has that for itself, on standard error).
 * run_finish_recording - what --record's file ends with. run_tell_duration - how long it took, and
 * how much slower the program was. */
void run_show_result(struct run *r);
int run_show_table(struct run *r, struct err *err);
void run_finish_recording(struct run *r, const struct pump_view *v);
void run_tell_duration(struct run *r, const struct pump_view *v);

/* run_recording_end - what is known of the end of a recording that ends now. */
struct recording_end run_recording_end(const struct run *r, const struct pump_view *v);

/* ---- files while it runs ---- */

/* run_files_tick - begins another file of the recording, and writes a slice, if one is due: after
 * each batch of events. run_save_tick - what --save-every asks for: a few times a second. */
void run_files_tick(struct run *r);
void run_save_tick(struct run *r);

/* run_save - writes --output's file now, what the recording holds, and a slice if one is asked for
 * then. Returns 0 or the first failure. */
int run_save(struct run *r, struct err *err);

/* run_files_end - tells what slices there were. */
void run_files_end(struct run *r);

/* run_post_job - has the worker do something; one at a time. */
void run_post_job(struct run *r, void (*run)(void *ctx, struct target *t));

/* run_look_for_beginning - has the worker's beginning ended? Then the profile is under way, or the
 * run has failed. */
void run_look_for_beginning(struct run *r);

/* run_take_events - counts what has come up to this call. run_take_some - the same, and leaves the
 * rest to the loop's next turn where it takes long. */
void run_take_events(struct run *r);
void run_take_some(struct run *r);

/* run_look_after_profile - counts, shows, and sees whether it is over. */
void run_look_after_profile(struct run *r);

/* run_look_at_ending - has somebody asked for the end? */
void run_look_at_ending(struct run *r);

/* run_top_begin - with --top: the profile is shown on the terminal, after run_serve(). If that is
 * not possible the reason is shown, and the run goes on. run_top_end - restores the terminal;
 * harmless without --top. */
void run_top_begin(struct run *r);
void run_top_end(struct run *r);

/* run_serve - begins the feed where --http says; if the port is taken that is shown, and the run
 * goes on. Returns 0; -ERR_USAGE: --http is malformed. */
int run_serve(struct run *r, struct err *err);

/* run_clear - restarts the counts behind the last event that has come. Main thread. */
void run_clear(struct run *r);

/* ---- other counters and points while it runs (run_change.c) ---- */

/* run_change_counters, run_change_points - what somebody has asked for, by its texts. Points are
 * resolved by the main thread: there only. Returns 0; what is wrong with which of them. */
int run_change_counters(const struct run *r, const char *const text[2], struct run_change *out,
                        struct err *err);
int run_change_points(const struct run *r, const struct http_command *c, struct run_change *out,
                      struct err *err);

/* run_apply_change - on the worker: pump_change(). */
int run_apply_change(struct run *r, struct target *t, const struct run_change *c, struct err *err);

/* run_take_rearm - heeds what the events have told of other counters and points: header, feed, and
 * whoever shows them. After each batch, on the main thread. */
void run_take_rearm(struct run *r);

/* run_start_text - the start point, as it was given or is called now; "": none. Returns buf. */
char *run_start_text(const struct run *r, char *buf, size_t cap);

/* run_monitor_counters, run_monitor_points - `monitor profile counters ...` and `points ...`, argv
 * behind that word. On the worker. */
int run_monitor_counters(struct run *r, int argc, char **argv, const struct text_sink *out,
                         struct err *err);
int run_monitor_points(struct run *r, int argc, char **argv, const struct text_sink *out,
                       struct err *err);

/* run_ask - from the worker: has the main thread call fn, and waits for it. Returns what fn does;
 * -ERR_CANCELLED: the program ends; -ERR_TIMEOUT. run_answer - on the main thread, which has been
 * woken. run_ask_init, run_ask_fini - before and after the worker. */
int run_ask(struct run *r, int (*fn)(struct run *r, void *ctx, struct err *err), void *ctx,
            struct err *err);
void run_answer(struct run *r);
void run_ask_init(struct run *r);
void run_ask_fini(struct run *r);

/* run_about - tells the feed what this run is of, and counts. */
void run_about(struct run *r);

/* ---- signals that end nothing (run_signals.c) ---- */

/* run_signals_hold - SIGUSR1 and SIGWINCH wait from here on, in every thread that is begun later:
 * they interrupt no call of an adapter. run_signals_start - the loop listens. run_signals_take -
 * the main thread receives them, once the others have been started. */
void run_signals_hold(void);
void run_signals_start(struct run *r);
void run_signals_take(void);

/* run_note - one line for people on stderr, past the live line. */
void run_note(struct run *r, const char *fmt, ...) __attribute__((format(printf, 2, 3)));

/* run_say - what the bridge says is said by run_note(). */
struct say run_say(struct run *r);

/* run_wake - have the loop look at everything; ctx is the run. Any thread, and from a signal's. */
void run_wake(void *ctx);

/* run_tell_progress - board_io.tell: shown by the loop; ctx is the run. */
void run_tell_progress(void *ctx, const struct load_progress *now);

/* run_fini - give everything back, in any state. Returns 0; -ERR_TIMEOUT if the worker hangs in a
 * call of the board and what it uses was left alone. */
int run_fini(struct run *r, struct err *err);

/* The GDB monitor's `profile` and `load`; ctx is the struct run; runs on the worker. */
extern const struct monitor_command run_monitor[];

#endif
