/* Any tree of files in place of /sys and /proc: who reads them ends, writes nothing beyond its
 * buffers, and says nothing that is not there.
 *
 * Each line of the input is a thing in the tree: f PATH CONTENT, d PATH, l PATH TARGET; | in a
 * content is a new line. It is made where no link leads out of. */
#include <dirent.h>
#include <fcntl.h>
#include <limits.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "probe/holder.h"
#include "probe/tty.h"
#include "probe/usb.h"
#include "probe/usb_sysfs.h"
#include "profiler/bridge/net.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

enum { THINGS_MOST = 48, LINE_MOST = 600, DEPTH_MOST = 12 };

static void must_hold(bool holds)
{
    if (!holds)
        abort();
}

/* ---- the tree ---- */

/* The folder of path below root, made where it is missing, as a descriptor; *name is the last part.
 * -1: it cannot be. No link is followed. */
static int folder_of(int root, char *path, char **name)
{
    int at = dup(root), depth = 0;
    char *slash;
    for (; at >= 0 && (slash = strchr(path, '/')); path = slash + 1) {
        *slash = 0;
        if (!*path)
            continue;
        mkdirat(at, path, 0700);
        int next = !strcmp(path, ".") || !strcmp(path, "..") || ++depth > DEPTH_MOST
                       ? -1
                       : openat(at, path, O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
        close(at);
        at = next;
    }
    *name = path;
    if (at >= 0 && (!*path || !strcmp(path, ".") || !strcmp(path, ".."))) {
        close(at);
        return -1;
    }
    return at;
}

/* Links may lead to where they like only as what a process has open, which is looked at and no
 * more. */
static bool is_harmless(const char *path, const char *target)
{
    int depth = 0;
    if (strstr(path, "/fd/") && !strncmp(path, "proc/", 5))
        return true;
    for (const char *p = path; *p; p++)
        depth += *p == '/';
    for (const char *p = target; (p = strstr(p, "..")); p += 2)
        depth--;
    return *target != '/' && depth > 0;
}

static void put_file(int folder, const char *name, char *content)
{
    int fd = openat(folder, name, O_CREAT | O_WRONLY | O_TRUNC | O_NOFOLLOW | O_CLOEXEC, 0600);
    for (char *p = content; (p = strchr(p, '|'));)
        *p = '\n';
    if (fd < 0)
        return;
    must_hold(write(fd, content, strlen(content)) >= 0);
    close(fd);
}

static void put_thing(int root, char *line)
{
    char *path = line + 2, *content = strchr(path, ' '), *name;
    if (!*line || line[1] != ' ')
        return;
    if (content)
        *content++ = 0;
    if (*line == 'l' && (!content || !*content || !is_harmless(path, content)))
        return;
    int folder = folder_of(root, path, &name);
    if (folder < 0)
        return;
    if (*line == 'f')
        put_file(folder, name, content ? content : path + strlen(path));
    else if (*line == 'd')
        (void)!mkdirat(folder, name, 0700);
    else if (*line == 'l')
        (void)!symlinkat(content, folder, name);
    close(folder);
}

static void put_tree(int root, const uint8_t *at, const uint8_t *end)
{
    char line[LINE_MOST];
    for (int i = 0; at < end && i < THINGS_MOST; i++) {
        const uint8_t *feed = memchr(at, '\n', (size_t)(end - at));
        snprintf(line, sizeof line, "%.*s", (int)((feed ? feed : end) - at), (const char *)at);
        at = feed ? feed + 1 : end;
        put_thing(root, line);
    }
}

/* ---- who reads it ---- */

static void read_ttys(const char *sysfs)
{
    struct tty_info t[8], some[2];
    int n = tty_find(sysfs, t, 8), m = tty_find(sysfs, some, 2);
    must_hold(n >= 0 && n <= 8 && m == (n < 2 ? n : 2));
    for (int i = 0; i < n; i++) {
        must_hold(!strncmp(t[i].node, "/dev/", 5) && memchr(t[i].node, 0, sizeof t[i].node) &&
                  memchr(t[i].serial, 0, sizeof t[i].serial));
        must_hold(memchr(t[i].place, 0, sizeof t[i].place) &&
                  memchr(t[i].product, 0, sizeof t[i].product));
        must_hold(tty_again(t, n, &t[i]) >= -1);
    }
}

static void read_usb(const char *folder)
{
    const struct usb_info dev = { .bus = 1, .address = 7, .bus_path = "1-2" };
    char text[80], little[4];
    usb_sysfs_has(folder, &dev);
    usb_sysfs_text(folder, "1-2", "product", text, sizeof text);
    usb_sysfs_text(folder, "1-2", "product", little, sizeof little);
    must_hold(strlen(text) < sizeof text && !strchr(text, '\n') && !strchr(text, 27) &&
              strlen(little) < sizeof little);
    usb_sysfs_driver(folder, &dev, 0, text, sizeof text);
    must_hold(strlen(text) <= 60 && !strchr(text, '/'));
}

static void read_proc(const char *proc)
{
    char who[100];
    int pid = holder_find(proc, "/dev/null", who, sizeof who);
    must_hold(pid >= 0 && pid != getpid() && (pid > 0) == (*who != 0) &&
              (!pid || strstr(who, "process ")));
    must_hold(net_port_owner(proc, 3333, who, sizeof who) == who && strlen(who) < sizeof who &&
              (!*who || strstr(who, "(process ")));
}

static void remove_below(int folder);

static void remove_thing(int folder, const char *name)
{
    if (unlinkat(folder, name, 0) == 0)
        return;
    int below = openat(folder, name, O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
    if (below >= 0) {
        remove_below(below);
        close(below);
    }
    must_hold(unlinkat(folder, name, AT_REMOVEDIR) == 0);
}

static void remove_below(int folder)
{
    DIR *dir = fdopendir(dup(folder));
    for (struct dirent *e; dir && (e = readdir(dir));)
        if (strcmp(e->d_name, ".") && strcmp(e->d_name, ".."))
            remove_thing(folder, e->d_name);
    closedir(dir);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    char root[] = "/dev/shm/fuzz_trees-XXXXXX", path[60];
    if (!mkdtemp(root))
        strcpy(root, "/tmp/fuzz_trees-XXXXXX");
    must_hold(!strstr(root, "XXXXXX") || mkdtemp(root));
    int fd = open(root, O_DIRECTORY | O_CLOEXEC);
    put_tree(fd, data, data + size);
    snprintf(path, sizeof path, "%s/sys", root);
    read_ttys(path);
    snprintf(path, sizeof path, "%s/sys/bus/usb/devices", root);
    read_usb(path);
    snprintf(path, sizeof path, "%s/proc", root);
    read_proc(path);
    remove_below(fd);
    close(fd);
    must_hold(rmdir(root) == 0);
    return 0;
}
