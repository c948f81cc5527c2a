/* Function trace of an SH-4 target: arming, moving records, disarming. See docs/sh4-trace.md. */
#include "targets/sh4/trace/trace.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "probe/base/bytes.h"
#include "probe/base/pages.h"
#include "probe/base/util.h"
#include "targets/sh4/agent/trace_blob.h"
#include "targets/sh4/isa/isa.h"
#include "targets/sh4/isa/regs.h"

enum {
    HALT_NS = 2000000000, /* how long a halt for arming may take */
    /* ... and at least so many looks: reading a full ring through a slow adapter takes seconds */
    HALT_POLLS = 40,
    SLICE_NS = 1000000,
    ASK_NS = 20000000, /* the ring is asked for at least this often */
    ASK_AGAIN_NS = 5000000,
    SILENT_ASKS = 3, /* not answered: is the agent still there? */
    /* over a serial line a ring that is not full is asked for after so many times what reading one
       took */
    SLOW_LINK = 4,
    WAIT_LOOPS = 20000000, /* agent, ring full and no host: about a second until it drops instead */
    INTERRUPT_PRIORITY = 15,

    ELAPSED = 0x23 /* the counters' event */
};
/* nothing public names the library's routine: an assumption */
#define DEFAULT_SHINOBI "_sbInterrupt"

static uint64_t now(struct sh4_target *t) { return sh4_link_now(&t->link); }

/* ---- queue ---- */

static void put_last(struct sh4_trace *tr, const struct event *e)
{
    tr->queue[(tr->head + tr->count++) % TRACE_QUEUE_MOST] = *e;
}

void sh4_trace_push(struct sh4_trace *tr, const struct event *e)
{
    if (tr->count + 2 > TRACE_QUEUE_MOST) {
        tr->dropped++;
        tr->lost++;
        return;
    }
    if (tr->dropped) {
        struct event lost = *e;
        lost.kind = EVENT_LOST;
        lost.cause = EVENT_CAUSE_HOST_QUEUE;
        lost.amount = tr->dropped;
        lost.flags &= EVENT_HAS_C1 | EVENT_HAS_C2;
        tr->dropped = 0;
        put_last(tr, &lost);
    }
    put_last(tr, e);
}

static void note_event(struct sh4_trace *tr, enum event_kind kind, uint32_t pc,
                       enum event_cause cause, uint64_t amount)
{
    struct event e = { .kind = (uint8_t)kind,
                       .host_ns = now(tr->t),
                       .cause = (uint8_t)cause,
                       .amount = amount,
                       .c1 = (tr->dec.c16[0] + 8) / 16,
                       .c2 = (tr->dec.c16[1] + 8) / 16,
                       .context = tr->dec.context,
                       .flags = (tr->cfg.counter[0] ? EVENT_HAS_C1 : 0) |
                                (tr->cfg.counter[1] ? EVENT_HAS_C2 : 0) };
    if (pc) {
        e.pc = pc;
        e.flags |= EVENT_HAS_PC;
    }
    sh4_trace_push(tr, &e);
}

void sh4_trace_note_reset(struct sh4_trace *tr)
{
    note_event(tr, EVENT_LOST, 0, EVENT_CAUSE_RESET, 0);
}

/* Events were dropped after the last one in the ring. The agent's closing timestamp is from after
 * the gap, so the loss is told before it: else what passed meanwhile would count for the function
 * before the gap. */
static void note_lost(struct sh4_trace *tr, uint32_t lost)
{
    struct event *last =
        tr->count ? &tr->queue[(tr->head + tr->count - 1) % TRACE_QUEUE_MOST] : NULL;
    const struct event *before =
        tr->count > 1 ? &tr->queue[(tr->head + tr->count - 2) % TRACE_QUEUE_MOST] : NULL;
    if (!last || !before || last->kind != EVENT_TIMESTAMP) {
        note_event(tr, EVENT_LOST, 0, EVENT_CAUSE_RING_FULL, lost);
        return;
    }
    struct event stamp = *last;
    *last = (struct event){ .kind = EVENT_LOST,
                            .cause = EVENT_CAUSE_RING_FULL,
                            .amount = lost,
                            .host_ns = stamp.host_ns,
                            .c1 = before->c1,
                            .c2 = before->c2,
                            .flags = before->flags & (EVENT_HAS_C1 | EVENT_HAS_C2) };
    sh4_trace_push(tr, &stamp);
}

/* ---- agent's words ---- */

int sh4_trace_get(struct sh4_trace *tr, uint32_t offset, uint32_t *words, size_t n, struct err *err)
{
    return sh4_agent_read(tr->t, tr->plan.base + offset, 4, words, n, err);
}

int sh4_trace_put(struct sh4_trace *tr, uint32_t offset, const uint32_t *words, size_t n,
                  struct err *err)
{
    return sh4_agent_write(tr->t, tr->plan.base + offset, 4, words, n, err);
}

/* ---- draining ---- */

static void decode_words(struct sh4_trace *tr, size_t n)
{
    struct event e[64];
    uint64_t at = now(tr->t);
    for (size_t i = 0, used; i < n; i += used) {
        size_t got = sh4_trace_decode(&tr->dec, tr->words + i, n - i, at, e, ARRAY_LEN(e), &used);
        for (size_t k = 0; k < got; k++) {
            if (e[k].kind == EVENT_START || e[k].kind == EVENT_STOP)
                tr->active = e[k].kind == EVENT_START;
            tr->doubtful += e[k].flags & EVENT_DOUBTFUL ? 1 : 0;
            tr->events += e[k].kind != EVENT_TIMESTAMP && e[k].kind != EVENT_LOST;
            sh4_trace_seen(tr, &e[k]);
            sh4_trace_push(tr, &e[k]);
        }
        if (!used)
            break;
    }
}

/* The host's own record of the halted program. */
static void decode_own(struct sh4_trace *tr, const uint32_t words[SH4_TRACE_LONG_WORDS])
{
    memcpy(tr->words, words, SH4_TRACE_LONG_WORDS * sizeof *words);
    tr->dec.of_host = tr->rebased ? SH4_TRACE_OF_HOST_AGAIN : SH4_TRACE_OF_HOST;
    decode_words(tr, SH4_TRACE_LONG_WORDS);
    tr->dec.of_host = SH4_TRACE_OF_AGENT;
}

/* In eighths of what a call or return takes: records that carry an address take about twice that,
 * start and stop points a little less; that share stands for the traps between a stop and a start
 * point, too, which leave no record (docs/open.md). */
static uint64_t work_of(const struct sh4_trace *tr, size_t n)
{
    uint64_t work = 0;
    for (size_t i = 0, len; i < n; i += len) {
        uint32_t number = tr->words[i] & SH4_TRACE_NUMBER;
        bool is_long = number >= SH4_TRACE_LONG;
        len = is_long ? SH4_TRACE_LONG_WORDS : 2;
        work += is_long                                                                 ? 16
                : number < tr->plan.nids && tr->plan.id[number].kind == SH4_SITE_NKINDS ? 16
                                                                                        : 8;
    }
    return work;
}

/* Elapsed time, agent included: 48 bits that may wrap. */
static int read_raw(struct sh4_trace *tr, struct err *err)
{
    uint32_t v[2];
    if (tr->elapsed < 0 || tr->was_reset) /* the reset stops and clears the counters */
        return 0;
    int ret = sh4_agent_read(tr->t, tr->elapsed ? SH4_PMCTR2H : SH4_PMCTR1H, 4, v, 2, err);
    if (ret < 0)
        return ret;
    uint64_t c = (uint64_t)(v[0] & 0xFFFF) << 32 | v[1];
    tr->raw_step = (c - tr->counter_last) & 0xFFFFFFFFFFFF;
    tr->raw += tr->raw_step;
    tr->counter_last = c;
    return 0;
}

/* The agent costs more while the program runs without caches. */
static int choose_residue(struct sh4_trace *tr, struct err *err)
{
    uint32_t ccr;
    int ret = sh4_agent_peek(tr->t, SH4_CCR, 4, &ccr, err);
    bool cached = REG_GET(ccr, SH4_CCR_ICE) && REG_GET(ccr, SH4_CCR_OCE);
    if (ret < 0)
        return ret;
    tr->icache_enabled = REG_GET(ccr, SH4_CCR_ICE);
    memcpy(tr->dec.residue16, tr->residue16[cached], sizeof tr->dec.residue16);
    tr->dec.ways = tr->ways[cached];
    tr->dec.uncached = !cached;
    tr->dec.memory16 = tr->memory16;
    tr->dec.guessed = cached != tr->cached || !tr->calibrated[cached];
    tr->cached = cached;
    memcpy(tr->dec.first, tr->first[cached], sizeof tr->dec.first);
    return sh4_trace_step_cost(tr, cached, err);
}

static int save_word(struct sh4_target *t, unsigned word, uint32_t *v, struct err *err)
{
    return sh4_agent_read(t, t->agent_base + t->layout->save_area + 4 * word, 4, v, 1, err);
}

