/* A model of a JTAG adapter wired to a simulated board, with no bus between it and the test. For
 * cmocka programs. */
#ifndef TESTS_USB_MODEL_TEST_H
#define TESTS_USB_MODEL_TEST_H

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "targets/sim/sh4/board.h"
#include "tests/system/usb/model.h"

struct rig {
    struct sim_board *board;
    struct usb_model *m;
};

static inline struct rig make_rig(const struct usb_model_type *type, const char *options)
{
    struct rig r = { 0 };
    struct err err = { 0 };
    if (sh4_board_sh7750.create("", NULL, &r.board, &err) < 0 ||
        type->create(options, r.board, &r.m, &err) < 0)
        fail_msg("%s: %s", options, err.what);
    return r;
}

static inline void unmake_rig(struct rig *r)
{
    r->m->type->destroy(r->m);
    r->board->type->destroy(r->board);
}

#endif
