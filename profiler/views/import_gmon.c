#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "probe/base/choice.h"
#include "profiler/core/arena.h"
#include "profiler/views/gmon.h"
#include "profiler/views/import.h"
#include "targets/image.h"

enum { ZEROS_MOST = 9 };

/* What is counted, "elapsed-time E3" in our own files: in thousands. */
struct dimension {
    char name[GMON_DIMENSION_BYTES + 1];
    uint64_t unit;
};

static struct dimension dimension_of(const struct gmon_file *f)
{
    struct dimension d = { .unit = 1 };
    char zero = '0';
    memcpy(d.name, f->dimension, sizeof d.name);
    char *power = strstr(d.name, " E");
    if (power && sscanf(power, " E%c", &zero) == 1 && zero >= '0' && zero <= '9' && !power[3]) {
        *power = '\0';
        for (int i = zero - '0'; i > 0; i--)
            d.unit *= 10;
    }
    return d;
}

static bool is_time(const struct dimension *d) { return !strcmp(d->name, "seconds"); }

/* Whether it fits: in counts that were written by ten or more. */
static bool multiply_samples(struct pc_counts *c, uint64_t unit)
{
    for (size_t i = 0; i < c->nsamples; i++)
        if (__builtin_mul_overflow(c->sample[i].count, unit, &c->sample[i].count))
            return false;
    return true;
}

/* A call comes from an instruction within its caller. Where the program is not known nobody can say
 * whose that is, and an address in none of its functions is <spontaneous> for gprof. Returns how
 * many have no caller because the program is not known. */
static uint64_t name_callers(struct pc_counts *c, const struct symbols *syms)
{
    uint64_t unknown = 0;
    for (size_t i = 0; i < c->narcs; i++) {
        if (syms && symbols_find(syms, c->arc[i].from) >= 0)
            continue;
        unknown += !syms && c->arc[i].from;
        c->arc[i].from = 0;
    }
    return unknown;
}

static const char *note_of(struct profile *p, const struct gmon_file *f, const struct dimension *d)
{
    if (!f->counts.has_samples)
        return "gmon.out has no histogram: what functions took is not known";
    if (is_time(d) && f->rate)
        return arena_printf(&p->arena,
                            "%" PRIu32 " samples a second; gmon.out does not tell what "
                            "was not seen",
                            f->rate);
    return "gmon.out does not tell what was not seen";
}

static int finish_profile(struct profile *p, const struct gmon_file *f, const struct dimension *d,
                          struct err *err)
{
    struct profile_counter *c1 = &p->info.counter[0];
    bool other = c1->name && !is_time(d);
    p->info.note = note_of(p, f, d);
    if (other)
        *c1 = (struct profile_counter){ .name = arena_str(&p->arena, d->name) };
    if (!p->info.note || (other && !c1->name))
        return err_set(err, ERR_NOMEM, "close other programs", "gmon.out: out of memory");
    return 0;
}

static int make_profile(struct gmon_file *f, const struct symbols *syms, struct profile **out,
                        struct err *err)
{
    const struct dimension d = dimension_of(f);
    if (!multiply_samples(&f->counts, d.unit))
        return err_set(err, ERR_FORMAT, "profile again",
                       "gmon.out, offset %d: a bin has more than 64 bits", GMON_HEADER_BYTES);
    struct pc_format format = { .name = "gmon.out", .counter = "samples", .unit = "count" };
    format.nskipped = name_callers(&f->counts, syms);
    format.skipped = "calls have no caller: name the program, by --elf";
    if (!format.nskipped) {
        format.nskipped = f->blocks;
        format.skipped = "records of basic blocks are left out";
    }
    int ret = pc_profile(&f->counts, syms, &format, out, err);
    if (ret < 0)
        return ret;
    ret = finish_profile(*out, f, &d, err);
    if (ret < 0)
        profile_free(*out);
    return ret;
}

int import_gmon(const uint8_t *data, size_t len, const struct symbols *syms, struct profile **out,
                struct err *err)
{
    struct gmon_file *f;
    struct gmon_shape shape = { .address_bytes = 4 };
    if (syms)
        shape.big = symbols_image(syms)->big_endian;
    int ret = gmon_decode(data, len, syms ? &shape : NULL, &f, err);
    if (ret < 0)
        return ret;
    ret = make_profile(f, syms, out, err);
    gmon_free(f);
    return ret;
}

bool import_gmon_is(const uint8_t *head, size_t n) { return gmon_is(head, n); }
