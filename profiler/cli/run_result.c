/* What a profile ends with: its table or document, its files, and a sentence on the time. */
#include <poll.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "probe/base/choice.h"
#include "probe/base/util.h"
#include "profiler/cli/ending.h"
#include "profiler/cli/outputs.h"
#include "profiler/cli/run.h"
#include "profiler/cli/view.h"

void run_fail(struct run *r, const struct err *e)
{
    if (r->failure.code == ERR_OK)
        r->failure = *e;
}

/* `probeprof | tee log` and Ctrl-C: the reader is gone by the time there is something to read. */
static bool reader_gone(FILE *out)
{
    struct pollfd p = { .fd = fileno(out) };
    return ferror(out) || (poll(&p, 1, 0) == 1 && p.revents & POLLERR);
}

/* Where the result goes instead: to the terminal, or a new file of this folder or of /tmp. NULL:
 * nowhere. */
static FILE *other_place(struct run *r, char *name, size_t cap)
{
    static const char *const folders[] = { "", "/tmp/" };
    if (isatty(fileno(r->cli->err_out))) {
        run_note(r, "who was to read the result is gone; here it is:");
        return r->cli->err_out;
    }
    for (size_t i = 0; i < ARRAY_LEN(folders); i++) {
        snprintf(name, cap, "%sprobeprof-result-%ld.%s", folders[i], (long)getpid(),
                 view_exporter(&r->set)->suffix);
        FILE *f = fopen(name, "wxe");
        if (f) {
            run_note(r, "who was to read the result is gone: it is in %s", name);
            return f;
        }
    }
    run_note(r, "who was to read the result is gone, and no file can be made for it");
    return NULL;
}

static int show_elsewhere(struct run *r, const struct profile *p, struct err *err)
{
    char name[64] = "";
    FILE *f = other_place(r, name, sizeof name);
    int ret = 0;
    if (f)
        ret = view_show(&r->set, p, r->symbols, f, err);
    bool failed = f && fflush(f) != 0;
    if (f && f != r->cli->err_out)
        failed = fclose(f) != 0 || failed;
    if (ret < 0)
        return ret;
    if (failed)
        return err_set(err, ERR_IO, "free some space", "%s: cannot be written",
                       text_or(text_given(name), "standard error"));
    return err_set(err, ERR_IO, "", "writing standard output failed: who was to read it is gone");
}

static int show_profile(struct run *r, const struct profile *p, struct err *err)
{
    if (reader_gone(r->cli->out))
        return show_elsewhere(r, p, err);
    int ret = view_show(&r->set, p, r->symbols, r->cli->out, err);
    fflush(r->cli->out); /* a reader that leaves now, as head(1) does, has what it wanted */
    return ret;
}

void run_show_result(struct run *r)
{
    struct profile *p = NULL;
    struct err err = { .code = ERR_OK };
    live_clear(&r->live);
    if (run_profile(r, &p, &err) < 0) {
        run_fail(r, &err);
        return;
    }
    ending_stage(r->cli->ending, "while the result was written");
    if (show_profile(r, p, &err) < 0)
        run_fail(r, &err);
    if (*r->set.output && outputs_keep(r->set.output, &r->capture))
        outputs_tell_empty(r->cli, r->set.output);
    else if (*r->set.output && view_save(r->set.output, p, &err) < 0)
        run_fail(r, &err);
    ending_stage(r->cli->ending, RUN_USING_BOARD);
    profile_free(p);
}

static int show_table(struct run *r, FILE *out, struct err *err)
{
    struct profile *p = NULL;
    struct settings table = r->set;
    table.json = false;
    int ret = run_profile(r, &p, err);
    if (ret == 0)
        ret = view_show(&table, p, r->symbols, out, err);
    profile_free(p);
    fflush(out);
    return ret;
}

int run_show_table(struct run *r, struct err *err)
{
    FILE *out = r->cli->out;
    if (r->set.json) /* there will be a document */
        out = r->cli->err_out;
    if (reader_gone(out))
        return err_set(err, ERR_IO, "", "who was to read it is gone");
    live_clear(&r->live);
    ending_stage(r->cli->ending, "while a table was written");
    int ret = show_table(r, out, err);
    ending_stage(r->cli->ending, RUN_USING_BOARD);
    return ret;
}

