/* The log: a ring of entries that have numbers of their own. */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "profiler/feed/feed_priv.h"
#include "probe/base/choice.h"

uint64_t log_first(const struct feed *f) { return EXCESS(f->nlog, FEED_LOG_ENTRIES); }

const struct log_row *log_at(const struct feed *f, uint64_t number)
{
    if (number >= f->nlog || number < log_first(f))
        return NULL;
    return &f->log[number % FEED_LOG_ENTRIES];
}

/* Counts a repetition of the last entry. An entry that was in a state already stays as it is, and
 * the repetition is a new one. */
static bool fold_repeat(struct feed *f, const struct log_row *row)
{
    struct log_row *last = NULL;
    if (f->nlog)
        last = &f->log[(f->nlog - 1) % FEED_LOG_ENTRIES];
    if (!last || last->version <= f->seq || row->amount || last->amount ||
        strcmp(last->kind, row->kind) != 0 || strcmp(last->cause, row->cause) != 0 ||
        strcmp(last->text, row->text) != 0)
        return false;
    last->times++;
    last->wall_ms = row->wall_ms;
    return true;
}

void feed_log(struct feed *f, const struct feed_log_entry *e)
{
    struct log_row row = { .version = f->seq + 1,
                           .wall_ms = e->wall_ms,
                           .amount = e->amount,
                           .from_ns = e->from_ns,
                           .to_ns = e->to_ns,
                           .times = 1,
                           .bound = e->bound };
    snprintf(row.kind, sizeof row.kind, "%s", e->kind);
    snprintf(row.cause, sizeof row.cause, "%s", text_or(e->cause, ""));
    snprintf(row.text, sizeof row.text, "%s", text_or(e->text, ""));
    if (!f->log)
        f->log = calloc(FEED_LOG_ENTRIES, sizeof *f->log);
    if (!f->log || fold_repeat(f, &row))
        return;
    feed_next(f);
    f->log[f->nlog++ % FEED_LOG_ENTRIES] = row;
}

static void log_gap(struct feed *f, unsigned cause, uint64_t events, uint64_t c1, bool bound,
                    uint64_t before_ns)
{
    char text[FEED_LOG_TEXT];
    if (events)
        snprintf(text, sizeof text,
                 "%s%" PRIu64 " events lost; counter 1 went on by %" PRIu64 " meanwhile",
                 text_if(bound, "up to "), events, c1);
    else
        snprintf(text, sizeof text,
                 "events lost, nobody knows how many; counter 1 went on by %" PRIu64 " meanwhile",
                 c1);
    feed_log(f, &(struct feed_log_entry){ .kind = "gap",
                                          .cause = event_cause_name(cause),
                                          .text = text,
                                          .wall_ms = f->now.wall_ms,
                                          .amount = events,
                                          .bound = bound,
                                          .from_ns = before_ns,
                                          .to_ns = f->now.board_ns });
}

void log_gaps(struct feed *f, const struct calltree_stats *before, uint64_t before_ns)
{
    for (unsigned k = 0; k < EVENT_NCAUSES; k++) {
        const struct calltree_loss *was = &before->loss[k], *is = &f->stats.loss[k];
        if (is->gaps > was->gaps)
            log_gap(f, k, is->events - was->events, is->c1 - was->c1, is->bound, before_ns);
    }
}
