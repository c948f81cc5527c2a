/* Adapters that are USB devices: what drivers share in listing them and finding them again. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "probe/adapter.h"
#include "probe/base/util.h"
#include "probe/probe.h"
#include "probe/usb.h"

enum { MAX_DEVICES = 128 };

static int add_device(const struct probe_driver *driver, const struct usb_info *dev,
                      adapter_pick *pick, struct adapter_list *out, struct err *err)
{
    struct adapter a = { .driver = driver, .vid = dev->vid, .pid = dev->pid };
    snprintf(a.serial, sizeof a.serial, "%s", dev->serial);
    snprintf(a.bus_path, sizeof a.bus_path, "%s", dev->bus_path);
    snprintf(a.product, sizeof a.product, "%s", dev->product);
    int interface = pick(dev, &a);
    if (interface < 0)
        return 0;
    usb_check(dev, (uint8_t)interface, &a.problem);
    return adapter_list_add(out, &a, err);
}

/* Every device of ids, in one list; *list is to be freed. */
static int list_devices(const struct usb_id *ids, struct usb_info **list, struct err *err)
{
    *list = calloc(MAX_DEVICES, sizeof **list);
    if (!*list)
        return err_set(err, ERR_NOMEM, "", "USB: out of memory");
    int n = usb_list(ids, *list, MAX_DEVICES, err);
    return MIN(n, MAX_DEVICES);
}

int adapter_list_usb_channels(const struct probe_driver *driver, const struct usb_id *ids,
                              adapter_pick *const *pick, size_t npicks, struct adapter_list *out,
                              struct err *err)
{
    struct usb_info *dev;
    int n = list_devices(ids, &dev, err), ret = MIN(n, 0);
    for (int i = 0; ret == 0 && i < n; i++)
        for (size_t k = 0; ret == 0 && k < npicks; k++)
            ret = add_device(driver, &dev[i], pick[k], out, err);
    free(dev);
    return ret;
}

int adapter_list_usb(const struct probe_driver *driver, const struct usb_id *ids,
                     adapter_pick *pick, struct adapter_list *out, struct err *err)
{
    return adapter_list_usb_channels(driver, ids, &pick, 1, out, err);
}

static bool is_it(const struct adapter *a, const struct usb_info *dev)
{
    if (*dev->serial && *a->serial) /* a driver may have shortened it, as J-Link's number is */
        return strstr(dev->serial, a->serial) != NULL;
    return !strcmp(dev->bus_path, a->bus_path);
}

int adapter_usb(const struct adapter *a, struct usb_info *out, struct err *err)
{
    const struct usb_id ids[] = { { a->vid, a->pid }, { 0, 0 } };
    struct usb_info *dev;
    int n = list_devices(ids, &dev, err), found = -1;
    for (int i = 0; i < n; i++)
        if (is_it(a, &dev[i]) && (found < 0 || !strcmp(dev[i].bus_path, a->bus_path)))
            found = i;
    if (found >= 0)
        *out = dev[found];
    free(dev);
    if (n < 0)
        return n;
    if (found >= 0)
        return 0;
    return err_set(err, ERR_USB, "plug it in again",
                   "%s: no %04x:%04x with serial number \"%s\" at %s", a->driver->name, a->vid,
                   a->pid, a->serial, a->bus_path);
}
