#include "profiler/bridge/board_io.h"

#include <stdio.h>
#include <string.h>

#include "probe/base/util.h"

enum { BLOCK = 4096, FLASH_PIECE = 512, HALT_TRIES = 1000 };
static const uint64_t halt_poll_ns = 2000000;

static bool has_contents(const struct image_section *s) { return s->data && s->size; }

/* A section as it is loaded: addr is where. */
static struct image_section next_piece(const struct image *im, size_t k)
{
    struct image_section s = im->sections[k];
    s.addr = image_load_addr(im, k);
    return s;
}

static int check_cancelled(const struct board_io *io, struct err *err)
{
    if (io && io->cancelled && io->cancelled(io->ctx))
        return err_set(err, ERR_CANCELLED, "", "given up on request");
    return 0;
}

/* What is loaded, stage by stage. */
struct loading {
    const struct board_io *io;
    struct load_progress at;
};

static void begin_stage(struct loading *l, enum load_stage which, uint64_t total)
{
    l->at = (struct load_progress){ .stage = which, .total = total };
    if (l->io && l->io->tell)
        l->io->tell(l->io->ctx, &l->at);
}

static void advance_stage(struct loading *l, uint64_t bytes)
{
    l->at.done += bytes;
    if (l->io && l->io->tell)
        l->io->tell(l->io->ctx, &l->at);
}

/* ---- flash ---- */

/* The flash region a section lies in, or NULL. */
static const struct memory_region *flash_of(struct target *t, const struct image_section *s)
{
    if (!t->ops->memory_map || !t->ops->flash_erase)
        return NULL;
    const struct memory_region *map;
    size_t n = t->ops->memory_map(t, &map);
    for (size_t i = 0; i < n; i++)
        if (map[i].kind == MEMORY_FLASH && s->addr >= map[i].start &&
            s->addr - map[i].start < map[i].length)
            return &map[i];
    return NULL;
}

/* Sections may share a block: it is erased for the first one only. */
static bool erased_before(const struct image *im, size_t before, uint64_t block, uint32_t size)
{
    for (size_t i = 0; i < before; i++) {
        const struct image_section here = next_piece(im, i), *s = &here;
        if (has_contents(s) && s->addr < block + size && s->addr + s->size > block)
            return true;
    }
    return false;
}

static uint64_t first_block(const struct image_section *s, const struct memory_region *flash)
{
    return s->addr - (s->addr - flash->start) % flash->flash_block;
}

/* Of all sections in flash (or all elsewhere): bytes, and bytes of the blocks they lie in. */
static uint64_t count_bytes(struct target *t, const struct image *im, bool in_flash,
                            uint64_t *in_blocks)
{
    uint64_t bytes = 0;
    *in_blocks = 0;
    for (size_t i = 0; i < im->nsections; i++) {
        const struct image_section here = next_piece(im, i), *s = &here;
        if (!has_contents(s))
            continue;
        const struct memory_region *flash = flash_of(t, s);
        if (!flash != !in_flash)
            continue;
        bytes += s->size;
        if (!flash)
            continue;
        uint64_t end = s->addr + s->size;
        for (uint64_t block = first_block(s, flash); block < end; block += flash->flash_block)
            if (!erased_before(im, i, block, flash->flash_block))
                *in_blocks += flash->flash_block;
    }
    return bytes;
}

static int erase_section(struct target *t, const struct image *im, size_t which,
                         const struct memory_region *flash, struct loading *l, struct err *err)
{
    const struct image_section here = next_piece(im, which), *s = &here;
    uint32_t size = flash->flash_block;
    int ret = 0;
    for (uint64_t block = first_block(s, flash); ret >= 0 && block < s->addr + s->size;
         block += size)
        if (!erased_before(im, which, block, size)) {
            ret = check_cancelled(l->io, err);
            if (ret == 0)
                ret = t->ops->flash_erase(t, block, size, err);
            advance_stage(l, size);
        }
    return ret;
}

