/* The agent's ring: its words are read while the agent waits in the kernel, and become events. */
#include <stdlib.h>
#include <string.h>

#include "probe/base/choice.h"
#include "probe/base/util.h"
#include "targets/sh4/agent/trace_blob.h"
#include "targets/sh4/isa/regs.h"
#include "targets/sh4/trace/trace.h"

int sh4_trace_ring_init(struct sh4_trace *tr, struct err *err)
{
    tr->ring.words = malloc(SH4_TRACE_MOST_WORDS * sizeof *tr->ring.words);
    if (tr->ring.words)
        return 0;
    return err_set(err, ERR_NOMEM, "close other programs", "trace: out of memory");
}

void sh4_trace_ring_fini(struct sh4_trace *tr) { free(tr->ring.words); }

static void decode_words(struct sh4_trace *tr, size_t n)
{
    struct event e[64];
    uint64_t at = sh4_link_now(&tr->t->link);
    for (size_t i = 0, used; i < n; i += used) {
        size_t got =
            sh4_trace_decode(&tr->dec, tr->ring.words + i, n - i, at, e, ARRAY_LEN(e), &used);
        for (size_t k = 0; k < got; k++) {
            if (e[k].kind == EVENT_START || e[k].kind == EVENT_STOP)
                tr->active = e[k].kind == EVENT_START;
            if (e[k].flags & EVENT_DOUBTFUL)
                tr->sum.doubtful++;
            tr->sum.events += e[k].kind != EVENT_TIMESTAMP && e[k].kind != EVENT_LOST;
            sh4_trace_seen(tr, &e[k]);
            sh4_trace_push(tr, &e[k]);
        }
        if (!used)
            break;
    }
}

/* The host's own record of the halted program. */
void sh4_trace_decode_own(struct sh4_trace *tr, const uint32_t words[SH4_TRACE_LONG_WORDS])
{
    memcpy(tr->ring.words, words, SH4_TRACE_LONG_WORDS * sizeof *words);
    tr->dec.of_host = SH4_TRACE_OF_HOST;
    if (tr->rebased)
        tr->dec.of_host = SH4_TRACE_OF_HOST_AGAIN;
    decode_words(tr, SH4_TRACE_LONG_WORDS);
    tr->dec.of_host = SH4_TRACE_OF_AGENT;
}

/* The agent's work for one record, in eighths of what a call or return takes. Records that carry an
 * address take about twice that. Start and stop points take a little less; their share stands for
 * the traps between a stop and a start point, too, which leave no record (docs/open.md). */
static uint64_t record_work(const struct sh4_trace *tr, uint32_t number)
{
    if (number >= SH4_TRACE_LONG)
        return 16;
    if (number < tr->plan.nids && tr->plan.id[number].kind == SH4_SITE_NKINDS)
        return 16;
    return 8;
}

static uint64_t work_of(const struct sh4_trace *tr, size_t n)
{
    uint64_t work = 0;
    for (size_t i = 0, len; i < n; i += len) {
        uint32_t number = tr->ring.words[i] & SH4_TRACE_NUMBER;
        len = 2;
        if (number >= SH4_TRACE_LONG)
            len = SH4_TRACE_LONG_WORDS;
        work += record_work(tr, number);
    }
    return work;
}

static int save_word(struct sh4_target *t, unsigned word, uint32_t *v, struct err *err)
{
    return sh4_agent_read(t, t->agent.base + t->agent.layout->save_area + 4 * word, 4, v, 1, err);
}

/* Time that a task ran between its beginning in a filtered handler and its first interruption is
 * not in the profile. */
static int look_for_tasks(struct sh4_trace *tr, struct err *err)
{
    uint32_t begun;
    if (tr->cfg.irq_filter != IRQ_FILTER_AUTO)
        return 0;
    int ret = sh4_trace_get(tr, sh4_trace_blob.ext + 4 * SH4_TRACE_X_BEGUN, &begun, 1, err);
    if (ret < 0 || begun == tr->ring.tasks_begun)
        return ret;
    tr->ring.tasks_begun = begun;
    sh4_trace_note(tr);
    return 0;
}

/* A record without room even behind the ring may have been a call's or return's: the agent has
 * stored its address, and the host has not seen it. */
static int forget_returns(struct sh4_trace *tr, struct err *err)
{
    static const uint32_t none[SH4_TRACE_KEPT_RETURNS] = { 0 };
    sh4_trace_decode_forget(&tr->dec, true);
    return sh4_trace_put(tr, tr->plan.returns, none, ARRAY_LEN(none), err);
}

/* Sections that the program has copied by now, and code that only running shows. */
static int look_at_code(struct sh4_trace *tr, struct err *err)
{
    size_t waiting = tr->copied.nwaiting;
    int ret = 0;
    if (tr->overlays.missed && !tr->t->plug.ending)
        ret = sh4_trace_overlays_changed(tr, err);
    if (ret == 0 && waiting)
        ret = sh4_trace_take_copies(tr, err);
    if (tr->copied.nwaiting != waiting) {
        sh4_trace_note(tr);
        sh4_trace_log_again(tr, "the program has copied a section");
    }
    if (ret < 0 || tr->t->plug.ending)
        return ret;
    return sh4_trace_look_further(tr, err);
}

