#include "profiler/views/import.h"
#include "profiler/views/pc_counts.h"
#include "profiler/views/prof1.h"

static const char *note_of(const struct pc_counts *c)
{
    if (!c->has_samples)
        return "prof1 does not tell what functions took, unless it has samples";
    if (c->has_counts || c->has_arcs)
        return "C1 is samples: prof1 does not tell their rate, nor what was not seen";
    return "prof1 does not tell the rate of samples, nor what was not seen";
}

int import_prof1(const uint8_t *data, size_t len, const struct symbols *syms, struct profile **out,
                 struct err *err)
{
    struct prof1_file *f;
    int ret = prof1_decode(data, len, &f, err);
    if (ret < 0)
        return ret;
    const struct pc_format format = { .name = "PROF1",
                                      .counter = "samples",
                                      .unit = "count",
                                      .note = note_of(&f->counts),
                                      .skipped = "sections of another kind are left out",
                                      .nskipped = f->others };
    ret = pc_profile(&f->counts, syms, &format, out, err);
    prof1_free(f);
    return ret;
}

bool import_prof1_is(const uint8_t *head, size_t n)
{
    return prof1_is(head, n) || prof1_is_old(head, n);
}
