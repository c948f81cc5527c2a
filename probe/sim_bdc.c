/* Driver "sim" for boards with a BKGD pin: BDC commands become timed stretches of the line, as the
 * firmware of a pod makes them. Bit times and turnarounds: ZVHL p.144-175, ZVM p.151-166. */
#include "probe/sim_bdc.h"

#include <stdlib.h>
#include <string.h>

#include "probe/base/choice.h"
#include "probe/base/util.h"

enum {
    ONE_LOW_CYCLES = 4,
    ZERO_LOW_CYCLES = 13,
    SYNC_REQUEST_NS = 1000000, /* 128 cycles of a 0.13 MHz clock: slower than any part's */
    SYNC_ANSWER_NS = 2000000,
    ACK_TIMEOUT_NS = 3000000, /* pods wait 2.5 ms (USBDM-FW) */
    ACK_TIMEOUT_CYCLES = 1024,
    LONG_ACK_LIMIT_CYCLES = 40,
    MAX_STRETCHES = 3 * 8 * 12, /* of one command or one answer */
    DEFAULT_HZ = 1000000
};

struct sim_bdc_probe {
    struct probe probe;
    struct sim_board *board;
    uint32_t hz;
    bool ack, held;
    uint64_t cycles_ns, transfers, bytes;
    struct bkgd_stretch s[MAX_STRETCHES];
    size_t n;
};

static struct sim_bdc_probe *sim_bdc_of(struct probe *p)
{
    return CONTAINER_OF(p, struct sim_bdc_probe, probe);
}
/* Rounded up: a host may be late by a fraction of a cycle, but its next edge may not come before
 * the last bit is over. */
static uint64_t ns_of(const struct sim_bdc_probe *s, uint64_t cycles)
{
    return (cycles * 1000000000u + s->hz - 1) / s->hz;
}

static void add_drive(struct sim_bdc_probe *s, enum bkgd_drive drive, uint64_t cycles)
{
    s->s[s->n++] =
        (struct bkgd_stretch){ .drive = drive, .until = BKGD_TIME, .ns = ns_of(s, cycles) };
}

/* Makes what was added; the stretches stay in place with their results. */
static int flush_drive(struct sim_bdc_probe *s, struct err *err)
{
    size_t n = s->n;
    int ret = 0;
    if (n)
        ret = s->board->type->bkgd(s->board, s->s, n, err);
    for (size_t k = 0; k < n; k++)
        s->cycles_ns += s->s[k].took_ns;
    s->n = 0;
    s->transfers += n > 0;
    return ret;
}

static void send_byte(struct sim_bdc_probe *s, uint8_t v)
{
    for (unsigned k = 8; k-- > 0;) {
        unsigned low = ZERO_LOW_CYCLES;
        if (v >> k & 1)
            low = ONE_LOW_CYCLES;
        add_drive(s, BKGD_LOW, low);
        add_drive(s, BKGD_HIGH, BDC_BIT_CYCLES - low);
    }
    s->bytes++;
}

static int receive_bits(struct sim_bdc_probe *s, uint8_t *rx, unsigned bytes, struct err *err)
{
    for (unsigned k = 0; k < 8 * bytes; k++) {
        add_drive(s, BKGD_LOW, ONE_LOW_CYCLES);
        add_drive(s, BKGD_RELEASED, BDC_SAMPLE_CYCLE - ONE_LOW_CYCLES);
        add_drive(s, BKGD_RELEASED, BDC_BIT_CYCLES - BDC_SAMPLE_CYCLE);
    }
    int ret = flush_drive(s, err);
    for (unsigned k = 0; ret == 0 && k < 8 * bytes; k++)
        rx[k / 8] = (uint8_t)(rx[k / 8] << 1 | s->s[3 * k + 1].level);
    s->bytes += bytes;
    return ret;
}

