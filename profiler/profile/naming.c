#include "profiler/profile/naming.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "targets/overlay.h"

enum {
    CACHE_LINE_SHIFT = 5, /* SH-4: 256 lines of 32 bytes */
    CACHE_LINE_MASK = 255,
    VECTOR_TLB_READ = 0x040, /* EXPEVT codes that enter at VBR + 0x400 */
    VECTOR_TLB_WRITE = 0x060
};

bool naming_is_plain(const struct calltree_node *n)
{
    return n->kind != CALLTREE_LOST && n->kind != CALLTREE_OTHER && n->kind != CALLTREE_TASK;
}

struct naming_key naming_of(const struct symbols *syms, const struct calltree_node *n)
{
    struct naming_key k = { .start = n->addr, .symbol = -1 };
    k.special = !naming_is_plain(n);
    k.kind = 0;
    if (k.special)
        k.kind = n->kind;
    if (k.special || !syms)
        return k;
    struct calltree_range r;
    k.block = n->block;
    if (k.block) {
        k.symbol = symbols_find_block(syms, n->addr);
        if (k.symbol >= 0 && symbols_block_range((void *)(uintptr_t)syms, n->addr, &r))
            k.start = r.id;
        return k;
    }
    k.symbol = symbols_find(syms, n->addr);
    if (k.symbol >= 0 && symbols_range((void *)(uintptr_t)syms, n->addr, &r))
        k.start = r.id;
    return k;
}

/* Overlays stand side by side: in the order of addresses, then of their numbers. */
static bool starts_behind(uint64_t a, uint64_t b)
{
    uint64_t p = overlay_plain(a), q = overlay_plain(b);
    if (p == q)
        return a > b;
    return p > q;
}

int naming_compare(const struct naming_key *a, const struct naming_key *b)
{
    if (a->special != b->special)
        return a->special - b->special;
    if (a->kind != b->kind)
        return a->kind - b->kind;
    if (a->start != b->start)
        return starts_behind(a->start, b->start) ? 1 : -1;
    return a->block - b->block;
}

static uint8_t describe_node(const struct calltree_node *n)
{
    if (n->block)
        return PROFILE_USER_BLOCK;
    switch (n->kind) {
    case CALLTREE_INTERRUPT: return PROFILE_INTERRUPT_600;
    case CALLTREE_EXCEPTION:
        if (n->vector == 0)
            return PROFILE_VECTOR;
        if (n->vector == VECTOR_TLB_READ || n->vector == VECTOR_TLB_WRITE)
            return PROFILE_EXCEPTION_400;
        return PROFILE_EXCEPTION_100;
    case CALLTREE_LOST:
    case CALLTREE_OTHER:
    case CALLTREE_TASK: return PROFILE_UNKNOWN;
    default: return PROFILE_FUNCTION;
    }
}

static uint16_t cache_line(bool by_address, uint64_t low)
{
    /* SH-4: P2 and P4 are never cached; P0/P3 and P1 are, if CCR and the MMU say so. */
    if (!by_address || (low >> 29 & 7) == 5 || (low >> 29 & 7) == 7)
        return PROFILE_NOT_CACHED;
    return (uint16_t)(low >> CACHE_LINE_SHIFT & CACHE_LINE_MASK);
}

static bool fill_special(struct arena *a, struct profile_function *f, const struct naming_key *k)
{
    bool task = k->kind == CALLTREE_TASK;
    f->task = 0;
    if (task)
        f->task = (uint32_t)k->start;
    f->name = task
                  ? arena_printf(a, "(task %u)", f->task)
                  : arena_str(a, k->kind == CALLTREE_LOST ? "(lost events)" : "(other call paths)");
    f->linkage = f->qualified = "";
    f->cache_line = PROFILE_NOT_CACHED;
    return f->name != NULL;
}

static bool fill_named(struct arena *a, struct profile_function *f, const struct symbol_function *s)
{
    f->name = arena_str(a, s->name);
    f->linkage = arena_str(a, s->linkage);
    f->file = arena_str(a, s->file);
    f->line = s->line;
    f->low = s->low;
    f->high = s->high;
    if (s->overlay) {
        f->overlay = arena_str(a, s->overlay);
        f->overlay_number = (uint32_t)overlay_number(s->low);
        f->low = overlay_plain(s->low);
        f->high = overlay_plain(s->high);
    }
    f->either = s->either;
    f->qualified = "";
    return f->name && f->linkage && (f->file || !s->file) && (f->overlay || !s->overlay);
}

