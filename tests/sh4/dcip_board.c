/* A board with a loader as dcload-ip (dcip_rig.h) for a command: dcip_board [lose=N] [twice=N]
 * [late=N] [newer] [lan] [patient] -- COMMAND... In the command "@" stands for what --probe
 * takes; patient: with a timeout of 10 s. Exits as the command does, or with 1 if the network
 * was to be bad and was not. */
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include "tests/sh4/dcip_rig.h"

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
    struct dcip_rig_options o = { .lose = 0 };
    bool patient = false;
    int i = 1;
    for (; i < argc && strcmp(argv[i], "--"); i++)
        if (!strcmp(argv[i], "newer"))
            o.newer = true;
        else if (!strcmp(argv[i], "lan"))
            o.lan = true;
        else if (!strcmp(argv[i], "patient"))
            patient = true;
        else if (sscanf(argv[i], "lose=%u", &o.lose) != 1 &&
                 sscanf(argv[i], "twice=%u", &o.twice) != 1 &&
                 sscanf(argv[i], "late=%u", &o.late) != 1)
            return fprintf(stderr, "dcip_board: %s?\n", argv[i]), 2;
    if (++i >= argc)
        return fprintf(stderr,
                       "usage: dcip_board [lose=N] [twice=N] [late=N] [newer] [lan] [patient] -- "
                       "COMMAND...\n"),
               2;
    struct dcip_rig *r = dcip_rig_start(&o);
    char probe[120];
    snprintf(probe, sizeof probe, "dcload-ip:127.0.0.1:%u%s", dcip_rig_port(r),
             patient ? ",timeout=10000" : "");
    for (int k = i; k < argc; k++)
        if (!strcmp(argv[k], "@"))
            argv[k] = probe;
    int ret = run_command(argv + i);
    struct dcip_rig_counts c = dcip_rig_counts(r);
    dcip_rig_stop(r);
    fprintf(stderr,
            "network: %llu datagrams to the board, %llu from it; %llu lost, %llu twice, %llu late, "
            "%llu while it did not listen; %llu programs executed\n",
            (unsigned long long)c.to, (unsigned long long)c.from, (unsigned long long)c.lost,
            (unsigned long long)c.twice, (unsigned long long)c.late, (unsigned long long)c.deaf,
            (unsigned long long)c.executed);
    bool bad = (o.lose && !c.lost) || (o.twice && !c.twice) || (o.late && !c.late);
    return ret ? ret : bad;
}
