/* Function trace of an SH-4 target: the host's side. Private to targets/sh4/trace. */
#ifndef TARGETS_SH4_TRACE_TRACE_H
#define TARGETS_SH4_TRACE_TRACE_H

#include "targets/sh4/driver/for_trace.h"
#include "targets/sh4/trace/decode.h"
#include "targets/sh4/trace/plan.h"
#include "targets/sh4/code/crossings.h"
#include "targets/sh4/code/sites.h"

enum {
    TRACE_QUEUE = 1 << 16, /* events waiting for the caller before the program has to wait */
    /* a halt is not delayed, so what the rings hold then comes on top */
    TRACE_QUEUE_MOST = 4 * TRACE_QUEUE,
    SH4_TRACE_KEPT_WORDS = 51 /* lost.c */
};
/* where the RAM for larger programs ends: 1 MB below the end of the Dreamcast's 16 MB */
#define SH4_TRACE_RAM_TOP 0x0CF00000u

/* What the host knows of one patch beyond the plan. */
struct sh4_trace_mark {
    bool in_memory; /* our TRAPA is there now */
    bool dead;      /* the code was overwritten: it is never patched again */
    bool stale;     /* the same, and the agent does not know yet */
};

/* Places where the program was seen to run although the search found no way there. */
struct sh4_trace_found {
    uint32_t sum; /* checksum of the program's code: the places mean nothing in another program */
    uint32_t at[256];
    size_t n;
    bool more; /* some are not traced, for want of room or time */
};

/* The trace's parts. Each belongs to one file, whose functions keep what is said of it here. Others
 * read it, and change only what its comment names. When arming begins, all of it is zero. A part
 * with memory of its own gets it from its file's _init, and its _fini frees that. */

/* Events on their way to the caller (queue.c): `count` of them from `head` on, in order. Lost
 * events are counted in `dropped`, and reported before the next event that finds room. */
struct sh4_trace_queue {
    struct event *event; /* TRACE_QUEUE_MOST, a ring */
    size_t head, count;
    uint64_t dropped; /* events that found no room since the last one that did */
};

/* The agent's ring as it was read last (ring.c). */
struct sh4_trace_ring {
    uint32_t *words; /* SH4_TRACE_MOST_WORDS: one drain */
    uint32_t used;   /* bytes that were in it */
    uint64_t read_ns;
    uint64_t work;        /* what the records cost the agent, in eighths of a call or return */
    uint32_t tasks_begun; /* tasks that were begun in filtered interrupts */
};

/* Asking for a ring that is not full (poll.c); ring.c says that it was read. */
struct sh4_trace_ask {
    bool sent;      /* an H-UDI interrupt, or the byte for it, was sent and not answered yet */
    unsigned times; /* since the ring was read */
    uint64_t at_ns; /* the last time */
    uint64_t patience_ns;
};

/* Totals since arming (ring.c): they only grow. queue.c adds what it loses. */
struct sh4_trace_sum {
    uint64_t events, lost, doubtful, wire_bits, drains;
    uint64_t held_ns; /* link time the program was held for drains */
};

/* How long the program ran (stops.c). ring.c and poll.c add the waits with a full ring. */
struct sh4_trace_ran {
    uint64_t board_ns;  /* drains included, up to the last halt */
    uint64_t since_ns;  /* it has been running since then; 0: it does not run */
    uint64_t waited_ns; /* of that, it waited with a full ring until that was seen */
    uint64_t unseen_ns; /* when its ring was last seen to have room */
    bool was_inactive;  /* not everything was counted */
};

/* Elapsed time by the board's own counter (counting.c), agent included. */
struct sh4_trace_time {
    int counter;   /* the counter that counts elapsed time; -1: none does */
    uint64_t last; /* its value at the last drain, 48 bits */
    uint64_t raw;  /* since arming: the sum of all steps */
    uint64_t step; /* between the last two drains */
};

/* What the agent costs, in 1/16 counts where a name says so (calibrate.c), and which of the costs
 * hold now (counting.c, step.c). Most are indexed by caches off and on, then by counter. */
