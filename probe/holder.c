#include "probe/holder.h"
#include "probe/base/choice.h"

#include <dirent.h>
#include <limits.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

/* By what it is, not by its name: a node may have several. Only what is under /dev is looked at: a
 * file on a server that is down would keep us waiting. */
static bool is_node(const char *fd, const char *node, const struct stat *wanted)
{
    char to[PATH_MAX] = "";
    struct stat st;
    ssize_t n = readlink(fd, to, sizeof to - 1);
    if (n <= 0)
        return false;
    to[n] = 0;
    return !strcmp(to, node) || (!strncmp(to, "/dev/", 5) && stat(fd, &st) == 0 &&
                                 st.st_dev == wanted->st_dev && st.st_ino == wanted->st_ino);
}

static bool has_open(const char *proc, const char *pid, const char *node, const struct stat *wanted)
{
    char path[PATH_MAX];
    snprintf(path, sizeof path, "%s/%.20s/fd", proc, pid);
    DIR *dir = opendir(path);
    bool found = false;
    for (struct dirent *e; dir && !found && (e = readdir(dir));) {
        snprintf(path, sizeof path, "%s/%.20s/fd/%.20s", proc, pid, e->d_name);
        found = is_node(path, node, wanted);
    }
    if (dir)
        closedir(dir);
    return found;
}

/* The parent's id, 0 if there is none. proc(5): pid (comm) state ppid, and comm may hold anything.
 */
static int parent_of(const char *proc, int pid)
{
    char path[PATH_MAX], text[256] = "";
    int parent = 0;
    snprintf(path, sizeof path, "%s/%d/stat", proc, pid);
    FILE *in = fopen(path, "re");
    const char *end = NULL;
    if (in && fgets(text, sizeof text, in))
        end = strrchr(text, ')');
    if (end && sscanf(end + 1, " %*c %d", &parent) != 1)
        parent = 0;
    if (in)
        fclose(in);
    return parent;
}

static bool started_us(const char *proc, int pid)
{
    enum { GENERATIONS = 64 };
    int at = getpid();
    for (int i = 0; i < GENERATIONS && at > 1; i++)
        if ((at = parent_of(proc, at)) == pid)
            return true;
    return false;
}

static void describe_process(const char *proc, int pid, char *out, size_t cap)
{
    char path[PATH_MAX], name[64] = "";
    snprintf(path, sizeof path, "%s/%d/comm", proc, pid);
    FILE *in = fopen(path, "re");
    if (in && fgets(name, sizeof name, in))
        name[strcspn(name, "\n")] = 0;
    if (in)
        fclose(in);
    snprintf(out, cap, "%s%sprocess %d%s", name, text_if(*name, " ("), pid, text_if(*name, ")"));
}

int holder_find(const char *proc, const char *node, char *out, size_t cap)
{
    struct stat st;
    DIR *dir = NULL;
    if (stat(node, &st) == 0)
        dir = opendir(proc);
    int found = 0;
    snprintf(out, cap, "%s", "");
    for (struct dirent *e; dir && !found && (e = readdir(dir));) {
        int pid = atoi(e->d_name);
        if (pid > 0 && pid != getpid() && has_open(proc, e->d_name, node, &st) &&
            !started_us(proc, pid))
            found = pid;
    }
    if (dir)
        closedir(dir);
    if (found)
        describe_process(proc, found, out, cap);
    return found;
}
