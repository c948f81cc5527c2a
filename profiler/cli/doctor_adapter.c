#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "probe/base/choice.h"
#include "probe/base/util.h"
#include "probe/usb.h"
#include "profiler/cli/doctor_priv.h"

enum { HUB_CLASS = 9 /* USB 2.0, 11.23.1 */ };

/* Devices but for hubs, or a failure. */
static int count_devices(struct err *err)
{
    enum { MAX = 64 };
    struct usb_info *dev = calloc(MAX, sizeof *dev);
    if (!dev)
        return err_set(err, ERR_NOMEM, "", "out of memory");
    int n = usb_list(NULL, dev, MAX, err), count = 0;
    for (int i = 0; i < MIN(n, MAX); i++)
        count += !dev[i].nitfs || dev[i].itf[0].cls != HUB_CLASS;
    free(dev);
    if (n < 0)
        return n;
    return count;
}

/* No adapter that a driver knows: the hint depends on whether there are other devices on the bus.
 */
static int no_adapter(struct err *err)
{
    char what[sizeof err->what];
    snprintf(what, sizeof what, "%s", err->what);
    int n = count_devices(err);
    if (n < 0)
        return n;
    if (n == 0)
        return err_set(err, ERR_NOT_FOUND,
                       "is it plugged in? try another cable (some only charge) and another port; "
                       "in a container or virtual "
                       "machine USB must be passed in",
                       "%s: nothing at all is on the USB bus", what);
    return err_set(err, ERR_NOT_FOUND,
                   "is it plugged in, and one of those that `probeprof list` looks for? without "
                   "one: --probe sim:sh7750",
                   "%s, among %d device%s on the USB bus", what, n, plural_s((uint64_t)n));
}

static bool is_listed(const char *name)
{
    size_t len = strcspn(name, ":,");
    for (const struct probe_driver *const *d = probe_drivers(); *d; d++)
        if (strlen((*d)->name) == len && !strncmp((*d)->name, name, len))
            return (*d)->list && !(*d)->own_spec;
    return true;
}

/* Serial ports are on every machine, and say nothing. */
static bool any_listed(const struct adapter_list *list)
{
    for (size_t i = 0; i < list->n; i++)
        if (!list->row[i].driver->own_spec)
            return true;
    return false;
}

static int choose_adapter(struct doctor *d, const char *name, struct err *err)
{
    char driver[32];
    size_t len = strcspn(name, ":,");
    struct adapter_spec spec = { 0 };
    int ret = 0;
    if (*name)
        ret = adapter_spec_parse(name + len + (name[len] == ':'), &spec, err);
    snprintf(driver, sizeof driver, "%.*s", (int)MIN(len, sizeof driver - 1), name);
    spec.need = part_needs(d->set->target);
    if (ret == 0)
        ret = adapters_find(true, &d->list, err);
    for (size_t i = 0; i < d->list.n && d->report->nserials < DOCTOR_SERIALS; i++)
        if (*d->list.row[i].serial)
            snprintf(d->report->serial[d->report->nserials++], sizeof d->report->serial[0], "%s",
                     d->list.row[i].serial);
    if (ret < 0)
        return ret;
    return adapter_choose(&d->list, *name ? driver : NULL, &spec, err);
}

int doctor_adapter(struct doctor *d, char *detail, size_t cap, struct err *err)
{
    const char *name = d->set->probe;
    int ret = 0;
    if (*name)
        ret = probe_named(name, err);
    if (ret < 0)
        return ret;
    if (*name && !is_listed(name)) {
        snprintf(d->report->probe, sizeof d->report->probe, "%s", name);
        snprintf(detail, cap, "%s, as named", name);
        return 0;
    }
    ret = choose_adapter(d, name, err);
    if (ret == -ERR_NOT_FOUND && !any_listed(&d->list))
        return no_adapter(err);
    if (ret < 0)
        return ret;
    d->row = &d->list.row[ret];
    if (*name) /* its options are in it */
        snprintf(d->report->probe, sizeof d->report->probe, "%s", name);
    else
        adapter_name(&d->list, (size_t)ret, d->report->probe, sizeof d->report->probe);
    snprintf(detail, cap, "%s%s%s, at %s", d->report->probe, text_if(*d->row->product, ", "),
             d->row->product, d->row->bus_path);
    return 0;
}

int doctor_access(struct doctor *d, char *detail, size_t cap, struct err *err)
{
    struct probe_config cfg = {
        .spec = "", .speed_hz = d->set->speed_hz, .boards = d->cli->boards, .log = d->log
    };
    if (d->row && d->row->problem.code != ERR_OK) {
        *err = d->row->problem;
        return -(int)err->code;
    }
    if (d->row && !d->row->can)
        return err_set(err, ERR_UNSUPPORTED,
                       "it takes an adapter with JTAG for SH-4, with BDC for S12Z",
                       "this adapter cannot serve: %s", d->row->note);
    int ret = probe_open(d->report->probe, &cfg, &d->probe, err);
    snprintf(detail, cap, "open%s", text_if(d->row, ", and no other program's"));
    return ret;
}

int doctor_firmware(struct doctor *d, char *detail, size_t cap, struct err *err)
{
    (void)err;
    if (!d->row || (!*d->row->firmware && !*d->row->note)) {
        snprintf(detail, cap, "this adapter does not tell");
        return 1;
    }
    snprintf(detail, cap, "%s%s%s", d->row->firmware,
             text_if(*d->row->firmware && *d->row->note, "; "), d->row->note);
    return 0;
}