struct sh4_trace_cost {
    bool calibrated[2];
    /* both caches were on: at arming, and later at the last drain that brought something */
    bool cached;
    bool icache_enabled; /* at the last drain that brought something */
    int32_t residue16[2][2], first[2][2];
    struct sh4_trace_ways ways[2];
    struct sh4_trace_memory memory16; /* not measured if the caches were on at arming */
    /* the least elapsed time of an event's residue while a cache is off; 0: not known */
    int32_t one_cache16;
    int32_t full16[2];       /* an event's whole cost in cycles */
    int32_t step_cost[2][2]; /* of a stop in stepped code */
    int8_t step_cached;      /* which of these the agent has: 0, 1; -1: none yet */
    double cycles_per_ns;    /* of the CPU; measured where no counter gives it */
};

/* Calibration's loop (calibrate.c). */
struct sh4_trace_loop {
    uint32_t counter[2]; /* as the loop left them, if it ran */
    bool ran;
    /* scans until the loop is back: by caches, then untraced and traced; 0: not known yet */
    uint32_t slack[2][2];
};

/* The program's state while calibration runs in its place (lost.c). */
struct sh4_trace_aside {
    uint32_t words[SH4_TRACE_KEPT_WORDS];
    bool displaced; /* calibration has the CPU, or could not be ended */
};

/* The program as it is now (now.c): the image, with the sections that the program has changed. */
struct sh4_trace_now {
    struct image image; /* its sections are those below */
    struct image_section *section;
    uint8_t **copy; /* by section: its contents, if they have changed; NULL: as in cfg.image */
    /* where the next look for changed code begins */
    size_t glance_section;
    uint32_t glance_off;
};

/* The search for code, which is repeated while armed (further.c). arm_sites.c notes what it was
 * first done with. */
struct sh4_trace_search {
    struct {
        uint32_t vbr;
        bool entry_blocked, sr_traps;
    } with;
    size_t places; /* how many of `found` the last search had */
    bool due;      /* found.c has seen a new place */
    unsigned done; /* searches since the one at arming */
    uint64_t after_ns;
    unsigned in_vain;   /* looks at changed code that found nothing new */
    uint64_t glance_ns; /* when the next look is due */
    /* armed with BL=0 in code that the search does not know: that proves nothing about BL at entry
     * yet */
    bool unplaced;
    /* SR.BL at entry was taken to be clear because the program runs that way */
    bool evidence;
};

/* Sections that the program copies itself (copied.c). `waits` marks those that have not been copied
 * yet, nwaiting of them; their patches follow when they have. */
struct sh4_trace_copied {
    bool *waits; /* by section of the image */
    size_t nwaiting;
};

/* Overlays of a program that keeps a table of them (overlays.c); all NULL and 0 in others. */
struct sh4_trace_overlays {
    bool *here;                      /* by section of the image: it is an overlay, and in memory */
    bool *next;                      /* room for the next look */
    struct image_function *function; /* those of now.image */
    uint32_t table_at, count_at;     /* the program's table, and how many rows it has */
    uint32_t event_at;               /* the function that it calls when the table has changed */
    bool missed; /* the agent has waited in vain there, and nothing was done about it yet */
};

/* Code that takes no patch (step.c). */
struct sh4_trace_unpatched {
    bool *section;      /* by section of the image */
    bool channel_taken; /* channel A is the debugger's, and ROM is not traced meanwhile */
};

/* Start and stop points that channels watch (point.c). */
struct sh4_trace_points {
    uint32_t watching[SH4_UBC_CHANNELS]; /* the point that a channel watches; 0: none */
    unsigned unwatched;                  /* points without a channel while the program runs */
};

/* The list of what is not seen (coverage.c). Whoever makes it longer sets next to 0. */
struct sh4_trace_coverage {
    size_t next; /* the row that is sent next */
    bool at_end; /* disarming found changed code: the list is sent after it */
};

/* The program's tasks (tasks.c). */
struct sh4_trace_tasks {
    uint64_t due_ns;  /* when they are looked at again, even if none was created */
    uint32_t highest; /* the highest context that was sent */
};

/* Patches in memory (patch.c). changed.c, copied.c, again.c and stray.c also put patches in and
 * give them up. in_memory is true only while our TRAPA was the last thing written there. */
struct sh4_trace_patches {
    struct sh4_trace_mark *mark; /* plan.npatches */
    /* a patch may be out that should be in: at a breakpoint, or after a step over it */
    bool absent;
    size_t changed; /* places where the program has replaced the code, since arming */
    size_t strays;  /* traps removed from the program's copies of code, since arming */
};

/* A CPU that resets itself (reset.c; arm.c says whether EXPEVT shows it). */
struct sh4_trace_reset {
    bool shows;
    bool seen; /* since arming: the agent is gone */
};

