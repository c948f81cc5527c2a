/* What the simulated wire costs on this host: 32-bit DR scans a second with the core held (the wire
 * alone), with it spinning in the boot ROM (uncached), and with it polling SDDR from ASERAM as a
 * debug agent does, against the real time such scans take at 10 MHz TCK. */
#include <stdio.h>
#include <time.h>

#include "probe/base/bytes.h"
#include "probe/base/util.h"
#include "probe/probe.h"
#include "probe/sim.h"
#include "targets/sim/sh4/board.h"
#include "targets/sh4/isa/regs.h"

enum { BATCH = 1000, BATCHES = 200, TCK_PER_SCAN = 37 };

static double now_s(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + (double)t.tv_nsec * 1e-9;
}

static int run_ops(struct probe *p, const struct jtag_op *ops, size_t n)
{
    struct err err = { .code = ERR_OK };
    int ret = p->driver->jtag->execute(p, ops, n, &err);
    if (ret < 0)
        fprintf(stderr, "%s\n", err.what);
    return ret;
}

static int measure_command(struct probe *p, const char *name, enum sh4_hudi_ti command)
{
    static uint8_t words[BATCH][4];
    static struct jtag_op ops[BATCH];
    const uint8_t ir[2] = { 0xFF, (uint8_t)command };
    const struct jtag_op load = jtag_ir(SH4_IR_BITS, ir, NULL);
    for (size_t i = 0; i < BATCH; i++)
        ops[i] = jtag_dr(SH4_SDDR_BITS, words[i], words[i]);
    int ret = run_ops(p, &load, 1);
    double start = now_s();
    for (int i = 0; i < BATCHES && ret == 0; i++)
        ret = run_ops(p, ops, BATCH);
    double ns = (now_s() - start) * 1e9 / (BATCH * (double)BATCHES);
    printf("%-20s %8.0f scans/s  %7.1f ns/scan  %5.1f x the wire at 10 MHz\n", name, 1e9 / ns, ns,
           TCK_PER_SCAN * 100 / ns);
    return ret;
}

/* wait: mov.l @r7,r6; cmp/eq r6,r5; bt wait; add #1,r6; mov r6,r5; bra wait; mov.l r6,@r7: answers
 * each word with the next. Loaded and started the private way. */
static int start_poller(struct probe *p)
{
    static const uint16_t code[] = {
        0x6672, 0x3560, 0x89FC, 0x7601, 0x6563, 0xAFF9, 0x2762, 0x0009
    };
    static const uint16_t start[] = { 0xD701 /* mov.l @(4,pc),r7 */,
                                      0xA003 /* over the literal */,
                                      0x0009,
                                      0x0009,
                                      0x0008,
                                      0xFFF0 /* .long 0xFFF00008 */ };
    enum { BYTES = sizeof start + sizeof code };
    uint8_t words[1 + BYTES / 4][4] = { { 0, 0, (BYTES - 2) & 0xFF, (BYTES - 2) >> 8 } };
    static const uint8_t commands[] = { SH4_TI_ASERAM_WRITE, SH4_TI_RESET_ASSERT, SH4_TI_BOOT,
                                        SH4_TI_RESET_NEGATE };
    uint8_t ir[ARRAY_LEN(commands)][2];
    struct jtag_op ops[ARRAY_LEN(commands) + ARRAY_LEN(words)];
    size_t n = 0;
    for (size_t i = 0; i < ARRAY_LEN(start); i++)
        put_le16(words[1] + 2 * i, start[i]);
    for (size_t i = 0; i < ARRAY_LEN(code); i++)
        put_le16(words[1] + sizeof start + 2 * i, code[i]);
    for (size_t i = 0; i < ARRAY_LEN(commands); i++) {
        ir[i][0] = 0xFF;
        ir[i][1] = commands[i];
        ops[n++] = jtag_ir(SH4_IR_BITS, ir[i], NULL);
        for (size_t w = 0; i == 0 && w < ARRAY_LEN(words); w++)
            ops[n++] = jtag_dr(SH4_SDDR_BITS, words[w], NULL);
    }
    return run_ops(p, ops, n);
}

int main(void)
{
    const struct sim_board_type *const boards[] = { &sh4_board_sh7750, NULL };
    const struct probe_config cfg = { .boards = boards };
    const struct jtag_op reset = jtag_reset();
    struct err err = { .code = ERR_OK };
    struct probe *p;
    if (probe_open("sim:sh7750", &cfg, &p, &err) < 0) {
        fprintf(stderr, "%s\n", err.what);
        return 1;
    }
    int ret = run_ops(p, &reset, 1);
    if (ret == 0)
        ret = measure_command(p, "core held in reset", SH4_TI_RESET_ASSERT);
    if (ret == 0)
        ret = measure_command(p, "core in boot ROM", SH4_TI_RESET_NEGATE);
    if (ret == 0)
        ret = start_poller(p);
    if (ret == 0)
        ret = measure_command(p, "core polling SDDR", SH4_TI_RESET_NEGATE);
    probe_close(p);
    return ret < 0;
}
