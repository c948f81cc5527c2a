#include "profiler/views/report_json.h"

#include <math.h>
#include <stdio.h>
#include <time.h>

#include "probe/base/choice.h"
#include "probe/base/hex.h"
#include "probe/base/util.h"
#include "profiler/views/json_writer.h"
#include "profiler/views/report_json_places.h"
#include "profiler/profile/sampled.h"
#include "profiler/profile/slowdown.h"

/* 0 counts as unknown. */
static void member_known(struct json_writer *j, const char *key, uint64_t value)
{
    json_member_uint_if(j, key, value, value);
}

static void build_id(struct json_writer *j, const struct profile_info *i)
{
    char text[2 * sizeof i->build_id + 1] = "";
    hex_string(text, i->build_id, MIN(i->build_id_len, sizeof i->build_id));
    json_member_text(j, "build_id", text);
}

static void write_started(struct json_writer *j, int64_t when)
{
    char text[32] = "";
    struct tm tm;
    time_t t = (time_t)when;
    if (when && gmtime_r(&t, &tm))
        strftime(text, sizeof text, "%Y-%m-%dT%H:%M:%SZ", &tm);
    json_member_text(j, "started", text);
}

/* What report_header() has, whole. */
static void write_header(struct json_writer *j, const struct profile *p)
{
    const struct profile_info *i = &p->info;
    double seen = profile_c1_seen(p);
    json_write_key(j, "header");
    json_write_object(j, true);
    json_member_string(j, "program", i->elf);
    build_id(j, i);
    json_member_string(j, "target", i->target);
    json_member_string(j, "probe", i->probe);
    json_member_text(j, "marks", text_or(i->marks, ""));
    write_started(j, i->when);
    json_member_uint_if(j, "passes", !i->sums_only, i->passes);
    if (seen < 0)
        json_member_null(j, "c1_seen");
    else
        json_member_real(j, "c1_seen", seen);
    json_write_end(j);
}

static void write_counters(struct json_writer *j, const struct profile_info *i)
{
    json_write_key(j, "counters");
    json_write_array(j, false);
    for (int k = 0; k < 2; k++) {
        if (!i->counter[k].code && !i->counter[k].name) {
            json_write_null(j); /* positions say which is C1 and which C2 */
            continue;
        }
        json_write_object(j, true);
        json_member_uint(j, "code", i->counter[k].code);
        json_member_string(j, "name", i->counter[k].name);
        json_member_string(j, "unit", i->counter[k].unit);
        json_write_end(j);
    }
    json_write_end(j);
}

static void write_seconds(struct json_writer *j, const char *key, uint64_t ns)
{
    json_write_key(j, key);
    if (ns)
        json_write_real(j, (double)ns / 1e9);
    else
        json_write_null(j);
}

static void slow_down(struct json_writer *j, const struct run_time *t)
{
    const struct slowdown s = slowdown_of(t);
    const struct {
        const char *key;
        double value;
    } part[] = { { "times", s.times }, { "agent", s.agent }, { "moving_events", s.moving } };
    json_write_key(j, "slow_down");
    if (s.times == 0) {
        json_write_null(j);
        return;
    }
    json_write_object(j, true);
    for (size_t k = 0; k < ARRAY_LEN(part); k++) {
        json_member_real(j, part[k].key, part[k].value);
    }
    json_write_end(j);
}

/* Of a .prf: the members are there, and nothing is known. */
static void no_coverage(struct json_writer *j)
{
    static const char *const keys[] = { "events",        "lost",    "gaps",          "resets",
                                        "lost_is_bound", "lost_c1", "doubtful",      "blind_events",
                                        "blind_c1",      "names",   "untraced_hits", "untraced" };
    for (size_t i = 0; i < ARRAY_LEN(keys); i++)
        json_member_null(j, keys[i]);
}

/* Places that gave no events, and the hits of the functions that hold them. */
static void write_untraced(struct json_writer *j, const struct profile *p)
{
    json_member_uint(j, "untraced_hits", p->untraced_hits);
    json_write_key(j, "untraced");
    json_write_array(j, false);
    size_t n;
    const struct profile_coverage *row = profile_coverage(p, &n);
    for (size_t i = 0; i < n && row[i].at.kind < COVERAGE_NPLACES; i++) {
        const struct profile_coverage *x = &row[i];
        json_write_object(j, true);
        json_member_uint(j, "address", x->at.address);
        json_member_string(j, "kind", coverage_kind_name((enum coverage_kind)x->at.kind));
        json_member_string(j, "cause", coverage_cause_name((enum coverage_cause)x->at.cause));
        json_member_text(j, "function", x->name);
        json_member_text(j, "by", x->by);
        member_known(j, "bytes", x->at.amount);
        json_write_end(j);
    }
    json_write_end(j);
}

