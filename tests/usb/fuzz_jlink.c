/* The J-Link driver with a probe that answers anything: any bytes, in any pieces. It may fail, but not hang, write beyond a buffer or
 * leak. The input is a row of transfers: length (two bytes, big-endian), bytes; behind the last nothing is answered. */
#include <stdint.h>
#include <string.h>

#include "probe/base/bytes.h"
#include "probe/base/util.h"
#include "probe/probe.h"
#include "tests/usb/usb_in_process.h"

extern const struct usb_model_type usb_model_jlink;

struct babbler {
    struct usb_model base;
    const uint8_t *at, *end;
};

static int any_out(struct usb_model *m, uint8_t ep, const uint8_t *data, size_t len)
{
    (void)m, (void)ep, (void)data;
    return (int)len;
}

static int any_in(struct usb_model *m, uint8_t ep, uint8_t *buf, size_t cap)
{
    struct babbler *b = CONTAINER_OF(m, struct babbler, base);
    (void)ep;
    if (b->end - b->at < 2)
        return USB_NAK;
    size_t n = MIN((size_t)be16(b->at), cap);
    b->at += 2;
    n = MIN(n, (size_t)(b->end - b->at));
    memcpy(buf, b->at, n);
    b->at += n;
    return (int)n;
}

static void session(struct probe *p)
{
    uint8_t out[400], word[4];
    unsigned value, known, mv;
    const struct jtag_op ops[] = { jtag_reset(), jtag_idle(5000), jtag_dr(8 * sizeof out, NULL, out), jtag_dr(32, word, word) };
    const struct jtag_ops *j = p->driver->jtag;
    memset(word, 0, sizeof word);
    if (j->execute(p, ops, ARRAY_LEN(ops), NULL) == -ERR_USB)
        probe_reopen(p, NULL);
    j->set_pins(p, JTAG_PIN_NRESET, 0, NULL);
    j->get_pins(p, &value, &known, NULL);
    j->voltage(p, &mv, NULL);
    j->set_clock(p, 1000000, NULL, NULL);
    j->execute(p, ops, ARRAY_LEN(ops), NULL);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static const struct usb_model_type babbles = { .name = "babbler", .out = any_out, .in = any_in };
    const struct probe_config cfg = { 0 };
    struct usb_model *looks;
    struct probe *p;
    if (usb_model_jlink.create("full", NULL, &looks, NULL) < 0)
        return 0;
    struct babbler b = { .base = { .type = &babbles, .id = looks->id }, .at = data, .end = data + size };
    in_process_plug(0, &b.base);
    if (probe_open("jlink", &cfg, &p, NULL) == 0) {
        session(p);
        probe_close(p);
    }
    in_process_plug(0, NULL);
    usb_model_jlink.destroy(looks);
    return 0;
}
