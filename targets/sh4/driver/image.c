/* The program's VBR lives in DBR while our vectors are installed: its VBR instructions become their
 * DBR twins. */
#include <stdlib.h>
#include <string.h>

#include "probe/base/bytes.h"
#include "probe/base/choice.h"
#include "probe/base/util.h"
#include "targets/sh4/code/sites.h"
#include "targets/sh4/driver/driver.h"
#include "targets/sh4/isa/isa.h"

/* ---- where they are: a word that reads like one may be a constant, which must stay as it is ----
 */

static bool stores_vbr(uint16_t insn)
{
    return (insn & 0xF0FF) == 0x0022 || (insn & 0xF0FF) == 0x4023;
}

/* What control flow reaches is code. sure: nothing else counts. Else code the search has not found
 * may load VBR, and words like 0x0022 are taken for the numbers they mostly are. */
static bool is_site(const struct sh4_sites *code, uint32_t addr, uint16_t insn, bool sure)
{
    unsigned flags = sh4_sites_code(code, addr);
    if (!sh4_dbr_twin(insn) || flags & (SH4_CODE_INSN | SH4_CODE_SLOT))
        return sh4_dbr_twin(insn) != 0;
    return !sure && !(flags & SH4_CODE_LITERAL) && !stores_vbr(insn);
}

static size_t find_sites(const struct image *im, const struct sh4_sites *code, bool sure,
                         struct sh4_patch *out, size_t cap)
{
    size_t n = 0;
    for (size_t i = 0; i < im->nsections; i++) {
        const struct image_section *s = &im->sections[i];
        for (uint64_t o = 0; s->code && s->data && o + 2 <= s->size; o += 2) {
            uint16_t insn = get16(s->data + o, im->big_endian);
            if (!is_site(code, (uint32_t)(s->addr + o), insn, sure))
                continue;
            if (out && n < cap)
                out[n] = (struct sh4_patch){ .addr = (uint32_t)(s->addr + o), .orig = insn };
            n++;
        }
    }
    return n;
}

/* Replaces the list by what the image has. The old sites are not in memory any more. */
static int use_sites(struct sh4_target *t, const struct image *im, const struct sh4_sites *code,
                     bool sure, struct err *err)
{
    size_t n = 0;
    if (im)
        n = find_sites(im, code, sure, NULL, 0);
    struct sh4_patch *sites = NULL;
    if (n)
        sites = calloc(n, sizeof *sites);
    if (n && !sites)
        return err_set(err, ERR_NOMEM, "close other programs", "program image: no memory");
    if (n)
        find_sites(im, code, sure, sites, n);
    free(t->code.vbr_sites);
    t->code.vbr_sites = sites;
    t->code.nvbr_sites = n;
    t->code.vbr_patched = false;
    return 0;
}

static int search_image(const struct image *im, const uint32_t *roots, size_t nroots,
                        struct sh4_sites *code, struct err *err)
{
    const struct sh4_sites_config cfg = { .handlers = roots, .nhandlers = nroots };
    int ret = sh4_sites_find(im, &cfg, code, err);
    if (ret == -ERR_FORMAT)
        return 0;
    return ret; /* no code in it */
}

int sh4_set_image(struct target *target, const struct image *image, struct err *err)
{
    struct sh4_target *t = sh4_of(target);
    struct sh4_sites code = { 0 };
    int ret = 0;
    if (t->code.vbr_patched && sh4_state(t) == TARGET_HALTED)
        ret = sh4_image_patch(t, false, err);
    if (ret == 0 && image)
        ret = search_image(image, NULL, 0, &code, err);
    if (ret == 0)
        ret = use_sites(t, image, &code, false, err);
    sh4_sites_fini(&code);
    if (ret < 0)
        return ret;
    sh4_image_forget_written(t);
    t->code.image = image;
    if (sh4_state(t) == TARGET_HALTED)
        return sh4_image_undo_stale(t, err);
    return 0;
}

/* ---- no image: what the debugger wrote is searched instead, from where it lets the program go
 * ---- */

enum { WRITTEN_ROOTS = 16 };

/* Code for certain: where the program goes on, and where the user wants it to stop. */
static size_t roots_of(const struct sh4_target *t, uint32_t roots[WRITTEN_ROOTS])
{
    size_t n = 0;
    roots[n++] = t->regs.pc;
    for (size_t i = 0; i < t->breaks.npatches && n < WRITTEN_ROOTS; i++)
        roots[n++] = t->breaks.patch[i].addr;
    return n;
}

static bool search_is_due(const struct sh4_target *t, const uint32_t *roots, size_t n)
{
    struct sh4_written *w = (struct sh4_written *)&t->code.written;
    for (size_t i = 0; i < n && !w->changed; i++) {
        const struct sh4_written_piece *p = sh4_written_at(w, sh4_canonical32(roots[i]));
        if (p && sh4_canonical32(roots[i]) - p->addr < p->size &&
            !(sh4_sites_code(w->code, roots[i]) & SH4_CODE_INSN))
            return true;
    }
    return w->changed;
}

