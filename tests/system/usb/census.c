/* For a program that is watched from outside: the descriptors it still holds as it ends, a line
 * each, into the file that CENSUS names. Loaded before everything else (LD_PRELOAD), so it is the
 * last to go; other programs of the same environment are left alone. */
#include <dirent.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

static void print_row(FILE *out, int dir, const char *name)
{
    char target[512];
    struct sockaddr_un a = { .sun_family = 0 };
    socklen_t size = sizeof a - 1;
    ssize_t n = readlinkat(dir, name, target, sizeof target - 1);
    if (n < 0)
        return;
    fprintf(out, "%s %.*s", name, (int)n, target);
    if (getpeername(atoi(name), (struct sockaddr *)&a, &size) == 0 && a.sun_family == AF_UNIX)
        fprintf(out, " to %s", a.sun_path);
    fputc('\n', out);
}

__attribute__((destructor)) static void print_census(void)
{
    const char *path = getenv("CENSUS");
    if (!path || strcmp(program_invocation_short_name, "probeprof") != 0)
        return;
    DIR *fds = opendir("/proc/self/fd");
    FILE *out = fds ? fopen(path, "we") : NULL;
    for (struct dirent *e; out && (e = readdir(fds));)
        if (e->d_name[0] != '.' && atoi(e->d_name) > STDERR_FILENO &&
            atoi(e->d_name) != dirfd(fds) && atoi(e->d_name) != fileno(out))
            print_row(out, dirfd(fds), e->d_name);
    if (out)
        fclose(out);
    if (fds)
        closedir(fds);
}
