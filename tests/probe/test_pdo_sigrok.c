/* The driver sigrok on libsigrok's own demonstration device, whose patterns are known. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include <cmocka.h>

#include "probe/base/util.h"
#include "probe/probe.h"

enum { MANY = 20000, SLOW_US = 1000, QUEUE = 1 << 21 };

static const struct probe_config config = { .spec = "" };

static struct probe *open_demo(const char *name)
{
    struct probe *p = NULL;
    struct err err = { .code = ERR_OK };
    if (probe_open(name, &config, &p, &err) < 0)
        fail_msg("%s: %s; %s", name, err.what, err.hint);
    assert_non_null(p->driver->pdo);
    return p;
}

static void sleep_us(unsigned us)
{
    nanosleep(&(struct timespec){ us / 1000000, us % 1000000 * 1000L }, NULL);
}

/* Exactly n edges, none lost. */
static void read_some(struct probe *p, pdo_edge *e, size_t n)
{
    struct err err = { .code = ERR_OK };
    size_t have = 0;
    for (unsigned tries = 0; have < n; tries++) {
        uint64_t lost = 0;
        int got = p->driver->pdo->read(p, e + have, n - have, &lost, &err);
        if (got < 0 || lost || tries > 100000)
            fail_msg("%d, %llu lost: %s", got, (unsigned long long)lost, err.what);
        have += (size_t)got;
        if (!got)
            sleep_us(SLOW_US);
    }
}

/* Sample n of the demonstration device. Of the channels in use it gives only as many, counted from
 * D0: so these are D0 and D1. */
static unsigned counting_levels(uint64_t n) { return (unsigned)(n & 0xFF); }
static unsigned gray_levels(uint64_t n) { return (unsigned)((n & 0xFF) ^ (n & 0xFF) >> 1); }
static unsigned walking_levels(uint64_t n) { return n % 9 < 8 ? 1u << n % 9 : 0; }

static void check_pattern(const pdo_edge *e, size_t n, unsigned (*pattern)(uint64_t), unsigned clk,
                          unsigned data, uint64_t phase)
{
    uint64_t at = 0;
    unsigned before = 0;
    for (size_t k = 0; k < n; at++) {
        unsigned s = pattern(at + phase), level = (s >> clk & 1) << 1 | (s >> data & 1);
        bool edge = !at || level != before;
        before = level;
        if (edge && e[k] != PDO_EDGE(at, level >> 1, level & 1))
            fail_msg("edge %zu: tick %llu level %u, expected tick %llu level %u", k,
                     (unsigned long long)PDO_TICK(e[k]), (unsigned)(e[k] & 3),
                     (unsigned long long)at, level);
        k += edge;
    }
}

static void demo__known_patterns__their_edges_exactly(void **state)
{
    static const struct {
        const char *name, *probe;
        unsigned (*pattern)(uint64_t);
        unsigned clk, data;
    } rows[] = {
        { "counting", "sigrok:demo,pdo=D0,pdoclk=D1,rate=2M,pattern=incremental", counting_levels,
          1, 0 },
        { "counting, the other way round",
          "sigrok:demo,pdo=d1,pdoclk=d0,rate=5M,pattern=incremental", counting_levels, 0, 1 },
        { "Gray code", "sigrok:demo,pdo=D0,pdoclk=D1,rate=5M,pattern=graycode", gray_levels, 1, 0 },
        { "a one that walks", "sigrok:demo,pdo=D1,pdoclk=D0,rate=1M,pattern=walking-one",
          walking_levels, 0, 1 },
    };
    static pdo_edge e[MANY];
    uint64_t hz;
    (void)state;
    for (size_t k = 0; k < ARRAY_LEN(rows); k++) {
        struct probe *p = open_demo(rows[k].probe);
        print_message("  %s\n", rows[k].name);
        /* the second capture of a device begins anew, too */
        for (unsigned again = 0; again < 2; again++) {
            assert_int_equal(p->driver->pdo->start(p, &hz, NULL), 0);
            assert_int_equal(hz, p->driver->pdo->sample_hz(p));
            read_some(p, e, MANY);
            assert_int_equal(PDO_TICK(e[0]), 0);
            uint64_t phase = 0; /* where in its pattern it begins is its business */
            unsigned (*f)(uint64_t) = rows[k].pattern;
            for (; phase < 256; phase++) {
                size_t j = 0;
                for (uint64_t at = 0; j < 40; at++) {
                    unsigned s = f(at + phase),
                             level = (s >> rows[k].clk & 1) << 1 | (s >> rows[k].data & 1);
                    if (PDO_TICK(e[j]) == at && (e[j] & 3) != level)
                        break;
                    if (PDO_TICK(e[j]) < at)
                        break;
                    j += PDO_TICK(e[j]) == at;
                }
                if (j == 40)
                    break;
            }
            check_pattern(e, MANY, f, rows[k].clk, rows[k].data, phase);
            assert_int_equal(p->driver->pdo->stop(p, NULL), 0);
        }
        probe_close(p);
    }
}