static uint64_t tck(struct sh4_target *t)
{
    uint64_t clocks = 0;
    if (!t->link.jtag) /* eight bits and two for the start and the stop */
        return 10 * t->link.scans;
    if (t->link.jtag->stats)
        t->link.jtag->stats(t->probe, &clocks, NULL, NULL);
    return clocks;
}

static int look_for_tasks(struct sh4_trace *tr, struct err *err);

/* Another state; anything but plain recording is kept off the agent's short path. */
static int set_state(struct sh4_trace *tr, uint32_t state, struct err *err)
{
    uint32_t words[] = { state, 0 }, size = 0; /* and no losses */
    int ret = sh4_trace_put(tr, sh4_trace_blob.cold + 4 * SH4_TRACE_C_STATE, words,
                            ARRAY_LEN(words), err);
    if (ret == 0 && !(state & SH4_TRACE_ODD))
        ret = sh4_trace_get(tr, sh4_trace_blob.cold + 4 * SH4_TRACE_C_SIZE, &size, 1, err);
    return ret < 0 ? ret
                   : sh4_trace_put(tr, sh4_trace_blob.save + 4 * SH4_TRACE_S_SIZE, &size, 1, err);
}

/* A record that found no room even behind the ring may have been a call's or return's: the agent
 * has kept its address, the host has not seen it. */
static int forget_returns(struct sh4_trace *tr, struct err *err)
{
    static const uint32_t none[SH4_TRACE_KEPT_RETURNS] = { 0 };
    sh4_trace_decode_forget(&tr->dec, true);
    return sh4_trace_put(tr, tr->plan.returns, none, ARRAY_LEN(none), err);
}

/* Sections that the program has copied by now, and code that only running shows. */
static int look_at_code(struct sh4_trace *tr, struct err *err)
{
    size_t waiting = tr->nwaiting;
    int ret = waiting ? sh4_trace_take_copies(tr, err) : 0;
    if (tr->nwaiting != waiting) {
        sh4_trace_note(tr);
        sh4_trace_log_again(tr, "the program has copied a section");
    }
    return ret < 0 || tr->t->trace_ending ? ret : sh4_trace_look_further(tr, err);
}

int sh4_trace_empty(struct sh4_trace *tr, struct err *err)
{
    const uint32_t save = sh4_trace_blob.save;
    uint32_t s[32], *cold = s + 16; /* the blocks lie in a row */
    uint64_t before = tck(tr->t);
    int ret = sh4_trace_get(tr, save, s, 16 + SH4_TRACE_C_LOST + 1, err);
    if (ret < 0)
        return ret;
    uint32_t n = (s[SH4_TRACE_S_WPTR] - tr->plan.ring) / 4, lost = cold[SH4_TRACE_C_LOST],
             state = cold[SH4_TRACE_C_STATE];
    if (n > (tr->plan.ring_bytes + SH4_TRACE_RESERVE) / 4 || n > SH4_TRACE_MOST_WORDS)
        return err_set(
            err, ERR_PROTOCOL, "the program may have written over the agent: give it other RAM",
            "trace ring at %08x: write pointer %08x", tr->plan.ring, s[SH4_TRACE_S_WPTR]);
    if (n)
        ret = sh4_agent_read(tr->t, tr->plan.ring, 4, tr->words, n, err);
    if (ret == 0 && n)
        ret = sh4_trace_put(tr, save + 4 * SH4_TRACE_S_WPTR, &tr->plan.ring, 1, err);
    uint32_t right = (state & ~(uint32_t)(SH4_TRACE_FULL | SH4_TRACE_LIVE)) |
                     (tr->cfg.policy == TRACE_LIVE ? SH4_TRACE_LIVE : 0);
    /* an agent that nobody read for a while has made itself live */
    if (ret == 0 && (lost || state != right))
        ret = set_state(tr, right, err);
    if (ret == 0)
        ret = read_raw(tr, err);
    if (ret < 0)
        return ret;
    if (n && (ret = choose_residue(tr, err)) < 0)
        return ret;
    if ((ret = look_for_tasks(tr, err)) < 0 ||
        (ret = sh4_trace_look_at_tasks(tr, tr->t->trace_ending, err)) < 0)
        return ret;
    tr->ring_used = n * 4;
    tr->work += work_of(tr, n);
    if ((ret = sh4_trace_foresee_tasks(tr, n, err)) < 0)
        return ret;
    uint64_t events = tr->events;
    decode_words(tr, n);
    if (lost) {
        if (s[SH4_TRACE_S_WPTR] >= tr->plan.ring + tr->plan.ring_bytes &&
            (ret = forget_returns(tr, err)) < 0)
            return ret;
        tr->lost += lost;
        sh4_trace_decode_lost(&tr->dec, lost);
        note_lost(tr, lost);
    }
    tr->wire_bits += tck(tr->t) - before;
    tr->drains++;
    if (n || lost)
        sh4_trace_log_drain(tr, tr->events - events, lost, tck(tr->t) - before);
    tr->last_drain_ns = now(tr->t);
    tr->asks = 0;
    return tr->armed ? look_at_code(tr, err) : 0;
}

/* A break set by the agent on channel B to catch the end of a handler has to survive the kernel. */
static int keep_break(struct sh4_trace *tr, struct err *err)
{
    struct sh4_target *t = tr->t;
    uint32_t spc;
    if (t->ubc[1].used)
        return 0;
    int ret = sh4_trace_get(tr, sh4_trace_blob.cold + 4 * SH4_TRACE_C_EXC, &spc, 1, err);
    if (ret < 0)
        return ret;
    t->save[SH4_SAVE_BBRB] = spc ? SH4_BBR_FETCH : 0;
    return sh4_agent_poke(t, t->agent_base + t->layout->save_area + 4 * SH4_SAVE_BBRB, 4,
                          t->save[SH4_SAVE_BBRB], err);
}

/* On as the kernel found it; a range step under way goes on. */
static int go_on(struct sh4_trace *tr, struct err *err)
{
    struct sh4_target *t = tr->t;
    uint32_t step[3] = { 0, 0, 0 };
    struct err own = { .code = ERR_OK };
    int ret = keep_break(tr, err);
    if (ret == 0 && t->stepping)
        ret = sh4_agent_read(t, t->agent_base + t->layout->step_words, 4, step, 3, err);
    if (ret < 0)
        return ret;
    struct sh4_request req = { .routine = t->layout->op_go - (uint32_t)t->layout->ref_call,
                               .arg = { step[0], step[1], step[2] } };
    ret = sh4_agent_run(t, &req, 1, &own);
    if (ret == -ERR_TIMEOUT) /* its answer was lost, but it runs */
        return 0;
    if (ret < 0 && err)
        *err = own;
    return ret;
}

/* The agent waits in the kernel, for whatever reason. 1: for the user; 0: it wanted the ring and
 * runs on. */
static int serve(struct sh4_trace *tr, struct err *err)
{
    struct sh4_target *t = tr->t;
    uint32_t kind;
    int ret = save_word(t, SH4_SAVE_KIND, &kind, err);
    if (ret < 0)
        return ret;
    /* answered late */
    bool asked = tr->drain_asked,
         ours = kind == SH4_ENTRY_TRACE || (kind == SH4_ENTRY_INTERRUPT && !t->halt_wanted);
    tr->drain_asked = false;
    if (!ours)
        return 1;
    uint64_t before = now(t);
    ret = kind == SH4_ENTRY_INTERRUPT ? sh4_trace_meant_intevt(tr, err) : 0;
    if (ret < 0 || (ret = sh4_trace_empty(tr, err)) < 0)
        return ret;
    if (kind == SH4_ENTRY_TRACE && (ret = sh4_trace_stray(tr, err)) < 0)
        return ret;
    if ((ret = go_on(tr, err)) < 0)
        return ret;
    tr->held_ns += now(t) - before;
    tr->patience_ns = t->link.jtag ? 0 : SLOW_LINK * (now(t) - before);
    if (asked || !tr->unseen_ns)
        return 0;
    tr->waited_ns += (before - tr->unseen_ns) / 2; /* it was full at some time in between */
    sh4_trace_log_stall(tr, (before - tr->unseen_ns) / 2);
    return 0;
}

/* An agent that waits with a full ring takes no interrupt, and a break would cost the program its
 * SPC: when the program shall halt, its ring is read whether the caller keeps up or not. No record
 * is less than two words an event. */
static bool room(const struct sh4_trace *tr)
{
    return tr->t->halt_wanted ||
           tr->count + (tr->plan.ring_bytes + SH4_TRACE_RESERVE) / 8 + 16 < TRACE_QUEUE;
}

/* Hook of the driver: looks for the agent. While the queue has no room the program waits with its
 * ring full. */
