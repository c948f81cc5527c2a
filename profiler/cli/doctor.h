/* What may be wrong between this machine and a part, looked at in order until something is. */
#ifndef PROFILER_CLI_DOCTOR_H
#define PROFILER_CLI_DOCTOR_H

#include <stdbool.h>

#include "probe/adapter.h"
#include "profiler/cli/command.h"
#include "profiler/cli/settings.h"

enum { DOCTOR_STEPS = 9 };
enum doctor_state { DOCTOR_NOT_REACHED, DOCTOR_OK, DOCTOR_SKIPPED, DOCTOR_WRONG };

struct doctor_step {
    const char *name;        /* "adapter", "access", ... in the order they are looked at */
    enum doctor_state state;
    char detail[192];        /* what was found, or why it was not looked at */
    struct err problem;      /* of DOCTOR_WRONG */
};

struct doctor_report {
    struct doctor_step step[DOCTOR_STEPS];
    char probe[256];         /* the adapter it is about, "" if none */
};

/* doctor - looks; never prints. The program on the board is left alone unless set->halt: then it is held for a moment.
 * Returns whether everything that was looked at is well. */
bool doctor(struct cli *cli, const struct settings *set, struct doctor_report *out);

#endif
