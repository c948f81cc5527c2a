/* The board through its pins: TAP, H-UDI, resets, time, faults; and what a program on it finds on
 * its buses. Expectations from the SH7750 manual's H-UDI section as collected, and from board.h. */
#include <fcntl.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

#include "probe/base/bytes.h"
#include "probe/base/util.h"
#include "probe/jtag.h"
#include "targets/sim/sh4/board_priv.h"
#include "targets/sh4/isa/regs.h"
#include "tests/sim_sh4/asm.h"

#define UNWRITTEN 0xA5A5A5A5u /* in ASERAM after power-on */

static struct board *make_board(const char *options)
{
    struct sim_board *sb = NULL;
    struct err err = { .code = ERR_OK };
    if (sh4_board_sh7750.create(options, NULL, &sb, &err) < 0)
        fail_msg("%s: %s", options, err.what);
    return CONTAINER_OF(sb, struct board, base);
}
static void drop_board(struct board *b) { b->base.type->destroy(&b->base); }

/* ---- the wire, bit by bit ---- */

static int pulse_tck(struct board *b, unsigned tms, unsigned tdi, unsigned *tdo)
{
    uint8_t m = (uint8_t)tms, d = (uint8_t)tdi, o = 0;
    int ret = b->base.type->clock(&b->base, 1, &m, &d, &o, NULL);
    if (tdo)
        *tdo = o & 1;
    return ret;
}
static void walk_path(struct board *b, const char *tms)
{
    for (; *tms; tms++)
        pulse_tck(b, *tms == '1', 0, NULL);
}
static uint64_t shift_bits(struct board *b, uint64_t in, unsigned bits)
{
    uint64_t out = 0;
    for (unsigned i = 0; i < bits; i++) {
        unsigned tdo;
        pulse_tck(b, i == bits - 1, in >> i & 1, &tdo);
        out |= (uint64_t)tdo << i;
    }
    walk_path(b, "10");
    return out;
}
static uint64_t ir_scan(struct board *b, uint64_t in, unsigned bits)
{
    walk_path(b, "1100");
    return shift_bits(b, in, bits);
}
static uint64_t dr_scan(struct board *b, uint64_t in, unsigned bits)
{
    walk_path(b, "100");
    return shift_bits(b, in, bits);
}
static void scan_command(struct board *b, enum sh4_hudi_ti ti)
{
    ir_scan(b, (uint64_t)ti << 8 | 0xFF, 16);
}
static void reset_tap(struct board *b) { walk_path(b, "111110"); }
static void wait_us(struct board *b, unsigned us)
{
    b->base.type->advance(&b->base, us * 1000ull, NULL);
}
static unsigned board_pins(struct board *b)
{
    unsigned value, known;
    assert_int_equal(b->base.type->get_pins(&b->base, &value, &known, NULL), 0);
    return value;
}
static void set_pin(struct board *b, unsigned pin, bool level)
{
    assert_int_equal(b->base.type->set_pins(&b->base, pin, level ? pin : 0, NULL), 0);
}

/* ---- programs ---- */

static struct asm_prog *assemble_at(uint32_t origin, const char *src, bool big)
{
    static struct asm_prog p;
    p = (struct asm_prog){ .big = big };
    asm_text(&p, origin, src);
    return &p;
}
/* Assembles to RAM (uncached view) and points the core at it. */
static void start_program(struct board *b, const char *src)
{
    const struct asm_prog *p = assemble_at(0xAC001000, src, b->opt.big);
    memcpy(b->ram + 0x1000, p->code, p->len);
    b->cpu.pc = 0xAC001000;
}
static void load_aseram(struct board *b, const char *src)
{
    const struct asm_prog *p = assemble_at(SH4_ASERAM, src, b->opt.big);
    uint32_t bytes = (uint32_t)((p->len + 3) & ~3u);
    scan_command(b, SH4_TI_ASERAM_WRITE);
    dr_scan(b, (uint64_t)(bytes - 2) << 16, 32);
    for (uint32_t i = 0; i < bytes; i += 4)
        dr_scan(b, get32(p->code + i, b->opt.big), 32);
    scan_command(b, SH4_TI_RESET_NEGATE);
}
static uint32_t ram_word(const struct board *b, uint32_t at)
{
    return get32(b->ram + at, b->opt.big);
}

/* ---- TAP ---- */

static void tap__after_reset__ir_16_bits_capturing_01_and_bypass_1_bit(void **state)
{
    (void)state;
    struct board *b = make_board("");
    reset_tap(b);
    uint64_t out = ir_scan(b, 0x0000FFFFFFFFull, 48); /* 32 ones, then zeros */
    assert_int_equal(out & 3, 1);
    assert_int_equal(out >> 16, 0xFFFFFFFF); /* what went in comes out 16 bits later */
    reset_tap(b);
    assert_int_equal(b->hudi.sdir, 0xFFFF);
    assert_int_equal(dr_scan(b, 0xB5A5, 32), 0xB5A5ull << 1); /* one bit late, captured as 0 */
    drop_board(b);
}

static void tap__pause_in_a_scan__loses_nothing(void **state)
{
    (void)state;
    struct board *b = make_board("private=off");
    reset_tap(b);
    scan_command(b, SH4_TI_RESET_NEGATE);
    walk_path(b, "100");
    uint64_t in = 0xCAFEBABE;
    for (unsigned i = 0; i < 16; i++)
        pulse_tck(b, i == 15, in >> i & 1, NULL);
    walk_path(b, "000"
                 "10"); /* Pause-DR for a while, Exit2, Shift again */
    for (unsigned i = 16; i < 32; i++)
        pulse_tck(b, i == 31, in >> i & 1, NULL);
    walk_path(b, "10");
    assert_int_equal(b->hudi.sddr, in);
    drop_board(b);
}