static int look(struct sh4_target *t, uint64_t max_ns, struct err *err)
{
    struct sh4_trace *tr = t->trace;
    uint32_t in[3];
    (void)max_ns;
    if (t->link.ir != SH4_TI_RESET_NEGATE && !tr->drain_asked) {
        int ret = sh4_link_command(&t->link, SH4_TI_RESET_NEGATE, err);
        if (ret < 0)
            return ret;
    }
    /* A full ring waits for any word: show it none until there is room. Our own POLL of the look
     * before, still there, means that nobody is in the kernel; another would answer a ring that has
     * become full since. */
    uint32_t quiet[1] = { SH4_TRACE_RING };
    /* a full ring's program is in the kernel already: let it wait */
    if (!t->link.jtag && !room(tr))
        return 0;
    int ret = room(tr) ? 1 : sh4_link_words(&t->link, quiet, in, 1, err);
    if (ret < 0 || (ret == 0 && (in[0] == SH4_TRACE_RING || in[0] == SH4_AGENT_POLL)))
        return ret;
    uint64_t at = now(t);
    ret = sh4_agent_halted(t, err);
    if (ret == 0)
        tr->unseen_ns = at;
    if (ret > 0)
        ret = serve(tr, err);
    /* An agent that falls silent in the middle of its ring: was it reset there? If that cannot be
     * told, the silence is what is told. */
    struct err reset = { .code = ERR_OK };
    if (ret != -ERR_TIMEOUT || !tr->reset_shows ||
        sh4_reset_while_traced(t, &reset) != -ERR_NO_TARGET)
        return ret;
    if (err)
        *err = reset;
    return -ERR_NO_TARGET;
}

/* Asks for a ring that is not full: an H-UDI interrupt with the word the agent looks for. */
static int ask(struct sh4_trace *tr, struct err *err)
{
    struct sh4_target *t = tr->t;
    uint32_t word = SH4_TRACE_DRAIN, in;
    tr->last_ask_ns = now(t);
    tr->asks++;
    if (!t->link.jtag) {
        tr->drain_asked = true;
        return sh4_stream_interrupt(&t->link, SH4_STREAM_DRAIN, err);
    }
    int ret = tr->reset_shows && tr->asks > SILENT_ASKS ? sh4_reset_while_traced(t, err) : 0;
    if (ret == 0)
        ret = sh4_link_words(&t->link, &word, &in, 1, err);
    if (ret == 0 && in != SH4_TRACE_RING)
        ret = sh4_link_command(&t->link, SH4_TI_INTERRUPT, err);
    tr->drain_asked = ret == 0;
    return ret < 0 ? ret : sh4_link_wait(&t->link, 20000, err);
}

static int stop_program(struct sh4_target *t, bool *ran, struct err *err);

/* The wire failed, or the CPU was reset: of that what was recorded is told first, the error once it
 * has been. */
static int bring_home(struct sh4_trace *tr, int ret)
{
    bool ran;
    struct sh4_target *t = tr->t;
    if (ret != -ERR_NO_TARGET || !tr->reset_shows ||
        sh4_reset_while_traced(t, NULL) != -ERR_NO_TARGET)
        return sh4_lost(t, ret);
    t->trace_ending = true;
    int stopped = stop_program(t, &ran, NULL);
    t->trace_ending = false;
    return stopped == 0 && tr->was_reset ? 0 : sh4_lost(t, ret);
}

static int trace_poll(struct target *target, struct event *out, size_t cap, uint64_t max_ns,
                      struct err *err)
{
    struct sh4_target *t = sh4_of(target);
    struct sh4_trace *tr = t->trace;
    uint64_t end = now(t) + max_ns;
    if (!tr)
        return 0;
    if (tr->was_reset && tr->armed && !tr->count)
        return sh4_lost(t, sh4_reset_error(t->trap[1], err));
    size_t told = tr->armed || tr->ending ? sh4_trace_tell_coverage(tr, out, cap) : 0;
    if (told)
        return (int)told;
    while (tr->armed && tr->count == 0 && t->state == TARGET_RUNNING && !t->stop_pending) {
        int ret = look(t, 0, err);
        if (ret < 0)
            return bring_home(tr, ret);
        if (ret > 0) /* halted for the user: the driver's poll finds it again */
            break;
        uint64_t at = now(t);
        if (tr->count || at >= end)
            break;
        if (at - tr->last_drain_ns > MAX((uint64_t)ASK_NS, tr->patience_ns) && !t->halt_wanted &&
            at - tr->last_ask_ns > sh4_link_again_ns(&t->link, tr->asks, ASK_AGAIN_NS))
            ret = ask(tr, err);
        else
            ret = sh4_link_wait(&t->link, MIN((uint64_t)SLICE_NS, end - at), err);
        if (ret < 0)
            return bring_home(tr, ret);
    }
    size_t n = MIN(cap, tr->count);
    for (size_t i = 0; i < n; i++)
        out[i] = tr->queue[(tr->head + i) % TRACE_QUEUE_MOST];
    tr->head = (tr->head + n) % TRACE_QUEUE_MOST;
    tr->count -= n;
    return (int)n;
}

static const char *filter_name(const struct trace_config *cfg)
{
    return cfg->shinobi_routine ? cfg->shinobi_routine : DEFAULT_SHINOBI;
}

/* What ran of a task between its beginning in a filtered handler and its first interruption is not
 * in the profile. */
static int look_for_tasks(struct sh4_trace *tr, struct err *err)
{
    uint32_t begun;
    if (tr->cfg.irq_filter != IRQ_FILTER_AUTO)
        return 0;
    int ret = sh4_trace_get(tr, sh4_trace_blob.ext + 4 * SH4_TRACE_X_BEGUN, &begun, 1, err);
    if (ret < 0 || begun == tr->begun)
        return ret;
    tr->begun = begun;
    sh4_trace_note(tr);
    return 0;
}

/* Another part of the status note, as far as there is room. */
__attribute__((format(printf, 2, 3))) static void note_add(struct sh4_trace *tr, const char *fmt,
                                                           ...)
{
    size_t n = strlen(tr->note);
    va_list ap;
    va_start(ap, fmt);
    vsnprintf(tr->note + n, sizeof tr->note - n, fmt, ap);
    va_end(ap);
}

void sh4_trace_note(struct sh4_trace *tr)
{
    size_t unexplored = 0;
    tr->untraced = tr->yielded ? tr->plan.rom.nsites : 0;
    for (size_t i = 0; i < tr->sites.nsites; i++)
        tr->untraced +=
            tr->sites.site[i].kind < SH4_SITE_RTE && tr->sites.site[i].why != SH4_TRACED;
    for (size_t i = 0; i < tr->sites.nfunctions; i++)
        unexplored += tr->sites.function[i].unexplored;
    size_t stepped = tr->yielded ? 0 : tr->plan.rom.nsites;
    tr->note[0] = 0;
    note_add(tr, "%zu places traced, %zu not", tr->plan.npatches + stepped, tr->untraced);
    if (tr->plan.rom.nsites)
        note_add(tr,
                 tr->yielded ? "; %zu in ROM: both break channels are GDB's"
                             : "; %zu in ROM by stepping",
                 tr->plan.rom.nsites);
    if (tr->nwaiting)
        note_add(tr, "; %zu section(s) not traced until the program has copied them", tr->nwaiting);
    if (tr->changed)
        note_add(tr, "; %zu where the program has replaced the code", tr->changed);
    if (tr->strays)
        note_add(tr, "; %zu trap(s) taken out of the program's copies of its code", tr->strays);
    if (unexplored)
        note_add(tr, "; %zu bytes of code not reached by the search", unexplored);
    if (sh4_trace_shown(tr))
        note_add(tr, "; %zu function(s) found by their running", sh4_trace_shown(tr));
    if (tr->found->more)
        note_add(tr, "; more that ran are not traced");
    if (tr->plan.nwatched)
        note_add(tr,
                 tr->unwatched ? "; %u point(s) NOT watched: the break channels are GDB's"
                               : "; %u point(s) watched by user breaks: SR.BL may be 1 there",
                 tr->unwatched ? tr->unwatched : tr->plan.nwatched);
    if (tr->evidence)
        note_add(tr, "; SR.BL taken as clear at the entry");
    if (tr->begun)
        note_add(tr,
                 "; %u tasks begun in filtered interrupts: seen from their first interruption on",
                 (unsigned)tr->begun);
    if (tr->cfg.irq_filter == IRQ_FILTER_SHINOBI)
        note_add(tr,
                 tr->plan.filtered ? "; shinobi filter enabled at %s"
                                   : "; shinobi filter NOT enabled at %s: %s",
                 filter_name(&tr->cfg),
                 tr->plan.filter_why[0] ? tr->plan.filter_why : "no such symbol");
}

/* ---- halts in between ---- */

static int halted(struct sh4_target *t, struct err *err)
{
    struct sh4_trace *tr = t->trace;
    tr->board_ns += tr->runs_since_ns ? now(t) - tr->runs_since_ns : 0;
    tr->runs_since_ns = 0;
    sh4_trace_halt_begins(tr);
    if (sh4_trace_was_reset(tr))
        return tr->was_reset ? 0 : sh4_trace_salvage(tr, err);
    int ret = sh4_trace_empty(tr, err);
    if (ret == 0)
        ret = sh4_trace_meant_seen(tr, err);
    if (ret == 0)
        note_event(tr, EVENT_NOTE, t->pc, EVENT_CAUSE_HALTED, 0);
    return ret;
}

