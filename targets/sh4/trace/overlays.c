/* Overlays: sections of code that take turns at one run address. Which of them is there now the
 * program's own table says, _ovly_table, as GDB's manual describes it ("Automatic Overlay
 * Debugging"); and it calls _ovly_debug_event when that has changed. The end of that function has a
 * stub with a trap of ours that is no site, so the agent waits for the host there: what the new
 * overlay has is patched before any of it runs, and events before and behind are told apart
 * exactly. Of a program without these, code that is replaced is found as any other (further.c). */
#include <stdlib.h>
#include <string.h>

#include "probe/base/choice.h"
#include "probe/base/util.h"
#include "targets/sh4/agent/trace_blob.h"
#include "targets/sh4/isa/regs.h"
#include "targets/sh4/trace/trace.h"

/* Of the program's table: vma, size, lma, mapped. */
enum { ROW_WORDS = 4, ROWS_MOST = 256 };

static bool is_within(const struct image_section *s, uint32_t addr)
{
    return (addr & SH4_PHYS) - ((uint32_t)s->addr & SH4_PHYS) < s->size;
}

bool sh4_trace_in_overlay(const struct sh4_trace *tr, uint32_t addr)
{
    const struct image *im = tr->cfg.image;
    for (size_t k = 0; tr->overlays.here && k < im->nsections; k++)
        if (im->overlay[k] && is_within(&im->sections[k], addr))
            return true;
    return false;
}

/* ---- the program's table ---- */

static int read_table(struct sh4_trace *tr, uint32_t *words, uint32_t *n, struct err *err)
{
    int ret = sh4_agent_read(tr->t, tr->overlays.count_at, 4, n, 1, err);
    if (ret < 0)
        return ret;
    *n = MIN(*n, (uint32_t)ROWS_MOST);
    if (*n)
        return sh4_agent_read(tr->t, tr->overlays.table_at, 4, words, *n * ROW_WORDS, err);
    return 0;
}

static bool is_mapped(const struct image *im, size_t k, const uint32_t *words, uint32_t n)
{
    for (uint32_t i = 0; i < n; i++) {
        const uint32_t *row = words + (size_t)i * ROW_WORDS;
        if (row[3] && row[0] == im->sections[k].addr && row[2] == image_load_addr(im, k))
            return true;
    }
    return false;
}

/* What is in memory now, by section. */
static int look_at_table(struct sh4_trace *tr, bool *here, struct err *err)
{
    const struct image *im = tr->cfg.image;
    uint32_t n = 0, *words = malloc(sizeof *words * ROWS_MOST * ROW_WORDS);
    if (!words)
        return err_set(err, ERR_NOMEM, "close other programs", "overlays: out of memory");
    int ret = read_table(tr, words, &n, err);
    for (size_t k = 0; ret == 0 && k < im->nsections; k++)
        here[k] = im->overlay[k] && is_mapped(im, k, words, n);
    free(words);
    return ret;
}

/* ---- the image that is searched ---- */

static int by_low(const void *a, const void *b)
{
    const struct image_function *x = a, *y = b;
    return COMPARE(x->low, y->low);
}

/* Those of code that is always there, and of the overlays that are there now. */
static void take_functions(struct sh4_trace *tr)
{
    const struct image *im = tr->cfg.image;
    struct sh4_trace_overlays *o = &tr->overlays;
    size_t n = 0;
    for (size_t i = 0; i < im->nfunctions; i++)
        if (!sh4_trace_in_overlay(tr, (uint32_t)im->functions[i].low))
            o->function[n++] = im->functions[i];
    for (size_t i = 0; i < im->noverlay_functions; i++)
        if (o->here[im->overlay_functions[i].overlay - 1])
            o->function[n++] = im->overlay_functions[i].is;
    qsort(o->function, n, sizeof *o->function, by_low);
    tr->now.image.functions = o->function;
    tr->now.image.nfunctions = n;
}

/* One that is not in memory has no bytes in the image. */
static void take_sections(struct sh4_trace *tr)
{
    const struct image *im = tr->cfg.image;
    for (size_t k = 0; k < im->nsections; k++) {
        if (!im->overlay[k])
            continue;
        free(tr->now.copy[k]);
        tr->now.copy[k] = NULL;
        tr->now.section[k] = im->sections[k];
        if (!tr->overlays.here[k])
            tr->now.section[k].size = 0;
    }
    take_functions(tr);
}

/* ---- patches of what is gone ---- */

