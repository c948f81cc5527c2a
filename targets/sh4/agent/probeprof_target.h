/* For programs profiled with --irq-filter calls: switches the function trace off and on again, for
 * example in an interrupt handler. It works with any SR.BL and SR.IMASK, and without a debugger.
 *
 *   #define PROBEPROF_DEFINE        in exactly one source file, before the include
 *   #include "probeprof_target.h"
 *
 *   probeprof_off();  ...  probeprof_on();        calls nest
 *
 * What both counters count between the outermost pair is left out of the profile, and calls there
 * give no event. It needs privileged mode, as it reads the counters at 0xFF100008 and 0xFF100010.
 * Source of these addresses, of PMCTR1L and PMCTR2L: KallistiOS, kernel/arch/dreamcast. */
#ifndef PROBEPROF_TARGET_H
#define PROBEPROF_TARGET_H

struct probeprof_target {
    unsigned magic;        /* 0x50505431, "PPT1" */
    int depth;             /* > 0: off */
    unsigned off1, off2;   /* counters when it was switched off */
    unsigned excluded1, excluded2;
};

#ifdef PROBEPROF_DEFINE
volatile struct probeprof_target _probeprof __asm__("__probeprof") = { 0x50505431u, 0, 0, 0, 0, 0 };
#else
extern volatile struct probeprof_target _probeprof __asm__("__probeprof");
#endif

static inline void probeprof_off(void)
{
    if (_probeprof.depth++ == 0) {
        _probeprof.off1 = *(volatile unsigned *)0xFF100008;
        _probeprof.off2 = *(volatile unsigned *)0xFF100010;
    }
}

static inline void probeprof_on(void)
{
    if (_probeprof.depth == 1) {
        _probeprof.excluded1 += *(volatile unsigned *)0xFF100008 - _probeprof.off1;
        _probeprof.excluded2 += *(volatile unsigned *)0xFF100010 - _probeprof.off2;
    }
    _probeprof.depth--;
}

#endif
