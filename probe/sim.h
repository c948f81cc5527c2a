/* Simulated wires: how a board model hangs behind the "sim" driver.
 *
 * The model lives in targets/ and may not be named here; main() hands the driver a table of board
 * types. A board is reached ONLY through pins: TCK/TMS/TDI/TDO bits and reset pins. One virtual
 * clock per board, in CPU cycles; TCK costs cycles at the configured ratio. */
#ifndef PROBE_SIM_H
#define PROBE_SIM_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "probe/base/err.h"
#include "probe/base/log.h"
#include "probe/pdo.h"

struct sim_board;

/* One stretch of the BKGD line as the adapter makes it. The line is pulled up: released, it is high
 * unless the target drives it low. */
enum bkgd_drive { BKGD_RELEASED, BKGD_LOW, BKGD_HIGH };
/* ends after ns, or earlier when the target makes that edge */
enum bkgd_until { BKGD_TIME, BKGD_FALL, BKGD_RISE };
struct bkgd_stretch {
    enum bkgd_drive drive;
    enum bkgd_until until;
    uint64_t ns;      /* length, or the most it may take */
    uint64_t took_ns; /* out */
    bool level;       /* out: line level at the end */
    bool met;         /* out: the edge came (BKGD_FALL, BKGD_RISE) */
};

struct sim_board_type {
    const char *name; /* "sh7750": --probe sim:sh7750 */
    const char *help;
    /* options: text after the board's name, "be,tck=10000000,serial=pty,..." or "". */
    int (*create)(const char *options, const struct log *log, struct sim_board **out,
                  struct err *err);
    void (*destroy)(struct sim_board *b);
    /* Clocks n TCK cycles. tms, tdi: packed bits, bit 0 first; tdo: filled with the TDO level
     * sampled on each rising edge (may be NULL). Virtual time advances n TCK periods. Returns 0 or,
     * for an injected fault (unplugged, no power), a failure. */
    int (*clock)(struct sim_board *b, size_t n, const uint8_t *tms, const uint8_t *tdi,
                 uint8_t *tdo, struct err *err);
    /* Pin levels as in jtag.h (enum jtag_pin). */
    int (*set_pins)(struct sim_board *b, unsigned mask, unsigned value, struct err *err);
    int (*get_pins)(struct sim_board *b, unsigned *value, unsigned *known, struct err *err);
    /* TCK frequency in virtual time; returns what is used. */
    uint32_t (*set_tck_hz)(struct sim_board *b, uint32_t hz);
    /* Lets ns of virtual time pass with TCK still. */
    int (*advance)(struct sim_board *b, uint64_t ns, struct err *err);
    uint64_t (*now_ns)(struct sim_board *b);
    /* Boards with a BKGD pin instead of JTAG (clock and set_tck_hz are NULL then): makes the n
     * stretches one after another; virtual time advances by what they took. set_pins and get_pins
     * then take enum bdc_pin. */
    int (*bkgd)(struct sim_board *b, struct bkgd_stretch *s, size_t n, struct err *err);
    /* PDO and PDOCLK pins, NULL without. on: keep their edges (bounded; what does not fit is
     * counted). Ticks are ps. take: moves up to cap edges out, *lost = dropped since the last call.
     */
    int (*pdo_capture)(struct sim_board *b, bool on);
    size_t (*pdo_take)(struct sim_board *b, pdo_edge *out, size_t cap, uint64_t *lost);
    /* The adapter is let go of and opened again, which takes time: a board that injects an
     * unplugged adapter answers -ERR_USB until it is plugged in. NULL: nothing to do. */
    int (*reopen)(struct sim_board *b, struct err *err);
};

struct sim_board {
    const struct sim_board_type *type;
};

/* sim_board_reopen - the adapter of a board is opened again, as its type does that; name: the
 * adapter's, for the failure. Returns 0 or what the type does. */
static inline int sim_board_reopen(struct sim_board *b, const char *name, struct err *err)
{
    int ret = 0;
    if (b->type->reopen)
        ret = b->type->reopen(b, err);
    if (ret < 0)
        return err_prefix(err, ret, name);
    return 0;
}

#endif
