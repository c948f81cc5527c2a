/* Lines in bursts, read from the trace buffer over BDC after each session. Source: ZVHL p.191-226.
 */
#include "targets/s12z/trace/trace_priv.h"
#include "probe/base/choice.h"

/* By word reads each is a read of its own, because a run would go on to the next address. */
int s12z_fetch_lines(struct s12z_target *t, uint8_t *raw, uint32_t n, bool *words, struct err *err)
{
    struct bdc_op op[LINES], lines = { .kind = BDC_LINES, .rx = raw, .len = n * LINE_BYTES };
    int ret = s12z_poke16(t, S12Z_DBGTB, 0, err); /* unlocks and points at the oldest */
    *words = !t->bdc->can(t->probe, BDC_LINES, 0);
    if (ret == 0 && !*words)
        return s12z_do(t, &lines, 1, err);
    for (uint32_t at = 0; at < n * LINE_BYTES && ret == 0;) {
        size_t k = 0;
        for (; k < LINES && at < n * LINE_BYTES; k++, at += 2)
            op[k] = (struct bdc_op){
                .kind = BDC_READ, .addr = S12Z_DBGTB, .width = 2, .rx = raw + at, .len = 2
            };
        ret = s12z_do(t, op, k, err);
    }
    return ret;
}

static int read_lines(struct s12z_trace *tr, struct err *err)
{
    uint8_t raw[LINES * LINE_BYTES], sr, cnt;
    struct s12z_target *t = tr->t;
    const struct s12z_settings settings = s12z_settings_default();
    int ret = s12z_peek8(t, S12Z_DBGSR, &sr, err);
    if (ret == 0)
        ret = s12z_peek8(t, S12Z_DBGCNT, &cnt, err);
    if (ret < 0)
        return ret;
    uint32_t n = (cnt & 0x7Fu) / 2; /* CNT counts half lines */
    if (REG_GET(sr, S12Z_DBGSR_TBF))
        n = LINES;
    if (!n)
        return 0;
    s12z_trace_read_vectors(tr);
    bool words;
    ret = s12z_fetch_lines(t, raw, n, &words, err);
    if (ret < 0) /* nobody reads them again */
        s12z_events_gap(tr->events, n, 0, EVENT_CAUSE_LINK, NULL);
    for (uint32_t k = 0; ret == 0 && k < n; k++) {
        uint64_t line;
        if (words)
            line = s12z_line_from_dbgtb(raw + k * LINE_BYTES);
        else
            line = s12z_line_from_command(raw + k * LINE_BYTES);
        struct s12z_line l;
        if (s12z_line_decode(line, &settings, &l, NULL) == 0)
            ret = s12z_trace_sink_result(
                tr, s12z_trace_take_line(tr, line, &l, &(struct s12z_arrival){ 0 }), err);
        else {
            s12z_trace_note_damage(tr);
            ret = s12z_events_gap(tr->events, 1, 0, EVENT_CAUSE_CORRUPT, err);
        }
    }
    return ret;
}

/* While the program stands still its PLL does too: the readout may use the fast clock. */
int s12z_trace_read_buffer(struct s12z_trace *tr, struct err *err)
{
    struct s12z_target *t = tr->t;
    bool hurry = s12z_state(t) == TARGET_HALTED && !REG_GET(t->link.control, S12Z_BDCCSR_CLKSW) &&
                 !t->bdc->max_hz;
    int ret = 0;
    if (hurry)
        ret = s12z_clock_source(t, true, err);
    if (ret == 0 && (hurry || t->bdc->max_hz))
        s12z_trace_note_bus(tr);
    if (ret == 0)
        ret = read_lines(tr, err);
    int back = 0;
    if (hurry)
        back = s12z_clock_source(t, false, err_unless(ret < 0, err));
    if (ret < 0)
        return ret;
    return back;
}
