#include "targets/sim/sh4/scif.h"

#include <string.h>
#include <unistd.h>

#include "probe/base/util.h"
#include "targets/sh4/isa/regs.h"

enum { MOST_PAUSE = 2500 };

#define TDFE REG_MASK(SH4_SCFSR2_TDFE)
#define TEND REG_MASK(SH4_SCFSR2_TEND)
#define RDF  REG_MASK(SH4_SCFSR2_RDF)
#define DR   REG_MASK(SH4_SCFSR2_DR)

void sh4_scif_init(struct sh4_scif *s, int fd_in, int fd_out)
{
    *s = (struct sh4_scif){ .fd_in = fd_in, .fd_out = fd_out };
    sh4_scif_reset(s, 0);
}

void sh4_scif_reset(struct sh4_scif *s, uint64_t now)
{
    s->scsmr = s->scscr = s->scfcr = s->scsptr = s->sclsr = 0;
    s->scbrr = 0xFF;
    s->scfsr = TEND | TDFE;
    s->seen_flags = 0;
    s->tx_len = s->rx_len = 0;
    s->shifting = false;
    s->rx_at = s->rx_last = s->seen = now;
}

/* Peripheral clocks a bit in asynchronous mode: 32 * 4^CKS * (SCBRR + 1). */
static uint64_t bit_clocks(const struct sh4_scif *s)
{
    return ((uint64_t)32 << 2 * REG_GET(s->scsmr, SH4_SCSMR2_CKS)) * (s->scbrr + 1u);
}

static uint64_t char_clocks(const struct sh4_scif *s)
{
    unsigned bits = 1 + (REG_GET(s->scsmr, SH4_SCSMR2_CHR) ? 7 : 8) +
                    REG_GET(s->scsmr, SH4_SCSMR2_PE) + 1 + REG_GET(s->scsmr, SH4_SCSMR2_STOP);
    return bit_clocks(s) * bits;
}

static unsigned tx_trigger(const struct sh4_scif *s)
{
    static const uint8_t table[4] = { 8, 4, 2, 1 };
    return table[REG_GET(s->scfcr, SH4_SCFCR2_TTRG)];
}

static unsigned rx_trigger(const struct sh4_scif *s)
{
    static const uint8_t table[4] = { 1, 4, 8, 14 };
    return table[REG_GET(s->scfcr, SH4_SCFCR2_RTRG)];
}

static void flush_host(struct sh4_scif *s)
{
    if (s->fd_out < 0 || !s->host_len)
        return;
    ssize_t n = write(s->fd_out, s->host, s->host_len);
    if (n <= 0)
        /* It may be full for now. An error shows in `dropped` when the buffer is full. */
        return;
    memmove(s->host, s->host + n, s->host_len - (size_t)n);
    s->host_len -= (size_t)n;
}

static void char_received(struct sh4_scif *s, uint8_t c, uint64_t at)
{
    s->received++;
    s->rx_last = at;
    if (s->sclsr & REG_MASK(SH4_SCLSR2_ORER))
        return; /* nothing is received until ORER is cleared */
    if (s->rx_len == SH4_SCIF_FIFO) {
        s->sclsr |= REG_MASK(SH4_SCLSR2_ORER);
        return;
    }
    s->rx[s->rx_len++] = c;
    if (s->rx_len >= rx_trigger(s))
        s->scfsr |= RDF;
}

static void char_sent(struct sh4_scif *s, uint8_t c, uint64_t at)
{
    s->sent++;
    if (REG_GET(s->scfcr, SH4_SCFCR2_LOOP)) {
        char_received(s, c, at);
        return;
    }
    if (s->host_len == sizeof s->host)
        flush_host(s);
    if (s->host_len == sizeof s->host)
        s->dropped++;
    else
        s->host[s->host_len++] = c;
}

