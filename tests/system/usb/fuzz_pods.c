/* The BDM pods' drivers with a pod that answers anything (babbler.h): they may fail, but not hang,
 * write beyond a buffer, take more than came, or leak. The first byte of the input picks pod and
 * firmware. */
#include <stdint.h>
#include <string.h>

#include "probe/base/util.h"
#include "probe/probe.h"
#include "tests/system/usb/babbler.h"
#include "tests/system/usb/usb_in_process.h"

extern const struct usb_model_type usb_model_usbdm, usb_model_osbdm;

static void run_session(struct probe *p)
{
    static const uint8_t tx[300];
    uint8_t rx[300], pc[8] = { 0 }, lines[64];
    unsigned value, known, mv;
    uint32_t hz;
    struct bdc_op ops[] = {
        { .kind = BDC_COMMAND, .opcode = BDC_READ_BDCCSR, .rx = pc },
        { .kind = BDC_COMMAND, .opcode = BDC_BACKGROUND },
        { .kind = BDC_READ, .width = 1, .addr = 0x1001, .rx = rx, .len = sizeof rx },
        { .kind = BDC_WRITE, .width = 2, .addr = 0x1000, .tx = tx, .len = sizeof tx },
        { .kind = BDC_READ, .width = 4, .addr = 0x1000, .rx = rx, .len = 8 },
        { .kind = BDC_LINES, .rx = lines, .len = sizeof lines },
    };
    const struct bdc_ops *b = p->driver->bdc;
    b->sync(p, &hz, NULL);
    b->set_ack(p, true, NULL);
    for (size_t i = 0; i < ARRAY_LEN(ops); i++)
        if (b->can(p, ops[i].kind, ops[i].opcode) &&
            b->execute(p, &ops[i], 1, false, NULL) == -ERR_USB)
            probe_reopen(p, NULL);
    b->set_pins(p, BDC_PIN_RESET, 0, NULL);
    b->get_pins(p, &value, &known, NULL);
    if (b->voltage)
        b->voltage(p, &mv, NULL);
    b->execute(p, ops, 3, true, NULL);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static const struct {
        const struct usb_model_type *type;
        const char *options, *driver;
    } pods[] = { { &usb_model_usbdm, "", "usbdm" },
                 { &usb_model_usbdm, "v5", "usbdm" },
                 { &usb_model_osbdm, "", "osbdm" } };
    const struct probe_config cfg = { 0 };
    struct usb_model *looks;
    struct probe *p;
    if (!size)
        return 0;
    unsigned pod = data[0] % ARRAY_LEN(pods);
    if (pods[pod].type->create(pods[pod].options, NULL, &looks, NULL) < 0)
        return 0;
    struct babbler b = babbler_of(looks, data + 1, size - 1);
    in_process_plug(0, &b.base);
    if (probe_open(pods[pod].driver, &cfg, &p, NULL) == 0) {
        run_session(p);
        probe_close(p);
    }
    in_process_plug(0, NULL);
    pods[pod].type->destroy(looks);
    return 0;
}
