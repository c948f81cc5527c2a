#include "profiler/views/report_json.h"

#include <stdio.h>
#include <time.h>

#include "probe/base/util.h"
#include "profiler/views/json_writer.h"
#include "profiler/profile/slowdown.h"

static void member_string(struct json_writer *j, const char *key, const char *value)
{
    json_write_key(j, key);
    json_write_string(j, value);
}

static void member_uint(struct json_writer *j, const char *key, uint64_t value)
{
    json_write_key(j, key);
    json_write_uint(j, value);
}

static void member_bool(struct json_writer *j, const char *key, bool value)
{
    json_write_key(j, key);
    json_write_bool(j, value);
}

/* "" counts as unknown. */
static void member_name(struct json_writer *j, const char *key, const char *value)
{
    member_string(j, key, value && *value ? value : NULL);
}

/* 0 counts as unknown. */
static void member_known(struct json_writer *j, const char *key, uint64_t value)
{
    json_write_key(j, key);
    if (value)
        json_write_uint(j, value);
    else
        json_write_null(j);
}

static void build_id(struct json_writer *j, const struct profile_info *i)
{
    char text[2 * sizeof i->build_id + 1] = "";
    for (size_t k = 0; k < i->build_id_len && k < sizeof i->build_id; k++)
        snprintf(text + 2 * k, 3, "%02x", i->build_id[k]);
    member_name(j, "build_id", text);
}

static void write_started(struct json_writer *j, int64_t when)
{
    char text[32] = "";
    struct tm tm;
    time_t t = (time_t)when;
    if (when && gmtime_r(&t, &tm))
        strftime(text, sizeof text, "%Y-%m-%dT%H:%M:%SZ", &tm);
    member_name(j, "started", text);
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
        member_uint(j, "code", i->counter[k].code);
        member_string(j, "name", i->counter[k].name);
        member_string(j, "unit", i->counter[k].unit);
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
        json_write_key(j, part[k].key);
        json_write_real(j, part[k].value);
    }
    json_write_end(j);
}

static void member_null(struct json_writer *j, const char *key)
{
    json_write_key(j, key);
    json_write_null(j);
}

/* Of a .prf: the members are there, and nothing is known. */
static void no_coverage(struct json_writer *j)
{
    static const char *const keys[] = { "events",  "lost",          "gaps",         "lost_is_bound",
                                        "lost_c1", "doubtful",      "blind_events", "blind_c1",
                                        "names",   "untraced_hits", "untraced" };
    for (size_t i = 0; i < ARRAY_LEN(keys); i++)
        member_null(j, keys[i]);
}

