/* Instructions per second of the SH-4 core, caches and both counters on: an integer loop, a
 * memory-heavy one, an FPU one, the tutorial program, and any 32-bit little-endian SH ELF given as
 * argument (run from its entry). Seconds are of this process's CPU time. */
#include <elf.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "targets/sim/sh4/cpu.h"
#include "tests/sim_sh4/asm.h"

enum { RAM_SIZE = 16 << 20 };
#define CODE 0x8C010000u

struct rig {
    struct sh4_cpu cpu;
    uint8_t *ram;
};

static const char start_counters[] = /* elapsed cycles and instructions; caches on, copy-back */
    "  mov.l ccr,r0\n mov.l ccrv,r1\n mov.l r1,@r0\n"
    "  mov.l pmcr1,r0\n mov.l ev1,r1\n mov.w r1,@r0\n"
    "  mov.l pmcr2,r0\n mov.l ev2,r1\n mov.w r1,@r0\n"
    "  bra go\n nop\n .align 2\n"
    "ccr: .long 0xFF00001C\nccrv: .long 0x90D\n"
    "pmcr1: .long 0xFF000084\nev1: .long 0xC023\npmcr2: .long 0xFF000088\nev2: .long 0xC013\n"
    "  .align 5\ngo:\n";

static const char integer_loop[] =
    "  mov #0,r1\n mov #1,r2\n mov.l n,r4\n"
    "loop: add r2,r1\n xor r1,r3\n shll2 r3\n add #3,r2\n mov r3,r5\n and r1,r5\n"
    "  tst r5,r5\n bt skip\n sub r5,r6\n"
    "skip: dt r4\n bf loop\n mov.l n,r4\n bra loop\n nop\n .align 2\nn: .long 1000000\n";

static const char memory_loop[] = /* copies 64 KB with a checksum, byte, word and long accesses */
    "again: mov.l src,r1\n mov.l dst,r2\n mov.l n,r4\n"
    "loop: mov.l @r1+,r3\n add r3,r7\n mov.l r3,@r2\n mov.w @(2,r1),r0\n mov.b r0,@(5,r2)\n"
    "  mov.l @(4,r1),r5\n add #8,r2\n mov.l r5,@-r15\n mov.l @r15+,r6\n dt r4\n bf loop\n"
    "  bra again\n nop\n .align 2\nsrc: .long 0x8C100000\ndst: .long 0x8C201000\nn: .long 8192\n";

static const char fpu_loop[] =
    "  fldi1 fr0\n fldi1 fr1\n fldi0 fr2\n mov.l n,r4\n mov.l buf,r1\n fldi1 fr4\n"
    "loop: fadd fr0,fr2\n fmul fr4,fr1\n fmac fr0,fr1,fr3\n fmov.s fr3,@r1\n fmov.s @r1,fr5\n"
    "  fsub fr1,fr5\n fcmp/gt fr5,fr2\n dt r4\n bf loop\n mov.l n,r4\n fldi0 fr2\n fldi0 fr3\n bra "
    "loop\n nop\n"
    "  .align 2\nn: .long 1000000\nbuf: .long 0x8C100000\n";

static void rig_init(struct rig *r)
{
    struct sh4_config cfg = { .variant = SH4_VARIANT_7750 };
    r->ram = calloc(1, RAM_SIZE);
    struct sh4_bus bus = { .nwindows = 1,
                           .window = { { 0x0C000000, 0x04000000, r->ram, RAM_SIZE - 1, true } } };
    if (!r->ram || sh4_cpu_init(&r->cpu, &cfg, &bus) < 0)
        exit(1);
    r->cpu.r[15] = 0x8CFFF000;
}

static void rig_fini(struct rig *r)
{
    sh4_cpu_fini(&r->cpu);
    free(r->ram);
}

/* CPU time of this thread: other work on the machine does not count. */
static double now_s(void)
{
    struct timespec t;
    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &t);
    return (double)t.tv_sec + (double)t.tv_nsec / 1e9;
}

static void measure_program(struct rig *r, const char *name)
{
    sh4_cpu_run(&r->cpu, 1000000); /* warm */
    uint64_t insns = sh4_cpu_total(&r->cpu, 0x13), cycles = r->cpu.cycle;
    double t0 = now_s(), dt;
    do
        sh4_cpu_run(&r->cpu, r->cpu.cycle + 10000000);
    while ((dt = now_s() - t0) < 1.0);
    insns = sh4_cpu_total(&r->cpu, 0x13) - insns;
    cycles = r->cpu.cycle - cycles;
    printf("%-24s %8.1f M instructions/s  %8.1f M cycles/s  %.2f cycles/instruction  pc %08x\n",
           name, (double)insns / dt / 1e6, (double)cycles / dt / 1e6,
           insns ? (double)cycles / (double)insns : 0.0, r->cpu.pc);
}

static void bench_text(const char *name, const char *body)
{
    static struct asm_prog p;
    struct rig r;
    char src[4096];
    memset(&p, 0, sizeof p);
    snprintf(src, sizeof src, "%s%s", start_counters, body);
    asm_text(&p, CODE, src);
    rig_init(&r);
    memcpy(r.ram + (CODE & 0xFFFFFF), p.code, p.len);
    r.cpu.pc = CODE;
    measure_program(&r, name);
    rig_fini(&r);
}

static void bench_elf(const char *name, const char *path)
{
    static uint8_t image[4 << 20];
    struct rig r;
    FILE *f = fopen(path, "rb");
    size_t len = f ? fread(image, 1, sizeof image, f) : 0;
    const Elf32_Ehdr *eh = (const Elf32_Ehdr *)image;
    if (f)
        fclose(f);
    if (len < sizeof *eh || memcmp(eh->e_ident, ELFMAG, SELFMAG) != 0) {
        fprintf(stderr, "%s: no ELF file: give a linked SH program\n", path);
        return;
    }
    rig_init(&r);
    for (unsigned i = 0; i < eh->e_phnum; i++) {
        const Elf32_Phdr *ph = (const Elf32_Phdr *)(image + eh->e_phoff) + i;
        uint32_t at = ph->p_vaddr & 0xFFFFFF;
        if (ph->p_type == PT_LOAD && at + ph->p_filesz <= RAM_SIZE &&
            ph->p_offset + ph->p_filesz <= len)
            memcpy(r.ram + at, image + ph->p_offset, ph->p_filesz);
    }
    r.cpu.pc = eh->e_entry < 0x20000000 ? eh->e_entry | 0x80000000u : eh->e_entry;
    r.cpu.ccn.ccr = 0x105;
    r.cpu.pmc[0] = (struct sh4_pmc){ .pmcr = 0xC023, .running = true };
    r.cpu.pmc[1] = (struct sh4_pmc){ .pmcr = 0xC008, .running = true };
    measure_program(&r, name);
    rig_fini(&r);
}

int main(int argc, char **argv)
{
    bench_text("integer loop", integer_loop);
    bench_text("memory-heavy loop", memory_loop);
    bench_text("FPU loop", fpu_loop);
    bench_elf("profexam", SOURCE_DIR "/docs/examples/profexam/profexam.elf");
    for (int i = 1; i < argc; i++)
        bench_elf(argv[i], argv[i]);
    return 0;
}
