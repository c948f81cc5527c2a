#include "targets/event.h"

const char *event_cause_name(unsigned cause)
{
    static const char *const names[EVENT_NCAUSES] = {
        [EVENT_CAUSE_NONE] = "unknown",    [EVENT_CAUSE_RING_FULL] = "ring-full",
        [EVENT_CAUSE_LINK] = "link",       [EVENT_CAUSE_HOST_QUEUE] = "host-queue",
        [EVENT_CAUSE_CORRUPT] = "corrupt", [EVENT_CAUSE_HALTED] = "halted",
        [EVENT_CAUSE_RESUMED] = "resumed", [EVENT_CAUSE_FILTER] = "filter",
        [EVENT_CAUSE_RESET] = "reset",
    };
    if (cause < EVENT_NCAUSES)
        return names[cause];
    return names[EVENT_CAUSE_NONE];
}
