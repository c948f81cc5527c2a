/* Which RAM of the target the trace takes: what the user names, the default, or below the top of
 * area 3 for larger programs; never what is known to be the program's. */
#include <stdio.h>
#include <string.h>

#include "probe/base/choice.h"
#include "probe/base/util.h"
#include "targets/sh4/isa/regs.h"
#include "targets/sh4/trace/trace.h"

/* clang-format off */
enum {
    
    AREA3 = 0x0C000000,          /* where SH7750 boards have their RAM */
    /* of a stack pointer that was seen, of a stack's top */
    STACK_BELOW = 16 << 10, STACK_ABOVE = 256,
    HEAP_LEAST = 64 << 10,       /* of a heap whose end no symbol tells */
    STEP = 64 << 10,             /* of proposals */
    RAM_STEP = 16 << 10,
    RAM_MOST = 14 << 20,
    NOTE = 32
};
/* clang-format on */

/* Physical. */
struct range {
    uint32_t from, bytes;
};

static bool do_overlap(struct range a, struct range b)
{
    if (a.bytes && b.bytes && a.from - b.from < b.bytes)
        return true;
    return a.bytes && b.bytes && b.from - a.from < a.bytes;
}

static bool find_symbol(const struct sh4_trace *tr, const char *const *names, uint32_t *at,
                        const char **found)
{
    const struct image *im = tr->cfg.image;
    uint64_t addr;
    for (; im->lookup && *names; names++)
        if (im->lookup(im, *names, &addr)) {
            *at = (uint32_t)addr & SH4_PHYS;
            *found = *names;
            return true;
        }
    return false;
}

/* Names that linker scripts give. A C library's heap begins at `end` (newlib's libgloss, sh/sbrk;
 * KallistiOS, kernel/mm) and needs no name of its own there: it counts only with an allocator in
 * the program. */
static const char *const stack_names[] = { "stack_top", "_stack_top", "__stack_top",
                                           "_stack",    "__stack",    NULL };
static const char *const heap_names[] = {
    "__heap_start", "_heap_start", "heap_start", "__heap_base", "_heap", "__heap", NULL
};
static const char *const end_names[] = { "_end", "end", "__end", NULL };
static const char *const heap_end_names[] = { "__heap_end",   "_heap_end", "heap_end",
                                              "__heap_limit", "_heap_top", NULL };
static const char *const allocators[] = { "_sbrk", "sbrk", "__sbrk", "_malloc", "malloc", NULL };

/* Where the program's heap is known to be; bytes 0: it has none that is known. */
static struct range find_heap(const struct sh4_trace *tr, const char **name)
{
    struct range r = { 0, 0 };
    uint32_t end;
    const char *other;
    bool named = find_symbol(tr, heap_names, &r.from, name);
    if (!named &&
        !(find_symbol(tr, allocators, &end, &other) && find_symbol(tr, end_names, &r.from, name)))
        return (struct range){ 0, 0 };
    r.bytes = HEAP_LEAST;
    if (find_symbol(tr, heap_end_names, &end, &other) && end > r.from)
        r.bytes = end - r.from;
    return r;
}

static struct range stack_at(uint32_t top)
{
    top &= SH4_PHYS;
    return (struct range){ top - STACK_BELOW, STACK_BELOW + STACK_ABOVE };
}

/* Whether something of the program's is in r; *busy is where. */
static bool in_use(const struct sh4_trace *tr, struct range r, char what[64], struct range *busy)
{
    const struct image *im = tr->cfg.image;
    const char *name = "";
    uint32_t at;
    for (size_t i = 0; i < im->nsections; i++) {
        const struct image_section *s = &im->sections[i];
        const uint32_t places[] = { (uint32_t)s->addr & SH4_PHYS,
                                    (uint32_t)image_load_addr(im, i) & SH4_PHYS };
        for (size_t k = 0; k < ARRAY_LEN(places); k++) {
            *busy = (struct range){ places[k], (uint32_t)s->size };
            snprintf(what, 64, k ? "the program's %.30s as loaded" : "the program's %.30s",
                     s->name);
            if ((k == 0 || s->data) && do_overlap(r, *busy))
                return true;
        }
    }
    *busy = stack_at(tr->t->regs.r15);
    snprintf(what, 64, "the program's stack (R15 is %08x)", (unsigned)tr->t->regs.r15);
    if (do_overlap(r, *busy))
        return true;
    if (find_symbol(tr, stack_names, &at, &name))
        *busy = stack_at(at);
    else
        *busy = (struct range){ 0, 0 };
    snprintf(what, 64, "the program's stack (symbol %.20s)", name);
    if (do_overlap(r, *busy))
        return true;
    *busy = find_heap(tr, &name);
    snprintf(what, 64, "the program's heap (symbol %.20s)", name);
    return do_overlap(r, *busy);
}

/* The highest place with so many bytes of which nothing is known to be the program's; 0: there is
 * none. */
static uint32_t free_place(const struct sh4_trace *tr, uint32_t bytes)
{
    char what[64];
    struct range busy;
    uint32_t top = SH4_TRACE_RAM_TOP;
    for (uint32_t at = (top - bytes) & ~(uint32_t)(STEP - 1);
         bytes < top - AREA3 && at > AREA3 && at < top; at -= STEP)
        if (!in_use(tr, (struct range){ at, bytes }, what, &busy))
            return at | 0x80000000;
    return 0;
}

