/* The J-Link driver against the J-Link model, in one process: the same bits on the wire as the sim
 * driver's, whatever the probe is like, and clear errors or recovery whatever transfer goes wrong.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "probe/base/bits.h"
#include "probe/base/util.h"
#include "probe/jlink_protocol.h"
#include "probe/probe.h"
#include "probe/sim.h"
#include "tests/system/usb/usb_in_process.h"

extern const struct usb_model_type usb_model_jlink;

/* ---- a wire whose TDO depends on every bit before ---- */

struct wire {
    struct sim_board base;
    uint32_t state, hz;
    uint64_t clocks, ns;
    unsigned pins;
    unsigned fails; /* transfers to come */
};

static struct wire *wire_of(struct sim_board *b) { return (struct wire *)b; }

static int wire_clock(struct sim_board *b, size_t n, const uint8_t *tms, const uint8_t *tdi,
                      uint8_t *tdo, struct err *err)
{
    struct wire *w = wire_of(b);
    if (w->fails && w->fails--)
        return err_set(err, ERR_USB, "replug", "unplugged");
    for (uint32_t i = 0; i < n; i++) {
        unsigned out = w->state >> 31;
        tdo[i / 8] = (uint8_t)((tdo[i / 8] & ~(1u << i % 8)) | out << i % 8);
        w->state = (w->state * 1664525u + 1013904223u) ^
                   (uint32_t)(2 * bits_get(tms, i, 1) + bits_get(tdi, i, 1));
    }
    w->clocks += n;
    return 0;
}

static int wire_set_pins(struct sim_board *b, unsigned mask, unsigned value, struct err *err)
{
    (void)err;
    wire_of(b)->pins = (wire_of(b)->pins & ~mask) | (value & mask);
    return 0;
}

static int wire_get_pins(struct sim_board *b, unsigned *value, unsigned *known, struct err *err)
{
    (void)err;
    *value = wire_of(b)->pins | JTAG_PIN_VTREF;
    *known = JTAG_PIN_NTRST | JTAG_PIN_NRESET | JTAG_PIN_VTREF;
    return 0;
}

static uint32_t wire_hz(struct sim_board *b, uint32_t hz) { return wire_of(b)->hz = hz; }
static uint64_t wire_now(struct sim_board *b) { return (uint64_t)(uintptr_t)b; }

static int wire_advance(struct sim_board *b, uint64_t ns, struct err *err)
{
    (void)err;
    wire_of(b)->ns += ns;
    return 0;
}

static void wire_destroy(struct sim_board *b) { free(b); }
static int wire_create(const char *options, const struct log *log, struct sim_board **out,
                       struct err *err);

static const struct sim_board_type wire_type = {
    .name = "wire",
    .help = "test",
    .create = wire_create,
    .destroy = wire_destroy,
    .clock = wire_clock,
    .set_pins = wire_set_pins,
    .get_pins = wire_get_pins,
    .set_tck_hz = wire_hz,
    .advance = wire_advance,
    .now_ns = wire_now,
};

static int wire_create(const char *options, const struct log *log, struct sim_board **out,
                       struct err *err)
{
    (void)options, (void)log, (void)err;
    struct wire *w = calloc(1, sizeof *w);
    w->base.type = &wire_type;
    *out = &w->base;
    return 0;
}

/* ---- probes ---- */

struct fixture {
    struct wire wire;
    struct usb_model *m;
    struct probe *p;
};

static int open_named(const char *name, struct probe **out, struct err *err)
{
    const struct probe_config cfg = { 0 };
    return probe_open(name, &cfg, out, err);
}

static void plug_model(struct fixture *fx, unsigned place, const char *options)
{
    struct err err = { .code = ERR_OK };
    memset(fx, 0, sizeof *fx);
    fx->wire.base.type = &wire_type;
    if (usb_model_jlink.create(options, &fx->wire.base, &fx->m, &err) < 0)
        fail_msg("%s", err.what);
    in_process_plug(place, fx->m);
}

static void open_probe(struct fixture *fx, const char *options)
{
    struct err err = { .code = ERR_OK };
    plug_model(fx, 0, options);
    if (open_named("jlink", &fx->p, &err) < 0)
        fail_msg("%s: %s", options, err.what);
}