static void write_unfinished(struct json_writer *j, const struct profile *p)
{
    const struct profile_unfinished *u = &p->unfinished;
    json_write_key(j, "crash");
    if (!u->what) {
        json_write_null(j);
        return;
    }
    json_write_object(j, true);
    json_member_uint(j, "vector", u->vector);
    json_member_string(j, "exception", u->what);
    json_member_string(j, "at", u->where);
    json_member_uint(j, "c1_since", u->c1);
    json_member_bool(j, "reset", u->reset);
    json_write_end(j);
}

static void write_remarks(struct json_writer *j, const struct profile_info *i)
{
    json_write_key(j, "remarks");
    json_write_array(j, true);
    for (size_t k = 0; k < i->nremarks; k++) {
        json_write_object(j, true);
        json_member_string(j, "kind", i->remarks[k].kind);
        json_member_uint(j, "count", i->remarks[k].count);
        json_member_string(j, "text", i->remarks[k].text);
        json_write_end(j);
    }
    json_write_end(j);
}

static void write_coverage(struct json_writer *j, const struct profile *p)
{
    const struct profile_info *i = &p->info;
    const struct coverage_row lost = profile_coverage_sum(p, COVERAGE_LOST),
                              blind = profile_coverage_sum(p, COVERAGE_BLIND);
    json_member_uint(j, "events", i->events);
    json_member_uint(j, "lost", lost.amount);
    json_member_uint(j, "gaps", profile_away(p, EVENT_CAUSE_LINK));
    json_member_uint(j, "resets", profile_away(p, EVENT_CAUSE_RESET));
    json_member_bool(j, "lost_is_bound", lost.bound);
    json_member_uint(j, "lost_c1", lost.c1);
    json_member_uint(j, "doubtful", i->doubtful);
    json_member_uint(j, "blind_events", blind.amount);
    json_member_uint(j, "blind_c1", blind.c1);
    json_member_bool(j, "names", !i->unnamed);
    write_untraced(j, p);
}

/* What a counter counted: null where it was not used. Samples count nothing but themselves. */
static void member_counter(struct json_writer *j, const struct profile *p, enum profile_part part,
                           const char *key, uint64_t value)
{
    json_member_uint_if(j, key, profile_knows(p, part), value);
}

static void write_run(struct json_writer *j, const struct profile *p)
{
    const struct profile_info *i = &p->info;
    json_write_key(j, "time");
    json_write_object(j, true);
    member_known(j, "target_cycles", i->time.target_cycles);
    member_known(j, "agent_cycles", i->time.agent_cycles);
    write_seconds(j, "host_seconds", i->time.host_ns);
    write_seconds(j, "board_seconds", i->time.board_ns);
    write_seconds(j, "held_seconds", number_if(i->time.board_ns, i->time.held_ns));
    slow_down(j, &i->time);
    json_write_end(j);
    json_write_key(j, "coverage");
    json_write_object(j, true);
    if (i->sums_only)
        no_coverage(j);
    else
        write_coverage(j, p);
    json_write_end(j);
    write_unfinished(j, p);
    if (i->sums_only)
        json_member_null(j, "passes");
    else
        json_member_uint(j, "passes", i->passes);
    json_write_key(j, "totals");
    json_write_object(j, true);
    if (profile_knows(p, PROFILE_HITS))
        json_member_uint(j, "hits", p->total_hits);
    member_counter(j, p, PROFILE_C1, "c1", p->total_c1);
    member_counter(j, p, PROFILE_C2, "c2", p->total_c2);
    json_write_end(j);
    json_member_text(j, "note", i->note);
    write_remarks(j, i);
}

static void write_handlers(struct json_writer *j, const struct profile *p)
{
    json_write_key(j, "handlers");
    json_write_array(j, false);
    for (size_t i = 0; i < p->nhandlers; i++) {
        const struct profile_handler *h = &p->handlers[i];
        json_write_object(j, true);
        json_member_uint(j, "function", h->function);
        json_member_string(j, "kind", h->exception ? "exception" : "interrupt");
        json_member_uint(j, "vector", h->vector);
        json_member_uint(j, "count", h->count);
        member_counter(j, p, PROFILE_C1, "c1", h->c1);
        member_known(j, "longest_c1", h->longest);
        member_known(j, "shortest_c1", number_if(h->longest, h->shortest));
        json_write_end(j);
    }
    json_write_end(j);
}

