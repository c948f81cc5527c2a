/* How a simulated board serves a host that only polls its clock. A board's time passes while the
 * host clocks its wires or waits. A host that does neither, and asks for the time until a deadline
 * has come, would therefore wait for ever. So after SIM_FREE_QUESTIONS questions in a row each
 * further one takes a microsecond of the board's time, as it would take time on a real host. The
 * limit is high because decoding a full capture asks some ten thousand times in a row, and must not
 * change the board's time. */
#ifndef TARGETS_SIM_PATIENCE_H
#define TARGETS_SIM_PATIENCE_H

#include <stdint.h>

enum { SIM_FREE_QUESTIONS = 1 << 18, SIM_QUESTION_NS = 1000 };

/* Questions for the time that came in a row. It begins as all zeros. */
struct sim_patience {
    uint64_t at_ns; /* the answer to the last question */
    unsigned asked; /* how many questions in a row had that answer */
};

/* sim_question_ns - counts one question for the time, which is now_ns. Returns the nanoseconds that
 * the board has to let pass before it answers: 0, or SIM_QUESTION_NS. */
static inline uint64_t sim_question_ns(struct sim_patience *p, uint64_t now_ns)
{
    uint64_t ns = 0;
    if (now_ns == p->at_ns)
        p->asked++;
    else
        p->asked = 0;
    if (p->asked > SIM_FREE_QUESTIONS) {
        p->asked = SIM_FREE_QUESTIONS;
        ns = SIM_QUESTION_NS;
    }
    p->at_ns = now_ns + ns;
    return ns;
}

#endif
