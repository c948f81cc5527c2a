#include "profiler/views/json_read.h"

#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "probe/base/choice.h"
#include "probe/base/hex.h"
#include "probe/base/util.h"
#include "profiler/views/json_reader.h"
#include "profiler/views/json_read_places.h"

static const char schema[] = "probeprof.profile/1";

/* ---- about the run ---- */

static void read_build_id(struct json_reader *r, const json_t *root)
{
    struct profile_info *i = &r->p->info;
    const char *text = text_or(reader_text(r, root, "build_id"), "");
    size_t digits = strspn(text, "0123456789abcdef");
    if (text[digits] || digits % 2 || digits / 2 > sizeof i->build_id) {
        reader_is_wrong(r, "build_id", "is no build id");
        return;
    }
    hex_decode(i->build_id, text, digits / 2);
    i->build_id_len = digits / 2;
}

static void read_started(struct json_reader *r, const json_t *root)
{
    struct tm tm = { 0 };
    const char *text = reader_text(r, root, "started");
    if (!text)
        return;
    const char *end = strptime(text, "%Y-%m-%dT%H:%M:%SZ", &tm);
    if (end && !*end)
        r->p->info.when = timegm(&tm);
    else
        reader_is_wrong(r, "started", "is no time of day");
}

static void read_counters(struct json_reader *r, const json_t *root)
{
    const json_t *list = reader_member(root, "counters");
    if (!json_is_array(list) || json_array_size(list) != 2)
        reader_is_wrong(r, "counters", "are not two");
    r->list = "counters";
    for (size_t i = 0; i < 2 && !*r->bad; i++) {
        const json_t *c = json_array_get(list, i);
        r->row = i;
        if (json_is_null(c))
            continue;
        r->p->info.counter[i] =
            (struct profile_counter){ .code = (uint16_t)reader_count(r, c, "code"),
                                      .name = reader_text(r, c, "name"),
                                      .unit = reader_text(r, c, "unit") };
    }
    r->list = NULL;
}

static void read_time(struct json_reader *r, const json_t *root)
{
    const json_t *t = reader_object(r, root, "time");
    r->p->info.time = (struct run_time){ .target_cycles = reader_count(r, t, "target_cycles"),
                                         .agent_cycles = reader_count(r, t, "agent_cycles"),
                                         .host_ns = reader_ns(r, t, "host_seconds"),
                                         .board_ns = reader_ns(r, t, "board_seconds"),
                                         .held_ns = reader_ns(r, t, "held_seconds") };
}

static void read_sampling(struct json_reader *r, const json_t *root)
{
    const json_t *s = reader_object(r, root, "sampling");
    r->p->info.sampling = (struct profile_sampling){ .rate_asked = reader_count(r, s, "rate_asked"),
                                                     .looks = reader_count(r, s, "looks"),
                                                     .asleep = reader_count(r, s, "asleep"),
                                                     .missed = reader_count(r, s, "missed"),
                                                     .running_ns = reader_ns(r, s, "seconds") };
}

static void read_estimate(struct json_reader *r, const json_t *root)
{
    const json_t *e = reader_object(r, root, "estimate");
    struct profile_estimate *to = &r->p->info.estimate;
    if (!e)
        return;
    to->is = true;
    to->measurements = reader_count(r, e, "measurements");
    to->factor = reader_real(r, e, "factor");
    if (reader_flag(r, e, "by_stamps"))
        to->sources |= EVENT_BY_STAMPS;
    if (reader_flag(r, e, "by_arrivals"))
        to->sources |= EVENT_BY_ARRIVALS;
}

static void read_remarks(struct json_reader *r, const json_t *root)
{
    const json_t *list;
    size_t n;
    struct profile_remark *row = reader_rows(r, root, "remarks", sizeof *row, &n, &list);
    for (size_t i = 0; i < n; i++) {
        const json_t *x = reader_row(r, list, i);
        row[i] = (struct profile_remark){ .kind = text_or(reader_text(r, x, "kind"), ""),
                                          .text = text_or(reader_text(r, x, "text"), ""),
                                          .count = reader_count(r, x, "count") };
    }
    r->p->info.remarks = row;
    r->p->info.nremarks = n;
    r->list = NULL;
}