static bool fill_block(struct arena *a, struct profile_function *f, const struct symbols *syms,
                       size_t i)
{
    size_t n;
    const struct symbol_block *b = &symbols_blocks(syms, &n)[i];
    const char *file = NULL;
    f->name = arena_str(a, b->name);
    f->linkage = f->qualified = "";
    f->low = b->low;
    f->high = b->high;
    if (symbols_line(syms, b->low, &file, &f->line))
        f->file = arena_str(a, file);
    return f->name && (f->file || !file);
}

/* Without a symbol, handlers are named for what they are, functions by address. */
static bool fill_address(struct arena *a, struct profile_function *f,
                         const struct calltree_node *node, const struct symbols *syms)
{
    const char *what = "";
    if (node->kind == CALLTREE_INTERRUPT)
        what = "interrupt ";
    if (node->kind == CALLTREE_EXCEPTION)
        what = "exception ";
    uint64_t plain = symbols_plain(syms, node->addr);
    f->name = arena_printf(a, "%s0x%08" PRIx64, what, plain);
    f->linkage = f->qualified = "";
    f->low = f->high = plain;
    f->overlay_number = (uint32_t)(node->addr != plain ? overlay_number(node->addr) : 0);
    f->overlay = arena_str(a, symbols_overlay(syms, node->addr));
    return f->name != NULL;
}

bool naming_fill(struct arena *a, struct profile_function *f, const struct naming_key *key,
                 const struct calltree_node *node, const struct symbols *syms,
                 bool cache_by_address)
{
    bool ok;
    f->description = describe_node(node);
    if (key->special)
        return fill_special(a, f, key);
    if (key->symbol >= 0 && key->block)
        ok = fill_block(a, f, syms, (size_t)key->symbol);
    else if (key->symbol >= 0)
        ok = fill_named(a, f, symbols_function(syms, (size_t)key->symbol));
    else
        ok = fill_address(a, f, node, syms);
    f->cache_line = cache_line(cache_by_address, f->low);
    return ok;
}

/* 0: it is in none. */
static uint64_t section_end(const struct symbols *syms, const struct profile_function *f)
{
    return symbols_plain(syms, symbols_section_end(syms, profile_place(f)));
}

void naming_ranges(struct profile_function **f, size_t n, const struct symbols *syms)
{
    for (size_t i = 0; i < n; i++) {
        if (f[i]->high > f[i]->low || f[i]->description == PROFILE_UNKNOWN || !f[i]->low)
            continue;
        uint64_t end = 0;
        if (syms)
            end = section_end(syms, f[i]);
        const struct profile_function *next = NULL;
        if (i + 1 < n)
            next = f[i + 1];
        if (next && next->low > f[i]->low && (!end || next->low < end))
            end = next->low;
        f[i]->high = end > f[i]->low ? end : f[i]->low + 2;
    }
}

/* ---- names that several functions share ---- */

static int by_name(const void *a, const void *b)
{
    const struct profile_function *const *x = a, *const *y = b;
    return strcmp((*x)->name, (*y)->name);
}

static bool qualify_function(struct arena *a, struct profile_function *f)
{
    if (*f->qualified || f->task)
        return true;
    if (f->overlay) {
        f->qualified = arena_printf(a, "%s:%s", f->overlay, f->name);
    } else if (!f->file) {
        f->qualified = arena_printf(a, "%s@0x%08" PRIx64, f->name, f->low);
    } else {
        const char *slash = strrchr(f->file, '/');
        f->qualified = arena_printf(a, "%s:%s", slash ? slash + 1 : f->file, f->name);
    }
    return f->qualified != NULL;
}

bool naming_qualify(struct arena *a, struct profile_function **f, size_t n)
{
    bool ok = true;
    qsort(f, n, sizeof *f, by_name);
    for (size_t i = 0; ok && i < n; i++) {
        bool before = i > 0 && !by_name(&f[i - 1], &f[i]);
        bool after = i + 1 < n && !by_name(&f[i], &f[i + 1]);
        if (before || after)
            ok = qualify_function(a, f[i]);
    }
    return ok;
}

enum profile_type naming_type(const struct calltree_node *nodes, size_t n)
{
    bool any = false;
    for (size_t i = 0; i < n; i++) {
        if (nodes[i].kind != CALLTREE_SAMPLE && (nodes[i].hits || nodes[i].c1 || nodes[i].c2) &&
            nodes[i].parent != CALLTREE_NONE)
            return PROFILE_TRACE;
        any |= nodes[i].kind == CALLTREE_SAMPLE;
    }
    if (any)
        return PROFILE_STATISTICAL;
    return PROFILE_TRACE;
}
