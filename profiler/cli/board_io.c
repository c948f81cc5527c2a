#include "profiler/cli/board_io.h"

#include <stdio.h>
#include <string.h>

#include "probe/base/bytes.h"
#include "probe/base/util.h"

enum { BLOCK = 4096, HALT_TRIES = 1000 };
static const uint64_t halt_poll_ns = 2000000;

static bool has_contents(const struct image_section *s) { return s->data && s->size; }

static int check_cancelled(const struct board_io *io, struct err *err)
{
    if (io && io->cancelled && io->cancelled(io->ctx))
        return err_set(err, ERR_CANCELLED, "", "given up on request");
    return 0;
}

static int load_section(struct target *t, const struct image_section *s, const struct board_io *io, struct err *err)
{
    uint8_t back[BLOCK];
    for (uint64_t at = 0; at < s->size; at += BLOCK) {
        size_t n = MIN(s->size - at, BLOCK);
        int ret = check_cancelled(io, err);
        if (ret == 0)
            ret = t->ops->write_mem(t, s->addr + at, 0, s->data + at, n, err);
        if (ret >= 0)
            ret = t->ops->read_mem(t, s->addr + at, 0, back, n, err);
        if (ret < 0)
            return err_prefix(err, ret, s->name);
        for (size_t i = 0; i < n; i++)
            if (back[i] != s->data[at + i])
                return err_set(err, ERR_FAULT, "is there RAM at this address on this board? check the link address",
                               "%s: 0x%08llx reads back %02x after writing %02x", s->name,
                               (unsigned long long)(s->addr + at + i), back[i], s->data[at + i]);
    }
    return 0;
}

static int set_pc(struct target *t, uint64_t pc, struct err *err)
{
    uint8_t bytes[4];
    put32(bytes, (uint32_t)pc, t->big_endian);
    return t->ops->write_reg(t, t->ops->pc_reg, bytes, err);
}

int board_load(struct target *t, const struct image *im, const struct board_io *io, uint64_t *loaded, struct err *err)
{
    uint64_t bytes = 0;
    int ret = t->ops->reset(t, RESET_HALT, err);
    for (size_t i = 0; ret >= 0 && i < im->nsections; i++) {
        if (!has_contents(&im->sections[i]))
            continue;
        ret = load_section(t, &im->sections[i], io, err);
        bytes += im->sections[i].size;
    }
    if (ret >= 0)
        ret = set_pc(t, im->entry, err);
    if (ret >= 0 && t->ops->set_image)
        ret = t->ops->set_image(t, im, err);
    if (ret < 0)
        return err_prefix(err, ret, "load");
    *loaded = bytes;
    return 0;
}

struct difference {
    uint64_t first, bytes, looked;
    const char *section;
};

static int compare_block(struct target *t, const struct image_section *s, uint64_t at, size_t n,
                         struct difference *d, struct err *err)
{
    uint8_t have[BLOCK];
    int ret = t->ops->read_mem(t, s->addr + at, 0, have, n, err);
    if (ret < 0)
        return ret;
    d->looked += n;
    for (size_t i = 0; i < n; i++) {
        if (have[i] == s->data[at + i])
            continue;
        if (d->bytes++ == 0) {
            d->first = s->addr + at + i;
            d->section = s->name;
        }
    }
    return 0;
}

int board_halt(struct target *t, struct err *err)
{
    struct target_stop stop;
    int ret = t->ops->halt(t, err);
    for (int i = 0; ret == 0 && i < HALT_TRIES; i++)
        ret = t->ops->poll(t, halt_poll_ns, &stop, err);
    if (ret < 0)
        return ret;
    return ret == 1 ? 0 : err_set(err, ERR_TIMEOUT, "reset the board, or use --load", "the program does not halt");
}

int board_compare(struct target *t, const struct image *im, const struct board_io *io, uint64_t max_bytes,
                  struct err *err)
{
    struct difference d = { 0 };
    uint64_t total = 0;
    for (size_t i = 0; i < im->nsections; i++)
        if (has_contents(&im->sections[i]) && !im->sections[i].writable)
            total += im->sections[i].size;
    uint64_t every = total / max_bytes + 1; /* one block of so many */
    for (size_t i = 0; i < im->nsections; i++) {
        const struct image_section *s = &im->sections[i];
        if (!has_contents(s) || s->writable)
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
    return err_set(err, ERR_STATE, "--load puts the ELF onto the board; or name the ELF that runs there with --elf",
                   "the board does not run %s: %llu of %llu bytes differ, the first at 0x%08llx in %s", im->path,
                   (unsigned long long)d.bytes, (unsigned long long)d.looked, (unsigned long long)d.first, d.section);
}