static void read_unfinished(struct json_reader *r, const json_t *root)
{
    const json_t *u = reader_object(r, root, "crash");
    if (u)
        r->p->unfinished =
            (struct profile_unfinished){ .what = reader_text(r, u, "exception"),
                                         .where = reader_text(r, u, "at"),
                                         .vector = (uint16_t)reader_count(r, u, "vector"),
                                         .c1 = reader_count(r, u, "c1_since"),
                                         .reset = reader_flag(r, u, "reset") };
}

/* ---- what was not seen ---- */

static unsigned word_of(struct json_reader *r, const json_t *object, const char *key, unsigned n,
                        const char *(*name)(unsigned))
{
    const char *text = text_or(reader_text(r, object, key), "");
    for (unsigned i = 0; i < n; i++)
        if (!strcmp(text, name(i)))
            return i;
    reader_is_wrong(r, key, "is not known");
    return 0;
}

static const char *kind_name(unsigned i) { return coverage_kind_name((enum coverage_kind)i); }
static const char *cause_name(unsigned i) { return coverage_cause_name((enum coverage_cause)i); }

static struct profile_coverage read_place(struct json_reader *r, const json_t *x)
{
    return (struct profile_coverage){
        .at = { .address = reader_count(r, x, "address"),
                .kind = (uint8_t)word_of(r, x, "kind", COVERAGE_NPLACES, kind_name),
                .cause = (uint8_t)word_of(r, x, "cause", COVERAGE_NCAUSES, cause_name),
                .amount = reader_count(r, x, "bytes") },
        .name = reader_text(r, x, "function"),
        .by = reader_text(r, x, "by"),
    };
}

/* The document has sums of what was lost, not the causes of each. */
static void add_losses(struct json_reader *r, const json_t *c)
{
    const struct coverage_row lost = { .kind = COVERAGE_LOST,
                                       .amount = reader_count(r, c, "lost"),
                                       .c1 = reader_count(r, c, "lost_c1"),
                                       .bound = reader_flag(r, c, "lost_is_bound") },
                              gaps = { .kind = COVERAGE_AWAY,
                                       .cause = EVENT_CAUSE_LINK,
                                       .amount = reader_count(r, c, "gaps") },
                              resets = { .kind = COVERAGE_AWAY,
                                         .cause = EVENT_CAUSE_RESET,
                                         .amount = reader_count(r, c, "resets") },
                              blind = { .kind = COVERAGE_BLIND,
                                        .amount = reader_count(r, c, "blind_events"),
                                        .c1 = reader_count(r, c, "blind_c1") };
    const struct coverage_row *all[] = { &lost, &gaps, &resets, &blind };
    for (size_t i = 0; i < ARRAY_LEN(all); i++)
        if (all[i]->amount || all[i]->c1)
            r->no_memory |= profile_add_coverage(r->p, all[i], 1, NULL) < 0;
}

static void read_coverage(struct json_reader *r, const json_t *root)
{
    const json_t *c = reader_object(r, root, "coverage"), *list;
    struct profile *p = r->p;
    p->info.sums_only = !reader_member(c, "events");
    if (p->info.sums_only)
        return;
    p->info.events = reader_count(r, c, "events");
    p->info.doubtful = reader_count(r, c, "doubtful");
    p->info.unnamed = !reader_flag(r, c, "names");
    p->untraced_hits = reader_count(r, c, "untraced_hits");
    size_t n;
    p->coverage = reader_rows(r, c, "untraced", sizeof *p->coverage, &n, &list);
    for (size_t i = 0; i < n; i++)
        p->coverage[i] = read_place(r, reader_row(r, list, i));
    p->ncoverage = n;
    r->list = NULL;
    add_losses(r, c);
}

/* ---- functions and call paths ---- */

