#include "targets/os/systems.h"

#include <stddef.h>

/* KallistiOS on the Dreamcast and the NAOMI: kernel/thread/thread.c (thd_list, thd_current and
 * tid_highest; the newest thread is the first of the list), include/kos/thread.h and
 * kernel/arch/dreamcast/include/arch/irq.h (struct kthread with the registers in it), at the tags
 * v2.0.0, v2.1.0, v2.2.0, v2.2.2 and in November 2026. sizeof(irq_context_t) is 228, and 256 where
 * the struct itself is aligned; 64-bit members are aligned to 4. The first thread's number is 1; it
 * runs on the stack of startup.s, which ends at __arch_mem_top. 2.0.0 gives it another one that is
 * never used. */
static const struct tasks_layout kallistios[] = {
    { "later than 2.2", { 256, 280, 336, 848, 852 } },
    { "2.2", { 228, 252, 308, 820, 824 } },
    { "2.1", { 228, 252, 304, 816, 820 } },
    { "2.0", { 0, 24, 60, 800, 804 } },
    { NULL, { 0 } },
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
      .layout = kallistios },
    { .name = NULL },
};
