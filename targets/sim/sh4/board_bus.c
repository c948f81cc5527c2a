/* What the CPU finds on its buses: windows of memory, on-chip registers, and addresses where
 * nothing is. */
#include "probe/base/bytes.h"
#include "probe/base/util.h"
#include "targets/sim/sh4/board_priv.h"
#include "targets/sh4/isa/regs.h"

/* Where nothing drives the bus, it reads as all ones. Such accesses are counted, and the first one
 * is logged. */
static void first_nothing(struct board *b, uint32_t paddr, const char *what)
{
    b->nothing_first = paddr;
    log_msg(b->log, LOG_TARGET, "sim: first %s of nothing at physical %08x (more are only counted)",
            what, paddr);
}

/* A Dreamcast's video memory has two banks of 4 MB. Its 32-bit view has them one behind the other;
 * in the 64-bit view their words alternate. paddr is aligned to the size of the access, 4 at most.
 * NULL: paddr is not in the 32-bit view. */
static uint8_t *video_32(struct board *b, uint32_t paddr)
{
    if (!b->video || paddr >> 24 != 0x05)
        return NULL;
    uint32_t at = paddr & (BOARD_VIDEO_BYTES / 2 - 1), bank = paddr / (BOARD_VIDEO_BYTES / 2) & 1;
    return b->video + (at & ~3u) * 2 + bank * 4 + (at & 3);
}

/* Where the halves of 64 bits are; paddr is aligned to 8. */
struct video_halves {
    uint8_t *high, *low;
};
static struct video_halves video_64(struct board *b, uint32_t paddr)
{
    uint8_t *first = video_32(b, paddr), *second = video_32(b, paddr + 4);
    if (b->opt.big)
        return (struct video_halves){ .high = first, .low = second };
    return (struct video_halves){ .high = second, .low = first };
}

static bool video_read(struct board *b, uint32_t paddr, unsigned size, uint64_t *value)
{
    const uint8_t *p = video_32(b, paddr);
    bool big = b->opt.big;
    if (!p)
        return false;
    switch (size) {
    case 1: *value = *p; break;
    case 2: *value = get16(p, big); break;
    case 4: *value = get32(p, big); break;
    default: {
        struct video_halves v = video_64(b, paddr);
        *value = (uint64_t)get32(v.high, big) << 32 | get32(v.low, big);
    }
    }
    return true;
}

static bool video_write(struct board *b, uint32_t paddr, unsigned size, uint64_t value)
{
    uint8_t *p = video_32(b, paddr);
    bool big = b->opt.big;
    if (!p)
        return false;
    switch (size) {
    case 1: *p = (uint8_t)value; break;
    case 2: put16(p, (uint16_t)value, big); break;
    case 4: put32(p, (uint32_t)value, big); break;
    default: {
        struct video_halves v = video_64(b, paddr);
        put32(v.high, (uint32_t)(value >> 32), big);
        put32(v.low, (uint32_t)value, big);
    }
    }
    return true;
}

static uint64_t bus_read(void *ctx, uint32_t paddr, unsigned size)
{
    struct board *b = ctx;
    uint64_t v;
    if (video_read(b, paddr, size, &v))
        return v;
    if (!b->nothing_reads++ && !b->nothing_writes)
        first_nothing(b, paddr, "read");
    return UINT64_MAX >> (64 - 8 * size);
}

static void bus_write(void *ctx, uint32_t paddr, unsigned size, uint64_t value)
{
    struct board *b = ctx;
    if (video_write(b, paddr, size, value))
        return;
    if (!b->nothing_writes++ && !b->nothing_reads)
        first_nothing(b, paddr, "write");
}

/* ---- devices and time ---- */

static uint64_t pclk_now(const struct board *b) { return b->cpu.cycle / BOARD_PCLK_DIV; }

static void power_on_registers(struct board *b)
{
    size_t n;
    const struct sh4_reg_info *table = sh4_reg_table(&n);
    for (size_t i = 0; i < n && i < BOARD_STORED_REGS; i++)
        b->stored[i] = table[i].reset;
    sh4_ubc_reset(&b->ubc);
    sh4_wdt_reset(&b->wdt, pclk_now(b));
}

void board_devices_reset(struct board *b, bool power_on)
{
    if (power_on)
        power_on_registers(b);
    sh4_intc_reset(&b->intc);
    sh4_tmu_reset(&b->tmu, pclk_now(b), b->opt.cpu_hz / BOARD_PCLK_DIV);
    sh4_scif_reset(&b->scif, pclk_now(b));
    sh4_rtc_reset(&b->rtc, power_on);
    sh4_cpu_ubc_armed(&b->cpu, b->ubc.armed);
    board_irq_update(b);
}