/* What the program has written is in memory, too, then. */
static int sync_code(struct sh4_trace *tr, struct err *err)
{
    const struct image *im = tr->cfg.image;
    int ret = 0;
    for (size_t k = 0; ret == 0 && k < im->nsections; k++)
        if (im->overlay[k])
            ret = sh4_agent_sync_caches(tr->t, (uint32_t)im->sections[k].addr & ~31u,
                                        im->sections[k].size + 32, err);
    return ret;
}

/* Places are those of another overlay now. Where our trap still is, the program's instruction goes
 * back. */
static int take_back(struct sh4_trace *tr, struct err *err)
{
    size_t n = tr->plan.npatches, k = 0, still = 0;
    struct sh4_trace_half *half = calloc(2 * n + 1, sizeof *half), *entry = half ? half + n : NULL;
    if (!half)
        return err_set(err, ERR_NOMEM, "close other programs", "overlays: out of memory");
    for (size_t i = 0; i < n; i++) {
        const struct sh4_trace_patch *p = &tr->plan.patch[i];
        if (tr->patches.mark[i].dead || !sh4_trace_in_overlay(tr, p->addr))
            continue;
        half[k] = (struct sh4_trace_half){ .addr = p->addr, .value = p->orig };
        entry[k++].addr = tr->plan.base + (uint32_t)sh4_trace_plan_index(&tr->plan, p->addr);
        tr->patches.mark[i] = (struct sh4_trace_mark){ .dead = true };
    }
    int ret = 0;
    if (k)
        ret = sync_code(tr, err);
    if (ret == 0 && k)
        ret = sh4_trace_read_halves(tr->t, half, k, err);
    for (size_t i = 0; ret == 0 && i < k; i++)
        if (half[i].readable && half[i].there == SH4_TRACE_TRAP)
            half[still++] = half[i];
    if (ret == 0 && still)
        ret = sh4_trace_write_halves(tr->t, half, still, err);
    if (ret == 0 && k)
        ret = sh4_trace_write_halves(tr->t, entry, k, err);
    free(half);
    return ret;
}

/* One that was there has been loaded once more: our traps go in again. 0: something else is in one
 * of their places. */
static int put_again(struct sh4_trace *tr, struct err *err)
{
    size_t n = tr->plan.npatches, k = 0, missing = 0, strange = 0;
    struct sh4_trace_half *half = calloc(n + 1, sizeof *half);
    if (!half)
        return err_set(err, ERR_NOMEM, "close other programs", "overlays: out of memory");
    for (size_t i = 0; i < n; i++)
        if (tr->patches.mark[i].in_memory && sh4_trace_in_overlay(tr, tr->plan.patch[i].addr))
            half[k++] = (struct sh4_trace_half){ .addr = tr->plan.patch[i].addr,
                                                 .value = tr->plan.patch[i].orig };
    int ret = sync_code(tr, err);
    if (ret == 0)
        ret = sh4_trace_read_halves(tr->t, half, k, err);
    for (size_t i = 0; ret == 0 && i < k; i++) {
        bool ours = half[i].readable && half[i].there == SH4_TRACE_TRAP;
        strange += !ours && (!half[i].readable || half[i].there != half[i].value);
        half[i].value = (uint16_t)SH4_TRACE_TRAP;
        if (!ours)
            half[missing++] = half[i];
    }
    if (ret == 0 && !strange)
        ret = sh4_trace_write_halves(tr->t, half, missing, err);
    if (ret == 0 && !strange)
        ret = sync_code(tr, err);
    free(half);
    if (ret < 0)
        return ret;
    return strange == 0;
}

/* Places that running has shown were in code that is not there now. */
static void forget_found(struct sh4_trace *tr)
{
    size_t n = 0;
    for (size_t i = 0; i < tr->found->n; i++)
        if (!sh4_trace_in_overlay(tr, tr->found->at[i] & ~(uint32_t)SH4_FOUND_WITHIN))
            tr->found->at[n++] = tr->found->at[i];
    tr->found->n = n;
}

/* ---- what is told ---- */

/* Only where the agent waits for the host at each change is it known from when on. */
static bool is_exact(const struct sh4_trace *tr)
{
    bool any = false;
    for (size_t i = 0; i < tr->sites.nsites; i++) {
        const struct sh4_site *s = &tr->sites.site[i];
        if (((tr->sites.function[s->function].low ^ tr->overlays.event_at) & SH4_PHYS) != 0 ||
            s->kind >= SH4_SITE_RTE)
            continue;
        if (s->kind != SH4_SITE_RTS || !s->asks || !sh4_trace_sees(tr, s))
            return false;
        any = true;
    }
    return any;
}

