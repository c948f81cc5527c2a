/* Function trace of an SH-4 target: the host's side. Private to targets/sh4/trace. */
#ifndef TARGETS_SH4_TRACE_TRACE_H
#define TARGETS_SH4_TRACE_TRACE_H

#include "targets/sh4/driver/for_trace.h"
#include "targets/sh4/trace/decode.h"
#include "targets/sh4/trace/plan.h"
#include "targets/sh4/code/sites.h"

enum {
    TRACE_QUEUE = 1 << 16, /* events waiting for the caller before the program has to wait */
    /* a halt is not put off: what the rings hold then comes on top */
    TRACE_QUEUE_MOST = 4 * TRACE_QUEUE,
    SH4_TRACE_KEPT_WORDS = 51 /* lost.c */
};
/* where RAM for larger programs ends: 1 MB below the end of the Dreamcast's 16 MB */
#define SH4_TRACE_RAM_TOP 0x0CF00000u

/* What the host knows of one patch beyond the plan. */
struct sh4_trace_mark {
    bool in_memory; /* our TRAPA is there now */
    bool dead;      /* the code was overwritten: never again */
    bool stale;     /* ... and the agent does not know yet */
};

/* Where the program was seen to run although the search knew no way there. */
struct sh4_trace_found {
    uint32_t sum; /* of the program's code: another program's places mean nothing */
    uint32_t at[256];
    size_t n;
    bool more; /* there are some that are not traced: no room, no time */
};

/* A trace in parts. Each part has one file that owns it: that file's functions keep what is said of
 * it here. Others read it, and change only what its comment names. Arming begins with all of it
 * zero. A part with memory of its own gets it by its file's _init and loses it by its _fini. */

/* Events on their way to the caller (queue.c): `count` from `head` on, in order. No event is lost
 * without `dropped` telling it before the next one that finds room. */
struct sh4_trace_queue {
    struct event *event; /* TRACE_QUEUE_MOST, a ring */
    size_t head, count;
    uint64_t dropped; /* events that found no room since the last that did */
};

/* The agent's ring as it was read last (ring.c). */
struct sh4_trace_ring {
    uint32_t *words; /* SH4_TRACE_MOST_WORDS: one drain */
    uint32_t used;   /* bytes that it brought */
    uint64_t read_ns;
    uint64_t work;        /* records, by what they cost the agent, in eighths of a call or return */
    uint32_t tasks_begun; /* in filtered interrupts */
};

/* Asking for a ring that is not full (poll.c); ring.c says that it was read. */
struct sh4_trace_ask {
    bool sent;      /* an H-UDI interrupt, or its byte; not answered yet */
    unsigned times; /* since the ring was read */
    uint64_t at_ns; /* the last time */
    uint64_t patience_ns;
};

/* Totals since arming (ring.c): they only grow. queue.c adds what it loses. */
struct sh4_trace_sum {
    uint64_t events, lost, doubtful, wire_bits, drains;
    uint64_t held_ns; /* link time the program was held for drains */
};

/* How long the program ran (stops.c); ring.c and poll.c tell of waits with a full ring. */
struct sh4_trace_ran {
    uint64_t board_ns;  /* drains included, up to the last halt */
    uint64_t since_ns;  /* it runs since then; 0: it does not */
    uint64_t waited_ns; /* of those, with its ring full, until that was seen */
    uint64_t unseen_ns; /* when its ring was last seen not to be full */
    bool was_inactive;  /* not everything was counted */
};

/* Elapsed time by the board's own counter (counting.c), agent included. */
struct sh4_trace_time {
    int counter;   /* the counter that counts it, -1 none */
    uint64_t last; /* that one, 48 bits, at the last drain */
    uint64_t raw;  /* since arming: the sum of all steps */
    uint64_t step; /* between the last two drains */
};

/* What the agent costs, in 1/16 counts where the name says so (calibrate.c), and which of it holds
 * now (counting.c, step.c). Most are by caches off and on, then by counter. */
