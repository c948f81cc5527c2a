#include "tests/system/usb/wiring.h"

#include <stdio.h>
#include <string.h>

#include "probe/base/options.h"
#include "probe/base/util.h"
#include "probe/jtag.h"
#include "profiler/cli/boards.h"

enum { PIECE = 4096 }; /* clocks handed through the chain at a time */

static struct wiring *wiring_of(struct sim_board *b)
{
    return CONTAINER_OF(b, struct wiring, base);
}

/* ---- JTAG ---- */

static void clock_through(struct tap *t, unsigned n, size_t clocks, const uint8_t *tms,
                          uint8_t *line)
{
    for (unsigned i = 0; i < n; i++)
        tap_clock(&t[i], clocks, tms, line, line);
}

static int clock_piece(struct wiring *w, size_t n, const uint8_t *tms, const uint8_t *tdi,
                       uint8_t *tdo, struct err *err)
{
    uint8_t in[PIECE / 8], out[PIECE / 8];
    memcpy(in, tdi, (n + 7) / 8);
    clock_through(w->before, w->nbefore, n, tms, in);
    if (w->alone)
        memcpy(out, in, sizeof out);
    int ret = w->alone ? 0 : w->board->type->clock(w->board, n, tms, in, out, err);
    if (ret < 0)
        return ret;
    clock_through(w->after, w->nafter, n, tms, out);
    if (tdo)
        memcpy(tdo, out, (n + 7) / 8);
    return 0;
}

static int clock_board(struct wiring *w, size_t n, const uint8_t *tms, const uint8_t *tdi,
                       uint8_t *tdo, struct err *err)
{
    if (w->nbefore + w->nafter == 0)
        return w->board->type->clock(w->board, n, tms, tdi, tdo, err);
    for (size_t done = 0; done < n; done += PIECE) {
        int ret = clock_piece(w, MIN(n - done, PIECE), tms + done / 8, tdi + done / 8,
                              tdo ? tdo + done / 8 : NULL, err);
        if (ret < 0)
            return ret;
    }
    return 0;
}

/* Pins that nobody drives are pulled up: at the board TDI and TMS, at the adapter TDO. */
static int clock_faulty(struct wiring *w, size_t n, const uint8_t *tms, const uint8_t *tdi,
                        uint8_t *tdo, struct err *err)
{
    static uint8_t const high[PIECE / 8] = { [0 ... PIECE / 8 - 1] = 0xFF }, low[PIECE / 8];
    for (size_t done = 0; done < n; done += PIECE) {
        size_t part = MIN(n - done, PIECE), bytes = (part + 7) / 8;
        const uint8_t *m = tms + done / 8, *i = tdi + done / 8;
        bool swapped = w->wires == TMS_TDI_SWAPPED;
        const uint8_t *bm = w->wires == TMS_HIGH  ? high
                            : w->wires == TMS_LOW ? low
                            : swapped             ? i
                                                  : m;
        const uint8_t *bi = w->wires == TDI_HIGH || w->wires == TDI_TDO_SWAPPED ? high
                            : w->wires == TDI_LOW                               ? low
                            : swapped                                           ? m
                                                                                : i;
        uint8_t out[PIECE / 8];
        int ret = w->wires == TCK_OPEN ? 0 : clock_board(w, part, bm, bi, out, err);
        if (ret < 0)
            return ret;
        const uint8_t *seen =
            w->wires == TDO_LOW                                                           ? low
            : w->wires == TDI_TDO_SHORTED                                                 ? i
            : w->wires == TDO_HIGH || w->wires == TCK_OPEN || w->wires == TDI_TDO_SWAPPED ? high
                                                                                          : out;
        if (tdo)
            memcpy(tdo + done / 8, seen, bytes);
    }
    return 0;
}

static int wiring_clock(struct sim_board *b, size_t n, const uint8_t *tms, const uint8_t *tdi,
                        uint8_t *tdo, struct err *err)
{
    struct wiring *w = wiring_of(b);
    w->tck_clocks += n;
    if (w->off) {
        if (tdo)
            memset(tdo, 0, (n + 7) / 8);
        return 0;
    }
    return w->wires == WIRES_GOOD ? clock_board(w, n, tms, tdi, tdo, err)
                                  : clock_faulty(w, n, tms, tdi, tdo, err);
}

static uint32_t wiring_set_tck_hz(struct sim_board *b, uint32_t hz)
{
    struct wiring *w = wiring_of(b);
    w->tck_hz = hz;
    return w->board->type->set_tck_hz(w->board, hz);
}

/* ---- BKGD ---- */

static int wiring_bkgd(struct sim_board *b, struct bkgd_stretch *s, size_t n, struct err *err)
{
    struct wiring *w = wiring_of(b);
    if (!w->off)
        return w->board->type->bkgd(w->board, s, n, err);
    for (size_t i = 0; i < n; i++) { /* the pull-up hangs at the target's supply */
        s[i].took_ns = s[i].ns;
        s[i].level = s[i].drive == BKGD_HIGH;
        s[i].met = false;
        w->off_ns += s[i].ns;
    }
    return 0;
}

/* ---- both ---- */

static int wiring_set_pins(struct sim_board *b, unsigned mask, unsigned value, struct err *err)
{
    struct wiring *w = wiring_of(b);
    w->pin_mask |= mask;
    w->pins = (w->pins & ~mask) | (value & mask);
    if (w->type->clock && (mask & ~value & JTAG_PIN_NTRST)) {
        for (unsigned i = 0; i < w->nbefore; i++)
            tap_reset(&w->before[i]);
        for (unsigned i = 0; i < w->nafter; i++)
            tap_reset(&w->after[i]);
    }
    return w->off ? 0 : w->board->type->set_pins(w->board, mask, value, err);
}