static void tell_overlay(struct sh4_trace *tr, size_t k, bool here)
{
    const struct image *im = tr->cfg.image;
    struct event e = { .kind = EVENT_OVERLAY,
                       .host_ns = sh4_link_now(&tr->t->link),
                       .pc = im->sections[k].addr,
                       .flags = EVENT_HAS_PC };
    if (here && is_exact(tr)) {
        e.target = image_load_addr(im, k);
        e.flags |= EVENT_HAS_TARGET;
    }
    sh4_trace_push(tr, &e);
}

/* Those that are gone come first: what is there now may share their addresses. */
static void tell_changes(struct sh4_trace *tr, const bool *was)
{
    const struct image *im = tr->cfg.image;
    const bool *here = tr->overlays.here;
    for (size_t k = 0; k < im->nsections; k++)
        if (was[k] && !here[k])
            tell_overlay(tr, k, false);
    for (size_t k = 0; k < im->nsections; k++)
        if (here[k] && !was[k])
            tell_overlay(tr, k, true);
}

/* What was found to be there next is there now. */
static void take_next(struct sh4_trace *tr)
{
    struct sh4_trace_overlays *o = &tr->overlays;
    bool *was = o->here;
    o->here = o->next;
    o->next = was;
    tell_changes(tr, was);
}

void sh4_trace_tell_overlays(struct sh4_trace *tr)
{
    for (size_t k = 0; tr->overlays.here && k < tr->cfg.image->nsections; k++)
        if (tr->overlays.here[k])
            tell_overlay(tr, k, true);
}

static int put_new_code(struct sh4_trace *tr, struct err *err)
{
    forget_found(tr);
    int ret = take_back(tr, err);
    take_sections(tr);
    if (ret == 0)
        ret = sh4_trace_search_changed(tr, err);
    return ret;
}

int sh4_trace_overlays_changed(struct sh4_trace *tr, struct err *err)
{
    struct sh4_trace_overlays *o = &tr->overlays;
    o->missed = false;
    int ret = look_at_table(tr, o->next, err);
    if (ret < 0)
        return ret;
    if (memcmp(o->here, o->next, tr->cfg.image->nsections * sizeof *o->here) == 0) {
        ret = put_again(tr, err);
        if (ret == 0)
            return put_new_code(tr, err);
        return MIN(ret, 0);
    }
    take_next(tr);
    return put_new_code(tr, err);
}

/* The agent has waited in vain, and the program has gone on: events since then may be of any
 * overlay. */
int sh4_trace_overlays_missed(struct sh4_trace *tr, struct err *err)
{
    struct sh4_trace_overlays *o = &tr->overlays;
    const uint32_t at = sh4_trace_blob.rom + 4 * SH4_TRACE_R_MISSED;
    uint32_t word = 0;
    if (!o->here)
        return 0;
    int ret = sh4_trace_get(tr, at, &word, 1, err);
    if (ret < 0 || !word)
        return ret;
    word = 0;
    memset(o->next, 0, tr->cfg.image->nsections * sizeof *o->next);
    take_next(tr);
    o->missed = true;
    return sh4_trace_put(tr, at, &word, 1, err);
}

/* ---- arming ---- */

static bool has_symbol(const struct image *im, const char *name, uint32_t *at)
{
    uint64_t addr = 0;
    bool found = im->lookup && im->lookup(im, name, &addr);
    *at = (uint32_t)addr;
    return found;
}

/* As for any other code that is replaced: the point would go with it. */
static int refuse_points(const struct sh4_trace *tr, struct err *err)
{
    for (size_t i = 0; i <= tr->cfg.nstops; i++) {
        bool start = i == tr->cfg.nstops;
        uint32_t at = (uint32_t)(start ? tr->cfg.start : tr->cfg.stops[i]);
        if ((!start || tr->cfg.has_start) && sh4_trace_in_overlay(tr, at))
            return err_set(err, ERR_USAGE,
                           "choose a place in code that is always there, such as the call",
                           "0x%08x is in an overlay, which is replaced: no start or stop point can "
                           "be there",
                           at);
    }
    for (size_t i = 0; i < tr->cfg.image->nblocks; i++)
        if (sh4_trace_in_overlay(tr, (uint32_t)tr->cfg.image->blocks[i].low))
            return err_set(err, ERR_USAGE, "measure the whole function, which has a row of its own",
                           "block at 0x%08x: it is in an overlay, which is replaced",
                           (uint32_t)tr->cfg.image->blocks[i].low);
    return 0;
}

