/* Makes the inputs of fuzz_sh4_link of what simulated boards say in the session the fuzzer plays:
 * to be run again when the driver or its agent change.
 *
 * usage: record_link FOLDER      writes private, chained_private, documented, serial and dcload
 * there */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "probe/base/util.h"
#include "probe/probe.h"
#include "probe/sim.h"
#include "targets/sim/sh4/board.h"
#include "targets/sh4/sh4.h"
#include "tests/sh4/fixture.h"
#include "tests/sh4/serial_rig.h"
#include "tests/fuzz/session.h"

struct recorder {
    struct probe probe;
    struct probe *sim;
    FILE *out;
    uint64_t ns;    /* the fuzzer's clock, which the driver draws numbers from */
    unsigned quiet; /* reads that gave nothing since something came */
    bool over;      /* nothing more is recorded */
};

static struct recorder *recorder_of(struct probe *p)
{
    return CONTAINER_OF(p, struct recorder, probe);
}

static int execute_ops(struct probe *p, const struct jtag_op *ops, size_t n, struct err *err)
{
    struct recorder *r = recorder_of(p);
    int ret = r->sim->driver->jtag->execute(r->sim, ops, n, err);
    for (size_t i = 0; ret == 0 && i < n; i++) {
        r->ns += 100 * (ops[i].bits + ops[i].idle_clocks + 5);
        if (ops[i].tdo)
            fwrite(ops[i].tdo, 1, (ops[i].bits + 7) / 8, r->out);
    }
    return ret;
}

static int set_pins(struct probe *p, unsigned mask, unsigned value, struct err *err)
{
    return recorder_of(p)->sim->driver->jtag->set_pins(recorder_of(p)->sim, mask, value, err);
}

static int get_pins(struct probe *p, unsigned *value, unsigned *known, struct err *err)
{
    (void)p, (void)err;
    *value = *known = JTAG_PIN_VTREF | JTAG_PIN_NRESET;
    return 0;
}

static int set_clock(struct probe *p, uint32_t hz, uint32_t *got_hz, struct err *err)
{
    return recorder_of(p)->sim->driver->jtag->set_clock(recorder_of(p)->sim, hz, got_hz, err);
}

static int wait_ns(struct probe *p, uint64_t ns, struct err *err)
{
    recorder_of(p)->ns += ns;
    return recorder_of(p)->sim->driver->jtag->wait(recorder_of(p)->sim, ns, err);
}

static uint64_t now_ns(struct probe *p) { return recorder_of(p)->ns; }
static size_t batch_bits(struct probe *p)
{
    (void)p;
    return 4096;
}
static unsigned ir_bits(struct probe *p)
{
    (void)p;
    return 16;
}
static void link_stats(struct probe *p, uint64_t *clocks, uint64_t *transfers, uint64_t *bytes)
{
    fuzz_stats(recorder_of(p)->ns, clocks, transfers, bytes);
}

/* ---- serial line ---- */

static const struct stream_ops *stream_of(struct probe *p)
{
    return recorder_of(p)->sim->driver->stream;
}
static unsigned stream_traits(struct probe *p) { return stream_of(p)->traits(recorder_of(p)->sim); }
static uint32_t baud_rate(struct probe *p) { return stream_of(p)->baud(recorder_of(p)->sim); }
static unsigned patience_ms(struct probe *p)
{
    (void)p;
    return 3000;
} /* a busy machine; what waits no longer than it has to hears the same */
static int flush_stream(struct probe *p, struct err *err)
{
    return stream_of(p)->flush(recorder_of(p)->sim, err);
}
static int set_baud(struct probe *p, uint32_t hz, uint32_t *got, struct err *err)
{
    return stream_of(p)->set_baud(recorder_of(p)->sim, hz, got, err);
}

static int write_bytes(struct probe *p, const uint8_t *buf, size_t len, uint64_t max_ns,
                       struct err *err)
{
    recorder_of(p)->ns += len * 10000;
    return stream_of(p)->write(recorder_of(p)->sim, buf, len, max_ns, err);
}

/* A board that says nothing for so many reads in a row has nothing more to say; what deadlines are
 * waited out for teaches nothing. */
enum { QUIET_MOST = 1000 };

static void put_quiet(struct recorder *r)
{
    r->over = r->over || r->quiet > QUIET_MOST;
    if (r->over)
        return;
    for (; r->quiet; r->quiet -= MIN(r->quiet, 256u)) {
        fputc(0, r->out);
        fputc((int)MIN(r->quiet, 256u) - 1, r->out);
    }
}

static int read_bytes(struct probe *p, uint8_t *buf, size_t cap, uint64_t max_ns, struct err *err)
{
    struct recorder *r = recorder_of(p);
    int n = stream_of(p)->read(r->sim, buf, MIN(cap, (size_t)UINT8_MAX), max_ns, err);
    r->ns += n > 0 ? (uint64_t)n * 10000 : max_ns + 1000;
    r->quiet += n == 0;
    if (n <= 0)
        return n;
    put_quiet(r);
    if (r->over)
        return n;
    fputc(n, r->out);
    fwrite(buf, 1, (size_t)n, r->out);
    return n;
}

