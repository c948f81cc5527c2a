/* `monitor profile start|stop|status`: GDB's breakpoints can start and stop a profile through their
 * commands. `monitor load`: as --load, with sentences. */
#include <string.h>

#include "probe/base/choice.h"
#include "profiler/bridge/board_io.h"
#include "profiler/cli/run.h"
#include "profiler/cli/run_monitor_reg.h"

static int profile_start(struct run *r, struct target *t, const struct text_sink *out,
                         struct err *err)
{
    int ret = 0;
    if (r->pump.phase != PUMP_ARMED)
        ret = pump_arm(&r->pump, t, err);
    if (ret >= 0) /* now, not at the start point */
        ret = pump_set_active(&r->pump, t, true, err);
    if (ret >= 0)
        sink_printf(out, "profiling\n");
    return ret;
}

static int profile_stop(struct run *r, struct target *t, const struct text_sink *out,
                        struct err *err)
{
    if (r->pump.phase != PUMP_ARMED)
        return err_set(err, ERR_STATE, "monitor profile start", "no profile is running");
    int ret = pump_set_active(&r->pump, t, false, err);
    if (ret >= 0)
        sink_printf(out, "paused; `monitor profile start` goes on, Ctrl-C in probeprof ends it and "
                         "shows the result\n");
    return ret;
}

/* The loop does it, behind the events that wait there. */
static int profile_clear(struct run *r, const struct text_sink *out, struct err *err)
{
    if (r->pump.phase != PUMP_ARMED)
        return err_set(err, ERR_STATE, "monitor profile start", "no profile is running");
    atomic_store(&r->clear_wanted, true);
    run_wake(r);
    sink_printf(out, "what was counted so far is forgotten\n");
    return 0;
}

static void say_resets(const struct pump_view *v, const struct text_sink *out)
{
    if (v->resets)
        sink_printf(out,
                    "the board was reset %u time%s since the profile began; each is a gap in it\n",
                    v->resets, plural_s(v->resets));
    if (v->resetting)
        sink_printf(out, "not traced since the last reset; that begins again by itself%s%s\n",
                    text_if(v->why.code != ERR_OK, ": so far "),
                    text_if(v->why.code != ERR_OK, v->why.what));
}

static void say_events(const struct trace_status *s, const struct text_sink *out)
{
    sink_printf(out, "%s: %llu events, %llu lost, %llu doubtful",
                s->active ? "profiling" : "waiting for the start point, or paused",
                (unsigned long long)s->events, (unsigned long long)s->lost,
                (unsigned long long)s->doubtful);
    if (s->sites || s->untraced_sites) /* of a trace by patches */
        sink_printf(out, "; %u places traced, %u not", s->sites, s->untraced_sites);
    sink_printf(out, "\n");
}

static void say_costs(const struct trace_status *s, const struct slowdown *slow,
                      const struct text_sink *out)
{
    char text[80];
    if (slow->times <= 0)
        return;
    sink_printf(out, "slowed down %s; %.1f wire bits an event",
                slowdown_text(slow, text, sizeof text),
                ratio_or_0((double)s->wire_bits, (double)s->events));
    if (s->agent_cost[0] || s->agent_cost[1])
        sink_printf(out, "; agent cost %u/%u an event, subtracted", s->agent_cost[0],
                    s->agent_cost[1]);
    sink_printf(out, "\n");
}

static int profile_status(struct run *r, struct target *t, const struct text_sink *out,
                          struct err *err)
{
    struct trace_status s = { 0 };
    struct pump_view v = pump_look(&r->pump);
    if (r->pump.phase != PUMP_ARMED) {
        sink_printf(out, "not profiling\n");
        return 0;
    }
    say_resets(&v, out);
    if (v.resetting)
        return 0;
    int ret = pump_status(&r->pump, t, &s, err);
    if (ret < 0)
        return ret;
    if (r->set.sample) {
        sink_printf(out, "%s: %llu samples\n%s\n", s.active ? "sampling" : "paused",
                    (unsigned long long)s.events, s.note);
        return 0;
    }
    say_events(&s, out);
    v.trace = s;
    struct slowdown slow = live_slowdown(&v);
    say_costs(&s, &slow, out);
    if (*s.note)
        sink_printf(out, "%s\n", s.note);
    return 0;
}