static void demo__still_lines__one_edge_and_time_goes_on(void **state)
{
    struct probe *p = open_demo("sigrok:demo,pdo=D0,pdoclk=D1,rate=10M,pattern=all-high");
    uint64_t hz, lost;
    pdo_edge e[4];
    (void)state;
    assert_int_equal(p->driver->pdo->start(p, &hz, NULL), 0);
    assert_int_equal(hz, 10000000);
    read_some(p, e, 1);
    assert_int_equal(e[0], PDO_EDGE(0, 1, 1));
    uint64_t before = p->driver->pdo->seen(p);
    assert_int_equal(p->driver->pdo->catch_up(p, NULL), 0);
    assert_int_equal(p->driver->pdo->read(p, e, ARRAY_LEN(e), &lost, NULL), 0);
    assert_true(p->driver->pdo->seen(p) >= before + hz / 50); /* 20 ms of samples at the least */
    assert_int_equal(p->driver->pdo->stop(p, NULL), 0);
    probe_close(p);
}

/* Reads what the queue can hold and as much again, up to the first loss; returns that, and checks
 * that all else is there: D0 changes with every sample. */
static uint64_t read_to_loss(struct probe *p, uint64_t *last, uint64_t *got)
{
    static pdo_edge e[1 << 16];
    struct err err = { .code = ERR_OK };
    uint64_t lost = 0;
    uint64_t end = *got + (uint64_t)2 * QUEUE;
    for (unsigned idle = 0; idle < 20 && *got < end && !lost;) {
        int n = p->driver->pdo->read(p, e, ARRAY_LEN(e), &lost, &err);
        assert_true(n >= 0);
        if (n && *got)
            assert_int_equal(PDO_TICK(e[0]) - *last - 1, lost);
        for (int j = 1; j < n; j++)
            assert_int_equal(PDO_TICK(e[j]), PDO_TICK(e[j - 1]) + 1);
        *last = n ? PDO_TICK(e[n - 1]) : *last;
        *got += (uint64_t)n;
        idle = n ? 0 : idle + 1;
        if (!n)
            sleep_us(SLOW_US);
    }
    return lost;
}

/* Nobody reads: what does not fit is counted, and what comes behind it is told apart. A second has
 * 5 million edges, more than twice what the queue holds; the device gets fewer done beside others,
 * and then nobody reads for longer. */
static void demo__nobody_reads__losses_are_counted_and_placed(void **state)
{
    struct probe *p = open_demo("sigrok:demo,pdo=D0,pdoclk=D1,rate=5M,pattern=incremental");
    uint64_t hz, lost = 0, got = 0, last = 0;
    (void)state;
    assert_int_equal(p->driver->pdo->start(p, &hz, NULL), 0);
    for (unsigned rest = 1; !lost && rest < 256; rest *= 2) {
        sleep_us(rest * 1000000);
        lost = read_to_loss(p, &last, &got);
    }
    assert_true(lost > 1000 && got > 1 << 20);
    assert_int_equal(p->driver->pdo->stop(p, NULL), 0);
    probe_close(p);
}

static void demo__ends_by_itself__is_an_error_behind_the_last_edge(void **state)
{
    struct probe *p =
        open_demo("sigrok:demo,pdo=D0,pdoclk=D1,rate=1M,pattern=incremental,limit_samples=50000");
    static pdo_edge e[50000];
    uint64_t hz, lost;
    struct err err = { .code = ERR_OK };
    (void)state;
    for (unsigned again = 0; again < 2; again++) {
        assert_int_equal(p->driver->pdo->start(p, &hz, NULL), 0);
        read_some(p, e, ARRAY_LEN(e));
        assert_int_equal(PDO_TICK(e[49999]), 49999);
        int n = 0;
        for (unsigned k = 0; n == 0 && k < 5000; k++, sleep_us(SLOW_US))
            n = p->driver->pdo->read(p, e, ARRAY_LEN(e), &lost, &err);
        assert_int_equal(n, -ERR_USB);
        assert_non_null(strstr(err.what, "ended by itself after 0.05 s"));
        assert_string_not_equal(err.hint, "");
        assert_int_equal(p->driver->pdo->catch_up(p, NULL), 0);
        assert_int_equal(probe_reopen(p, &err), 0);
    }
    probe_close(p);
}

