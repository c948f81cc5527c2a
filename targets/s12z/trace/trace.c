/* Arms and disarms a live profile, and answers for it. Lines come in one of two ways: from the pins
 * PDO and PDOCLK, continuously, where the adapter or an analyser captures them (pins.c); otherwise
 * in bursts, read from the trace buffer over BDC after each session (bursts.c). Source: ZVHL
 * p.191-226, ZVM p.226. */
#include <stdlib.h>

#include "probe/base/choice.h"
#include "probe/base/log.h"
#include "targets/s12z/trace/trace_priv.h"

/* ---- arming ---- */

static int refuse_config(const struct s12z_target *t, const struct trace_config *cfg,
                         struct err *err)
{
    if (!t->part.full_dbg)
        return err_set(err, ERR_UNSUPPORTED, "--sample looks at the PC instead",
                       "%s: no trace buffer in this part's DBG module", t->chip->name);
    if (!cfg->image)
        return err_set(err, ERR_USAGE, "add --elf FILE", "profiling needs the program");
    if (cfg->irq_filter == IRQ_FILTER_CALLS || cfg->irq_filter == IRQ_FILTER_SHINOBI)
        return err_set(err, ERR_UNSUPPORTED,
                       "--irq-filter auto keeps handlers out of their victims' numbers",
                       "S12Z: this interrupt filter is SH-4's");
    return 0;
}

static int open_events(struct s12z_trace *tr, struct err *err)
{
    uint16_t ivbr;
    const struct trace_config *cfg = &tr->cfg;
    int ret = s12z_peek16(tr->t, IVBR, &ivbr, err);
    if (ret < 0)
        return ret;
    return s12z_events_new(
        &(struct s12z_events_config){
            .image = cfg->image,
            .settings = s12z_settings_default(),
            .ivbr = ivbr,
            .has_start = cfg->has_start,
            .start = (uint32_t)cfg->start,
            .stops = cfg->stops,
            .nstops = cfg->nstops,
            .counter = { cfg->counter[0], cfg->counter[1] },
            .seamless = true,
            .lines = cfg->lines,
        },
        &tr->events, err);
}

static void free_trace(struct s12z_target *t)
{
    struct s12z_trace *tr = t->trace;
    t->trace = NULL;
    t->hooks = NULL;
    if (!tr)
        return;
    s12z_trace_close_pins(tr);
    s12z_events_free(tr->events);
    free(tr);
}

static int trace_arm(struct target *target, const struct trace_config *cfg, struct err *err)
{
    struct s12z_target *t = s12z_of(target);
    int ret = refuse_config(t, cfg, err);
    if (ret < 0)
        return ret;
    free_trace(t);
    struct s12z_trace *tr = calloc(1, sizeof *tr);
    if (!tr)
        return err_set(err, ERR_NOMEM, "close other programs", "trace: out of memory");
    tr->t = t;
    tr->steps_before = t->run.steps;
    tr->cfg = *cfg;
    t->trace = tr;
    ret = open_events(tr, err);
    if (ret == 0)
        ret = s12z_trace_open_pins(tr, err);
    if (ret == 0 && !tr->pins.pdo && cfg->policy == TRACE_LIVE)
        ret = s12z_trace_measure_bus(tr, err);
    if (ret == 0)
        ret = s12z_trace_hook_in(tr, err);
    if (ret < 0) {
        s12z_dbg_claim(t, NULL, NULL);
        free_trace(t);
        return s12z_lost(t, err_prefix(err, ret, "trace"));
    }
    log_msg(t->probe->log, LOG_PROF, "%s: profiling by %s%s%s", t->probe->name,
            tr->pins.pdo ? "PDO capture" : "bursts over BDC", text_if(*tr->session.plan.text, "; "),
            tr->session.plan.text);
    return 0;
}

/* ---- the rest of the table ---- */

static int trace_poll(struct target *target, struct event *out, size_t cap, uint64_t max_ns,
                      struct err *err)
{
    struct s12z_target *t = s12z_of(target);
    struct s12z_trace *tr = t->trace;
    (void)max_ns; /* the driver's poll() lets time pass and calls s12z_trace_look() */
    if (!tr || !tr->events)
        return 0;
    if (tr->armed && s12z_state(t) == TARGET_RUNNING && s12z_events_waiting(tr->events) == 0) {
        int ret = s12z_trace_look(tr, err);
        if (ret < 0)
            return s12z_lost(t, ret);
    }
    return (int)s12z_events_take(tr->events, out, cap);
}

static int trace_disarm(struct target *target, struct err *err)
{
    struct s12z_target *t = s12z_of(target);
    struct s12z_trace *tr = t->trace;
    if (!tr || !tr->armed)
        return 0;
    s12z_trace_count_run(tr, false, s12z_now(t));
    int ret = s12z_trace_end_sessions(tr, err);
    if (tr->pins.pdo && tr->arrivals.damaged && s12z_trace_samples_per_bit(tr) > 0)
        /* the program may have made it faster: then that is why */
        s12z_trace_measure_bus(tr, NULL);
    ret = s12z_trace_stop_pins(tr, ret, err);
    tr->armed = false;
    t->hooks = NULL;
    int claimed = s12z_dbg_claim(t, NULL, err_unless(ret < 0, err));
    int closed = s12z_events_end(tr->events, err_unless(ret < 0 || claimed < 0, err));
    log_msg(t->probe->log, LOG_PROF, "%s: disarmed: %llu lines, %llu wire clocks", t->probe->name,
            (unsigned long long)tr->arrivals.lines, (unsigned long long)tr->session.wire_bits);
    /* breakpoints of the debugger stay */
    if (ret == 0 && s12z_state(t) == TARGET_RUNNING && s12z_dbg_wanted(t))
        ret = s12z_dbg_arm(t, err);
    if (ret == 0)
        ret = claimed;
    return s12z_lost(t, ret < 0 ? ret : closed);
}

static int trace_set_active(struct target *target, bool active, struct err *err)
{
    struct s12z_trace *tr = s12z_trace_of(target);
    if (!tr || !tr->armed)
        return err_set(err, ERR_STATE, "arm it first", "no profile is armed");
    if (active)
        s12z_trace_allow_stretch(tr);
    return s12z_events_set_active(tr->events, active, err);
}

static char *line_text(uint64_t line, char *buf, size_t cap)
{
    const struct s12z_settings settings = s12z_settings_default();
    return s12z_line_text(line, &settings, buf, cap);
}

static const struct target_trace_ops trace_ops = {
    .arm = trace_arm,
    .poll = trace_poll,
    .disarm = trace_disarm,
    .set_active = trace_set_active,
    .status = s12z_trace_status,
    .explain = s12z_trace_explain,
    .line_text = line_text,
};

const struct s12z_tracing s12z_tracing = { .ops = &trace_ops, .close = free_trace };

const struct s12z_events_totals *s12z_trace_totals(const struct s12z_trace *tr)
{
    return s12z_events_totals(tr->events);
}
struct s12z_flow *s12z_trace_flow(const struct s12z_trace *tr)
{
    return s12z_events_flow(tr->events);
}
