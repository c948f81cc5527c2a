#include "targets/s12z/trace_time.h"

#include <math.h>

static const uint64_t WAITING = 8; /* times longer than estimated: no error of a table, but WAI, STOP or a wait loop */

static void ran(struct s12z_time *t, double measured, double estimated)
{
    double ratio = measured / estimated, delta = ratio - t->mean;
    t->weight += estimated;
    t->mean += delta * estimated / t->weight;
    t->square += estimated * delta * (ratio - t->mean);
}

void s12z_time_line(struct s12z_time *t, const struct s12z_line *l, uint64_t core_cycles, bool placed)
{
    bool stamped = l->format == S12Z_PTVB || l->format == S12Z_PTW;
    uint64_t measured = l->stamp_overflow ? 65536 : l->stamp, estimated = (core_cycles - t->last_core) / 2;
    if (stamped && t->placed && placed) {
        if (l->stamp_overflow || measured > WAITING * (estimated + WAITING)) {
            t->waited += measured > estimated ? measured - estimated : 0;
        } else if (estimated) {
            t->stretches++;
            t->measured += measured;
            t->estimated += estimated;
            ran(t, (double)measured, (double)estimated);
        }
    }
    t->last_core = core_cycles;
    t->placed = placed;
}

bool s12z_time_factor(const struct s12z_time *t, double *factor, double *spread)
{
    if (t->stretches < 2)
        return false;
    *factor = (double)t->measured / (double)t->estimated;
    *spread = sqrt(t->square / t->weight);
    return true;
}