/* What the plan was made for beyond the configuration (request.c, ram.c). */
struct sh4_trace_asked {
    bool larger;                    /* the RAM below SH4_TRACE_RAM_TOP was chosen */
    bool translated;                /* code outside P1 and P2 takes no patch */
    struct sh4_crossings crossings; /* of the image's blocks (arm_sites.c) */
};

/* The status note (note.c). It is made from the parts above whenever they change. */
struct sh4_trace_note {
    size_t untraced;
    char text[TRACE_NOTE];
};

/* IPRC as it was before arming (arm.c); put back at disarming if it is known. */
struct sh4_trace_iprc {
    uint32_t value;
    bool known;
};

/* The parts above say who owns them. Of the members here: */
struct sh4_trace {
    struct sh4_target *t;
    struct trace_config cfg; /* as armed; its RAM is what ram.c chose */
    bool armed;              /* arm.c: from the end of arming to the end of disarming */
    /* events are recorded: arm.c at first, then as records say (ring.c), or the host (record.c) */
    bool active;
    struct sh4_sites sites;        /* arm_sites.c, again.c: what the last search found */
    struct sh4_trace_plan plan;    /* request.c makes it, again.c adds places */
    struct sh4_trace_decoder dec;  /* ring.c decodes with it; others tell it what holds now */
    struct sh4_trace_found *found; /* the target's */
    struct sh4_trace_patches patches;
    struct sh4_trace_queue queue;
    struct sh4_trace_ring ring;
    struct sh4_trace_ask ask;
    struct sh4_trace_sum sum;
    struct sh4_trace_ran ran;
    struct sh4_trace_time time;
    struct sh4_trace_cost cost;
    struct sh4_trace_loop loop;
    struct sh4_trace_aside aside;
    struct sh4_trace_now now;
    struct sh4_trace_search search;
    struct sh4_trace_copied copied;
    struct sh4_trace_overlays overlays;
    struct sh4_trace_unpatched rom;
    struct sh4_trace_points points;
    struct sh4_trace_coverage coverage;
    struct sh4_trace_tasks tasks;
    struct sh4_trace_reset reset;
    struct sh4_trace_asked request;
    struct sh4_trace_note note;
    struct sh4_trace_iprc iprc;
    /* where code that waits in a slot of an earlier trace goes on; 0: none waits (slots.c) */
    uint32_t slot_left[SH4_TRACE_SLOTS];
    uint32_t meant_seen; /* SR as the program means it, as the agent had it last (meant.c) */
    uint32_t stepped;    /* the site that the user is stepping over, | 1; 0: none (stops.c) */
    /* counting goes on from this halt: the agent's last reading of the counters is of now
     * (record.c) */
    bool rebased;
    bool passes_slot; /* it is halted again behind a slot (leave_stub.c) */
};

/* The table by which the trace plugs into the driver. (trace.c) */
extern const struct sh4_tracing sh4_tracing;

/* ---- arming and disarming (arm.c) ---- */
/* As in struct target_trace_ops, and struct sh4_tracing's close. */
int sh4_trace_arm(struct target *target, const struct trace_config *cfg, struct err *err);
int sh4_trace_disarm(struct target *target, struct err *err);
int sh4_trace_set_active(struct target *target, bool active, struct err *err);
int sh4_trace_hold(struct target *target, bool *ran, struct err *err);
int sh4_trace_release(struct target *target, bool ran, struct err *err);
void sh4_trace_close(struct sh4_target *t);
/* ---- while it runs (poll.c) ---- */
/* As in struct target_trace_ops and struct sh4_tracing. While the queue has no room, the program
 * waits with a full ring. */
int sh4_trace_poll_events(struct target *target, struct event *out, size_t cap, uint64_t max_ns,
                          struct err *err);
