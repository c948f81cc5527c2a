/* The board behind its pins: virtual time, resets, H-UDI commands, faults on demand. */
#include "targets/sim/sh4/board.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "probe/base/bytes.h"
#include "probe/base/pages.h"
#include "probe/base/util.h"
#include "probe/jtag.h"
#include "targets/sim/sh4/board_priv.h"
#include "targets/sh4/isa/regs.h"

static struct board *board_of(struct sim_board *sb) { return CONTAINER_OF(sb, struct board, base); }

bool board_faulty(const struct board *b, enum board_fault fault)
{
    if (b->opt.fault != fault)
        return false;
    if (b->opt.fault_for_ns)
        return b->fault_phase == FAULT_SHOWS;
    return b->hudi.clocks >= b->opt.fault_n;
}

/* ---- time ---- */

static uint64_t ns_of(const struct board *b)
{
    return (uint64_t)((__extension__(unsigned __int128) b->cycles * 1000000000) / b->opt.cpu_hz);
}

static uint64_t cycles_of(const struct board *b, uint64_t ns)
{
    return (uint64_t)((__extension__(unsigned __int128) ns * b->opt.cpu_hz) / 1000000000);
}

/* The CPU cycle at which a fault with times begins or ends next; UINT64_MAX: never. It does not end
 * during a transfer. */
static uint64_t fault_edge(const struct board *b)
{
    if (!b->opt.fault_for_ns || b->fault_phase == FAULT_OVER ||
        (b->fault_phase == FAULT_SHOWS && b->clocking))
        return UINT64_MAX;
    return cycles_of(b, b->opt.fault_from_ns +
                            (b->fault_phase == FAULT_SHOWS ? b->opt.fault_for_ns : 0));
}

static void power_up(struct board *b);

static void fault_turns(struct board *b)
{
    b->fault_phase++;
    b->unplugged |= b->opt.fault == FAULT_UNPLUG;
    if (b->fault_phase == FAULT_OVER && b->opt.fault == FAULT_NO_POWER)
        power_up(b);
    if (b->fault_phase == FAULT_OVER && b->opt.fault_every_ns) {
        b->opt.fault_from_ns += b->opt.fault_every_ns;
        b->fault_phase = FAULT_AHEAD;
    }
}

/* Runs the CPU up to the present, in parts that end at the next event of a peripheral. */
static void run_to_now(struct board *b)
{
    while (b->cpu.cycle < b->cycles) {
        if (fault_edge(b) <= b->cpu.cycle)
            fault_turns(b);
        uint64_t end = MIN(b->cycles, fault_edge(b));
        uint64_t next = board_devices_next(b);
        uint64_t until = next > b->cpu.cycle && next < end ? next : end;
        if (board_faulty(b, FAULT_NO_CLOCK) || board_faulty(b, FAULT_NO_POWER)) {
            b->cpu.cycle = MAX(b->cpu.cycle, end); /* time passes, but nothing is executed */
            continue;
        }
        sh4_cpu_run(&b->cpu, until);
        /* Peripherals compute their state when it is looked at. They are needed here only for an
         * event, or when ASE mode was entered or left, which stops the watchdog or lets it go
         * on. */
        if (b->cpu.cycle >= board_devices_next(b) || b->cpu.in_ase != b->wdt.frozen)
            board_devices_advance(b);
    }
}

/* Converts the TCK clocks since the last call to CPU cycles. */
static void count_tck(struct board *b)
{
    uint64_t clocks = b->hudi.clocks - b->tck_synced;
    b->tck_synced = b->hudi.clocks;
    b->cycle_rest += clocks * b->opt.cpu_hz;
    b->cycles += b->cycle_rest / b->opt.tck_hz;
    b->cycle_rest %= b->opt.tck_hz;
}

static void hudi_sync(void *ctx)
{
    struct board *b = ctx;
    count_tck(b);
    run_to_now(b);
}

/* ---- reset ---- */

static void reset_changed(struct board *b, bool was_held, enum sh4_reset kind)
{
    bool held = b->hudi_reset || b->reset_pin_low;
    b->cpu.held = held;
    if (held || !was_held)
        return;
    bool ase = b->hudi.boot_latch && !board_faulty(b, FAULT_SILENT);
    b->hudi.boot_latch = false;
    sh4_cpu_reset(&b->cpu, kind, ase);
    board_devices_reset(b, true);
    b->cpu.held = false;
}

