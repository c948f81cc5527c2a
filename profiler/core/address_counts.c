#include "profiler/core/address_counts.h"
#include "probe/base/choice.h"

#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

enum { FIRST_ROWS = 512 };

static uint32_t find_slot(const struct address_counts *a, uint64_t address)
{
    uint32_t k = (uint32_t)(address * 0x9E3779B97F4A7C15u >> 32) & (a->nslots - 1);
    while (a->slot[k] && a->row[a->slot[k] - 1].address != address)
        k = (k + 1) & (a->nslots - 1);
    return k;
}

/* Twice as many slots as rows: half of them stay free. */
static bool grow_table(struct address_counts *a)
{
    uint32_t cap = EITHER(2 * a->cap, FIRST_ROWS);
    struct address_count *row = realloc(a->row, cap * sizeof *row);
    if (!row)
        return false;
    a->row = row;
    uint32_t *slot = calloc((size_t)2 * cap, sizeof *slot);
    if (!slot)
        return false;
    free(a->slot);
    a->slot = slot;
    a->nslots = 2 * cap;
    a->cap = cap;
    for (uint32_t i = 0; i < a->n; i++)
        a->slot[find_slot(a, a->row[i].address)] = i + 1;
    return true;
}

static bool add_row(struct address_counts *a, uint64_t address, uint32_t node)
{
    if (a->n >= a->limit || (a->n == a->cap && !grow_table(a)))
        return false;
    a->row[a->n++] = (struct address_count){ address, 1, node };
    a->slot[find_slot(a, address)] = a->n;
    return true;
}

void address_counts_add(struct address_counts *a, uint64_t address, uint32_t node)
{
    uint32_t at = 0;
    if (a->nslots)
        at = a->slot[find_slot(a, address)];
    if (at)
        a->row[at - 1].hits++;
    else if (!add_row(a, address, node))
        a->dropped++;
}

void address_counts_clear(struct address_counts *a)
{
    a->n = 0;
    a->dropped = 0;
    if (a->nslots)
        memset(a->slot, 0, a->nslots * sizeof *a->slot);
}

void address_counts_fini(struct address_counts *a)
{
    free(a->row);
    free(a->slot);
    *a = (struct address_counts){ 0 };
}