void board_irq_update(struct board *b)
{
    static const enum sh4_irq_source tmu[] = { SH4_SRC_TMU0, SH4_SRC_TMU1, SH4_SRC_TMU2 };
    for (unsigned i = 0; i < ARRAY_LEN(tmu); i++)
        sh4_intc_request(&b->intc, tmu[i], sh4_tmu_irq(&b->tmu, i));
    sh4_intc_request(&b->intc, SH4_SRC_RTC_ALARM, sh4_rtc_irq_alarm(&b->rtc));
    sh4_intc_request(&b->intc, SH4_SRC_RTC_PERIODIC, sh4_rtc_irq_periodic(&b->rtc));
    sh4_intc_request(&b->intc, SH4_SRC_RTC_CARRY, sh4_rtc_irq_carry(&b->rtc));
    sh4_intc_request(&b->intc, SH4_SRC_SCIF_ERI, sh4_scif_irq_eri(&b->scif));
    sh4_intc_request(&b->intc, SH4_SRC_SCIF_RXI, sh4_scif_irq_rxi(&b->scif));
    sh4_intc_request(&b->intc, SH4_SRC_SCIF_BRI, sh4_scif_irq_bri(&b->scif));
    sh4_intc_request(&b->intc, SH4_SRC_SCIF_TXI, sh4_scif_irq_txi(&b->scif));
    sh4_intc_request(&b->intc, SH4_SRC_WDT, sh4_wdt_irq(&b->wdt));
    uint16_t intevt = 0;
    unsigned level = sh4_intc_pick(&b->intc, &intevt);
    b->cpu.nmi_bl = REG_GET(b->intc.icr, SH4_ICR_NMIB);
    sh4_cpu_set_irq(&b->cpu, level, intevt);
}

uint64_t board_devices_next(const struct board *b)
{
    uint64_t next = sh4_tmu_next(&b->tmu);
    next = MIN(next, sh4_rtc_next(&b->rtc));
    next = MIN(next, sh4_scif_next(&b->scif));
    next = MIN(next, sh4_wdt_next(&b->wdt));
    next = MIN(next, b->nmi_edge);
    if (next > UINT64_MAX / BOARD_PCLK_DIV)
        return UINT64_MAX;
    return next * BOARD_PCLK_DIV;
}

/* A reset by the watchdog. WTCNT and WTCSR keep their values: WOVF shows the program why it starts
 * again, and the counting goes on. Source: SH7750 hardware manual, section 10: only the RESET pin
 * initialises them. */
static void watchdog_reset(struct board *b, bool power_on)
{
    struct sh4_wdt wdt = b->wdt;
    sh4_cpu_reset(&b->cpu, power_on ? SH4_RESET_POWER_ON : SH4_RESET_MANUAL, false);
    board_devices_reset(b, power_on);
    b->wdt = wdt;
}

/* The NMI pin with nmi=US: it falls, rises 1 us later, and stays high. */
static void nmi_pin(struct board *b, uint64_t now)
{
    if (now < b->nmi_edge)
        return;
    bool was_high = b->intc.nmi_pin;
    sh4_intc_set_nmi(&b->intc, !was_high);
    if (was_high)
        b->nmi_edge += b->opt.cpu_hz / BOARD_PCLK_DIV / 1000000;
    else
        b->nmi_edge = UINT64_MAX;
}

void board_devices_advance(struct board *b)
{
    uint64_t now = pclk_now(b);
    nmi_pin(b, now);
    if (b->cpu.in_ase != b->wdt.frozen)
        sh4_wdt_freeze(&b->wdt, now, b->cpu.in_ase);
    sh4_tmu_advance(&b->tmu, now);
    sh4_rtc_advance(&b->rtc, now);
    sh4_scif_advance(&b->scif, now);
    enum sh4_wdt_action action = sh4_wdt_advance(&b->wdt, now);
    if (action == SH4_WDT_RESET_POWER_ON || action == SH4_WDT_RESET_MANUAL)
        watchdog_reset(b, action == SH4_WDT_RESET_POWER_ON);
    board_irq_update(b);
}

/* ---- on-chip registers ---- */

uint32_t *board_stored(struct board *b, uint32_t addr)
{
    size_t n;
    const struct sh4_reg_info *info = sh4_reg_at(addr);
    size_t i = BOARD_STORED_REGS;
    if (info)
        i = (size_t)(info - sh4_reg_table(&n));
    if (i < BOARD_STORED_REGS)
        return &b->stored[i];
    return NULL;
}

static void unknown_register(struct board *b, uint32_t addr)
{
    if (b->unknown_regs++)
        return;
    b->unknown_first = addr;
    log_msg(b->log, LOG_TARGET, "sim: first access to no register at %08x (more are only counted)",
            addr);
}

/* A write to an SDRAM mode register has its data in the address. The model does not need it. */
static bool sdram_mode(uint32_t addr) { return (addr & 0xFFF80000) == 0xFF900000; }

static bool hudi_register(struct board *b, uint32_t addr, unsigned size, uint32_t *value)
{
    switch (addr) {
    case SH4_SDIR: *value = b->hudi.sdir; return true;
    case SH4_SDDR: *value = size == 2 ? b->hudi.sddr >> 16 : b->hudi.sddr; return true;
    case SH4_SDDR + 2: *value = b->hudi.sddr & 0xFFFF; return true;
    default: return false;
    }
}