static void hudi_reset_assert(void *ctx)
{
    struct board *b = ctx;
    bool held = b->cpu.held;
    b->hudi_reset = true;
    reset_changed(b, held, SH4_RESET_HUDI);
}

static void hudi_reset_negate(void *ctx)
{
    struct board *b = ctx;
    bool held = b->cpu.held;
    b->hudi_reset = false;
    reset_changed(b, held, SH4_RESET_HUDI);
}

/* ---- commands ---- */

static void hudi_interrupt(void *ctx)
{
    struct board *b = ctx;
    if (board_faulty(b, FAULT_SILENT))
        return;
    sh4_intc_request(&b->intc, SH4_SRC_HUDI, true);
    board_irq_update(b);
}

static void hudi_ase_break(void *ctx)
{
    struct board *b = ctx;
    if (!board_faulty(b, FAULT_SILENT) && !b->cpu.held)
        sh4_cpu_request_ase_break(&b->cpu);
}

static void hudi_aseram_write(void *ctx, unsigned offset, uint32_t word)
{
    struct board *b = ctx;
    put32(b->cpu.aseram + (offset & (SH4_ASERAM_SIZE - 4)), word, b->opt.big);
}

static uint32_t hudi_status(void *ctx, unsigned selector)
{
    struct board *b = ctx;
    const struct sh4_ccn *ccn = &b->cpu.ccn;
    switch (selector) {
    case SH4_STATUS_SR: return sh4_get_sr(&b->cpu);
    case SH4_STATUS_FPSCR: return b->cpu.fpscr;
    case SH4_STATUS_CCR: return (ccn->ccr & 0xFFFF) | REG_GET(ccn->mmucr, SH4_MMUCR_AT) << 16;
    case SH4_STATUS_FRQCR: return *board_stored(b, SH4_FRQCR);
    case SH4_STATUS_EVENTS: return (ccn->expevt & 0xFFFF) | ccn->intevt << 16;
    case SH4_STATUS_ASID: return REG_GET(ccn->pteh, SH4_PTEH_ASID);
    case SH4_STATUS_BUS: return b->cpu.last_external & SH4_PHYS;
    case SH4_STATUS_FETCH: return b->cpu.last_fetch;
    case SH4_STATUS_OPERAND: return b->cpu.last_operand;
    case SH4_STATUS_UBC: return b->ubc.brcr >> SH4_BRCR_CMFB_LSB;
    default: return 0;
    }
}

static uint64_t next_random(uint64_t *s)
{
    *s ^= *s << 13;
    *s ^= *s >> 7;
    *s ^= *s << 17;
    return *s;
}

enum { WEAK_WIRES_BITS = 1000 }; /* one bit in so many is lost above wires=HZ and sddr=HZ */

/* Returns what arrives of a word for a data register. */
static uint32_t hudi_arrive(void *ctx, uint32_t word)
{
    struct board *b = ctx;
    uint64_t rate = 0;
    if (b->opt.fault == FAULT_NOISE_IN)
        rate = b->opt.fault_n;
    else if (b->opt.sddr_hz && b->opt.tck_hz > b->opt.sddr_hz)
        rate = WEAK_WIRES_BITS;
    if (rate) {
        for (; b->noise_left < 32; b->noise_left += 1 + next_random(&b->noise_state) % (2 * rate))
            word ^= 1u << b->noise_left;
        b->noise_left -= 32;
    }
    return word;
}

static const struct sh4_hudi_ops hudi_ops = {
    .sync = hudi_sync,
    .reset_assert = hudi_reset_assert,
    .reset_negate = hudi_reset_negate,
    .interrupt = hudi_interrupt,
    .ase_break = hudi_ase_break,
    .aseram_write = hudi_aseram_write,
    .status = hudi_status,
    .arrive = hudi_arrive,
};

/* ---- pins ---- */

/* Flips about one bit in `rate`. The distance to the next one is random. */
static void add_noise(struct board *b, size_t n, uint64_t rate, uint8_t *tdo)
{
    uint64_t at = b->noise_left;
    while (at < n) {
        tdo[at / 8] ^= (uint8_t)(1u << (at % 8));
        at += 1 + next_random(&b->noise_state) % (2 * rate);
    }
    b->noise_left = at - n;
}