static int resumed(struct sh4_target *t, struct err *err)
{
    struct sh4_trace *tr = t->trace;
    uint32_t spc = 0;
    int ret = sh4_trace_reconcile(tr, err);
    const struct sh4_trace_patch *p =
        tr->stepped ? sh4_trace_plan_patch(&tr->plan, tr->stepped & ~1u) : NULL;
    if (ret == 0 && p)
        ret = sh4_trace_patch(tr, (size_t)(p - tr->plan.patch), false, err);
    tr->stepped = 0;
    if (tr->plan.rom.bytes)
        sh4_trace_note(tr);
    if (ret == 0 && !t->ubc[1].used) {
        ret = sh4_trace_get(tr, sh4_trace_blob.cold + 4 * SH4_TRACE_C_EXC, &spc, 1, err);
        if (ret == 0 && spc)
            t->save[SH4_SAVE_BBRB] = SH4_BBR_FETCH;
    }
    if (ret == 0)
        ret = sh4_trace_step_resumed(tr, err);
    if (ret == 0 && tr->plan.nwatched)
        ret = sh4_trace_watch(tr, spc != 0, err);
    if (ret == 0)
        ret = sh4_trace_meant_resumed(tr, err);
    if (ret == 0)
        ret = sh4_trace_halt_ends(tr, err);
    if (ret == 0)
        note_event(tr, EVENT_NOTE, t->pc, EVENT_CAUSE_RESUMED, 0);
    tr->runs_since_ns = tr->unseen_ns = now(t);
    return ret;
}

/* The halted program's counters: as the agent left them at the last event, and as they are. */
static int counters_now(struct sh4_trace *tr, uint32_t last[2], uint32_t at[2], struct err *err)
{
    int ret = sh4_trace_get(tr, sh4_trace_blob.save + 4 * SH4_TRACE_S_LAST1, last, 2, err);
    for (unsigned n = 0; ret == 0 && n < 2; n++)
        ret = sh4_agent_peek(tr->t, n ? SH4_PMCTR2L : SH4_PMCTR1L, 4, &at[n], err);
    return ret;
}

/* What stands still behind a stop point or in a filtered handler stays so; with the program's own
 * off and on calls nobody knows whether it does. */
static int time_goes_on(struct sh4_trace *tr, struct err *err)
{
    uint32_t state;
    if (!tr->active || tr->cfg.irq_filter == IRQ_FILTER_CALLS)
        return 0;
    int ret = sh4_trace_get(tr, sh4_trace_blob.cold + 4 * SH4_TRACE_C_STATE, &state, 1, err);
    return ret < 0 ? ret : !(state & (SH4_TRACE_STOPPED | SH4_TRACE_FILTER));
}

/* Time since the last event belongs to whoever ran since then, be it for minutes: the profile's end
 * is no event of the agent's. */
static int time_to_the_end(struct sh4_trace *tr, struct err *err)
{
    uint32_t last[2], at[2];
    int ret = time_goes_on(tr, err);
    if (ret <= 0)
        return ret;
    if ((ret = counters_now(tr, last, at, err)) < 0)
        return ret;
    uint32_t words[] = {
        SH4_TRACE_LONG + SH4_TRACE_K_TIME, at[0] - last[0], at[1] - last[1], tr->t->r15, 0, 0
    };
    decode_own(tr, words);
    /* A record's 32 bits are over after 21 s at 200 MHz: of elapsed time it is known how often. */
    if (tr->elapsed >= 0 && tr->ring_used == 0)
        tr->dec.c16[tr->elapsed] += tr->raw_step >> 32 << 36;
    return 0;
}

/* What the decoder has learned of the return address of an event made by the host, the agent keeps,
 * too. */
static int keep_return(struct sh4_trace *tr, const struct sh4_trace_id *id, struct err *err)
{
    uint32_t sp = tr->t->r15 + (id->kind == SH4_SITE_RTS ? (uint32_t)id->slot_adds : 0),
             at = SH4_TRACE_RETURN_INDEX(sp);
    return sh4_trace_put(tr, tr->plan.returns + 4 * at, &tr->dec.kept[at], 1, err);
}

/* The program stands on a traced site and goes on, or is stepped: the host makes the event in the
 * agent's place. Running on, the site's stub takes over; for a step the instruction itself is put
 * back. */
static int event_by_host(struct sh4_trace *tr, uint32_t id, struct err *err)
{
    struct sh4_target *t = tr->t;
    const struct sh4_trace_id *site = &tr->plan.id[id];
    bool returns = site->kind == SH4_SITE_RTS;
    uint32_t last[2], at[2],
        words[] = { SH4_TRACE_LONG + (returns ? SH4_TRACE_K_RETURN : SH4_TRACE_K_WIDE),
                    0,
                    0,
                    t->r15,
                    t->save[SH4_SAVE_PR],
                    id };
    int ret = counters_now(tr, last, at, err);
    if (ret == 0)
        ret = sh4_trace_put(tr, sh4_trace_blob.save + 4 * SH4_TRACE_S_LAST1, at, 2, err);
    uint32_t window = t->r15 - SH4_TRACE_WINDOW; /* a long record moves it, this one too */
    if (ret == 0)
        ret = sh4_trace_put(tr, sh4_trace_blob.save + 4 * SH4_TRACE_S_SPBASE, &window, 1, err);
    if (ret < 0)
        return ret;
    words[1] = at[0] - last[0];
    words[2] = at[1] - last[1];
    decode_own(tr, words);
    tr->dec.started = false; /* what follows starts from the host again */
    tr->rebased = true;
    return returns || site->stub_pr ? keep_return(tr, site, err) : 0;
}

/* The program stands in stepped code and the debugger steps it: channel A is the step's then. */
static int resuming_stepped(struct sh4_trace *tr, struct resume *how, struct err *err)
{
    struct sh4_target *t = tr->t;
    const struct sh4_trace_rom *rom = &tr->plan.rom;
    uint32_t id = sh4_trace_plan_stepped(&tr->plan, t->pc);
    bool step_first = t->ubc[1].used && t->ubc[1].kind == BP_HARD && t->ubc[1].addr == t->pc;
    if (how->kind == RESUME_RANGE && how->range_lo < (uint64_t)rom->base + rom->bytes &&
        how->range_hi > rom->base)
        how->kind = RESUME_STEP;
    if (!id || !tr->active || tr->yielded || REG_GET(t->sr, SH4_SR_BL) ||
        (how->kind == RESUME_CONTINUE && !step_first))
        return 0;
    return event_by_host(tr, id, err);
}

/* Does the stub of patch i still do what the program has there? A breakpoint on it keeps the
 * program's instruction. */
static int stub_stands(struct sh4_trace *tr, size_t i, struct err *err)
{
    const struct sh4_trace_patch *p = &tr->plan.patch[i];
    const struct sh4_patch *user = sh4_patch_at(tr->t, p->addr);
    if (sh4_trace_waits(tr, p->addr))
        return 0;
    if (user)
        return user->orig == p->orig || user->orig == SH4_TRACE_TRAP
                   ? 1
                   : sh4_trace_give_up(tr, i, err);
    return sh4_trace_still(tr, i, tr->mark[i].in_memory ? (uint16_t)SH4_TRACE_TRAP : p->orig, err);
}

static int resuming(struct sh4_target *t, struct resume *how, struct err *err)
{
    struct sh4_trace *tr = t->trace;
    int done = sh4_trace_meant_resuming(tr, err);
    if (done < 0)
        return done;
    int stepped = tr->plan.rom.bytes ? resuming_stepped(tr, how, err) : 0;
    if (stepped < 0)
        return stepped;
    const struct sh4_trace_patch *p = sh4_trace_plan_patch(&tr->plan, t->pc);
    size_t next = how->kind == RESUME_RANGE ? sh4_trace_first_in(&tr->plan, (uint32_t)how->range_lo)
                                            : tr->plan.npatches;
    if (next < tr->plan.npatches &&
        (tr->plan.patch[next].addr & SH4_PHYS) < (how->range_hi & SH4_PHYS))
        how->kind = RESUME_STEP; /* the kernel's own stepping would run into our traps */
    tr->stepped = 0;
    if (!p || tr->mark[p - tr->plan.patch].dead || REG_GET(t->sr, SH4_SR_BL))
        return 0;
    int same = stub_stands(tr, (size_t)(p - tr->plan.patch), err);
    if (same <= 0)
        return same;
    const struct sh4_trace_id *id = &tr->plan.id[p->id];
    int ret = sh4_trace_point_met(tr, p->addr, err);
    if (ret < 0)
        return ret;
    ret = tr->active && id->kind != SH4_SITE_NKINDS ? event_by_host(tr, p->id, err) : 0;
    if (ret < 0 || how->kind != RESUME_CONTINUE) {
        tr->stepped = p->addr | 1;
        tr->dec.last = 0;
        return ret;
    }
    tr->dec.last = p->id; /* its stub runs */
    if (id->stub_pr)
        t->save[SH4_SAVE_PR] = t->pc + 4;
    t->pc = id->stub;
    return 0;
}

/* ---- halting for our own purposes ---- */

/* How long that may take: longer on a line that was given more patience (timeout=MS). */
static uint64_t halt_limit(const struct sh4_target *t)
{
    uint64_t patience = t->link.silence_ns + t->link.silence_ns / 2;
    return t->link.jtag ? HALT_NS : MAX((uint64_t)HALT_NS, patience);
}