static int refuse_ram(const struct sh4_trace *tr, struct range r, uint32_t need, const char *what,
                      struct range busy, struct err *err)
{
    char hint[160];
    uint32_t place = free_place(tr, need), kb = (need + 1023) / 1024;
    if (place)
        snprintf(hint, sizeof hint,
                 "nothing of the program is known to be in --agent-ram 0x%08X:%uk", (unsigned)place,
                 (unsigned)kb);
    else
        snprintf(hint, sizeof hint,
                 "name %u KB of RAM that the program does not use with --agent-ram, or leave a "
                 "part of it unpatched (--no-patch)",
                 (unsigned)kb);
    return err_set(err, ERR_USAGE, hint,
                   "the agent's RAM, 0x%08x to 0x%08x, meets %s at 0x%08x to 0x%08x",
                   r.from | 0x80000000, (r.from | 0x80000000) + r.bytes - 1, what,
                   busy.from | 0x80000000, (busy.from | 0x80000000) + busy.bytes - 1);
}

void sh4_trace_usable_ram(const struct sh4_target *t, uint32_t *at, uint32_t *bytes)
{
    *at = (*at & SH4_PHYS) | 0x80000000;
    /* A resident kernel in the same RAM stays. */
    uint32_t kernel_end = (t->agent.base + t->agent.layout->kern_end + 256 + 31) & ~31u;
    if (t->agent.layout != &sh4_agent_ase && t->agent.base >= *at && kernel_end < *at + *bytes) {
        *bytes -= kernel_end - *at;
        *at = kernel_end;
    }
}

void sh4_trace_ram(const struct sh4_trace *tr, uint32_t *at, uint32_t *bytes)
{
    const struct sh4_target *t = tr->t;
    *at = tr->cfg.ram_bytes ? (uint32_t)tr->cfg.ram_base : t->opt.agent_ram;
    *bytes = EITHER(tr->cfg.ram_bytes, t->opt.agent_ram_bytes);
    sh4_trace_usable_ram(t, at, bytes);
}

/* Below the top of area 3, where stacks and heaps seldom get. */
static int larger_ram(struct sh4_trace *tr, uint32_t least, struct err *err)
{
    uint32_t bytes = (least + SH4_AGENT_RAM_BYTES + RAM_STEP - 1) / RAM_STEP * RAM_STEP;
    struct range busy, r = { SH4_TRACE_RAM_TOP - bytes, bytes };
    char what[64];
    if (bytes > RAM_MOST)
        return err_set(err, ERR_RESOURCE,
                       "leave parts of the program unpatched: --no-patch LOW:HIGH or a function's "
                       "name, as often as needed",
                       "tracing all of this program takes %u KB of target RAM", bytes / 1024);
    if (in_use(tr, r, what, &busy))
        return refuse_ram(tr, r, bytes, what, busy, err);
    tr->request.larger = true;
    tr->cfg.ram_base = r.from | 0x80000000;
    tr->cfg.ram_bytes = bytes - NOTE; /* for the next session, should this one be lost */
    return 0;
}

int sh4_trace_choose_ram(struct sh4_trace *tr, struct sh4_trace_request *rq, struct err *err)
{
    const struct sh4_target *t = tr->t;
    bool chosen = tr->cfg.ram_bytes || t->own_ram;
    uint32_t need = 0;
    struct range busy;
    char what[64];
    sh4_trace_ram(tr, &rq->ram, &rq->ram_bytes);
    struct range r = { rq->ram & SH4_PHYS, rq->ram_bytes };
    bool meets = in_use(tr, r, what, &busy);
    if (chosen && meets)
        return refuse_ram(tr, r, r.bytes, what, busy, err);
    if (chosen)
        return 0;
    rq->ram_bytes = RAM_MOST;
    int ret = sh4_trace_plan_needs(rq, &need, err);
    if (ret == 0 && (meets || need > r.bytes))
        ret = larger_ram(tr, need, err);
    sh4_trace_ram(tr, &rq->ram, &rq->ram_bytes);
    return ret;
}

bool sh4_trace_in_chosen_ram(const struct sh4_trace *tr, uint32_t addr)
{
    struct range busy;
    char what[64];
    return SH4_TRACE_RAM_TOP - (addr & SH4_PHYS) <= RAM_MOST &&
           !in_use(tr, (struct range){ addr & SH4_PHYS, 2 }, what, &busy);
}

bool sh4_trace_of_agents(const struct sh4_trace *tr, uint32_t pc)
{
    const struct sh4_options *o = &tr->t->opt;
    return (pc & SH4_PHYS) - (o->agent_ram & SH4_PHYS) < o->agent_ram_bytes ||
           sh4_trace_in_chosen_ram(tr, pc);
}

bool sh4_trace_holds(const struct sh4_target *t, uint32_t pc)
{
    const struct sh4_trace_plan *p = &t->plug.trace->plan;
    return (pc & SH4_PHYS) - (p->base & SH4_PHYS) < p->image_len;
}