/* Is the adapter gone? Once unplugged it stays so until it is opened again. */
static bool adapter_gone(const struct board *b, size_t clocks)
{
    return b->unplugged || (b->opt.fault == FAULT_UNPLUG && !b->opt.fault_for_ns &&
                            b->hudi.clocks + clocks > b->opt.fault_n);
}

static int board_clock(struct sim_board *sb, size_t n, const uint8_t *tms, const uint8_t *tdi,
                       uint8_t *tdo, struct err *err)
{
    struct board *b = board_of(sb);
    if (b->opt.fault_for_ns)
        hudi_sync(b);
    /* The whole transfer fails, and so do all later ones, shorter ones too. */
    if (adapter_gone(b, n)) {
        b->opt.fault_n = 0;
        return err_set(err, ERR_USB, "plug the adapter in again", "the adapter is gone");
    }
    if (board_faulty(b, FAULT_NO_POWER)) {
        if (tdo)
            memset(tdo, 0, (n + 7) / 8);
        b->hudi.clocks += n;
    } else {
        b->clocking = true;
        sh4_hudi_clock(&b->hudi, n, tms, tdi, tdo);
        b->clocking = false;
    }
    count_tck(b);
    if (tdo && board_faulty(b, FAULT_STUCK_TDO))
        memset(tdo, 0xFF, (n + 7) / 8);
    if (tdo && b->opt.fault == FAULT_NOISE)
        add_noise(b, n, b->opt.fault_n, tdo);
    else if (tdo && b->opt.wires_hz && b->opt.tck_hz > b->opt.wires_hz &&
             ns_of(b) >= b->opt.wires_from_us * 1000)
        add_noise(b, n, WEAK_WIRES_BITS, tdo);
    return 0;
}

static int board_set_pins(struct sim_board *sb, unsigned mask, unsigned value, struct err *err)
{
    struct board *b = board_of(sb);
    if (mask & JTAG_PIN_VTREF)
        return err_set(err, ERR_UNSUPPORTED, "", "the target's supply cannot be driven");
    hudi_sync(b);
    bool held = b->cpu.held;
    if (b->opt.fault == FAULT_TRST)
        mask &= ~(unsigned)JTAG_PIN_NTRST; /* stuck */
    if (b->opt.fault == FAULT_HELD)
        mask &= ~(unsigned)JTAG_PIN_NRESET;
    if (mask & JTAG_PIN_NTRST) {
        b->hudi.trst_low = !(value & JTAG_PIN_NTRST);
        if (b->hudi.trst_low)
            sh4_hudi_trst(&b->hudi);
    }
    if (mask & JTAG_PIN_NRESET) {
        b->reset_pin_low = !(value & JTAG_PIN_NRESET);
        reset_changed(b, held, SH4_RESET_POWER_ON);
    }
    if (mask & JTAG_PIN_ASEBRK) {
        bool low = !(value & JTAG_PIN_ASEBRK);
        if (low && !b->asebrk_low && b->opt.private_commands)
            hudi_ase_break(b);
        b->asebrk_low = low;
    }
    return 0;
}

static int board_get_pins(struct sim_board *sb, unsigned *value, unsigned *known, struct err *err)
{
    struct board *b = board_of(sb);
    hudi_sync(b);
    if (adapter_gone(b, 0) || board_faulty(b, FAULT_UNPLUG))
        return err_set(err, ERR_USB, "plug the adapter in again", "the adapter is gone");
    *known = JTAG_PIN_NTRST | JTAG_PIN_NRESET | JTAG_PIN_ASEBRK | JTAG_PIN_VTREF;
    *value = 0;
    if (board_faulty(b, FAULT_NO_POWER))
        return 0;
    *value |= JTAG_PIN_VTREF;
    if (!b->hudi.trst_low)
        *value |= JTAG_PIN_NTRST;
    if (!b->reset_pin_low)
        *value |= JTAG_PIN_NRESET;
    *value |= b->cpu.in_ase || b->asebrk_low ? 0 : JTAG_PIN_ASEBRK;
    return 0;
}

