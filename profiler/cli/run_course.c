/* The course of a run on the main thread: from its beginning on the worker, over the events that
 * come, to the end of the profile or the user's request to end. */
#include <stdio.h>
#include <string.h>

#include "probe/base/choice.h"
#include "probe/base/util.h"
#include "profiler/cli/ending.h"
#include "profiler/cli/run.h"

static void quit_loop(struct run *r)
{
    run_top_end(r);
    r->phase = RUN_QUITTING;
    uv_stop(&r->loop);
}

/* ---- jobs on the worker ---- */

static void disarm_on_worker(void *ctx, struct target *t)
{
    struct run *r = ctx;
    pump_disarm(&r->pump, t);
}

/* A worker that is being stopped takes none, and needs none. */
void run_post_job(struct run *r, void (*run)(void *, struct target *))
{
    r->job = (struct worker_job){ .run = run, .ctx = r };
    worker_post(r->worker, &r->job, NULL);
}

/* ---- the profile's course ---- */

static void end_profile(struct run *r)
{
    if (r->phase != RUN_PROFILING)
        return;
    run_top_end(r);
    r->phase = RUN_ENDING;
    run_post_job(r, disarm_on_worker);
}

static void tell_loaded(struct run *r, const struct begin_view *v)
{
    char rate[60];
    if (v->loaded)
        run_note(r, "loaded and verified %llu bytes of %s%s%s", (unsigned long long)v->loaded,
                 r->set.elf, progress_rate(v->loaded, v->load_ns, rate, sizeof rate),
                 text_if(!r->profile, "; halted at its entry"));
}

/* Once the worker is done with beginning, whichever way. */
void run_look_for_beginning(struct run *r)
{
    struct begin_view begun = begin_look(&r->begin);
    if (r->phase != RUN_STARTING || !begun.over)
        return;
    if (begun.ret < 0) {
        run_fail(r, &begun.err);
        quit_loop(r);
        return;
    }
    tell_loaded(r, &begun);
    r->phase = RUN_BRIDGING;
    if (r->profile)
        r->phase = RUN_PROFILING;
    if (r->profile) {
        struct pump_view v = pump_look(&r->pump);
        run_note(r, "profiling%s, %s; Ctrl-C ends it",
                 text_if(!r->set.load, " the running program"),
                 text_or(text_given(v.trace.note), "every call traced"));
        if (r->header.nstops && !r->header.has_start)
            run_note(r, "it ends at the first stop point: without --start nothing would resume it");
    }
}

static void describe_stop(struct run *r, const struct target_stop *stop)
{
    char where[160];
    symbols_describe(r->symbols, stop->pc, where, sizeof where);
    if (stop->reason == STOP_EXIT)
        run_note(r, "the program ended with status %d", stop->exit_status);
    else
        run_note(r, "the program stopped at %s%s%s", where, text_if(*stop->text, ": "), stop->text);
}

static void profile_ended(struct run *r, const struct pump_view *v)
{
    run_take_events(r);
    r->end_ns = uv_hrtime();
    if (v->why.code != ERR_OK)
        run_fail(r, &v->why);
    run_finish_recording(r, v);
    run_show_result(r);
    run_files_end(r);
    char start[160];
    if (r->header.has_start && !r->capture.filter.have_first)
        run_note(r, "the program never came to the start point %s: nothing was profiled",
                 run_start_text(r, start, sizeof start));
    if (!r->set.json)
        run_tell_duration(r, v);
    serve_now(&r->serve);
    if (gdb_server_sessions(r->server) == 0 || r->terminate) {
        quit_loop(r);
        return;
    }
    r->phase = RUN_BRIDGING;
    ending_answered(r->cli->ending);
    r->asked = 0;
    run_note(r, "the profile is complete; GDB is still connected, Ctrl-C ends the bridge");
}

/* The program has stopped and no client will resume it. A GDB that detaches resumes it first, so
 * one look is not enough. */