static uint8_t description_of(struct json_reader *r, const json_t *x)
{
    const char *text = text_or(reader_text(r, x, "description"), "");
    for (unsigned i = 0; i <= PROFILE_USER_BLOCK; i++)
        if (!strcmp(profile_description_name(i), text))
            return (uint8_t)i;
    if (strcmp(text, "thread") != 0) /* its function's own is not told */
        reader_is_wrong(r, "description", "is not known");
    return PROFILE_UNKNOWN;
}

static void read_function(struct json_reader *r, const json_t *x, struct profile_function *f)
{
    *f = (struct profile_function){
        .name = text_or(reader_text(r, x, "name"), ""),
        .linkage = text_or(reader_text(r, x, "linkage_name"), ""),
        .qualified = text_or(reader_text(r, x, "qualified_name"), ""),
        .file = reader_text(r, x, "file"),
        .overlay = reader_text(r, x, "overlay"),
        .line = (int)reader_index(r, x, "line", INT32_MAX),
        .low = reader_count(r, x, "low"),
        .high = reader_count(r, x, "high"),
        .cache_line = PROFILE_NOT_CACHED,
        .description = description_of(r, x),
        .hits = reader_count(r, x, "hits"),
        .hits_unknown = !reader_member(x, "hits"),
        .c1 = reader_count(r, x, "c1"),
        .c1_children = reader_count(r, x, "c1_children"),
        .c1_spread = reader_count(r, x, "c1_spread"),
        .c1_children_spread = reader_count(r, x, "c1_children_spread"),
        .c2 = reader_count(r, x, "c2"),
        .c2_children = reader_count(r, x, "c2_children"),
        .hits_half = reader_real(r, x, "hits_share_half"),
        .c1_half = reader_real(r, x, "c1_share_half"),
        .doubtful = reader_flag(r, x, "doubtful"),
        .tagged = reader_flag(r, x, "tagged"),
        .group = reader_flag(r, x, "group"),
        .steps = reader_count(r, x, "measurements"),
        .doubts = reader_count(r, x, "doubtful_measurements"),
    };
    if (reader_member(x, "cache_line"))
        f->cache_line = (uint16_t)reader_index(r, x, "cache_line", PROFILE_NOT_CACHED);
    if (f->high < f->low)
        reader_is_wrong(r, "high", "is below its low");
    if (!f->steps)
        f->doubts = 0;
}

static bool has_place(const struct profile_function *f) { return f->low || f->high; }

/* By address; what has none, as losses and groups of marks, stands behind the others. */
static bool in_order(const struct profile_function *before, const struct profile_function *f)
{
    if (!has_place(before) || !has_place(f))
        return !has_place(f);
    return before->low <= f->low;
}

static void read_functions(struct json_reader *r, const json_t *root)
{
    struct profile *p = r->p;
    const json_t *list;
    size_t n;
    p->functions = reader_rows(r, root, "functions", sizeof *p->functions, &n, &list);
    for (size_t i = 0; i < n; i++) {
        read_function(r, reader_row(r, list, i), &p->functions[i]);
        if (i && !in_order(&p->functions[i - 1], &p->functions[i]))
            reader_is_wrong(r, "low", "is out of order");
    }
    p->nfunctions = n;
    r->list = NULL;
    if (n && !reader_member(json_array_get(list, 0), "low"))
        p->info.unknown |= PROFILE_ADDRESSES;
    bool counted = p->type == PROFILE_TRACE; /* of samples they are not missing */
    if (n && counted && !reader_member(json_array_get(list, 0), "c1_children"))
        p->info.unknown |= PROFILE_CHILDREN;
}

