/* Any text behind --probe sim:sh7750 (options, clocks, faults and their times): refused with a
 * hint, or within what the board can be. */
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "probe/base/options.h"
#include "probe/base/util.h"
#include "targets/sim/sh4/board_priv.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    char text[OPTIONS_MAX_TEXT + 10];
    struct board_options o;
    struct err err = { .code = ERR_OK };
    size_t n = MIN(size, sizeof text - 1);
    memcpy(text, data, n);
    text[n] = 0;
    int ret = board_options_parse(text, &o, &err);
    if (ret < 0 ? ret != -ERR_USAGE || !*err.hint
                : !o.tck_hz || !o.cpu_hz || !memchr(o.serial, 0, sizeof o.serial) ||
                      !memchr(o.rom, 0, sizeof o.rom))
        abort();
    return 0;
}