static bool stopped_for_good(struct run *r, const struct pump_view *v)
{
    bool stopped = r->phase == RUN_PROFILING && v->stop.reason != STOP_NONE &&
                   gdb_server_sessions(r->server) == 0;
    r->halted_ticks += v->stop_looks != r->stop_looks;
    if (!stopped)
        r->halted_ticks = 0;
    r->stop_looks = v->stop_looks;
    return r->halted_ticks >= 3;
}

/* A user who terminates the program will not wait for a live line that does not change. */
static bool events_are_late(struct run *r)
{
    struct ending_view asked = ending_look(r->cli->ending);
    struct err late;
    if (!asked.terminate || uv_hrtime() - asked.since_ns < ENDING_EVENTS_S * 1000000000ull)
        return false;
    err_set(&late, ERR_TIMEOUT, "the profile is complete up to there",
            "the last events did not come within %d s of the request to end", ENDING_EVENTS_S);
    run_fail(r, &late);
    return true;
}

static void show_live(struct run *r, const struct pump_view *v)
{
    if (r->set.json || r->set.quiet)
        return;
    live_resized(&r->live);
    live_tick(&r->live,
              &(struct live_now){ .view = v,
                                  .seen = r->capture.seen,
                                  .passes = r->capture.filter.passes,
                                  .max_passes = r->capture.filter.cfg.max_passes,
                                  .for_ns = r->set.for_ns },
              &(struct live_source){ run_snapshot, r }, uv_hrtime());
}

void run_look_after_profile(struct run *r)
{
    if (!r->has_pump ||
        (r->phase != RUN_PROFILING && r->phase != RUN_ENDING && r->phase != RUN_BRIDGING))
        return;
    run_take_some(r);
    struct pump_view v = pump_look(&r->pump);
    if (r->phase == RUN_BRIDGING) {
        if (v.phase == PUMP_ARMED) /* monitor profile start */
            r->phase = RUN_PROFILING;
        return;
    }
    if (v.phase == PUMP_ENDED) {
        profile_ended(r, &v);
        return;
    }
    if (r->phase == RUN_ENDING && events_are_late(r)) {
        profile_ended(r, &v);
        return;
    }
    if (capture_done(&r->capture))
        end_profile(r);
    if (stopped_for_good(r, &v)) {
        describe_stop(r, &v.stop);
        end_profile(r);
    }
    if (r->phase != RUN_PROFILING)
        return;
    run_save_tick(r);
    show_live(r, &v);
}

/* ---- being asked to end ---- */

static void give_up_beginning(struct run *r)
{
    struct err given_up;
    bool loading = r->phase == RUN_STARTING && r->set.load;
    err_set(&given_up, ERR_CANCELLED,
            loading ? "the board holds part of the program at most: load it again"
                    : "patches left on the board are undone at the next attach",
            "quit on request");
    run_fail(r, &given_up);
    quit_loop(r);
}

/* A bridge ends at once. A profile is finished first, and a beginning under way is cancelled. */
static void asked_to_end(struct run *r)
{
    if (r->phase == RUN_BRIDGING) /* GDB may have started a profile since the last tick */
        run_look_after_profile(r);
    if (r->phase == RUN_PROFILING) {
        run_note(r, "ending the profile (Ctrl-C again quits at once)");
        end_profile(r);
    } else if (r->phase == RUN_ENDING) {
        run_note(r, "the last events are on their way (Ctrl-C again quits at once)");
    } else if (r->phase == RUN_BRIDGING ||
               (r->phase == RUN_STARTING && !r->profile && !r->set.load)) {
        quit_loop(r);
    } else {
        give_up_beginning(r);
    }
}

void run_look_at_ending(struct run *r)
{
    struct ending_view v = ending_look(r->cli->ending);
    bool first = v.asked && !r->asked;
    if (v.asked == r->asked || r->phase == RUN_QUITTING)
        return;
    r->asked = v.asked;
    r->terminate = v.terminate;
    if (v.at_once) {
        r->abandon = r->phase == RUN_ENDING;
        give_up_beginning(r);
    } else if (first) {
        asked_to_end(r);
    }
}
