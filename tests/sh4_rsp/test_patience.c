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
    uint64_t thinks_ns, now_ns, ready_ns; /* ready_ns: of the answer; 0 none is due */
    unsigned asked;
};

static struct slow *slow_of(struct probe *p) { return CONTAINER_OF(p, struct slow, probe); }

static unsigned traits(struct probe *p)
{
    (void)p;
    return STREAM_RSP | STREAM_LOSSLESS;
}

static int read_bytes(struct probe *p, uint8_t *buf, size_t cap, uint64_t max_ns, struct err *err)
{
    static const char answer[] = "+$S05#b8";
    struct slow *s = slow_of(p);
    (void)err;
    assert_true(cap >= strlen(answer));
    if (!s->ready_ns || s->ready_ns > s->now_ns + max_ns) {
        s->now_ns += max_ns + 1;
        return 0;
    }
    s->now_ns = MAX(s->now_ns, s->ready_ns);
    s->ready_ns = 0;
    memcpy(buf, answer, strlen(answer));
    return (int)strlen(answer);
}

static int write_bytes(struct probe *p, const uint8_t *buf, size_t len, uint64_t max_ns,
                       struct err *err)
{
    struct slow *s = slow_of(p);
    (void)max_ns, (void)err;
    if (!memchr(buf, '#', len))
        return 0;
    s->ready_ns = s->ready_ns ? s->ready_ns : s->now_ns + s->thinks_ns;
    s->asked++;
    return 0;
}

static int flush(struct probe *p, struct err *err)
{
    (void)p, (void)err;
    return 0;
}

static uint64_t now_ns(struct probe *p) { return slow_of(p)->now_ns; }
static unsigned timeout_ms(struct probe *p) { return slow_of(p)->timeout_ms; }

static const struct stream_ops stream = { .traits = traits,
                                          .read = read_bytes,
                                          .write = write_bytes,
                                          .flush = flush,
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
        cmocka_unit_test(agent__timeout_asked_for__is_its_silence),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