static void close_probe(struct fixture *fx)
{
    probe_close(fx->p);
    in_process_plug(0, NULL);
    in_process_fault(IN_PROCESS_NONE, 0);
    usb_model_jlink.destroy(fx->m);
}

static int run_ops(struct probe *p, const struct jtag_op *ops, size_t n, struct err *err)
{
    return p->driver->jtag->execute(p, ops, n, err);
}

/* ---- the same bits ---- */

enum { OPS = 60, DATA = 2100 };

struct batch {
    struct jtag_op op[OPS];
    uint8_t in[OPS][DATA], out[OPS][DATA];
};

static unsigned random_below(unsigned *seed, unsigned below)
{
    *seed = *seed * 1103515245u + 12345u;
    return (*seed >> 8) % below;
}

static void make_batch(struct batch *b, unsigned seed)
{
    for (unsigned i = 0; i < OPS; i++) {
        struct jtag_op *op = &b->op[i];
        unsigned shape = random_below(&seed, 8), size = random_below(&seed, 16);
        *op = (struct jtag_op){ .kind = (enum jtag_op_kind)random_below(&seed, 4) };
        op->bits = 1 + random_below(&seed, size == 0 ? DATA * 8 : size < 4 ? 4000 : 40);
        op->idle_clocks = random_below(&seed, 3) ? 0 : random_below(&seed, 50);
        for (unsigned k = 0; k < DATA; k++) {
            b->in[i][k] = (uint8_t)random_below(&seed, 256);
            b->out[i][k] = 0x5A;
        }
        bool scan = op->kind == JTAG_IR || op->kind == JTAG_DR;
        op->tdi = !scan || shape == 0 ? NULL : b->in[i];
        op->tdo = !scan || shape < 3 ? NULL : shape == 3 ? b->in[i] : b->out[i];
    }
}

/* One batch by this probe and by the sim driver: the same TDO, the same clocks. */
static void expect_same(struct fixture *fx, struct probe *sim, unsigned seed)
{
    static struct batch got, want;
    struct wire *reference = wire_of((struct sim_board *)(uintptr_t)sim->driver->jtag->now_ns(sim));
    struct err err = { .code = ERR_OK };
    uint64_t before = fx->wire.clocks, reference_before = reference->clocks;
    make_batch(&got, seed);
    make_batch(&want, seed);
    fx->wire.state = reference->state = seed;
    assert_int_equal(run_ops(sim, want.op, OPS, NULL), 0);
    if (run_ops(fx->p, got.op, OPS, &err) < 0)
        fail_msg("seed %u: %s", seed, err.what);
    assert_int_equal(fx->wire.clocks - before, reference->clocks - reference_before);
    assert_int_equal(fx->wire.state, reference->state); /* every TMS and TDI bit */
    assert_memory_equal(got.in, want.in, sizeof got.in);
    assert_memory_equal(got.out, want.out, sizeof got.out);
}

static struct probe *open_sim(void)
{
    static const struct sim_board_type *const boards[] = { &wire_type, NULL };
    const struct probe_config cfg = { .boards = boards };
    struct probe *sim;
    assert_int_equal(probe_open("sim:wire", &cfg, &sim, NULL), 0);
    return sim;
}

static void execute__any_probe__same_bits_as_the_simulated_wire(void **state)
{
    static const char *const kinds[] = {
        "",
        "full",
        "no-write",
        "mem=300",
        "mem=1039",
        "mem=4096,full,no-zlp",
        "pieces",
        "pieces,full,no-zlp",
        "no-zlp",
        "hw=5,pid=0101",
        "old,hw=3,pid=0102",
        "old,hw=4,pid=0101,pieces",
        "others=15",
        "transfer=1000",
        "transfer=70,full",
        "transfer=512,no-zlp",
        "base=16000000,div=1,mem=142",
    };
    (void)state;
    struct probe *sim = open_sim();
    for (size_t i = 0; i < ARRAY_LEN(kinds); i++) {
        struct fixture fx;
        print_message("  %s\n", kinds[i]);
        open_probe(&fx, kinds[i]);
        for (unsigned seed = 1; seed <= 12; seed++)
            expect_same(&fx, sim, seed + 100 * (unsigned)i);
        close_probe(&fx);
    }
    probe_close(sim);
}