static void sddr__host_and_program__see_each_others_words(void **state)
{
    (void)state;
    static const char *const orders[] = { "le", "be" };
    for (size_t i = 0; i < ARRAY_LEN(orders); i++) {
        struct board *b = make_board(orders[i]);
        start_program(
            b,
            "  mov.l sddr,r1\n  mov.l @r1,r0\nloop: mov.l @r1,r2\n  cmp/eq r0,r2\n  bt loop\n"
            "  not r2,r0\n  mov.l r0,@r1\n  bra loop\n  nop\n  .align 2\nsddr: .long 0xFFF00008\n");
        reset_tap(b);
        scan_command(b, SH4_TI_RESET_NEGATE);
        dr_scan(b, 0x12345678, 32);
        wait_us(b, 10);
        assert_int_equal(dr_scan(b, 0x0000FFFE, 32), ~0x12345678u);
        wait_us(b, 10);
        assert_int_equal(dr_scan(b, 0, 32), ~0x0000FFFEu);
        drop_board(b);
    }
}

static void sddr__16_bit_halves_and_sdir__as_the_manual_lists_them(void **state)
{
    (void)state;
    struct board *b = make_board("");
    start_program(
        b, "  mov.l sdir,r1\n  mov.w @r1,r2\n  mov.l sddr,r1\n  mov.w @r1,r3\n  mov.w @(2,r1),r0\n"
           "  mov r0,r4\n  mov #0x55,r0\n  mov.w r0,@(2,r1)\nstop: bra stop\n  nop\n  .align 2\n"
           "sdir: .long 0xFFF00000\nsddr: .long 0xFFF00008\n");
    b->hudi.sddr = 0x12345678;
    b->hudi.sdir = 0x60FF;
    wait_us(b, 10);
    assert_int_equal(b->cpu.r[2], 0x60FF);
    assert_int_equal(b->cpu.r[3], 0x1234);
    assert_int_equal(b->cpu.r[4], 0x5678);
    assert_int_equal(b->hudi.sddr, 0x12340055);
    drop_board(b);
}

/* ---- resets and ASE ---- */

static void hudi_reset__assert_and_negate__core_held_then_from_the_start(void **state)
{
    (void)state;
    struct board *b = make_board("");
    reset_tap(b);
    wait_us(b, 10);
    scan_command(b, SH4_TI_RESET_ASSERT);
    uint32_t pc = b->cpu.pc;
    uint64_t cycle = b->cpu.cycle;
    wait_us(b, 100);
    assert_true(b->cpu.held);
    assert_int_equal(b->cpu.pc, pc);
    assert_true(b->cpu.cycle > cycle); /* time goes on */
    b->cpu.r[15] = 1;
    scan_command(b, SH4_TI_RESET_NEGATE);
    assert_int_equal(b->cpu.ccn.expevt, 0);
    wait_us(b, 10);
    assert_int_equal(b->cpu.r[15], 0x8D000000);
    assert_int_equal(sh4_get_sr(&b->cpu), 0x400000F0);
    drop_board(b);
}

static void nreset_pin__low_then_high__power_on_reset_and_tap_untouched(void **state)
{
    (void)state;
    struct board *b = make_board("");
    reset_tap(b);
    scan_command(b, SH4_TI_RESET_NEGATE);
    start_program(b, "stop: bra stop\n  nop\n");
    wait_us(b, 1);
    set_pin(b, JTAG_PIN_NRESET, false);
    assert_int_equal(board_pins(b) & JTAG_PIN_NRESET, 0);
    wait_us(b, 10);
    assert_true(b->cpu.held);
    set_pin(b, JTAG_PIN_NRESET, true);
    wait_us(b, 10);
    assert_int_equal(b->cpu.pc >> 16, 0xA000);
    assert_int_equal(b->hudi.sdir >> 8, SH4_TI_RESET_NEGATE);
    drop_board(b);
}

static void ase_boot__kernel_in_aseram__runs_at_reset_exit_and_pin_is_low(void **state)
{
    (void)state;
    static const char *const orders[] = { "le", "be" };
    for (size_t i = 0; i < ARRAY_LEN(orders); i++) {
        struct board *b = make_board(orders[i]);
        reset_tap(b);
        assert_true(board_pins(b) & JTAG_PIN_ASEBRK);
        load_aseram(
            b,
            "  mov.l word,r0\n  mov.l sddr,r1\n  mov.l r0,@r1\nstop: bra stop\n  nop\n  .align 2\n"
            "word: .long 0x600DCAFE\nsddr: .long 0xFFF00008\n");
        scan_command(b, SH4_TI_RESET_ASSERT);
        scan_command(b, SH4_TI_BOOT);
        scan_command(b, SH4_TI_RESET_NEGATE);
        wait_us(b, 10);
        assert_int_equal(dr_scan(b, 0, 32), 0x600DCAFE);
        assert_false(board_pins(b) & JTAG_PIN_ASEBRK);
        assert_int_equal(b->cpu.spc, 0xA0000000);
        assert_int_equal(b->cpu.ssr, SH4_SR_RESET);
        scan_command(b, SH4_TI_RESET_ASSERT); /* the latch is used up */
        scan_command(b, SH4_TI_RESET_NEGATE);
        wait_us(b, 10);
        assert_true(board_pins(b) & JTAG_PIN_ASEBRK);
        assert_int_equal(b->cpu.pc >> 24, 0xA0);
        drop_board(b);
    }
}

static void ase_boot__tlr_before_reset_exit__latch_is_cleared(void **state)
{
    (void)state;
    struct board *b = make_board("");
    reset_tap(b);
    scan_command(b, SH4_TI_RESET_ASSERT);
    scan_command(b, SH4_TI_BOOT);
    set_pin(b, JTAG_PIN_NTRST, false);
    set_pin(b, JTAG_PIN_NTRST, true);
    reset_tap(b);
    scan_command(b, SH4_TI_RESET_NEGATE);
    wait_us(b, 10);
    assert_false(b->cpu.in_ase);
    drop_board(b);
}

static void ntrst__held_low__tap_does_not_move(void **state)
{
    (void)state;
    struct board *b = make_board("");
    reset_tap(b);
    set_pin(b, JTAG_PIN_NTRST, false);
    scan_command(b, SH4_TI_RESET_ASSERT);
    assert_int_equal(b->hudi.sdir, 0xFFFF);
    assert_int_equal(board_pins(b) & JTAG_PIN_NTRST, 0);
    drop_board(b);
}