struct sh4_trace_cost {
    bool calibrated[2];
    /* both caches were on: when armed, then at the last drain that brought something */
    bool cached;
    bool icache_enabled; /* at the last drain that brought something */
    int32_t residue16[2][2], first[2][2];
    struct sh4_trace_ways ways[2];
    struct sh4_trace_memory memory16; /* not measured with caches on when armed */
    /* the least elapsed time of an event's residue where a cache is off; 0: not known */
    int32_t one_cache16;
    int32_t full16[2];       /* an event's whole cost in cycles */
    int32_t step_cost[2][2]; /* of a stop in stepped code */
    int8_t step_cached;      /* which of these the agent has: 0, 1, -1 none yet */
    double cycles_per_ns;    /* of the CPU; measured if no counter tells */
};

/* Calibration's loop while it runs (calibrate.c). */
struct sh4_trace_loop {
    uint32_t counter[2]; /* as the loop left them, if it ran */
    bool ran;
    /* scans until the loop is back, by caches, then traced or not; 0 not known yet */
    uint32_t slack[2][2];
};

/* The program while calibration runs in its place (lost.c). */
struct sh4_trace_aside {
    uint32_t words[SH4_TRACE_KEPT_WORDS];
    bool displaced; /* calibration has the CPU, or could not be ended */
};

/* The program as it is (now.c): the image with the sections that it has changed. */
struct sh4_trace_now {
    struct image image; /* its sections are those below */
    struct image_section *section;
    uint8_t **copy; /* by section: contents where they have changed; NULL: as in cfg.image */
    /* where the next look for changed code begins */
    size_t glance_section;
    uint32_t glance_off;
};

/* The search, done again while armed (further.c); arm_sites.c says what it was first done with. */
struct sh4_trace_search {
    struct {
        uint32_t vbr;
        bool entry_blocked, sr_traps;
    } with;
    size_t places; /* of found, by the last search */
    bool due;      /* found.c has seen a place that is new */
    unsigned done; /* again since arming */
    uint64_t after_ns;
    unsigned in_vain;   /* looks at changed code that brought nothing */
    uint64_t glance_ns; /* the next of them */
    /* armed with BL=0 where nobody knows the code: that proves nothing of the entry yet */
    bool unplaced;
    /* SR.BL at entry was taken for clear because the program runs that way */
    bool evidence;
};

/* Sections that the program copies itself (copied.c). nwaiting is how many `waits` are set: they
 * are not at their run address yet, and their patches follow when they are. */
struct sh4_trace_copied {
    bool *waits; /* by section of the image */
    size_t nwaiting;
};

/* Code that takes no patch (step.c). */
struct sh4_trace_unpatched {
    bool *section;      /* by section of the image */
    bool channel_taken; /* channel A is the debugger's: ROM is not traced meanwhile */
};

/* Start and stop points that channels watch (point.c). */
struct sh4_trace_points {
    uint32_t watching[SH4_UBC_CHANNELS]; /* the point a channel watches, 0 none */
    unsigned unwatched;                  /* that no channel could be given to, while it runs */
};

/* The list of what is not seen (coverage.c). Who makes it longer sets next to 0. */
struct sh4_trace_coverage {
    size_t next; /* the row that is sent next */
    bool at_end; /* disarming found changed code: the list is sent behind it */
};

/* The program's tasks (tasks.c). */
struct sh4_trace_tasks {
    uint64_t due_ns;  /* they are looked at again then, whether one was created or not */
    uint32_t highest; /* context of those that were sent */
};

/* Patches in memory (patch.c). changed.c, copied.c, again.c and stray.c put them in and give them
 * up, too: in_memory is true only while our TRAPA was written last. */
struct sh4_trace_patches {
    struct sh4_trace_mark *mark; /* plan.npatches */
    /* one may be out that should be in: a breakpoint's place, one that was stepped over */
    bool absent;
    size_t changed; /* places where the program has replaced the code, since arming */
    size_t strays;  /* traps taken out of copies that the program made of its code, since arming */
};

