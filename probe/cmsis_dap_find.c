/* Which USB devices are CMSIS-DAP probes, and which of their interfaces to use. Pure. Source:
 * OpenOCD cmsis_dap_usb_bulk.c, cmsis_dap_usb_hid.c; pyOCD common.py; probe-rs tools.rs. */
#include <string.h>

#include "probe/cmsis_dap.h"

enum { CLASS_HID = 0x03, CLASS_VENDOR = 0xFF, BULK = 2, INTERRUPT = 3, IN = 0x80 };

static bool says_dap(const char *text)
{
    return strstr(text, "CMSIS-DAP") || strstr(text, "CMSIS_DAP");
}

/* Two or three bulk endpoints, first OUT, then IN. Class 0 instead of 0xFF is met
 * (KitProg3); 1..0x12 belong to others. */
static bool fits_bulk(const struct usb_interface *i)
{
    return (i->cls == CLASS_VENDOR || i->cls == 0) && i->subclass == 0 &&
           (i->neps == 2 || i->neps == 3) && i->ep[0].type == BULK && !(i->ep[0].address & IN) &&
           i->ep[1].type == BULK && i->ep[1].address & IN;
}

static bool fits_hid(const struct usb_interface *i)
{
    bool in = false;
    for (unsigned e = 0; e < i->neps; e++)
        in = in || (i->ep[e].type == INTERRUPT && i->ep[e].address & IN);
    return i->cls == CLASS_HID && in;
}

/* The interface that says so by its own name, else the first without one, else the first that fits.
 */
static const struct usb_interface *choose_interface(const struct usb_info *dev,
                                                    bool (*fits)(const struct usb_interface *))
{
    const struct usb_interface *unnamed = NULL, *any = NULL;
    for (unsigned i = 0; i < dev->nitfs; i++) {
        const struct usb_interface *itf = &dev->itf[i];
        if (!fits(itf))
            continue;
        if (says_dap(itf->label))
            return itf;
        if (!unnamed && !itf->label[0])
            unnamed = itf;
        if (!any)
            any = itf;
    }
    if (unnamed)
        return unnamed;
    return any;
}

static const struct usb_interface *choose_hid(const struct usb_info *dev)
{
    const struct dap_quirk *q = dap_quirks(dev);
    for (unsigned i = 0; q->hid_interface && i < dev->nitfs; i++)
        if (dev->itf[i].number == q->hid_interface - 1 && fits_hid(&dev->itf[i]))
            return &dev->itf[i];
    return choose_interface(dev, fits_hid);
}

static bool is_probe(const struct usb_info *dev)
{
    bool says = says_dap(dev->product) || dap_quirks(dev)->only_by_id;
    for (unsigned i = 0; i < dev->nitfs; i++)
        says = says || says_dap(dev->itf[i].label);
    return says;
}

bool dap_find(const struct usb_info *dev, const struct dap_transport *only, struct dap_place *out)
{
    const struct usb_interface *bulk, *hid;
    if (!is_probe(dev))
        return false;
    if (only == &dap_v1)
        bulk = NULL;
    else
        bulk = choose_interface(dev, fits_bulk);
    if (only == &dap_v2)
        hid = NULL;
    else
        hid = choose_hid(dev);
    if (!bulk && !hid)
        return false;
    if (bulk)
        *out = (struct dap_place){ &dap_v2, bulk->number };
    else
        *out = (struct dap_place){ &dap_v1, hid->number };
    return true;
}