static void ase_break__whatever_bl__enters_aseram_and_rte_goes_back(void **state)
{
    (void)state;
    for (int by_pin = 0; by_pin < 2; by_pin++) {
        struct board *b = make_board("");
        reset_tap(b);
        load_aseram(b, "  mov.l sddr,r7\nwait: mov.l @r7,r6\n  tst r6,r6\n  bt wait\n  rte\n  "
                       "nop\n  .align 2\n"
                       "sddr: .long 0xFFF00008\n");
        start_program(b, "loop: bra loop\n  add #1,r8\n"); /* SR.BL is still set: reset state */
        b->cpu.r[8] = 0;
        b->cpu.r[15] = 0x8C100000;
        wait_us(b, 10);
        if (by_pin)
            set_pin(b, JTAG_PIN_ASEBRK, false);
        else
            scan_command(b, SH4_TI_BREAK);
        wait_us(b, 1);
        assert_true(b->cpu.in_ase);
        assert_int_equal(b->cpu.pc >> 24, 0xFC);
        assert_int_equal(b->cpu.spc, 0xAC001000); /* the branch, never its slot */
        assert_int_equal(b->cpu.sgr, 0x8C100000);
        uint32_t r8 = b->cpu.r[8];
        wait_us(b, 10);
        assert_int_equal(b->cpu.r[8], r8);
        scan_command(b, SH4_TI_RESET_NEGATE); /* not held: no effect */
        dr_scan(b, 1, 32);
        wait_us(b, 10);
        assert_false(b->cpu.in_ase);
        assert_true(b->cpu.r[8] > r8);
        drop_board(b);
    }
}

static void private_off__break_boot_status_aseram__plain_sddr(void **state)
{
    (void)state;
    struct board *b = make_board("private=off");
    reset_tap(b);
    start_program(b, "stop: bra stop\n  nop\n");
    scan_command(b, SH4_TI_ASERAM_WRITE);
    dr_scan(b, 0x00020000, 32);
    dr_scan(b, 0xDEADBEEF, 32);
    assert_int_equal(get32(b->cpu.aseram, false), UNWRITTEN);
    assert_int_equal(b->hudi.sddr, 0xDEADBEEF);
    scan_command(b, SH4_TI_BREAK);
    set_pin(b, JTAG_PIN_ASEBRK, false);
    wait_us(b, 10);
    assert_false(b->cpu.in_ase);
    scan_command(b, SH4_TI_STATUS);
    dr_scan(b, SH4_STATUS_SR << 3, 32);
    assert_int_equal(dr_scan(b, 0, 32), SH4_STATUS_SR << 3);
    drop_board(b);
}

static void aseram_write__range_and_restart__only_announced_words_land(void **state)
{
    (void)state;
    struct board *b = make_board("");
    reset_tap(b);
    scan_command(b, SH4_TI_ASERAM_WRITE);
    dr_scan(b, 0x02A6u << 16 | 0x02A0, 32); /* two words at 0x2A0 */
    for (uint32_t i = 1; i <= 3; i++)
        dr_scan(b, 0x11111111 * i, 32);
    assert_int_equal(get32(b->cpu.aseram + 0x2A0, false), 0x11111111);
    assert_int_equal(get32(b->cpu.aseram + 0x2A4, false), 0x22222222);
    assert_int_equal(get32(b->cpu.aseram + 0x2A8, false), UNWRITTEN);
    scan_command(b, SH4_TI_ASERAM_WRITE);
    dr_scan(b, 0x03FEu << 16 | 0x03FC, 32); /* a new header */
    dr_scan(b, 0x44444444, 32);
    assert_int_equal(get32(b->cpu.aseram + 0x3FC, false), 0x44444444);
    drop_board(b);
}

static void status_read__selectors__show_the_running_core(void **state)
{
    (void)state;
    struct board *b = make_board("");
    reset_tap(b);
    start_program(
        b,
        "  mov.l at,r1\nloop: mov.l @r1,r2\n  bra loop\n  nop\n  .align 2\nat: .long 0xAC300000\n");
    wait_us(b, 10);
    scan_command(b, SH4_TI_STATUS);
    dr_scan(b, SH4_STATUS_SR << 3, 32);
    assert_int_equal(dr_scan(b, SH4_STATUS_FETCH << 3, 32), sh4_get_sr(&b->cpu));
    uint32_t fetch = (uint32_t)dr_scan(b, SH4_STATUS_OPERAND << 3, 32);
    assert_in_range(fetch, 0xAC001000, 0xAC00100A);
    assert_int_equal(dr_scan(b, SH4_STATUS_FPSCR << 3, 32), 0xAC300000);
    assert_int_equal(dr_scan(b, SH4_STATUS_FRQCR << 3, 32), SH4_FPSCR_RESET);
    assert_int_equal(dr_scan(b, SH4_STATUS_EVENTS << 3, 32), 0x0E0A);
    b->cpu.ccn.expevt = 0x160;
    b->cpu.ccn.intevt = 0x400;
    assert_int_equal(dr_scan(b, SH4_STATUS_ASID << 3, 32), 0x04000160);
    b->cpu.ccn.pteh = 0x12345642;
    assert_int_equal(dr_scan(b, 0, 32), 0x42);
    uint64_t moved = b->cpu.cycle;
    wait_us(b, 1);
    assert_true(b->cpu.cycle > moved); /* it never stopped */
    drop_board(b);
}

static void hudi_interrupt__priority_above_mask__one_interrupt_each(void **state)
{
    (void)state;
    struct board *b = make_board("");
    reset_tap(b);
    start_program(
        b, "  mov.l vbr,r0\n  ldc r0,vbr\n  mov.l iprc,r1\n  mov #2,r0\n  mov.w r0,@r1\n  mov.l "
           "sr,r0\n"
           "  mov #0,r8\n  ldc r0,sr\nloop: bra loop\n  nop\n  .align 2\n"
           "vbr: .long 0xAC001000\niprc: .long 0xFFD0000C\nsr: .long 0x40000010\n"
           "  .org 0xAC001600\n  add #1,r8\n  mov.l intevt,r0\n  mov.l @r0,r9\n  rte\n  nop\n  "
           ".align 2\n"
           "intevt: .long 0xFF000028\n");
    wait_us(b, 10);
    assert_int_equal(b->cpu.r[8], 0);
    scan_command(b, SH4_TI_INTERRUPT);
    wait_us(b, 10);
    assert_int_equal(b->cpu.r[8], 1);
    assert_int_equal(b->cpu.r[9], 0x600);
    ir_scan(b, 0xBF00, 16); /* 101x xxxx */
    wait_us(b, 10);
    assert_int_equal(b->cpu.r[8], 2);
    drop_board(b);
}