static int write_section(struct target *t, const struct image_section *s, struct loading *l,
                         struct err *err)
{
    int ret = 0;
    for (uint64_t at = 0; ret >= 0 && at < s->size; at += FLASH_PIECE) {
        uint64_t n = MIN(s->size - at, FLASH_PIECE);
        ret = check_cancelled(l->io, err);
        if (ret == 0)
            ret = t->ops->flash_write(t, s->addr + at, s->data + at, n, err);
        advance_stage(l, n);
    }
    return ret;
}

/* All blocks first, then all contents; the driver verifies. */
static int load_flash(struct target *t, const struct image *im, struct loading *l, struct err *err)
{
    uint64_t in_blocks, bytes = count_bytes(t, im, true, &in_blocks);
    int ret = 0;
    for (int round = 0; bytes && round < 2; round++) {
        begin_stage(l, round ? LOAD_WRITE : LOAD_ERASE, round ? bytes : in_blocks);
        for (size_t i = 0; ret >= 0 && i < im->nsections; i++) {
            const struct image_section here = next_piece(im, i), *s = &here;
            const struct memory_region *flash = NULL;
            if (has_contents(s))
                flash = flash_of(t, s);
            if (!flash)
                continue;
            ret = round ? write_section(t, s, l, err) : erase_section(t, im, i, flash, l, err);
            if (ret < 0)
                err_prefix(err, ret, s->name);
        }
    }
    if (ret < 0 || !bytes)
        return ret;
    begin_stage(l, LOAD_VERIFY, bytes);
    return t->ops->flash_done(t, err);
}

/* 1: the board holds this; 0: it may hold something else, and has to be read. */
static int memory_holds(struct target *t, uint64_t addr, const uint8_t *data, size_t n,
                        struct err *err)
{
    if (!t->ops->same_mem)
        return 0;
    return t->ops->same_mem(t, addr, data, n, err);
}

/* Written and read back, block by block. */
static int load_section(struct target *t, const struct image_section *s, struct loading *l,
                        struct err *err)
{
    uint8_t back[BLOCK];
    for (uint64_t at = 0; at < s->size; at += BLOCK) {
        size_t n = MIN(s->size - at, BLOCK);
        int ret = check_cancelled(l->io, err);
        if (ret == 0)
            ret = t->ops->write_mem(t, s->addr + at, 0, s->data + at, n, err);
        if (ret >= 0)
            ret = memory_holds(t, s->addr + at, s->data + at, n, err);
        bool same = ret > 0;
        if (ret == 0)
            ret = t->ops->read_mem(t, s->addr + at, 0, back, n, err);
        if (ret < 0)
            return err_prefix(err, ret, s->name);
        for (size_t i = 0; !same && i < n; i++)
            if (back[i] != s->data[at + i])
                return err_set(err, ERR_FAULT,
                               "is there RAM at this address on this board? check the link address",
                               "%s: 0x%08llx reads back %02x after writing %02x", s->name,
                               (unsigned long long)(s->addr + at + i), back[i], s->data[at + i]);
        advance_stage(l, n);
    }
    return 0;
}

static int set_pc(struct target *t, uint64_t pc, struct err *err)
{
    uint8_t bytes[4] = { 0 };
    unsigned size = t->ops->regs[t->ops->pc_reg].bytes; /* 4, or 3 on a CPU with 24-bit addresses */
    for (unsigned i = 0; i < size && i < sizeof bytes; i++)
        bytes[t->big_endian ? size - 1 - i : i] = (uint8_t)(pc >> (8 * i));
    return t->ops->write_reg(t, t->ops->pc_reg, bytes, err);
}

