/* A USB device that answers anything: what a fuzzer puts in place of a model. Its input is a row of
 * transfers to the host: length (two bytes, big-endian; BABBLER_NOTHING: not now), bytes; behind
 * the last nothing is answered. What the host sends is taken. */
#ifndef TESTS_USB_BABBLER_H
#define TESTS_USB_BABBLER_H

#include <stdint.h>
#include <string.h>

#include "probe/base/bytes.h"
#include "probe/base/util.h"
#include "tests/system/usb/model.h"

enum { BABBLER_NOTHING = 0xFFFF };

struct babbler {
    struct usb_model base;
    const uint8_t *at, *end;
};

static inline int babbler_out(struct usb_model *m, uint8_t ep, const uint8_t *data, size_t len)
{
    (void)m, (void)ep, (void)data;
    return (int)len;
}

static inline int babbler_in(struct usb_model *m, uint8_t ep, uint8_t *buf, size_t cap)
{
    struct babbler *b = CONTAINER_OF(m, struct babbler, base);
    (void)ep;
    if (b->end - b->at < 2)
        return USB_NAK;
    unsigned length = be16(b->at);
    b->at += 2;
    if (length == BABBLER_NOTHING)
        return USB_NAK;
    size_t n = MIN((size_t)length, cap);
    n = MIN(n, (size_t)(b->end - b->at));
    memcpy(buf, b->at, n);
    b->at += n;
    return (int)n;
}

static inline int babbler_control(struct usb_model *m, const uint8_t *setup, uint8_t *data,
                                  size_t len)
{
    int n = setup[0] & 0x80 ? babbler_in(m, 0, data, len) : (int)len;
    return n == USB_NAK ? USB_STALL : n;
}

/* babbler_of - a device that looks like `looks` (borrowed) and says data (borrowed). */
static inline struct babbler babbler_of(const struct usb_model *looks, const uint8_t *data,
                                        size_t size)
{
    static const struct usb_model_type babbles = {
        .name = "babbler", .control = babbler_control, .out = babbler_out, .in = babbler_in
    };
    return (struct babbler){ .base = { .type = &babbles, .id = looks->id },
                             .at = data,
                             .end = data + size };
}

#endif