/* ---- time ---- */

static void clock__tck_and_wait__cost_cycles_at_the_ratio(void **state)
{
    (void)state;
    struct board *b = make_board("tck=8000000,cpu=160000000");
    uint8_t zeros[125] = { 0 }, out[125];
    assert_int_equal(b->base.type->now_ns(&b->base), 0);
    assert_int_equal(b->base.type->clock(&b->base, 1000, zeros, zeros, out, NULL), 0);
    assert_int_equal(b->base.type->now_ns(&b->base), 125000);
    wait_us(b, 7);
    assert_int_equal(b->base.type->now_ns(&b->base), 132000);
    board_pins(b);
    assert_in_range(b->cpu.cycle, 132 * 160, 132 * 160 + 40);
    /* a quarter of the CPU clock */
    assert_int_equal(b->base.type->set_tck_hz(&b->base, 1000000000), 40000000);
    drop_board(b);
}

static void clock__same_bits_in_other_pieces__same_cycles_and_words(void **state)
{
    (void)state;
    enum { N = 6000 };
    static uint8_t tms[N / 8], tdi[N / 8], out[2][N / 8];
    uint64_t cycle[2];
    uint32_t pc[2], rnd = 12345;
    memset(tms, 0, sizeof tms);
    for (unsigned i = 0; i < N / 8; i++)
        tdi[i] = (uint8_t)((rnd = rnd * 1664525 + 1013904223) >> 24);
    /* DR scans of 32 bits and some idling, no multiple of 8 */
    for (unsigned i = 0; i + 40 < N; i += 40) {
        unsigned at[] = { i, i + 34, i + 35 };
        for (size_t k = 0; k < ARRAY_LEN(at); k++)
            tms[at[k] / 8] |= (uint8_t)(1u << at[k] % 8);
    }
    for (int run = 0; run < 2; run++) {
        struct board *b = make_board("");
        reset_tap(b);
        scan_command(b, SH4_TI_RESET_NEGATE);
        start_program(
            b,
            "  mov.l sddr,r1\nloop: mov.l @r1,r2\n  add #3,r2\n  mov.l r2,@r1\n  bra loop\n  nop\n"
            "  .align 2\nsddr: .long 0xFFF00008\n");
        size_t step = run ? 1000 : N; /* whole bytes */
        for (size_t i = 0; i < N; i += step)
            assert_int_equal(b->base.type->clock(&b->base, step, tms + i / 8, tdi + i / 8,
                                                 out[run] + i / 8, NULL),
                             0);
        board_pins(b);
        cycle[run] = b->cpu.cycle;
        pc[run] = b->cpu.pc;
        drop_board(b);
    }
    assert_memory_equal(out[0], out[1], sizeof out[0]);
    assert_int_equal(cycle[0], cycle[1]);
    assert_int_equal(pc[0], pc[1]);
}

/* ---- what a program finds ---- */

static void memory__aliases_rom_and_nothing__as_the_map_says(void **state)
{
    (void)state;
    struct board *b = make_board("");
    start_program(
        b, "  mov.l ram,r1\n  mov.l word,r0\n  mov.l r0,@r1\n  mov.l alias,r1\n  mov.l @r1,r2\n"
           "  mov.l p0,r1\n  mov.l @r1,r3\n  mov.l rom,r1\n  mov.l @r1,r4\n  mov.l r0,@r1\n  "
           "mov.l @r1,r5\n"
           "  mov.l flash,r1\n  mov.l @r1,r6\n  mov.l none,r1\n  mov.l @r1,r7\n  mov.l r7,@r1\n  "
           "mov.b @r1,r8\n"
           "stop: bra stop\n  nop\n  .align 2\n"
           "ram: .long 0xAC200000\nword: .long 0xC001D00D\nalias: .long 0xAF200000\np0: .long "
           "0x0D200000\n"
           "rom: .long 0xA0000000\nflash: .long 0xA0200000\nnone: .long 0xA4001234\n");
    wait_us(b, 20);
    assert_int_equal(ram_word(b, 0x200000), 0xC001D00D);
    assert_int_equal(b->cpu.r[2], 0xC001D00D);
    assert_int_equal(b->cpu.r[3], 0xC001D00D);
    assert_int_equal(b->cpu.r[4], le32(b->rom));
    assert_int_equal(b->cpu.r[5], b->cpu.r[4]);
    assert_int_equal(b->cpu.r[6], 0xFFFFFFFF);
    assert_int_equal(b->cpu.r[7], 0xFFFFFFFF);
    assert_int_equal(b->cpu.r[8], 0xFFFFFFFF); /* sign-extended */
    assert_int_equal(b->nothing_reads, 2);
    assert_int_equal(b->nothing_writes, 1);
    assert_int_equal(b->nothing_first, 0x04001234);
    drop_board(b);
}

