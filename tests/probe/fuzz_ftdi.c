/* MPSSE batches of any scans, and any replies to them: what is put down fits its buffers, replies
 * of the right length are either refused or end up within the scans' buffers (of exact size), and
 * status bytes of any packets are taken off. */
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "probe/base/util.h"
#include "probe/ftdi_mpsse.h"

enum { OPS = 6, MOST_BITS = 600, OUT = 400, REPLIES = 40, TOKEN = 0xAB };

struct input {
    const uint8_t *at, *end;
};

static uint8_t next_byte(struct input *in) { return in->at < in->end ? *in->at++ : 0; }

static size_t make_ops(struct input *in, struct jtag_op *ops)
{
    static const uint8_t ones[(MOST_BITS + 7) / 8] = { 0xFF, 0x0F, 0xAA };
    size_t n = 1 + next_byte(in) % OPS;
    for (size_t i = 0; i < n; i++) {
        uint8_t how = next_byte(in);
        uint32_t bits = 1 + (next_byte(in) | (uint32_t)(how >> 6) << 8) % MOST_BITS;
        ops[i] = (struct jtag_op){ .kind = (enum jtag_op_kind)(how & 3),
                                   .bits = bits,
                                   .idle_clocks = how >> 3 & 3 };
        if (ops[i].kind == JTAG_IR || ops[i].kind == JTAG_DR) {
            ops[i].tdi = how & 4 ? ones : NULL;
            ops[i].tdo = how & 32 ? malloc((bits + 7) / 8) : NULL;
        }
    }
    return n;
}

/* The batch is answered by the input; its last byte but one and its last are as they have to be,
 * most of the time. */
static void answer_batch(struct input *in, const struct mpsse_batch *b)
{
    uint8_t *reply = malloc(b->nin);
    for (uint32_t i = 0; i < b->nin; i++)
        reply[i] = next_byte(in);
    if (b->nin >= 2 && next_byte(in) % 8) {
        reply[b->nin - 2] = 0xFA;
        reply[b->nin - 1] = TOKEN;
    }
    mpsse_decode(b, reply, NULL);
    free(reply);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct input in = { data, data + size };
    struct jtag_op ops[OPS];
    struct mpsse_reply replies[REPLIES];
    uint8_t out[OUT];
    size_t n = make_ops(&in, ops);
    struct mpsse_cursor c = { .ops = ops, .n = n };
    struct mpsse_batch b = { .out = out,
                             .reply = replies,
                             .cap_out = MPSSE_MIN_OUT + next_byte(&in),
                             .cap_in = MPSSE_MIN_IN + next_byte(&in),
                             .cap_replies = MPSSE_MIN_REPLIES +
                                            next_byte(&in) % (REPLIES - MPSSE_MIN_REPLIES + 1),
                             .packet_data = 62,
                             .falling = size & 1 };
    for (bool all = jtag_check(ops, n, NULL) < 0; !all;) {
        mpsse_begin(&b);
        all = mpsse_encode(&c, &b);
        mpsse_finish(&b, TOKEN);
        if (b.nout > b.cap_out || b.nin > b.cap_in || b.nreplies > b.cap_replies ||
            b.nin % b.packet_data == 0)
            abort();
        answer_batch(&in, &b);
    }
    for (size_t i = 0; i < n; i++)
        free(ops[i].tdo);
    uint8_t *raw = malloc(size + 1);
    memcpy(raw, data, size);
    if (mpsse_strip(raw, size, size % 2 ? 64 : 512) > size)
        abort();
    free(raw);
    return 0;
}