static int search_written(struct sh4_target *t, struct err *err)
{
    struct sh4_written *w = &t->code.written;
    uint32_t roots[WRITTEN_ROOTS];
    size_t n = roots_of(t, roots);
    if (t->code.image || !w->n || !search_is_due(t, roots, n))
        return 0;
    struct image_section sections[ARRAY_LEN(w->piece)];
    struct image im = { .big_endian = t->base.big_endian,
                        .entry = t->regs.pc,
                        .sections = sections,
                        .nsections = w->n };
    for (size_t i = 0; i < w->n; i++)
        sections[i] = (struct image_section){ .name = "written",
                                              .addr = w->piece[i].addr,
                                              .size = w->piece[i].size,
                                              .data = w->piece[i].data,
                                              .code = true,
                                              .writable = true };
    if (!w->code && !(w->code = calloc(1, sizeof *w->code)))
        return err_set(err, ERR_NOMEM, "close other programs",
                       "search for VBR instructions: no memory");
    int ret = 0;
    if (t->code.vbr_patched)
        ret = sh4_image_patch(t, false, err);
    if (ret < 0)
        return ret;
    sh4_sites_fini(w->code);
    ret = search_image(&im, roots, n, w->code, err);
    if (ret == 0)
        ret = use_sites(t, &im, w->code, true, err);
    w->changed = ret < 0;
    return ret;
}

/* Our TRAPA, or our twin of a VBR instruction, where the image has another instruction. */
static bool left_behind(uint16_t now, uint16_t original)
{
    return now != original && (now == SH4_BREAK_INSN || now == sh4_dbr_twin(original));
}

static int undo_in_section(struct sh4_target *t, const struct image_section *s, struct err *err)
{
    uint8_t *now = malloc(EITHER(s->size, 1));
    if (!now)
        return err_set(err, ERR_NOMEM, "close other programs",
                       "patches of a stale session: no memory");
    /* not loaded: nothing to undo */
    int ret = 0;
    if (sh4_mem_read_raw(t, (uint32_t)s->addr, 0, now, s->size, NULL) < 0)
        ret = 1;
    for (uint64_t o = 0; ret == 0 && o + 2 <= s->size; o += 2) {
        uint16_t original = get16(s->data + o, t->code.image->big_endian);
        uint32_t addr = (uint32_t)(s->addr + o);
        struct sh4_patch *known = sh4_patch_at(t, addr);
        if (!known && !sh4_is_resident_agent(t, addr) &&
            left_behind(get16(now + o, t->base.big_endian), original))
            ret = sh4_agent_write_code(t, addr, &original, 1, err);
    }
    free(now);
    if (ret < 0)
        return ret;
    return 0;
}

int sh4_image_undo_stale(struct sh4_target *t, struct err *err)
{
    int ret = 0;
    if (!t->stale.patches || !t->code.image || t->code.vbr_patched)
        return 0;
    for (size_t i = 0; ret == 0 && i < t->code.image->nsections; i++) {
        const struct image_section *s = &t->code.image->sections[i];
        if (s->code && s->data)
            ret = undo_in_section(t, s, err);
    }
    t->stale.patches = ret < 0;
    if (ret < 0)
        return err_prefix(err, ret, "patches of a lost session");
    return 0;
}

/* A word that reads VBR-like may be data, or other code than the image's: only what is there
 * unchanged is touched. */
static int patch_site(struct sh4_target *t, struct sh4_patch *s, bool in_memory, struct err *err)
{
    uint32_t now;
    const uint16_t twin = sh4_dbr_twin(s->orig);
    uint16_t want = s->orig, other = twin;
    if (in_memory)
        want = twin, other = s->orig;
    if (sh4_is_resident_agent(t, s->addr))
        return 0;
    int ret = sh4_agent_try_read(t, s->addr, 2, &now, 1, err);
    if (ret > 0 && (uint16_t)now == other) {
        ret = sh4_agent_write_code(t, s->addr, &want, 1, err);
        if (ret == -ERR_FAULT)
            return 0;
        if (ret < 0)
            return ret;
        /* ROM drops the write: then the program sets the real VBR and our hooks come back at the
         * next resume. */
        ret = sh4_agent_try_read(t, s->addr, 2, &now, 1, err);
    }
    if (ret <= 0)
        return ret;
    s->in_memory = (uint16_t)now == twin;
    return 0;
}

int sh4_image_check(struct sh4_target *t, struct err *err)
{
    bool any = false;
    for (size_t i = 0; i < t->code.nvbr_sites; i++) {
        struct sh4_patch *s = &t->code.vbr_sites[i];
        uint32_t now;
        int ret = 0;
        if (s->in_memory)
            ret = sh4_agent_try_read(t, s->addr, 2, &now, 1, err);
        if (ret < 0)
            return err_prefix(err, ret, "VBR instructions");
        s->in_memory = ret > 0 && (uint16_t)now == sh4_dbr_twin(s->orig);
        any |= s->in_memory;
    }
    t->code.vbr_patched = any;
    return 0;
}

int sh4_image_patch(struct sh4_target *t, bool in_memory, struct err *err)
{
    int ret = 0;
    if (in_memory)
        ret = search_written(t, err);
    if (ret < 0)
        return ret;
    if (t->code.vbr_patched == in_memory)
        return 0;
    for (size_t i = 0; i < t->code.nvbr_sites; i++) {
        ret = patch_site(t, &t->code.vbr_sites[i], in_memory, err);
        if (ret < 0)
            return err_prefix(err, ret, "VBR instructions");
    }
    t->code.vbr_patched = in_memory;
    return 0;
}
