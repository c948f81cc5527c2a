/* An adapter whose wire does what a test wants: set the members at any time. */
#ifndef TESTS_SH4_BAD_WIRE_H
#define TESTS_SH4_BAD_WIRE_H

#include "probe/jtag.h"
#include "tests/sh4/fixture.h"

struct bad_wire {
    const struct jtag_ops *own; /* the simulated adapter's */
    struct jtag_ops ops;
    bool gone;      /* transfers fail */
    bool deaf;      /* the CPU takes no break and no interrupt */
    bool mute;      /* the agent does not answer */
    unsigned ti;    /* the command that is loaded */
    unsigned after; /* so many transfers on, one fails with `with`; 0: none */
    enum err_code with;
};
extern struct bad_wire bad_wire;

/* From now on the board's driver has this wire, which is fine. One board at a time. */
void bad_wire_take(struct board *b);
/* An ASE break past the driver, as a break pin would. */
void break_by_hand(struct board *b);

#endif