static int monitor_profile(void *ctx, int argc, char **argv, const struct text_sink *out,
                           struct err *err)
{
    struct run *r = ctx;
    const char *what = "status";
    if (argc > 1)
        what = argv[1];
    if (!r->has_pump)
        return err_set(err, ERR_STATE, "start probeprof with --elf FILE",
                       "profiling needs the program's ELF");
    if (!strcmp(what, "start"))
        return profile_start(r, r->target, out, err);
    if (!strcmp(what, "stop"))
        return profile_stop(r, r->target, out, err);
    if (!strcmp(what, "clear"))
        return profile_clear(r, out, err);
    if (!strcmp(what, "status"))
        return profile_status(r, r->target, out, err);
    if (!strcmp(what, "counters"))
        return run_monitor_counters(r, argc - 2, argv + 2, out, err);
    if (!strcmp(what, "points"))
        return run_monitor_points(r, argc - 2, argv + 2, out, err);
    if (!strcmp(what, "explain") && r->set.sample)
        return err_set(err, ERR_UNSUPPORTED, "profile status",
                       "samples trace nothing, so nothing is untraced");
    if (!strcmp(what, "explain"))
        return r->target->ops->trace->explain(r->target, out, err);
    return err_set(err, ERR_USAGE, "profile start|stop|clear|status|explain|counters|points",
                   "profile: unknown word '%s'", what);
}

static bool is_leaving(void *ctx) { return atomic_load(&((struct run *)ctx)->leaving); }

static int monitor_load(void *ctx, int argc, char **argv, const struct text_sink *out,
                        struct err *err)
{
    struct run *r = ctx;
    struct board_io io = { .cancelled = is_leaving, .ctx = r, .tell = run_tell_progress };
    uint64_t bytes = 0, since = uv_hrtime();
    char rate[60];
    (void)argv;
    if (argc > 1)
        return err_set(err, ERR_USAGE, "load",
                       "load: it loads the ELF that probeprof was given, and takes no word");
    if (!r->symbols)
        return err_set(err, ERR_STATE, "start probeprof with --elf FILE; or GDB's own load",
                       "load: probeprof was not given a program");
    if (r->has_pump && r->pump.phase == PUMP_ARMED)
        return err_set(err, ERR_STATE, "end the profile first (Ctrl-C in probeprof)",
                       "load: a profile is running");
    if (r->target->ops->state(r->target) != TARGET_HALTED)
        return err_set(err, ERR_STATE, "interrupt it first", "load: the program is running");
    int ret = board_load(r->target, symbols_image(r->symbols), &io, &bytes, err);
    if (ret < 0)
        return ret;
    sink_printf(out,
                "loaded and verified %llu bytes of %s%s; halted at its entry; `maintenance flush "
                "register-cache` shows it\n",
                (unsigned long long)bytes, r->set.elf,
                progress_rate(bytes, uv_hrtime() - since, rate, sizeof rate));
    return 0;
}

const struct monitor_command run_monitor[] = {
    { "load", "load", "as --load: reset, write the ELF, check it; says what fails", monitor_load },
    { "profile", "profile [start|stop|clear|status|explain|counters [EVENT [EVENT]]|points ...]",
      "pause, continue, restart or show the function trace; what it counts, from where to where",
      monitor_profile },
    { "reg", "reg [NAME...|NAME VALUE|PERIPHERAL[.REGISTER[.FIELD]] [VALUE]]",
      "registers with their fields; set one; of peripherals by --svd", run_monitor_reg },
    { NULL, NULL, NULL, NULL },
};
