/* Which section holds an address: stretches of one answer each, in order. Where sections overlap it
 * is the first of the file's table. */
#include <stdlib.h>
#include <string.h>

#include "probe/base/choice.h"
#include "probe/base/range.h"
#include "probe/base/util.h"
#include "profiler/core/symbols_priv.h"

/* A place where a section begins or ends. */
struct edge {
    uint64_t key;
    uint32_t section;
    bool end;
};

static int by_key(const void *a, const void *b)
{
    const struct edge *x = a, *y = b;
    return (x->key > y->key) - (x->key < y->key);
}

/* The open sections, the first of the table on top; those that have ended are dropped once they get
 * there. */
struct heap {
    uint32_t *at;
    size_t n;
};

static void heap_push(struct heap *h, uint32_t v)
{
    size_t i = h->n++;
    for (; i > 0 && h->at[(i - 1) / 2] > v; i = (i - 1) / 2)
        h->at[i] = h->at[(i - 1) / 2];
    h->at[i] = v;
}

static void heap_pop(struct heap *h)
{
    uint32_t v = h->at[--h->n];
    size_t i = 0;
    for (size_t k; (k = 2 * i + 1) < h->n; i = k) {
        k += k + 1 < h->n && h->at[k + 1] < h->at[k];
        if (h->at[k] >= v)
            break;
        h->at[i] = h->at[k];
    }
    h->at[i] = v;
}

/* What begins and what ends, by key; a section that goes round the end of the address space begins
 * a second time at 0. */
static size_t make_edges(const struct symbols *s, struct edge *edge)
{
    size_t n = 0;
    for (size_t i = 0; i < s->image.nsections; i++) {
        uint64_t low = sym_key(s, s->sections[i].addr), end = low + s->sections[i].size;
        uint32_t k = (uint32_t)i;
        edge[n++] = (struct edge){ low, k, false };
        if (end != 0 && end < low)
            edge[n++] = (struct edge){ 0, k, false };
        if (end != 0)
            edge[n++] = (struct edge){ end, k, true };
    }
    if (n)
        qsort(edge, n, sizeof *edge, by_key);
    return n;
}

/* open[i]: how often section i is open here. */
static void take_edge(struct heap *h, int8_t *open, const struct edge *e)
{
    open[e->section] = (int8_t)(open[e->section] + (e->end ? -1 : 1));
    if (!e->end)
        heap_push(h, e->section);
}

static void sweep_sections(struct symbols *s, const struct edge *edge, size_t n, struct heap *h,
                           int8_t *open)
{
    s->nspans = 0;
    for (size_t i = 0; i < n;) {
        uint64_t key = edge[i].key;
        for (; i < n && edge[i].key == key; i++)
            take_edge(h, open, &edge[i]);
        while (h->n && open[h->at[0]] <= 0)
            heap_pop(h);
        uint32_t top = NO_SECTION;
        if (h->n)
            top = h->at[0];
        if (s->nspans == 0 || s->spans[s->nspans - 1].section != top)
            s->spans[s->nspans++] = (struct section_span){ key, top };
    }
}

int symbols_index_sections(struct symbols *s, struct err *err)
{
    size_t most = 3 * s->image.nsections + 1;
    struct edge *edge = malloc(most * sizeof *edge);
    struct heap h = { malloc(most * sizeof *h.at), 0 };
    int8_t *open = calloc(s->image.nsections + 1, sizeof *open);
    struct section_span *spans = realloc(s->spans, most * sizeof *spans);
    s->spans = EITHER(spans, s->spans);
    bool enough = edge && h.at && open && spans;
    if (enough)
        sweep_sections(s, edge, make_edges(s, edge), &h, open);
    free(edge);
    free(h.at);
    free(open);
    if (enough)
        return 0;
    return err_set(err, ERR_NOMEM, "close other programs", "symbols: out of memory");
}

uint64_t sym_section_low(const struct symbols *s, const struct image_section *section,
                         uint64_t addr)
{
    return section->addr | (addr & s->overlay_bits);
}

/* That of an overlay by its number. */
static const struct image_section *overlay_section(const struct symbols *s, uint64_t addr)
{
    size_t k = overlay_number(addr) - 1;
    if (k >= s->image.nsections || !s->overlay[k])
        return NULL;
    const struct image_section *section = &s->sections[k];
    uint64_t low = sym_section_low(s, section, addr);
    if (sym_key(s, addr) - sym_key(s, low) < section->size)
        return section;
    return NULL;
}

const struct image_section *sym_section(const struct symbols *s, uint64_t addr)
{
    uint64_t key = sym_key(s, addr);
    if (addr & s->overlay_bits)
        return overlay_section(s, addr);
    size_t lo = PARTITION_POINT(s->nspans, i, s->spans[i].key <= key);
    uint32_t found = NO_SECTION;
    if (lo)
        found = s->spans[lo - 1].section;
    if (found == NO_SECTION)
        return NULL;
    return &s->sections[found];
}