/* Before the program's start the table may be that of an earlier run. */
static int check_memory(struct sh4_trace *tr, struct err *err)
{
    const struct image *im = tr->cfg.image;
    int ret = 1;
    for (size_t k = 0; ret >= 0 && k < im->nsections; k++) {
        const struct image_section *s = &im->sections[k];
        if (!tr->overlays.here[k])
            continue;
        ret = sh4_same_mem(&tr->t->base, s->addr, s->data, s->size, err);
        tr->overlays.here[k] = ret > 0;
    }
    return MIN(ret, 0);
}

int sh4_trace_overlays_init(struct sh4_trace *tr, struct err *err)
{
    const struct image *im = tr->cfg.image;
    struct sh4_trace_overlays *o = &tr->overlays;
    if (!im->overlay || !has_symbol(im, "_ovly_table", &o->table_at) ||
        !has_symbol(im, "_novlys", &o->count_at) ||
        !has_symbol(im, "_ovly_debug_event", &o->event_at))
        return 0;
    o->here = calloc(im->nsections + 1, sizeof *o->here);
    o->next = calloc(im->nsections + 1, sizeof *o->next);
    o->function = calloc(im->nfunctions + im->noverlay_functions + 1, sizeof *o->function);
    if (!o->here || !o->next || !o->function)
        return err_set(err, ERR_NOMEM, "close other programs", "overlays: out of memory");
    int ret = refuse_points(tr, err);
    if (ret == 0)
        ret = look_at_table(tr, o->here, err);
    if (ret == 0)
        ret = check_memory(tr, err);
    if (ret == 0)
        take_sections(tr);
    return ret;
}

void sh4_trace_overlays_fini(struct sh4_trace *tr)
{
    free(tr->overlays.here);
    free(tr->overlays.next);
    free(tr->overlays.function);
    tr->overlays = (struct sh4_trace_overlays){ .here = NULL };
}

/* The agent knows of one stub that asks: all of the function's returns have to share it. */
static bool have_one_stub(const struct sh4_sites *sites, size_t a, size_t b)
{
    return sites->site[a].slot == sites->site[b].slot;
}

void sh4_trace_overlays_mark(const struct sh4_trace *tr, struct sh4_sites *sites)
{
    bool asked = tr->overlays.here && !sh4_trace_programs_traps(tr);
    size_t first = SIZE_MAX;
    for (size_t i = 0; asked && i < sites->nsites; i++) {
        struct sh4_site *s = &sites->site[i];
        uint32_t low = sites->function[s->function].low;
        if (s->kind != SH4_SITE_RTS || ((low ^ tr->overlays.event_at) & SH4_PHYS) != 0)
            continue;
        first = MIN(first, i);
        s->asks = have_one_stub(sites, first, i);
    }
}

uint32_t sh4_trace_overlays_reach(const struct sh4_trace *tr)
{
    const struct image *im = tr->cfg.image;
    uint32_t most = 0;
    for (size_t k = 0; tr->overlays.here && k < im->nsections; k++)
        if (im->overlay[k])
            most = MAX(most, ((uint32_t)im->sections[k].addr & SH4_PHYS) +
                                 (uint32_t)im->sections[k].size);
    return most;
}

/* Where the stub is that asks, as the program reaches it; 0: there is none. */
static uint32_t asking_stub(const struct sh4_trace *tr)
{
    for (size_t i = 0; tr->overlays.here && i < tr->plan.npatches; i++) {
        const struct sh4_trace_patch *p = &tr->plan.patch[i];
        const struct sh4_site *s = sh4_sites_at(&tr->sites, p->addr);
        if (s && s->asks && !tr->patches.mark[i].dead)
            return tr->plan.id[p->id].stub;
    }
    return 0;
}

bool sh4_trace_asks_at(const struct sh4_trace *tr, uint32_t pc)
{
    uint32_t stub = asking_stub(tr);
    return stub && ((stub ^ pc) & SH4_PHYS) == 0;
}

int sh4_trace_overlays_ask(struct sh4_trace *tr, struct err *err)
{
    uint32_t stub = asking_stub(tr), spc = stub + 2;
    if (!stub) /* the agent begins with none */
        return 0;
    return sh4_trace_put(tr, sh4_trace_blob.rom + 4 * SH4_TRACE_R_ASKS, &spc, 1, err);
}