/* Sends the next byte of the FIFO. */
static void start_char(struct sh4_scif *s, uint64_t at)
{
    s->shifting = s->tx_len > 0;
    if (!s->shifting) {
        s->scfsr |= TEND;
        return;
    }
    s->shift = s->tx[0];
    memmove(s->tx, s->tx + 1, --s->tx_len);
    s->tx_done = at + char_clocks(s);
    s->scfsr &= (uint16_t)~TEND;
    if (s->tx_len <= tx_trigger(s))
        s->scfsr |= TDFE;
}

static void advance_tx(struct sh4_scif *s, uint64_t now)
{
    if (!REG_GET(s->scscr, SH4_SCSCR2_TE))
        return;
    if (!s->shifting && s->tx_len)
        start_char(s, s->seen);
    while (s->shifting && s->tx_done <= now) {
        char_sent(s, s->shift, s->tx_done);
        start_char(s, s->tx_done);
    }
    if (!s->shifting || s->host_len >= sizeof s->host / 2)
        flush_host(s);
}

static bool ask_host(struct sh4_scif *s)
{
    if (s->came_at == s->came_len) {
        ssize_t n = read(s->fd_in, s->came, sizeof s->came);
        s->came_at = 0;
        s->came_len = 0;
        if (n > 0)
            s->came_len = (size_t)n;
    }
    return s->came_at < s->came_len;
}

/* Receives the next character from the host, or sets when the host is asked again. */
static void receive_next(struct sh4_scif *s, uint64_t now)
{
    uint64_t step = char_clocks(s);
    if (ask_host(s)) {
        char_received(s, s->came[s->came_at++], now);
        s->rx_pause = step;
    } else {
        s->rx_pause = MAX(step, MIN(2 * s->rx_pause, (uint64_t)MOST_PAUSE));
    }
    s->rx_at = now + s->rx_pause;
}

static void advance_rx(struct sh4_scif *s, uint64_t now)
{
    if (!REG_GET(s->scscr, SH4_SCSCR2_RE))
        return;
    if (s->fd_in >= 0 && !REG_GET(s->scfcr, SH4_SCFCR2_LOOP) && s->rx_at <= now)
        receive_next(s, now);
    /* DR: there are data below the trigger, and no more came for 15 bit times. */
    if (s->rx_len && s->rx_len < rx_trigger(s) && now >= s->rx_last + 15 * bit_clocks(s))
        s->scfsr |= DR;
}

void sh4_scif_advance(struct sh4_scif *s, uint64_t now)
{
    advance_tx(s, now);
    advance_rx(s, now);
    s->seen = now;
}

uint64_t sh4_scif_next(const struct sh4_scif *s)
{
    uint64_t next = UINT64_MAX;
    if (REG_GET(s->scscr, SH4_SCSCR2_TE) && s->shifting)
        next = s->tx_done;
    if (REG_GET(s->scscr, SH4_SCSCR2_RE)) {
        if (s->fd_in >= 0 && !REG_GET(s->scfcr, SH4_SCFCR2_LOOP) && s->rx_at < next)
            next = s->rx_at;
        uint64_t idle = s->rx_last + 15 * bit_clocks(s);
        if (s->rx_len && !(s->scfsr & (DR | RDF)) && idle < next)
            next = idle;
    }
    return next;
}

bool sh4_scif_irq_eri(const struct sh4_scif *s)
{
    bool on = REG_GET(s->scscr, SH4_SCSCR2_RIE) || REG_GET(s->scscr, SH4_SCSCR2_REIE);
    return on && REG_GET(s->scfsr, SH4_SCFSR2_ER);
}

bool sh4_scif_irq_rxi(const struct sh4_scif *s)
{
    return REG_GET(s->scscr, SH4_SCSCR2_RIE) && s->scfsr & (RDF | DR);
}

bool sh4_scif_irq_bri(const struct sh4_scif *s)
{
    bool on = REG_GET(s->scscr, SH4_SCSCR2_RIE) || REG_GET(s->scscr, SH4_SCSCR2_REIE);
    return on && (REG_GET(s->scfsr, SH4_SCFSR2_BRK) || REG_GET(s->sclsr, SH4_SCLSR2_ORER));
}