static void read_nodes(struct json_reader *r, const json_t *root)
{
    struct profile *p = r->p;
    const json_t *list;
    size_t n;
    p->nodes = reader_rows(r, root, "tree", sizeof *p->nodes, &n, &list);
    for (size_t i = 0; i < n; i++) {
        const json_t *x = reader_row(r, list, i);
        struct profile_node *node = &p->nodes[i];
        *node = (struct profile_node){
            .parent = PROFILE_NO_PARENT,
            .function = reader_index(r, x, "function", p->nfunctions),
            .hits = reader_count(r, x, "hits"),
            .c1 = reader_count(r, x, "c1"),
            .c1_children = reader_count(r, x, "c1_children"),
            .c2 = reader_count(r, x, "c2"),
            .c2_children = reader_count(r, x, "c2_children"),
            .doubtful = reader_flag(r, x, "doubtful"),
        };
        if (reader_member(x, "parent")) /* parents come first */
            node->parent = reader_index(r, x, "parent", i);
        /* in pre-order: the parent is the last node, or one of those above it */
        uint32_t up = PROFILE_NO_PARENT;
        if (i)
            up = (uint32_t)i - 1;
        while (up != node->parent && up != PROFILE_NO_PARENT && !*r->bad)
            up = p->nodes[up].parent;
        if (up != node->parent)
            reader_is_wrong(r, "parent", "is not on the path before it");
    }
    p->nnodes = n;
    r->list = NULL;
}

static void read_calls(struct json_reader *r, const json_t *root)
{
    struct profile *p = r->p;
    const json_t *list;
    struct profile_call *c = reader_rows(r, root, "calls", sizeof *c, &p->ncalls, &list);
    for (size_t i = 0; i < p->ncalls; i++) {
        const json_t *x = reader_row(r, list, i), *from = reader_member(x, "caller");
        c[i].caller = PROFILE_NO_PARENT;
        if (from)
            c[i].caller = reader_index(r, x, "caller", p->nfunctions);
        c[i].callee = reader_index(r, x, "callee", p->nfunctions);
        c[i].hits = reader_count(r, x, "hits");
        c[i].c1_children = reader_count(r, x, "c1_children");
        c[i].c2_children = reader_count(r, x, "c2_children");
    }
    p->calls = c;
    if (list) {
        p->nnodes = 0;
        p->info.unknown |= PROFILE_PATHS;
    }
    r->list = NULL;
}

static void read_handlers(struct json_reader *r, const json_t *root)
{
    struct profile *p = r->p;
    const json_t *list;
    size_t n;
    p->handlers = reader_rows(r, root, "handlers", sizeof *p->handlers, &n, &list);
    for (size_t i = 0; i < n; i++) {
        const json_t *x = reader_row(r, list, i);
        const char *kind = reader_text(r, x, "kind");
        p->handlers[i] = (struct profile_handler){
            .function = reader_index(r, x, "function", p->nfunctions),
            .vector = (uint16_t)reader_count(r, x, "vector"),
            .exception = kind && !strcmp(kind, "exception"),
            .count = reader_count(r, x, "count"),
            .c1 = reader_count(r, x, "c1"),
            .longest = reader_count(r, x, "longest_c1"),
            .shortest = reader_count(r, x, "shortest_c1"),
        };
    }
    p->nhandlers = n;
    r->list = NULL;
}

static void read_threads(struct json_reader *r, const json_t *root)
{
    struct profile *p = r->p;
    const json_t *list;
    size_t n;
    p->tasks = reader_rows(r, root, "threads", sizeof *p->tasks, &n, &list);
    for (size_t i = 0; i < n; i++) {
        const json_t *x = reader_row(r, list, i);
        struct profile_task *k = &p->tasks[i];
        *k = (struct profile_task){
            .function = reader_index(r, x, "function", p->nfunctions),
            .number = -1,
            .name = reader_text(r, x, "name"),
            .low = reader_count(r, x, "stack_low"),
            .high = reader_count(r, x, "stack_high"),
            .c1 = reader_count(r, x, "c1"),
            .c2 = reader_count(r, x, "c2"),
        };
        if (reader_member(x, "number"))
            k->number = (int64_t)reader_count(r, x, "number");
        if (!*r->bad)
            p->functions[k->function].task = (uint32_t)i + 1;
    }
    p->ntasks = n;
    r->list = NULL;
}