/* A CPU that resets itself (reset.c; arm.c says whether EXPEVT shows it). */
struct sh4_trace_reset {
    bool shows;
    bool seen; /* since arming: the agent is gone */
};

/* What the plan was asked for beyond the configuration (request.c, ram.c). */
struct sh4_trace_asked {
    bool larger;        /* the RAM below SH4_TRACE_RAM_TOP was chosen */
    bool translated;    /* code outside P1 and P2 takes no patch */
    uint32_t filter_at; /* the filter's routine, 0 none */
};

/* The status note (note.c): made of all that stands above whenever that changes. */
struct sh4_trace_note {
    size_t untraced;
    char text[TRACE_NOTE];
};

/* IPRC as it was before arming (arm.c); put back at disarming if it is known. */
struct sh4_trace_iprc {
    uint32_t value;
    bool known;
};

struct sh4_trace {
    struct sh4_target *t;
    struct trace_config cfg;
    bool armed, active;
    struct sh4_sites sites;
    struct sh4_trace_plan plan;
    struct sh4_trace_decoder dec;
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
    struct sh4_trace_unpatched rom;
    struct sh4_trace_points points;
    struct sh4_trace_coverage coverage;
    struct sh4_trace_tasks tasks;
    struct sh4_trace_reset reset;
    struct sh4_trace_asked request;
    struct sh4_trace_note note;
    struct sh4_trace_iprc iprc;
    /* where code goes on that waits in a slot of an earlier trace, 0: none does (slots.c) */
    uint32_t slot_left[SH4_TRACE_SLOTS];
    uint32_t meant_seen; /* the agent's word of SR as the program means it (meant.c) */
    uint32_t stepped;    /* site being stepped over by the user, | 1; 0 none (stops.c) */
    /* counting goes on from this halt: the agent's last look at the counters is of now (record.c)
     */
    bool rebased;
};

/* The table by which the trace plugs into the driver. (trace.c) */
extern const struct sh4_tracing sh4_tracing;

/* ---- arming and disarming (arm.c) ---- */
/* As in struct target_trace_ops, and struct sh4_tracing's close. */
int sh4_trace_arm(struct target *target, const struct trace_config *cfg, struct err *err);
int sh4_trace_disarm(struct target *target, struct err *err);
int sh4_trace_set_active(struct target *target, bool active, struct err *err);
void sh4_trace_close(struct sh4_target *t);
/* ---- while it runs (poll.c) ---- */
/* As in struct target_trace_ops and struct sh4_tracing. While the queue has no room the program
 * waits with its ring full. */
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
/* The halted program's places are searched, and planned for: tr->sites and tr->plan. */
int sh4_trace_find_and_plan(struct sh4_trace *tr, struct err *err);
/* Chooses the RAM, before anything is written there; the plan of tr->sites in it. */
int sh4_trace_request_ram(struct sh4_trace *tr, struct err *err);
int sh4_trace_make_plan(struct sh4_trace *tr, struct err *err);
/* Symbol of the routine that the shinobi filter leaves out. */
const char *sh4_trace_filter_name(const struct trace_config *cfg);
/* ---- halted in the agent (leave_stub.c) ---- */
/* Halted in a stub: of an earlier session, whose RAM will be used again, or of this one, which
 * ends. It is stepped out of it. */
int sh4_trace_leave_stub(struct sh4_trace *tr, struct err *err);
/* ---- what the counters count (counting.c) ---- */
int sh4_trace_arm_counters(struct sh4_trace *tr, struct err *err); /* from zero */
/* enum sh4_trace_state to begin with, by the configuration. */
uint32_t sh4_trace_initial_state(const struct trace_config *cfg);
/* Another state of the agent's; anything but plain recording is kept off its short path. */
int sh4_trace_set_state(struct sh4_trace *tr, uint32_t state, struct err *err);
/* Counting begins: what the counters show now is zero. */
int sh4_trace_start_state(struct sh4_trace *tr, bool active, struct err *err);
/* Elapsed time, agent included, to tr->time. */
int sh4_trace_read_elapsed(struct sh4_trace *tr, struct err *err);
/* What the agent costs with the caches as they are now; it costs more without them. */
int sh4_trace_choose_residue(struct sh4_trace *tr, struct err *err);
/* ---- records by the host, of a program that has halted (record.c) ---- */
/* Time since the last event, when the profile ends. */
int sh4_trace_time_to_the_end(struct sh4_trace *tr, struct err *err);
/* The program stands on site number id and goes on: the event that the agent would make of it. */
int sh4_trace_event_by_host(struct sh4_trace *tr, uint32_t id, struct err *err);

