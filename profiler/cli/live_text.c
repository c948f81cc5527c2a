#include "profiler/cli/live_text.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "probe/base/choice.h"
#include "probe/base/text.h"
#include "probe/base/util.h"
#include "profiler/views/report.h"

/* In what order pieces of the line go where there is no room: the last first. */
enum rank {
    RANK_LOST,
    RANK_STATE, /* away, paused, halted; gaps, of unknown size */
    RANK_HOTTEST,
    RANK_PROGRESS,
    RANK_COVERAGE,
    RANK_TIME,
    RANK_EVENTS,
    RANK_RATE,
    RANK_SLOW,
    RANK_NONE_LOST,
    RANK_HITS,
    RANK_MORE,    /* functions behind the hottest, with their hits */
    RANK_SLOW_WHY /* what the slow-down consists of */
};

enum { PIECES = 20, PIECE_TEXT = 200, LIVE_TOP = 3, NAME_LEAST = 6 };

/* joint: what stands before it, unless it is the first of the line. */
struct piece {
    char text[PIECE_TEXT];
    const char *joint;
    enum rank rank;
    bool shown;
};

struct line {
    struct piece piece[PIECES];
    size_t n;
    unsigned columns;
    size_t hottest; /* which piece; PIECES: none. Its name has this many bytes: */
    size_t hottest_name;
};

static unsigned columns_of(const char *text)
{
    unsigned n = 0;
    for (; *text; text++)
        n += ((unsigned char)*text & 0xC0) != 0x80;
    return n;
}

static void add_piece(struct line *l, enum rank rank, const char *joint, const char *fmt, ...)
    __attribute__((format(printf, 4, 5)));
static void add_piece(struct line *l, enum rank rank, const char *joint, const char *fmt, ...)
{
    if (l->n == PIECES)
        return;
    struct piece *p = &l->piece[l->n++];
    va_list ap;
    *p = (struct piece){ .joint = joint, .rank = rank };
    va_start(ap, fmt);
    vsnprintf(p->text, sizeof p->text, fmt, ap);
    va_end(ap);
    text_clean(p->text);
}

/* ---- what there is to say, in the order of the line ---- */

static void add_time(struct line *l, const struct live_now *now)
{
    const struct pump_view *v = now->view;
    double s = (double)(v->now_ns - v->armed_ns) / 1e9;
    if (now->for_ns)
        add_piece(l, RANK_PROGRESS, "", "%.1f of %.4g s", s, (double)now->for_ns / 1e9);
    else
        add_piece(l, RANK_TIME, "", "%.1f s", s);
    if (now->max_passes)
        add_piece(l, RANK_PROGRESS, ", ", "%llu of %llu passes", (unsigned long long)now->passes,
                  (unsigned long long)now->max_passes);
    else if (now->passes)
        add_piece(l, RANK_EVENTS, ", ", "%llu pass%s", (unsigned long long)now->passes,
                  text_if(now->passes > 1, "es"));
}

static void add_events(struct line *l, const struct live_now *now)
{
    char number[16], why[80];
    struct slowdown slow = live_slowdown(now->view);
    add_piece(l, RANK_EVENTS, ": ", "%s events", report_number(now->seen, number, sizeof number));
    add_piece(l, RANK_RATE, ", ", "%s/s",
              report_number((unsigned long long)now->events_per_s, number, sizeof number));
    if (slow.times <= 0)
        return;
    add_piece(l, RANK_SLOW, ", ", "slowed %.1fx", slow.times);
    add_piece(l, RANK_SLOW_WHY, " ", "%s", strchr(slowdown_text(&slow, why, sizeof why), '('));
}

static void add_state(struct line *l, const struct live_now *now)
{
    const struct pump_view *v = now->view;
    const struct trace_status *s = &v->trace;
    unsigned gaps = v->gaps + v->resets;
    if (s->lost) {
        add_piece(l, RANK_LOST, ", ", "%llu LOST", (unsigned long long)s->lost);
        add_piece(l, RANK_COVERAGE, ", ", "%.2f%% covered",
                  100.0 * (double)now->seen / (double)(now->seen + s->lost));
    } else if (!gaps) {
        add_piece(l, RANK_NONE_LOST, ", ", "none lost");
    }
    if (gaps)
        add_piece(l, RANK_STATE, ", ", "%u gap%s", gaps, plural_s(gaps));
    if (v->away)
        add_piece(l, RANK_STATE, " ", "(the board is away)");
    if (v->resetting)
        add_piece(l, RANK_STATE, " ", "(the board was reset)");
    if (v->phase == PUMP_ARMED && !s->active)
        add_piece(l, RANK_STATE, " ", now->seen ? "(paused)" : "(waiting for the start point)");
    if (v->stop.reason != STOP_NONE)
        add_piece(l, RANK_STATE, " ", "(halted)");
}