static uint32_t board_set_tck_hz(struct sim_board *sb, uint32_t hz)
{
    struct board *b = board_of(sb);
    hudi_sync(b);
    b->cycle_rest = 0;
    b->opt.tck_hz = MAX(1, MIN(hz, b->opt.cpu_hz / BOARD_MIN_CYCLES_PER_TCK));
    return b->opt.tck_hz;
}

/* Lets ns pass, rounded down to cycles. A long wait in pieces loses up to a cycle a piece, the same
 * in every run. */
static void let_pass(struct board *b, uint64_t ns)
{
    count_tck(b);
    b->cycles += cycles_of(b, ns);
    run_to_now(b);
    board_devices_advance(b);
}

static int board_advance(struct sim_board *sb, uint64_t ns, struct err *err)
{
    (void)err;
    let_pass(board_of(sb), ns);
    return 0;
}

static uint64_t board_now_ns(struct sim_board *sb)
{
    struct board *b = board_of(sb);
    count_tck(b);
    uint64_t ns = sim_question_ns(&b->patience, ns_of(b));
    if (ns)
        let_pass(b, ns);
    return ns_of(b);
}

/* A host takes about this long to find a device and open it, or to find that it is not there. */
enum { REOPEN_NS = 100000000 };

static int board_reopen(struct sim_board *sb, struct err *err)
{
    struct board *b = board_of(sb);
    int ret = board_advance(sb, REOPEN_NS, err);
    if (ret < 0)
        return ret;
    if (board_faulty(b, FAULT_UNPLUG))
        return err_set(err, ERR_USB, "plug the adapter in again", "the adapter is not there");
    b->unplugged = false;
    return 0;
}

/* ---- building ---- */

static void board_destroy(struct sim_board *sb)
{
    if (!sb)
        return;
    struct board *b = board_of(sb);
    sh4_scif_advance(&b->scif, b->cpu.cycle / BOARD_PCLK_DIV);
    sh4_cpu_fini(&b->cpu);
    sim_serial_close(&b->line);
    pages_free(b->rom, BOARD_ROM_BYTES);
    free(b->flash);
    pages_free(b->sound, BOARD_SOUND_BYTES);
    pages_free(b->video, BOARD_VIDEO_BYTES);
    pages_free(b->ram, BOARD_RAM_BYTES);
    free(b);
}

static int load_rom(struct board *b, struct err *err)
{
    bootrom_fill(b->rom, b->opt.big);
    if (!b->opt.rom[0])
        return 0;
    FILE *f = fopen(b->opt.rom, "rb");
    if (!f)
        return err_set(err, ERR_IO, "check the path after rom=", "%s: %s", b->opt.rom,
                       strerror(errno));
    memset(b->rom, 0xFF, BOARD_ROM_BYTES);
    size_t n = fread(b->rom, 1, BOARD_ROM_BYTES, f);
    fclose(f);
    if (n)
        return 0;
    return err_set(err, ERR_FORMAT, "give a boot ROM image", "%s: empty", b->opt.rom);
}

static int build_cpu(struct board *b, uint64_t at_cycle, struct err *err)
{
    struct sh4_config cfg = { .variant = b->variant, .big = b->opt.big };
    struct sh4_bus bus;
    board_bus(b, &bus);
    if (sh4_cpu_init(&b->cpu, &cfg, &bus) < 0)
        return err_set(err, ERR_NOMEM, "", "no memory for the CPU model");
    b->cpu.cycle = at_cycle;
    memset(b->cpu.aseram, 0xA5, sizeof b->cpu.aseram); /* it is not initialised */
    sh4_mmu_init(&b->mmu, &b->cpu.ccn);
    b->cpu.mmu = &b->mmu;
    b->cpu.ubc = &b->ubc;
    sh4_scif_init(&b->scif, sim_serial_can_receive(&b->line) ? b->line.fd : -1, b->line.fd);
    sh4_hudi_init(&b->hudi, &hudi_ops, b);
    b->hudi.private_commands = b->opt.private_commands;
    b->hudi.alternates = b->opt.alternates;
    b->hudi.status_zero = b->opt.status_zero;
    if (b->opt.fault == FAULT_WRONG_IR)
        b->hudi.ir_bits = 5; /* a TAP multiplexer, as in front of the core of an STb7100 */
    sh4_cpu_reset(&b->cpu, SH4_RESET_POWER_ON, false);
    board_devices_reset(b, true);
    b->hudi.trst_low = b->opt.fault == FAULT_TRST;
    b->reset_pin_low = b->cpu.held = b->opt.fault == FAULT_HELD;
    return 0;
}