/* Halts if it runs. *ran: resume afterwards. A stop of another kind met on the way is kept for the
 * user. */
static int stop_program(struct sh4_target *t, bool *ran, struct err *err)
{
    struct target_stop stop;
    uint64_t end = now(t) + halt_limit(t);
    *ran = t->state == TARGET_RUNNING && !t->stop_pending;
    if (!*ran)
        return t->state == TARGET_HALTED || t->stop_pending
                   ? 0
                   : err_set(err, ERR_STATE, "attach first", "trace: target not attached");
    int ret = t->base.ops->halt(&t->base, err);
    for (unsigned n = 0; ret == 0 && t->state == TARGET_RUNNING && (now(t) < end || n < HALT_POLLS);
         n++)
        ret = t->base.ops->poll(&t->base, SLICE_NS, &stop, err);
    if (ret < 0)
        return ret;
    if (t->state != TARGET_HALTED)
        return err_set(err, ERR_TIMEOUT, "interrupts may be masked for long",
                       "trace: the target does not halt");
    if (ret > 0 && stop.reason != STOP_REQUEST) {
        t->stop = stop;
        t->stop_pending = true;
        *ran = false;
    }
    return 0;
}

static int run_program(struct sh4_target *t, bool ran, struct err *err)
{
    struct resume how = { .kind = RESUME_CONTINUE };
    return ran ? t->base.ops->resume(&t->base, &how, err) : 0;
}

bool sh4_trace_of_agents(const struct sh4_trace *tr, uint32_t pc)
{
    const struct sh4_options *o = &tr->t->opt;
    return (pc & SH4_PHYS) - (o->agent_ram & SH4_PHYS) < o->agent_ram_bytes ||
           sh4_trace_in_chosen_ram(tr, pc);
}

/* Halted in a stub: of an earlier session, whose RAM will be used again, or of this one, which
 * ends. It is stepped out of it. */
static int leave_stub(struct sh4_trace *tr, struct err *err)
{
    enum { MOST = 16 };
    struct sh4_target *t = tr->t;
    struct resume step = { .kind = RESUME_STEP };
    struct target_stop stop;
    for (int i = 0; i < MOST && !REG_GET(t->sr, SH4_SR_BL); i++) {
        if (!sh4_trace_of_agents(tr, t->pc))
            break;
        int ret = t->base.ops->resume(&t->base, &step, err);
        t->continuing = true; /* the step is no one's but ours */
        while (ret == 0)
            ret = t->base.ops->poll(&t->base, SLICE_NS, &stop, err);
        if (ret < 0)
            return ret;
    }
    return 0;
}

/* ---- arming ---- */

/* After reset SR.BL is 1 at the entry. If the program runs with BL=0 now although the search can
 * only explain BL=1, nobody but whoever started it can have cleared it: then it is clear at the
 * entry, too. */
static int find_sites(struct sh4_trace *tr, bool sr_traps, struct err *err)
{
    struct sh4_target *t = tr->t;
    bool clear = !REG_GET(t->sr, SH4_SR_BL);
    uint32_t handlers[] = { t->prog_vbr + 0x100, t->prog_vbr + 0x400, t->prog_vbr + 0x600 };
    struct sh4_sites_config cfg = { .entry_blocked =
                                        !(clear && t->pc == (uint32_t)tr->cfg.image->entry),
                                    .handlers = handlers,
                                    .nhandlers = ARRAY_LEN(handlers),
                                    .sr_traps = sr_traps,
                                    .found = tr->found->at,
                                    .nfound = tr->found->n };
    tr->searched_with.vbr = t->prog_vbr;
    tr->searched_with.sr_traps = sr_traps;
    tr->searched_with.entry_blocked = cfg.entry_blocked;
    int ret = sh4_sites_find(tr->cfg.image, &cfg, &tr->sites, err);
    tr->unplaced = ret == 0 && clear && cfg.entry_blocked &&
                   !(sh4_sites_code(&tr->sites, t->pc) & SH4_CODE_INSN);
    if (ret < 0 || !clear || !cfg.entry_blocked || tr->unplaced ||
        !sh4_sites_may_block(&tr->sites, t->pc))
        return ret;
    sh4_sites_fini(&tr->sites);
    cfg.entry_blocked = tr->searched_with.entry_blocked = false;
    tr->evidence = true;
    return sh4_sites_find(tr->cfg.image, &cfg, &tr->sites, err);
}

bool sh4_trace_left_alone(const struct trace_config *cfg, uint32_t addr)
{
    for (size_t i = 0; i < cfg->nno_patch; i++) {
        uint32_t low = (uint32_t)cfg->no_patch[i].low & SH4_PHYS,
                 bytes = (uint32_t)(cfg->no_patch[i].high - cfg->no_patch[i].low);
        if ((addr & SH4_PHYS) - low < bytes || low - (addr & SH4_PHYS) < 2)
            return true;
    }
    return false;
}

/* Code the user wants as it is: a program that adds up its own code, for one. */
static int leave_alone(struct sh4_trace *tr, struct err *err)
{
    const struct trace_config *cfg = &tr->cfg;
    for (size_t i = 0; i <= cfg->nstops; i++) {
        bool start = i == cfg->nstops;
        uint32_t at = (uint32_t)(start ? cfg->start : cfg->stops[i]);
        if ((!start || cfg->has_start) && sh4_trace_left_alone(cfg, at))
            return err_set(err, ERR_USAGE, "choose another place for it, or a smaller range",
                           "0x%08x is a start or stop point, and in a --no-patch range", at);
    }
    for (size_t i = 0; i < tr->sites.nsites; i++)
        if (tr->sites.site[i].why == SH4_TRACED &&
            sh4_trace_left_alone(cfg, tr->sites.site[i].addr))
            tr->sites.site[i].why = SH4_UNTRACED_ASKED;
    return 0;
}

static uint32_t initial_state(const struct trace_config *cfg)
{
    return (cfg->has_start ? SH4_TRACE_STOPPED : 0) |
           (cfg->policy == TRACE_LIVE ? SH4_TRACE_LIVE : 0) |
           (cfg->irq_filter == IRQ_FILTER_AUTO ? SH4_TRACE_AUTO : 0) |
           (cfg->irq_filter == IRQ_FILTER_CALLS ? SH4_TRACE_CALLS : 0);
}

static int calls_struct(const struct trace_config *cfg, uint32_t *at, struct err *err)
{
    uint64_t addr = 0;
    *at = 0;
    if (cfg->irq_filter != IRQ_FILTER_CALLS)
        return 0;
    if (!cfg->image->lookup || !cfg->image->lookup(cfg->image, "__probeprof", &addr))
        return err_set(
            err, ERR_NOT_FOUND, "include probeprof_target.h in the program and use its calls",
            "interrupt filter \"calls\": %s has no symbol __probeprof", cfg->image->path);
    *at = (uint32_t)addr;
    return 0;
}

static bool find_filter(const struct trace_config *cfg, uint32_t *at)
{
    uint64_t addr;
    if (cfg->irq_filter != IRQ_FILTER_SHINOBI || !cfg->image->lookup ||
        !cfg->image->lookup(cfg->image, filter_name(cfg), &addr))
        return false;
    *at = (uint32_t)addr;
    return !sh4_trace_left_alone(cfg, *at);
}

/* All of the request but the RAM and what depends on it. stops: room for TRACE_MAX_STOPS. */
static int make_request(struct sh4_trace *tr, uint32_t *stops, struct sh4_trace_request *rq,
                        struct err *err)
{
    struct sh4_target *t = tr->t;
    *rq = (struct sh4_trace_request){
        .sites = &tr->sites,
        .big = t->base.big_endian,
        .link = t->link.jtag ? SH4_TRACE_LINK_HUDI
                : t->link.ip ? SH4_TRACE_LINK_LOADER
                             : SH4_TRACE_LINK_SCIF,
        .has_start = tr->cfg.has_start,
        .start = (uint32_t)tr->cfg.start,
        .stops = stops,
        .nstops = tr->cfg.nstops,
        .watch = SH4_TRACE_WATCHED,
        .kernel_entry = t->agent_base + t->layout->debug_entry,
        .next_vbr = t->agent_base + t->layout->hook_vbr,
        .state = initial_state(&tr->cfg),
        .wait_loops = WAIT_LOOPS,
    };
    rq->has_filter = find_filter(&tr->cfg, &rq->filter);
    tr->filter_at = rq->has_filter ? rq->filter : 0;
    for (size_t i = 0; i < tr->cfg.nstops; i++)
        stops[i] = (uint32_t)tr->cfg.stops[i];
    return calls_struct(&tr->cfg, &rq->calls_struct, err);
}

/* Before anything is written there. */
static int choose_ram(struct sh4_trace *tr, struct err *err)
{
    uint32_t stops[TRACE_MAX_STOPS];
    struct sh4_trace_request rq;
    int ret = make_request(tr, stops, &rq, err);
    return ret < 0 ? ret : sh4_trace_choose_ram(tr, &rq, err);
}

