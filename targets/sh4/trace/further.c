/* Repeats the search when a drain holds the program: from places that running has shown, and over
 * code that the program has changed. */
#include <stdlib.h>

#include "probe/base/util.h"
#include "targets/sh4/agent/trace_blob.h"
#include "targets/sh4/trace/trace.h"

enum {
    SEARCHES = 32, /* in one arming: each holds the program */
    /* looks at changed code that found no code: there are variables in it */
    IN_VAIN = 8
};
/* the least time between two searches; and so many times what the last one took */
#define SOON_NS   20000000ull
#define TIMES     20
#define GLANCE_NS 50000000ull /* a part of the code is looked at so often */

static uint64_t time_now(const struct sh4_trace *tr) { return sh4_link_now(&tr->t->link); }

/* Of the program's code: FNV-1a. */
static uint32_t sum_of(const struct image *im)
{
    uint32_t h = 2166136261u;
    for (size_t i = 0; i < im->nsections; i++)
        for (uint64_t k = 0;
             im->sections[i].code && im->sections[i].data && k < im->sections[i].size; k++)
            h = (h ^ im->sections[i].data[k]) * 16777619u;
    return h;
}

int sh4_trace_found_init(struct sh4_trace *tr, struct err *err)
{
    struct sh4_target *t = tr->t;
    if (!t->plug.found)
        sh4_tracing_has_found(t, calloc(1, sizeof *t->plug.found));
    tr->found = t->plug.found;
    if (!tr->found)
        return err_set(err, ERR_NOMEM, "close other programs", "trace: out of memory");
    uint32_t sum = sum_of(tr->cfg.image);
    if (tr->found->sum != sum)
        *tr->found = (struct sh4_trace_found){ .sum = sum };
    tr->found->more = false;
    tr->search.places = tr->found->n;
    return sh4_trace_now_init(tr, err);
}

/* What was found in code that the program had put there is dropped at the next arming, which begins
 * with the image. */
void sh4_trace_found_end(struct sh4_trace *tr)
{
    struct sh4_trace_found *f = tr->found;
    for (size_t k = 0; f && tr->now.copy && k < tr->now.image.nsections; k++)
        if (tr->now.copy[k])
            sh4_trace_forget_changed(tr, (uint32_t)tr->now.section[k].addr,
                                     tr->cfg.image->sections[k].data, tr->now.copy[k],
                                     (uint32_t)tr->now.section[k].size);
    sh4_trace_now_fini(tr);
}

/* Changed code is a reason to search, too. Small parts are compared in turn, as the whole of a
 * large program would hold it for long. */
static int glance_at_code(struct sh4_trace *tr, struct err *err)
{
    bool differs;
    if (time_now(tr) < tr->search.glance_ns || tr->search.in_vain >= IN_VAIN || tr->search.due)
        return 0;
    uint64_t before = time_now(tr);
    int ret = sh4_trace_glance(tr, &differs, err);
    tr->search.glance_ns = time_now(tr) + MAX((uint64_t)GLANCE_NS, TIMES * (time_now(tr) - before));
    tr->search.due = ret == 0 && differs;
    return ret;
}

/* Where the agent keeps BL clear for the program, what it is to do with SR must not change. */
static int in_section(struct sh4_trace *tr, struct err *err)
{
    uint32_t word;
    int ret = sh4_trace_get(tr, sh4_trace_blob.meant + 4 * SH4_TRACE_M_SR, &word, 1, err);
    if (ret < 0)
        return ret;
    return word != 0;
}

/* The trace was armed in code that the search did not know. The first known place where a drain's
 * interrupt strikes, which it does with BL=0 only, shows what the place of arming would have shown.
 * 1: SR.BL is clear at the entry. */
static int find_place(struct sh4_trace *tr, struct err *err)
{
    uint32_t spc;
    int ret = sh4_trace_get(tr, sh4_trace_blob.ext + 4 * SH4_TRACE_X_SPC, &spc, 1, err);
    if (ret < 0 || !(sh4_sites_code(&tr->sites, spc) & SH4_CODE_INSN))
        return ret;
    tr->search.unplaced = false;
    if (!sh4_sites_may_block(&tr->sites, spc))
        return 0;
    tr->search.with.entry_blocked = false;
    return 1;
}

static int search_now(struct sh4_trace *tr, struct err *err)
{
    bool changed;
    size_t before = tr->found->n;
    int ret = sh4_trace_now_refresh(tr, &changed, err);
    if (ret < 0)
        return ret;
    tr->search.due = false;
    if (!changed && before == tr->search.places) {
        tr->search.in_vain++;
        return 0;
    }
    tr->search.done++;
    tr->search.places = tr->found->n;
    return sh4_trace_again(tr, err);
}

int sh4_trace_search_changed(struct sh4_trace *tr, struct err *err)
{
    bool changed;
    tr->search.due = true;
    tr->search.places = SIZE_MAX; /* it is not what was searched with */
    int ret = in_section(tr, err);
    if (ret != 0)
        return MIN(ret, 0);
    ret = sh4_trace_now_refresh(tr, &changed, err);
    tr->search.due = false;
    tr->search.places = tr->found->n;
    if (ret == 0)
        ret = sh4_trace_again(tr, err);
    return MIN(ret, 0);
}

int sh4_trace_look_further(struct sh4_trace *tr, struct err *err)
{
    uint64_t before = time_now(tr);
    int ret = 0;
    if (tr->search.unplaced)
        ret = find_place(tr, err);
    if (ret > 0) {
        tr->search.evidence = tr->search.due = true;
        tr->search.places = SIZE_MAX; /* it is not what was searched with */
    }
    if (ret >= 0)
        ret = glance_at_code(tr, err);
    if (ret < 0 || !tr->search.due || before < tr->search.after_ns)
        return ret;
    if (tr->search.done >= SEARCHES) {
        tr->found->more = true;
        return 0;
    }
    if ((ret = in_section(tr, err)) != 0)
        return MIN(ret, 0);
    ret = search_now(tr, err);
    tr->search.after_ns = time_now(tr) + MAX(SOON_NS, TIMES * (time_now(tr) - before));
    return ret;
}