int sh4_trace_poll(struct sh4_target *t, uint64_t max_ns, struct err *err);
/* ---- it has halted, and goes on (stops.c) ---- */
/* As in struct sh4_tracing. */
int sh4_trace_halted(struct sh4_target *t, struct err *err);
int sh4_trace_resuming(struct sh4_target *t, struct resume *how, struct err *err);
int sh4_trace_resumed(struct sh4_target *t, bool steps, struct err *err);
/* ---- reports (report.c) ---- */
/* As in struct target_trace_ops. */
int sh4_trace_status(struct target *target, struct trace_status *out, struct err *err);
int sh4_trace_explain(struct target *target, const struct text_sink *out, struct err *err);
/* ---- which places there are, and the plan (arm_sites.c, request.c) ---- */
/* Searches the halted program for places and plans them, into tr->sites and tr->plan. */
int sh4_trace_find_and_plan(struct sh4_trace *tr, struct err *err);
/* Chooses the RAM before anything is written there. Makes the plan of tr->sites in it. */
int sh4_trace_request_ram(struct sh4_trace *tr, struct err *err);
int sh4_trace_make_plan(struct sh4_trace *tr, struct err *err);
/* Symbol of the routine that the shinobi filter leaves out. */
const char *sh4_trace_filter_name(const struct trace_config *cfg);
/* ---- halted in the agent (leave_stub.c) ---- */
/* The program was halted in a stub, of an earlier session whose RAM will be used again, or of this
 * one, which ends. Steps it out of there. */
int sh4_trace_leave_stub(struct sh4_trace *tr, struct err *err);
/* Hook of the driver: out of a stub of this session's, or an RTE's slot, if the program stands in
 * one. */
int sh4_trace_leave_own_stub(struct sh4_target *t, struct err *err);
/* ---- what the counters count (counting.c) ---- */
int sh4_trace_arm_counters(struct sh4_trace *tr, struct err *err); /* from zero */
/* The state to begin with (enum sh4_trace_state), by the configuration. */
uint32_t sh4_trace_initial_state(const struct trace_config *cfg);
/* Sets the agent's state. Any state but plain recording keeps the agent off its short path. */
int sh4_trace_set_state(struct sh4_trace *tr, uint32_t state, struct err *err);
/* Counting begins: what the counters show now is zero. */
int sh4_trace_start_state(struct sh4_trace *tr, bool active, struct err *err);
/* Reads elapsed time, the agent's included, into tr->time. */
int sh4_trace_read_elapsed(struct sh4_trace *tr, struct err *err);
/* Chooses the residue by whether the caches are on now: the agent costs more without them. */
int sh4_trace_choose_residue(struct sh4_trace *tr, struct err *err);
/* ---- records by the host, of a program that has halted (record.c) ---- */
/* The halted program's counters: as the agent left them at the last event, and as they are. */
int sh4_trace_counters_now(struct sh4_trace *tr, uint32_t last[2], uint32_t at[2], struct err *err);
/* Finds out by them by which of the agent's ways the program came into the kernel. (halt_time.c) */
void sh4_trace_halt_way(struct sh4_trace *tr, const uint32_t last[2], const uint32_t at[2]);
/* Records the time since the last event, as the profile ends. */
int sh4_trace_time_to_the_end(struct sh4_trace *tr, struct err *err);
/* The program stands on site number id and goes on: makes the event that the agent would make of
 * it. */
int sh4_trace_event_by_host(struct sh4_trace *tr, uint32_t id, struct err *err);

/* Whether events come from a site: it is patched, or stepped now. (coverage.c) */
bool sh4_trace_sees(const struct sh4_trace *tr, const struct sh4_site *s);
/* Tells the decoder which functions end without an event; the plan is made. (coverage.c) */
void sh4_trace_find_blind(struct sh4_trace *tr);
/* Makes EVENT_UNTRACED of what is not seen: up to cap of the rows that were not sent since
 * tr->coverage.next was 0. Returns how many. */
size_t sh4_trace_tell_coverage(struct sh4_trace *tr, struct event *out, size_t cap);
/* ---- code that running shows (found.c, further.c, now.c, again.c) ---- */
/* _init: the trace is being armed, with cfg set. _end: it ends. */
int sh4_trace_found_init(struct sh4_trace *tr, struct err *err);
void sh4_trace_found_end(struct sh4_trace *tr);
/* Looks whether an event shows code that the search does not know. */
void sh4_trace_seen(struct sh4_trace *tr, const struct event *e);
/* The program is held and its ring empty: looks for changed code, and repeats the search if there
 * is reason to. */
int sh4_trace_look_further(struct sh4_trace *tr, struct err *err);
/* Repeats the search with what is known now, and patches what it finds. */
int sh4_trace_again(struct sh4_trace *tr, struct err *err);
/* Forgets places where the code has changed: n bytes from addr on were `was` and are `is`. True if
 * there was one. */
bool sh4_trace_forget_changed(struct sh4_trace *tr, uint32_t addr, const uint8_t *was,
                              const uint8_t *is, uint32_t n);
