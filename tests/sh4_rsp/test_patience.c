/* How long an answer over a byte stream is waited for: timeout=MS of --probe, against a far end
 * that thinks a while before it answers, in a time of its own. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "probe/base/util.h"
#include "probe/probe.h"
#include "targets/sh4/rsp/client.h"
#include "targets/sh4/driver/driver.h"

#define S 1000000000ull

struct slow {
    struct probe probe;
    unsigned timeout_ms;
    uint64_t thinks_ns, now_ns;
    const char *optional; /* its answer to a query; NULL it has none */
    struct {
        uint64_t ready_ns;
        const char *text;
    } due[8]; /* answers that it thinks about, one after the other */
    unsigned ndue, given, asked;
};

static struct slow *slow_of(struct probe *p) { return CONTAINER_OF(p, struct slow, probe); }

static unsigned stream_traits(struct probe *p)
{
    (void)p;
    return STREAM_RSP | STREAM_LOSSLESS;
}

static int read_bytes(struct probe *p, uint8_t *buf, size_t cap, uint64_t max_ns, struct err *err)
{
    struct slow *s = slow_of(p);
    (void)err;
    if (s->given == s->ndue || s->due[s->given].ready_ns > s->now_ns + max_ns) {
        s->now_ns += max_ns + 1;
        return 0;
    }
    const char *text = s->due[s->given].text;
    s->now_ns = MAX(s->now_ns, s->due[s->given].ready_ns);
    s->given++;
    assert_true(cap >= strlen(text));
    memcpy(buf, text, strlen(text));
    return (int)strlen(text);
}

static int write_bytes(struct probe *p, const uint8_t *buf, size_t len, uint64_t max_ns,
                       struct err *err)
{
    struct slow *s = slow_of(p);
    const char *text = len > 1 && buf[1] == 'q' ? s->optional : "+$S05#b8";
    (void)max_ns, (void)err;
    if (!memchr(buf, '#', len))
        return 0;
    s->asked++;
    if (!text)
        return 0;
    uint64_t free_ns = s->ndue ? MAX(s->now_ns, s->due[s->ndue - 1].ready_ns) : s->now_ns;
    assert_true(s->ndue < ARRAY_LEN(s->due));
    s->due[s->ndue].ready_ns = free_ns + s->thinks_ns;
    s->due[s->ndue++].text = text;
    return 0;
}

static int flush_stream(struct probe *p, struct err *err)
{
    (void)p, (void)err;
    return 0;
}

static uint64_t now_ns(struct probe *p) { return slow_of(p)->now_ns; }
static unsigned timeout_ms(struct probe *p) { return slow_of(p)->timeout_ms; }

static const struct stream_ops stream = { .traits = stream_traits,
                                          .read = read_bytes,
                                          .write = write_bytes,
                                          .flush = flush_stream,
                                          .now_ns = now_ns,
                                          .timeout_ms = timeout_ms };
static const struct probe_driver driver = { .name = "rsp", .stream = &stream };

static void stub__thinks_longer_than_usual__asked_once_if_that_is_allowed(void **state)
{
    static const struct {
        unsigned timeout_ms;
        uint64_t thinks_ns;
        unsigned asked;
    } rows[] = {
        { 0, S, 1 },
        { 0, 4 * S, 2 },
        { 6000, 4 * S, 1 },
        { 500, S, 2 },
    };
    (void)state;
    for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
        struct slow s = { .probe = { .driver = &driver, .name = "slow" },
                          .timeout_ms = rows[i].timeout_ms,
                          .thinks_ns = rows[i].thinks_ns };
        static struct rsp_client c;
        print_message("  timeout=%u, %llu s\n", rows[i].timeout_ms, rows[i].thinks_ns / S);
        assert_int_equal(rsp_client_init(&c, &s.probe, NULL), 0);
        assert_int_equal(rsp_ask(&c, "?", 1, NULL), 0);
        assert_string_equal(c.in.body, "S05");
        assert_int_equal(s.asked, rows[i].asked);
    }
}

static void stub__silent_for_good__given_up_after_what_was_asked_for(void **state)
{
    uint64_t took[2];
    (void)state;
    for (int i = 0; i < 2; i++) {
        struct slow s = { .probe = { .driver = &driver, .name = "slow" },
                          .timeout_ms = i ? 20000 : 0,
                          .thinks_ns = 1000 * S };
        static struct rsp_client c;
        assert_int_equal(rsp_client_init(&c, &s.probe, NULL), 0);
        assert_int_equal(rsp_ask(&c, "?", 1, NULL), -ERR_TIMEOUT);
        took[i] = s.now_ns;
    }
    assert_true(took[1] > 20 * S && took[0] < 20 * S);
}

/* Whatever the time, the answer is the question's own or known to be none, and what is asked next
 * gets its own, too. */
static void query__that_a_stub_may_not_know__late_is_not_taken_for_silent(void **state)
{
    static const struct {
        uint64_t thinks_ns;
        const char *optional;
        int ret;
    } rows[] = {
        { S / 10, "+$ENABLE=1#15", 1 },
        { 2 * S, "+$ENABLE=1#15", 1 },
        { 9 * S, "+$ENABLE=1#15", 1 },
        { S / 10, "+$#00", 1 },
        { 2 * S, "+$#00", 1 },
        { S / 10, NULL, 0 },
        { 2 * S, NULL, 0 },
        { 9 * S, NULL, 0 },
        { 100 * S, NULL, 0 },
    };
    (void)state;
    for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
        struct slow s = { .probe = { .driver = &driver, .name = "slow" },
                          .timeout_ms = 20000,
                          .thinks_ns = rows[i].thinks_ns,
                          .optional = rows[i].optional };
        static struct rsp_client c;
        print_message("  row %zu\n", i);
        assert_int_equal(rsp_client_init(&c, &s.probe, NULL), 0);
        assert_int_equal(rsp_try_in_turn(&c, "qqemu.sstepbits", S / 3, NULL), rows[i].ret);
        if (rows[i].ret)
            assert_true(!strncmp(c.in.body, "ENABLE", 6) || !*c.in.body);
        if (rows[i].thinks_ns < S) /* with an answer at hand, nothing waits for --probe's time */
            assert_true(s.now_ns < S);
        if (rows[i].thinks_ns > 20 * S)
            continue;
        assert_int_equal(rsp_ask(&c, "?", 1, NULL), 0);
        assert_string_equal(c.in.body, "S05");
        s.optional = "+$4242#cc";
        assert_int_equal(rsp_ask(&c, "q", 1, NULL), 0);
        assert_string_equal(c.in.body, "4242");
    }
}

static void agent__timeout_asked_for__is_its_silence(void **state)
{
    (void)state;
    for (unsigned ms = 0; ms <= 5000; ms += 5000) {
        struct slow s = { .probe = { .driver = &driver, .name = "slow" }, .timeout_ms = ms };
        static struct sh4_link l;
        assert_int_equal(sh4_link_init(&l, &s.probe, NULL), 0);
        assert_int_equal(l.silence_ns, ms ? 5 * S : 2 * S);
        sh4_link_fini(&l);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(stub__thinks_longer_than_usual__asked_once_if_that_is_allowed),
        cmocka_unit_test(stub__silent_for_good__given_up_after_what_was_asked_for),
        cmocka_unit_test(query__that_a_stub_may_not_know__late_is_not_taken_for_silent),
        cmocka_unit_test(agent__timeout_asked_for__is_its_silence),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