static void memory__sh7091__video_ram_in_two_views_and_sound_ram(void **state)
{
    static const char *const orders[] = { "le", "be" };
    (void)state;
    for (size_t i = 0; i < ARRAY_LEN(orders); i++) {
        struct sim_board *sb = NULL;
        struct err err = { .code = ERR_OK };
        if (sh4_board_sh7091.create(orders[i], NULL, &sb, &err) < 0)
            fail_msg("%s: %s", orders[i], err.what);
        struct board *b = CONTAINER_OF(sb, struct board, base);
        /* 64-bit view: words 0 and 1 of a pair are in banks 0 and 1; bank 1 starts 4 MB up in the
         * 32-bit view. */
        start_program(
            b, "  mov.l v64,r1\n  mov.l one,r0\n  mov.l r0,@(8,r1)\n  mov.l two,r0\n  mov.l "
               "r0,@(12,r1)\n"
               "  mov.l v32,r1\n  mov.l @(4,r1),r2\n  mov.l bank,r3\n  mov.l @(4,r3),r3\n  mov.w "
               "@(6,r1),r0\n  mov r0,r4\n"
               "  mov.b @(5,r1),r0\n  mov r0,r5\n  mov #-1,r0\n  mov.b r0,@(4,r1)\n  mov.l "
               "v64,r1\n  mov.l @(8,r1),r6\n"
               "  mov.l sound,r1\n  mov.l r2,@r1\n  mov.l @r1,r7\n"
               "stop: bra stop\n  nop\n  .align 2\n"
               "v64: .long 0xA4000000\nv32: .long 0xA5000000\nbank: .long 0xA5400000\nsound: "
               ".long 0xA0800100\n"
               "one: .long 0x11223344\ntwo: .long 0x55667788\n");
        wait_us(b, 20);
        bool big = b->opt.big;
        assert_int_equal(b->cpu.r[2], 0x11223344);
        assert_int_equal(b->cpu.r[3], 0x55667788);
        assert_int_equal(b->cpu.r[4], big ? 0x3344 : 0x1122);
        assert_int_equal(b->cpu.r[5], big ? 0x22 : 0x33);
        assert_int_equal(b->cpu.r[6], big ? 0xFF223344 : 0x112233FF);
        assert_int_equal(b->cpu.r[7], 0x11223344);
        assert_int_equal(get32(b->sound + 0x100, big), 0x11223344);
        assert_int_equal(b->nothing_reads + b->nothing_writes, 0);
        drop_board(b);
    }
}

static void registers__versions_storage_and_unknown__answered(void **state)
{
    (void)state;
    struct board *b = make_board("");
    start_program(
        b, "  mov.l pvr,r1\n  mov.l @r1,r2\n  mov.l bcr,r1\n  mov.l word,r0\n  mov.l r0,@r1\n  "
           "mov.l @r1,r3\n"
           "  mov.l odd,r1\n  mov.l @r1,r4\n  mov.l mode,r1\n  mov.b r0,@r1\nstop: bra stop\n  "
           "nop\n  .align 2\n"
           "pvr: .long 0xFF000030\nbcr: .long 0xFF800000\nword: .long 0x12345678\nodd: .long "
           "0xFF800100\n"
           "mode: .long 0xFF940110\n");
    wait_us(b, 20);
    assert_int_equal(b->cpu.r[2] >> 8 & 0xFFFF, 0x0205);
    assert_int_equal(b->cpu.r[3], 0x12345678);
    assert_int_equal(b->unknown_regs, 1);
    assert_int_equal(b->unknown_first, 0xFF800100);
    drop_board(b);
}

static void tmu__underflow_interrupt__at_the_period(void **state)
{
    (void)state;
    struct board *b = make_board("");
    start_program(
        b, "  mov.l vbr,r0\n  ldc r0,vbr\n  mov.l ipra,r1\n  mov.l prio,r0\n  mov.w r0,@r1\n  "
           "mov.l tmu,r1\n"
           "  mov.l count,r0\n  mov.l r0,@(8,r1)\n  mov.l r0,@(12,r1)\n  mov #0x20,r0\n  mov.w "
           "r0,@(16,r1)\n"
           "  mov #0,r8\n  mov #1,r0\n  mov.b r0,@(4,r1)\n  mov.l sr,r0\n  ldc r0,sr\nloop: bra "
           "loop\n  nop\n"
           "  .align 2\nvbr: .long 0xAC001000\nipra: .long 0xFFD00004\nprio: .long 0x5000\n"
           "tmu: .long 0xFFD80000\ncount: .long 1249\nsr: .long 0x40000040\n"
           "  .org 0xAC001600\n  add #1,r8\n  mov.l tcr,r0\n  mov #0x20,r9\n  mov.w r9,@r0\n  "
           "mov.w @r0,r9\n"
           "  rte\n  nop\n  .align 2\ntcr: .long 0xFFD80010\n");
    /* 50 MHz / 4 / 1250 = 10 kHz */
    wait_us(b, 100150);
    assert_in_range(b->cpu.r[8], 1000, 1001);
    uint32_t at = b->cpu.r[8];
    wait_us(b, 100000);
    assert_int_equal(b->cpu.r[8] - at, 1000);
    drop_board(b);
}

static void wdt__overflow_in_watchdog_mode__resets_the_core_and_says_so(void **state)
{
    (void)state;
    struct board *b = make_board("");
    start_program(
        b, "  mov.l wt,r1\n  mov.l cnt,r0\n  mov.w r0,@r1\n  mov.l csr,r0\n  mov.w r0,@(4,r1)\n"
           "stop: bra stop\n  nop\n  .align 2\nwt: .long 0xFFC00008\ncnt: .long 0x5A00\ncsr: "
           ".long 0xA5C0\n");
    wait_us(b, 100); /* 256 * 32 / 50 MHz = 164 us */
    assert_int_equal(b->cpu.pc >> 24, 0xAC);
    wait_us(b, 100);
    assert_int_equal(b->cpu.pc >> 24, 0xA0);
    assert_true(b->wdt.wtcsr & REG_MASK(SH4_WTCSR_WOVF));
    drop_board(b);
}

static void wdt__ase_mode__stands_still(void **state)
{
    (void)state;
    struct board *b = make_board("");
    reset_tap(b);
    load_aseram(b, "stop: bra stop\n  nop\n");
    start_program(
        b, "  mov.l wt,r1\n  mov.l csr,r0\n  mov.w r0,@(4,r1)\nstop: bra stop\n  nop\n  .align 2\n"
           "wt: .long 0xFFC00008\ncsr: .long 0xA5C0\n");
    wait_us(b, 100);
    scan_command(b, SH4_TI_BREAK);
    wait_us(b, 1);
    uint8_t count = b->wdt.wtcnt;
    assert_true(count > 0);
    wait_us(b, 100000);
    assert_int_equal(b->wdt.wtcnt, count);
    assert_true(b->cpu.in_ase);
    drop_board(b);
}