/* ---- ---- */

enum { LEAST_BYTES = 1500 }; /* of a session that got beyond attaching */

/* r->probe and r->sim are open. first: the input's first byte, which tells the fuzzer what link it
 * is. */
static int record_session(struct recorder *r, const char *path, const struct sh4_options *opt,
                          uint8_t first, struct err *err)
{
    struct target *t;
    r->out = fopen(path, "wb");
    if (!r->out)
        return err_set(err, ERR_IO, "", "it cannot be written");
    fputc(first, r->out);
    int ret = sh4_open(&r->probe, opt, &t, err);
    if (ret == 0) {
        fuzz_session(t, &(struct fuzz_session){ BP_SOFT, 0x8C010000, 0x8C010000 });
        t->ops->close(t);
        if (ftell(r->out) < LEAST_BYTES)
            ret = err_set(err, ERR_STATE, "", "the session ended early");
    }
    return fclose(r->out) == 0 ? ret : err_set(err, ERR_IO, "", "it cannot be written");
}

static int report_recorded(const char *path, int ret, const struct err *err)
{
    printf("%s: %s\n", path, ret == 0 ? "recorded" : err->what);
    return ret;
}

static int record_jtag(const char *path, const char *board, bool chained, bool allow_private,
                       uint8_t first)
{
    static const struct sim_board_type *const boards[] = { &sh4_board_sh7750, NULL };
    struct jtag_ops jtag = { .execute = execute_ops,
                             .set_pins = set_pins,
                             .get_pins = get_pins,
                             .set_clock = set_clock,
                             .wait = wait_ns,
                             .now_ns = now_ns,
                             .batch_bits = batch_bits,
                             .stats = link_stats,
                             .ir_bits = chained ? ir_bits : NULL };
    const struct probe_driver driver = { .name = "any", .jtag = &jtag };
    struct probe_config cfg = { .boards = boards };
    struct recorder r = { .probe = { .driver = &driver, .name = "any" } };
    struct err err = { .code = ERR_OK };
    int ret = probe_open(board, &cfg, &r.sim, &err);
    if (ret == 0)
        ret = record_session(&r, path, &(struct sh4_options){ .allow_private = allow_private },
                             first, &err);
    probe_close(r.sim);
    return report_recorded(path, ret, &err);
}

/* The agent that is in the program, with documented commands only. */
static int record_documented(const char *path)
{
    char rom[] = "/tmp/record_link_romXXXXXX", board[120];
    int fd = mkstemp(rom);
    if (fd < 0)
        return -1;
    close(fd);
    resident_rom(rom, false, true);
    snprintf(board, sizeof board, "sim:sh7750,private=off,rom=%s", rom);
    int ret = record_jtag(path, board, false, false, 0x00);
    unlink(rom);
    return ret;
}

static int record_serial(const char *path, bool dcload, uint8_t first)
{
    static const struct stream_ops stream = { .traits = stream_traits,
                                              .read = read_bytes,
                                              .write = write_bytes,
                                              .flush = flush_stream,
                                              .set_baud = set_baud,
                                              .baud = baud_rate,
                                              .now_ns = now_ns,
                                              .timeout_ms = patience_ms,
                                              .stats = link_stats };
    const struct probe_driver driver = { .name = "line", .stream = &stream };
    struct serial_rig *rig = serial_rig_start(&(struct serial_rig_options){ .dcload = dcload });
    struct recorder r = { .probe = { .driver = &driver, .name = "any" } };
    struct err err = { .code = ERR_OK };
    char name[120];
    snprintf(name, sizeof name, "serial:%s,baud=1500000%s", serial_rig_port(rig),
             dcload ? ",loader=dcload" : "");
    int ret = probe_open(name, &(struct probe_config){ .spec = "" }, &r.sim, &err);
    if (ret == 0)
        ret =
            record_session(&r, path, &(struct sh4_options){ .allow_private = false }, first, &err);
    probe_close(r.sim);
    serial_rig_stop(rig);
    return report_recorded(path, ret, &err);
}

int main(int argc, char **argv)
{
    char path[5][512];
    static const char *const names[] = { "private", "chained_private", "documented", "serial",
                                         "dcload" };
    if (argc != 2)
        return 2;
    for (size_t i = 0; i < ARRAY_LEN(names); i++)
        snprintf(path[i], sizeof path[i], "%s/%s", argv[1], names[i]);
    return record_jtag(path[0], "sim:sh7750", false, true, 0x42) == 0 &&
                   record_jtag(path[1], "sim:sh7750", true, true, 0x40) == 0 &&
                   record_documented(path[2]) == 0 && record_serial(path[3], false, 0x02) == 0 &&
                   record_serial(path[4], true, 0x20) == 0
               ? 0
               : 1;
}