int sh4_trace_now_init(struct sh4_trace *tr, struct err *err);
void sh4_trace_now_fini(struct sh4_trace *tr);
/* Brings tr->now.image up to date. *changed: code that the search had found has changed. */
int sh4_trace_now_refresh(struct sh4_trace *tr, bool *changed, struct err *err);
/* Compares the next part of the code with tr->now.image. */
int sh4_trace_glance(struct sh4_trace *tr, bool *differs, struct err *err);
/* What memory from addr on holds if nothing but our patches has changed: the n bytes of `program`,
 * with our patches in them. */
void sh4_trace_expect(const struct sh4_trace *tr, uint32_t addr, const uint8_t *program,
                      uint8_t *buf, uint32_t n);
/* The code has changed: searches it again, as soon as that may be done. */
int sh4_trace_search_changed(struct sh4_trace *tr, struct err *err);
/* ---- overlays (overlays.c) ---- */
/* _init: arming, with tr->now made and nothing searched yet. Points and blocks in overlays are
 * refused. _fini frees. */
int sh4_trace_overlays_init(struct sh4_trace *tr, struct err *err);
void sh4_trace_overlays_fini(struct sh4_trace *tr);
/* Whether addr, in any alias, is where an overlay runs that the trace keeps track of. */
bool sh4_trace_in_overlay(const struct sh4_trace *tr, uint32_t addr);
/* Marks the sites at which the agent is to wait for the host. */
void sh4_trace_overlays_mark(const struct sh4_trace *tr, struct sh4_sites *sites);
/* The physical address behind the highest overlay; 0: there are none. */
uint32_t sh4_trace_overlays_reach(const struct sh4_trace *tr);
/* Makes events of what is there now. _changed: the agent waits where the program says that its
 * table has changed, and its ring is empty: that is told, and the new code is patched. */
void sh4_trace_tell_overlays(struct sh4_trace *tr);
int sh4_trace_overlays_changed(struct sh4_trace *tr, struct err *err);
/* _missed: before a ring is decoded: has the agent waited there in vain? Then nothing is known.
 * _ask: the plan is in the board's RAM: the agent hears which stub asks. Is that at pc? */
int sh4_trace_overlays_missed(struct sh4_trace *tr, struct err *err);
int sh4_trace_overlays_ask(struct sh4_trace *tr, struct err *err);
bool sh4_trace_asks_at(const struct sh4_trace *tr, uint32_t pc);
/* Adds places to the plan (plan_more.c). */
int sh4_trace_plan_for(struct sh4_trace *tr, struct sh4_sites *sites, struct sh4_site *const *site,
                       size_t n, struct err *err);
/* Whether addr is in a --no-patch range, or in the agent that the program has brought; whether pc
 * is in the trace's agent, its stubs or its slots. */
bool sh4_trace_left_alone(const struct sh4_trace *tr, uint32_t addr);
bool sh4_trace_holds(const struct sh4_target *t, uint32_t pc);
/* Whether pc is in the agent's RAM, of this session or another. */
bool sh4_trace_of_agents(const struct sh4_trace *tr, uint32_t pc);
/* ---- tasks of the program's system (tasks.c) ---- */
/* _init: once the decoder is set up. _look_at: the program is held, and what is new becomes events;
 * all: names, too. */
void sh4_trace_tasks_init(struct sh4_trace *tr);
int sh4_trace_look_at_tasks(struct sh4_trace *tr, bool all, struct err *err);
/* Before n words of the ring are decoded: finds the event with which a stack changes its task. */
int sh4_trace_foresee_tasks(struct sh4_trace *tr, size_t n, struct err *err);
/* _shown: how many functions were found only by running. _stepped: how many sites in ROM are
 * traced, by steps. _note: makes the status note again. (note.c) */
size_t sh4_trace_shown(const struct sh4_trace *tr);
size_t sh4_trace_stepped(const struct sh4_trace *tr);
void sh4_trace_note(struct sh4_trace *tr);
/* ---- what is logged (log.c): lines of the subject prof ---- */
void sh4_trace_log_armed(const struct sh4_trace *tr, uint64_t took_ns, uint64_t wire_bits);
void sh4_trace_log_drain(const struct sh4_trace *tr, uint64_t events, uint32_t lost,
                         uint64_t wire_bits);
