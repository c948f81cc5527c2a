/* SCIF of the board model: serial port with 16-byte FIFOs, its line a pair of host descriptors.
 * Characters take their time on the line (bit rate, format); time in peripheral clocks (`now`).
 * Host descriptors are non-blocking: output the host does not take is kept up to a bound, then
 * counted and dropped. Source: SH7750 hardware manual section 16 (SCIF). */
#ifndef TARGETS_SIM_SH4_SCIF_H
#define TARGETS_SIM_SH4_SCIF_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum { SH4_SCIF_FIFO = 16, SH4_SCIF_HOST_BUF = 4096, SH4_SCIF_CAME = 256 };

struct sh4_scif {
    uint16_t scsmr, scscr, scfsr, scfcr, scsptr, sclsr;
    uint8_t scbrr;
    uint16_t seen_flags; /* SCFSR bits read as 1 since set: only these can be cleared */
    uint8_t tx[SH4_SCIF_FIFO], rx[SH4_SCIF_FIFO];
    unsigned tx_len, rx_len;
    bool shifting; /* a character is on the line out */
    uint8_t shift;
    uint64_t tx_done;  /* when it is through */
    uint64_t rx_at;    /* when the next character from the host can have arrived */
    uint64_t rx_pause; /* until the host is asked again, while it has nothing */
    uint64_t rx_last;  /* when the last one came, for DR */
    uint64_t seen;
    int fd_in, fd_out;               /* -1: nothing there */
    uint8_t host[SH4_SCIF_HOST_BUF]; /* sent by the program, not yet taken by the host */
    size_t host_len;
    uint8_t came[SH4_SCIF_CAME]; /* from the host, not yet through the line */
    size_t came_at, came_len;
    uint64_t sent, received, dropped; /* characters; dropped: the host did not take them */
};

/* sh4_scif_init - registers as after reset; fd_in/fd_out are borrowed, non-blocking, -1 for none.
 */
void sh4_scif_init(struct sh4_scif *s, int fd_in, int fd_out);
/* sh4_scif_reset - registers as after reset at time now; the line and its counters stay. */
void sh4_scif_reset(struct sh4_scif *s, uint64_t now);
/* sh4_scif_advance - characters that left or arrived up to now. Makes a system call at most once
 * per character time and only while the transmitter has data or the receiver is on. A host that has
 * nothing is asked less and less often, but every 50 us (of a 50 MHz clock) or character time. */
void sh4_scif_advance(struct sh4_scif *s, uint64_t now);
/* sh4_scif_next - peripheral clock at which something can happen next; UINT64_MAX if nothing. */
uint64_t sh4_scif_next(const struct sh4_scif *s);
bool sh4_scif_irq_eri(const struct sh4_scif *s);
bool sh4_scif_irq_rxi(const struct sh4_scif *s);
bool sh4_scif_irq_bri(const struct sh4_scif *s);
bool sh4_scif_irq_txi(const struct sh4_scif *s);
/* Register access by P4 address after sh4_scif_advance(now); false if the address is not the
 * SCIF's. Reads have the manual's side effects (the receive FIFO, flags seen). */
bool sh4_scif_read(struct sh4_scif *s, uint32_t addr, uint32_t *value);
bool sh4_scif_write(struct sh4_scif *s, uint32_t addr, uint32_t value);

#endif