/* Whether events come from a place: it is patched, or stepped now. (coverage.c) */
bool sh4_trace_sees(const struct sh4_trace *tr, const struct sh4_site *s);
/* Tells the decoder which functions end without an event; the plan is made. (coverage.c) */
void sh4_trace_find_blind(struct sh4_trace *tr);
/* What is not seen as EVENT_UNTRACED: up to cap of those that were not sent since tr->coverage.next
 * was 0. Returns how many. */
size_t sh4_trace_tell_coverage(struct sh4_trace *tr, struct event *out, size_t cap);
/* ---- code that running shows (found.c, further.c, now.c, again.c) ---- */
/* The trace is being armed, cfg is there; it ends. */
int sh4_trace_found_init(struct sh4_trace *tr, struct err *err);
void sh4_trace_found_end(struct sh4_trace *tr);
/* An event came: does it show code that nobody knew? */
void sh4_trace_seen(struct sh4_trace *tr, const struct event *e);
/* The program is held, its ring is empty: looks for changed code, and searches again if there is
 * reason to. */
int sh4_trace_look_further(struct sh4_trace *tr, struct err *err);
/* The search again, with what is known now, and patches by what it finds. */
int sh4_trace_again(struct sh4_trace *tr, struct err *err);
/* Places to be forgotten since the code there has changed (bytes was to is, n from addr on). True
 * if there was one. */
bool sh4_trace_forget_changed(struct sh4_trace *tr, uint32_t addr, const uint8_t *was,
                              const uint8_t *is, uint32_t n);
int sh4_trace_now_init(struct sh4_trace *tr, struct err *err);
void sh4_trace_now_fini(struct sh4_trace *tr);
/* Brings tr->now.image up to date. changed: code that the search has found is another. */
int sh4_trace_now_refresh(struct sh4_trace *tr, bool *changed, struct err *err);
/* Does the next part of the code differ from tr->now.image? */
int sh4_trace_glance(struct sh4_trace *tr, bool *differs, struct err *err);
/* What memory from addr on holds if nothing but ours has changed: n bytes of the program, with what
 * is ours in them. */
void sh4_trace_expect(const struct sh4_trace *tr, uint32_t addr, const uint8_t *program,
                      uint8_t *buf, uint32_t n);
/* Adds places to the plan (plan_more.c). */
int sh4_trace_plan_for(struct sh4_trace *tr, struct sh4_sites *sites, struct sh4_site *const *site,
                       size_t n, struct err *err);
/* Is addr in a --no-patch range? Is it the agent's, or of its stubs and slots? */
bool sh4_trace_left_alone(const struct trace_config *cfg, uint32_t addr);
bool sh4_trace_holds(const struct sh4_target *t, uint32_t pc);
/* In the agent's RAM, of this session or another. */
bool sh4_trace_of_agents(const struct sh4_trace *tr, uint32_t pc);
/* ---- tasks of the program's system (tasks.c) ---- */
/* The decoder is there. The program is held: what is new is told. all: names, too. */
void sh4_trace_tasks_init(struct sh4_trace *tr);
int sh4_trace_look_at_tasks(struct sh4_trace *tr, bool all, struct err *err);
/* n words of the ring are to be decoded: from which event on is a stack another task's? */
int sh4_trace_foresee_tasks(struct sh4_trace *tr, size_t n, struct err *err);
/* How many functions only running has shown; the status note, anew. (note.c) */
size_t sh4_trace_shown(const struct sh4_trace *tr);
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
/* A drain: the agent is halted in the kernel. Everything in the ring goes to the queue. */
int sh4_trace_empty(struct sh4_trace *tr, struct err *err);
/* The agent waits in the kernel, for whatever reason. 1: for the user; 0: it wanted the ring and
 * runs on. */
