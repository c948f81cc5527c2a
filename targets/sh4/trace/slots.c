/* RTE slots: code that is interrupted while the trace is armed returns through them: when the
 * handler ends or, in a system of tasks, when its task runs again. That may be long after the trace
 * has ended, and even after another one has begun. */
#include <stdbool.h>
#include <string.h>

#include "probe/base/bytes.h"
#include "probe/base/util.h"
#include "targets/sh4/agent/trace_blob.h"
#include "targets/sh4/isa/regs.h"
#include "targets/sh4/trace/trace.h"
#include "targets/sh4/trace/stubs.h"

enum { JUMP = 4, JUMP_HALVES = JUMP + 2, SLOT = 16 };
/* mov.l r0,@-r15; mov.l 8f,r0; jmp @r0; mov.l @r15+,r0; 8: .long */
static const uint16_t far_jump[JUMP] = { 0x2F06, 0xD001, 0x402B, 0x60F6 };

bool sh4_trace_in_slot(const struct sh4_trace *tr, uint32_t pc)
{
    uint32_t first = tr->plan.base + sh4_trace_blob.slots;
    return (pc & SH4_PHYS) - (first & SH4_PHYS) < SH4_TRACE_SLOTS * SLOT;
}

int sh4_trace_slots_leave(struct sh4_target *t, uint32_t base, struct err *err)
{
    const struct sh4_trace_blob *b = &sh4_trace_blob;
    uint32_t spc[SH4_TRACE_SLOTS];
    int ret = sh4_agent_read(t, base + b->slot_spc, 4, spc, ARRAY_LEN(spc), err);
    for (unsigned i = 0; ret == 0 && i < ARRAY_LEN(spc); i++) {
        if (!spc[i])
            continue;
        uint16_t hi = (uint16_t)(spc[i] >> 16), lo = (uint16_t)spc[i], code[JUMP_HALVES];
        memcpy(code, far_jump, sizeof far_jump);
        code[JUMP] = lo;
        code[JUMP + 1] = hi;
        if (t->base.big_endian) {
            code[JUMP] = hi;
            code[JUMP + 1] = lo;
        }
        ret = sh4_agent_write_code(t, base + b->slots + SLOT * i, code, ARRAY_LEN(code), err);
    }
    return ret;
}

/* It was interrupted in a stub of the earlier trace, whose RAM is used again. The rest of the stub
 * runs elsewhere, as it is position independent. */
static int keep_rest(struct sh4_trace *tr, uint32_t *at, struct err *err)
{
    struct sh4_trace_room *room = &tr->plan.room;
    uint32_t words[SH4_STUB_MAX / 4], from = *at & ~3u;
    if (!sh4_trace_of_agents(tr, *at))
        return 0;
    if (room->stub < room->special + sizeof words)
        return err_set(
            err, ERR_STATE,
            "stop interrupts for a moment, or give the agent more RAM: --agent-ram ADDR:BYTES",
            "a task of the program stands in what an earlier trace has left behind");
    int ret = sh4_agent_read(tr->t, from, 4, words, ARRAY_LEN(words), err);
    room->stub -= sizeof words;
    for (size_t i = 0; ret == 0 && i < ARRAY_LEN(words); i++)
        put32(tr->plan.image + room->stub + 4 * i, words[i], tr->t->base.big_endian);
    *at = ((tr->plan.base + room->stub) & SH4_PHYS) | (*at & ~SH4_PHYS) | (*at & 3);
    return ret;
}

int sh4_trace_slots_found(struct sh4_trace *tr, struct err *err)
{
    uint32_t words[SH4_TRACE_SLOTS * SLOT / 4];
    uint8_t jump[2 * JUMP];
    bool big = tr->t->base.big_endian;
    int ret = sh4_agent_read(tr->t, tr->plan.base + sh4_trace_blob.slots, 4, words,
                             ARRAY_LEN(words), err);
    for (unsigned k = 0; k < JUMP; k++)
        put16(jump + 2 * k, far_jump[k], big);
    for (unsigned i = 0; ret == 0 && i < SH4_TRACE_SLOTS; i++) {
        const uint32_t *w = words + i * SLOT / 4;
        bool left = w[0] == get32(jump, big) && w[1] == get32(jump + 4, big);
        tr->slot_left[i] = 0;
        if (left)
            tr->slot_left[i] = w[2];
        if (left)
            ret = keep_rest(tr, &tr->slot_left[i], err);
    }
    return ret;
}

int sh4_trace_slots_put(struct sh4_trace *tr, struct err *err)
{
    return sh4_trace_put(tr, sh4_trace_blob.slot_spc, tr->slot_left, ARRAY_LEN(tr->slot_left), err);
}