static void demo__closed_while_it_streams__the_next_one_opens(void **state)
{
    static pdo_edge e[MANY];
    uint64_t hz;
    (void)state;
    for (unsigned k = 0; k < 3; k++) {
        struct probe *p =
            open_demo(k & 1 ? "sigrok:demo,pdo=D0,pdoclk=D1,rate=1M,pattern=all-low"
                            : "sigrok:demo,pdo=D0,pdoclk=D1,rate=2M,pattern=incremental");
        assert_int_equal(p->driver->pdo->start(p, &hz, NULL), 0);
        assert_int_equal(hz, k & 1 ? 1000000 : 2000000);
        read_some(p, e, k & 1 ? 1 : MANY);
        assert_int_equal(PDO_TICK(e[0]), 0);
        probe_close(p);
    }
}

static void open__what_cannot_be__is_said(void **state)
{
    static const struct {
        const char *name, *probe, *what, *hint;
        int ret;
    } rows[] = {
        { "no driver", "sigrok", "no driver named", "sigrok:fx2lafw", -ERR_USAGE },
        { "near miss", "sigrok:dmo,rate=1M", "no driver 'dmo'", "did you mean demo?", -ERR_USAGE },
        { "no such channel", "sigrok:demo,pdo=D0,pdoclk=CLK,rate=1M",
          "no channel 'CLK'; it has D0, D1, D2", "wired", -ERR_NOT_FOUND },
        { "an analog channel", "sigrok:demo,pdo=D0,pdoclk=A0,rate=1M", "no channel 'A0'", "wired",
          -ERR_NOT_FOUND },
        { "no rate", "sigrok:demo,pdo=D0,pdoclk=D1", "add rate=", "twice the bus clock; it has ",
          -ERR_USAGE },
        { "a rate that is none", "sigrok:demo,rate=fast", "\"fast\" is no clock frequency", "10M",
          -ERR_USAGE },
        { "unknown setting", "sigrok:demo,pdo=D0,pdoclk=D1,rate=1M,colour=red", "no setting colour",
          "sigrok-cli", -ERR_USAGE },
        { "value that is none", "sigrok:demo,pdo=D0,pdoclk=D1,rate=1M,limit_samples=x",
          "limit_samples=x is no value", "sigrok-cli", -ERR_USAGE },
        { "pattern that is none", "sigrok:demo,pdo=D0,pdoclk=D1,rate=1M,pattern=plaid",
          "pattern=plaid", "sigrok-cli", -ERR_USAGE },
    };
    (void)state;
    for (size_t k = 0; k < ARRAY_LEN(rows); k++) {
        struct err err = { .code = ERR_OK };
        struct probe *p = NULL;
        print_message("  %s\n", rows[k].name);
        assert_int_equal(probe_open(rows[k].probe, &config, &p, &err), rows[k].ret);
        assert_null(p);
        if (!strstr(err.what, rows[k].what) || !strstr(err.hint, rows[k].hint))
            fail_msg("%s; %s", err.what, err.hint);
    }
}

static void scan__asked__finds_the_demonstration_device(void **state)
{
    struct adapter_list list = { 0 };
    char name[PROBE_NAME_MAX];
    bool found = false;
    (void)state;
    assert_true(adapters_scan(&list, NULL) >= 1);
    for (size_t k = 0; k < list.n; k++) {
        adapter_name(&list, k, name, sizeof name);
        found |= !strcmp(name, "sigrok:demo") && list.row[k].can == ADAPTER_PDO;
    }
    assert_true(found);
    adapter_list_free(&list);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(demo__known_patterns__their_edges_exactly),
        cmocka_unit_test(demo__still_lines__one_edge_and_time_goes_on),
        cmocka_unit_test(demo__nobody_reads__losses_are_counted_and_placed),
        cmocka_unit_test(demo__ends_by_itself__is_an_error_behind_the_last_edge),
        cmocka_unit_test(demo__closed_while_it_streams__the_next_one_opens),
        cmocka_unit_test(open__what_cannot_be__is_said),
        cmocka_unit_test(scan__asked__finds_the_demonstration_device),
    };
    for (const struct probe_absent *a = probe_absent_drivers(); a->name; a++)
        if (!strcmp(a->name, "sigrok")) {
            print_message("%s\n", a->why);
            return 77;
        }
    return cmocka_run_group_tests(tests, NULL, NULL);
}
