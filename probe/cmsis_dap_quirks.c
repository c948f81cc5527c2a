/* What is odd about single products among CMSIS-DAP probes. Pure. Source: OpenOCD
 * cmsis_dap_usb_bulk.c, cmsis_dap_usb_hid.c; pyOCD common.py; probe-rs tools.rs. */
#include "probe/cmsis_dap.h"

#include <string.h>

#include "probe/base/util.h"

const struct dap_quirk *dap_quirks(const struct usb_info *dev)
{
    static const struct dap_quirk none = { .vid = 0 }, rows[] = {
        { .vid = 0x1fc9,
          .pid = 0x0090,
          .hid_interface = 1,
          .usage_ff00 = true,
          .why = "LPC-Link2: only its first HID interface is CMSIS-DAP" },
        { .vid = 0x1fc9,
          .pid = 0x0143,
          .usage_ff00 = true,
          .why = "MCU-Link: several HID interfaces" },
        { .vid = 0x04b4,
          .pid = 0xf154,
          .usage_ff00 = true,
          .why = "KitProg3: several HID interfaces" },
        { .vid = 0x04b4,
          .pid = 0xf155,
          .usage_ff00 = true,
          .why = "KitProg3: several HID interfaces" },
        { .vid = 0x03eb,
          .report = 512,
          .why = "Atmel EDBG family: reports of 512 bytes, shorter ones are not answered" },
        { .vid = 0x1a86,
          .pid = 0x8012,
          .only_by_id = true,
          .why = "WCH-Link: its strings do not tell its modes apart" },
        { .vid = 0x2e8a,
          .pid = 0x0004,
          .in_flight = 1,
          .why = "picoprobe: older firmware joins requests that wait (debugprobe issue 46)" },
        { .vid = 0x0d28,
          .pid = 0x0204,
          .product = "Particle",
          .in_flight = 1,
          .timeout_ms = 6000,
          .why = "Particle Debugger: one request at a time" },
        { .vid = 0x0d28,
          .pid = 0x0204,
          .timeout_ms = 6000,
          .why = "DAPLink: answers may be late, and stay out of step if given up (issue 929)" },
    };
    for (size_t i = 0; i < ARRAY_LEN(rows); i++)
        if (rows[i].vid == dev->vid && (!rows[i].pid || rows[i].pid == dev->pid) &&
            (!rows[i].product || strstr(dev->product, rows[i].product)))
            return &rows[i];
    return &none;
}