void sh4_trace_log_stall(const struct sh4_trace *tr, uint64_t ns);
void sh4_trace_log_again(const struct sh4_trace *tr, const char *why);
void sh4_trace_log_active(const struct sh4_trace *tr);
void sh4_trace_log_disarmed(const struct sh4_trace *tr, uint64_t took_ns);
/* ---- the ring (ring.c) ---- */
int sh4_trace_ring_init(struct sh4_trace *tr, struct err *err);
void sh4_trace_ring_fini(struct sh4_trace *tr);
/* Drains the ring: the agent is halted in the kernel, and everything in the ring goes to the queue.
 */
int sh4_trace_empty(struct sh4_trace *tr, struct err *err);
/* The agent waits in the kernel, for any reason. 1: that concerns the user; 0: it wanted its ring
 * read, and runs on. */
int sh4_trace_serve(struct sh4_trace *tr, struct err *err);
/* Whether the queue has room for a full ring. */
bool sh4_trace_has_room(const struct sh4_trace *tr);
/* Decodes a record that the host has made of the halted program. */
void sh4_trace_decode_own(struct sh4_trace *tr, const uint32_t words[SH4_TRACE_LONG_WORDS]);
/* ---- events on their way to the caller (queue.c) ---- */
int sh4_trace_queue_init(struct sh4_trace *tr, struct err *err);
void sh4_trace_queue_fini(struct sh4_trace *tr);
/* Takes the oldest events out of the queue, up to cap. Returns how many. */
size_t sh4_trace_take_events(struct sh4_trace *tr, struct event *out, size_t cap);
void sh4_trace_push(struct sh4_trace *tr, const struct event *e);
/* Adds an event that the host makes, with the present time; pc 0: without one. */
void sh4_trace_note_event(struct sh4_trace *tr, enum event_kind kind, uint32_t pc,
                          enum event_cause cause, uint64_t amount);
/* Notes that the agent dropped so many events after the last one in the ring. */
void sh4_trace_note_lost(struct sh4_trace *tr, uint32_t lost);
/* ---- words.c ---- */
/* Clocks of the wire since it was opened; of a byte stream, bits. */
uint64_t sh4_trace_wire_bits(struct sh4_target *t);
/* Sets CCR, by code that runs uncached. */
int sh4_trace_set_ccr(struct sh4_target *t, uint32_t value, struct err *err);
/* Reads and writes words of the agent's save and extension blocks. */
int sh4_trace_get(struct sh4_trace *tr, uint32_t offset, uint32_t *words, size_t n,
                  struct err *err);
int sh4_trace_put(struct sh4_trace *tr, uint32_t offset, const uint32_t *words, size_t n,
                  struct err *err);
/* Measures the residue; the target is halted, the plan is in its RAM. (calibrate.c) */
int sh4_trace_calibrate(struct sh4_trace *tr, struct err *err);
/* Measures the ways in and out of the agent against the known residue, while calibration runs.
 * (ways.c) */
int sh4_trace_measure_ways(struct sh4_trace *tr, bool cached, struct err *err);
/* For calibration: the SR it runs with, waiting until it is back in the kernel, emptying the ring.
 * (ways.c) */
enum { SH4_TRACE_CALIB_SR = 0x400000F0 };
int sh4_trace_calib_back(struct sh4_target *t, struct err *err);
int sh4_trace_reset_ring(struct sh4_trace *tr, struct err *err);
/* A halfword of the program: what is to be there (value), and what is there (if readable). */
struct sh4_trace_half {
    uint32_t addr;
    uint16_t value, there;
    bool readable;
};
/* Reads and writes many halfwords in few exchanges. read_halves reads past the caches, as
 * instructions are fetched. The caller purges what the program has written and not written back. No
 * line of code gets into the operand cache, where it would hide what is written to memory later.
 * write_halves: memory that takes no store is no failure. (halves.c) */
int sh4_trace_read_halves(struct sh4_target *t, struct sh4_trace_half *half, size_t n,
                          struct err *err);
int sh4_trace_write_halves(struct sh4_target *t, const struct sh4_trace_half *half, size_t n,
                           struct err *err);
/* Compares the program with the board's memory; -ERR_FORMAT if it is another program. A section
 * that the program copies itself, and has not yet copied, is compared where it is loaded. It then
 * waits. (copied.c) */