int sh4_trace_serve(struct sh4_trace *tr, struct err *err);
/* Has the queue room for a full ring? */
bool sh4_trace_has_room(const struct sh4_trace *tr);
/* The host's own record of the halted program. */
void sh4_trace_decode_own(struct sh4_trace *tr, const uint32_t words[SH4_TRACE_LONG_WORDS]);
/* ---- events on their way to the caller (queue.c) ---- */
int sh4_trace_queue_init(struct sh4_trace *tr, struct err *err);
void sh4_trace_queue_fini(struct sh4_trace *tr);
/* The oldest events leave the queue, cap at most. Returns how many. */
size_t sh4_trace_take_events(struct sh4_trace *tr, struct event *out, size_t cap);
void sh4_trace_push(struct sh4_trace *tr, const struct event *e);
/* An event that the host makes, of now; pc 0: none. */
void sh4_trace_note_event(struct sh4_trace *tr, enum event_kind kind, uint32_t pc,
                          enum event_cause cause, uint64_t amount);
/* The agent dropped so many events after the last one in the ring. */
void sh4_trace_note_lost(struct sh4_trace *tr, uint32_t lost);
/* ---- words.c ---- */
/* Clocks of the wire since it was opened; of a byte stream, bits. */
uint64_t sh4_trace_wire_bits(struct sh4_target *t);
/* CCR, by code that runs past the cache. */
int sh4_trace_set_ccr(struct sh4_target *t, uint32_t value, struct err *err);
/* A word of the save or extension block. */
int sh4_trace_get(struct sh4_trace *tr, uint32_t offset, uint32_t *words, size_t n,
                  struct err *err);
int sh4_trace_put(struct sh4_trace *tr, uint32_t offset, const uint32_t *words, size_t n,
                  struct err *err);
/* Measures the residue; the target is halted, the plan is in its RAM. (calibrate.c) */
int sh4_trace_calibrate(struct sh4_trace *tr, struct err *err);
/* Measures the ways in and out, against the residue that is known; calibration runs. (ways.c) */
int sh4_trace_measure_ways(struct sh4_trace *tr, bool cached, struct err *err);
/* Calibration: SR it runs with, waiting until it is back in the kernel, an empty ring. (ways.c) */
enum { SH4_TRACE_CALIB_SR = 0x400000F0 };
int sh4_trace_calib_back(struct sh4_target *t, struct err *err);
int sh4_trace_reset_ring(struct sh4_trace *tr, struct err *err);
/* A halfword of the program: what is there (readable: it could be read), what shall be. */
struct sh4_trace_half {
    uint32_t addr;
    uint16_t value, there;
    bool readable;
};
/* Many of them in few exchanges. read_halves: past the caches, as an instruction is fetched: what
 * the program has written and not written back is the caller's to purge, and no line of code comes
 * into the operand cache, where it would hide what is written to memory later. write_halves: memory
 * that takes no store is no failure. (halves.c) */
int sh4_trace_read_halves(struct sh4_target *t, struct sh4_trace_half *half, size_t n,
                          struct err *err);
int sh4_trace_write_halves(struct sh4_target *t, const struct sh4_trace_half *half, size_t n,
                           struct err *err);
/* Compares the program with the board's memory: -ERR_FORMAT if it is another. A section that the
 * program copies itself, and has not yet, is compared where it is loaded, and waits. (copied.c) */
int sh4_trace_compare(struct sh4_trace *tr, struct err *err);
void sh4_trace_copied_fini(struct sh4_trace *tr);
/* Is addr in a section that waits? */
bool sh4_trace_waits(const struct sh4_trace *tr, uint32_t addr);
/* Sections whose copy is there now are patched. The program is held: at a drain, or halted. */
int sh4_trace_take_copies(struct sh4_trace *tr, struct err *err);
/* Patch i is given up: the program has replaced the code there. (changed.c) */
int sh4_trace_give_up(struct sh4_trace *tr, size_t i, struct err *err);
/* The same for what the debugger has written over; the agent learns it before the program runs on.
 */
