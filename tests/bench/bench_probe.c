/* 32-bit DR scans, an SH-4's memory, or a debug session as far as a certain step, through an
 * adapter, for bench_probe.py to count what they cost. In the rig. bench_probe scans PROBE HZ N
 * PER_BATCH      bench_probe read|write PROBE HZ KILOBYTES bench_probe session PROBE HZ N STAGE
 * every stage up to this one; the last of them N times */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "probe/base/bytes.h"
#include "probe/base/util.h"
#include "probe/probe.h"
#include "profiler/core/symbols.h"
#include "targets/sh4/sh4.h"

enum {
    MOST_SCANS = 16384,
    MOST_KB = 256,
    ADDR = 0x8C020000,
    WAIT_NS = 1000000,
    SLICE_NS = 2000000,
    REG_PC = 16,
    EVENTS = 1 << 16
};
#define TUTORIAL SOURCE_DIR "/docs/examples/profexam/profexam.elf"

/* SDDR gives each word back with the next scan. */
static int run_scans(struct probe *p, size_t n, size_t batch, struct err *err)
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
            ret = err_set(err, ERR_PROTOCOL, "", "scan %zu: %08x, %08x was sent", i, le32(in[i]),
                          le32(out[i - 1]));
    return ret;
}

static int move_memory(struct probe *p, bool write, size_t kilobytes, struct err *err)
{
    static uint8_t block[MOST_KB * 1024];
    struct sh4_options opt = { .allow_private = true };
    struct target *t;
    struct target_stop stop;
    int ret = kilobytes <= MOST_KB ? sh4_open(p, &opt, &t, err)
                                   : err_set(err, ERR_USAGE, "", "at most %d KB", MOST_KB);
    if (ret < 0)
        return ret;
    ret = t->ops->attach(t, err);
    if (ret == 0)
        ret = t->ops->reset(t, RESET_HALT, err);
    if (ret >= 0)
        ret = t->ops->poll(t, 1000000, &stop, err);
    if (ret >= 0 && kilobytes)
        ret = write ? t->ops->write_mem(t, ADDR, 0, block, kilobytes * 1024, err)
                    : t->ops->read_mem(t, ADDR, 0, block, kilobytes * 1024, err);
    t->ops->close(t);
    return ret;
}

/* ---- a session, stage by stage, as the program has it ---- */

struct session {
    struct probe *p;
    struct target *t;
    struct symbols *sym;
};

static int until_halted(struct target *t, struct err *err)
{
    struct target_stop stop;
    int ret = 0;
    while (ret == 0 && t->ops->state(t) == TARGET_RUNNING)
        ret = t->ops->poll(t, WAIT_NS, &stop, err);
    return MIN(ret, 0);
}

static int attach_board(struct session *s, struct err *err)
{
    const struct sh4_options opt = { .allow_private = true };
    int ret = sh4_open(s->p, &opt, &s->t, err);
    return ret < 0 ? ret : s->t->ops->attach(s->t, err);
}

static int reset_board(struct session *s, struct err *err)
{
    int ret = s->t->ops->reset(s->t, RESET_HALT, err);
    return ret < 0 ? ret : until_halted(s->t, err);
}

static int load_tutorial(struct session *s, struct err *err)
{
    uint8_t pc[4];
    int ret = symbols_open(TUTORIAL, &s->sym, err);
    const struct image *im = ret == 0 ? symbols_image(s->sym) : NULL;
    for (size_t i = 0; ret == 0 && i < im->nsections; i++)
        if (im->sections[i].data)
            ret = s->t->ops->write_mem(s->t, im->sections[i].addr, 0, im->sections[i].data,
                                       im->sections[i].size, err);
    if (ret < 0)
        return ret;
    put_le32(pc, (uint32_t)im->entry);
    ret = s->t->ops->write_reg(s->t, REG_PC, pc, err);
    return ret < 0 ? ret : s->t->ops->set_image(s->t, im, err);
}

/* As the program does after loading: what cannot be found out on the board is read. */
static int verify_tutorial(struct session *s, struct err *err)
{
    static uint8_t got[1 << 20];
    const struct image *im = symbols_image(s->sym);
    int ret = 0;
    for (size_t i = 0; ret >= 0 && i < im->nsections; i++) {
        const struct image_section *c = &im->sections[i];
        if (!c->data || c->size > sizeof got)
            continue;
        ret = s->t->ops->same_mem(s->t, c->addr, c->data, c->size, err);
        if (ret == 0)
            ret = s->t->ops->read_mem(s->t, c->addr, 0, got, c->size, err);
    }
    return MIN(ret, 0);
}

