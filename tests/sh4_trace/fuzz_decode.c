/* Any words in the ring, whole or in pieces: decoding ends, gives no more events than there is room
 * for, consumes what it says, and cutting the words elsewhere does not change the events. */
#include <stdlib.h>
#include <string.h>

#include "probe/base/bytes.h"
#include "probe/base/util.h"
#include "targets/sh4/trace/decode.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

enum { MAX_WORDS = 1024, MAX_EVENTS = 2 * MAX_WORDS + 2, NIDS = 64, STEPPED = 8, ROM = 0xA0001000 };

/* Sites of all kinds: patched ones, then stepped ones. */
struct setting {
    struct sh4_trace_id id[NIDS];
    uint8_t image[2 * STEPPED];
    uint32_t target[NIDS];
    struct sh4_trace_plan plan;
};

static void make_setting(struct setting *s)
{
    static const uint16_t slots[] = { 0x0009, 0x7F10, 0x6EF6, 0x6FE3, 0x2F86 };
    memset(s, 0, sizeof *s);
    for (uint32_t i = 1; i < NIDS; i++) {
        bool stepped = i >= NIDS - STEPPED;
        uint32_t at = stepped ? ROM + 2 * (i - (NIDS - STEPPED)) : 0x0C010000 + 2 * i;
        s->id[i] = (struct sh4_trace_id){ .addr = i % 5 ? at : 0,
                                          .kind = (uint8_t)(i % (SH4_SITE_BRAF + 1)),
                                          .slot = slots[i % ARRAY_LEN(slots)],
                                          .has_target = i % 3 == 0,
                                          .target = 0x0C010000 + 8 * i,
                                          .extra_insns = (int8_t)(i % 7) };
        if (i % 11 == 0)
            s->id[i].kind = SH4_SITE_NKINDS;
        if (stepped)
            put_le16(s->image + 2 * (i - (NIDS - STEPPED)), (uint16_t)(i - (NIDS - STEPPED) + 1));
    }
    s->plan = (struct sh4_trace_plan){ .base = 0x8C004000,
                                       .image = s->image,
                                       .id = s->id,
                                       .nids = NIDS,
                                       .stubs = 0x1000,
                                       .stubs_end = 0x1100 };
    s->plan.rom = (struct sh4_trace_rom){ .base = ROM,
                                          .bytes = 1024,
                                          .text = ROM,
                                          .text_bytes = 2 * STEPPED,
                                          .nsites = STEPPED,
                                          .first = NIDS - STEPPED };
}

/* All words, `step` of them more each time, no more than `cap` events a call. */
static size_t decode_words(struct setting *s, uint8_t how, const uint32_t *w, size_t n, size_t step,
                           size_t cap, struct event *out)
{
    struct sh4_trace_decoder d = { .plan = &s->plan,
                                   .code = { how & 1 ? 0x23 : 0x12, how & 2 ? 0x13 : 0 },
                                   .residue16 = { 544, 256 },
                                   .first = { 12, 7 },
                                   .has_vbr = how & 4,
                                   .vbr = 0x8C000000,
                                   .target = s->target };
    size_t from = 0, got = 0;
    memset(s->target, 0, sizeof s->target);
    for (size_t to = step < n ? step : n; from < n;) {
        size_t used = 0, k = sh4_trace_decode(&d, w + from, to - from, 0, out + got, cap, &used);
        if (k > cap || used > to - from || got + k > MAX_EVENTS - 2)
            abort();
        from += used;
        got += k;
        if (used || k)
            continue;
        if (to == n)
            break;
        to = to + step < n ? to + step : n;
    }
    return got;
}

/* A run of senseless words gives one loss in one piece, and one a piece when cut. */
static size_t without_losses(struct event *e, size_t n)
{
    size_t kept = 0;
    for (size_t i = 0; i < n; i++)
        if (e[i].kind != EVENT_LOST)
            e[kept++] = e[i];
    return kept;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static struct setting s; /* only to spare the stack: made anew each time */
    static struct event a[MAX_EVENTS], b[MAX_EVENTS];
    uint32_t w[MAX_WORDS];
    if (size < 2)
        return 0;
    size_t n = (size - 2) / 4 < MAX_WORDS ? (size - 2) / 4 : MAX_WORDS;
    for (size_t i = 0; i < n; i++)
        w[i] = le32(data + 2 + 4 * i);
    make_setting(&s);
    size_t na = without_losses(a, decode_words(&s, data[0], w, n, n, MAX_EVENTS / 2, a));
    size_t nb =
        without_losses(b, decode_words(&s, data[0], w, n, 1 + data[1] % 16, 2 + data[1] / 16, b));
    if (na != nb || memcmp(a, b, na * sizeof *a) != 0)
        abort();
    return 0;
}