static uint64_t io_read(void *ctx, uint32_t addr, unsigned size)
{
    struct board *b = ctx;
    uint32_t v = 0;
    if (hudi_register(b, addr, size, &v))
        return v;
    /* from 0xFFC00000 on there are timers and serial ports, which depend on time */
    if (addr >= SH4_FRQCR)
        board_devices_advance(b);
    if (sh4_ubc_read(&b->ubc, addr, &v) || sh4_intc_read(&b->intc, addr, &v) ||
        sh4_tmu_read(&b->tmu, addr, &v) || sh4_rtc_read(&b->rtc, addr, &v) ||
        sh4_scif_read(&b->scif, addr, &v) || sh4_wdt_read(&b->wdt, addr, &v)) {
        if (addr == SH4_SCFRDR2) { /* there is room in the FIFO, so the next character may come */
            board_irq_update(b);
            sh4_cpu_limit(&b->cpu, board_devices_next(b));
        }
        return v;
    }
    const uint32_t *stored = board_stored(b, addr);
    if (stored)
        return *stored;
    unknown_register(b, addr);
    return 0;
}

static void hudi_write(struct board *b, uint32_t addr, unsigned size, uint32_t v)
{
    if (addr == SH4_SDDR && size == 4)
        b->hudi.sddr = v;
    else if (addr == SH4_SDDR && size == 2)
        b->hudi.sddr = (b->hudi.sddr & 0xFFFF) | v << 16;
    else if (addr == SH4_SDDR + 2 && size == 2)
        b->hudi.sddr = (b->hudi.sddr & 0xFFFF0000) | (v & 0xFFFF);
}

static bool device_write(struct board *b, uint32_t addr, unsigned size, uint32_t v)
{
    return sh4_intc_write(&b->intc, addr, v) || sh4_tmu_write(&b->tmu, addr, v) ||
           sh4_rtc_write(&b->rtc, addr, v) || sh4_scif_write(&b->scif, addr, v) ||
           sh4_wdt_write(&b->wdt, addr, size, v);
}

static void io_write(void *ctx, uint32_t addr, unsigned size, uint64_t value)
{
    struct board *b = ctx;
    uint32_t v = (uint32_t)value;
    if (addr >= SH4_SDIR && addr < SH4_SDIR + 0x20) {
        hudi_write(b, addr, size, v);
        return;
    }
    if (sh4_ubc_write(&b->ubc, addr, v)) {
        sh4_cpu_ubc_armed(&b->cpu, b->ubc.armed);
        return;
    }
    if (sdram_mode(addr))
        return;
    if (addr >= SH4_FRQCR)
        board_devices_advance(b);
    if (device_write(b, addr, size, v)) {
        board_irq_update(b);
        sh4_cpu_limit(&b->cpu, board_devices_next(b));
        return;
    }
    uint32_t *stored = board_stored(b, addr);
    if (stored)
        *stored = v;
    else
        unknown_register(b, addr);
}

static void irq_ack(void *ctx, unsigned level, uint16_t intevt)
{
    struct board *b = ctx;
    (void)level;
    sh4_intc_accepted(&b->intc, intevt);
    board_irq_update(b);
}

static void self_reset(void *ctx, uint16_t expevt)
{
    struct board *b = ctx;
    (void)expevt;
    board_devices_reset(b, false);
}

/* Registers that do not change while the core runs (struct sh4_bus, stable). SDDR and SDIR change
 * by scans, between runs. Those of the SCIF change when a character has come or was sent, and
 * reading SCFSR again sees no flag for the first time. */
static bool reads_stable(void *ctx, uint32_t addr)
{
    (void)ctx;
    return addr == SH4_SDDR || addr == SH4_SDDR + 2 || addr == SH4_SDIR || addr == SH4_SCFDR2 ||
           addr == SH4_SCFSR2 || addr == SH4_SCLSR2;
}

void board_bus(struct board *b, struct sh4_bus *bus)
{
    *bus = (struct sh4_bus){
        .ctx = b,
        .window = {
            { 0x0C000000, BOARD_RAM_AREA, b->ram, BOARD_RAM_BYTES - 1, true },
            { 0x00000000, BOARD_ROM_BYTES, b->rom, BOARD_ROM_BYTES - 1, false },
            { 0x00200000, BOARD_FLASH_BYTES, b->flash, BOARD_FLASH_BYTES - 1, false },
        },
        .nwindows = 3,
        .read = bus_read,
        .write = bus_write,
        .io_read = io_read,
        .io_write = io_write,
        .irq_ack = irq_ack,
        .self_reset = self_reset,
        .stable = reads_stable,
    };
    if (!b->video)
        return;
    bus->window[bus->nwindows++] =
        (struct sh4_window){ 0x04000000, 16 << 20, b->video, BOARD_VIDEO_BYTES - 1, true };
    bus->window[bus->nwindows++] =
        (struct sh4_window){ 0x00800000, BOARD_SOUND_BYTES, b->sound, BOARD_SOUND_BYTES - 1, true };
}
