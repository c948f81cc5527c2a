#include <dirent.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "probe/base/util.h"
#include "probe/tty.h"

/* First line of dir/name; "" if there is none. */
static void read_attribute(const char *dir, const char *name, char *out, size_t cap)
{
    char path[PATH_MAX + 64];
    out[0] = 0;
    snprintf(path, sizeof path, "%s/%s", dir, name);
    FILE *f = fopen(path, "re");
    if (f && fgets(out, (int)cap, f))
        out[strcspn(out, "\n")] = 0;
    if (f)
        fclose(f);
}

static bool has_attribute(const char *dir, const char *name)
{
    char path[PATH_MAX + 64];
    snprintf(path, sizeof path, "%s/%s", dir, name);
    return access(path, F_OK) == 0;
}

static uint16_t read_id(const char *dir, const char *name)
{
    char text[16];
    read_attribute(dir, name, text, sizeof text);
    return (uint16_t)strtoul(text, NULL, 16);
}

/* Up the tree from the port's device: its USB interface, then the device that interface is of. */
static void usb_facts(char *dir, size_t root, struct tty_info *t)
{
    for (char *slash; (slash = strrchr(dir, '/')) && (size_t)(slash - dir) >= root; *slash = 0) {
        if (!*t->place && has_attribute(dir, "bInterfaceNumber"))
            snprintf(t->place, sizeof t->place, "%.47s", slash + 1);
        if (!*t->place || !has_attribute(dir, "idVendor"))
            continue;
        read_attribute(dir, "serial", t->serial, sizeof t->serial);
        read_attribute(dir, "product", t->product, sizeof t->product);
        t->vid = read_id(dir, "idVendor");
        t->pid = read_id(dir, "idProduct");
        return;
    }
}

/* Consoles and pseudo terminals have no device; places of the 8250 driver without a UART are of
 * type 0. */
static bool look_at_tty(const char *sysfs, const char *name, struct tty_info *out)
{
    char dir[PATH_MAX], link[PATH_MAX], type[16];
    struct tty_info t = { .vid = 0 };
    snprintf(dir, sizeof dir, "%s/class/tty/%.60s", sysfs, name);
    read_attribute(dir, "type", type, sizeof type);
    snprintf(link, sizeof link, "%.3900s/device", dir);
    if (!strcmp(type, "0") || !realpath(link, dir) ||
        snprintf(t.node, sizeof t.node, "/dev/%s", name) >= (int)sizeof t.node)
        return false;
    char *root = realpath(sysfs, NULL);
    usb_facts(dir, root ? strlen(root) : 1, &t);
    free(root);
    if (!*t.place && !*type)
        return false;
    *out = t;
    return true;
}

static int by_node(const void *a, const void *b)
{
    const struct tty_info *x = a, *y = b;
    size_t nx = strlen(x->node), ny = strlen(y->node);
    if (nx != ny)
        return (nx > ny) - (nx < ny);
    return strcmp(x->node, y->node); /* ttyUSB10 after ttyUSB9 */
}

int tty_find(const char *sysfs, struct tty_info *out, size_t cap)
{
    char path[PATH_MAX];
    int n = 0;
    snprintf(path, sizeof path, "%s/class/tty", sysfs);
    DIR *dir = opendir(path);
    for (struct dirent *e; dir && (size_t)n < cap && (e = readdir(dir));)
        if (e->d_name[0] != '.')
            n += look_at_tty(sysfs, e->d_name, &out[n]);
    if (dir)
        closedir(dir);
    qsort(out, (size_t)n, sizeof *out, by_node);
    return n;
}

/* "1.0" of "1-2.3:1.0": configuration and interface, the same wherever the device is plugged in. */
static const char *interface_of(const char *place)
{
    const char *colon = strchr(place, ':');
    if (colon)
        return colon + 1;
    return "";
}

int tty_again(const struct tty_info *list, int n, const struct tty_info *was)
{
    for (int i = 0; i < n; i++)
        if (*was->serial && !strcmp(was->serial, list[i].serial) && was->vid == list[i].vid &&
            was->pid == list[i].pid &&
            !strcmp(interface_of(was->place), interface_of(list[i].place)))
            return i;
    for (int i = 0; i < n; i++)
        if (*was->place ? !*was->serial && !strcmp(was->place, list[i].place)
                        : !*list[i].place && !strcmp(was->node, list[i].node))
            return i;
    return -1;
}
