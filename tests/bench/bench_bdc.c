/* What an S12Z on a BDM pod costs, for bench_probe.py --pods to count. In the rig.
 *   bench_bdc PROBE commands|read|write|flash|phrases|lines N      N: BDC commands, KB, KB, KB, KB
 * by no loader, trace buffers */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "probe/probe.h"
#include "targets/s12z/driver/driver.h"
#include "targets/s12z/trace/trace.h"

enum { RAM = 0x1800, RAM_STEP = 4096, FLASH = 0xFE0000, MOST_KB = 256, LINES = 64 };

static uint8_t block[MOST_KB * 1024];

static int run_commands(struct s12z_target *t, size_t n, struct err *err)
{
    uint8_t v;
    int ret = 0;
    while (ret == 0 && n-- > 0)
        ret = s12z_peek8(t, S12Z_DBGSR, &v, err);
    return ret;
}

static int move_memory(struct s12z_target *t, bool write, size_t kilobytes, struct err *err)
{
    int ret = 0;
    for (size_t at = 0; ret == 0 && at < kilobytes * 1024; at += RAM_STEP) /* the same RAM again */
        ret = write ? s12z_write_raw(t, RAM, 0, block, RAM_STEP, err)
                    : s12z_read_raw(t, RAM, 0, block, RAM_STEP, err);
    return ret;
}

static int write_flash(struct s12z_target *t, size_t kilobytes, struct err *err)
{
    const struct target_ops *ops = t->base.ops;
    for (size_t k = 0; k < kilobytes * 1024; k++)
        block[k] = (uint8_t)(k * 7 + k / 256);
    int ret = kilobytes ? ops->flash_erase(&t->base, FLASH, kilobytes * 1024, err) : 0;
    for (size_t at = 0; ret == 0 && at < kilobytes; at += 4)
        ret = ops->flash_write(&t->base, FLASH + at * 1024, block + at * 1024, 4 * 1024, err);
    return ret == 0 && kilobytes ? ops->flash_done(&t->base, err) : ret;
}

static int fetch_lines(struct s12z_target *t, size_t buffers, struct err *err)
{
    int ret = 0;
    bool words;
    while (ret == 0 && buffers-- > 0)
        ret = s12z_fetch_lines(t, block, LINES, &words, err);
    return ret;
}

static int run_stage(struct probe *p, const char *what, size_t n, struct err *err)
{
    struct s12z_options opt = { 0 };
    struct target *t;
    struct target_stop stop;
    int ret = n <= MOST_KB ? s12z_open(p, &opt, &t, err)
                           : err_set(err, ERR_USAGE, "", "at most %d", MOST_KB);
    if (ret < 0)
        return ret;
    ret = t->ops->attach(t, err);
    if (ret == 0)
        ret = t->ops->reset(t, RESET_HALT, err);
    if (ret >= 0)
        ret = t->ops->poll(t, 1000000, &stop, err);
    s12z_of(t)->download.no_loader = *what == 'p';
    if (ret >= 0)
        ret = *what == 'c'                   ? run_commands(s12z_of(t), n, err)
              : *what == 'f' || *what == 'p' ? write_flash(s12z_of(t), n, err)
              : *what == 'l'                 ? fetch_lines(s12z_of(t), n, err)
                                             : move_memory(s12z_of(t), *what == 'w', n, err);
    t->ops->close(t);
    return ret;
}

int main(int argc, char **argv)
{
    const struct probe_config cfg = { 0 };
    struct probe *p;
    struct err err = { .code = ERR_OK };
    if (argc != 4) {
        fprintf(stderr, "usage: bench_bdc PROBE commands|read|write|flash|phrases|lines N\n");
        return 2;
    }
    int ret = probe_open(argv[1], &cfg, &p, &err);
    if (ret == 0) {
        ret = run_stage(p, argv[2], strtoul(argv[3], NULL, 10), &err);
        probe_close(p);
    }
    if (ret < 0)
        fprintf(stderr, "bench_bdc: %s (%s)\n", err.what, err.hint);
    return ret < 0;
}