/* At the edges of packets: replies of every length about whole packets, where nothing may be waited
 * for in vain. */
static void execute__replies_about_whole_packets__all_come(void **state)
{
    static const char *const kinds[] = { "full",   "full,no-zlp",      "",
                                         "no-zlp", "hw=4,full,no-zlp", "pieces,full,no-zlp" };
    (void)state;
    struct probe *sim = open_sim();
    for (size_t i = 0; i < ARRAY_LEN(kinds); i++) {
        struct fixture fx;
        static uint8_t a[600], b[600];
        open_probe(&fx, kinds[i]);
        for (uint32_t bits = 8; bits<4700; bits += bits % 512> 400 || bits % 512 < 24 ? 3 : 61) {
            const struct jtag_op op = jtag_dr(bits, NULL, a), same = jtag_dr(bits, NULL, b);
            wire_of((struct sim_board *)(uintptr_t)sim->driver->jtag->now_ns(sim))->state =
                fx.wire.state = bits;
            assert_int_equal(run_ops(fx.p, &op, 1, NULL), 0);
            assert_int_equal(run_ops(sim, &same, 1, NULL), 0);
            assert_memory_equal(a, b, (bits + 7) / 8);
        }
        close_probe(&fx);
    }
    probe_close(sim);
}

static void execute__nobody_wants_tdo__batches_follow_each_other(void **state)
{
    (void)state;
    struct fixture fx;
    open_probe(&fx, "mem=1000");
    const struct jtag_op ops[] = { jtag_idle(60000), jtag_idle(1) };
    uint64_t before, after;
    assert_true(in_process_waiting() <= 3); /* a request and its reads */
    fx.p->driver->jtag->stats(fx.p, NULL, &before, NULL);
    assert_int_equal(run_ops(fx.p, ops, 2, NULL), 0);
    fx.p->driver->jtag->stats(fx.p, NULL, &after, NULL);
    assert_true(in_process_waiting() >= 4);
    /* one transfer for each, none back but at the end */
    assert_true(after - before < 60000 / 3900 + 8);
    close_probe(&fx);
}

static void open__memory_less_than_it_says__is_found_out(void **state)
{
    (void)state;
    struct fixture fx;
    open_probe(&fx, "mem=2000,brags=16384"); /* says 16384 */
    struct probe *sim = open_sim();
    for (unsigned seed = 1; seed < 4; seed++)
        expect_same(&fx, sim, seed);
    probe_close(sim);
    close_probe(&fx);
}

/* ---- pins, voltage, speed ---- */

static void pins__set__reach_the_board(void **state)
{
    (void)state;
    struct fixture fx;
    unsigned value, known;
    unsigned mv;
    open_probe(&fx, "");
    const struct jtag_ops *jtag = fx.p->driver->jtag;
    assert_int_equal(fx.wire.pins, JTAG_PIN_NRESET | JTAG_PIN_NTRST);
    assert_int_equal(jtag->set_pins(fx.p, JTAG_PIN_NRESET, 0, NULL), 0);
    assert_int_equal(fx.wire.pins, JTAG_PIN_NTRST);
    assert_int_equal(jtag->get_pins(fx.p, &value, &known, NULL), 0);
    assert_int_equal(known, JTAG_PIN_NRESET | JTAG_PIN_NTRST | JTAG_PIN_VTREF);
    assert_int_equal(value, JTAG_PIN_NTRST | JTAG_PIN_VTREF);
    assert_int_equal(jtag->set_pins(fx.p, JTAG_PIN_NRESET | JTAG_PIN_NTRST, JTAG_PIN_NRESET, NULL),
                     0);
    assert_int_equal(fx.wire.pins, JTAG_PIN_NRESET);
    assert_int_equal(jtag->set_pins(fx.p, JTAG_PIN_ASEBRK, 0, NULL), -ERR_UNSUPPORTED);
    assert_int_equal(jtag->voltage(fx.p, &mv, NULL), 0);
    assert_int_equal(mv, 3300);
    close_probe(&fx);
    open_probe(&fx, "mv=140");
    assert_int_equal(jtag->voltage(fx.p, &mv, NULL), 0);
    assert_int_equal(mv, 140);
    assert_int_equal(jtag->get_pins(fx.p, &value, &known, NULL), 0);
    assert_false(value & JTAG_PIN_VTREF);
    close_probe(&fx);
}

