#include "targets/s12z/trace/edges.h"
#include "probe/base/choice.h"

#include <stdlib.h>
#include <string.h>

/* bit times; a clock edge of a running line comes after 1, sampling may make it 1.25 */
static const double GAP = 1.75;
static const double SURE_GAP = 3.5; /* not one edge missed, nor two */
static const double FASTER = 0.6;   /* below this many bit times the clock has become faster */
static const double ALIKE = 0.25;
/* intervals of one new length in a row that make a new bit time */
enum { NEW_CLOCK = 6 };

void s12z_edges_init(struct s12z_edges *e, const struct s12z_settings *settings,
                     struct s12z_stream *out)
{
    memset(e, 0, sizeof *e);
    e->settings = *settings;
    e->out = out;
    e->skip = !settings->first_edge_is_clock;
}

/* A line begins behind a gap, unless the line before it was broken and the gap may be an edge that
 * was missed. */
static int begin_line_at_gap(struct s12z_edges *e, double interval)
{
    bool broken = e->nbits != 0;
    uint64_t bad = e->out->bad;
    e->gaps++;
    e->cut_bits += e->nbits;
    e->nbits = 0;
    e->byte = 0;
    e->skip = !e->settings.first_edge_is_clock;
    int ret = s12z_stream_gap(e->out);
    broken |= e->out->bad != bad;
    e->aligned = interval > SURE_GAP * e->bit_ticks || (!broken && interval > GAP * e->bit_ticks);
    return ret;
}

static int take_bit(struct s12z_edges *e, uint64_t tick, unsigned value)
{
    if (e->skip) {
        e->skip = false;
        return 0;
    }
    e->bits++;
    if (!e->aligned) {
        e->cut_bits++;
        return 0;
    }
    if (e->nbits == 0)
        e->byte_tick = tick;
    e->byte |= (uint8_t)(value << e->nbits++);
    if (e->nbits < 8)
        return 0;
    uint8_t whole = e->byte;
    e->out->bus_ticks = e->bit_ticks / 2;
    e->nbits = 0;
    e->byte = 0;
    return s12z_stream_feed(e->out, &whole, 1, e->byte_tick);
}

static bool nearly_equal(double a, double b) { return a > b * (1 - ALIKE) && a < b * (1 + ALIKE); }

/* Follows the bit time. False: this edge is not the next bit of a running line. */
static bool follow_bit_time(struct s12z_edges *e, double interval)
{
    bool fits = interval >= FASTER * e->bit_ticks && interval <= GAP * e->bit_ticks;
    if (fits) {
        e->odd = 0;
        e->bit_ticks += (interval - e->bit_ticks) / 64;
        return true;
    }
    e->odd = e->odd && nearly_equal(interval, e->odd_ticks) ? e->odd + 1 : 1;
    e->odd_ticks = interval;
    if (e->odd >= NEW_CLOCK) {
        e->bit_ticks = interval; /* and where bytes begin shows at the next gap */
        e->odd = 0;
    }
    return false;
}

static int clock_edge(struct s12z_edges *e, uint64_t tick, unsigned value)
{
    double interval = (double)(tick - e->last_tick);
    int ret = 0;
    e->last_tick = tick;
    if (!follow_bit_time(e, interval))
        ret = begin_line_at_gap(e, interval);
    if (ret < 0)
        return ret;
    return take_bit(e, tick, value);
}

static int by_value(const void *a, const void *b)
{
    uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;
    return COMPARE(x, y);
}

/* The median interval is a bit, as no line is as short as half of the edges looked at. Then these
 * edges are decoded. */
static int end_learning(struct s12z_edges *e)
{
    uint64_t interval[S12Z_EDGES_LEARN];
    unsigned n = e->nlearn, middle = (n - 1) / 2;
    int ret = 0;
    for (unsigned k = 1; k < n; k++)
        interval[k - 1] = (e->learn[k] >> 1) - (e->learn[k - 1] >> 1);
    if (n > 1)
        qsort(interval, n - 1, sizeof *interval, by_value);
    e->bit_ticks = 1;
    if (n > 1 && interval[middle])
        e->bit_ticks = (double)interval[middle];
    e->last_tick = e->first_tick;
    e->nlearn = 0;
    for (unsigned k = 0; k < n && ret == 0; k++)
        ret = clock_edge(e, e->learn[k] >> 1, e->learn[k] & 1);
    return ret;
}

static bool edge_counts(const struct s12z_edges *e, unsigned clk)
{
    switch ((enum s12z_edge_rule)e->settings.edge_rule) {
    case S12Z_EDGES_RISING: return clk;
    case S12Z_EDGES_FALLING: return !clk;
    case S12Z_EDGES_BOTH: break;
    }
    return true;
}

static int take_edge(struct s12z_edges *e, pdo_edge edge)
{
    unsigned clk = PDO_CLK(edge);
    uint64_t tick = PDO_TICK(edge);
    if (!e->started) {
        e->started = true;
        e->clk = clk;
        e->first_tick = e->last_tick = tick;
        return 0;
    }
    if (clk == e->clk)
        return 0;
    e->clk = clk;
    if (!edge_counts(e, clk))
        return 0;
    if (e->bit_ticks > 0)
        return clock_edge(e, tick, PDO_DATA(edge));
    e->learn[e->nlearn++] = tick << 1 | PDO_DATA(edge);
    if (e->nlearn == S12Z_EDGES_LEARN)
        return end_learning(e);
    return 0;
}

int s12z_edges_feed(struct s12z_edges *e, const pdo_edge *edges, size_t n)
{
    int ret = 0;
    for (size_t k = 0; k < n && ret == 0; k++)
        ret = take_edge(e, edges[k]);
    return ret;
}

int s12z_edges_lost(struct s12z_edges *e)
{
    e->cut_bits += e->nlearn;
    e->nlearn = 0;
    e->started = false;
    return begin_line_at_gap(e, 0);
}

int s12z_edges_idle(struct s12z_edges *e, uint64_t tick)
{
    if (!e->started || e->bit_ticks <= 0 || tick <= e->last_tick ||
        (double)(tick - e->last_tick) <= GAP * e->bit_ticks)
        return 0;
    /* the coming edge counts the gap; here only the stream hears of it */
    if (e->nbits || !e->aligned)
        return 0;
    return s12z_stream_gap(e->out);
}

int s12z_edges_end(struct s12z_edges *e)
{
    int ret = e->bit_ticks > 0 || !e->nlearn ? 0 : end_learning(e);
    e->cut_bits += e->nbits;
    e->nbits = 0;
    if (ret < 0)
        return ret;
    return s12z_stream_end(e->out);
}
