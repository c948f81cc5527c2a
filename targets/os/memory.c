/* Reading memory that may be anything. */
#include <string.h>

#include "probe/base/util.h"
#include "targets/address.h"
#include "targets/os/tasks_priv.h"

uint32_t tasks_symbol(const struct image *im, const char *name)
{
    char with[64] = "_";
    uint64_t at;
    if (!name || !im->lookup)
        return 0;
    strncat(with, name, sizeof with - 2);
    if (im->lookup(im, name, &at) || im->lookup(im, with, &at))
        return (uint32_t)at;
    return 0;
}

bool tasks_in_ram(const struct tasks_os *os, uint32_t addr, uint32_t bytes)
{
    uint32_t phys = addr & ADDRESS_PHYSICAL;
    return addr % 4 == 0 && addr < 0xE0000000 && phys >= os->ram_low && phys < os->ram_high &&
           bytes <= os->ram_high - phys;
}

int tasks_words(const struct tasks_memory *m, uint32_t addr, uint32_t *w, size_t n, struct err *err)
{
    int ret = m->words(m->ctx, addr, w, n, err);
    if (ret == -ERR_FAULT)
        return 0;
    if (ret < 0)
        return ret;
    return 1;
}

int tasks_two_words(const struct tasks_memory *m, uint32_t a, uint32_t b, uint32_t out[2],
                    struct err *err)
{
    uint32_t w[NEAR / 4 + 1];
    if (b - a <= NEAR) {
        int ret = tasks_words(m, a, w, (b - a) / 4 + 1, err);
        out[0] = w[0];
        out[1] = w[(b - a) / 4];
        return ret;
    }
    int ret = tasks_words(m, a, &out[0], 1, err);
    if (ret <= 0)
        return ret;
    return tasks_words(m, b, &out[1], 1, err);
}

bool tasks_name(const struct tasks *t, const uint32_t *w, char *name)
{
    for (size_t i = 0; i < TASKS_NAME; i++) {
        unsigned shift = 8 * (t->im->big_endian ? 3 - i % 4 : i % 4);
        name[i] = (char)(w[i / 4] >> shift);
        if (!name[i])
            return i > 0;
        if ((unsigned char)name[i] < ' ' || name[i] == 0x7F)
            return false;
    }
    name[TASKS_NAME - 1] = 0;
    return TASKS_NAME < t->os->name_bytes;
}
