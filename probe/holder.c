#include "probe/holder.h"

#include <dirent.h>
#include <limits.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static bool has_open(const char *pid, const char *node)
{
    char path[300], to[PATH_MAX];
    snprintf(path, sizeof path, "/proc/%.20s/fd", pid);
    DIR *dir = opendir(path);
    bool found = false;
    for (struct dirent *e; dir && !found && (e = readdir(dir));) {
        snprintf(path, sizeof path, "/proc/%.20s/fd/%.20s", pid, e->d_name);
        ssize_t n = readlink(path, to, sizeof to - 1);
        found = n > 0 && (size_t)n == strlen(node) && !memcmp(to, node, (size_t)n);
    }
    if (dir)
        closedir(dir);
    return found;
}

static void describe(int pid, char *out, size_t cap)
{
    char path[40], name[64] = "";
    snprintf(path, sizeof path, "/proc/%d/comm", pid);
    FILE *in = fopen(path, "re");
    if (in && fgets(name, sizeof name, in))
        name[strcspn(name, "\n")] = 0;
    if (in)
        fclose(in);
    snprintf(out, cap, "%s%sprocess %d%s", name, *name ? " (" : "", pid, *name ? ")" : "");
}

int holder_find(const char *node, char *out, size_t cap)
{
    char real[PATH_MAX];
    const char *wanted = realpath(node, real) ? real : node;
    DIR *proc = opendir("/proc");
    int found = 0;
    snprintf(out, cap, "%s", "");
    for (struct dirent *e; proc && !found && (e = readdir(proc));) {
        int pid = atoi(e->d_name);
        if (pid > 0 && pid != getpid() && has_open(e->d_name, wanted))
            found = pid;
    }
    if (proc)
        closedir(proc);
    if (found)
        describe(found, out, cap);
    return found;
}
