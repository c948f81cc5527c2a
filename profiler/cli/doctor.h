/* What may be wrong between this machine and a part, looked at in order until something is. */
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
    /* what was found, or why it was not looked at; "": nobody asked for it */
    char detail[192];
    struct err problem; /* of DOCTOR_WRONG */
};

struct doctor_report {
    struct doctor_step step[DOCTOR_STEPS];
    char probe[256];                 /* the adapter it is about, "" if none */
    char serial[DOCTOR_SERIALS][80]; /* of all that were found: private */
    size_t nserials;
};

/* Told which step is being looked at, for people who wait: a slow clock makes some of them take
 * seconds. */
struct doctor_watch {
    void (*looking)(void *ctx, const char *name);
    void *ctx;
};

/* doctor - looks; never prints. The program on the board is left alone unless set->halt: then it is
 * held for a moment. watch, log  may be NULL; what goes over the adapter is logged Returns whether
 * everything that was looked at is well. */
bool doctor(struct cli *cli, const struct settings *set, const struct doctor_watch *watch,
            const struct log *log, struct doctor_report *out);

#endif
