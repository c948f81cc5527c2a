/* Checks what is between this machine and a part, in order, until one check fails. */
#ifndef PROFILER_CLI_DOCTOR_H
#define PROFILER_CLI_DOCTOR_H

#include <stdbool.h>

#include "probe/adapter.h"
#include "probe/base/log.h"
#include "profiler/cli/command.h"
#include "profiler/cli/settings.h"

enum { DOCTOR_STEPS = 10, DOCTOR_SERIALS = 16 };
enum doctor_state { DOCTOR_NOT_REACHED, DOCTOR_OK, DOCTOR_SKIPPED, DOCTOR_WRONG };

struct doctor_step {
    const char *name; /* "adapter", "access", ... in the order they are looked at */
    enum doctor_state state;
    /* what was found, or why it was not checked; "": it was not asked for */
    char detail[192];
    struct err problem; /* of DOCTOR_WRONG */
};

struct doctor_report {
    struct doctor_step step[DOCTOR_STEPS];
    char probe[256];                 /* the adapter it is about, "" if none */
    char serial[DOCTOR_SERIALS][80]; /* of all that were found: private */
    size_t nserials;
};

/* Notified of each step as it begins, to show progress: with a slow clock some take seconds. */
struct doctor_watch {
    void (*looking)(void *ctx, const char *name);
    void *ctx;
};

/* doctor - runs the checks; never prints. The program on the board is left alone unless set->halt,
 * which halts it for a moment. watch, log  may be NULL; what goes over the adapter is logged
 * Returns whether every check passed. */
bool doctor(struct cli *cli, const struct settings *set, const struct doctor_watch *watch,
            const struct log *log, struct doctor_report *out);

#endif
