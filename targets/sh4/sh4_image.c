/* The program's VBR lives in DBR while our vectors are installed: its VBR instructions become their DBR twins. */
#include <stdlib.h>
#include <string.h>

#include "probe/base/bytes.h"
#include "probe/base/util.h"
#include "targets/sh4/sh4_priv.h"

/* LDC Rm,VBR 4m2E; LDC.L 4m27; STC VBR,Rn 0n22; STC.L 4n23. 0 if insn is none of them. */
static uint16_t twin(uint16_t insn)
{
    switch (insn & 0xF0FF) {
    case 0x402E: return (insn & 0xFF00) | 0xFA;
    case 0x4027: return (insn & 0xFF00) | 0xF6;
    case 0x0022: return (insn & 0xFF00) | 0xFA;
    case 0x4023: return (insn & 0xFF00) | 0xF2;
    default: return 0;
    }
}

static size_t find_sites(const struct image *im, struct sh4_patch *out, size_t cap)
{
    size_t n = 0;
    for (size_t i = 0; i < im->nsections; i++) {
        const struct image_section *s = &im->sections[i];
        for (uint64_t o = 0; s->code && s->data && o + 2 <= s->size; o += 2) {
            uint16_t insn = get16(s->data + o, im->big_endian);
            if (!twin(insn))
                continue;
            if (out && n < cap)
                out[n] = (struct sh4_patch){ .addr = (uint32_t)(s->addr + o), .orig = insn };
            n++;
        }
    }
    return n;
}

int sh4_set_image(struct target *target, const struct image *image, struct err *err)
{
    struct sh4_target *t = sh4_of(target);
    if (t->vbr_patched && t->state == TARGET_HALTED) {
        int ret = sh4_image_patch(t, false, err);
        if (ret < 0)
            return ret;
    }
    size_t n = image ? find_sites(image, NULL, 0) : 0;
    struct sh4_patch *sites = n ? calloc(n, sizeof *sites) : NULL;
    if (n && !sites)
        return err_set(err, ERR_NOMEM, "close other programs", "program image: no memory");
    if (n)
        find_sites(image, sites, n);
    free(t->vbr_sites);
    t->vbr_sites = sites;
    t->nvbr_sites = n;
    t->vbr_patched = false;
    t->image = image;
    return t->state == TARGET_HALTED ? sh4_image_undo_leftovers(t, err) : 0;
}

/* Our TRAPA, or our twin of a VBR instruction, where the image has another instruction. */
static bool left_behind(uint16_t now, uint16_t original)
{
    return now != original && (now == SH4_BREAK_INSN || now == twin(original));
}

static int undo_in_section(struct sh4_target *t, const struct image_section *s, struct err *err)
{
    uint8_t *now = malloc(s->size ? s->size : 1);
    if (!now)
        return err_set(err, ERR_NOMEM, "close other programs", "leftover patches: no memory");
    int ret = sh4_mem_read_raw(t, (uint32_t)s->addr, 0, now, s->size, NULL) < 0 ? 1 : 0; /* not loaded: nothing to undo */
    for (uint64_t o = 0; ret == 0 && o + 2 <= s->size; o += 2) {
        uint16_t original = get16(s->data + o, t->image->big_endian);
        uint32_t addr = (uint32_t)(s->addr + o);
        struct sh4_patch *known = sh4_patch_at(t, addr);
        if (!known && left_behind(get16(now + o, t->base.big_endian), original))
            ret = sh4_agent_write_code(t, addr, &original, 1, err);
    }
    free(now);
    return ret < 0 ? ret : 0;
}

int sh4_image_undo_leftovers(struct sh4_target *t, struct err *err)
{
    int ret = 0;
    if (!t->leftover || !t->image || t->vbr_patched)
        return 0;
    for (size_t i = 0; ret == 0 && i < t->image->nsections; i++) {
        const struct image_section *s = &t->image->sections[i];
        if (s->code && s->data)
            ret = undo_in_section(t, s, err);
    }
    t->leftover = ret < 0;
    return ret < 0 ? err_prefix(err, ret, "patches of a lost session") : 0;
}

/* A word that reads VBR-like may be data, or other code than the image's: only what is there unchanged is touched. */
static int patch_site(struct sh4_target *t, struct sh4_patch *s, bool in_memory, struct err *err)
{
    uint32_t now;
    uint16_t want = in_memory ? twin(s->orig) : s->orig, other = in_memory ? s->orig : twin(s->orig);
    if (sh4_agent_peek(t, s->addr, 2, &now, NULL) < 0)
        return 0;
    if ((uint16_t)now == other) {
        int ret = sh4_agent_write_code(t, s->addr, &want, 1, err);
        if (ret < 0)
            return ret == -ERR_FAULT ? 0 : ret;
        /* ROM drops the write: then the program sets the real VBR and our hooks come back at the next resume. */
        if (sh4_agent_peek(t, s->addr, 2, &now, NULL) < 0)
            return 0;
    }
    s->in_memory = (uint16_t)now == twin(s->orig);
    return 0;
}

int sh4_image_patch(struct sh4_target *t, bool in_memory, struct err *err)
{
    if (t->vbr_patched == in_memory)
        return 0;
    for (size_t i = 0; i < t->nvbr_sites; i++) {
        int ret = patch_site(t, &t->vbr_sites[i], in_memory, err);
        if (ret < 0)
            return err_prefix(err, ret, "VBR instructions");
    }
    t->vbr_patched = in_memory;
    return 0;
}
