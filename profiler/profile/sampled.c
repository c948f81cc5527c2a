#include "profiler/profile/sampled.h"

#include <stdlib.h>

#include "profiler/core/sampling.h"

/* The event that is time on both families: SH-4's elapsed-time, S12Z's bus-cycles. */
enum { EVENT_OF_TIME = 0x23 };

static int check_both(const struct merge_input *trace, const struct merge_input *samples,
                      struct err *err)
{
    const struct profile_info *i = &trace->profile->info;
    int ret = merge_check_build(trace, samples, err);
    if (ret < 0)
        return ret;
    if (i->counter[0].code != EVENT_OF_TIME)
        return err_set(err, ERR_USAGE, "record the trace with --c1 elapsed-time (S12Z: bus-cycles)",
                       "%s has not counted time by counter 1, and samples are of time",
                       trace->name);
    return 0;
}

/* Functions are sorted by where they begin; a block lies within one, so that it is met first. */
static struct profile_function *function_of(struct profile *p, uint64_t address)
{
    size_t from = 0, to = p->nfunctions;
    while (from < to) {
        size_t mid = from + (to - from) / 2;
        if (p->functions[mid].low <= address)
            from = mid + 1;
        else
            to = mid;
    }
    while (from-- > 0)
        if (address < p->functions[from].high)
            return &p->functions[from];
    return NULL;
}

static int keep_most(struct profile *p, const struct profile *samples, const uint64_t *missing,
                     struct err *err)
{
    for (size_t i = 0; i < samples->nfunctions; i++)
        if (missing[i] > p->sampled.most_hits) {
            p->sampled.most_hits = missing[i];
            p->sampled.most = samples->functions[i].name;
        }
    if (p->sampled.most && !(p->sampled.most = arena_str(&p->arena, p->sampled.most)))
        return err_set(err, ERR_NOMEM, "close other programs", "samples: no memory");
    return 0;
}

int sampled_take(struct profile *p, const struct merge_input *trace,
                 const struct merge_input *samples, struct err *err)
{
    const struct profile *s = samples->profile;
    int ret = check_both(trace, samples, err);
    if (ret < 0)
        return ret;
    uint64_t *missing = calloc(s->nfunctions + 1, sizeof *missing);
    if (!missing)
        return err_set(err, ERR_NOMEM, "close other programs", "samples: no memory");
    p->sampled.elsewhere = s->addresses_dropped;
    for (size_t i = 0; i < s->naddresses; i++) {
        const struct profile_address *a = &s->addresses[i];
        struct profile_function *f = function_of(p, a->address);
        if (f) {
            f->sampled += a->hits;
            p->sampled.total += a->hits;
        } else {
            missing[a->function] += a->hits;
            p->sampled.elsewhere += a->hits;
        }
    }
    ret = keep_most(p, s, missing, err);
    free(missing);
    if (ret == 0 && !p->sampled.total)
        return err_set(err, ERR_USAGE, "sample the same work for longer",
                       "%s has no sample in any function of %s", samples->name, trace->name);
    return ret;
}

struct sampled_share sampled_share(const struct profile *p, const struct profile_function *f)
{
    struct sampled_share is = { .measured = 0 };
    const uint64_t seen = profile_seen_c1(p);
    const bool lost = profile_is_lost(f);
    const double half = p->info.stretches ? f->c1_half : 0;
    if (seen && !lost)
        is.measured = (double)f->c1 / (double)seen;
    if (p->sampled.total)
        is.share = (double)f->sampled / (double)p->sampled.total;
    sampling_interval(f->sampled, p->sampled.total, &is.low, &is.high);
    is.outside = !lost && (is.measured + half < is.low || is.measured - half > is.high);
    return is;
}
