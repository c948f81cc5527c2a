#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "probe/base/choice.h"
#include "probe/base/range.h"
#include "profiler/analyses/order_priv.h"

int order_no_memory(struct err *err)
{
    return err_set(err, ERR_NOMEM, "close other programs", "optimize: out of memory");
}

static int other_link(struct err *err, const char *name, uint64_t map, uint64_t elf)
{
    return err_set(err, ERR_FORMAT, "give the map that was written when the ELF was linked",
                   "the map is of another link: %s is at 0x%08" PRIx64 " there, at 0x%08" PRIx64
                   " in the ELF",
                   name, map, elf);
}

static int check_outputs(const struct link_map *m, const struct image *im, struct err *err)
{
    for (size_t i = 0; i < im->nsections; i++) {
        const struct image_section *s = &im->sections[i];
        const struct link_output *o = NULL;
        for (size_t k = 0; s->code && k < m->noutputs; k++)
            if (!strcmp(m->output[k].name, s->name) && (!o || m->output[k].addr == s->addr))
                o = &m->output[k];
        if (!s->code || !s->size)
            continue;
        if (!o)
            return err_set(err, ERR_FORMAT, "give the map that was written when the ELF was linked",
                           "the map is of another link: it has no section %s", s->name);
        if (o->addr != s->addr)
            return other_link(err, s->name, o->addr, s->addr);
        if (o->size != s->size)
            return err_set(err, ERR_FORMAT, "give the map that was written when the ELF was linked",
                           "the map is of another link: %s has %" PRIu64 " bytes there, %" PRIu64
                           " in the ELF",
                           s->name, o->size, s->size);
    }
    return 0;
}

static int by_linkage(const void *a, const void *b)
{
    const struct symbol_function *const *x = a, *const *y = b;
    return EITHER(strcmp((*x)->linkage, (*y)->linkage), COMPARE((*x)->low, (*y)->low));
}

/* Functions of that name, the first of which is at *low; their number. */
static size_t named_functions(const struct symbol_function *const *f, size_t n, const char *name,
                              size_t *low)
{
    size_t count = 0;
    *low = PARTITION_POINT(n, i, strcmp(f[i]->linkage, name) < 0);
    while (*low + count < n && !strcmp(f[*low + count]->linkage, name))
        count++;
    return count;
}

static int check_symbols(const struct link_map *m, const struct symbol_function *const *f, size_t n,
                         struct err *err)
{
    for (size_t i = 0; i < m->nsymbols; i++) {
        size_t at, count = named_functions(f, n, m->symbol[i].name, &at), same = 0;
        for (size_t k = 0; k < count; k++)
            same += f[at + k]->low == m->symbol[i].addr;
        if (count && !same)
            return other_link(err, m->symbol[i].name, m->symbol[i].addr, f[at]->low);
    }
    return 0;
}

int order_check_map(const struct link_map *m, const struct symbols *syms, struct err *err)
{
    size_t n = symbols_nfunctions(syms);
    int ret = check_outputs(m, symbols_image(syms), err);
    if (ret < 0)
        return ret;
    const struct symbol_function **f = calloc(n + 1, sizeof *f);
    if (!f)
        return order_no_memory(err);
    for (size_t i = 0; i < n; i++)
        f[i] = symbols_function(syms, i);
    qsort(f, n, sizeof *f, by_linkage);
    ret = check_symbols(m, f, n, err);
    free(f);
    return ret;
}