static void write_threads(struct json_writer *j, const struct profile *p)
{
    json_write_key(j, "threads");
    json_write_array(j, false);
    for (size_t i = 0; i < p->ntasks; i++) {
        const struct profile_task *k = &p->tasks[i];
        json_write_object(j, true);
        json_member_uint_if(j, "number", k->number >= 0, (uint64_t)k->number);
        json_member_text(j, "name", k->name);
        json_member_uint(j, "function", k->function);
        json_member_uint(j, "stack_low", k->low);
        json_member_uint(j, "stack_high", k->high);
        member_counter(j, p, PROFILE_C1, "c1", k->c1);
        member_counter(j, p, PROFILE_C2, "c2", k->c2);
        json_write_end(j);
    }
    json_write_end(j);
}

static void write_blocks(struct json_writer *j, const struct profile *p)
{
    json_write_key(j, "blocks");
    json_write_array(j, false);
    for (size_t i = 0; i < p->nblocks; i++) {
        size_t f = profile_function_at(p, p->blocks[i].low);
        json_write_object(j, true);
        json_member_uint(j, "low", p->blocks[i].low);
        json_member_uint(j, "high", p->blocks[i].high);
        json_member_uint_if(j, "function", f < p->nfunctions, f);
        json_member_uint(j, "count", p->blocks[i].count);
        json_write_end(j);
    }
    json_write_end(j);
    json_write_key(j, "branches");
    json_write_array(j, false);
    for (size_t i = 0; i < p->nbranches; i++) {
        json_write_object(j, true);
        json_member_uint(j, "pc", p->branches[i].pc);
        json_member_uint(j, "taken", p->branches[i].taken);
        json_member_uint(j, "not_taken", p->branches[i].not_taken);
        json_write_end(j);
    }
    json_write_end(j);
}

/* Of all samples, and between what the true share is with 95 % probability. */
static void write_share(struct json_writer *j, uint64_t hits, uint64_t total)
{
    double low, high;
    sampling_interval(hits, total, &low, &high);
    json_member_real(j, "share", ratio_or_0((double)hits, (double)total));
    json_member_real(j, "share_low", low);
    json_member_real(j, "share_high", high);
}

/* The same of what was seen, where some was lost: null of what stands for the loss itself. */
static void write_seen(struct json_writer *j, const char *what, double count, double total,
                       double half)
{
    const struct {
        const char *end;
        double value;
    } member[] = { { "share", count / total },
                   { "share_low", fmax(count / total - half, 0) },
                   { "share_high", fmin(count / total + half, 1) },
                   { "share_half", half } };
    for (size_t i = 0; i < ARRAY_LEN(member); i++) {
        char key[32];
        snprintf(key, sizeof key, "%s_%s", what, member[i].end);
        if (total > 0 && half >= 0)
            json_member_real(j, key, member[i].value);
        else
            json_member_null(j, key);
    }
}

static void write_shares_seen(struct json_writer *j, const struct profile *p,
                              const struct profile_function *f)
{
    bool lost = profile_is_lost(f);
    if (!p->info.stretches)
        return;
    write_seen(j, "hits", (double)f->hits, (double)p->total_hits, lost ? -1 : f->hits_half);
    write_seen(j, "c1", (double)f->c1, (double)profile_seen_c1(p), lost ? -1 : f->c1_half);
}

/* What was sampled beside it, and whether the share of counter 1 fits. */
static void write_sampled(struct json_writer *j, const struct profile *p,
                          const struct profile_function *f)
{
    if (!p->sampled.total)
        return;
    const struct sampled_share is = sampled_share(p, f);
    json_member_uint(j, "samples", f->sampled);
    json_member_real(j, "sampled_share", is.share);
    json_member_real(j, "sampled_low", is.low);
    json_member_real(j, "sampled_high", is.high);
    json_member_bool(j, "sampled_fits", !is.outside);
}

static void write_beside(struct json_writer *j, const struct profile_sampled *s)
{
    json_write_key(j, "sampled_beside");
    json_write_object(j, true);
    json_member_uint(j, "samples", s->total);
    json_member_uint(j, "elsewhere", s->elsewhere);
    json_member_text(j, "most_elsewhere", s->most);
    json_member_real(j, "confidence", 0.95);
    json_write_end(j);
}

