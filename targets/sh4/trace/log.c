/* What `--log prof` shows of a trace: a line for what happens to it, and for each drain, never for
 * an event. */
#include "probe/base/choice.h"
#include "probe/base/log.h"
#include "targets/sh4/trace/trace.h"

static const struct log *log_of(const struct sh4_trace *tr) { return tr->t->probe->log; }
static const char *name_of(const struct sh4_trace *tr) { return tr->t->probe->name; }
static double in_ms(uint64_t ns) { return (double)ns / 1e6; }

void sh4_trace_log_armed(const struct sh4_trace *tr, uint64_t took_ns, uint64_t wire_bits)
{
    const struct sh4_trace_plan *p = &tr->plan;
    log_msg(log_of(tr), LOG_PROF,
            "%s: armed in %.3g ms, %llu wire clocks: %s; agent at %08x, %zu bytes, a ring of %u "
            "bytes behind it; %s",
            name_of(tr), in_ms(took_ns), (unsigned long long)wire_bits, tr->note.text, p->base,
            (size_t)p->image_len, p->ring_bytes,
            tr->cfg.policy == TRACE_LIVE ? "live: a full ring loses"
                                         : "lossless: a full ring stops the program");
    log_msg(log_of(tr), LOG_PROF,
            "%s: an event costs the agent %d cycles without caches, %d with them (0: not measured)",
            name_of(tr), tr->cost.full16[0] / 16, tr->cost.full16[1] / 16);
}

void sh4_trace_log_drain(const struct sh4_trace *tr, uint64_t events, uint32_t lost,
                         uint64_t wire_bits)
{
    unsigned full = 0;
    if (tr->plan.ring_bytes)
        full = (unsigned)(100ull * tr->ring.used / tr->plan.ring_bytes);
    log_msg(
        log_of(tr), LOG_PROF,
        "%s: drain %llu: %llu events in %u bytes (ring %u %% full), %llu wire clocks, %zu queued",
        name_of(tr), (unsigned long long)tr->sum.drains, (unsigned long long)events, tr->ring.used,
        full, (unsigned long long)wire_bits, tr->queue.count);
    if (lost)
        log_msg(log_of(tr), LOG_PROF, "%s: lost: %u events that found the ring full, %llu in all",
                name_of(tr), lost, (unsigned long long)tr->sum.lost);
}

void sh4_trace_log_stall(const struct sh4_trace *tr, uint64_t ns)
{
    log_msg(log_of(tr), LOG_PROF, "%s: stall: the program waited with its ring full, about %.3g ms",
            name_of(tr), in_ms(ns));
}

void sh4_trace_log_again(const struct sh4_trace *tr, const char *why)
{
    log_msg(log_of(tr), LOG_PROF, "%s: armed again, %s: %s", name_of(tr), why, tr->note.text);
}

void sh4_trace_log_active(const struct sh4_trace *tr)
{
    log_msg(log_of(tr), LOG_PROF, "%s: %s on request", name_of(tr),
            tr->active ? "recording" : "not recording");
}

void sh4_trace_log_disarmed(const struct sh4_trace *tr, uint64_t took_ns)
{
    log_msg(log_of(tr), LOG_PROF,
            "%s: disarmed in %.3g ms%s: %llu events, %llu lost, %llu doubtful, %llu drains, %llu "
            "wire clocks, held for drains %.3g ms",
            name_of(tr), in_ms(took_ns), text_if(tr->reset.seen, " (the CPU was reset)"),
            (unsigned long long)tr->sum.events, (unsigned long long)tr->sum.lost,
            (unsigned long long)tr->sum.doubtful, (unsigned long long)tr->sum.drains,
            (unsigned long long)tr->sum.wire_bits, in_ms(tr->sum.held_ns));
}