/* Waits for an ACK pulse, or the fixed delay where there is none. */
static int wait_turnaround(struct sim_bdc_probe *s, const struct bdc_shape *shape,
                           enum bdc_outcome *outcome, struct err *err)
{
    int ret;
    if (!s->ack) {
        add_drive(s, BKGD_RELEASED, BDC_DELAY_CYCLES);
        return flush_drive(s, err);
    }
    if (!shape->acks) {
        unsigned cycles = BDC_DELAY_CYCLES;
        if (shape->status)
            cycles = BDC_WS_DELAY_CYCLES;
        add_drive(s, BKGD_RELEASED, cycles);
        return flush_drive(s, err);
    }
    uint64_t most = MAX(ACK_TIMEOUT_NS, ns_of(s, ACK_TIMEOUT_CYCLES));
    if ((ret = flush_drive(s, err)) < 0)
        return ret;
    s->s[0] = (struct bkgd_stretch){ .drive = BKGD_RELEASED, .until = BKGD_FALL, .ns = most };
    s->s[1] = (struct bkgd_stretch){ .drive = BKGD_RELEASED, .until = BKGD_RISE, .ns = most };
    if ((ret = s->board->type->bkgd(s->board, s->s, 1, err)) < 0)
        return ret;
    s->cycles_ns += s->s[0].took_ns;
    if (!s->s[0].met) {
        *outcome = BDC_NO_ACK;
        return 0;
    }
    if ((ret = s->board->type->bkgd(s->board, s->s + 1, 1, err)) < 0)
        return ret;
    s->cycles_ns += s->s[1].took_ns;
    if (!s->s[1].met)
        *outcome = BDC_NO_ACK; /* stuck low */
    else if (s->s[1].took_ns > ns_of(s, LONG_ACK_LIMIT_CYCLES))
        *outcome = BDC_LONG_ACK;
    add_drive(s, BKGD_RELEASED, 2);
    return flush_drive(s, err);
}

/* One command. rx: as long as its shape says, the status byte first. */
static int run_command(struct sim_bdc_probe *s, uint8_t opcode, uint32_t addr, const uint8_t *tx,
                       uint8_t *rx, enum bdc_outcome *outcome, struct err *err)
{
    struct bdc_shape shape;
    uint8_t answer[16] = { 0 };
    if (bdc_shape(opcode, &shape) < 0)
        return err_set(err, ERR_USAGE, "", "BDC: no command %02X", opcode);
    *outcome = BDC_OK;
    send_byte(s, opcode);
    for (unsigned k = shape.address_bytes; k-- > 0;)
        send_byte(s, (uint8_t)(addr >> (8 * k)));
    for (unsigned k = 0; k < shape.tx_bytes; k++)
        send_byte(s, tx[k]);
    unsigned rx_bytes = shape.rx_bytes + shape.status, parts = MAX(shape.acks, 1);
    for (unsigned part = 0; part < parts && *outcome != BDC_NO_ACK; part++) {
        int ret = wait_turnaround(s, &shape, outcome, err);
        if (ret == 0 && *outcome != BDC_NO_ACK && rx_bytes)
            ret = receive_bits(s, answer + part * (rx_bytes / parts), rx_bytes / parts, err);
        if (ret < 0)
            return ret;
    }
    if (*outcome != BDC_NO_ACK && rx_bytes && rx)
        memcpy(rx, answer, rx_bytes);
    return 0;
}

/* Whether it is made of pieces that the part has a command for. */
static bool block_is_whole(const struct bdc_op *op)
{
    if (op->kind == BDC_LINES)
        return op->len % bdc_piece_bytes(op) == 0;
    if (op->width != 1 && op->width != 2 && op->width != 4)
        return false;
    return op->len % op->width == 0 && op->addr % op->width == 0;
}

static int run_block(struct sim_bdc_probe *s, struct bdc_op *op, struct err *err)
{
    unsigned step = bdc_piece_bytes(op);
    enum bdc_outcome worst = BDC_OK;
    if (!block_is_whole(op))
        return err_set(err, ERR_USAGE, "", "BDC: %u bytes at %06X in pieces of %u", op->len,
                       op->addr, step);
    for (uint32_t at = 0; at < op->len && worst != BDC_NO_ACK; at += step) {
        const struct bdc_piece piece = bdc_piece_at(op, at);
        int ret = run_command(s, piece.opcode, op->addr, piece.tx, piece.rx, &op->outcome, err);
        if (ret < 0)
            return ret;
        worst = MAX(worst, op->outcome);
    }
    op->outcome = worst;
    return 0;
}

