/* Caches: code that the debugger writes is what the program will fetch; and small code of the
 * host's. */
#include <assert.h>

#include "probe/base/util.h"
#include "targets/sh4/driver/driver.h"
#include "targets/sh4/isa/regs.h"

uint32_t sh4_agent_uncached(const struct sh4_target *t)
{
    if (t->agent.layout == &sh4_agent_ase)
        return 0;
    return 0xA0000000u - (t->agent.base & 0xE0000000u);
}

/* Clears the I-cache lines that may hold addr: its entry, and the one that differs in bit 12, which
 * index mode (CCR.IIX) replaces. Writing V=0 through the address array costs at most a refill
 * elsewhere. */
static size_t invalidate_requests(struct sh4_target *t, uint32_t addr, struct sh4_request *req)
{
    for (uint32_t i = 0; i < 2; i++) {
        req[i] = sh4_agent_poke_request(t->agent.layout, 0xF0000000u | ((addr ^ i << 12) & 0x1FE0),
                                        t->agent.layout->st4, 0);
        req[i].routine += sh4_agent_uncached(t);
    }
    return 2;
}

size_t sh4_agent_coherent(struct sh4_target *t, uint32_t addr, size_t len, struct sh4_request *req)
{
    size_t k = 0;
    for (uint32_t line = addr & ~31u; line < addr + len; line += 32) {
        req[k++] = sh4_agent_poke_request(t->agent.layout, line, t->agent.layout->purge, 0);
        k += invalidate_requests(t, line, req + k);
    }
    return k;
}

int sh4_agent_write_code(struct sh4_target *t, uint32_t addr, const uint16_t *insn, size_t n,
                         struct err *err)
{
    enum { MOST = 16 };
    struct sh4_request req[MOST + 3 * (MOST / 2 + 2)];
    const struct sh4_agent_layout *a = t->agent.layout;
    if (!a || n > MOST || addr % 2)
        return err_set(err, ERR_STATE, "halt the target first",
                       "cannot write %zu instructions at %08x", n, addr);
    size_t k = 0;
    for (size_t i = 0; i < n; i++)
        req[k++] = sh4_agent_poke_request(a, addr + (uint32_t)(2 * i), a->st2, insn[i]);
    size_t stores = k;
    k += sh4_agent_coherent(t, addr, 2 * n, req + k);
    int ret = sh4_agent_before_write(t, addr, 2 * n, err);
    if (ret == 0)
        ret = sh4_agent_run(t, req, k, err);
    for (size_t i = 0; ret == 0 && i < stores; i++)
        if (req[i].status)
            ret = sh4_agent_fault(req[i].status, "write", 2, req[i].arg[0], err);
    return ret;
}

/* O-cache lines of a range written back and dropped, many a request. */
static int purge_lines(struct sh4_target *t, uint32_t addr, size_t len, struct err *err)
{
    const struct sh4_agent_layout *a = t->agent.layout;
    uint32_t lines[SH4_REQUEST_WORDS], first = addr & ~31u,
                                       n = (uint32_t)((addr + len - first + 31) / 32);
    while (n) {
        uint32_t part = MIN(n, MIN((uint32_t)SH4_REQUEST_WORDS, t->link.block));
        struct sh4_request req = { .routine = a->op_read - (uint32_t)a->ref_call,
                                   .arg = { first, a->purge - (uint32_t)a->ref_read, part },
                                   .in = lines,
                                   .nin = part };
        int ret = sh4_agent_run(t, &req, 1, err);
        if (sh4_agent_smaller_blocks(t, part, ret))
            continue;
        if (ret < 0)
            return ret;
        first += 32 * part;
        n -= part;
    }
    return 0;
}

int sh4_agent_before_write(struct sh4_target *t, uint32_t addr, size_t len, struct err *err)
{
    if (addr >> 29 != 5 || (addr & 0x1C000000) == 0x1C000000 || !t->agent.layout)
        return 0;
    return purge_lines(t, addr ^ 0x20000000, len, err);
}

int sh4_agent_sync_caches(struct sh4_target *t, uint32_t addr, size_t len, struct err *err)
{
    const struct sh4_agent_layout *a = t->agent.layout;
    uint32_t ccr;
    if (!a)
        return err_set(err, ERR_STATE, "halt the target first", "no agent is known on the target");
    /* More lines than the cache has: 16 KB of any memory purge all of it, but only these addresses
     * are ours. */
    int ret = purge_lines(t, addr, len, err);
    if (ret < 0)
        return ret;
    ret = sh4_agent_peek(t, SH4_CCR, 4, &ccr, err);
    if (ret < 0)
        return ret;
    /* CCR may only be written by code that is not cached: the RAM layout's poke runs at its P2
     * alias. */
    struct sh4_request req =
        sh4_agent_poke_request(a, SH4_CCR, a->st4, ccr | REG_MASK(SH4_CCR_ICI));
    req.routine += sh4_agent_uncached(t);
    return sh4_agent_run(t, &req, 1, err);
}

void sh4_code_words(const struct sh4_target *t, const uint16_t *code, size_t n, uint32_t *words)
{
    unsigned first = 0, second = 16;
    if (t->base.big_endian)
        first = 16, second = 0;
    assert(n % 2 == 0);
    for (size_t i = 0; i < n; i += 2)
        words[i / 2] = (uint32_t)code[i] << first | (uint32_t)code[i + 1] << second;
}

int sh4_agent_overlay(struct sh4_target *t, const uint32_t *words, size_t n, uint32_t *addr,
                      struct err *err)
{
    uint32_t at = t->agent.base + t->agent.layout->overlay;
    if (n > SH4_OVERLAY_WORDS)
        return err_set(err, ERR_RESOURCE, "", "overlay of %zu words", n);
    int ret = sh4_agent_write(t, at, 4, words, n, err);
    if (ret == 0 && t->agent.layout != &sh4_agent_ase) {
        struct sh4_request req[3 * (SH4_OVERLAY_WORDS / 8 + 2)];
        ret = sh4_agent_run(t, req, sh4_agent_coherent(t, at, 4 * n, req), err);
    }
    *addr = at;
    return ret;
}