static void scif__file__receives_what_the_program_sends(void **state)
{
    (void)state;
    char name[] = "/tmp/probeprof-scif-XXXXXX", options[64], text[16] = "";
    int fd = mkstemp(name);
    assert_true(fd >= 0);
    snprintf(options, sizeof options, "serial=file:%s", name);
    struct board *b = make_board(options);
    start_program(
        b,
        "  mov.l scif,r1\n  mov #0,r0\n  mov.b r0,@(4,r1)\n  mov #0x20,r0\n  mov.w r0,@(8,r1)\n"
        "  mova msg,r0\n  mov r0,r2\n  mov #6,r3\nnext: mov.b @r2+,r0\n  mov.b r0,@(12,r1)\n  dt "
        "r3\n"
        "  bf next\nstop: bra stop\n  nop\n  .align 2\nscif: .long 0xFFE80000\n"
        "msg: .long 0x6C6C6548\n .word 0x0A6F\n");
    wait_us(b, 1000);
    assert_int_equal(b->scif.sent, 6);
    assert_int_equal(read(fd, text, sizeof text), 6);
    assert_string_equal(text, "Hello\n");
    drop_board(b);
    close(fd);
    unlink(name);
}

static void scif__pty__line_works_both_ways_and_the_link_goes_away(void **state)
{
    (void)state;
    char dir[] = "/tmp/probeprof-pty-XXXXXX", link[64], options[96], got[8] = "";
    assert_non_null(mkdtemp(dir));
    snprintf(link, sizeof link, "%s/line", dir);
    snprintf(options, sizeof options, "serial=pty:%s", link);
    struct board *b = make_board(options);
    int fd = open(link, O_RDWR | O_NOCTTY | O_NONBLOCK);
    assert_true(fd >= 0);
    /* echoes each character plus one */
    start_program(
        b,
        "  mov.l scif,r1\n  mov #0,r0\n  mov.b r0,@(4,r1)\n  mov #0x30,r0\n  mov.w r0,@(8,r1)\n"
        "  mov.l count,r2\n  mov.l data,r4\nwait: mov.w @r2,r3\n  mov #31,r0\n  and r3,r0\n  tst "
        "r0,r0\n  bt wait\n"
        "  mov.b @r4,r0\n  add #1,r0\n  mov.b r0,@(12,r1)\n  bra wait\n  nop\n  .align 2\n"
        "scif: .long 0xFFE80000\ncount: .long 0xFFE8001C\ndata: .long 0xFFE80014\n");
    assert_int_equal(write(fd, "GDL", 3), 3);
    for (int i = 0; i < 100 && b->scif.sent < 3; i++)
        wait_us(b, 100);
    wait_us(b, 1000);
    assert_int_equal(read(fd, got, sizeof got), 3);
    assert_memory_equal(got, "HEM", 3);
    close(fd);
    drop_board(b);
    assert_int_equal(access(link, F_OK), -1);
    assert_int_equal(rmdir(dir), 0);
}

static void nmi__pin_at_a_time__taken_with_every_mask_once(void **state)
{
    (void)state;
    struct board *b = make_board("nmi=50");
    start_program(
        b, "  mov.l vbr,r0\n  ldc r0,vbr\n  mov #0,r8\n  mov.l sr,r0\n  ldc r0,sr\nloop: bra "
           "loop\n  nop\n  .align 2\n"
           "vbr: .long 0xAC001000\nsr: .long 0x400000F0\n"
           "  .org 0xAC001600\n  add #1,r8\n  mov.l intevt,r0\n  mov.l @r0,r9\n  rte\n  nop\n  "
           ".align 2\n"
           "intevt: .long 0xFF000028\n");
    wait_us(b, 49);
    assert_int_equal(b->cpu.r[8], 0);
    wait_us(b, 100);
    assert_int_equal(b->cpu.r[8], 1);
    assert_int_equal(b->cpu.r[9], SH4_INT_NMI);
    assert_true(b->intc.nmi_pin);
    drop_board(b);
}

static void bootrom__power_on__idles_with_exceptions_open(void **state)
{
    (void)state;
    static const char *const orders[] = { "le", "be" };
    for (size_t i = 0; i < ARRAY_LEN(orders); i++) {
        struct board *b = make_board(orders[i]);
        wait_us(b, 100);
        assert_int_equal(sh4_get_sr(&b->cpu), 0x400000F0);
        assert_int_equal(b->cpu.r[15], 0x8D000000);
        assert_int_equal(b->cpu.pc & 0xFFFFFF00, 0xA0000000);
        assert_int_equal(b->nothing_reads + b->nothing_writes + b->unknown_regs, 0);
        drop_board(b);
    }
}

/* ---- faults and options ---- */

static void faults__each__looks_from_outside_as_described(void **state)
{
    (void)state;
    struct err err = { .code = ERR_OK };
    struct board *b = make_board("fault=no-power");
    reset_tap(b);
    assert_int_equal(ir_scan(b, 0xFFFF, 16), 0);
    assert_int_equal(board_pins(b) & JTAG_PIN_VTREF, 0);
    drop_board(b);
    b = make_board("fault=stuck-tdo");
    reset_tap(b);
    assert_int_equal(ir_scan(b, 0, 16), 0xFFFF);
    assert_true(board_pins(b) & JTAG_PIN_VTREF);
    drop_board(b);
    b = make_board("fault=wrong-ir");
    reset_tap(b);
    assert_int_equal(ir_scan(b, 0x1F, 37) >> 5 & 0x1F, 0x1F); /* five bits, not sixteen */
    drop_board(b);
    b = make_board("fault=no-clock");
    reset_tap(b);
    assert_int_equal(ir_scan(b, 0x60FF, 16) & 3, 1);
    uint32_t pc = b->cpu.pc;
    wait_us(b, 100);
    assert_int_equal(b->cpu.pc, pc);
    assert_int_equal(b->base.type->now_ns(&b->base) > 100000, true);
    drop_board(b);
    b = make_board("fault=silent");
    reset_tap(b);
    scan_command(b, SH4_TI_BREAK);
    wait_us(b, 100);
    assert_false(b->cpu.in_ase);
    drop_board(b);
    b = make_board("fault=no-power@50"); /* in the middle of a session */
    reset_tap(b);
    assert_int_equal(ir_scan(b, 0xFFFF, 16) & 3, 1);
    ir_scan(b, 0xFFFF, 32);
    assert_int_equal(ir_scan(b, 0xFFFF, 16), 0);
    assert_int_equal(board_pins(b), 0);
    drop_board(b);
    b = make_board("fault=unplug@100");
    uint8_t bits[16] = { 0 };
    /* as a whole */
    assert_int_equal(b->base.type->clock(&b->base, 128, bits, bits, NULL, &err), -ERR_USB);
    assert_int_equal(pulse_tck(b, 1, 0, NULL), -ERR_USB); /* and for good */
    assert_int_equal(b->base.type->reopen(&b->base, &err), -ERR_USB);
    drop_board(b);
    b = make_board("fault=unplug@100");
    int ret = 0, n = 0;
    for (; n < 200 && ret == 0; n++)
        ret = pulse_tck(b, 1, 0, NULL);
    assert_int_equal(ret, -ERR_USB);
    assert_int_equal(n, 101);
    assert_int_equal(
        b->base.type->clock(&b->base, 1, (const uint8_t *)"", (const uint8_t *)"", NULL, &err),
        -ERR_USB);
    assert_string_not_equal(err.hint, "");
    drop_board(b);
}