int sh4_trace_compare(struct sh4_trace *tr, struct err *err);
void sh4_trace_copied_fini(struct sh4_trace *tr);
/* Whether addr is in a section that waits. */
bool sh4_trace_waits(const struct sh4_trace *tr, uint32_t addr);
/* Patches the sections that have been copied by now. The program is held: at a drain, or halted. */
int sh4_trace_take_copies(struct sh4_trace *tr, struct err *err);
/* Gives up patch i, as the program has replaced the code there. (changed.c) */
int sh4_trace_give_up(struct sh4_trace *tr, size_t i, struct err *err);
/* The same, as the debugger has written there. The agent learns it before the program runs on. */
void sh4_trace_overwritten(struct sh4_trace *tr, size_t i);
/* Whether `expected` is still at patch i's place: 1; 0, and the patch is given up; or -ERR_*. */
int sh4_trace_still(struct sh4_trace *tr, size_t i, uint16_t expected, struct err *err);
/* Looks at every patch that should be in memory, and gives up those that are not. While the code is
 * unchanged, that costs one checksum on the board. */
int sh4_trace_look(struct sh4_trace *tr, struct err *err);
/* _init: marks for the plan's patches, none of them in memory yet. _patch, _patch_all: patches go
 * into memory or out of it. (patch.c) */
int sh4_trace_patches_init(struct sh4_trace *tr, struct err *err);
void sh4_trace_patches_fini(struct sh4_trace *tr);
int sh4_trace_patch(struct sh4_trace *tr, size_t i, bool in_memory, struct err *err);
int sh4_trace_patch_all(struct sh4_trace *tr, bool in_memory, struct err *err);
void sh4_trace_hide(struct sh4_target *t, uint32_t addr, uint8_t *buf, size_t len);
void sh4_trace_write(struct sh4_target *t, uint32_t addr, uint8_t *buf, size_t len);
/* Whether code outside P1 and P2 can take no traps: MMUCR.AT is 1, and the UTLB does not map all of
 * it, and the agent's RAM, to itself in shared pages that were written already. 1, 0 or -ERR_*.
 * (mmu.c) */
int sh4_trace_translated(struct sh4_trace *tr, uint32_t ram, uint32_t ram_bytes, struct err *err);
/* Finds out which code takes no patch, and marks its sites. Refuses start and stop points there.
 * (step.c) */
int sh4_trace_find_rom(struct sh4_trace *tr, struct err *err);
void sh4_trace_rom_fini(struct sh4_trace *tr);
/* ---- traps of ours in copies of code (stray.c) ---- */
/* Whether the agent may ask about traps where no site is: not if the program has such traps itself.
 */
int sh4_trace_stray_init(struct sh4_trace *tr, struct err *err);
/* Whether code that the search has found has a TRAPA with our number. */
bool sh4_trace_programs_traps(const struct sh4_trace *tr);
/* The agent waits in the kernel. If it asks about such a trap, it gets its answer. */
int sh4_trace_stray(struct sh4_trace *tr, struct err *err);
/* ---- halts (halt_time.c) ---- */
/* The program has halted; it runs on. */
void sh4_trace_halt_begins(struct sh4_trace *tr);
int sh4_trace_halt_ends(struct sh4_trace *tr, struct err *err);
/* ---- start and stop points (point.c) ---- */
/* The halted program goes on from a point at addr, which acts now. */
int sh4_trace_point_met(struct sh4_trace *tr, uint32_t addr, struct err *err);
/* The program runs on, and free channels watch the points of plan.watched. awaits: channel B is the
 * agent's at present; steps: channel A is the debugger's. */
int sh4_trace_watch(struct sh4_trace *tr, bool awaits, bool steps, struct err *err);
enum sh4_point sh4_trace_at_point(const struct sh4_target *t, const bool match[2]);
/* Recording begins or ends, with its event; the program is held and its ring empty. (record.c) */
int sh4_trace_switch(struct sh4_trace *tr, bool active, struct err *err);
/* The program runs on, and channel A of the user break controller steps what cannot be patched,
 * unless the debugger uses the channel or makes a step. */
int sh4_trace_step_resumed(struct sh4_trace *tr, bool steps, struct err *err);
/* Sets rq->ram and ram_bytes; the rest of the request is set already. -ERR_USAGE if the RAM that
 * the user named is known to be the program's, or if no RAM is free for a larger program; the hint
 * names another range. (ram.c) */
int sh4_trace_choose_ram(struct sh4_trace *tr, struct sh4_trace_request *rq, struct err *err);
/* Reduces [at, at + bytes) to what the trace may use: its P1 address, without a resident kernel in
 * it. */
