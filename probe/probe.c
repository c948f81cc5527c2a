#include "probe/probe.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "probe/base/choice.h"
#include "probe/base/nearest.h"
#include "probe/base/options.h"
#include "probe/base/util.h"

enum { MAX_NAME = 32 };

/* Nothing named, and nothing found: what was looked at. */
static int no_adapter(const struct err *why, struct err *err)
{
    char names[128] = "";
    for (const struct probe_driver *const *d = probe_drivers(); *d; d++)
        if ((*d)->list && !(*d)->own_spec)
            snprintf(names + strlen(names), sizeof names - strlen(names), "%s%s",
                     text_if(names[0], ", "), (*d)->name);
    if (why)
        return err_set(err, ERR_NOT_FOUND, why->hint, "no debug adapter named, and %s", why->what);
    return err_set(
        err, ERR_USAGE,
        "name one with --probe DRIVER, or run the simulated board: --probe sim:sh7750",
        "no debug adapter named: looked at --probe, PROBEPROF_PROBE and probeprof.conf%s%s",
        names[0] ? "; on USB for " : "; this build has no USB driver", names);
}

/* An adapter's number or place alone, which a person may well write. */
static int without_driver(const char *text, struct err *err)
{
    struct adapter_list list;
    char name[PROBE_NAME_MAX], hint[PROBE_NAME_MAX + 20];
    if (adapters_find(false, &list, NULL) < 0)
        return 0;
    int row = adapter_meant_by(&list, text + (*text == ':'));
    if (row >= 0)
        adapter_name(&list, (size_t)row, name, sizeof name);
    adapter_list_free(&list);
    if (row < 0)
        return 0;
    snprintf(hint, sizeof hint, "did you mean %s?", name);
    return err_set(err, ERR_USAGE, hint, "\"%s\" does not begin with the name of a driver", text);
}

static int unknown_driver(const char *name, const char *text, struct err *err)
{
    for (const struct probe_absent *a = probe_absent_drivers(); a->name; a++)
        if (!strcmp(a->name, name))
            return err_set(err, ERR_USAGE, "install it and build again", "%s: %s", name, a->why);
    struct nearest near = { .wanted = name };
    char all[128] = "drivers: ", hint[NEAREST_TEXT];
    if (without_driver(text, err) < 0)
        return -ERR_USAGE;
    for (const struct probe_driver *const *d = probe_drivers(); *d; d++) {
        size_t used = strlen(all);
        snprintf(all + used, sizeof all - used, "%s%s", d == probe_drivers() ? "" : ", ",
                 (*d)->name);
        nearest_offer(&near, (*d)->name);
    }
    return err_set(err, ERR_USAGE, nearest_text(&near, all, hint, sizeof hint),
                   "no adapter driver \"%s\"", name);
}

static int open_row(const struct adapter *a, const char *options, const struct probe_config *cfg,
                    struct probe **out, struct err *err)
{
    struct probe_config c = *cfg;
    if (a->problem.code != ERR_OK) {
        /* trying again is no help */
        return err_set(err, ERR_STATE, a->problem.hint, "%s: %s", a->driver->name, a->problem.what);
    }
    c.adapter = a;
    c.spec = options;
    return a->driver->open(&c, out, err);
}

/* vid= and pid= of the options, in hexadecimal as lsusb shows them. */
static int id_option(void *ctx, const char *name, const char *value, struct err *err)
{
    struct usb_id *id = ctx;
    uint16_t *to = NULL;
    if (!strcmp(name, "vid"))
        to = &id->vid;
    if (!strcmp(name, "pid"))
        to = &id->pid;
    const char *end = value;
    uint64_t v = 0;
    if (to && (!options_number(&end, 16, &v) || *end || v == 0 || v > UINT16_MAX))
        return err_set(err, ERR_USAGE,
                       "four hexadecimal digits, as lsusb shows them: vid=0403,pid=6010",
                       "--probe: %s=%s is no USB id", name, value);
    if (to)
        *to = (uint16_t)v;
    return 0;
}

static int list_meant(const struct probe_driver *d, const struct adapter_spec *spec,
                      struct adapter_list *out, struct err *err)
{
    struct usb_id id = { 0, 0 };
    int ret = 0;
    if (d->list_id)
        ret = options_each(spec->options, id_option, &id, err);
    if (ret < 0)
        return ret;
    if (!id.vid != !id.pid)
        return err_set(err, ERR_USAGE, "vid=0403,pid=6010", "--probe: a USB id is vid= and pid=");
    if (id.vid)
        return d->list_id(&id, out, err);
    return d->list(false, out, err);
}

/* The driver's adapters, the one that spec means, open. */
static int open_listed(const struct probe_driver *d, const char *text,
                       const struct probe_config *cfg, struct probe **out, struct err *err)
{
    struct adapter_list list = { 0 };
    struct adapter_spec spec;
    int ret = adapter_spec_parse(text, &spec, err);
    if (ret == 0)
        ret = list_meant(d, &spec, &list, err);
    if (ret >= 0)
        ret = adapter_choose(&list, d->name, &spec, err);
    if (ret >= 0)
        ret = open_row(&list.row[ret], spec.options, cfg, out, err);
    adapter_list_free(&list);
    return ret;
}

static bool any_listed(const struct adapter_list *list)
{
    for (size_t i = 0; i < list->n; i++)
        if (!list->row[i].driver->own_spec)
            return true;
    return false;
}

int probe_default(unsigned need, char *name, size_t cap, struct err *err)
{
    struct adapter_list list;
    struct err why = { .code = ERR_OK };
    int ret = adapters_find(false, &list, err);
    if (ret < 0)
        return ret;
    ret = adapter_choose(&list, NULL, &(struct adapter_spec){ .need = need }, &why);
    if (ret >= 0)
        adapter_name(&list, (size_t)ret, name, cap);
    else if (ret == -ERR_NOT_FOUND)
        ret = no_adapter(err_unless(!any_listed(&list), &why), err);
    else if (err)
        *err = why;
    adapter_list_free(&list);
    return MIN(ret, 0);
}

static const struct probe_driver *find_driver(const char *name, size_t len)
{
    for (const struct probe_driver *const *d = probe_drivers(); *d; d++)
        if (strlen((*d)->name) == len && !strncmp((*d)->name, name, len))
            return *d;
    return NULL;
}

int probe_named(const char *name, struct err *err)
{
    char driver[MAX_NAME];
    size_t len = strcspn(name, ":,");
    if (find_driver(name, len))
        return 0;
    snprintf(driver, sizeof driver, "%.*s", (int)MIN(len, sizeof driver), name);
    return unknown_driver(driver, name, err);
}

int probe_open(const char *name, const struct probe_config *cfg, struct probe **out,
               struct err *err)
{
    char only[PROBE_NAME_MAX];
    int ret = 0;
    if (!name || !name[0]) {
        ret = probe_default(0, only, sizeof only, err);
        name = only;
    }
    if (ret == 0)
        ret = probe_named(name, err);
    if (ret < 0)
        return ret;
    size_t len = strcspn(name, ":,");
    const struct probe_driver *d = find_driver(name, len);
    const char *spec = name + len + (name[len] == ':');
    if (d->list && !d->own_spec)
        return open_listed(d, spec, cfg, out, err);
    struct probe_config c = *cfg;
    c.adapter = NULL;
    c.spec = spec;
    return d->open(&c, out, err);
}

int probe_reopen(struct probe *p, struct err *err)
{
    if (p->driver->reopen)
        return p->driver->reopen(p, err);
    return 0;
}

void probe_close(struct probe *p)
{
    if (p)
        p->driver->close(p);
}