bool sh4_scif_irq_txi(const struct sh4_scif *s)
{
    return REG_GET(s->scscr, SH4_SCSCR2_TIE) && s->scfsr & TDFE;
}

static uint8_t pop_rx(struct sh4_scif *s)
{
    if (!s->rx_len)
        return 0; /* undefined on the part */
    uint8_t c = s->rx[0];
    memmove(s->rx, s->rx + 1, --s->rx_len);
    return c;
}

bool sh4_scif_read(struct sh4_scif *s, uint32_t addr, uint32_t *value)
{
    switch (addr) {
    case SH4_SCSMR2: *value = s->scsmr; return true;
    case SH4_SCBRR2: *value = s->scbrr; return true;
    case SH4_SCSCR2: *value = s->scscr; return true;
    case SH4_SCFTDR2: *value = 0; return true; /* write only */
    case SH4_SCFSR2:
        *value = s->scfsr;
        s->seen_flags |= s->scfsr;
        return true;
    case SH4_SCFRDR2: *value = pop_rx(s); return true;
    case SH4_SCFCR2: *value = s->scfcr; return true;
    case SH4_SCFDR2:
        *value = REG_PUT(s->tx_len, SH4_SCFDR2_T) | REG_PUT(s->rx_len, SH4_SCFDR2_R);
        return true;
    case SH4_SCSPTR2: *value = s->scsptr; return true;
    case SH4_SCLSR2: *value = s->sclsr; return true;
    default: return false;
    }
}

/* A write of 0 clears a flag only if it was read as 1 before. TDFE and RDF are set again at once if
 * their condition still holds. */
static void write_scfsr(struct sh4_scif *s, uint16_t value)
{
    const uint16_t clearable = REG_MASK(SH4_SCFSR2_ER) | TDFE | REG_MASK(SH4_SCFSR2_BRK) | RDF | DR;
    uint16_t cleared = (uint16_t)(~value & s->seen_flags & clearable);
    s->scfsr &= (uint16_t)~cleared;
    s->seen_flags &= (uint16_t)~cleared;
    if (s->tx_len <= tx_trigger(s))
        s->scfsr |= TDFE;
    if (s->rx_len >= rx_trigger(s))
        s->scfsr |= RDF;
}

static void write_scfcr(struct sh4_scif *s, uint16_t value)
{
    s->scfcr = value & 0xFF;
    if (REG_GET(value, SH4_SCFCR2_TFRST))
        s->tx_len = 0;
    if (REG_GET(value, SH4_SCFCR2_RFRST))
        s->rx_len = 0;
}

static void write_fifo(struct sh4_scif *s, uint8_t c)
{
    if (s->tx_len == SH4_SCIF_FIFO || REG_GET(s->scfcr, SH4_SCFCR2_TFRST))
        return; /* the manual: data written to a full FIFO is ignored */
    s->tx[s->tx_len++] = c;
    s->scfsr &= (uint16_t)~TEND;
    if (s->tx_len > tx_trigger(s))
        s->scfsr &= (uint16_t)~TDFE;
    if (REG_GET(s->scscr, SH4_SCSCR2_TE) && !s->shifting)
        start_char(s, s->seen);
}

bool sh4_scif_write(struct sh4_scif *s, uint32_t addr, uint32_t value)
{
    switch (addr) {
    case SH4_SCSMR2: s->scsmr = value & 0x7B; return true;
    case SH4_SCBRR2: s->scbrr = (uint8_t)value; return true;
    case SH4_SCSCR2: s->scscr = value & 0xFA; return true;
    case SH4_SCFTDR2: write_fifo(s, (uint8_t)value); return true;
    case SH4_SCFSR2: write_scfsr(s, (uint16_t)value); return true;
    case SH4_SCFRDR2: return true; /* read only */
    case SH4_SCFCR2: write_scfcr(s, (uint16_t)value); return true;
    case SH4_SCFDR2: return true; /* read only */
    case SH4_SCSPTR2: s->scsptr = value & 0xF3; return true;
    case SH4_SCLSR2: s->sclsr &= (uint16_t)value; return true;
    default: return false;
    }
}