static void speed__set__is_what_the_wire_gets(void **state)
{
    static const uint32_t hz[] = { 15000000, 10000000, 7000000, 1000000, 100000, 5000, 90000000 };
    (void)state;
    struct fixture fx;
    uint32_t got;
    open_probe(&fx, "");
    for (size_t i = 0; i < ARRAY_LEN(hz); i++) {
        assert_int_equal(fx.p->driver->jtag->set_clock(fx.p, hz[i], &got, NULL), 0);
        assert_int_equal(fx.p->driver->jtag->voltage(fx.p, &(unsigned){ 0 }, NULL), 0);
        assert_true(got <= hz[i]);
        assert_int_equal(got, fx.wire.hz);
    }
    assert_int_equal(fx.p->driver->jtag->set_clock(fx.p, 0, &got, NULL), -ERR_USAGE);
    close_probe(&fx);
}

/* ---- finding ---- */

static void list__several__each_with_its_number(void **state)
{
    static const char *const options[] = { "serial=1", "serial=4000000000,padding=9,pid=1061",
                                           "pid=0101,no-serial,hw=8",
                                           "serial=7,swd-only,pid=1071" };
    static const struct {
        const char *serial, *path;
        unsigned can;
    } want[] = {
        { "1", "1-1", ADAPTER_JTAG },
        { "4000000000", "1-2", ADAPTER_JTAG },
        { "", "1-3", ADAPTER_JTAG },
        { "7", "1-4", 0 },
    };
    struct fixture fx[4];
    struct adapter_list list = { 0 };
    struct err err = { .code = ERR_OK };
    struct probe *p;
    size_t found = 0;
    (void)state;
    for (unsigned i = 0; i < 4; i++)
        plug_model(&fx[i], i, options[i]);
    assert_true(adapters_find(true, &list, NULL) >= 4);
    for (size_t i = 0; i < list.n; i++) {
        const struct adapter *a = &list.row[i];
        if (strcmp(a->driver->name, "jlink") != 0)
            continue;
        assert_string_equal(a->serial, want[found].serial);
        assert_string_equal(a->bus_path, want[found].path);
        assert_int_equal(a->can, want[found].can);
        assert_non_null(strstr(a->firmware, "J-Link V"));
        assert_int_equal(a->problem.code, ERR_OK);
        assert_int_equal(fx[found].wire.clocks, 0); /* nothing that a target would notice */
        found++;
    }
    adapter_list_free(&list);
    assert_int_equal(found, 4);
    assert_int_equal(open_named("jlink", &p, &err), -ERR_USAGE);
    assert_int_equal(open_named("jlink:7", &p, &err), -ERR_UNSUPPORTED);
    assert_non_null(strstr(err.what, "JTAG"));
    assert_int_equal(open_named("jlink:1,x=1", &p, NULL), -ERR_USAGE);
    assert_int_equal(open_named("jlink:4000000000", &p, NULL), 0);
    assert_string_equal(p->name, "jlink 4000000000");
    assert_true(fx[1].wire.clocks > 0);
    assert_int_equal(fx[0].wire.clocks, 0);
    probe_close(p);
    assert_int_equal(open_named("jlink:@1-3", &p, NULL), 0);
    probe_close(p);
    for (unsigned i = 0; i < 4; i++) {
        in_process_plug(i, NULL);
        usb_model_jlink.destroy(fx[i].m);
    }
}

