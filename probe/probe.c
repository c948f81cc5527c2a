#include "probe/probe.h"

#include <stdio.h>
#include <string.h>

#include "probe/base/util.h"

enum { MAX_NAME = 32 };

/* Edit distance of two short words, for "did you mean". */
static unsigned distance(const char *a, const char *b)
{
    unsigned row[MAX_NAME + 1];
    size_t la = strnlen(a, MAX_NAME), lb = strnlen(b, MAX_NAME);
    for (size_t j = 0; j <= lb; j++)
        row[j] = (unsigned)j;
    for (size_t i = 1; i <= la; i++) {
        unsigned diagonal = row[0];
        row[0] = (unsigned)i;
        for (size_t j = 1; j <= lb; j++) {
            unsigned swap = diagonal + (a[i - 1] != b[j - 1]);
            diagonal = row[j];
            row[j] = MIN(swap, MIN(row[j], row[j - 1]) + 1);
        }
    }
    return row[lb];
}

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
    char near[128] = "", all[128] = "", hint[256];
    for (const struct probe_driver *const *d = probe_drivers(); *d; d++) {
        char *list = distance(name, (*d)->name) <= 2 ? near : all;
        size_t used = strlen(list);
        snprintf(list + used, sizeof near - used, "%s%s", used ? ", " : "", (*d)->name);
    }
    snprintf(hint, sizeof hint, near[0] ? "did you mean %s?" : "drivers: %s", near[0] ? near : all);
    return err_set(err, ERR_USAGE, hint, "no adapter driver \"%s\"", name);
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

void probe_close(struct probe *p)
{
    if (p)
        p->driver->close(p);
}