static void fault_power__times_given__board_starts_anew_afterwards(void **state)
{
    (void)state;
    struct board *b = make_board("fault=no-power@2ms+3ms");
    const struct sim_board_type *type = b->base.type;
    unsigned pins, known;
    uint8_t bits[8] = { 0 }, tdo[8];
    b->ram[0x1234] = 0x55;
    wait_us(b, 1900);
    uint64_t before = sh4_cpu_total(&b->cpu, 0x13);
    assert_true(before > 0);
    assert_int_equal(type->get_pins(&b->base, &pins, &known, NULL), 0);
    assert_true(pins & JTAG_PIN_VTREF);
    wait_us(b, 1000);
    assert_int_equal(type->get_pins(&b->base, &pins, &known, NULL), 0);
    assert_false(pins & JTAG_PIN_VTREF);
    memset(tdo, 0xFF, sizeof tdo);
    assert_int_equal(type->clock(&b->base, 64, bits, bits, tdo, NULL), 0);
    assert_memory_equal(tdo, bits, sizeof tdo);
    assert_int_equal(b->ram[0x1234], 0x55);
    uint64_t at = type->now_ns(&b->base);
    wait_us(b, 3000);
    assert_true(type->now_ns(&b->base) >= at + 3000000);
    assert_int_equal(type->get_pins(&b->base, &pins, &known, NULL), 0);
    assert_true(pins & JTAG_PIN_VTREF);
    assert_int_equal(b->ram[0x1234], 0);
    assert_int_equal(b->cpu.ccn.expevt, 0);
    assert_true(sh4_cpu_total(&b->cpu, 0x13) > 0);
    drop_board(b);
}

static void fault_power__sh7091__sound_and_video_memory_are_lost(void **state)
{
    (void)state;
    struct sim_board *sb = NULL;
    assert_int_equal(sh4_board_sh7091.create("fault=no-power@2ms+3ms", NULL, &sb, NULL), 0);
    struct board *b = CONTAINER_OF(sb, struct board, base);
    b->sound[0x1234] = b->video[0x1234] = 0x55;
    wait_us(b, 3000);
    assert_int_equal(b->sound[0x1234] & b->video[0x1234], 0x55);
    wait_us(b, 3000);
    assert_int_equal(b->sound[0x1234] | b->video[0x1234], 0);
    drop_board(b);
}

static void fault_unplug__times_given__must_be_opened_again(void **state)
{
    (void)state;
    struct board *b = make_board("fault=unplug@2ms+150ms");
    const struct sim_board_type *type = b->base.type;
    uint8_t bits[8] = { 0 };
    struct err err = { .code = ERR_OK };
    b->ram[0x1234] = 0x55;
    assert_int_equal(type->clock(&b->base, 64, bits, bits, NULL, &err), 0);
    wait_us(b, 3000);
    assert_int_equal(type->clock(&b->base, 64, bits, bits, NULL, &err), -ERR_USB);
    assert_int_equal(type->reopen(&b->base, &err), -ERR_USB); /* takes 100 ms, too early */
    wait_us(b, 100000);
    /* there again, but not open */
    assert_int_equal(type->clock(&b->base, 64, bits, bits, NULL, &err), -ERR_USB);
    assert_int_equal(type->reopen(&b->base, &err), 0);
    assert_int_equal(type->clock(&b->base, 64, bits, bits, NULL, &err), 0);
    assert_int_equal(b->ram[0x1234], 0x55); /* the board did not notice */
    drop_board(b);
}

static void fault_power__period_given__comes_again(void **state)
{
    (void)state;
    struct board *b = make_board("fault=no-power@2ms+3ms/10ms");
    unsigned pins, known;
    for (unsigned ms = 1; ms < 60; ms++) { /* it is `ms` now */
        wait_us(b, 1000);
        assert_int_equal(b->base.type->get_pins(&b->base, &pins, &known, NULL), 0);
        if (ms % 10 != 2 && ms % 10 != 5) /* not at the edges themselves */
            assert_int_equal(!(pins & JTAG_PIN_VTREF), ms % 10 > 2 && ms % 10 < 5);
    }
    drop_board(b);
}

static void fault_silent__ase_boot__comes_up_in_the_boot_rom(void **state)
{
    (void)state;
    struct board *b = make_board("fault=silent");
    reset_tap(b);
    scan_command(b, SH4_TI_RESET_ASSERT);
    scan_command(b, SH4_TI_BOOT);
    scan_command(b, SH4_TI_RESET_NEGATE);
    wait_us(b, 10);
    assert_false(b->cpu.in_ase);
    drop_board(b);
}

