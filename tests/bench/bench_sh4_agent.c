/* Where the target cycles of one trace event go: the agent on a bare core of the model, everything
 * in cache. usage: bench_sh4_agent [KIND]      with a kind (call, return, jump, pointer, interrupt,
 * rte): every instruction */
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include "probe/base/bytes.h"
#include "targets/sh4/agent/trace_blob.h"
#include "targets/sh4/isa/isa.h"
#include "tests/sh4_trace/rig.h"

enum { ROUNDS = 40, WARM = 20, AGENT_MAX = 0x1000, IRQ = 0x400 };
enum kind { CALL, RETURN, JUMP, POINTER, INTERRUPT, RTE, NKINDS };
static const char *const kind_name[] = { "call", "return", "jump", "pointer", "interrupt", "rte" };

static const char source[] = "main: mov #60,r9\n mov #0,r8\n"
                             "m_loop: mov.l l_f,r1\n jsr @r1\n add #1,r8\n" /* CALL, RETURN */
                             "bsr t\n nop\n"                                /* CALL, JUMP, RETURN */
                             "mov.l l_v,r2\n mov.l @r2,r3\n jsr @r3\n nop\n" /* POINTER, RETURN */
                             "m_irq: nop\n nop\n nop\n"
                             "dt r9\n bf m_loop\n nop\n"
                             "m_end: bra m_end\n nop\n"
                             ".align 2\n l_f: .long f\n l_v: .long v_ptr\n"
                             "f: rts\n nop\n"
                             "t: bra f\n nop\n"
                             ".align 2\n v_ptr: .long f\n";

struct tally {
    unsigned events, cycles;
    unsigned at[AGENT_MAX / 2]; /* cycles by halfword of the agent */
    unsigned trap, outside;
};

static enum kind kind_at(const struct rig *r, uint32_t pc)
{
    const struct sh4_site *s = sh4_sites_at(&r->sites, pc);
    if (!s)
        return RTE;
    switch (s->kind) {
    case SH4_SITE_RTS: return RETURN;
    case SH4_SITE_JSR: return s->has_target ? CALL : POINTER;
    case SH4_SITE_BSR: return CALL;
    default: return JUMP;
    }
}

static bool in_agent(const struct rig *r, uint32_t pc)
{
    uint32_t off = (pc & 0x1FFFFFFF) - (r->plan.base & 0x1FFFFFFF);
    return off < sh4_trace_blob.slots;
}

static void watch_agent(struct rig *r, struct tally t[NKINDS])
{
    uint32_t end = asm_label(r->prog, "m_end"), irq = asm_label(r->prog, "m_irq");
    unsigned rounds = 0;
    bool again = false; /* back from the interrupt */
    while (r->cpu.pc != end) {
        uint32_t from = r->cpu.pc;
        bool interrupt = from == irq && !again;
        again = again ? from != irq : interrupt;
        if (interrupt) {
            rounds++;
            sh4_cpu_set_irq(&r->cpu, 8, IRQ);
        }
        uint64_t before = r->cpu.cycle;
        sh4_cpu_step(&r->cpu);
        if (interrupt && !in_agent(r, r->cpu.pc)) { /* it is taken behind an instruction */
            before = r->cpu.cycle;
            sh4_cpu_step(&r->cpu);
        }
        sh4_cpu_set_irq(&r->cpu, 0, 0);
        if (!in_agent(r, r->cpu.pc))
            continue;
        struct tally *k = &t[interrupt ? INTERRUPT : kind_at(r, from)];
        unsigned on = rounds > WARM;
        k->events += on;
        k->trap += on * (unsigned)(r->cpu.cycle - before);
        while (in_agent(r, r->cpu.pc)) {
            uint32_t off = (r->cpu.pc & 0x1FFFFFFF) - (r->plan.base & 0x1FFFFFFF);
            uint64_t at = r->cpu.cycle;
            sh4_cpu_step(&r->cpu);
            k->at[off / 2] += on * (unsigned)(r->cpu.cycle - at);
        }
        k->cycles += on * (unsigned)(r->cpu.cycle - before);
    }
}

static void list_instructions(struct rig *r, const struct tally *k)
{
    printf("  trap or entry      %5.1f\n", (double)k->trap / k->events);
    for (uint32_t off = 0; off < sh4_trace_blob.slots; off += 2) {
        uint8_t b[2];
        char text[48];
        if (!k->at[off / 2] || !sh4_cpu_peek(&r->cpu, r->plan.base + off, b, 2))
            continue;
        printf("  %03x  %5.1f  %s\n", off, (double)k->at[off / 2] / k->events,
               sh4_disasm(le16(b), r->plan.base + off, false, false, text, sizeof text));
    }
}

int main(int argc, char **argv)
{
    static struct rig r;
    static struct asm_prog prog;
    static struct tally t[NKINDS];
    rig_open(&r, &prog, source, 0x23, 0x13);
    sh4_set_sr(&r.cpu, 0x40000000);
    uint8_t rte[4];
    put_le32(rte, 0x0009002B);
    sh4_cpu_poke(&r.cpu, RIG_VBR + 0x600, rte, 4);
    rig_arm(&r, &(struct sh4_trace_request){ 0 });
    watch_agent(&r, t);
    printf("cycles from the trap to the stub, from the interrupt to the program's handler; all in "
           "cache\n");
    for (int k = 0; k < NKINDS; k++) {
        if (t[k].events)
            printf("%-10s %6.1f\n", kind_name[k], (double)t[k].cycles / t[k].events);
        if (t[k].events && argc > 1 && !strcmp(argv[1], kind_name[k]))
            list_instructions(&r, &t[k]);
    }
    rig_close(&r);
    return 0;
}
