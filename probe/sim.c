/* Driver "sim": JTAG ops become TMS/TDI/TDO bit streams on a simulated board's pins, in chunks as a
 * USB adapter's transfers are. One chunk counts as one transfer. */
#include "probe/sim.h"

#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "probe/base/util.h"
#include "probe/jtag_stream.h"
#include "probe/probe.h"
#include "probe/sim_bdc.h"

enum {
    CHUNK_BITS = 32768, /* of one transfer */
    MAX_FIELDS = 2048,  /* captures that may wait for one transfer */
    BATCH_BITS = 65536
};

struct sim_probe {
    struct probe probe;
    struct sim_board *board;
    struct jtag_stream stream;
    struct jtag_chunk chunk;
    uint8_t tms[CHUNK_BITS / 8], tdi[CHUNK_BITS / 8], tdo[CHUNK_BITS / 8];
    struct jtag_field field[MAX_FIELDS];
};

static struct sim_probe *sim_of(struct probe *p)
{
    return CONTAINER_OF(p, struct sim_probe, probe);
}

static int clock_chunk(void *ctx, struct jtag_chunk *c, struct err *err)
{
    struct sim_probe *s = ctx;
    return s->board->type->clock(s->board, c->nbits, c->tms, c->tdi, c->tdo, err);
}

static void stream_init(struct sim_probe *s)
{
    static const struct jtag_stream_io io = { .send = clock_chunk };
    s->chunk = (struct jtag_chunk){ .tms = s->tms,
                                    .tdi = s->tdi,
                                    .tdo = s->tdo,
                                    .cap_bits = CHUNK_BITS,
                                    .field = s->field,
                                    .cap_fields = MAX_FIELDS };
    jtag_stream_init(&s->stream, &io, s, &s->chunk, 1);
}

static int sim_execute(struct probe *p, const struct jtag_op *ops, size_t n, struct err *err)
{
    int ret = jtag_stream_run(&sim_of(p)->stream, ops, n, err);
    if (ret < 0)
        return err_prefix(err, ret, p->name);
    return 0;
}

static int sim_set_pins(struct probe *p, unsigned mask, unsigned value, struct err *err)
{
    struct sim_probe *s = sim_of(p);
    return s->board->type->set_pins(s->board, mask, value, err);
}

static int sim_get_pins(struct probe *p, unsigned *value, unsigned *known, struct err *err)
{
    struct sim_probe *s = sim_of(p);
    return s->board->type->get_pins(s->board, value, known, err);
}

static int sim_set_clock(struct probe *p, uint32_t hz, uint32_t *got_hz, struct err *err)
{
    struct sim_probe *s = sim_of(p);
    if (hz == 0)
        return err_set(err, ERR_USAGE, "give a TCK frequency above 0", "TCK of 0 Hz");
    uint32_t got = s->board->type->set_tck_hz(s->board, hz);
    if (got_hz)
        *got_hz = got;
    return 0;
}

static int sim_wait(struct probe *p, uint64_t ns, struct err *err)
{
    struct sim_probe *s = sim_of(p);
    return s->board->type->advance(s->board, ns, err);
}

static uint64_t sim_now_ns(struct probe *p)
{
    struct sim_probe *s = sim_of(p);
    return s->board->type->now_ns(s->board);
}

static size_t sim_batch_bits(struct probe *p)
{
    (void)p;
    return BATCH_BITS;
}

static void sim_stats(struct probe *p, uint64_t *tck_clocks, uint64_t *transfers, uint64_t *bytes)
{
    struct sim_probe *s = sim_of(p);
    if (tck_clocks)
        *tck_clocks = s->stream.tck_clocks;
    if (transfers)
        *transfers = s->stream.chunks;
    if (bytes)
        *bytes = (s->stream.tck_clocks * 3 + 7) / 8; /* TMS and TDI out, TDO in */
}

static int unknown_board(const struct probe_config *cfg, const char *name, struct err *err)
{
    char hint[200] = "boards:";
    for (const struct sim_board_type *const *t = cfg->boards; t && *t; t++) {
        size_t used = strlen(hint);
        snprintf(hint + used, sizeof hint - used, " sim:%s", (*t)->name);
    }
    if (!name[0])
        return err_set(err, ERR_USAGE, hint, "sim: no board named");
    return err_set(err, ERR_USAGE, hint, "sim: no board \"%s\"", name);
}

static void sim_close(struct probe *p)
{
    if (!p)
        return;
    struct sim_probe *s = sim_of(p);
    if (s->board)
        s->board->type->destroy(s->board);
    free(s);
}

static int sim_reopen(struct probe *p, struct err *err)
{
    return sim_board_reopen(sim_of(p)->board, p->name, err);
}

static const struct probe_driver *this_driver(void);

static int wrap_board(struct sim_board *board, const struct probe_config *cfg, struct probe **out,
                      struct err *err)
{
    struct sim_probe *s = calloc(1, sizeof *s);
    if (!s)
        return err_set(err, ERR_NOMEM, "", "sim: out of memory");
    s->probe.driver = this_driver();
    s->probe.log = cfg->log;
    s->board = board;
    stream_init(s);
    if (cfg->speed_hz)
        board->type->set_tck_hz(board, cfg->speed_hz);
    *out = &s->probe;
    return 0;
}

static int sim_open(const struct probe_config *cfg, struct probe **out, struct err *err)
{
    size_t len = strcspn(cfg->spec, ",");
    const struct sim_board_type *type = NULL;
    struct sim_board *board;
    for (const struct sim_board_type *const *t = cfg->boards; t && *t; t++)
        if (strlen((*t)->name) == len && strncmp((*t)->name, cfg->spec, len) == 0)
            type = *t;
    if (!type) {
        char name[40];
        snprintf(name, sizeof name, "%.*s", (int)MIN(len, sizeof name - 1), cfg->spec);
        return unknown_board(cfg, name, err);
    }
    int ret = type->create(cfg->spec[len] ? cfg->spec + len + 1 : "", cfg->log, &board, err);
    if (ret < 0)
        return err_prefix(err, ret, type->name);
    if (type->bkgd)
        ret = sim_bdc_wrap(board, cfg, out, err);
    else
        ret = wrap_board(board, cfg, out, err);
    if (ret < 0)
        type->destroy(board);
    else
        snprintf((*out)->name, sizeof(*out)->name, "sim:%s", type->name);
    return ret;
}

static const struct jtag_ops sim_jtag = {
    .execute = sim_execute,
    .set_pins = sim_set_pins,
    .get_pins = sim_get_pins,
    .set_clock = sim_set_clock,
    .wait = sim_wait,
    .now_ns = sim_now_ns,
    .batch_bits = sim_batch_bits,
    .stats = sim_stats,
};

const struct probe_driver sim_driver = {
    .name = "sim",
    .help = "a simulated board, e.g. sim:sh7750",
    .open = sim_open,
    .close = sim_close,
    .reopen = sim_reopen,
    .jtag = &sim_jtag,
};

static const struct probe_driver *this_driver(void) { return &sim_driver; }