static int step_board(struct session *s, struct err *err)
{
    const struct resume how = { .kind = RESUME_STEP };
    int ret = s->t->ops->resume(s->t, &how, err);
    return ret < 0 ? ret : until_halted(s->t, err);
}

/* From the start to main(). */
static int run_to_main(struct session *s, struct err *err)
{
    const struct image *im = symbols_image(s->sym);
    uint64_t at = 0;
    struct resume how = { .kind = RESUME_CONTINUE, .set_pc = true, .pc = im->entry };
    int ret = im->lookup(im, "main", &at) ? s->t->ops->insert_bp(s->t, BP_SOFT, at, 2, err)
                                          : err_set(err, ERR_NOT_FOUND, "", "no main()");
    if (ret == 0)
        ret = s->t->ops->resume(s->t, &how, err);
    if (ret == 0)
        ret = until_halted(s->t, err);
    return ret < 0 ? ret : s->t->ops->remove_bp(s->t, BP_SOFT, at, 2, err);
}

static int arm_trace(struct session *s, struct err *err)
{
    const struct trace_config tc = { .image = symbols_image(s->sym), .counter = { 0x23, 0x04 } };
    return s->t->ops->trace->arm(s->t, &tc, err);
}

static int resume_board(struct session *s, struct err *err)
{
    const struct resume how = { .kind = RESUME_CONTINUE };
    return s->t->ops->resume(s->t, &how, err);
}

static int drain_trace(struct session *s, struct err *err)
{
    static struct event ev[EVENTS];
    struct target_stop stop;
    int n = s->t->ops->trace->poll(s->t, ev, EVENTS, SLICE_NS, err);
    if (n < 0)
        return n;
    printf("%d events\n", n);
    n = s->t->ops->poll(s->t, 0, &stop, err);
    return MIN(n, 0);
}

static int run_session(struct probe *p, const char *last, size_t n, struct err *err)
{
    static const struct {
        const char *name;
        int (*run)(struct session *s, struct err *err);
    } stages[] = {
        { "attach", attach_board },    { "reset", reset_board }, { "load", load_tutorial },
        { "verify", verify_tutorial }, { "step", step_board },   { "breakpoint", run_to_main },
        { "arm", arm_trace },          { "go", resume_board },   { "drain", drain_trace },
    };
    struct session s = { .p = p };
    int ret = 0;
    bool done = strcmp(last, "open") == 0;
    for (size_t i = 0; ret == 0 && i < ARRAY_LEN(stages) && !done; i++) {
        done = strcmp(last, stages[i].name) == 0;
        for (size_t k = 0; ret == 0 && k < (done ? n : 1); k++)
            ret = stages[i].run(&s, err);
    }
    if (ret == 0 && !done)
        ret = err_set(err, ERR_USAGE, "", "no stage \"%s\"", last);
    if (s.t)
        s.t->ops->close(s.t);
    symbols_close(s.sym);
    return ret;
}

int main(int argc, char **argv)
{
    const struct probe_config cfg = { .speed_hz =
                                          argc > 3 ? (uint32_t)strtoul(argv[3], NULL, 10) : 0 };
    size_t n = argc > 4 ? strtoul(argv[4], NULL, 10) : 0;
    struct probe *p;
    struct err err = { .code = ERR_OK };
    if (argc < 5) {
        fprintf(stderr, "usage: bench_probe scans PROBE HZ N PER_BATCH | read|write PROBE HZ "
                        "KILOBYTES | session PROBE HZ N STAGE\n");
        return 2;
    }
    int ret = probe_open(argv[2], &cfg, &p, &err);
    if (ret == 0) {
        ret = strcmp(argv[1], "scans") == 0
                  ? run_scans(p, n, argc > 5 ? strtoul(argv[5], NULL, 10) : n, &err)
              : strcmp(argv[1], "session") == 0 && argc > 5
                  ? run_session(p, argv[5], n, &err)
                  : move_memory(p, argv[1][0] == 'w', n, &err);
        probe_close(p);
    }
    if (ret < 0)
        fprintf(stderr, "bench_probe: %s\n", err.what);
    return ret < 0;
}
