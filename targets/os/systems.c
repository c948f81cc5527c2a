#include "targets/os/systems.h"

#include <stddef.h>
#include <string.h>

/* KallistiOS on the Dreamcast and the NAOMI: kernel/thread/thread.c (thd_list, thd_current and
 * tid_highest; the newest thread is the first of the list), include/kos/thread.h and
 * kernel/arch/dreamcast/include/arch/irq.h (struct kthread with the registers in it), at the tags
 * v2.0.0, v2.1.0, v2.2.0, v2.2.2 and in November 2026. sizeof(irq_context_t) is 228, and 256 where
 * the struct itself is aligned; 64-bit members are aligned to 4. The first thread's number is 1; it
 * runs on the stack of startup.s, which ends at __arch_mem_top. 2.0.0 gives it another one that is
 * never used. */
/* struct irq_context in the same files: from 2.1 on, and in 2.0. */
static const struct tasks_saved kallistios_saved[] = {
    { "pc", "pc", 1, 0 },       { "pr", "pr", 1, 4 },      { "gbr", "gbr", 1, 8 },
    { "vbr", "vbr", 1, 12 },    { "mach", "mach", 1, 16 }, { "macl", "macl", 1, 20 },
    { "sr", "sr", 1, 24 },      { "fpul", "fpul", 1, 28 }, { "fr", "fr", 16, 32 },
    { "xf", "frbank", 16, 96 }, { "r", "r", 16, 160 },     { "fpscr", "fpscr", 1, 224 },
};
static const struct tasks_saved kallistios_saved_2_0[] = {
    { "pc", "pc", 1, 64 },      { "pr", "pr", 1, 68 },      { "gbr", "gbr", 1, 72 },
    { "vbr", "vbr", 1, 76 },    { "mach", "mach", 1, 80 },  { "macl", "macl", 1, 84 },
    { "sr", "sr", 1, 88 },      { "fpul", "fpul", 1, 224 }, { "fr", "fr", 16, 156 },
    { "xf", "frbank", 16, 92 }, { "r", "r", 16, 0 },        { "fpscr", "fpscr", 1, 220 },
};
_Static_assert(sizeof kallistios_saved == SAVED_RUNS * sizeof *kallistios_saved, "all runs");
_Static_assert(sizeof kallistios_saved_2_0 == sizeof kallistios_saved, "all runs");

/* A thread that gave way by itself (kernel/arch/dreamcast/kernel/thdswitch.s) has PR for its PC,
 * and the places of R0 to R7 have what was there before. The floating-point registers are those of
 * both banks then, too, but not in every version. FR0 is FPSCR.FR's bank; where the other one is
 * chosen neither is told. */
static bool kallistios_holds(const char *name, uint32_t (*saved)(const void *ctx, const char *name),
                             const void *ctx)
{
    bool gave_way = saved(ctx, "pc") == saved(ctx, "pr");
    if (name[0] == 'r' && strlen(name) == 2)
        return !gave_way || name[1] > '7';
    if (!strncmp(name, "fr", 2) || !strncmp(name, "xf", 2))
        return !gave_way && !(saved(ctx, "fpscr") >> 21 & 1);
    return true;
}

static const struct tasks_layout kallistios[] = {
    { "later than 2.2", { 256, 280, 336, 848, 852 }, 0, kallistios_saved },
    { "2.2", { 228, 252, 308, 820, 824 }, 0, kallistios_saved },
    { "2.1", { 228, 252, 304, 816, 820 }, 0, kallistios_saved },
    { "2.0", { 0, 24, 60, 800, 804 }, 572, kallistios_saved_2_0 },
    { NULL, { 0 }, 0, NULL },
};

/* FreeRTOS: tasks.c (tskTaskControlBlock, pxReadyTasksLists, pxCurrentTCB) and include/list.h, from
 * V8 to V11, for one core and without MPU. Which registers are saved where is the port's, and there
 * is none for these parts: they are not known. */
static const struct tasks_layout freertos[] = {
    { "V8 to V11", { 0, 0, 52, 48, 0 }, 0, NULL },
    { NULL, { 0 }, 0, NULL },
};

const struct tasks_os tasks_systems[] = {
    { .name = "KallistiOS",
      .list = "thd_list",
      .current = "thd_current",
      .created = "tid_highest",
      .type = "kthread",
      .member = { "t_list", "tid", "label", "stack", "stack_size" },
      .name_bytes = 256,
      .ram_low = 0x0C000000,
      .ram_high = 0x0E000000,
      .ram_top = "_arch_mem_top",
      .ram_top_default = 0x8D000000,
      .first_number = 1,
      .first_bytes = 64 << 10,
      .layout = kallistios,
      .context = "context",
      .context_type = "irq_context",
      .holds = kallistios_holds },
    { .name = "FreeRTOS",
      .shape = TASKS_FREERTOS,
      .list = "pxReadyTasksLists",
      .current = "pxCurrentTCB",
      .started = "xSchedulerRunning",
      .created = "uxTaskNumber",
      .type = "tskTaskControlBlock",
      .member = { "pxTopOfStack", "uxTCBNumber", "pcTaskName", "pxStack", "pxEndOfStack" },
      .name_bytes = 16,
      .ram_low = 0x00001000,
      .ram_high = 0x1C000000,
      .layout = freertos },
    { .name = NULL },
};
