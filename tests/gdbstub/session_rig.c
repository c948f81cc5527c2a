#include "tests/gdbstub/session_rig.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "probe/base/hex.h"

enum { ANSWER_BYTES = 2 << 20 };

static bool holds_acks(void *ctx) { return ((struct fixture *)ctx)->hold; }

int rig_setup(void **state)
{
    struct fixture *fx = calloc(1, sizeof *fx);
    struct err err;
    ram_target_init(&fx->ram);
    struct stub_config cfg = { .target = &fx->ram.target,
                               .log = &fx->log,
                               .version = "probeprof 1.2",
                               .has_entry = true,
                               .entry = 0x1234,
                               .hold = holds_acks,
                               .hold_ctx = fx };
    if (stub_new(&cfg, &fx->stub, &err) < 0 || session_open(fx->stub, NULL, NULL, &fx->s, &err) < 0)
        return -1;
    fx->answer = malloc(ANSWER_BYTES);
    *state = fx;
    return 0;
}

int rig_teardown(void **state)
{
    struct fixture *fx = *state;
    stub_free(fx->stub);
    free(fx->answer);
    free(fx);
    return 0;
}

void pump_target(struct fixture *fx)
{
    for (struct session *each = fx->stub->sessions; each; each = each->next)
        while (session_work(each))
            ;
    struct target *t = &fx->ram.target;
    for (int i = 0; i < 3; i++) {
        struct target_stop stop;
        if (t->ops->poll(t, 0, &stop, NULL) > 0)
            stub_stopped(fx->stub, &stop);
    }
}

/* Undoes framing: payloads of packets and notifications, with a blank between; acks stand for
 * themselves. Console text becomes O<text>, a line that is itself the reply =<text>. */
static void render_packets(const uint8_t *out, size_t n, char *text, size_t cap)
{
    size_t k = 0;
    for (size_t i = 0; i < n;) {
        if (k && text[k - 1] != ' ')
            text[k++] = ' ';
        if (out[i] == '+' || out[i] == '-') {
            text[k++] = (char)out[i++];
            continue;
        }
        assert_true(out[i] == '$' || out[i] == '%');
        const uint8_t *hash = memchr(out + i, '#', n - i);
        assert_non_null(hash);
        size_t len = (size_t)(hash - out) - i - 1;
        char sum[3];
        snprintf(sum, sizeof sum, "%02x", rsp_checksum(out + i + 1, len));
        assert_memory_equal(hash + 1, sum, 2);
        assert_true(k + len + 8 < cap);
        if (out[i] == '%')
            text[k++] = '%';
        if (len > 1 && out[i + 1] == 'O' && len % 2 == 1) {
            text[k++] = 'O';
            assert_true(hex_decode((uint8_t *)text + k, (const char *)out + i + 2, len / 2));
            k += len / 2;
        } else if (len > 8 && len % 2 == 0 && !memcmp(out + i + len - 1, "0a", 2) &&
                   hex_decode((uint8_t *)text + k + 1, (const char *)out + i + 1, len / 2)) {
            text[k] = '=';
            k += 1 + len / 2;
        } else {
            memcpy(text + k, out + i + 1, len);
            k += len;
        }
        i += len + 4;
    }
    text[k] = 0;
}

const char *take_answer(struct fixture *fx, struct session *s)
{
    const uint8_t *out;
    size_t n = session_pending(s, &out);
    render_packets(out, n, fx->answer, ANSWER_BYTES);
    session_sent(s, n);
    return fx->answer;
}

void feed_bytes(struct session *s, const void *p, size_t len)
{
    struct err err;
    assert_int_equal(session_feed(s, p, len, &err), len);
}

void send_packet(struct session *s, const char *payload, size_t len)
{
    static char frame[300000];
    frame[0] = '$';
    memcpy(frame + 1, payload, len);
    snprintf(frame + 1 + len, 4, "#%02x", rsp_checksum((const uint8_t *)payload, len));
    feed_bytes(s, frame, len + 4);
}

const char *talk_to(struct fixture *fx, struct session *s, const char *payload)
{
    if (strcmp(payload, "^C") == 0)
        feed_bytes(s, "\003", 1);
    else
        send_packet(s, payload, strlen(payload));
    pump_target(fx);
    return take_answer(fx, s);
}

const char *talk_first(struct fixture *fx, const char *payload)
{
    return talk_to(fx, fx->s, payload);
}

void no_acks(struct fixture *fx) { assert_string_equal(talk_first(fx, "QStartNoAckMode"), "+ OK"); }

struct session *open_second(struct fixture *fx)
{
    struct session *s;
    struct err err;
    assert_int_equal(session_open(fx->stub, NULL, NULL, &s, &err), 0);
    assert_string_equal(talk_to(fx, s, "QStartNoAckMode"), "+ OK");
    return s;
}

const char *talk_monitor(struct fixture *fx, struct session *s, const char *line)
{
    char packet[2100] = "qRcmd,";
    hex_encode(packet + 6, (const uint8_t *)line, strlen(line));
    packet[6 + 2 * strlen(line)] = 0;
    return talk_to(fx, s, packet);
}

void put_syscall(struct fixture *fx, uint32_t number, uint32_t a, uint32_t b, uint32_t c)
{
    const uint32_t reg[4] = { number, a, b, c };
    ram_put_word(&fx->ram, fx->ram.reg[RAM_PC], RAM_SYSCALL);
    memcpy(fx->ram.reg, reg, sizeof reg);
}

void lose_target(struct fixture *fx)
{
    fx->ram.gone = true;
    stub_gone(fx->stub, &(struct err){ .what = "x" });
    take_answer(fx, fx->s);
}