static void write_losses(struct json_writer *j, const struct profile_info *i)
{
    json_write_key(j, "losses");
    json_write_object(j, true);
    json_member_uint(j, "stretches", i->stretches);
    json_member_uint(j, "joined", EITHER(i->stretches_joined, (uint64_t)1));
    json_member_real(j, "confidence", 0.95);
    json_write_end(j);
}

static void write_sampling(struct json_writer *j, const struct profile_sampling *s)
{
    json_write_key(j, "sampling");
    json_write_object(j, true);
    json_member_uint(j, "rate_asked", s->rate_asked);
    json_member_real(j, "rate", sampling_rate(s));
    json_member_uint(j, "looks", s->looks);
    json_member_uint(j, "asleep", s->asleep);
    json_member_uint(j, "missed", s->missed);
    json_member_real(j, "seconds", (double)s->running_ns / 1e9);
    json_member_real(j, "confidence", 0.95);
    json_write_end(j);
}

static void write_spread(struct json_writer *j, const char *key, const struct profile *p,
                         uint64_t value)
{
    json_member_uint_if(j, key, p->info.estimate.measurements, value);
}

/* What counter 1 rests on, where it is estimated; its unit's spreads hold with that confidence. */
static void write_estimate(struct json_writer *j, const struct profile_estimate *e)
{
    json_write_key(j, "estimate");
    json_write_object(j, true);
    json_member_string(j, "counter", "c1");
    json_member_uint(j, "measurements", e->measurements);
    json_member_bool(j, "by_stamps", e->sources & EVENT_BY_STAMPS);
    json_member_bool(j, "by_arrivals", e->sources & EVENT_BY_ARRIVALS);
    json_member_real(j, "factor", e->factor);
    json_member_real(j, "confidence", 0.95);
    json_write_end(j);
}

/* Only where somebody asks. */
static void write_hot(struct json_writer *j, const struct report_options *o,
                      const struct cell_row *row)
{
    if (o->hot.n)
        json_member_bool(j, "hot", hot_met(&o->hot, row));
}

static void write_function(struct json_writer *j, const struct profile *p,
                           const struct report_options *o, const struct profile_function *f)
{
    const struct cell_row row = cell_row_function(p, f);
    const char *thread = f->task ? "thread" : NULL;
    json_write_object(j, true);
    json_member_string(j, "name", f->name);
    json_member_text(j, "linkage_name", f->linkage);
    json_member_text(j, "qualified_name", f->qualified);
    json_member_text(j, "file", f->file);
    if (f->overlay)
        json_member_text(j, "overlay", f->overlay);
    member_known(j, "line", number_if(f->line > 0, (uint64_t)f->line));
    if (profile_knows(p, PROFILE_ADDRESSES)) {
        json_member_uint(j, "low", f->low);
        json_member_uint(j, "high", f->high);
    }
    json_member_uint_if(j, "cache_line", f->cache_line != PROFILE_NOT_CACHED, f->cache_line);
    json_member_string(j, "description", text_or(thread, profile_description_name(f->description)));
    if (profile_knows(p, PROFILE_HITS) && !f->hits_unknown)
        json_member_uint(j, "hits", f->hits);
    bool children = profile_knows(p, PROFILE_CHILDREN);
    member_counter(j, p, PROFILE_C1, "c1", f->c1);
    if (children)
        member_counter(j, p, PROFILE_C1, "c1_children", f->c1_children);
    if (p->info.estimate.is) {
        write_spread(j, "c1_spread", p, f->c1_spread);
        write_spread(j, "c1_children_spread", p, f->c1_children_spread);
    }
    member_counter(j, p, PROFILE_C2, "c2", f->c2);
    if (children)
        member_counter(j, p, PROFILE_C2, "c2_children", f->c2_children);
    json_member_bool(j, "doubtful", f->doubtful);
    if (p->type == PROFILE_STATISTICAL)
        write_share(j, f->hits, p->total_hits);
    write_shares_seen(j, p, f);
    write_sampled(j, p, f);
    json_write_key(j, "doubt_share");
    if (profile_doubt_share(f) < 0)
        json_write_null(j);
    else
        json_write_real(j, profile_doubt_share(f));
    member_known(j, "measurements", f->steps);
    json_member_uint_if(j, "doubtful_measurements", f->steps, f->doubts);
    json_member_bool(j, "tagged", f->tagged);
    if (f->group)
        json_member_bool(j, "group", true);
    if (o->show != REPORT_SHOW_ALL)
        json_member_bool(j, "shown", report_wants(o, f));
    write_hot(j, o, &row);
    if (report_wants(o, f))
        hot_fails(&o->hot, &row, o->failures);
    json_write_end(j);
}