static void read_blocks(struct json_reader *r, const json_t *root)
{
    struct profile *p = r->p;
    const json_t *list;
    p->blocks = reader_rows(r, root, "blocks", sizeof *p->blocks, &p->nblocks, &list);
    for (size_t i = 0; i < p->nblocks; i++) {
        const json_t *x = reader_row(r, list, i);
        p->blocks[i] = (struct block_count){ .low = reader_count(r, x, "low"),
                                             .high = reader_count(r, x, "high"),
                                             .count = reader_count(r, x, "count") };
    }
    p->branches = reader_rows(r, root, "branches", sizeof *p->branches, &p->nbranches, &list);
    for (size_t i = 0; i < p->nbranches; i++) {
        const json_t *x = reader_row(r, list, i);
        p->branches[i] = (struct branch_count){ .pc = reader_count(r, x, "pc"),
                                                .taken = reader_count(r, x, "taken"),
                                                .not_taken = reader_count(r, x, "not_taken") };
    }
    r->list = NULL;
}

/* ---- the document ---- */

static void read_type(struct json_reader *r, const json_t *root)
{
    const char *type = text_or(reader_text(r, root, "type"), "");
    r->p->type = PROFILE_TRACE;
    if (!strcmp(type, "statistical"))
        r->p->type = PROFILE_STATISTICAL;
    else if (strcmp(type, "trace") != 0)
        reader_is_wrong(r, "type", "is neither trace nor statistical");
}

static void read_info(struct json_reader *r, const json_t *root)
{
    struct profile_info *i = &r->p->info;
    read_type(r, root);
    i->target = reader_text(r, root, "target");
    i->probe = reader_text(r, root, "probe");
    i->elf = reader_text(r, root, "elf");
    i->note = reader_text(r, root, "note");
    i->marks = reader_text(r, reader_object(r, root, "header"), "marks");
    i->passes = reader_count(r, root, "passes");
    read_build_id(r, root);
    read_started(r, root);
    read_counters(r, root);
    read_time(r, root);
    read_sampling(r, root);
    read_estimate(r, root);
    read_remarks(r, root);
    read_unfinished(r, root);
    i->stretches = reader_count(r, reader_object(r, root, "losses"), "stretches");
    i->stretches_joined = reader_count(r, reader_object(r, root, "losses"), "joined");
    const json_t *totals = reader_object(r, root, "totals");
    if (totals && !reader_member(totals, "hits"))
        i->unknown |= PROFILE_HITS;
    r->p->total_hits = reader_count(r, totals, "hits");
    r->p->total_c1 = reader_count(r, totals, "c1");
    r->p->total_c2 = reader_count(r, totals, "c2");
}

static int read_document(const json_t *root, struct json_reader *r, struct err *err)
{
    const char *is = json_string_value(json_object_get(root, "schema"));
    if (!is || strcmp(is, schema) != 0)
        return err_set(err, ERR_FORMAT, "give what `probeprof report FILE --json` has written",
                       "its schema is %.60s, not %s", text_or(is, "missing"), schema);
    void (*const parts[])(struct json_reader *, const json_t *) = {
        read_info,     read_functions, read_coverage, read_nodes,  read_calls,
        read_handlers, read_threads,   read_blocks,   read_places,
    };
    for (size_t i = 0; i < ARRAY_LEN(parts) && !*r->bad && !r->no_memory; i++)
        parts[i](r, root);
    if (r->no_memory)
        return err_set(err, ERR_NOMEM, "close other programs", "out of memory");
    if (*r->bad)
        return err_set(err, ERR_FORMAT, "the document is damaged: write it again", "%s", r->bad);
    return 0;
}

bool json_is_profile(const uint8_t *head, size_t n)
{
    return n && memchr("{ \t\r\n", head[0], 5) &&
           memmem(head, n, schema, sizeof schema - 2); /* of any version */
}

int json_to_profile(const uint8_t *text, size_t len, struct profile **out, struct err *err)
{
    json_error_t why;
    json_t *root = json_loadb((const char *)text, len, JSON_REJECT_DUPLICATES, &why);
    if (!root)
        return err_set(err, ERR_FORMAT, "the document is cut off or damaged: write it again",
                       "line %d, byte %d: %s", why.line, why.position, why.text);
    struct json_reader r = { 0 };
    int ret = profile_new(&r.p, err);
    if (ret == 0)
        ret = read_document(root, &r, err);
    json_decref(root);
    if (ret < 0)
        profile_free(r.p);
    else
        *out = r.p;
    return ret;
}