int board_load(struct target *t, const struct image *im, const struct board_io *io,
               uint64_t *loaded, struct err *err)
{
    struct loading l = { .io = io };
    uint64_t bytes = 0, blocks, elsewhere = count_bytes(t, im, false, &blocks);
    struct err why = { .code = ERR_OK };
    int ret = t->ops->reset(t, RESET_HALT, &why);
    /* then it starts from whatever state it is in */
    if (ret == -ERR_UNSUPPORTED && t->ops->state(t) != TARGET_DETACHED)
        ret = t->ops->state(t) == TARGET_RUNNING ? board_halt(t, err) : 0;
    else if (ret < 0 && err)
        *err = why;
    if (ret >= 0)
        ret = load_flash(t, im, &l, err);
    if (ret >= 0 && elsewhere)
        begin_stage(&l, LOAD_WRITE, elsewhere);
    for (size_t i = 0; ret >= 0 && i < im->nsections; i++) {
        const struct image_section here = next_piece(im, i);
        if (!has_contents(&here))
            continue;
        if (!flash_of(t, &here))
            ret = load_section(t, &here, &l, err);
        bytes += here.size;
    }
    if (ret >= 0)
        ret = set_pc(t, im->entry, err);
    if (ret >= 0 && t->ops->set_image)
        ret = t->ops->set_image(t, im, err);
    begin_stage(&l, LOAD_NONE, 0);
    if (ret < 0)
        return err_prefix(err, ret, "load");
    *loaded = bytes;
    return 0;
}

struct difference {
    uint64_t first, bytes, looked;
    const char *section;
};

/* The program does not write to this section, or only copies from it. */
static bool keeps_contents(const struct image *im, size_t k)
{
    const struct image_section *s = &im->sections[k];
    return has_contents(s) && (!s->writable || image_load_addr(im, k) != s->addr);
}

static int compare_block(struct target *t, const struct image_section *s, uint64_t at, size_t n,
                         struct difference *d, struct err *err)
{
    uint8_t have[BLOCK];
    int ret = memory_holds(t, s->addr + at, s->data + at, n, err);
    bool same = ret > 0;
    if (ret == 0)
        ret = t->ops->read_mem(t, s->addr + at, 0, have, n, err);
    if (ret < 0)
        return ret;
    d->looked += n;
    for (size_t i = 0; !same && i < n; i++) {
        if (have[i] == s->data[at + i])
            continue;
        if (d->bytes++ == 0) {
            d->first = s->addr + at + i;
            d->section = s->name;
        }
    }
    return 0;
}

uint64_t board_now_ns(struct target *t)
{
    if (!t->ops->now_ns)
        return 0;
    return t->ops->now_ns(t);
}

int board_halt(struct target *t, struct err *err)
{
    struct target_stop stop;
    int ret = t->ops->halt(t, err);
    for (int i = 0; ret == 0 && i < HALT_TRIES; i++)
        ret = t->ops->poll(t, halt_poll_ns, &stop, err);
    if (ret < 0)
        return ret;
    if (ret != 1)
        return err_set(err, ERR_TIMEOUT, "reset the board, or use --load",
                       "the program does not halt");
    return 0;
}

int board_compare(struct target *t, const struct image *im, const struct board_io *io,
                  uint64_t max_bytes, struct err *err)
{
    struct difference d = { 0 };
    uint64_t total = 0;
    for (size_t i = 0; i < im->nsections; i++)
        if (keeps_contents(im, i))
            total += im->sections[i].size;
    uint64_t every = total / max_bytes + 1; /* one block of so many */
    for (size_t i = 0; i < im->nsections; i++) {
        const struct image_section here = next_piece(im, i), *s = &here;
        if (!keeps_contents(im, i))
            continue;
        for (uint64_t at = 0; at < s->size; at += BLOCK * every) {
            int ret = check_cancelled(io, err);
            if (ret == 0)
                ret = compare_block(t, s, at, MIN(s->size - at, BLOCK), &d, err);
            if (ret < 0)
                return err_prefix(err, ret, "comparing the board's memory with the ELF");
        }
    }
    if (d.bytes == 0)
        return 0;
    return err_set(
        err, ERR_STATE,
        "--load puts the ELF onto the board; or name the ELF that runs there with --elf",
        "the board does not run %s: %llu of %llu bytes differ, the first at 0x%08llx in %s",
        im->path, (unsigned long long)d.bytes, (unsigned long long)d.looked,
        (unsigned long long)d.first, d.section);
}
