/* 32-bit DR scans, or an SH-4's memory, through an adapter, for bench_probe.py to count what they cost. In the rig.
 *   bench_probe scans PROBE HZ N PER_BATCH      bench_probe read|write PROBE HZ KILOBYTES */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "probe/base/bytes.h"
#include "probe/probe.h"
#include "targets/sh4/sh4.h"

enum { MOST_SCANS = 16384, MOST_KB = 256, ADDR = 0x8C020000 };

/* SDDR gives each word back with the next scan. */
static int scans(struct probe *p, size_t n, size_t batch, struct err *err)
{
    static const uint8_t sddr[2] = { 0x00, 0x60 };
    static struct jtag_op ops[MOST_SCANS];
    static uint8_t out[MOST_SCANS][4], in[MOST_SCANS][4];
    if (batch == 0 || n > MOST_SCANS)
        return err_set(err, ERR_USAGE, "", "at most %d scans", MOST_SCANS);
    ops[0] = jtag_reset();
    ops[1] = jtag_ir(16, sddr, NULL);
    int ret = p->driver->jtag->execute(p, ops, 2, err);
    for (size_t i = 0; i < n; i++) {
        put_le32(out[i], (uint32_t)i * 2654435761u);
        ops[i] = jtag_dr(32, out[i], in[i]);
    }
    for (size_t i = 0; ret == 0 && i < n; i += batch)
        ret = p->driver->jtag->execute(p, ops + i, n - i < batch ? n - i : batch, err);
    for (size_t i = 1; ret == 0 && i < n; i++)
        if (le32(in[i]) != le32(out[i - 1]))
            ret = err_set(err, ERR_PROTOCOL, "", "scan %zu: %08x, %08x was sent", i, le32(in[i]), le32(out[i - 1]));
    return ret;
}

static int memory(struct probe *p, bool write, size_t kilobytes, struct err *err)
{
    static uint8_t block[MOST_KB * 1024];
    struct sh4_options opt = { .allow_private = true };
    struct target *t;
    struct target_stop stop;
    int ret = kilobytes <= MOST_KB ? sh4_open(p, &opt, &t, err) : err_set(err, ERR_USAGE, "", "at most %d KB", MOST_KB);
    if (ret < 0)
        return ret;
    ret = t->ops->attach(t, err);
    if (ret == 0)
        ret = t->ops->reset(t, RESET_HALT, err);
    if (ret >= 0)
        ret = t->ops->poll(t, 1000000, &stop, err);
    if (ret >= 0 && kilobytes)
        ret = write ? t->ops->write_mem(t, ADDR, 0, block, kilobytes * 1024, err) : t->ops->read_mem(t, ADDR, 0, block, kilobytes * 1024, err);
    t->ops->close(t);
    return ret;
}

int main(int argc, char **argv)
{
    const struct probe_config cfg = { .speed_hz = argc > 3 ? (uint32_t)strtoul(argv[3], NULL, 10) : 0 };
    size_t n = argc > 4 ? strtoul(argv[4], NULL, 10) : 0;
    struct probe *p;
    struct err err = { .code = ERR_OK };
    if (argc < 5) {
        fprintf(stderr, "usage: bench_probe scans PROBE HZ N PER_BATCH | bench_probe read|write PROBE HZ KILOBYTES\n");
        return 2;
    }
    int ret = probe_open(argv[2], &cfg, &p, &err);
    if (ret == 0) {
        ret = strcmp(argv[1], "scans") == 0 ? scans(p, n, argc > 5 ? strtoul(argv[5], NULL, 10) : n, &err)
                                            : memory(p, argv[1][0] == 'w', n, &err);
        probe_close(p);
    }
    if (ret < 0)
        fprintf(stderr, "bench_probe: %s\n", err.what);
    return ret < 0;
}