static uint64_t weight_of(const struct profile *p, const struct profile_function *f)
{
    if (p->type == PROFILE_STATISTICAL)
        return f->hits;
    return f->c1;
}

/* The heaviest with a name that comes behind `after`, in the order of weight, then address; NULL:
 * there is none. */
static const struct profile_function *next_heaviest(const struct live_now *now,
                                                    const struct profile_function *after)
{
    const struct profile *p = now->profile;
    const struct profile_function *best = NULL;
    for (const struct profile_function *f = p->functions; f < p->functions + p->nfunctions; f++) {
        uint64_t weight = weight_of(p, f), limit = after ? weight_of(p, after) : UINT64_MAX;
        if (!weight || weight > limit || (weight == limit && after && f <= after))
            continue;
        if (best && weight <= weight_of(p, best))
            continue;
        if (f->description != PROFILE_UNKNOWN && symbols_find(now->symbols, f->low) >= 0)
            best = f;
    }
    return best;
}

static void add_functions(struct line *l, const struct live_now *now)
{
    char number[16];
    const struct profile *p = now->profile;
    const struct profile_function *f = NULL;
    uint64_t total = p->type == PROFILE_STATISTICAL ? p->total_hits : p->total_c1;
    for (int k = 0; total && k < LIVE_TOP && (f = next_heaviest(now, f)); k++) {
        double share = 100.0 * (double)weight_of(p, f) / (double)total;
        const char *hits = report_number(f->hits, number, sizeof number);
        if (k > 0) {
            add_piece(l, RANK_MORE, ", ", "%s %.1f%% %s hits", f->name, share, hits);
            continue;
        }
        l->hottest = l->n;
        add_piece(l, RANK_HOTTEST, " | ", "%.150s %.1f%%", f->name, share);
        l->hottest_name =
            (size_t)(strrchr(l->piece[l->hottest].text, ' ') - l->piece[l->hottest].text);
        add_piece(l, RANK_HITS, " ", "%s hits", hits);
    }
}

/* ---- what of it fits ---- */

static unsigned width_of(const struct line *l)
{
    unsigned n = 0;
    for (const struct piece *p = l->piece; p < l->piece + l->n; p++)
        if (p->shown)
            n += columns_of(p->text) + columns_of(text_if(n, p->joint));
    return n;
}

/* Shows it, if there is room. */
static bool show_piece(struct line *l, struct piece *p)
{
    p->shown = true;
    p->shown = width_of(l) <= l->columns;
    return p->shown;
}

/* Shortens the name until it fits, or is too short to be of use. */
static void show_hottest(struct line *l, struct piece *p)
{
    char share[16];
    size_t len = l->hottest_name;
    snprintf(share, sizeof share, "%s", p->text + len);
    while (!show_piece(l, p) && len > NAME_LEAST) {
        do
            len--;
        while (len > 1 && ((unsigned char)p->text[len] & 0xC0) == 0x80);
        snprintf(p->text + len, sizeof p->text - len, "..%s", share);
    }
}

/* A detail of the piece before it; alone it would make no sense. */
static bool is_remark(const struct piece *p)
{
    return p->rank == RANK_RATE || p->rank == RANK_SLOW_WHY || p->rank == RANK_HITS;
}

static void choose_pieces(struct line *l)
{
    for (enum rank rank = 0; rank <= RANK_SLOW_WHY; rank++)
        for (size_t i = 0; i < l->n; i++) {
            struct piece *p = &l->piece[i];
            if (p->rank != rank || (is_remark(p) && !p[-1].shown))
                continue;
            if (i == l->hottest)
                show_hottest(l, p);
            else if (!show_piece(l, p) && rank == RANK_LOST) { /* rather without the number */
                strcpy(p->text, "LOST");
                show_piece(l, p);
            }
        }
}

char *live_text(const struct live_now *now, unsigned columns, char *buf)
{
    struct line l = { .columns = MIN(columns, (unsigned)LIVE_TEXT / 4 - 1), .hottest = PIECES };
    size_t len = 0;
    add_time(&l, now);
    add_events(&l, now);
    add_state(&l, now);
    if (now->profile && now->symbols)
        add_functions(&l, now);
    choose_pieces(&l);
    buf[0] = 0;
    for (size_t i = 0; i < l.n; i++)
        if (l.piece[i].shown)
            len += (size_t)snprintf(buf + len, LIVE_TEXT - len, "%s%s",
                                    text_if(len, l.piece[i].joint), l.piece[i].text);
    return buf;
}

struct slowdown live_slowdown(const struct pump_view *v) { return slowdown_of(&v->trace.time); }