/* The driver's patches of the image, which are in while the program runs. */
static struct sh4_trace_twin *twins_of(const struct sh4_target *t)
{
    struct sh4_trace_twin *twin = calloc(t->nvbr_sites + 1, sizeof *twin);
    for (size_t i = 0; twin && i < t->nvbr_sites; i++)
        twin[i] = (struct sh4_trace_twin){ .addr = t->vbr_sites[i].addr,
                                           .orig = t->vbr_sites[i].orig,
                                           .instead = sh4_dbr_twin(t->vbr_sites[i].orig) };
    return twin;
}

static int plan_request(struct sh4_trace *tr, struct sh4_trace_request *rq, struct err *err)
{
    struct sh4_trace_twin *twins = twins_of(tr->t);
    rq->twins = twins;
    rq->ntwins = twins ? tr->t->nvbr_sites : 0;
    int ret = twins ? sh4_trace_plan(rq, &tr->plan, err)
                    : err_set(err, ERR_NOMEM, "close other programs", "trace plan: out of memory");
    free(twins);
    return ret;
}

static int make_plan(struct sh4_trace *tr, struct err *err)
{
    uint32_t stops[TRACE_MAX_STOPS];
    struct sh4_trace_request rq;
    int ret = make_request(tr, stops, &rq, err);
    if (ret < 0)
        return ret;
    sh4_trace_ram(tr, &rq.ram, &rq.ram_bytes);
    ret = sh4_trace_translated(tr, rq.ram, rq.ram_bytes, err);
    rq.translated = tr->translated = ret != 0;
    sh4_rom_window(&tr->sites, rq.ram, rq.ram_bytes, &rq.window);
    rq.watch -= rq.window.bytes ? 1 : 0; /* stepping takes the other channel */
    return ret < 0 ? ret : plan_request(tr, &rq, err);
}

int sh4_trace_plan_for(struct sh4_trace *tr, struct sh4_sites *sites, struct sh4_site *const *site,
                       size_t n, struct err *err)
{
    uint32_t stops[TRACE_MAX_STOPS];
    struct sh4_trace_request rq;
    int ret = make_request(tr, stops, &rq, err);
    rq.sites = sites;
    rq.translated = tr->translated;
    return ret < 0 ? ret : sh4_trace_plan_more(&rq, &tr->plan, site, n, err);
}

static int write_agent(struct sh4_trace *tr, struct err *err)
{
    size_t n = tr->plan.image_len / 4;
    uint32_t *words = malloc(n * sizeof *words);
    bool kept = false;
    if (!words)
        return err_set(err, ERR_NOMEM, "close other programs", "trace agent: out of memory");
    for (size_t i = 0; i < n; i++)
        words[i] = get32(tr->plan.image + 4 * i, tr->t->base.big_endian);
    int ret = sh4_agent_write(tr->t, tr->plan.base, 4, words, n, err);
    if (ret == 0)
        ret = sh4_agent_sync_caches(tr->t, tr->plan.base, tr->plan.image_len, err);
    if (ret == 0)
        ret = sh4_agent_same(tr->t, tr->plan.base | 0xA0000000, words, n, &kept, err);
    if (ret == 0 && !kept)
        ret = err_set(err, ERR_FAULT, "give the agent an address range that is RAM",
                      "trace: memory at 0x%08x does not keep what is written", tr->plan.base);
    free(words);
    return ret;
}

static int arm_counters(struct sh4_trace *tr, struct err *err)
{
    struct sh4_target *t = tr->t;
    if (!tr->cfg.counter[0] && !tr->cfg.counter[1])
        return 0;
    int ret = t->base.ops->counters_arm(&t->base, tr->cfg.counter, err);
    for (unsigned n = 0; ret == 0 && n < 2; n++)
        if (tr->cfg.counter[n] && tr->cfg.counter_ratio)
            t->save[n ? SH4_SAVE_PMCR2 : SH4_SAVE_PMCR1] |= 1u << 8;
    return ret;
}

/* The H-UDI interrupt is how the host asks for the ring. */
static int enable_interrupt(struct sh4_trace *tr, struct err *err)
{
    int ret = sh4_agent_peek(tr->t, SH4_IPRC, 2, &tr->iprc, err);
    tr->iprc_known = ret == 0;
    uint32_t kept = (tr->iprc & 0xFFFF) | 0x10000; /* for an attach after this session was lost */
    if (ret == 0)
        ret = sh4_trace_put(tr, SH4_TRACE_H_IPRC, &kept, 1, err);
    return ret < 0
               ? ret
               : sh4_agent_poke(tr->t, SH4_IPRC, 2, (tr->iprc & 0xFFF0) | INTERRUPT_PRIORITY, err);
}

static int patch_missing(struct sh4_trace *tr, size_t i, struct err *err)
{
    struct sh4_trace_patch *p = &tr->plan.patch[i];
    struct sh4_site *s = (struct sh4_site *)(uintptr_t)sh4_sites_at(&tr->sites, p->addr);
    tr->mark[i] = (struct sh4_trace_mark){ .dead = true };
    if (!s)
        return err_set(err, ERR_USAGE, "use a hardware breakpoint, or a place in RAM",
                       "0x%08x is in ROM: no start or stop point can be there", p->addr);
    if (sh4_site_is_sr(s->kind))
        return err_set(err, ERR_FAULT,
                       "mark that section of the ELF as what it is, or put it into RAM",
                       "0x%08x: %s does not take the trace's patch, though its section is RAM; "
                       "code behind it could be run with SR.BL=1",
                       p->addr, sh4_site_kind_name(s->kind));
    s->why = SH4_UNTRACED_ROM;
    return 0;
}

/* Sites in memory that does not take the patch are ROM. All are asked for in one go. */
static int check_patches(struct sh4_trace *tr, struct err *err)
{
    size_t n = tr->plan.npatches;
    struct sh4_trace_half *half = calloc(n + 1, sizeof *half);
    int ret = half ? 0 : err_set(err, ERR_NOMEM, "close other programs", "patches: out of memory");
    for (size_t i = 0; ret == 0 && i < n; i++)
        half[i].addr = tr->plan.patch[i].addr;
    if (ret == 0)
        ret = sh4_trace_read_halves(tr->t, half, n, err);
    for (size_t i = 0; ret == 0 && i < n; i++)
        if (tr->mark[i].in_memory && (!half[i].readable || half[i].there != SH4_TRACE_TRAP))
            ret = patch_missing(tr, i, err);
    free(half);
    return ret;
}

bool sh4_trace_holds(const struct sh4_target *t, uint32_t pc)
{
    const struct sh4_trace_plan *p = &t->trace->plan;
    return (pc & SH4_PHYS) - (p->base & SH4_PHYS) < p->image_len;
}

/* The driver asks us from now on, or no longer. */
static void plug_in(struct sh4_trace *tr, bool on)
{
    tr->t->trace_vbr = on ? tr->plan.base : 0;
    tr->t->traced = on;
}

/* Counting begins: what the counters show now is zero. */
static int start_state(struct sh4_trace *tr, bool active, struct err *err)
{
    uint32_t last[2] = { 0, 0 }, cost[2], now_in = 0, state = initial_state(&tr->cfg);
    int ret = sh4_trace_get(tr, sh4_trace_blob.cold + 4 * SH4_TRACE_C_STATE, &now_in, 1, err);
    memcpy(tr->dec.residue16, tr->residue16[true], sizeof tr->dec.residue16);
    tr->dec.ways = tr->ways[true];
    for (int n = 0; n < 2; n++)
        cost[n] = (uint32_t)sh4_trace_filter_cost(&tr->dec, n);
    tr->step_cached = -1;
    if (ret == 0)
        ret = sh4_trace_put(tr, sh4_trace_blob.cold + 4 * SH4_TRACE_C_K1, cost, 2, err);
    if (ret == 0)
        ret = sh4_trace_step_cost(tr, true, err);
    if (ret == 0) /* what the host makes of the first records; it may be without caches yet */
        ret = choose_residue(tr, err);
    for (unsigned n = 0; ret == 0 && n < 2; n++)
        ret = sh4_agent_peek(tr->t, n ? SH4_PMCTR2L : SH4_PMCTR1L, 4, &last[n], err);
    state = active ? state & ~(uint32_t)SH4_TRACE_STOPPED : state | SH4_TRACE_STOPPED;
    state |= now_in & SH4_TRACE_TRAPPED;
    if (ret == 0)
        ret = sh4_trace_put(tr, sh4_trace_blob.save + 4 * SH4_TRACE_S_LAST1, last, 2, err);
    if (ret == 0)
        ret = set_state(tr, state, err);
    tr->dec.started = false;
    tr->dec.last = 0;
    tr->dec.disturbed = active && tr->elapsed >= 0 ? SH4_TRACE_DISTURBED : 0;
    tr->rebased = true;
    return ret;
}

