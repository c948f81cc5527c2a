/* What the agent over a serial port costs: bytes on the line and exchanges, each of which waits for
 * the adapter once, of what a debugger does; and what follows from the bytes alone at two bit
 * rates. The board is simulated: its times say nothing and are not shown. usage: bench_sh4_serial
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

#include <cmocka.h>

#include "probe/probe.h"
#include "targets/sh4/sh4.h"
#include "targets/target.h"
#include "tests/sh4/serial_rig.h"

enum { BLOCK = 4096, DATA = 0x8C020000, LINE_BITS = 10 };

static void must_succeed(int ret, const struct err *err)
{
    if (ret < 0) {
        fprintf(stderr, "%s\n", err->what);
        exit(1);
    }
}

static void wait_for_stop(struct target *t, struct err *err)
{
    struct target_stop stop;
    int ret = 0;
    for (int i = 0; i < 100 && ret == 0; i++)
        must_succeed(ret = t->ops->poll(t, 100000000, &stop, err), err);
    if (!ret) {
        fprintf(stderr, "no stop\n");
        exit(1);
    }
}

static int read_block(struct target *t, struct err *err)
{
    uint8_t b[BLOCK];
    return t->ops->read_mem(t, DATA, 0, b, sizeof b, err);
}

static int write_block(struct target *t, struct err *err)
{
    uint8_t b[BLOCK] = { 0 };
    return t->ops->write_mem(t, DATA, 0, b, sizeof b, err);
}

static int read_word(struct target *t, struct err *err)
{
    uint8_t b[4];
    return t->ops->read_mem(t, DATA, 4, b, sizeof b, err);
}

static int step_board(struct target *t, struct err *err)
{
    int ret = t->ops->resume(t, &(struct resume){ .kind = RESUME_STEP }, err);
    if (ret == 0)
        wait_for_stop(t, err);
    return ret;
}

static int run_and_halt(struct target *t, struct err *err)
{
    int ret = t->ops->resume(t, &(struct resume){ .kind = RESUME_CONTINUE }, err);
    if (ret == 0)
        ret = t->ops->halt(t, err);
    if (ret == 0)
        wait_for_stop(t, err);
    return ret;
}

static const struct row {
    const char *name;
    int (*run)(struct target *t, struct err *err);
    unsigned times;
} rows[] = {
    { "read 4 KB", read_block, 4 },
    { "write 4 KB", write_block, 4 },
    { "read a word", read_word, 50 },
    { "single step", step_board, 20 },
    { "continue and halt", run_and_halt, 10 },
};

int main(void)
{
    struct err err = { .code = ERR_OK };
    struct serial_rig *rig = serial_rig_start(&(struct serial_rig_options){ .brr = 0 });
    struct probe *p;
    struct target *t;
    char name[100];
    snprintf(name, sizeof name, "serial:%s,baud=1500000", serial_rig_port(rig));
    must_succeed(probe_open(name, &(struct probe_config){ .spec = "" }, &p, &err), &err);
    must_succeed(sh4_open(p, NULL, &t, &err), &err);
    must_succeed(t->ops->attach(t, &err), &err);
    must_succeed(t->ops->halt(t, &err), &err);
    wait_for_stop(t, &err);
    printf("%-18s %10s %10s %22s %22s\n", "", "to board", "from it", "1562500 bit/s",
           "57600 bit/s");
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        const struct row *r = &rows[i];
        uint64_t sent[2], got[2];
        p->driver->stream->stats(p, &sent[0], &got[0], NULL);
        for (unsigned k = 0; k < r->times; k++)
            must_succeed(r->run(t, &err), &err);
        p->driver->stream->stats(p, &sent[1], &got[1], NULL);
        double to = (double)(sent[1] - sent[0]) / r->times,
               from = (double)(got[1] - got[0]) / r->times;
        printf("%-18s %8.0f B %8.0f B %9.3f ms %6.0f a second %7.1f ms %6.1f a second\n", r->name,
               to, from, (to + from) * LINE_BITS / 1562.5, 1562500 / ((to + from) * LINE_BITS),
               (to + from) * LINE_BITS / 57.6, 57600 / ((to + from) * LINE_BITS));
    }
    printf("an event of the function trace is 8 bytes: at most %.0f a second at 1562500 bit/s, "
           "%.0f at 57600\n",
           1562500.0 / 80, 57600.0 / 80);
    t->ops->close(t);
    probe_close(p);
    serial_rig_stop(rig);
    return 0;
}
