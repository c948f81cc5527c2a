/* A board with the serial agent (serial_rig.h) for a command: serial_board [be] [dcload] [brr=N]
 * [flip=N] [drop=N] [stale=N] [mute=N] [patient] -- COMMAND... In the command "@" stands for what
 * --probe takes; patient: with a timeout of 10 s, since an answer that is late where nothing is
 * lost is that of a busy machine. Exits as the command does. */
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include "tests/sh4/serial_rig.h"

static int run_command(char **argv)
{
    int status = 0;
    pid_t pid = fork();
    if (pid == 0) {
        prctl(PR_SET_PDEATHSIG, SIGTERM);
        execvp(argv[0], argv);
        perror(argv[0]);
        _exit(127);
    }
    if (pid < 0 || waitpid(pid, &status, 0) < 0)
        return 1;
    return WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
}

int main(int argc, char **argv)
{
    struct serial_rig_options o = { .brr = 0 };
    bool patient = false;
    int i = 1;
    for (; i < argc && strcmp(argv[i], "--"); i++)
        if (!strcmp(argv[i], "be"))
            o.big = true;
        else if (!strcmp(argv[i], "dcload"))
            o.dcload = true;
        else if (!strcmp(argv[i], "patient"))
            patient = true;
        else if (sscanf(argv[i], "brr=%u", &o.brr) != 1 &&
                 sscanf(argv[i], "flip=%u", &o.flip) != 1 &&
                 sscanf(argv[i], "drop=%u", &o.drop) != 1 &&
                 sscanf(argv[i], "stale=%u", &o.stale) != 1 &&
                 sscanf(argv[i], "mute=%u", &o.mute) != 1)
            return fprintf(stderr, "serial_board: %s?\n", argv[i]), 2;
    if (++i >= argc)
        return fprintf(stderr, "usage: serial_board [be] [dcload] [brr=N] [flip=N] [drop=N] "
                               "[stale=N] [mute=N] [patient] -- COMMAND...\n"),
               2;
    struct serial_rig *r = serial_rig_start(&o);
    char probe[120];
    snprintf(probe, sizeof probe, "serial:%s,baud=%u%s%s", serial_rig_port(r),
             o.brr ? 57600u : 1500000u, o.dcload ? ",loader=dcload" : "",
             patient ? ",timeout=10000" : "");
    for (int k = i; k < argc; k++)
        if (!strcmp(argv[k], "@"))
            argv[k] = probe;
    int ret = run_command(argv + i);
    serial_rig_stop(r);
    return ret;
}