static void open__table_of_connections_full__says_so(void **state)
{
    (void)state;
    struct fixture fx;
    struct err err = { .code = ERR_OK };
    plug_model(&fx, 0, "others=16");
    assert_int_equal(open_named("jlink", &fx.p, &err), -ERR_RESOURCE);
    assert_string_not_equal(err.hint, "");
    in_process_plug(0, NULL);
    usb_model_jlink.destroy(fx.m);
}

static void open__many_times__leaves_no_connection_and_no_setting(void **state)
{
    (void)state;
    struct fixture fx;
    uint8_t config[512];
    plug_model(&fx, 0, "others=15");
    for (unsigned i = 0; i < 20; i++) {
        assert_int_equal(open_named("jlink", &fx.p, NULL), 0);
        assert_int_equal(probe_reopen(fx.p, NULL), 0);
        probe_close(fx.p);
    }
    /* its settings are as they were */
    assert_int_equal(fx.m->type->out(fx.m, 0x05, (const uint8_t *)"\xF2", 1), 1);
    assert_int_equal(fx.m->type->in(fx.m, 0x85, config, sizeof config), 256);
    assert_int_equal(config[0], 0);
    for (unsigned i = 1; i < 256; i++)
        assert_int_equal(config[i], 0xFF);
    in_process_plug(0, NULL);
    usb_model_jlink.destroy(fx.m);
}

/* ---- what goes wrong ---- */

static const char *const fault_names[] = { "none", "unplug", "timeout", "stall", "lost" };

/* A session's transfers: opening, batches, pins, speed. */
static int run_session(struct fixture *fx, struct err *err)
{
    static uint8_t out[3000];
    const struct jtag_op ops[] = { jtag_reset(), jtag_idle(20000), jtag_dr(8000, NULL, out),
                                   jtag_dr(16, NULL, out) };
    const struct jtag_ops *jtag = fx->p->driver->jtag;
    int ret = run_ops(fx->p, ops, ARRAY_LEN(ops), err);
    if (ret == 0)
        ret = jtag->set_pins(fx->p, JTAG_PIN_NRESET, 0, err);
    if (ret == 0)
        ret = jtag->set_clock(fx->p, 2000000, NULL, err);
    if (ret == 0)
        ret = run_ops(fx->p, ops, ARRAY_LEN(ops), err);
    return ret;
}

static void expect_works(struct fixture *fx, struct probe *sim, const char *after)
{
    struct err err = { .code = ERR_OK };
    for (int again = 0;
         again < 2 && run_ops(fx->p, (const struct jtag_op[]){ jtag_reset() }, 1, &err) < 0;
         again++)
        if (probe_reopen(fx->p, &err) < 0)
            fail_msg("%s: %s", after, err.what);
    expect_same(fx, sim, 77);
}

static void any_transfer__any_fault__error_with_a_hint_then_works(void **state)
{
    struct probe *sim = open_sim();
    struct fixture fx;
    (void)state;
    open_probe(&fx, "mem=1000");
    unsigned first = in_process_transfers();
    assert_int_equal(run_session(&fx, NULL), 0);
    unsigned count = in_process_transfers() - first;
    close_probe(&fx);
    for (enum in_process_fault kind = IN_PROCESS_UNPLUG; kind < IN_PROCESS_NFAULTS; kind++)
        for (unsigned at = 1; at <= count; at++) {
            char what[64];
            struct err err = { .code = ERR_OK };
            snprintf(what, sizeof what, "%s at transfer %u", fault_names[kind], at);
            open_probe(&fx, "mem=1000");
            in_process_fault(kind, at);
            int ret = run_session(&fx, &err);
            if (ret < 0 && ret != -ERR_USB && ret != -ERR_TIMEOUT)
                fail_msg("%s: %d: %s", what, ret, err.what);
            if (ret < 0 && (!err.what[0] || !err.hint[0] || err.code != (enum err_code) - ret))
                fail_msg("%s: \"%s\" (%s), code %d of %d", what, err.what, err.hint, (int)err.code,
                         ret);
            if (kind == IN_PROCESS_UNPLUG && ret != -ERR_USB)
                fail_msg("%s: %d", what, ret);
            in_process_fault(IN_PROCESS_NONE, 0);
            in_process_plug(0, fx.m);
            expect_works(&fx, sim, what);
            if (ret == -ERR_TIMEOUT && kind != IN_PROCESS_UNPLUG)
                assert_true(fx.wire.pins & JTAG_PIN_NTRST);
            close_probe(&fx);
        }
    probe_close(sim);
}

