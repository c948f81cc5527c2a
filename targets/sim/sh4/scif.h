/* SCIF of the board model: a serial port with FIFOs of 16 bytes. The other end of its line is a
 * pair of the host's descriptors. A character takes its time on the line, by bit rate and format.
 * Time is given in peripheral clocks (`now`). The descriptors are non-blocking: output that the
 * host does not take is kept up to a bound, then dropped and counted. Source: SH7750 hardware
 * manual, section 16 (SCIF). */
#ifndef TARGETS_SIM_SH4_SCIF_H
#define TARGETS_SIM_SH4_SCIF_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum { SH4_SCIF_FIFO = 16, SH4_SCIF_HOST_BUF = 4096, SH4_SCIF_CAME = 256 };

struct sh4_scif {
    uint16_t scsmr, scscr, scfsr, scfcr, scsptr, sclsr;
    uint8_t scbrr;
    /* SCFSR bits that were read as 1 since they were set; only these can be cleared */
    uint16_t seen_flags;
    uint8_t tx[SH4_SCIF_FIFO], rx[SH4_SCIF_FIFO];
    unsigned tx_len, rx_len;
    bool shifting; /* a character is being sent */
    uint8_t shift;
    uint64_t tx_done;  /* when it will be sent */
    uint64_t rx_at;    /* when the next character from the host can have arrived */
    uint64_t rx_pause; /* how long the host is not asked again, while it has nothing */
    uint64_t rx_last;  /* when the last character came, for DR */
    uint64_t seen;
    int fd_in, fd_out;               /* -1: none */
    uint8_t host[SH4_SCIF_HOST_BUF]; /* sent by the program, not yet taken by the host */
    size_t host_len;
    uint8_t came[SH4_SCIF_CAME]; /* from the host, not yet received over the line */
    size_t came_at, came_len;
    uint64_t sent, received, dropped; /* characters; dropped: the host did not take them */
};

/* sh4_scif_init - registers as after a reset. fd_in and fd_out are borrowed and non-blocking; -1:
 * none. */
void sh4_scif_init(struct sh4_scif *s, int fd_in, int fd_out);
/* sh4_scif_reset - registers as after a reset at time now. The line and its counts stay. */
void sh4_scif_reset(struct sh4_scif *s, uint64_t now);
/* sh4_scif_advance - sends and receives characters up to now. It makes a system call at most once a
 * character time, and only while the transmitter has data or the receiver is on. A host that has
 * nothing is asked less and less often, down to once in 50 us (at a peripheral clock of 50 MHz) or
 * once a character time, whichever is longer. */
void sh4_scif_advance(struct sh4_scif *s, uint64_t now);
/* sh4_scif_next - the peripheral clock at which something can happen next; UINT64_MAX: nothing
 * can. */
uint64_t sh4_scif_next(const struct sh4_scif *s);
/* sh4_scif_irq_eri, _rxi, _bri, _txi - is this interrupt requested, as of the last advance? */
bool sh4_scif_irq_eri(const struct sh4_scif *s);
bool sh4_scif_irq_rxi(const struct sh4_scif *s);
bool sh4_scif_irq_bri(const struct sh4_scif *s);
bool sh4_scif_irq_txi(const struct sh4_scif *s);
/* Accesses to registers by their P4 address, to be preceded by sh4_scif_advance(now). False: the
 * address is not the SCIF's. A read has the side effects that the manual gives (FIFO, flags
 * seen). */
bool sh4_scif_read(struct sh4_scif *s, uint32_t addr, uint32_t *value);
bool sh4_scif_write(struct sh4_scif *s, uint32_t addr, uint32_t value);

#endif