static int wiring_get_pins(struct sim_board *b, unsigned *value, unsigned *known, struct err *err)
{
    struct wiring *w = wiring_of(b);
    int ret = w->board->type->get_pins(w->board, value, known, err);
    if (ret == 0 && w->off)
        *value = 0;
    return ret;
}

static int wiring_advance(struct sim_board *b, uint64_t ns, struct err *err)
{
    struct wiring *w = wiring_of(b);
    if (!w->off)
        return w->board->type->advance(w->board, ns, err);
    w->off_ns += ns;
    return 0;
}

static uint64_t wiring_now_ns(struct sim_board *b)
{
    struct wiring *w = wiring_of(b);
    return w->board->type->now_ns(w->board) + w->off_ns;
}

static int wiring_pdo_capture(struct sim_board *b, bool on)
{
    struct wiring *w = wiring_of(b);
    return w->board->type->pdo_capture ? w->board->type->pdo_capture(w->board, on)
                                       : -ERR_UNSUPPORTED;
}

static size_t wiring_pdo_take(struct sim_board *b, pdo_edge *out, size_t cap, uint64_t *lost)
{
    struct wiring *w = wiring_of(b);
    return w->board->type->pdo_take ? w->board->type->pdo_take(w->board, out, cap, lost) : 0;
}

static const struct sim_board_type jtag_wiring = {
    .name = "wiring",
    .clock = wiring_clock,
    .set_tck_hz = wiring_set_tck_hz,
    .set_pins = wiring_set_pins,
    .get_pins = wiring_get_pins,
    .advance = wiring_advance,
    .now_ns = wiring_now_ns,
};
static const struct sim_board_type bkgd_wiring = {
    .name = "wiring",
    .bkgd = wiring_bkgd,
    .set_pins = wiring_set_pins,
    .get_pins = wiring_get_pins,
    .advance = wiring_advance,
    .now_ns = wiring_now_ns,
    .pdo_capture = wiring_pdo_capture,
    .pdo_take = wiring_pdo_take,
};

/* ---- building ---- */

int wiring_open(struct wiring *w, const char *spec, struct err *err)
{
    static const char prefix[] = "sim:";
    const char *name =
        strncmp(spec, prefix, sizeof prefix - 1) == 0 ? spec + sizeof prefix - 1 : spec;
    size_t len = strcspn(name, ",");
    for (const struct sim_board_type *const *t = boards(); *t; t++)
        if (strlen((*t)->name) == len && strncmp((*t)->name, name, len) == 0)
            w->type = *t;
    if (!w->type)
        return err_set(err, ERR_USAGE, "as after --probe: sim:sh7750,be", "no board \"%s\"", spec);
    int ret = options_text(w->options, sizeof w->options, name[len] ? name + len + 1 : "", err);
    if (ret == 0)
        ret = w->type->create(w->options, NULL, &w->board, err);
    w->base.type = w->type->bkgd ? &bkgd_wiring : &jtag_wiring;
    return ret;
}

int wiring_chain(struct wiring *w, const char *text, struct err *err)
{
    bool after = strncmp(text, "after:", 6) == 0;
    unsigned *n = after ? &w->nafter : &w->nbefore;
    const char *colon = strchr(text, ':');
    if (*n == WIRING_TAPS)
        return err_set(err, ERR_USAGE, "", "more than %d TAPs", WIRING_TAPS);
    if (!w->type || !w->type->clock)
        return err_set(err, ERR_USAGE, "give --board first", "a chain needs a board with JTAG");
    w->alone |= strncmp(text, "instead:", 8) == 0;
    int ret = tap_parse(&(after ? w->after : w->before)[*n], colon ? colon + 1 : text, err);
    *n += ret == 0;
    return ret;
}

int wiring_fault(struct wiring *w, const char *text, struct err *err)
{
    static const char *const names[] = {
        "good",     "tdi-high", "tdi-low",         "tms-high",        "tms-low",        "tck-open",
        "tdo-high", "tdo-low",  "tdi-tdo-swapped", "tms-tdi-swapped", "tdi-tdo-shorted"
    };
    for (size_t i = 0; w->type && w->type->clock && i < ARRAY_LEN(names); i++)
        if (strcmp(names[i], text) == 0) {
            w->wires = i;
            return 0;
        }
    return err_set(err, ERR_USAGE, "tdi-high, tdi-low, tms-high, ..., of a board with JTAG",
                   "no wires \"%s\"", text);
}

int wiring_power(struct wiring *w, bool on, struct err *err)
{
    struct sim_board *fresh;
    if (!w->board || w->off == !on)
        return 0;
    w->off = !on;
    if (!on)
        return 0;
    int ret = w->type->create(w->options, NULL, &fresh, err);
    if (ret < 0)
        return ret;
    w->off_ns += w->board->type->now_ns(w->board); /* time does not go back */
    w->type->destroy(w->board);
    w->board = fresh;
    if (w->tck_hz)
        w->type->set_tck_hz(w->board, w->tck_hz);
    return w->pin_mask ? w->type->set_pins(w->board, w->pin_mask, w->pins, err) : 0;
}

void wiring_close(struct wiring *w)
{
    if (w->board)
        w->type->destroy(w->board);
    w->board = NULL;
}
