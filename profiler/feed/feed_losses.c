/* How far the shares of rows are known where events were lost (profiler/profile/stretches.h): found
 * by function of the program, as for the report, and added up where marks make one row of several.
 */
#include <stdlib.h>

#include "probe/base/choice.h"
#include "profiler/feed/feed_priv.h"

static const uint64_t every_ns = 1000000000;

/* As profile_c1_seen(). */
static double c1_seen(const struct feed *f, uint64_t lost, uint64_t lost_c1)
{
    bool away = f->stats.link_gaps || f->stats.loss[EVENT_CAUSE_RESET].gaps;
    if (!f->totals.events || !f->totals.c1 || (lost && !lost_c1) || away)
        return -1;
    return (double)(f->totals.c1 - lost_c1) / (double)f->totals.c1;
}

static void take_half(struct feed_function *fn, double hits, double c1, uint64_t next,
                      bool *changed)
{
    if (fn->is.hits_half == hits && fn->is.c1_half == c1)
        return;
    fn->is.hits_half = hits;
    fn->is.c1_half = c1;
    fn->version = next;
    *changed = true;
}

/* half: by member */
static void take_halves(struct feed *f, const struct stretch_half *half, uint64_t used)
{
    bool other = used != f->stretches;
    struct stretch_half *row = calloc(f->nfunctions + 1, sizeof *row);
    if (!row)
        return;
    for (size_t i = 0; used && i < f->nmembers; i++) {
        row[f->members[i].function].hits += half[i].hits;
        row[f->members[i].function].c1 += half[i].c1;
    }
    for (size_t i = 0; i < f->nfunctions; i++)
        take_half(&f->functions[i], row[i].hits, row[i].c1, f->seq + 1, &other);
    for (size_t i = 0; i < f->nfunctions && !used != !f->stretches; i++)
        f->functions[i].version = f->seq + 1; /* known now, or not any more */
    f->stretches = used;
    if (other)
        feed_next(f);
    free(row);
}

static void find_halves(struct feed *f, const struct feed_source *from, uint64_t lost,
                        uint64_t lost_c1)
{
    uint32_t *of = malloc((f->nnodes + 1) * sizeof *of);
    uint64_t *c1 = calloc(f->nmembers + 1, sizeof *c1), used = 0;
    struct stretch_half *half = calloc(f->nmembers + 1, sizeof *half);
    bool ok = of && c1 && half;
    for (size_t i = 0; ok && i < f->nnodes; i++) {
        of[i] = f->nodes[i].member;
        c1[of[i]] += f->nodes[i].c1;
    }
    const struct stretch_ask ask = { of, f->nnodes, f->nmembers, c1, c1_seen(f, lost, lost_c1) };
    if (ok && stretches_halves(from->stretches, from->tree, &ask, half, &used, NULL) == 0)
        take_halves(f, half, used);
    free(of);
    free(c1);
    free(half);
}

void losses_fold(struct feed *f, const struct feed_source *from)
{
    uint64_t lost = 0, lost_c1 = 0;
    if (!from->tree || !from->stretches || f->totals.samples || !f->halves_due ||
        (!from->settled && f->halves_ns && f->now.ns - f->halves_ns < every_ns))
        return;
    for (unsigned k = 0; k < EVENT_NCAUSES; k++) {
        const struct calltree_loss *x = &f->stats.loss[k];
        lost += number_if(x->gaps, x->events);
        lost_c1 += number_if(x->gaps, x->c1);
    }
    f->halves_due = false;
    f->halves_ns = f->now.ns;
    if (lost)
        find_halves(f, from, lost, lost_c1);
}