void sh4_trace_overwritten(struct sh4_trace *tr, size_t i);
/* Is `expected` still at patch i's place? 1; 0, and it is given up; or -ERR_*. */
int sh4_trace_still(struct sh4_trace *tr, size_t i, uint16_t expected, struct err *err);
/* Looks at every patch that should be in memory, and gives up those that are not. Of code that is
 * as it was that costs a sum on the board. */
int sh4_trace_look(struct sh4_trace *tr, struct err *err);
/* Marks for the plan's patches, none in memory yet; patches in or out of memory. (patch.c) */
int sh4_trace_patches_init(struct sh4_trace *tr, struct err *err);
void sh4_trace_patches_fini(struct sh4_trace *tr);
int sh4_trace_patch(struct sh4_trace *tr, size_t i, bool in_memory, struct err *err);
int sh4_trace_patch_all(struct sh4_trace *tr, bool in_memory, struct err *err);
void sh4_trace_hide(struct sh4_target *t, uint32_t addr, uint8_t *buf, size_t len);
void sh4_trace_write(struct sh4_target *t, uint32_t addr, uint8_t *buf, size_t len);
/* Is code outside P1 and P2 out of reach for traps: MMUCR.AT=1, and the UTLB does not map all of
 * it, and the agent's RAM, to itself in pages that are shared and written already? 1, 0, or -ERR_*.
 * (mmu.c) */
int sh4_trace_translated(struct sh4_trace *tr, uint32_t ram, uint32_t ram_bytes, struct err *err);
/* Finds out which code takes no patch and marks its sites; refuses start and stop points there.
 * (step.c) */
int sh4_trace_find_rom(struct sh4_trace *tr, struct err *err);
void sh4_trace_rom_fini(struct sh4_trace *tr);
/* ---- traps of ours in copies of code (stray.c) ---- */
/* May the agent ask about traps where no site is? Not if the program has such ones itself. */
int sh4_trace_stray_init(struct sh4_trace *tr, struct err *err);
/* The agent waits in the kernel: if it asks about such a trap, it gets its answer. */
int sh4_trace_stray(struct sh4_trace *tr, struct err *err);
/* ---- halts (halt_time.c) ---- */
/* The program has halted; it runs on. */
void sh4_trace_halt_begins(struct sh4_trace *tr);
int sh4_trace_halt_ends(struct sh4_trace *tr, struct err *err);
/* ---- start and stop points (point.c) ---- */
/* The halted program goes on from a point at addr: it acts. */
int sh4_trace_point_met(struct sh4_trace *tr, uint32_t addr, struct err *err);
/* The program runs on: free channels watch the points of plan.watched. awaits: channel B is the
 * agent's just now; steps: channel A is the debugger's. */
int sh4_trace_watch(struct sh4_trace *tr, bool awaits, bool steps, struct err *err);
enum sh4_point sh4_trace_at_point(const struct sh4_target *t, const bool match[2]);
/* Recording begins or ends, with its event; the program is held and its ring empty. (record.c) */
int sh4_trace_switch(struct sh4_trace *tr, bool active, struct err *err);
/* The program runs on: channel A of the user break controller steps what cannot be patched, unless
 * the debugger has it or steps itself. */
int sh4_trace_step_resumed(struct sh4_trace *tr, bool steps, struct err *err);
/* rq->ram and ram_bytes; all else of the request is there. -ERR_USAGE if the RAM that was named is
 * known to be the program's, or no RAM for a larger program is free: the hint names another range.
 * (ram.c) */
