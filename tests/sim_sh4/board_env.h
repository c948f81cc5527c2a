/* Suites that are run a second time, on a board of another kind:
 * PP_BOARD_OPTIONS=",sdsr=alternate". */
#ifndef TESTS_MODEL_BOARD_ENV_H
#define TESTS_MODEL_BOARD_ENV_H

#include <stdlib.h>

/* What is added to the name of every simulated board; "" if nothing is. */
static inline const char *test_board_options(void)
{
    const char *o = getenv("PP_BOARD_OPTIONS");
    return o ? o : "";
}

#endif
