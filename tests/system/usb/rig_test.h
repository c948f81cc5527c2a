/* What tests of drivers in the rig share: its commands, open descriptors, random numbers. For
 * cmocka programs. */
#ifndef TESTS_USB_RIG_TEST_H
#define TESTS_USB_RIG_TEST_H

#include <dirent.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

#include <cmocka.h>

#include "probe/probe.h"
#include "tests/system/usb/rig_tell.h"

/* tell_rig - a command to the rig, which must take it; returns the number it answers, 0 without. */
static inline unsigned long tell_rig(const char *fmt, ...) __attribute__((format(printf, 1, 2)));
static inline unsigned long tell_rig(const char *fmt, ...)
{
    char text[128], answer[128] = "";
    va_list args;
    va_start(args, fmt);
    vsnprintf(text, sizeof text, fmt, args);
    va_end(args);
    if (rig_tell(text, answer, sizeof answer) < 0)
        fail_msg("the rig refuses: %s", text);
    return strtoul(answer, NULL, 10);
}

static inline unsigned count_descriptors(void)
{
    unsigned n = 0;
    DIR *d = opendir("/proc/self/fd");
    while (readdir(d))
        n++;
    closedir(d);
    return n;
}

/* Every second transfer is struck, the one between by the next kind of fault. (All of them: 1, by
 * hand.) */
enum { STRIDE = 2 };

/* first_strike - of kinds[n] */
static inline unsigned long first_strike(size_t n) { return 1 + n % STRIDE; }

/* Until it is there again: the kernel tells of a device before its nodes are complete. */
static inline void come_back(struct probe *p)
{
    struct err err = { .code = ERR_OK };
    for (int i = 0; i < 30000; i++) {
        if (probe_reopen(p, &err) == 0)
            return;
        assert_int_not_equal(err.hint[0], 0);
        usleep(20000);
    }
    fail_msg("does not come back: %s", err.what);
}

/* xorshift32; *s is never 0. */
static inline uint32_t next_random(uint32_t *s)
{
    *s ^= *s << 13;
    *s ^= *s >> 17;
    return *s ^= *s << 5;
}

#endif