static int init_state(struct sh4_trace *tr, struct err *err)
{
    tr->mark = calloc(tr->plan.npatches ? tr->plan.npatches : 1, sizeof *tr->mark);
    tr->queue = pages_new(TRACE_QUEUE_MOST * sizeof *tr->queue);
    tr->words = malloc(SH4_TRACE_MOST_WORDS * sizeof *tr->words);
    tr->dec = (struct sh4_trace_decoder){ .plan = &tr->plan,
                                          .code = { tr->cfg.counter[0], tr->cfg.counter[1] },
                                          .has_vbr = true,
                                          .vbr = tr->t->prog_vbr };
    tr->dec.target = calloc(tr->plan.nids, sizeof *tr->dec.target);
    if (!tr->mark || !tr->queue || !tr->words || !tr->dec.target)
        return err_set(err, ERR_NOMEM, "close other programs", "trace: out of memory");
    sh4_trace_find_blind(tr);
    sh4_trace_tasks_init(tr);
    return 0;
}

/* Counting begins, and the host may ask for the ring: single words, few of which are looked at. */
static int begin_counting(struct sh4_trace *tr, struct err *err)
{
    struct sh4_held held;
    struct err own = { .code = ERR_OK };
    sh4_agent_hold(tr->t, &held);
    int ret = arm_counters(tr, err); /* from zero again */
    if (ret == 0)
        ret = start_state(tr, !tr->cfg.has_start, err);
    if (ret == 0)
        ret = sh4_trace_stray_init(tr, err);
    if (ret == 0)
        ret = enable_interrupt(tr, err);
    if (sh4_agent_release(tr->t, &own) < 0 && ret == 0)
        ret = err_set(err, own.code, own.hint, "%s", own.what);
    return ret;
}

/* What the search says of BL holds only if every load of SR that the agent is to do is patched. */
static bool sr_places_patched(const struct sh4_trace *tr)
{
    for (size_t i = 0; i < tr->sites.nsites; i++)
        if (sh4_site_is_sr(tr->sites.site[i].kind) && tr->sites.site[i].why != SH4_TRACED)
            return false;
    return true;
}

static int plan_with(struct sh4_trace *tr, bool sr_traps, struct err *err)
{
    int ret = find_sites(tr, sr_traps, err);
    if (ret == 0)
        ret = leave_alone(tr, err);
    if (ret == 0)
        ret = choose_ram(tr, err);
    if (ret == 0)
        ret = sh4_trace_find_rom(tr, err);
    return ret < 0 ? ret : make_plan(tr, err);
}

/* With the MMU on, what the agent pops for the program might miss the TLB, and BL=1 there: a reset.
 */
static int find_and_plan(struct sh4_trace *tr, struct err *err)
{
    uint32_t mmucr;
    int ret = sh4_agent_peek(tr->t, SH4_MMUCR, 4, &mmucr, err);
    if (ret < 0)
        return ret;
    bool traps = !REG_GET(mmucr, SH4_MMUCR_AT);
    ret = plan_with(tr, traps, err);
    if (ret < 0 || !traps || sr_places_patched(tr))
        return ret;
    sh4_sites_fini(&tr->sites);
    sh4_trace_plan_fini(&tr->plan);
    tr->evidence = false;
    return plan_with(tr, false, err);
}

static int arm_halted(struct sh4_trace *tr, struct err *err)
{
    struct sh4_target *t = tr->t;
    int ret = sh4_trace_clean_leftovers(t, true, err);
    if (ret >= 0)
        ret = leave_stub(tr, err);
    if (ret >= 0)
        ret = sh4_trace_compare(tr, err);
    if (ret == 0)
        ret = sh4_trace_found_init(tr, err);
    if (ret == 0)
        ret = find_and_plan(tr, err);
    if (ret == 0)
        ret = init_state(tr, err);
    if (ret == 0)
        ret = sh4_trace_slots_found(tr, err);
    if (ret == 0)
        ret = write_agent(tr, err);
    if (ret == 0)
        ret = sh4_trace_beacon(tr, true, err);
    if (ret == 0)
        ret = arm_counters(tr, err);
    if (ret < 0)
        return ret;
    t->trace_vbr = tr->plan.base;
    ret = sh4_trace_calibrate(tr, err);
    if (ret == 0)
        ret = sh4_trace_slots_put(tr, err);
    if (ret == 0)
        ret = begin_counting(tr, err);
    if (ret == 0)
        ret = sh4_trace_patch_all(tr, true, err);
    if (ret == 0)
        ret = check_patches(tr, err);
    if (ret == 0)
        ret = sh4_mark_expevt(t, err);
    tr->reset_shows = ret > 0;
    return MIN(ret, 0);
}

static void free_trace(struct sh4_trace *tr)
{
    if (!tr)
        return;
    sh4_trace_found_end(tr);
    sh4_sites_fini(&tr->sites);
    sh4_trace_plan_fini(&tr->plan);
    free(tr->dec.target);
    free(tr->rom);
    free(tr->mark);
    free(tr->waits);
    pages_free(tr->queue, TRACE_QUEUE_MOST * sizeof *tr->queue);
    free(tr->words);
    free(tr);
}

static void on_close(struct sh4_target *t)
{
    if (!t->trace)
        return; /* arming failed: nothing is left of it */
    plug_in(t->trace, false);
    free_trace(t->trace);
    t->trace = NULL;
}

/* Takes our vectors and patches out of a halted target. While the program's registers are in the
 * agent's RAM alone, that stays: the next attach finds them there. */
static int undo(struct sh4_trace *tr, struct err *err)
{
    int ret = tr->displaced ? sh4_trace_put_back(tr, false, err) : 0;
    if (ret < 0)
        return ret;
    ret = sh4_trace_patch_all(tr, false, err);
    if (ret == 0)
        ret = sh4_trace_meant_end(tr->t, err);
    if (ret == 0 && tr->iprc_known)
        ret = sh4_agent_poke(tr->t, SH4_IPRC, 2, tr->iprc, err);
    if (ret == 0)
        ret = sh4_trace_release_vectors(tr->t, err);
    if (ret == 0)
        ret = sh4_agent_poke(tr->t, tr->plan.base, 4, 0, err);
    if (ret == 0)
        ret = sh4_trace_beacon(tr, false, err);
    plug_in(tr, false);
    return ret;
}

/* Before its first instruction memory holds another run's tasks. */
static int tasks_at_arming(struct sh4_trace *tr, struct err *err)
{
    struct sh4_target *t = tr->t;
    int ret = (t->pc & SH4_PHYS) == (tr->cfg.image->entry & SH4_PHYS)
                  ? 0
                  : sh4_trace_look_at_tasks(tr, true, err);
    if (ret == 0)
        sh4_trace_context(&tr->dec, &(struct event){ .kind = EVENT_START, .sp = t->r15 });
    return ret;
}

static int trace_arm(struct target *target, const struct trace_config *cfg, struct err *err)
{
    struct sh4_target *t = sh4_of(target);
    bool ran;
    if (t->trace && t->trace->armed)
        return err_set(err, ERR_STATE, "disarm it first (monitor profile stop)",
                       "a trace is armed already");
    if (!cfg->image)
        return err_set(err, ERR_USAGE, "name the program's ELF with --elf",
                       "function trace needs the program's image");
    free_trace(t->trace);
    struct sh4_trace *tr = t->trace = calloc(1, sizeof *tr);
    if (!tr)
        return err_set(err, ERR_NOMEM, "close other programs", "trace: out of memory");
    tr->t = t;
    tr->cfg = *cfg;
    tr->elapsed = cfg->counter_ratio           ? -1
                  : cfg->counter[0] == ELAPSED ? 0
                  : cfg->counter[1] == ELAPSED ? 1
                                               : -1;
    uint64_t since = now(t), clocks = tck(t);
    int ret = stop_program(t, &ran, err);
    if (ret == 0 && (ret = arm_halted(tr, err)) < 0) {
        struct err own = { .code = ERR_OK };
        if (tr->mark && tr->plan.image)
            undo(tr, &own);
        plug_in(tr, false);
    }
    if (ret < 0) {
        struct err own = { .code = ERR_OK };
        if (t->state == TARGET_HALTED && !tr->displaced)
            run_program(t, ran, &own);
        on_close(t);
        /* half armed, it may stand: attaching again undoes that */
        return sh4_lost(t, err_prefix(err, ret, "arming the trace"));
    }
    tr->armed = true;
    tr->active = !cfg->has_start;
    tr->yielded = tr->plan.rom.bytes && t->ubc[0].used;
    sh4_trace_note(tr);
    plug_in(tr, true);
    tr->last_drain_ns = tr->last_ask_ns = tr->glance.next_ns = now(t);
    if ((ret = tasks_at_arming(tr, err)) < 0)
        return sh4_lost(t, ret);
    sh4_trace_log_armed(tr, now(t) - since, tck(t) - clocks);
    if (tr->active)
        note_event(tr, EVENT_START, t->pc, EVENT_CAUSE_NONE, 0);
    return sh4_lost(t, run_program(t, ran, err));
}

/* ---- disarming ---- */