int sh4_trace_empty(struct sh4_trace *tr, struct err *err)
{
    const uint32_t save = sh4_trace_blob.save;
    uint32_t s[32], *cold = s + 16; /* the blocks lie in a row */
    uint64_t before = sh4_trace_wire_bits(tr->t);
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
        ret = sh4_agent_read(tr->t, tr->plan.ring, 4, tr->ring.words, n, err);
    if (ret == 0 && n)
        ret = sh4_trace_put(tr, save + 4 * SH4_TRACE_S_WPTR, &tr->plan.ring, 1, err);
    uint32_t right = (state & ~(uint32_t)(SH4_TRACE_FULL | SH4_TRACE_LIVE)) |
                     bits_if(tr->cfg.policy == TRACE_LIVE, SH4_TRACE_LIVE);
    /* an agent that was not read for a while has made itself live */
    if (ret == 0 && (lost || state != right))
        ret = sh4_trace_set_state(tr, right, err);
    if (ret == 0)
        ret = sh4_trace_read_elapsed(tr, err);
    if (ret < 0)
        return ret;
    if (n && (ret = sh4_trace_choose_residue(tr, err)) < 0)
        return ret;
    if ((ret = look_for_tasks(tr, err)) < 0 ||
        (ret = sh4_trace_look_at_tasks(tr, tr->t->plug.ending, err)) < 0)
        return ret;
    tr->ring.used = n * 4;
    tr->ring.work += work_of(tr, n);
    if ((ret = sh4_trace_foresee_tasks(tr, n, err)) < 0)
        return ret;
    if ((ret = sh4_trace_overlays_missed(tr, err)) < 0)
        return ret;
    uint64_t events = tr->sum.events;
    decode_words(tr, n);
    if (lost) {
        if (s[SH4_TRACE_S_WPTR] >= tr->plan.ring + tr->plan.ring_bytes &&
            (ret = forget_returns(tr, err)) < 0)
            return ret;
        tr->sum.lost += lost;
        sh4_trace_decode_lost(&tr->dec, lost);
        sh4_trace_note_lost(tr, lost);
    }
    tr->sum.wire_bits += sh4_trace_wire_bits(tr->t) - before;
    tr->sum.drains++;
    if (n || lost)
        sh4_trace_log_drain(tr, tr->sum.events - events, lost, sh4_trace_wire_bits(tr->t) - before);
    tr->ring.read_ns = sh4_link_now(&tr->t->link);
    tr->ask.times = 0;
    if (tr->armed)
        return look_at_code(tr, err);
    return 0;
}

/* A break that the agent has set on channel B, to catch the end of a handler, must survive the
 * kernel. */
static int keep_break(struct sh4_trace *tr, struct err *err)
{
    struct sh4_target *t = tr->t;
    uint32_t spc;
    if (t->breaks.ubc[1].used)
        return 0;
    int ret = sh4_trace_get(tr, sh4_trace_blob.cold + 4 * SH4_TRACE_C_EXC, &spc, 1, err);
    if (ret < 0)
        return ret;
    return sh4_saved_store(t, SH4_SAVE_BBRB, spc ? SH4_BBR_FETCH : 0, err);
}

/* Lets it run on as the kernel found it; a range step under way continues. */
static int go_on(struct sh4_trace *tr, struct err *err)
{
    struct sh4_target *t = tr->t;
    uint32_t step[3] = { 0, 0, 0 };
    struct err own = { .code = ERR_OK };
    int ret = keep_break(tr, err);
    if (ret == 0 && sh4_stepping(t))
        ret = sh4_agent_read(t, t->agent.base + t->agent.layout->step_words, 4, step, 3, err);
    if (ret < 0)
        return ret;
    struct sh4_request req = { .routine =
                                   t->agent.layout->op_go - (uint32_t)t->agent.layout->ref_call,
                               .arg = { step[0], step[1], step[2] } };
    ret = sh4_agent_run(t, &req, 1, &own);
    if (ret == -ERR_TIMEOUT) /* its answer was lost, but it runs */
        return 0;
    if (ret < 0 && err)
        *err = own;
    return ret;
}

/* The agent waits in the kernel, for any reason. 1: that concerns the user; 0: it wanted its ring
 * read, and runs on. */
int sh4_trace_serve(struct sh4_trace *tr, struct err *err)
{
    struct sh4_target *t = tr->t;
    uint32_t kind;
    int ret = save_word(t, SH4_SAVE_KIND, &kind, err);
    if (ret < 0)
        return ret;
    /* answered late */
    bool asked = tr->ask.sent,
         ours = kind == SH4_ENTRY_TRACE || (kind == SH4_ENTRY_INTERRUPT && !sh4_halt_asked(t));
    tr->ask.sent = false;
    if (!ours)
        return 1;
    uint64_t before = sh4_link_now(&t->link);
    if (kind == SH4_ENTRY_INTERRUPT)
        ret = sh4_trace_meant_intevt(tr, err);
    else
        ret = 0;
    if (ret < 0 || (ret = sh4_trace_empty(tr, err)) < 0)
        return ret;
    if (kind == SH4_ENTRY_TRACE && (ret = sh4_trace_stray(tr, err)) < 0)
        return ret;
    if ((ret = go_on(tr, err)) < 0)
        return ret;
    tr->sum.held_ns += sh4_link_now(&t->link) - before;
    tr->ask.patience_ns = t->link.wire->ring_pause * (sh4_link_now(&t->link) - before);
    if (asked || !tr->ran.unseen_ns)
        return 0;
    tr->ran.waited_ns += (before - tr->ran.unseen_ns) / 2; /* it was full at some time in between */
    sh4_trace_log_stall(tr, (before - tr->ran.unseen_ns) / 2);
    return 0;
}

/* An agent that waits with a full ring takes no interrupt, and a break would cost the program its
 * SPC. So when the program is to halt, its ring is read even if the caller does not keep up. A
 * record has at least two words an event. */
bool sh4_trace_has_room(const struct sh4_trace *tr)
{
    return sh4_halt_asked(tr->t) ||
           tr->queue.count + (tr->plan.ring_bytes + SH4_TRACE_RESERVE) / 8 + 16 < TRACE_QUEUE;
}