int sh4_trace_choose_ram(struct sh4_trace *tr, struct sh4_trace_request *rq, struct err *err);
/* What of [at, at + bytes) the trace may use: its P1 address, less a resident kernel in it. */
void sh4_trace_usable_ram(const struct sh4_target *t, uint32_t *at, uint32_t *bytes);
/* The RAM the trace has; a P1 address. */
void sh4_trace_ram(const struct sh4_trace *tr, uint32_t *at, uint32_t *bytes);
/* True where the above puts the agent of a larger program, and nothing of this program is known to
 * be. */
bool sh4_trace_in_chosen_ram(const struct sh4_trace *tr, uint32_t addr);
/* Lets the agent subtract what a stop costs with the caches off or on. */
int sh4_trace_step_cost(struct sh4_trace *tr, bool cached, struct err *err);
/* Calibration: every return of its loop is stepped from now on, or no longer. */
int sh4_trace_step_loop(struct sh4_trace *tr, bool on, struct err *err);
/* ---- a CPU that was reset while it was traced (reset.c) ---- */
/* Whether it has been, by what the halted CPU shows. */
bool sh4_trace_was_reset(const struct sh4_trace *tr);
/* What the agent had recorded and not told goes to the queue, as far as it can be known to be
 * there; then a loss by the reset. tr->reset.seen is set. */
int sh4_trace_salvage(struct sh4_trace *tr, struct err *err);
/* That loss as an event. */
void sh4_trace_note_reset(struct sh4_trace *tr);
/* ---- SR as the program means it (meant.c) ---- */
/* The program has halted: is it in such a section? It is to run on: what the user made of that;
 * before, the host does what the agent would at the place it stands at. */
int sh4_trace_meant_seen(struct sh4_trace *tr, struct err *err);
int sh4_trace_meant_resumed(struct sh4_trace *tr, struct err *err);
int sh4_trace_meant_resuming(struct sh4_trace *tr, struct err *err);
/* The agent, or the program, was interrupted by us: INTEVT is what the program's last interrupt
 * left, if there was one. */
int sh4_trace_meant_intevt(struct sh4_trace *tr, struct err *err);
/* The halted program gets its BL=1: the trace ends; or that of a lost session, whose agent is at
 * base. */
int sh4_trace_meant_end(struct sh4_target *t, struct err *err);
int sh4_trace_meant_left(struct sh4_target *t, uint32_t base, struct err *err);
/* ---- RTE slots (slots.c) ---- */
/* What was interrupted finds its way back by itself from now on, without the agent at base. */
int sh4_trace_slots_leave(struct sh4_target *t, uint32_t base, struct err *err);
/* What an earlier session left where this one's slots will be, to tr->slot_left; before the agent
 * is written. */
int sh4_trace_slots_found(struct sh4_trace *tr, struct err *err);
/* The agent serves it; behind calibration, which needs the slots. */
int sh4_trace_slots_put(struct sh4_trace *tr, struct err *err);
/* ---- for an attach after this session was lost (lost.c) ---- */
/* As in struct sh4_tracing. */
int sh4_trace_clean_stale(struct sh4_target *t, bool search, struct err *err);
int sh4_trace_restore_kept(struct sh4_target *t, struct err *err);
int sh4_trace_take_over_agent(struct sh4_target *t, struct err *err);
/* 32 bytes at a place the next session looks at, in RAM the agent may use. */
uint32_t sh4_trace_note_at(const struct sh4_trace *tr);
/* A note there says where the agent is. */
int sh4_trace_leave_note(struct sh4_trace *tr, bool on, struct err *err);
/* The halted program's VBR and DBR go to the save area, before the agent's RAM stops telling that
 * they were replaced. */
int sh4_trace_release_vectors(struct sh4_target *t, struct err *err);
/* The halted program's registers into the agent's RAM, while others are to run; and back from
 * tr->aside.words (seen: what the save area holds now is known). */
int sh4_trace_keep(struct sh4_trace *tr, struct err *err);
int sh4_trace_put_back(struct sh4_trace *tr, bool seen, struct err *err);
/* Makes patches and the user's breakpoints agree before the program runs on. */
int sh4_trace_reconcile(struct sh4_trace *tr, struct err *err);

#endif