/* Power is back. RAM is lost, with sound and video memory; flash is not, and the RTC, which has a
 * battery, goes on. */
static void power_up(struct board *b)
{
    uint64_t at = b->cpu.cycle, clocks = b->hudi.clocks;
    sh4_cpu_fini(&b->cpu);
    memset(b->ram, 0, BOARD_RAM_BYTES);
    if (b->sound)
        memset(b->sound, 0, BOARD_SOUND_BYTES);
    if (b->video)
        memset(b->video, 0, BOARD_VIDEO_BYTES);
    b->reset_pin_low = b->hudi_reset = b->asebrk_low = false;
    if (build_cpu(b, at, NULL) < 0)
        b->fault_phase = FAULT_SHOWS; /* out of memory: power stays off */
    b->hudi.clocks = clocks;
}

static int create_board(const struct sim_board_type *type, enum sh4_variant variant,
                        const char *options, const struct log *log, struct sim_board **out,
                        struct err *err)
{
    struct board *b = calloc(1, sizeof *b);
    if (!b)
        return err_set(err, ERR_NOMEM, "", "no memory for the board");
    b->base.type = type;
    b->log = log;
    b->variant = variant;
    sim_serial_init(&b->line);
    b->noise_state = 0x9E3779B97F4A7C15u;
    b->rom = pages_new(BOARD_ROM_BYTES);
    b->flash = malloc(BOARD_FLASH_BYTES);
    b->ram = pages_new(BOARD_RAM_BYTES);
    bool dreamcast = variant == SH4_VARIANT_7091;
    if (dreamcast)
        b->sound = pages_new(BOARD_SOUND_BYTES);
    else
        b->sound = NULL;
    if (dreamcast)
        b->video = pages_new(BOARD_VIDEO_BYTES);
    else
        b->video = NULL;
    bool have = b->rom && b->flash && b->ram && (!dreamcast || (b->sound && b->video));
    int ret = 0;
    if (!have)
        ret = err_set(err, ERR_NOMEM, "", "no memory for the board");
    if (ret >= 0)
        ret = board_options_parse(options, &b->opt, err);
    if (ret >= 0)
        ret = sim_serial_open(&b->line, b->opt.serial, b->log, err);
    if (ret >= 0)
        ret = load_rom(b, err);
    if (ret >= 0) {
        memset(b->flash, 0xFF, BOARD_FLASH_BYTES);
        sh4_rtc_init(&b->rtc, b->opt.cpu_hz / BOARD_PCLK_DIV);
        ret = build_cpu(b, 0, err);
    }
    if (ret < 0) {
        board_destroy(&b->base);
        return ret;
    }
    b->noise_left = b->opt.fault_n;
    b->nmi_edge = UINT64_MAX;
    if (b->opt.nmi_us)
        b->nmi_edge = b->opt.nmi_us * (b->opt.cpu_hz / BOARD_PCLK_DIV) / 1000000;
    *out = &b->base;
    return 0;
}

static int create_sh7750(const char *options, const struct log *log, struct sim_board **out,
                         struct err *err)
{
    return create_board(&sh4_board_sh7750, SH4_VARIANT_7750, options, log, out, err);
}

static int create_sh7091(const char *options, const struct log *log, struct sim_board **out,
                         struct err *err)
{
    return create_board(&sh4_board_sh7091, SH4_VARIANT_7091, options, log, out, err);
}

#define BOARD_OPS                                                                         \
    .destroy = board_destroy, .clock = board_clock, .set_pins = board_set_pins,           \
    .get_pins = board_get_pins, .set_tck_hz = board_set_tck_hz, .advance = board_advance, \
    .now_ns = board_now_ns, .reopen = board_reopen

const struct sim_board_type sh4_board_sh7750 = {
    .name = "sh7750", .help = "SH7750, 16 MB RAM at 0x0C000000", .create = create_sh7750, BOARD_OPS
};
const struct sim_board_type sh4_board_sh7091 = {
    .name = "sh7091",
    .help = "SH7091 (Dreamcast CPU: adds FSCA, FSRRA; video and sound RAM)",
    .create = create_sh7091,
    BOARD_OPS
};