/* Places that gave no events, and the hits of the functions that hold them. */
static void write_untraced(struct json_writer *j, const struct profile *p)
{
    json_write_key(j, "untraced_hits");
    json_write_uint(j, p->untraced_hits);
    json_write_key(j, "untraced");
    json_write_array(j, false);
    size_t n;
    const struct profile_coverage *row = profile_coverage(p, &n);
    for (size_t i = 0; i < n && row[i].at.kind < COVERAGE_NPLACES; i++) {
        const struct profile_coverage *x = &row[i];
        json_write_object(j, true);
        member_uint(j, "address", x->at.address);
        member_string(j, "kind", coverage_kind_name((enum coverage_kind)x->at.kind));
        member_string(j, "cause", coverage_cause_name((enum coverage_cause)x->at.cause));
        member_name(j, "function", x->name);
        member_name(j, "by", x->by);
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
    member_uint(j, "vector", u->vector);
    member_string(j, "exception", u->what);
    member_string(j, "at", u->where);
    member_uint(j, "c1_since", u->c1);
    member_bool(j, "reset", u->reset);
    json_write_end(j);
}

static void write_remarks(struct json_writer *j, const struct profile_info *i)
{
    json_write_key(j, "remarks");
    json_write_array(j, true);
    for (size_t k = 0; k < i->nremarks; k++) {
        json_write_object(j, true);
        member_string(j, "kind", i->remarks[k].kind);
        member_uint(j, "count", i->remarks[k].count);
        member_string(j, "text", i->remarks[k].text);
        json_write_end(j);
    }
    json_write_end(j);
}

static void write_coverage(struct json_writer *j, const struct profile *p)
{
    const struct profile_info *i = &p->info;
    const struct coverage_row lost = profile_coverage_sum(p, COVERAGE_LOST),
                              blind = profile_coverage_sum(p, COVERAGE_BLIND);
    member_uint(j, "events", i->events);
    member_uint(j, "lost", lost.amount);
    member_uint(j, "gaps", profile_coverage_sum(p, COVERAGE_AWAY).amount);
    member_bool(j, "lost_is_bound", lost.bound);
    member_uint(j, "lost_c1", lost.c1);
    member_uint(j, "doubtful", i->doubtful);
    member_uint(j, "blind_events", blind.amount);
    member_uint(j, "blind_c1", blind.c1);
    member_bool(j, "names", !i->unnamed);
    write_untraced(j, p);
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
    write_seconds(j, "held_seconds", i->time.board_ns ? i->time.held_ns : 0);
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
        member_null(j, "passes");
    else
        member_uint(j, "passes", i->passes);
    json_write_key(j, "totals");
    json_write_object(j, true);
    member_uint(j, "hits", p->total_hits);
    member_uint(j, "c1", p->total_c1);
    member_uint(j, "c2", p->total_c2);
    json_write_end(j);
    member_name(j, "note", i->note);
    write_remarks(j, i);
}

static void write_handlers(struct json_writer *j, const struct profile *p)
{
    json_write_key(j, "handlers");
    json_write_array(j, false);
    for (size_t i = 0; i < p->nhandlers; i++) {
        const struct profile_handler *h = &p->handlers[i];
        json_write_object(j, true);
        member_uint(j, "function", h->function);
        member_string(j, "kind", h->exception ? "exception" : "interrupt");
        member_uint(j, "vector", h->vector);
        member_uint(j, "count", h->count);
        member_uint(j, "c1", h->c1);
        member_known(j, "longest_c1", h->longest);
        member_known(j, "shortest_c1", h->longest ? h->shortest : 0);
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
        json_write_key(j, "number");
        if (k->number >= 0)
            json_write_uint(j, (uint64_t)k->number);
        else
            json_write_null(j);
        member_name(j, "name", k->name);
        member_uint(j, "function", k->function);
        member_uint(j, "stack_low", k->low);
        member_uint(j, "stack_high", k->high);
        member_uint(j, "c1", k->c1);
        member_uint(j, "c2", k->c2);
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
        member_uint(j, "low", p->blocks[i].low);
        member_uint(j, "high", p->blocks[i].high);
        json_write_key(j, "function");
        if (f < p->nfunctions)
            json_write_uint(j, f);
        else
            json_write_null(j);
        member_uint(j, "count", p->blocks[i].count);
        json_write_end(j);
    }
    json_write_end(j);
    json_write_key(j, "branches");
    json_write_array(j, false);
    for (size_t i = 0; i < p->nbranches; i++) {
        json_write_object(j, true);
        member_uint(j, "pc", p->branches[i].pc);
        member_uint(j, "taken", p->branches[i].taken);
        member_uint(j, "not_taken", p->branches[i].not_taken);
        json_write_end(j);
    }
    json_write_end(j);
}

static void member_real(struct json_writer *j, const char *key, double value)
{
    json_write_key(j, key);
    json_write_real(j, value);
}

/* Of all samples, and between what the true share is with 95 % probability. */
static void write_share(struct json_writer *j, uint64_t hits, uint64_t total)
{
    double low, high;
    sampling_interval(hits, total, &low, &high);
    member_real(j, "share", total ? (double)hits / (double)total : 0);
    member_real(j, "share_low", low);
    member_real(j, "share_high", high);
}

static void write_sampling(struct json_writer *j, const struct profile_sampling *s)
{
    json_write_key(j, "sampling");
    json_write_object(j, true);
    member_uint(j, "rate_asked", s->rate_asked);
    member_real(j, "rate", sampling_rate(s));
    member_uint(j, "looks", s->looks);
    member_uint(j, "asleep", s->asleep);
    member_uint(j, "missed", s->missed);
    member_real(j, "seconds", (double)s->running_ns / 1e9);
    member_real(j, "confidence", 0.95);
    json_write_end(j);
}

static void write_spread(struct json_writer *j, const char *key, const struct profile *p,
                         uint64_t value)
{
    json_write_key(j, key);
    if (p->info.estimate.measurements)
        json_write_uint(j, value);
    else
        json_write_null(j);
}

/* What counter 1 rests on, where it is estimated; its unit's spreads hold with that confidence. */
static void write_estimate(struct json_writer *j, const struct profile_estimate *e)
{
    json_write_key(j, "estimate");
    json_write_object(j, true);
    member_string(j, "counter", "c1");
    member_uint(j, "measurements", e->measurements);
    member_bool(j, "by_stamps", e->sources & EVENT_BY_STAMPS);
    member_bool(j, "by_arrivals", e->sources & EVENT_BY_ARRIVALS);
    member_real(j, "factor", e->factor);
    member_real(j, "confidence", 0.95);
    json_write_end(j);
}

static void write_function(struct json_writer *j, const struct profile *p,
                           const struct profile_function *f)
{
    const char *thread = f->task ? "thread" : NULL;
    static const char *const descriptions[] = { "unknown",       "function",      "vector",
                                                "exception-100", "exception-400", "interrupt",
                                                "exception-dbr", "user-block" };
    json_write_object(j, true);
    member_string(j, "name", f->name);
    member_name(j, "linkage_name", f->linkage);
    member_name(j, "qualified_name", f->qualified);
    member_name(j, "file", f->file);
    member_known(j, "line", f->line > 0 ? (uint64_t)f->line : 0);
    member_uint(j, "low", f->low);
    member_uint(j, "high", f->high);
    json_write_key(j, "cache_line");
    if (f->cache_line == PROFILE_NOT_CACHED)
        json_write_null(j);
    else
        json_write_uint(j, f->cache_line);
    member_string(j, "description",
                  thread               ? thread
                  : f->description < 8 ? descriptions[f->description]
                                       : "unknown");
    member_uint(j, "hits", f->hits);
    member_uint(j, "c1", f->c1);
    member_uint(j, "c1_children", f->c1_children);
    if (p->info.estimate.is) {
        write_spread(j, "c1_spread", p, f->c1_spread);
        write_spread(j, "c1_children_spread", p, f->c1_children_spread);
    }
    member_uint(j, "c2", f->c2);
    member_uint(j, "c2_children", f->c2_children);
    member_bool(j, "doubtful", f->doubtful);
    if (p->type == PROFILE_STATISTICAL)
        write_share(j, f->hits, p->total_hits);
    json_write_key(j, "doubt_share");
    if (profile_doubt_share(f) < 0)
        json_write_null(j);
    else
        json_write_real(j, profile_doubt_share(f));
    json_write_end(j);
}

static void write_node(struct json_writer *j, const struct profile_node *n, size_t id)
{
    json_write_object(j, true);
    member_uint(j, "id", id);
    json_write_key(j, "parent");
    if (n->parent == PROFILE_NO_PARENT)
        json_write_null(j);
    else
        json_write_uint(j, n->parent);
    member_uint(j, "function", n->function);
    member_uint(j, "hits", n->hits);
    member_uint(j, "c1", n->c1);
    member_uint(j, "c1_children", n->c1_children);
    member_uint(j, "c2", n->c2);
    member_uint(j, "c2_children", n->c2_children);
    member_bool(j, "doubtful", n->doubtful);
    json_write_end(j);
}

void report_json(const struct profile *p, const struct text_sink *out)
{
    struct json_writer j = { .out = out };
    json_write_object(&j, false);
    member_string(&j, "schema", "probeprof.profile/1");
    member_string(&j, "type", p->type == PROFILE_STATISTICAL ? "statistical" : "trace");
    member_string(&j, "target", p->info.target);
    member_string(&j, "probe", p->info.probe);
    member_string(&j, "elf", p->info.elf);
    build_id(&j, &p->info);
    write_started(&j, p->info.when);
    write_counters(&j, &p->info);
    write_run(&j, p);
    if (p->info.sampling.rate_asked)
        write_sampling(&j, &p->info.sampling);
    if (p->info.estimate.is)
        write_estimate(&j, &p->info.estimate);
    json_write_key(&j, "functions");
    json_write_array(&j, false);
    for (size_t i = 0; i < p->nfunctions; i++)
        write_function(&j, p, &p->functions[i]);
    json_write_end(&j);
    json_write_key(&j, "tree");
    json_write_array(&j, false);
    for (size_t i = 0; i < p->nnodes; i++)
        write_node(&j, &p->nodes[i], i);
    json_write_end(&j);
    if (p->nhandlers)
        write_handlers(&j, p);
    if (p->ntasks)
        write_threads(&j, p);
    if (p->nblocks)
        write_blocks(&j, p);
    json_write_end(&j);
    out->write(out->ctx, "\n", 1);
}
