/* When the fault that was asked for is present. board_fault.c has what it does. */
#include "targets/sim/s12z/board_priv.h"

static const uint64_t ns_per_s = 1000000000;

/* How far the fault's period has gone, in ns; UINT64_MAX: the first one has not begun. */
static uint64_t time_in_period(const struct board_options *o, uint64_t ns)
{
    if (ns < o->fault_from_ns)
        return UINT64_MAX;
    if (o->fault_every_ns)
        return (ns - o->fault_from_ns) % o->fault_every_ns;
    return ns - o->fault_from_ns;
}

bool board_fault_shows(const struct s12z_board *b)
{
    const struct board_options *o = &b->opt;
    if (o->fault_for_ns)
        return time_in_period(o, b->ns) < o->fault_for_ns;
    return b->ns >= o->fault_at * ns_per_s / o->bdc_hz; /* KIND@N: N BDC cycles after power-on */
}

bool board_fault(const struct s12z_board *b, const char *kind)
{
    return board_fault_asked(b, kind) && board_fault_shows(b);
}

uint64_t board_fault_edge(const struct s12z_board *b)
{
    const struct board_options *o = &b->opt;
    if (!o->fault_for_ns)
        return UINT64_MAX;
    uint64_t at = time_in_period(o, b->ns);
    if (at == UINT64_MAX)
        return o->fault_from_ns;
    if (at < o->fault_for_ns)
        return b->ns + o->fault_for_ns - at;
    if (o->fault_every_ns)
        return b->ns + o->fault_every_ns - at;
    return UINT64_MAX;
}
