#include "targets/s12z/trace/culprits.h"

#include <stdlib.h>
#include <string.h>

#include "probe/base/choice.h"
#include "probe/base/range.h"
#include "probe/base/util.h"

enum {
    MAX_CALL_BYTES = 6,
    AGAIN = 4 /* calls of one function in one of its caller: a loop */
};

void s12z_culprits_init(struct s12z_culprits *c, const struct image *image)
{
    c->functions = image->functions;
    c->nfunctions = image->nfunctions;
}

static const struct image_function *function_at(const struct s12z_culprits *c, uint32_t pc)
{
    size_t at = PARTITION_POINT(c->nfunctions, i, c->functions[i].high <= pc);
    if (at < c->nfunctions && c->functions[at].low <= pc)
        return &c->functions[at];
    return NULL;
}

/* The function at pc; code that is in none stands for itself, as a function of one byte. */
static struct image_function function_or_byte(const struct s12z_culprits *c, uint32_t pc)
{
    const struct image_function *f = function_at(c, pc);
    if (f)
        return *f;
    return (struct image_function){ .name = NULL, .low = pc, .high = pc + 1 };
}

static void blame_function(struct s12z_culprits *c, uint32_t pc)
{
    const struct image_function f = function_or_byte(c, pc);
    uint32_t low = (uint32_t)f.low;
    size_t k = 0;
    while (k < c->n && c->culprit[k].low != low)
        k++;
    if (k == S12Z_CULPRITS_MOST)
        return;
    if (k == c->n)
        c->culprit[c->n++] = (struct s12z_culprit){ .low = low, .name = f.name };
    c->culprit[k].lines++;
}

void s12z_culprits_overflow(struct s12z_culprits *c)
{
    for (unsigned k = 0; k < MIN(c->nlines, (unsigned)S12Z_CULPRITS_LINES); k++)
        blame_function(c, c->line[k]);
    c->nlines = 0;
}

/* NULL: its calls are not known. */
static const struct s12z_called *called_at(const struct s12z_culprits *c, uint32_t low)
{
    const struct s12z_called *f = &c->called[low % S12Z_CULPRITS_CALLS];
    if (f->times && f->low == low)
        return f;
    return NULL;
}

void s12z_culprits_call(struct s12z_culprits *c, uint32_t pc, uint32_t target)
{
    struct s12z_called *f = &c->called[target % S12Z_CULPRITS_CALLS];
    if (f->low != target || !f->times)
        *f = (struct s12z_called){ .low = target, .site = pc };
    f->times++;
    if (f->site == pc)
        return;
    if (!f->sites) {
        const struct image_function caller = function_or_byte(c, f->site);
        f->caller = (uint32_t)caller.low;
        f->size = (uint32_t)(caller.high - caller.low);
    }
    f->callers |= pc - f->caller >= f->size;
    f->sites = true;
    f->site = pc;
    f->back = 0;
}

/* Only once it matters, as each costs a search. */
void s12z_culprits_return(struct s12z_culprits *c, uint32_t pc, uint32_t target)
{
    if (!c->n)
        return;
    const struct image_function *from = function_at(c, pc);
    if (!from)
        return;
    struct s12z_called *f = (struct s12z_called *)called_at(c, (uint32_t)from->low);
    if (f && target - f->site - 1 < MAX_CALL_BYTES)
        f->back = target;
}

static const struct s12z_called *caller_of(const struct s12z_culprits *c,
                                           const struct s12z_called *f)
{
    const struct image_function *caller = function_at(c, f->site);
    if (!caller || caller->low == f->low)
        return NULL;
    return called_at(c, (uint32_t)caller->low);
}

static const struct s12z_culprit *worst_culprit(const struct s12z_culprits *c)
{
    const struct s12z_culprit *worst = &c->culprit[0];
    for (size_t k = 1; k < c->n; k++)
        if (c->culprit[k].lines > worst->lines)
            worst = &c->culprit[k];
    return worst;
}

/* Goes outwards from the worst function, as long as it is called again and again within one call of
 * its caller; not into a caller that was not seen to return, such as a main loop. */
bool s12z_culprits_range(const struct s12z_culprits *c, uint32_t *start, uint32_t *stop)
{
    if (c->n == 0)
        return false;
    const struct s12z_called *f = called_at(c, worst_culprit(c)->low);
    for (unsigned k = 0; f && f->back && !f->callers && k < S12Z_CULPRITS_MOST; k++) {
        const struct s12z_called *outer = caller_of(c, f);
        bool again = f->sites || (outer && f->times > AGAIN * outer->times);
        bool endless = k && !f->sites && outer && !outer->back;
        if (!again || endless) {
            *start = f->back;
            *stop = f->site;
            return true;
        }
        f = outer;
    }
    return false;
}

static int by_lines(const void *a, const void *b)
{
    const struct s12z_culprit *x = a, *y = b;
    if (x->lines != y->lines)
        return COMPARE(y->lines, x->lines); /* most first */
    return COMPARE(x->low, y->low);
}

size_t s12z_culprits_list(const struct s12z_culprits *c, struct s12z_culprit *out, size_t cap)
{
    struct s12z_culprit all[S12Z_CULPRITS_MOST];
    memcpy(all, c->culprit, sizeof all);
    qsort(all, c->n, sizeof *all, by_lines);
    size_t n = MIN(cap, c->n);
    memcpy(out, all, n * sizeof *out);
    return n;
}
