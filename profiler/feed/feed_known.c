/* Which figures are known, and rows of them: null is what is not. */
#include "probe/base/util.h"
#include "profiler/feed/feed_priv.h"
#include "profiler/profile/profile.h"

unsigned feed_unknown(const struct feed *f)
{
    unsigned unknown = f->totals.unknown & ~(unsigned)(PROFILE_C1 | PROFILE_C2);
    if (!profile_counter_is_used(f->totals.samples, f->about.counter[0], f->totals.c1))
        unknown |= PROFILE_C1;
    if (!profile_counter_is_used(f->totals.samples, f->about.counter[1], f->totals.c2))
        unknown |= PROFILE_C2;
    return unknown;
}

void write_sums(struct frame *fr, unsigned unknown, uint64_t hits, uint64_t c1, uint64_t c2)
{
    frame_uint_if(fr, !(unknown & PROFILE_HITS), hits);
    frame_uint_if(fr, !(unknown & PROFILE_C1), c1);
    frame_uint_if(fr, !(unknown & PROFILE_C2), c2);
}

void write_figures(struct frame *fr, unsigned unknown, const uint64_t v[5])
{
    static const unsigned needs[] = { PROFILE_HITS, PROFILE_C1, PROFILE_C1 | PROFILE_CHILDREN,
                                      PROFILE_C2, PROFILE_C2 | PROFILE_CHILDREN };
    for (size_t i = 0; i < ARRAY_LEN(needs); i++)
        frame_uint_if(fr, !(unknown & needs[i]), v[i]);
}
