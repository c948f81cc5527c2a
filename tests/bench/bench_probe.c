/* 32-bit DR scans through an adapter, for bench_probe.py to count what they cost: bench_probe PROBE HZ SCANS PER_BATCH. In the rig. */
#include <stdio.h>
#include <stdlib.h>

#include "probe/base/bytes.h"
#include "probe/probe.h"

enum { MOST = 16384 };

int main(int argc, char **argv)
{
    static const uint8_t sddr[2] = { 0x00, 0x60 };
    static struct jtag_op ops[MOST];
    static uint8_t out[MOST][4], in[MOST][4];
    const struct probe_config cfg = { .speed_hz = argc > 2 ? (uint32_t)strtoul(argv[2], NULL, 10) : 0 };
    size_t scans = argc > 3 ? strtoul(argv[3], NULL, 10) : 0, batch = argc > 4 ? strtoul(argv[4], NULL, 10) : 0;
    struct probe *p;
    struct err err = { .code = ERR_OK };
    if (argc != 5 || batch == 0 || batch > MOST || scans > MOST) {
        fprintf(stderr, "usage: bench_probe PROBE HZ SCANS PER_BATCH (at most %d each)\n", MOST);
        return 2;
    }
    int ret = probe_open(argv[1], &cfg, &p, &err);
    ops[0] = jtag_reset();
    ops[1] = jtag_ir(16, sddr, NULL);
    if (ret == 0)
        ret = p->driver->jtag->execute(p, ops, 2, &err);
    for (size_t i = 0; i < scans; i++) {
        put_le32(out[i], (uint32_t)i * 2654435761u);
        ops[i] = jtag_dr(32, out[i], in[i]);
    }
    for (size_t i = 0; ret == 0 && i < scans; i += batch)
        ret = p->driver->jtag->execute(p, ops + i, scans - i < batch ? scans - i : batch, &err);
    for (size_t i = 1; ret == 0 && i < scans; i++) /* SDDR gives each word back with the next scan */
        if (le32(in[i]) != le32(out[i - 1]))
            ret = err_set(&err, ERR_PROTOCOL, "", "scan %zu: %08x, %08x was sent", i, le32(in[i]), le32(out[i - 1]));
    if (ret < 0)
        fprintf(stderr, "bench_probe: %s\n", err.what);
    else
        probe_close(p);
    return ret < 0;
}
