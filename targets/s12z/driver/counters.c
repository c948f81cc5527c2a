#include "targets/s12z/driver/counters.h"

#include <stddef.h>

const struct counter_event s12z_counter_events[] = {
    { S12Z_COUNT_BUS_CYCLES, "bus-cycles", "cycles", "bus clock cycles, estimated" },
    { S12Z_COUNT_BRANCHES, "branches", "count", "conditional branches" },
    { S12Z_COUNT_TAKEN, "taken-branches", "count", "conditional branches that were taken" },
    { S12Z_COUNT_INSTRUCTIONS, "instructions", "count", "instructions executed" },
    { S12Z_COUNT_CALLS, "calls", "count", "JSR and BSR executed" },
    { S12Z_COUNT_INTERRUPTS, "interrupts", "count", "interrupts taken" },
    { 0, NULL, NULL, NULL },
};
