#include "targets/coverage.h"

static const struct {
    const char *name, *text;
} causes[COVERAGE_NCAUSES] = {
    [COVERAGE_BLOCKED] = { "blocked", "may run with SR.BL=1, where a trap resets the CPU" },
    [COVERAGE_SLOT] = { "slot", "a branch leads to the delay slot" },
    [COVERAGE_BAD_SLOT] = { "bad-slot",
                            "the delay slot holds no instruction that may stand there" },
    [COVERAGE_FIXED] = { "fixed", "cannot be executed elsewhere" },
    [COVERAGE_ROM] = { "rom", "memory there does not take a patch (ROM)" },
    [COVERAGE_TRANSLATED] = { "translated", "the address is translated by the MMU" },
    [COVERAGE_LIMIT] = { "limit", "more places than one arming holds" },
    [COVERAGE_DEBUGGER] = { "debugger", "in ROM, and both channels of the user break controller "
                                        "are the debugger's" },
    [COVERAGE_UNREACHED] = { "unreached", "not reached by control flow, so not searched" },
    [COVERAGE_OTHER] = { "other", "of a kind that is not traced" },
    [COVERAGE_ASKED] = { "asked", "left alone on request, or the agent's own" },
    [COVERAGE_CHANGED] = { "changed", "replaced by the program" },
    [COVERAGE_COPIED] = { "copied", "copied elsewhere by the program, and run there" },
};

const char *coverage_cause_text(enum coverage_cause cause)
{
    if ((unsigned)cause < COVERAGE_NCAUSES)
        return causes[cause].text;
    return "?";
}

const char *coverage_cause_name(enum coverage_cause cause)
{
    if ((unsigned)cause < COVERAGE_NCAUSES)
        return causes[cause].name;
    return "?";
}

const char *coverage_kind_name(enum coverage_kind kind)
{
    static const char *const names[COVERAGE_NKINDS] = { "call", "return", "jump", "code",
                                                        "lost", "away",   "blind" };
    if ((unsigned)kind < COVERAGE_NKINDS)
        return names[kind];
    return "?";
}
