/* What a run has so far goes to its files: --save-every, and when a reader of the feed asks. */
#include <stdio.h>
#include <string.h>

#include "probe/base/util.h"
#include "profiler/cli/ending.h"
#include "profiler/cli/outputs.h"
#include "profiler/cli/run.h"
#include "profiler/cli/view.h"

enum { SAVE_SHARE = 20 }; /* of the time: one part in so many goes into saving at most */

int run_save(struct run *r, struct err *err)
{
    struct profile *p = NULL;
    struct recording_writer *w = r->capture.recording;
    int ret = 0;
    run_take_events(r);
    slices_save(&r->slices);
    run_files_tick(r);
    ending_stage(r->cli->ending, "while a profile was saved");
    if (w == r->capture.recording && w) /* a block more: report reads F.part up to there */
        ret = recording_flush(w, err);
    if (*r->set.output && !outputs_keep(r->set.output, &r->capture)) {
        struct err own = { .code = ERR_OK };
        int saved = run_profile(r, &p, &own);
        if (saved == 0)
            saved = view_save(r->set.output, p, &own);
        profile_free(p);
        if (ret == 0 && saved < 0)
            ret = err_set(err, own.code, own.hint, "%s", own.what);
    }
    ending_stage(r->cli->ending, RUN_USING_BOARD);
    return ret;
}

/* A disk that is full now may have room the next time; the older file stays. */
static void tell_saving(struct run *r, int ret, const struct err *why)
{
    struct saving *s = &r->saving;
    if (ret < 0 && !s->failed)
        run_note(r, "not saved: %s (it is tried again)", why->what);
    else if (ret == 0 && s->failed)
        run_note(r, "saved again");
    s->failed = ret < 0;
}

void run_save_tick(struct run *r)
{
    struct saving *s = &r->saving;
    struct err err = { .code = ERR_OK };
    uint64_t began = uv_hrtime();
    if (!r->set.save_ns)
        return;
    if (!s->next_ns)
        s->next_ns = began + r->set.save_ns;
    if (began < s->next_ns)
        return;
    bool fresh = r->capture.seen != s->seen;
    s->seen = r->capture.seen;
    if (fresh || s->failed)
        tell_saving(r, run_save(r, &err), &err);
    s->next_ns = began + MAX((uint64_t)r->set.save_ns, SAVE_SHARE * (uv_hrtime() - began));
}