void sh4_trace_usable_ram(const struct sh4_target *t, uint32_t *at, uint32_t *bytes);
/* The RAM that the trace has, as a P1 address. */
void sh4_trace_ram(const struct sh4_trace *tr, uint32_t *at, uint32_t *bytes);
/* Whether addr is where sh4_trace_choose_ram() puts the agent of a larger program, and nothing of
 * this program is known to be there. */
bool sh4_trace_in_chosen_ram(const struct sh4_trace *tr, uint32_t addr);
/* The error of a start or stop point, or a block, in memory that takes no patch. */
int sh4_trace_refuse_in_rom(uint32_t addr, struct err *err);
/* Gives the agent the cost of a stop, with the caches off or on, which it subtracts. */
int sh4_trace_step_cost(struct sh4_trace *tr, bool cached, struct err *err);
/* For calibration: every return of its loop is stepped from now on, or no longer. */
int sh4_trace_step_loop(struct sh4_trace *tr, bool on, struct err *err);
/* ---- a CPU that was reset while it was traced (reset.c) ---- */
/* Whether it was reset, by what the halted CPU shows. */
bool sh4_trace_was_reset(const struct sh4_trace *tr);
/* Puts what the agent had recorded and not sent into the queue, as far as it is known to be intact,
 * and then the loss by the reset. Sets tr->reset.seen. */
int sh4_trace_salvage(struct sh4_trace *tr, struct err *err);
/* That loss as an event. */
void sh4_trace_note_reset(struct sh4_trace *tr);
/* ---- SR as the program means it (meant.c) ---- */
/* _seen: the program has halted; finds out whether it is in a section where it means BL=1.
 * _resumed: it is to run on, with what the user made of that. _resuming: before that, the host does
 * what the agent would do at the place it stands at. */
int sh4_trace_meant_seen(struct sh4_trace *tr, struct err *err);
int sh4_trace_meant_resumed(struct sh4_trace *tr, struct err *err);
int sh4_trace_meant_resuming(struct sh4_trace *tr, struct err *err);
/* We have interrupted the agent or the program: sets INTEVT to what the program's last interrupt
 * left, if it had one. */
int sh4_trace_meant_intevt(struct sh4_trace *tr, struct err *err);
/* Gives the halted program its BL=1. _end: the trace ends. _left: a stale session has left it so,
 * with its agent at base. */
int sh4_trace_meant_end(struct sh4_target *t, struct err *err);
int sh4_trace_meant_left(struct sh4_target *t, uint32_t base, struct err *err);
/* ---- RTE slots (slots.c) ---- */
/* From now on interrupted code returns by itself, without the agent at base. */
int sh4_trace_slots_leave(struct sh4_target *t, uint32_t base, struct err *err);
/* Whether pc is in a slot of this session: the program was interrupted, and goes on by it. */
bool sh4_trace_in_slot(const struct sh4_trace *tr, uint32_t pc);
/* Reads what an earlier session left where this one's slots will be into tr->slot_left, before the
 * agent is written. */
int sh4_trace_slots_found(struct sh4_trace *tr, struct err *err);
/* Gives it to the agent, after calibration, which needs the slots. */
int sh4_trace_slots_put(struct sh4_trace *tr, struct err *err);
/* ---- for an attach after this session was lost (lost.c) ---- */
/* As in struct sh4_tracing. */
int sh4_trace_clean_stale(struct sh4_target *t, bool search, struct err *err);
int sh4_trace_restore_kept(struct sh4_target *t, struct err *err);
int sh4_trace_take_over_agent(struct sh4_target *t, struct err *err);
/* The address of 32 bytes that the next session looks at, in RAM that the agent may use. */
uint32_t sh4_trace_note_at(const struct sh4_trace *tr);
/* Writes a note there that says where the agent is, or removes it. */
int sh4_trace_leave_note(struct sh4_trace *tr, bool on, struct err *err);
/* Puts the halted program's VBR and DBR into the save area, before the agent's RAM stops saying
 * that they were replaced. */
int sh4_trace_release_vectors(struct sh4_target *t, struct err *err);
/* _keep: writes the halted program's registers into the agent's RAM, while others are to run.
 * _put_back: takes them from tr->aside.words again; seen: what the save area holds now is known. */
int sh4_trace_keep(struct sh4_trace *tr, struct err *err);
int sh4_trace_put_back(struct sh4_trace *tr, bool seen, struct err *err);
/* Makes the patches agree with the user's breakpoints before the program runs on. */
int sh4_trace_reconcile(struct sh4_trace *tr, struct err *err);

#endif