static int run_op(struct sim_bdc_probe *s, struct bdc_op *op, struct err *err)
{
    int ret;
    switch (op->kind) {
    case BDC_COMMAND:
        ret = run_command(s, op->opcode, op->addr, op->tx, op->rx, &op->outcome, err);
        break;
    case BDC_READ:
    case BDC_WRITE:
    case BDC_LINES: ret = run_block(s, op, err); break;
    case BDC_PAUSE:
        add_drive(s, BKGD_RELEASED, op->len);
        op->outcome = BDC_OK;
        ret = flush_drive(s, err);
        break;
    default: return err_set(err, ERR_USAGE, "", "BDC op of unknown kind %d", (int)op->kind);
    }
    op->at_ns = s->board->type->now_ns(s->board);
    return ret;
}

static int sim_execute(struct probe *p, struct bdc_op *ops, size_t n, bool stop_on_long,
                       struct err *err)
{
    struct sim_bdc_probe *s = sim_bdc_of(p);
    for (size_t k = 0; k < n; k++)
        ops[k].outcome = BDC_NOT_SENT;
    for (size_t k = 0; k < n; k++) {
        s->n = 0;
        int ret = run_op(s, &ops[k], err);
        if (ret < 0)
            return err_prefix(err, ret, p->name);
        if (ops[k].outcome == BDC_NO_ACK || (stop_on_long && ops[k].outcome == BDC_LONG_ACK))
            return (int)k + 1;
    }
    return (int)n;
}

static int sim_sync(struct probe *p, uint32_t *hz, struct err *err)
{
    struct sim_bdc_probe *s = sim_bdc_of(p);
    struct bkgd_stretch request[] = {
        { .drive = BKGD_RELEASED, .ns = 20000 },
        { .drive = BKGD_LOW, .ns = SYNC_REQUEST_NS },
        { .drive = BKGD_RELEASED, .until = BKGD_FALL, .ns = SYNC_ANSWER_NS },
        { .drive = BKGD_RELEASED, .until = BKGD_RISE, .ns = SYNC_ANSWER_NS },
        { .drive = BKGD_RELEASED, .ns = 20000 },
    };
    int ret = s->board->type->bkgd(s->board, request, ARRAY_LEN(request), err);
    if (ret < 0)
        return err_prefix(err, ret, "SYNC");
    if (!request[0].level && !request[4].level)
        return err_set(err, ERR_NO_TARGET,
                       "look for a short of BKGD to ground, or another pod on the line",
                       "SYNC: BKGD stays low");
    if (!request[2].met || !request[3].met || request[3].took_ns == 0)
        return err_set(err, ERR_NO_TARGET, "check target power, the BKGD line and the RESET line",
                       "SYNC: no answer");
    s->hz = (uint32_t)(BDC_SYNC_CYCLES * 1000000000ull / request[3].took_ns);
    *hz = s->hz;
    return 0;
}

static int sim_set_clock(struct probe *p, uint32_t hz, struct err *err)
{
    if (hz < 1000 || hz > 100000000)
        return err_set(err, ERR_USAGE, "1 kHz to 100 MHz", "BDC clock of %u Hz", hz);
    sim_bdc_of(p)->hz = hz;
    return 0;
}

static int sim_set_ack(struct probe *p, bool on, struct err *err)
{
    (void)err;
    sim_bdc_of(p)->ack = on;
    return 0;
}

static bool sim_can(struct probe *p, enum bdc_op_kind kind, uint8_t opcode)
{
    struct bdc_shape shape;
    (void)p;
    return kind != BDC_COMMAND || bdc_shape(opcode, &shape) == 0;
}

