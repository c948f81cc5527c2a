/* The J-Link driver with a probe that answers anything: any bytes, in any pieces (babbler.h). It
 * may fail, but not hang, write beyond a buffer or leak. */
#include <stdint.h>
#include <string.h>

#include "probe/base/util.h"
#include "probe/probe.h"
#include "tests/system/usb/babbler.h"
#include "tests/system/usb/usb_in_process.h"

extern const struct usb_model_type usb_model_jlink;

static void run_session(struct probe *p)
{
    uint8_t out[400], word[4];
    unsigned value, known, mv;
    const struct jtag_op ops[] = { jtag_reset(), jtag_idle(5000),
                                   jtag_dr(8 * sizeof out, NULL, out), jtag_dr(32, word, word) };
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
    const struct probe_config cfg = { 0 };
    struct usb_model *looks;
    struct probe *p;
    if (usb_model_jlink.create("full", NULL, &looks, NULL) < 0)
        return 0;
    struct babbler b = babbler_of(looks, data, size);
    in_process_plug(0, &b.base);
    if (probe_open("jlink", &cfg, &p, NULL) == 0) {
        run_session(p);
        probe_close(p);
    }
    in_process_plug(0, NULL);
    usb_model_jlink.destroy(looks);
    return 0;
}
