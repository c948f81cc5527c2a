/* Physical memory: windows, which are memory of the host, and the bus callbacks of the board. */
#include <string.h>

#include "probe/base/bytes.h"
#include "targets/sim/sh4/cpu_internal.h"

uint64_t sh4_get_bytes(const uint8_t *p, unsigned size, bool big)
{
    switch (size) {
    case 1: return *p;
    case 2: return get16(p, big);
    case 4: return get32(p, big);
    default:
        if (big)
            return (uint64_t)be32(p) << 32 | be32(p + 4);
        return le64(p);
    }
}

void sh4_put_bytes(uint8_t *p, unsigned size, uint64_t value, bool big)
{
    switch (size) {
    case 1: *p = (uint8_t)value; break;
    case 2: put16(p, (uint16_t)value, big); break;
    case 4: put32(p, (uint32_t)value, big); break;
    default:
        put32(p, (uint32_t)(big ? value >> 32 : value), big);
        put32(p + 4, (uint32_t)(big ? value : value >> 32), big);
    }
}

const struct sh4_window *sh4_find_window(const struct sh4_cpu *cpu, uint32_t paddr, unsigned len)
{
    for (unsigned i = 0; i < cpu->bus.nwindows; i++) {
        const struct sh4_window *w = &cpu->bus.window[i];
        if (paddr - w->base < w->size && w->size - (paddr - w->base) >= len)
            return w;
    }
    return NULL;
}

static uint8_t *window_byte(const struct sh4_window *w, uint32_t paddr)
{
    return w->host + ((paddr - w->base) & w->mask);
}

uint64_t sh4_phys_read(struct sh4_cpu *cpu, uint32_t paddr, unsigned size)
{
    const struct sh4_window *w = sh4_find_window(cpu, paddr, size);
    cpu->last_external = paddr;
    if (w)
        return sh4_get_bytes(window_byte(w, paddr), size, cpu->cfg.big);
    if (!cpu->bus.stable || !cpu->bus.stable(cpu->bus.ctx, paddr))
        cpu->fast->effects++;
    if (cpu->bus.read)
        return cpu->bus.read(cpu->bus.ctx, paddr, size);
    return 0;
}

void sh4_phys_write(struct sh4_cpu *cpu, uint32_t paddr, unsigned size, uint64_t value)
{
    const struct sh4_window *w = sh4_find_window(cpu, paddr, size);
    cpu->last_external = paddr;
    cpu->fast->effects++;
    if (w && w->writable)
        sh4_put_bytes(window_byte(w, paddr), size, value, cpu->cfg.big);
    else if (!w && cpu->bus.write)
        cpu->bus.write(cpu->bus.ctx, paddr, size, value);
}

void sh4_phys_read_line(struct sh4_cpu *cpu, uint32_t paddr, uint8_t line[LINE])
{
    const struct sh4_window *w = sh4_find_window(cpu, paddr, LINE);
    cpu->last_external = paddr;
    cpu->fast->effects++;
    if (w) {
        memcpy(line, window_byte(w, paddr), LINE);
        return;
    }
    for (unsigned i = 0; i < LINE; i += 8)
        sh4_put_bytes(line + i, 8, cpu->bus.read ? cpu->bus.read(cpu->bus.ctx, paddr + i, 8) : 0,
                      cpu->cfg.big);
}

void sh4_phys_write_line(struct sh4_cpu *cpu, uint32_t paddr, const uint8_t line[LINE])
{
    const struct sh4_window *w = sh4_find_window(cpu, paddr, LINE);
    cpu->last_external = paddr;
    cpu->fast->effects++;
    if (w && w->writable)
        memcpy(window_byte(w, paddr), line, LINE);
    for (unsigned i = 0; !w && cpu->bus.write && i < LINE; i += 8)
        cpu->bus.write(cpu->bus.ctx, paddr + i, 8, sh4_get_bytes(line + i, 8, cpu->cfg.big));
}