static int trace_disarm(struct target *target, struct err *err)
{
    struct sh4_target *t = sh4_of(target);
    struct sh4_trace *tr = t->trace;
    bool ran;
    if (!tr || !tr->armed)
        return 0;
    uint64_t since = now(t);
    t->trace_ending = true;
    int ret = stop_program(t, &ran, err);
    t->trace_ending = false;
    if (ret == 0 && t->stop_pending && t->state == TARGET_RUNNING)
        ret = err_set(err, ERR_STATE, "", "trace: target busy");
    if (ret == 0 && !tr->was_reset)
        ret = sh4_trace_empty(tr, err);
    if (ret == 0 && !tr->was_reset)
        ret = time_to_the_end(tr, err);
    if (ret == 0 && tr->active)
        note_event(tr, EVENT_STOP, t->pc, EVENT_CAUSE_NONE, 0);
    if (ret == 0 && !tr->was_reset)
        ret = sh4_trace_slots_leave(t, tr->plan.base, err);
    size_t before = tr->changed;
    if (ret == 0)
        ret = undo(tr, err);
    if (ret == 0 && !tr->was_reset)
        ret = leave_stub(tr, err);
    tr->ending = tr->changed != before;
    if (tr->ending)
        sh4_trace_note(tr);
    tr->armed = tr->active = false;
    plug_in(tr, false);
    if (ret < 0)
        return err_prefix(err, ret, "disarming the trace");
    sh4_trace_log_disarmed(tr, now(t) - since);
    uint32_t expevt = t->trap[1];
    ret = run_program(t, ran, err);
    return ret == 0 && tr->was_reset ? sh4_reset_error(expevt, err) : ret;
}

/* The record a point makes. While time stands still there is none to stop. */
int sh4_trace_switch(struct sh4_trace *tr, bool active, struct err *err)
{
    uint32_t last[2], at[2], window = tr->t->r15 - SH4_TRACE_WINDOW;
    int counts = active ? 1 : time_goes_on(tr, err),
        ret = counts < 0 ? counts : counters_now(tr, last, at, err);
    if (ret == 0 && !counts)
        note_event(tr, EVENT_STOP, tr->t->pc, EVENT_CAUSE_NONE, 0);
    if (ret == 0 && counts) {
        uint32_t words[] = { SH4_TRACE_LONG + (active ? SH4_TRACE_K_START : SH4_TRACE_K_STOP),
                             at[0] - last[0],
                             at[1] - last[1],
                             tr->t->r15,
                             tr->t->pc,
                             0 };
        decode_own(tr, words);
        ret = sh4_trace_put(tr, sh4_trace_blob.save + 4 * SH4_TRACE_S_SPBASE, &window, 1, err);
    }
    tr->active = active;
    return ret < 0 ? ret : start_state(tr, active, err);
}

static int trace_set_active(struct target *target, bool active, struct err *err)
{
    struct sh4_target *t = sh4_of(target);
    struct sh4_trace *tr = t->trace;
    bool ran;
    if (!tr || !tr->armed)
        return err_set(err, ERR_STATE, "arm it first", "no trace is armed");
    int ret = stop_program(t, &ran, err);
    if (ret == 0)
        ret = sh4_trace_empty(tr, err);
    if (ret == 0)
        ret = sh4_trace_look(tr, err);
    if (ret == 0)
        sh4_trace_note(tr);
    if (ret == 0 && active != tr->active) {
        ret = sh4_trace_switch(tr, active, err);
        tr->was_inactive = true;
        sh4_trace_log_active(tr);
    }
    return ret < 0 ? err_prefix(err, ret, "trace") : run_program(t, ran, err);
}

/* ---- reports ---- */

/* Where start points decide what is counted: what was counted is the program's for certain, and it
 * had no more than that and what passed before they were met. A guess of the agent's share goes by
 * that: where little is left for the program it would be off by times. */
static uint64_t agent_within(const struct sh4_trace *tr, uint64_t cycles, uint64_t agent)
{
    if (tr->elapsed < 0)
        return agent;
    uint64_t counted = (tr->dec.c16[tr->elapsed] + 8) / 16,
             most = cycles > counted ? cycles - counted : 0;
    bool known = tr->cfg.has_start && !tr->cfg.nstops && tr->dec.started && tr->raw < UINT32_MAX;
    uint64_t least = known && most > tr->dec.outside ? most - tr->dec.outside : 0;
    return MAX(MIN(agent, most), least);
}

/* What the agent took: seen by the counter if everything was counted, else so many events at what
 * calibration says one costs. Stops in stepped code are not events: then, nothing is known. */
static void spent(const struct sh4_trace *tr, struct trace_status *out)
{
    const struct trace_config *cfg = &tr->cfg;
    uint64_t free_ns = out->board_ns > tr->held_ns ? out->board_ns - tr->held_ns : 0,
             waited = MIN(tr->waited_ns, free_ns);
    uint64_t cycles = tr->elapsed >= 0 ? tr->raw : (uint64_t)((double)free_ns * tr->cycles_per_ns);
    uint64_t waiting = free_ns ? (uint64_t)((double)cycles * (double)waited / (double)free_ns) : 0;
    uint64_t each = (uint64_t)MAX(tr->full16[tr->icache_enabled], 0) / 16,
             agent = (tr->work + 8 * tr->lost) * each / 8;
    if (tr->elapsed >= 0 && !cfg->has_start && !cfg->nstops && !tr->was_inactive &&
        cfg->irq_filter == IRQ_FILTER_OFF) {
        uint64_t program = (tr->dec.c16[tr->elapsed] + 8) / 16;
        agent = cycles > program + waiting ? cycles - program - waiting : 0;
    } else if (tr->plan.rom.nsites && !tr->yielded) {
        return;
    } else if (cfg->irq_filter == IRQ_FILTER_OFF && !tr->was_inactive) {
        agent = agent_within(tr, cycles - MIN(cycles, waiting), agent);
    }
    out->held_ns += waited;
    out->target_cycles = cycles - waiting;
    out->agent_cycles = agent;
}

static int trace_status(struct target *target, struct trace_status *out, struct err *err)
{
    struct sh4_target *t = sh4_of(target);
    struct sh4_trace *tr = t->trace;
    (void)err;
    memset(out, 0, sizeof *out);
    if (!tr)
        return 0;
    *out = (struct trace_status){
        .armed = tr->armed,
        .active = tr->active,
        .events = tr->events,
        .lost = tr->lost,
        .doubtful = tr->doubtful,
        .board_ns = tr->board_ns + (tr->runs_since_ns ? now(t) - tr->runs_since_ns : 0),
        .held_ns = tr->held_ns,
        .wire_bits = tr->wire_bits,
        .sites = (uint32_t)(tr->plan.npatches + (tr->yielded ? 0 : tr->plan.rom.nsites)),
        .untraced_sites = (uint32_t)tr->untraced,
        .ring_bytes = tr->plan.ring_bytes,
        .ring_used = tr->ring_used,
        .icache_enabled = tr->icache_enabled,
    };
    spent(tr, out);
    for (int n = 0; n < 2; n++)
        out->agent_cost[n] =
            tr->dec.residue16[n] > 0 ? (uint32_t)(tr->dec.residue16[n] + 8) / 16 : 0;
    memcpy(out->note, tr->note, sizeof out->note);
    return 0;
}

static const char *function_name(const struct sh4_sites *s, uint32_t f)
{
    return f < s->nfunctions && s->function[f].name ? s->function[f].name : "?";
}

static int trace_explain(struct target *target, const struct text_sink *out, struct err *err)
{
    struct sh4_trace *tr = sh4_of(target)->trace;
    if (!tr)
        return err_set(err, ERR_STATE, "arm it first", "no trace is armed");
    const struct sh4_sites *s = &tr->sites;
    for (size_t i = 0; i < s->nsites; i++) {
        const struct sh4_site *x = &s->site[i];
        if (sh4_trace_sees(tr, x))
            continue;
        const struct sh4_function *f = &s->function[x->function];
        sink_printf(
            out, "0x%08x %s in %s: %s", x->addr, sh4_site_kind_name(x->kind),
            function_name(s, x->function),
            x->why == SH4_TRACED
                ? "in ROM, and both channels of the user break controller are the debugger's"
                : sh4_untraced_text(x->why));
        if (x->why == SH4_UNTRACED_BL && f->blocked_by != SH4_NO_FUNCTION)
            sink_printf(out, " (called so by %s)", function_name(s, f->blocked_by));
        sink_printf(out, "\n");
    }
    for (size_t i = 0; i < s->nfunctions; i++)
        if (s->function[i].unexplored)
            sink_printf(
                out, "0x%08x %s: %u bytes are not reached by control flow and were not searched\n",
                s->function[i].low, function_name(s, (uint32_t)i), s->function[i].unexplored);
    return 0;
}

static const struct target_trace_ops trace_ops = {
    .arm = trace_arm,
    .poll = trace_poll,
    .disarm = trace_disarm,
    .set_active = trace_set_active,
    .status = trace_status,
    .explain = trace_explain,
};

const struct sh4_tracing sh4_tracing = {
    .ops = &trace_ops,
    .clean_leftovers = sh4_trace_clean_leftovers,
    .recall = sh4_trace_recall,
    .adopt = sh4_trace_adopt,
    .close = on_close,
    .hide = sh4_trace_hide,
    .write = sh4_trace_write,
    .poll = look,
    .halted = halted,
    .resuming = resuming,
    .resumed = resumed,
    .holds = sh4_trace_holds,
    .at_point = sh4_trace_at_point,
};