static int sim_set_pins(struct probe *p, unsigned mask, unsigned value, struct err *err)
{
    struct sim_bdc_probe *s = sim_bdc_of(p);
    return s->board->type->set_pins(s->board, mask, value, err);
}

static int sim_get_pins(struct probe *p, unsigned *value, unsigned *known, struct err *err)
{
    struct sim_bdc_probe *s = sim_bdc_of(p);
    return s->board->type->get_pins(s->board, value, known, err);
}

static int sim_wait(struct probe *p, uint64_t ns, struct err *err)
{
    struct sim_bdc_probe *s = sim_bdc_of(p);
    return s->board->type->advance(s->board, ns, err);
}

static uint64_t sim_now_ns(struct probe *p)
{
    struct sim_bdc_probe *s = sim_bdc_of(p);
    return s->board->type->now_ns(s->board);
}

static void sim_stats(struct probe *p, uint64_t *cycles, uint64_t *transfers, uint64_t *bytes)
{
    struct sim_bdc_probe *s = sim_bdc_of(p);
    if (cycles)
        *cycles = s->cycles_ns * (s->hz / 1000) / 1000000;
    if (transfers)
        *transfers = s->transfers;
    if (bytes)
        *bytes = s->bytes;
}

/* ---- the capture pins ---- */

static int sim_pdo_start(struct probe *p, uint64_t *tick_hz, struct err *err)
{
    struct sim_bdc_probe *s = sim_bdc_of(p);
    *tick_hz = 1000000000000u;
    if (s->board->type->pdo_capture(s->board, true) < 0)
        return err_set(err, ERR_UNSUPPORTED, "sim:s12zvml128 and sim:s12zvmc256 have them",
                       "this board has no PDO and PDOCLK pins");
    return 0;
}

static int sim_pdo_read(struct probe *p, pdo_edge *out, size_t cap, uint64_t *lost, struct err *err)
{
    struct sim_bdc_probe *s = sim_bdc_of(p);
    (void)err;
    return (int)s->board->type->pdo_take(s->board, out, MIN(cap, (size_t)1 << 30), lost);
}

static int sim_pdo_stop(struct probe *p, struct err *err)
{
    struct sim_bdc_probe *s = sim_bdc_of(p);
    (void)err;
    s->board->type->pdo_capture(s->board, false);
    return 0;
}

static void sim_close(struct probe *p)
{
    if (!p)
        return;
    struct sim_bdc_probe *s = sim_bdc_of(p);
    if (s->board)
        s->board->type->destroy(s->board);
    free(s);
}

static const struct bdc_ops sim_bdc = {
    .execute = sim_execute,
    .sync = sim_sync,
    .set_clock = sim_set_clock,
    .set_ack = sim_set_ack,
    .can = sim_can,
    .set_pins = sim_set_pins,
    .get_pins = sim_get_pins,
    .wait = sim_wait,
    .now_ns = sim_now_ns,
    .stats = sim_stats,
};

static const struct pdo_ops sim_pdo = { .start = sim_pdo_start,
                                        .read = sim_pdo_read,
                                        .stop = sim_pdo_stop };

static int sim_reopen(struct probe *p, struct err *err)
{
    return sim_board_reopen(sim_bdc_of(p)->board, p->name, err);
}

static const struct probe_driver sim_bdc_driver = {
    .name = "sim",
    .help = "a simulated board with BDC, e.g. sim:s12zvml128",
    .close = sim_close,
    .reopen = sim_reopen,
    .bdc = &sim_bdc,
    .pdo = &sim_pdo,
};

int sim_bdc_wrap(struct sim_board *board, const struct probe_config *cfg, struct probe **out,
                 struct err *err)
{
    struct sim_bdc_probe *s = calloc(1, sizeof *s);
    if (!s)
        return err_set(err, ERR_NOMEM, "", "sim: out of memory");
    s->probe.driver = &sim_bdc_driver;
    s->probe.log = cfg->log;
    s->board = board;
    s->hz = EITHER(cfg->speed_hz, DEFAULT_HZ);
    *out = &s->probe;
    return 0;
}
