#include "probe/probe.h"

#include <stdio.h>
#include <string.h>

#include "probe/base/nearest.h"

enum { MAX_NAME = 32 };

static int no_adapter(struct err *err)
{
    char names[128] = "";
    for (const struct probe_driver *const *d = probe_drivers(); *d; d++)
        if ((*d)->ids)
            snprintf(names + strlen(names), sizeof names - strlen(names), "%s%s", names[0] ? ", " : "",
                     (*d)->name);
    return err_set(err, ERR_USAGE,
                   "name one with --probe DRIVER, or run the simulated board: --probe sim:sh7750",
                   "no debug adapter named: looked at --probe, PROBEPROF_PROBE and probeprof.conf%s%s",
                   names[0] ? "; USB drivers: " : "; this build has no USB driver", names);
}

static int unknown_driver(const char *name, struct err *err)
{
    struct nearest near = { .wanted = name };
    char all[128] = "drivers: ", hint[NEAREST_TEXT];
    for (const struct probe_driver *const *d = probe_drivers(); *d; d++) {
        size_t used = strlen(all);
        snprintf(all + used, sizeof all - used, "%s%s", d == probe_drivers() ? "" : ", ", (*d)->name);
        nearest_offer(&near, (*d)->name);
    }
    return err_set(err, ERR_USAGE, nearest_text(&near, all, hint, sizeof hint), "no adapter driver \"%s\"", name);
}

int probe_open(const char *name, const struct probe_config *cfg, struct probe **out, struct err *err)
{
    if (!name || !name[0])
        return no_adapter(err);
    const char *colon = strchr(name, ':');
    char driver[MAX_NAME];
    snprintf(driver, sizeof driver, "%.*s", (int)(colon ? colon - name : (long)strlen(name)), name);
    for (const struct probe_driver *const *d = probe_drivers(); *d; d++) {
        if (strcmp((*d)->name, driver) != 0)
            continue;
        struct probe_config c = *cfg;
        c.spec = colon ? colon + 1 : "";
        return (*d)->open(&c, out, err);
    }
    return unknown_driver(driver, err);
}

int probe_reopen(struct probe *p, struct err *err)
{
    return p->driver->reopen ? p->driver->reopen(p, err) : 0;
}

void probe_close(struct probe *p)
{
    if (p)
        p->driver->close(p);
}
