/* sh4-sim-run IMAGE [MAX_INSTRUCTIONS]: a bare program on the CPU model, with the system calls of
 * GDB's sim/sh.
 *
 * IMAGE is a raw little-endian image loaded and entered at 0x0C010000. TRAPA #34 is served here,
 * outside the CPU: R4 = 1 exit(R5), 4 write(R5, R6, R7). Those tests also use FLDI0/FLDI1 with
 * FPSCR.PR=1, which the manual makes an illegal instruction: done here, outside the CPU, so that
 * the rest of such a test counts. Exit status: the program's, 124 when it runs too long, 125 on an
 * exception. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "probe/base/bytes.h"
#include "targets/sim/sh4/cpu.h"

enum {
    RAM = 0x0C000000,
    RAM_BYTES = 0x1000000,
    LOAD = 0x0C010000,
    LOW_BYTES = 0x10000,
    TRAPA_34 = 0xC322,
    SYS_EXIT = 1,
    SYS_WRITE = 4
};

struct sim {
    struct sh4_cpu cpu;
    uint8_t ram[RAM_BYTES];
    uint8_t low[LOW_BYTES]; /* those tests store at fixed low addresses */
    bool done;
    int status;
};

static uint64_t no_read(void *ctx, uint32_t addr, unsigned size)
{
    (void)ctx, (void)addr, (void)size;
    return 0;
}
static void no_write(void *ctx, uint32_t addr, unsigned size, uint64_t value)
{
    (void)ctx, (void)addr, (void)size, (void)value;
}

static void system_call(struct sim *s)
{
    struct sh4_cpu *c = &s->cpu;
    uint32_t at = c->r[6] - RAM, len = c->r[7];
    if (c->r[4] == SYS_EXIT) {
        s->done = true;
        s->status = (int)c->r[5];
    } else if (c->r[4] == SYS_WRITE && at < RAM_BYTES && len <= RAM_BYTES - at) {
        c->r[0] = (uint32_t)fwrite(s->ram + at, 1, len, c->r[5] == 2 ? stderr : stdout);
    } else {
        c->r[0] = ~0u;
    }
    c->pc += 2;
}

/* FLDI0 and FLDI1 in double precision mode; false: it is something else. */
static bool fldi_double(struct sim *s, uint16_t op)
{
    bool is_fldi = (op & 0xF0FF) == 0xF08D || (op & 0xF0FF) == 0xF09D;
    if (!is_fldi || !(s->cpu.fpscr >> 19 & 1))
        return false;
    s->cpu.fr[op >> 8 & 15] = op & 0x10 ? 0x3F800000 : 0;
    s->cpu.pc += 2;
    return true;
}

static int run_program(struct sim *s, unsigned long max)
{
    for (unsigned long n = 0; n < max && !s->done; n++) {
        uint8_t op[2] = { 0 };
        sh4_cpu_peek(&s->cpu, s->cpu.pc, op, sizeof op);
        if (le16(op) == TRAPA_34)
            system_call(s);
        else if (!fldi_double(s, le16(op)))
            sh4_cpu_step(&s->cpu);
        if (s->cpu.ccn.expevt) {
            fprintf(stderr, "exception %03x at %08x\n", s->cpu.ccn.expevt, s->cpu.spc);
            return 125;
        }
    }
    return s->done ? s->status : 124;
}

int main(int argc, char **argv)
{
    if (argc < 2) {
        fprintf(stderr, "usage: sh4-sim-run IMAGE [MAX_INSTRUCTIONS]\n");
        return 2;
    }
    struct sim *s = calloc(1, sizeof *s);
    FILE *f = fopen(argv[1], "rb");
    if (!s || !f) {
        perror(argv[1]);
        free(s);
        return 2;
    }
    bool read_ok = fread(s->ram + (LOAD - RAM), 1, RAM_BYTES - (LOAD - RAM), f) > 0;
    fclose(f);
    struct sh4_config cfg = { .variant = SH4_VARIANT_7091 };
    struct sh4_bus bus = {
        .window = { { .base = RAM,
                      .size = RAM_BYTES,
                      .host = s->ram,
                      .mask = RAM_BYTES - 1,
                      .writable = true },
                    { .base = 0,
                      .size = LOW_BYTES,
                      .host = s->low,
                      .mask = LOW_BYTES - 1,
                      .writable = true } },
        .nwindows = 2,
        .read = no_read,
        .write = no_write,
        .io_read = no_read,
        .io_write = no_write,
    };
    int status = 2;
    if (read_ok && sh4_cpu_init(&s->cpu, &cfg, &bus) == 0) {
        sh4_set_sr(&s->cpu, 0x400000F0);
        sh4_set_fpscr(&s->cpu, 0);
        s->cpu.pc = LOAD;
        status = run_program(s, argc > 2 ? strtoul(argv[2], NULL, 0) : 10000000);
        sh4_cpu_fini(&s->cpu);
    }
    free(s);
    return status;
}