static void open__any_fault__error_or_success(void **state)
{
    (void)state;
    for (enum in_process_fault kind = IN_PROCESS_UNPLUG; kind < IN_PROCESS_NFAULTS; kind++)
        for (unsigned at = 1; at <= 40; at++) {
            struct fixture fx;
            struct err err = { .code = ERR_OK };
            plug_model(&fx, 0, "");
            in_process_fault(kind, at);
            int ret = open_named("jlink", &fx.p, &err);
            if (ret < 0 && (!err.what[0] || !err.hint[0]))
                fail_msg("%s at %u: %s (%s)", fault_names[kind], at, err.what, err.hint);
            if (ret == 0)
                probe_close(fx.p);
            in_process_fault(IN_PROCESS_NONE, 0);
            in_process_plug(0, fx.m);
            /* whatever state that left the probe in */
            assert_int_equal(open_named("jlink", &fx.p, NULL), 0);
            close_probe(&fx);
        }
}

static void open__half_a_request_left_in_the_probe__is_reset(void **state)
{
    static const uint8_t half[4 + 5] = { 0xCF, 0, 0x00, 0x10 };
    (void)state;
    struct fixture fx;
    plug_model(&fx, 0, "");
    assert_int_equal(fx.m->type->out(fx.m, 0x05, half, sizeof half), sizeof half);
    assert_int_equal(open_named("jlink", &fx.p, NULL), 0);
    close_probe(&fx);
}

static void open__stale_reply_in_the_probe__is_drained(void **state)
{
    (void)state;
    struct fixture fx;
    unsigned resets = in_process_resets();
    plug_model(&fx, 0, "");
    assert_int_equal(fx.m->type->out(fx.m, 0x05, (const uint8_t *)"\xED", 1), 1);
    assert_int_equal(open_named("jlink", &fx.p, NULL), 0);
    assert_int_equal(in_process_resets(), resets);
    close_probe(&fx);
}

/* The first batch is a write that nobody waits for, the last one is not: either's status counts. */
static void board_fails__status__is_an_error_and_the_probe_stays(void **state)
{
    const struct jtag_op ops[] = { jtag_idle(100000) };
    (void)state;
    struct fixture fx;
    open_probe(&fx, "mem=4096"); /* 16320 bits a batch: seven */
    for (unsigned fails = 0; fails <= 7; fails++) {
        struct err err = { .code = ERR_OK };
        fx.wire.fails = fails;
        int ret = run_ops(fx.p, ops, 1, &err);
        assert_int_equal(ret, fails ? -ERR_TIMEOUT : 0);
        if (fails)
            assert_non_null(strstr(err.what, "status"));
        fx.wire.fails = 0;
        assert_int_equal(run_ops(fx.p, ops, 1, NULL), 0);
    }
    close_probe(&fx);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(execute__nobody_wants_tdo__batches_follow_each_other),
        cmocka_unit_test(execute__any_probe__same_bits_as_the_simulated_wire),
        cmocka_unit_test(execute__replies_about_whole_packets__all_come),
        cmocka_unit_test(open__memory_less_than_it_says__is_found_out),
        cmocka_unit_test(pins__set__reach_the_board),
        cmocka_unit_test(speed__set__is_what_the_wire_gets),
        cmocka_unit_test(list__several__each_with_its_number),
        cmocka_unit_test(open__table_of_connections_full__says_so),
        cmocka_unit_test(open__many_times__leaves_no_connection_and_no_setting),
        cmocka_unit_test(any_transfer__any_fault__error_with_a_hint_then_works),
        cmocka_unit_test(open__any_fault__error_or_success),
        cmocka_unit_test(open__half_a_request_left_in_the_probe__is_reset),
        cmocka_unit_test(open__stale_reply_in_the_probe__is_drained),
        cmocka_unit_test(board_fails__status__is_an_error_and_the_probe_stays),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