static void bootrom__listing__assembles_to_the_words_in_rom(void **state)
{
    (void)state;
    struct board *b = make_board("");
    const struct asm_prog *p =
        assemble_at(0xA0000000,
                    "  mov.l sr,r0\n  ldc r0,sr\n  mov.l stack,r15\nidle: bra idle\n  nop\n"
                    "  .org 0xA0000010\nstack: .long 0x8D000000\nsr: .long 0x400000F0\n"
                    "  .org 0xA0000100\na: bra a\n  nop\n  .org 0xA0000400\nb: bra b\n  nop\n"
                    "  .org 0xA0000600\nc: bra c\n  nop\n",
                    false);
    for (size_t i = 0; i < p->len; i += 2) {
        uint16_t have = le16(b->rom + i), want = le16(p->code + i);
        if (have != 0 && have != want) /* .org fills with what it likes */
            fail_msg("%04zx: %04x, listing %04x", i, have, want);
    }
    assert_int_equal(le32(b->rom + 0x10), 0x8D000000);
    assert_int_equal(le16(b->rom + 0x600), 0xAFFE);
    drop_board(b);
}

static void fault_noise__seeded__flips_about_one_in_n_the_same_every_time(void **state)
{
    (void)state;
    enum { BYTES = 4000 };
    static uint8_t zeros[BYTES], out[2][BYTES];
    for (int run = 0; run < 2; run++) {
        struct board *b = make_board("fault=noise@100");
        reset_tap(b);
        assert_int_equal(b->base.type->clock(&b->base, BYTES * 8, zeros, zeros, out[run], NULL), 0);
        drop_board(b);
    }
    unsigned flipped = 0;
    for (size_t i = 0; i < BYTES; i++)
        flipped += (unsigned)__builtin_popcount((uint8_t)~out[0][i]); /* idle TDO floats high */
    assert_in_range(flipped, 200, 500);
    assert_memory_equal(out[0], out[1], BYTES);
}

static void options__malformed__refused_with_what_is_possible(void **state)
{
    static const struct {
        const char *options, *what;
    } rows[] = {
        { "le,be,xe", "\"xe\"" },
        { "tck=fast", "\"fast\"" },
        { "cpu=0", "\"0\"" },
        { "tck=", "\"\"" },
        { "private=maybe", "private=maybe" },
        { "fault=fire", "\"fire\"" },
        { "fault=noise@", "noise@" },
        { "fault=unplug@2s", "unplug@2s" },
        { "fault=unplug@2s+", "unplug@2s+" },
        { "fault=unplug@2s+1s/1s", "1s/1s" },
        { "fault=unplug@2s+1s/", "1s/" },
        { "fault=unplug@2+3", "unplug@2+3" },
        { "fault=noise@1s+1s", "noise@1s+1s" },
        { "fault=unplug@x", "unplug@x" },
        { "serial=tape", "tape" },
        { "nmi=soon", "soon" },
        { "rom=/nonexistent/rom", "/nonexistent/rom" },
        { "serial=file:/nonexistent/x", "/nonexistent/x" },
    };
    (void)state;
    for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
        struct sim_board *sb = NULL;
        struct err err = { .code = ERR_OK };
        print_message("  %s\n", rows[i].options);
        assert_true(sh4_board_sh7091.create(rows[i].options, NULL, &sb, &err) < 0);
        assert_null(sb);
        assert_non_null(strstr(err.what, rows[i].what));
        assert_string_not_equal(err.hint, "");
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(tap__after_reset__ir_16_bits_capturing_01_and_bypass_1_bit),
        cmocka_unit_test(tap__pause_in_a_scan__loses_nothing),
        cmocka_unit_test(sddr__host_and_program__see_each_others_words),
        cmocka_unit_test(sddr__16_bit_halves_and_sdir__as_the_manual_lists_them),
        cmocka_unit_test(hudi_reset__assert_and_negate__core_held_then_from_the_start),
        cmocka_unit_test(nreset_pin__low_then_high__power_on_reset_and_tap_untouched),
        cmocka_unit_test(ase_boot__kernel_in_aseram__runs_at_reset_exit_and_pin_is_low),
        cmocka_unit_test(ase_boot__tlr_before_reset_exit__latch_is_cleared),
        cmocka_unit_test(ntrst__held_low__tap_does_not_move),
        cmocka_unit_test(ase_break__whatever_bl__enters_aseram_and_rte_goes_back),
        cmocka_unit_test(private_off__break_boot_status_aseram__plain_sddr),
        cmocka_unit_test(aseram_write__range_and_restart__only_announced_words_land),
        cmocka_unit_test(status_read__selectors__show_the_running_core),
        cmocka_unit_test(hudi_interrupt__priority_above_mask__one_interrupt_each),
        cmocka_unit_test(clock__tck_and_wait__cost_cycles_at_the_ratio),
        cmocka_unit_test(clock__same_bits_in_other_pieces__same_cycles_and_words),
        cmocka_unit_test(memory__aliases_rom_and_nothing__as_the_map_says),
        cmocka_unit_test(memory__sh7091__video_ram_in_two_views_and_sound_ram),
        cmocka_unit_test(registers__versions_storage_and_unknown__answered),
        cmocka_unit_test(tmu__underflow_interrupt__at_the_period),
        cmocka_unit_test(wdt__overflow_in_watchdog_mode__resets_the_core_and_says_so),
        cmocka_unit_test(wdt__ase_mode__stands_still),
        cmocka_unit_test(scif__file__receives_what_the_program_sends),
        cmocka_unit_test(scif__pty__line_works_both_ways_and_the_link_goes_away),
        cmocka_unit_test(nmi__pin_at_a_time__taken_with_every_mask_once),
        cmocka_unit_test(bootrom__power_on__idles_with_exceptions_open),
        cmocka_unit_test(faults__each__looks_from_outside_as_described),
        cmocka_unit_test(fault_power__times_given__board_starts_anew_afterwards),
        cmocka_unit_test(fault_unplug__times_given__must_be_opened_again),
        cmocka_unit_test(fault_power__sh7091__sound_and_video_memory_are_lost),
        cmocka_unit_test(fault_power__period_given__comes_again),
        cmocka_unit_test(fault_silent__ase_boot__comes_up_in_the_boot_rom),
        cmocka_unit_test(bootrom__listing__assembles_to_the_words_in_rom),
        cmocka_unit_test(fault_noise__seeded__flips_about_one_in_n_the_same_every_time),
        cmocka_unit_test(options__malformed__refused_with_what_is_possible),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