/* Samples have no cycles: what looking cost stands in the note. */
static struct run_time time_of(const struct run *r, const struct pump_view *v)
{
    struct run_time time = v->trace.time;
    time.host_ns = EITHER(r->end_ns, uv_hrtime()) - r->begin_ns;
    if (!time.target_cycles)
        time.board_ns = 0;
    return time;
}

/* v: as long as the info is used. */
static struct profile_info info_of(const struct run *r, const struct pump_view *v)
{
    struct profile_info info = {
        .target = r->header.target,
        .probe = r->header.probe,
        .elf = r->header.elf,
        .build_id_len = r->header.build_id_len,
        .counter = { r->header.counter[0], r->header.counter[1] },
        .time = time_of(r, v),
        .when = r->header.when,
        .icache_enabled = v->trace.icache_enabled,
        .cache_by_address = r->header.address_cached,
        .note = text_given(v->trace.note),
    };
    memcpy(info.build_id, r->header.build_id, info.build_id_len);
    return info;
}

int run_profile(struct run *r, struct profile **out, struct err *err)
{
    struct pump_view v = pump_look(&r->pump);
    struct profile_info info = info_of(r, &v);
    return capture_profile(&r->capture, &info, out, err);
}

static int take_snapshot(struct run *r, bool marked, const struct snapshot **out, struct err *err)
{
    struct pump_view v = pump_look(&r->pump);
    struct profile_info info = info_of(r, &v);
    return capture_snapshot(&r->capture, &info, marked, out, err);
}

int run_snapshot(void *ctx, const struct snapshot **out, struct err *err)
{
    return take_snapshot(ctx, true, out, err);
}

int run_unmarked(struct run *r, const struct snapshot **out, struct err *err)
{
    return take_snapshot(r, false, out, err);
}

struct recording_end run_recording_end(const struct run *r, const struct pump_view *v)
{
    struct recording_end end = {
        .time = time_of(r, v),
        .lost = v->trace.lost,
        .icache_enabled = v->trace.icache_enabled,
    };
    memcpy(end.note, v->trace.note, sizeof end.note);
    return end;
}

void run_finish_recording(struct run *r, const struct pump_view *v)
{
    struct err err = { .code = ERR_OK };
    struct recording_end end = run_recording_end(r, v);
    log_msg(&r->log, LOG_PROF, "profile: %llu events reached the call tree%s%s",
            (unsigned long long)r->capture.seen,
            text_if(r->capture.recording, " and the recording "),
            text_if(r->capture.recording, r->set.record));
    int ret = capture_finish_recording(&r->capture, &end, &err);
    if (ret < 0)
        run_fail(r, &err);
    if (ret > 0)
        outputs_tell_empty(r->cli, r->set.record);
}

static char *duration_text(uint64_t ns, char *buf, size_t cap)
{
    double ms = (double)ns / 1e6;
    if (ms < 100)
        snprintf(buf, cap, "%.3g ms", ms);
    else
        snprintf(buf, cap, "%.1f s", ms / 1000);
    return buf;
}

/* When --for is over the program stands; the events that are still on the board come after that. */
void run_tell_duration(struct run *r, const struct pump_view *v)
{
    struct slowdown slow = live_slowdown(v);
    const struct run_time *t = &v->trace.time;
    uint64_t ns = EITHER(t->board_ns, v->now_ns - v->armed_ns), after = 0;
    char text[80], time[32], fetched[32], moved[64] = "";
    if (r->set.for_ns && !r->header.has_start && ns > r->set.for_ns)
        after = MIN(ns - r->set.for_ns, t->held_ns);
    if (after)
        snprintf(moved, sizeof moved, ", and %s to move the last events",
                 duration_text(after, fetched, sizeof fetched));
    run_note(r, "%s of the board's time%s%s%s", duration_text(ns - after, time, sizeof time), moved,
             text_if(slow.times > 0, ", slowed down "), slowdown_text(&slow, text, sizeof text));
}
