/* Makes inputs for fuzz_sh4_link of what a simulated board says in the session the fuzzer plays: to be run again when the driver or its agent change.
 *
 * usage: record_link FOLDER      writes private and chained_private there; the others are of boards that tests build (test_wire.c, serial_rig.c) */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "probe/base/util.h"
#include "probe/probe.h"
#include "probe/sim.h"
#include "targets/sh4/model/board.h"
#include "targets/sh4/sh4.h"
#include "tests/fuzz/session.h"

struct recorder {
    struct probe probe;
    struct probe *sim;
    FILE *out;
    uint64_t ns; /* the fuzzer's clock */
};

static struct recorder *of(struct probe *p) { return CONTAINER_OF(p, struct recorder, probe); }

static int execute(struct probe *p, const struct jtag_op *ops, size_t n, struct err *err)
{
    struct recorder *r = of(p);
    int ret = r->sim->driver->jtag->execute(r->sim, ops, n, err);
    for (size_t i = 0; ret == 0 && i < n; i++) {
        r->ns += 100 * (ops[i].bits + ops[i].idle_clocks + 5);
        if (ops[i].tdo)
            fwrite(ops[i].tdo, 1, (ops[i].bits + 7) / 8, r->out);
    }
    return ret;
}

static int set_pins(struct probe *p, unsigned mask, unsigned value, struct err *err) { return of(p)->sim->driver->jtag->set_pins(of(p)->sim, mask, value, err); }

static int get_pins(struct probe *p, unsigned *value, unsigned *known, struct err *err)
{
    (void)p, (void)err;
    *value = *known = JTAG_PIN_VTREF | JTAG_PIN_NRESET;
    return 0;
}

static int set_clock(struct probe *p, uint32_t hz, uint32_t *got_hz, struct err *err) { return of(p)->sim->driver->jtag->set_clock(of(p)->sim, hz, got_hz, err); }

static int wait_ns(struct probe *p, uint64_t ns, struct err *err)
{
    of(p)->ns += ns;
    return of(p)->sim->driver->jtag->wait(of(p)->sim, ns, err);
}

static uint64_t now_ns(struct probe *p) { return of(p)->ns; }
static size_t batch_bits(struct probe *p) { (void)p; return 4096; }
static unsigned ir_bits(struct probe *p) { (void)p; return 16; }
static void stats(struct probe *p, uint64_t *clocks, uint64_t *transfers, uint64_t *bytes) { fuzz_stats(of(p)->ns, clocks, transfers, bytes); }

static int record(const char *path, bool chained, uint8_t first)
{
    static const struct sim_board_type *const boards[] = { &sh4_board_sh7750, NULL };
    struct jtag_ops jtag = { .execute = execute, .set_pins = set_pins, .get_pins = get_pins, .set_clock = set_clock, .wait = wait_ns, .now_ns = now_ns,
                             .batch_bits = batch_bits, .stats = stats, .ir_bits = chained ? ir_bits : NULL };
    const struct probe_driver driver = { .name = "any", .jtag = &jtag };
    struct probe_config cfg = { .boards = boards };
    struct recorder r = { .probe = { .driver = &driver, .name = "any" }, .out = fopen(path, "wb") };
    const struct sh4_options opt = { .allow_private = true };
    struct err err = { .code = ERR_OK };
    struct target *t;
    int ret = r.out ? probe_open("sim:sh7750", &cfg, &r.sim, &err) : -1;
    if (ret == 0)
        ret = sh4_open(&r.probe, &opt, &t, &err);
    if (ret == 0) {
        fputc(first, r.out);
        fuzz_session(t, &(struct fuzz_session){ BP_SOFT, 0x8C010000, 0x8C010000 });
        t->ops->close(t);
    }
    probe_close(r.sim);
    if (!r.out || fclose(r.out) != 0)
        ret = -1;
    printf("%s: %s\n", path, ret == 0 ? "recorded" : *err.what ? err.what : "cannot be written");
    return ret;
}

int main(int argc, char **argv)
{
    char path[512];
    if (argc != 2)
        return 2;
    snprintf(path, sizeof path, "%s/private", argv[1]);
    int ret = record(path, false, 0x42);
    snprintf(path, sizeof path, "%s/chained_private", argv[1]);
    return ret == 0 && record(path, true, 0x40) == 0 ? 0 : 1;
}
