/* A device that gives back what it got: proves the rig, not an adapter.
 *
 *   loop      bulk OUT 0x02 to bulk IN 0x81, 512-byte packets. Requests: 0x01 IN: wValue, wIndex
 * back; 0x02 OUT: keeps its data; 0x03 IN: gives them; 0x04: the next byte sent is only answered
 * after wValue ms; everything else stalls. loop-hid  reports of 64 bytes, the same. */
#include <stdlib.h>
#include <string.h>

#include "probe/base/bytes.h"
#include "probe/base/util.h"
#include "tests/system/usb/model.h"

enum { QUEUE = 65536, KEPT = 64, REPORT = 64 };

struct loop {
    struct usb_model model;
    bool hid;
    uint8_t queue[QUEUE];
    size_t n;
    uint8_t kept[KEPT];
    size_t nkept;
    uint64_t delay_ns, wait_ns;
};

static const uint8_t device[18] = { 18,   1,    0x00, 0x02, 0,    0, 0, 64, 0x09,
                                    0x12, 0x01, 0x00, 0x23, 0x01, 1, 2, 3,  1 };
static const uint8_t config[32] = { 9,    2,    32, 0,    1, 1,    0, 0x80, 50,   9,    4,
                                    0,    0,    2,  0xFF, 0, 0,    2, 7,    5,    0x81, 2,
                                    0x00, 0x02, 0,  7,    5, 0x02, 2, 0x00, 0x02, 0 };
static const uint8_t report[] = { 0x06, 0x00, 0xFF, 0x09,   0x01, 0xA1, 0x01,   0x15, 0x00,
                                  0x26, 0xFF, 0x00, 0x75,   0x08, 0x95, REPORT, 0x09, 0x01,
                                  0x81, 0x02, 0x95, REPORT, 0x09, 0x01, 0x91,   0x02, 0xC0 };
static const uint8_t hid_device[18] = { 18,   1,    0x00, 0x02, 0,    0, 0, 64, 0x09,
                                        0x12, 0x02, 0x00, 0x23, 0x01, 1, 2, 3,  1 };
static const uint8_t hid_config[41] = {
    9,    2,    41,     0,    1, 1, 0,    0x80,          50, 9, 4, 0,    0, 2,      3, 0, 0, 2,
    9,    0x21, 0x11,   0x01, 0, 1, 0x22, sizeof report, 0,  7, 5, 0x81, 3, REPORT, 0, 1, 7, 5,
    0x02, 3,    REPORT, 0,    1
};
static const char *const strings[] = { "", "probeprof", "Loop", "LOOP0001", NULL };

static struct loop *loop_of(struct usb_model *m) { return CONTAINER_OF(m, struct loop, model); }

static int create_model(bool hid, struct usb_model **out, struct err *err)
{
    struct loop *l = calloc(1, sizeof *l);
    if (!l)
        return err_set(err, ERR_NOMEM, "", "out of memory");
    l->hid = hid;
    l->model.id =
        hid ? (struct usb_model_identity){ hid_device, hid_config, sizeof hid_config,
                                           strings,    report,     sizeof report,
                                           false }
            : (struct usb_model_identity){ device, config, sizeof config, strings, NULL, 0, true };
    *out = &l->model;
    return 0;
}

static int loop_create(const char *options, struct sim_board *board, struct usb_model **out,
                       struct err *err)
{
    (void)options;
    (void)board;
    return create_model(false, out, err);
}

static int hid_create(const char *options, struct sim_board *board, struct usb_model **out,
                      struct err *err)
{
    (void)options;
    (void)board;
    return create_model(true, out, err);
}

static void loop_destroy(struct usb_model *m) { free(loop_of(m)); }

static int loop_control(struct usb_model *m, const uint8_t *setup, uint8_t *data, size_t len)
{
    struct loop *l = loop_of(m);
    switch (setup[1]) {
    case 1:
        if (len < 4)
            return USB_STALL;
        memcpy(data, setup + 2, 4);
        return 4;
    case 2:
        l->nkept = MIN(len, KEPT);
        memcpy(l->kept, data, l->nkept);
        return (int)len;
    case 3: memcpy(data, l->kept, MIN(len, l->nkept)); return (int)MIN(len, l->nkept);
    case 4: l->delay_ns = le16(setup + 2) * 1000000ull; return 0;
    default: return USB_STALL;
    }
}

static int loop_out(struct usb_model *m, uint8_t ep, const uint8_t *data, size_t len)
{
    struct loop *l = loop_of(m);
    size_t n = MIN(len, QUEUE - l->n);
    (void)ep;
    if (n == 0 && len > 0)
        return USB_NAK;
    memcpy(l->queue + l->n, data, n);
    l->n += n;
    l->wait_ns = l->delay_ns;
    l->delay_ns = 0;
    return (int)n;
}

static int loop_in(struct usb_model *m, uint8_t ep, uint8_t *buf, size_t cap)
{
    struct loop *l = loop_of(m);
    size_t n = MIN(l->n, l->hid ? MIN(cap, REPORT) : cap);
    (void)ep;
    if (n == 0 || l->wait_ns)
        return USB_NAK;
    memcpy(buf, l->queue, n);
    memmove(l->queue, l->queue + n, l->n - n);
    l->n -= n;
    return (int)n;
}

static void loop_clear(struct usb_model *m, uint8_t ep)
{
    if (ep == 0)
        loop_of(m)->n = 0;
}

static uint64_t loop_due(struct usb_model *m, uint8_t ep)
{
    (void)ep;
    return loop_of(m)->wait_ns;
}

static void loop_advance(struct usb_model *m, uint64_t ns)
{
    struct loop *l = loop_of(m);
    l->wait_ns -= MIN(ns, l->wait_ns);
}

const struct usb_model_type usb_model_loop = {
    .name = "loop",
    .help = "gives back what it gets, by bulk transfers",
    .create = loop_create,
    .destroy = loop_destroy,
    .control = loop_control,
    .out = loop_out,
    .in = loop_in,
    .clear = loop_clear,
    .due_ns = loop_due,
    .advance = loop_advance,
};
const struct usb_model_type usb_model_loop_hid = {
    .name = "loop-hid",
    .help = "the same with HID reports",
    .create = hid_create,
    .destroy = loop_destroy,
    .control = loop_control,
    .out = loop_out,
    .in = loop_in,
    .clear = loop_clear,
    .due_ns = loop_due,
    .advance = loop_advance,
};
