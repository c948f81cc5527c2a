/* Code that takes no patch, on the target: found by trying, and stepped by channel A of the user
 * break controller. The debugger has precedence: while it uses both channels, nothing is stepped,
 * and the note says so. */
#include <stdlib.h>

#include "probe/base/choice.h"
#include "probe/base/util.h"
#include "targets/sh4/agent/trace_blob.h"
#include "targets/sh4/isa/regs.h"
#include "targets/sh4/trace/trace.h"

enum { PROBES = 3 };

/* ---- what takes no patch ---- */

/* Writes a halfword past the caches and puts it back: 1 if it held. A note in the agent's RAM lets
 * the next attach put it back if the wire is cut in between. */
static int holds_writes(struct sh4_trace *tr, uint32_t addr, struct err *err)
{
    struct sh4_target *t = tr->t;
    uint32_t at = (addr & SH4_PHYS) | 0xA0000000, was, seen;
    int ret = sh4_agent_peek(t, at, 2, &was, err);
    uint32_t note[2] = { at, was & 0xFFFF }, ram = sh4_trace_note_at(tr);
    if (ret == 0)
        ret = sh4_agent_write(t, ram + 4, 4, note, ARRAY_LEN(note), err);
    if (ret == 0) /* alone: a block may be cut in the middle */
        ret = sh4_agent_poke(t, ram, 4, SH4_TRACE_PROBE, err);
    uint32_t other = SH4_TRACE_TRAP;
    if ((was & 0xFFFF) == SH4_TRACE_TRAP)
        other = 0x0009;
    if (ret == 0)
        ret = sh4_agent_poke(t, at, 2, other, err);
    if (ret == 0)
        ret = sh4_agent_peek(t, at, 2, &seen, err);
    if (ret == 0)
        ret = sh4_agent_poke(t, at, 2, was & 0xFFFF, err);
    if (ret == 0)
        ret = sh4_agent_poke(t, ram, 4, 0, err);
    if (ret < 0)
        return ret;
    return (seen & 0xFFFF) == other;
}

/* First, middle and last place of a section; a section in two kinds of memory is taken for RAM, and
 * places that do not take the patch are found when all are in. */
static int section_is_rom(struct sh4_trace *tr, const struct image_section *s, struct err *err)
{
    uint32_t addr = (uint32_t)s->addr, last = (uint32_t)(s->size - 2) & ~1u;
    int held = 0;
    for (uint32_t i = 0; i < PROBES; i++) {
        int ret = holds_writes(tr, (addr + 1) / 2 * 2 + (last / (PROBES - 1) * i & ~1u), err);
        if (ret < 0)
            return ret;
        held += ret;
    }
    return held == 0;
}

static bool in_section(const struct image_section *s, uint32_t addr)
{
    return ((addr & SH4_PHYS) - (uint32_t)(s->addr & SH4_PHYS)) < s->size;
}

int sh4_trace_refuse_in_rom(uint32_t addr, struct err *err)
{
    return err_set(err, ERR_USAGE, "use a hardware breakpoint, or a place in RAM",
                   "0x%08x is in ROM: no start or stop point and no block can be there", addr);
}

static int refuse_points(const struct sh4_trace *tr, const struct image_section *s, struct err *err)
{
    for (size_t i = 0; i < tr->cfg.nstops; i++)
        if (in_section(s, (uint32_t)tr->cfg.stops[i]))
            return sh4_trace_refuse_in_rom((uint32_t)tr->cfg.stops[i], err);
    if (tr->cfg.has_start && in_section(s, (uint32_t)tr->cfg.start))
        return sh4_trace_refuse_in_rom((uint32_t)tr->cfg.start, err);
    for (size_t i = 0; i < tr->request.crossings.n; i++)
        if (in_section(s, tr->request.crossings.at[i]))
            return sh4_trace_refuse_in_rom(tr->request.crossings.at[i], err);
    return 0;
}