static void write_node(struct json_writer *j, const struct profile *p,
                       const struct report_options *o, const struct profile_node *n, size_t id)
{
    const struct cell_row row = cell_row_path(p, n);
    json_write_object(j, true);
    json_member_uint(j, "id", id);
    json_member_uint_if(j, "parent", n->parent != PROFILE_NO_PARENT, n->parent);
    json_member_uint(j, "function", n->function);
    if (profile_knows(p, PROFILE_HITS))
        json_member_uint(j, "hits", n->hits);
    member_counter(j, p, PROFILE_C1, "c1", n->c1);
    member_counter(j, p, PROFILE_C1, "c1_children", n->c1_children);
    member_counter(j, p, PROFILE_C2, "c2", n->c2);
    member_counter(j, p, PROFILE_C2, "c2_children", n->c2_children);
    json_member_bool(j, "doubtful", n->doubtful);
    write_hot(j, o, &row);
    json_write_end(j);
}

static void write_thresholds(struct json_writer *j, const struct hot_list *l)
{
    json_write_key(j, "thresholds");
    json_write_array(j, true);
    for (size_t i = 0; i < l->n; i++)
        json_write_string(j, l->of[i].text);
    json_write_end(j);
}

void report_json_about(struct json_writer *j, const struct profile *p)
{
    json_member_string(j, "type", p->type == PROFILE_STATISTICAL ? "statistical" : "trace");
    json_member_string(j, "target", p->info.target);
    json_member_string(j, "probe", p->info.probe);
    json_member_string(j, "elf", p->info.elf);
    build_id(j, &p->info);
    write_started(j, p->info.when);
    write_header(j, p);
    write_counters(j, &p->info);
    write_run(j, p);
    if (p->info.sampling.rate_asked)
        write_sampling(j, &p->info.sampling);
    if (p->info.estimate.is)
        write_estimate(j, &p->info.estimate);
    if (p->info.stretches)
        write_losses(j, &p->info);
    if (p->sampled.total)
        write_beside(j, &p->sampled);
}

void report_json(const struct profile *p, const struct text_sink *out)
{
    report_json_as(p, &(struct report_options){ .width = 0 }, out);
}

static void write_tree(struct json_writer *j, const struct profile *p,
                       const struct report_options *o)
{
    json_write_key(j, "tree");
    json_write_array(j, false);
    for (size_t i = 0; i < p->nnodes; i++)
        write_node(j, p, o, &p->nodes[i], i);
    json_write_end(j);
}

/* Where paths are not known there is no tree. */
static void write_calls(struct json_writer *j, const struct profile *p)
{
    json_write_key(j, "calls");
    json_write_array(j, false);
    for (size_t i = 0; i < p->ncalls; i++) {
        const struct profile_call *c = &p->calls[i];
        json_write_object(j, true);
        json_member_uint_if(j, "caller", c->caller != PROFILE_NO_PARENT, c->caller);
        json_member_uint(j, "callee", c->callee);
        if (profile_knows(p, PROFILE_HITS))
            json_member_uint(j, "hits", c->hits);
        if (profile_knows(p, PROFILE_CHILDREN)) {
            member_counter(j, p, PROFILE_C1, "c1_children", c->c1_children);
            member_counter(j, p, PROFILE_C2, "c2_children", c->c2_children);
        }
        json_write_end(j);
    }
    json_write_end(j);
}

void report_json_as(const struct profile *p, const struct report_options *o,
                    const struct text_sink *out)
{
    struct json_writer j = { .out = out };
    json_write_object(&j, false);
    json_member_string(&j, "schema", "probeprof.profile/1");
    report_json_about(&j, p);
    if (o->show != REPORT_SHOW_ALL)
        json_member_string(&j, "show", o->show == REPORT_SHOW_TAGGED ? "tagged" : "untagged");
    if (o->hot.n)
        write_thresholds(&j, &o->hot);
    json_write_key(&j, "functions");
    json_write_array(&j, false);
    for (size_t i = 0; i < p->nfunctions; i++)
        write_function(&j, p, o, &p->functions[i]);
    json_write_end(&j);
    if (profile_knows(p, PROFILE_PATHS))
        write_tree(&j, p, o);
    else
        write_calls(&j, p);
    if (p->nhandlers)
        write_handlers(&j, p);
    if (p->ntasks)
        write_threads(&j, p);
    if (p->nblocks)
        write_blocks(&j, p);
    report_json_places(&j, p);
    json_write_end(&j);
    out->write(out->ctx, "\n", 1);
}
