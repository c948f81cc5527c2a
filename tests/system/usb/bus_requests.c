/* What every USB device answers alike: descriptors, states, halts. */
#include <string.h>

#include "probe/base/bytes.h"
#include "probe/base/util.h"
#include "tests/system/usb/bus.h"

enum {
    GET_STATUS = 0,
    CLEAR_FEATURE = 1,
    SET_FEATURE = 3,
    SET_ADDRESS = 5,
    GET_DESCRIPTOR = 6,
    GET_CONFIGURATION = 8,
    SET_CONFIGURATION = 9,
    GET_INTERFACE = 10,
    SET_INTERFACE = 11
};
enum {
    DESC_DEVICE = 1,
    DESC_CONFIG = 2,
    DESC_STRING = 3,
    DESC_INTERFACE = 4,
    DESC_ENDPOINT = 5,
    DESC_HID = 0x21,
    DESC_HID_REPORT = 0x22
};

static int give_bytes(uint8_t *data, size_t cap, const uint8_t *from, size_t n)
{
    n = MIN(n, cap);
    memcpy(data, from, n);
    return (int)n;
}

static const char *string_of(const struct bus_dev *d, unsigned index)
{
    const struct usb_model_identity *id = &d->model->id;
    if (d->serial[0] && index != 0 && index == id->device[16])
        return d->serial;
    for (unsigned i = 1; id->strings && id->strings[i]; i++)
        if (i == index)
            return id->strings[i];
    return NULL;
}

static int string_descriptor(const struct bus_dev *d, unsigned index, uint8_t *data, size_t cap)
{
    uint8_t text[256] = { 4, DESC_STRING, 0x09, 0x04 }; /* languages: US English */
    if (index != 0) {
        const char *s = string_of(d, index);
        if (!s)
            return USB_STALL;
        size_t n = MIN(strlen(s), 126);
        text[0] = (uint8_t)(2 + 2 * n);
        for (size_t i = 0; i < n; i++)
            put_le16(text + 2 + 2 * i, (uint8_t)s[i]);
    }
    return give_bytes(data, cap, text, text[0]);
}

static int give_descriptor(const struct bus_dev *d, const uint8_t *setup, uint8_t *data, size_t cap)
{
    const struct usb_model_identity *id = &d->model->id;
    switch (setup[3]) {
    case DESC_DEVICE: return give_bytes(data, cap, id->device, 18);
    case DESC_CONFIG:
        return setup[2] == 0 ? give_bytes(data, cap, id->config, id->config_len) : USB_STALL;
    case DESC_STRING: return string_descriptor(d, setup[2], data, cap);
    case DESC_HID_REPORT:
        return id->hid_report ? give_bytes(data, cap, id->hid_report, id->hid_report_len)
                              : USB_STALL;
    default: return USB_STALL;
    }
}

int bus_standard_request(struct bus_dev *d, const uint8_t *setup, uint8_t *data, size_t len)
{
    uint8_t two[2] = { 0, 0 };
    struct bus_ep *ep = bus_endpoint(d, setup[4]);
    switch (setup[1]) {
    case GET_DESCRIPTOR: return give_descriptor(d, setup, data, len);
    case GET_STATUS:
        two[0] = (setup[0] & 0x1F) == 2 && ep && ep->halted;
        return give_bytes(data, len, two, 2);
    case GET_CONFIGURATION: return give_bytes(data, len, &d->configuration, 1);
    case GET_INTERFACE: return give_bytes(data, len, two, 1);
    case CLEAR_FEATURE:
        if ((setup[0] & 0x1F) == 2)
            bus_clear_halt(d, setup[4]);
        return 0;
    case SET_FEATURE:
    case SET_ADDRESS:
    case SET_INTERFACE: return 0;
    case SET_CONFIGURATION: d->configuration = setup[2]; return 0;
    default: return USB_STALL;
    }
}

static void parse_interface(struct bus_dev *d, const uint8_t *p)
{
    if (p[3] != 0 || d->nitfs == BUS_INTERFACES) /* first alternate setting only */
        return;
    d->itf[d->nitfs].number = p[2];
    d->itf[d->nitfs].neps = p[4];
    d->itf[d->nitfs].cls = p[5];
    d->itf[d->nitfs].subclass = p[6];
    d->itf[d->nitfs].protocol = p[7];
    d->itf[d->nitfs].string = p[8];
    d->nitfs++;
}

/* A model's descriptors are the test's own: damaged ones are a bug of it, told at once. */
int bus_parse_config(struct bus_dev *d, struct err *err)
{
    const struct usb_model_identity *id = &d->model->id;
    size_t at = 0;
    d->nitfs = 0;
    d->neps = 1;
    memset(d->ep, 0, sizeof d->ep);
    d->ep[0] = (struct bus_ep){ .mps = 64 };
    if (id->config_len < 9 || le16(id->config + 2) != id->config_len)
        return err_set(err, ERR_FORMAT, "", "%s: configuration's total length is wrong",
                       d->type->name);
    for (; at + 2 <= id->config_len && id->config[at] >= 2; at += id->config[at]) {
        const uint8_t *p = id->config + at;
        if (at + p[0] > id->config_len)
            break;
        if (p[1] == DESC_INTERFACE)
            parse_interface(d, p);
        if (p[1] == DESC_ENDPOINT && d->neps < BUS_ENDPOINTS && d->nitfs > 0)
            d->ep[d->neps++] = (struct bus_ep){ .address = p[2],
                                                .type = p[3] & 3,
                                                .mps = le16(p + 4) & 0x7FF,
                                                .interface = d->itf[d->nitfs - 1].number };
    }
    if (at != id->config_len)
        return err_set(err, ERR_FORMAT, "", "%s: descriptors do not add up", d->type->name);
    for (unsigned i = 0; i < d->neps; i++)
        d->ep[i].tail = &d->ep[i].head;
    return 0;
}
