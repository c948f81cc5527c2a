/* A board's time passes while the host clocks its wires or lets time pass. A host that only asks
 * for the time, again and again, would wait for ever. So after very many questions in a row asking
 * takes time, too, as on a real host. (Decoding what a full capture holds asks some ten thousand
 * times, and that must not count.) */
#ifndef TARGETS_SIM_PATIENCE_H
#define TARGETS_SIM_PATIENCE_H

#include <stdint.h>

enum { SIM_FREE_QUESTIONS = 1 << 18, SIM_QUESTION_NS = 1000 };

/* All zero to begin with. */
struct sim_patience {
    uint64_t at_ns; /* the time of the last answer */
    unsigned asked; /* times in a row that it was this one */
};

/* sim_question_ns - the time is asked for, and is now_ns. Returns how much of it the board lets
 * pass before it answers. */
static inline uint64_t sim_question_ns(struct sim_patience *p, uint64_t now_ns)
{
    p->asked = now_ns == p->at_ns ? p->asked + 1 : 0;
    uint64_t ns = p->asked > SIM_FREE_QUESTIONS ? SIM_QUESTION_NS : 0;
    if (ns)
        p->asked = SIM_FREE_QUESTIONS;
    p->at_ns = now_ns + ns;
    return ns;
}

#endif