int sh4_trace_find_rom(struct sh4_trace *tr, struct err *err)
{
    const struct image *im = tr->cfg.image;
    uint32_t mmucr;
    free(tr->rom.section);
    tr->rom.section = calloc(im->nsections + 1, sizeof *tr->rom.section);
    int ret;
    if (tr->rom.section)
        ret = sh4_agent_peek(tr->t, SH4_MMUCR, 4, &mmucr, err);
    else
        ret = err_set(err, ERR_NOMEM, "close other programs", "trace: out of memory");
    for (size_t i = 0; ret >= 0 && i < im->nsections; i++) {
        const struct image_section *s = &im->sections[i];
        /* it is not known what is there: reported as such */
        bool translated = mmucr & 1 && s->addr >> 30 != 2;
        if (!s->code || !s->data || s->size < 2 || translated ||
            (ret = section_is_rom(tr, s, err)) <= 0)
            continue;
        ret = refuse_points(tr, s, err);
        tr->rom.section[i] = true;
        for (size_t k = 0; ret == 0 && k < tr->sites.nsites; k++)
            tr->sites.site[k].stepped |= in_section(s, tr->sites.site[k].addr);
    }
    return MIN(ret, 0);
}

void sh4_trace_rom_fini(struct sh4_trace *tr) { free(tr->rom.section); }

/* ---- running ---- */

static int put_words(struct sh4_trace *tr, unsigned word, const uint32_t *v, size_t n,
                     struct err *err)
{
    return sh4_trace_put(tr, sh4_trace_blob.rom + 4 * word, v, n, err);
}

static int set_channel(struct sh4_target *t, uint32_t bar, uint8_t bamr, struct err *err)
{
    int ret = sh4_ubc_channel(t, 0, bar, bamr, err);
    if (ret < 0)
        return ret;
    sh4_saved_set(t, SH4_SAVE_BBRA, SH4_BBR_FETCH);
    sh4_saved_set(t, SH4_SAVE_BRCR, t->regs.save[SH4_SAVE_BRCR] | REG_MASK(SH4_BRCR_PCBA));
    return 0;
}

int sh4_trace_step_resumed(struct sh4_trace *tr, bool steps, struct err *err)
{
    struct sh4_target *t = tr->t;
    const struct sh4_trace_rom *rom = &tr->plan.rom;
    if (!rom->bytes)
        return 0;
    bool on = !steps && !t->breaks.ubc[0].used;
    bool inside = t->regs.pc - rom->base < rom->bytes;
    uint32_t words[] = { bits_if(on && inside, t->regs.pc), rom->base, bits_if(on, rom->bytes) };
    if (tr->rom.channel_taken != t->breaks.ubc[0].used)
        tr->coverage.next = 0; /* other places are seen now */
    tr->rom.channel_taken = t->breaks.ubc[0].used;
    int ret = put_words(tr, SH4_TRACE_R_PREV, words, ARRAY_LEN(words), err);
    if (ret == 0 && on)
        return set_channel(t, rom->base, rom->bamr, err);
    return ret;
}

/* ---- what a stop costs ---- */

int sh4_trace_step_cost(struct sh4_trace *tr, bool cached, struct err *err)
{
    if (!tr->plan.rom.bytes || tr->cost.step_cached == cached)
        return 0;
    uint32_t k[] = { (uint32_t)tr->cost.step_cost[cached][0],
                     (uint32_t)tr->cost.step_cost[cached][1] };
    tr->cost.step_cached = cached;
    return put_words(tr, SH4_TRACE_R_K1, k, ARRAY_LEN(k), err);
}

int sh4_trace_step_loop(struct sh4_trace *tr, bool on, struct err *err)
{
    const struct sh4_trace_blob *b = &sh4_trace_blob;
    struct sh4_target *t = tr->t;
    uint32_t zero = 0;
    if (!on) {
        sh4_saved_set(t, SH4_SAVE_BBRA, 0);
        sh4_saved_set(t, SH4_SAVE_BRCR, t->regs.save[SH4_SAVE_BRCR] & ~REG_MASK(SH4_BRCR_PCBA));
        return put_words(tr, SH4_TRACE_R_SIZE, &zero, 1, err);
    }
    /* A window of the loop's own, without sites, where the last instruction is always known. */
    uint32_t words[] = { tr->plan.base + b->calib_f, tr->plan.base + b->calib,
                         (uint32_t)(b->calib_f - b->calib) + 4 };
    uint32_t k[] = { 0, 0 };
    int ret = put_words(tr, SH4_TRACE_R_PREV, words, ARRAY_LEN(words), err);
    if (ret == 0)
        ret = put_words(tr, SH4_TRACE_R_K1, k, ARRAY_LEN(k), err);
    if (ret != 0)
        return ret;
    return set_channel(t, tr->plan.base + b->calib_f, REG_MASK(SH4_BAMR_BASM), err);
}
