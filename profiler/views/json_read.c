#include "profiler/views/json_read.h"

#include <jansson.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "probe/base/choice.h"
#include "probe/base/hex.h"
#include "probe/base/util.h"

static const char schema[] = "probeprof.profile/1";

/* The first thing that is wrong stays; what is read behind it has no meaning. */
struct reader {
    struct profile *p;
    const char *list; /* "functions"; NULL: the document itself */
    size_t row;       /* of it */
    char bad[120];    /* "": nothing yet */
    bool no_memory;
};

static void member_is_wrong(struct reader *r, const char *key, const char *what)
{
    if (*r->bad)
        return;
    if (r->list)
        snprintf(r->bad, sizeof r->bad, "%s[%zu].%s %s", r->list, r->row, key, what);
    else
        snprintf(r->bad, sizeof r->bad, "%s %s", key, what);
}

/* ---- members: null and missing ones are unknown, which is 0 in the model ---- */

static json_t *member_of(const json_t *object, const char *key)
{
    json_t *v = json_object_get(object, key);
    return json_is_null(v) ? NULL : v;
}

static uint64_t count_of(struct reader *r, const json_t *object, const char *key)
{
    const json_t *v = member_of(object, key);
    if (!v)
        return 0;
    if (!json_is_integer(v) || json_integer_value(v) < 0) {
        member_is_wrong(r, key, "is no count");
        return 0;
    }
    return (uint64_t)json_integer_value(v);
}

static uint32_t index_of(struct reader *r, const json_t *object, const char *key, size_t below)
{
    uint64_t v = count_of(r, object, key);
    if (v < below)
        return (uint32_t)v;
    member_is_wrong(r, key, "is beyond the end");
    return 0;
}

static double real_of(struct reader *r, const json_t *object, const char *key)
{
    const json_t *v = member_of(object, key);
    if (v && !json_is_number(v))
        member_is_wrong(r, key, "is no number");
    return json_number_value(v);
}

static uint64_t ns_of(struct reader *r, const json_t *object, const char *key)
{
    double ns = 1e9 * real_of(r, object, key);
    if (ns >= 0 && ns < 1e19)
        return (uint64_t)(ns + 0.5);
    member_is_wrong(r, key, "is no time");
    return 0;
}

static bool flag_of(struct reader *r, const json_t *object, const char *key)
{
    const json_t *v = member_of(object, key);
    if (v && !json_is_boolean(v))
        member_is_wrong(r, key, "is neither true nor false");
    return json_is_true(v);
}

/* A copy that lives as long as the profile; NULL: unknown. */
static const char *text_of(struct reader *r, const json_t *object, const char *key)
{
    const json_t *v = member_of(object, key);
    if (!v)
        return NULL;
    if (!json_is_string(v)) {
        member_is_wrong(r, key, "is no text");
        return NULL;
    }
    const char *copy = arena_str(&r->p->arena, json_string_value(v));
    r->no_memory |= !copy;
    return copy;
}

static const json_t *object_in(struct reader *r, const json_t *object, const char *key)
{
    const json_t *v = member_of(object, key);
    if (v && !json_is_object(v))
        member_is_wrong(r, key, "is no object");
    return v;
}

/* A list's rows of `size` bytes in the profile's arena, zeroed; *n of them. */
static void *rows_of(struct reader *r, const json_t *object, const char *key, size_t size,
                     size_t *n, const json_t **list)
{
    *list = member_of(object, key);
    if (*list && !json_is_array(*list))
        member_is_wrong(r, key, "is no list");
    *n = json_array_size(*list);
    void *rows = arena_alloc(&r->p->arena, (*n + 1) * size);
    r->no_memory |= !rows;
    if (!rows)
        *n = 0;
    r->list = key;
    return rows;
}

static const json_t *row_at(struct reader *r, const json_t *list, size_t i)
{
    r->row = i;
    const json_t *row = json_array_get(list, i);
    if (!json_is_object(row))
        member_is_wrong(r, "row", "is no object");
    return row;
}

/* ---- about the run ---- */

static void read_build_id(struct reader *r, const json_t *root)
{
    struct profile_info *i = &r->p->info;
    const char *text = text_or(text_of(r, root, "build_id"), "");
    size_t digits = strspn(text, "0123456789abcdef");
    if (text[digits] || digits % 2 || digits / 2 > sizeof i->build_id) {
        member_is_wrong(r, "build_id", "is no build id");
        return;
    }
    hex_decode(i->build_id, text, digits / 2);
    i->build_id_len = digits / 2;
}

static void read_started(struct reader *r, const json_t *root)
{
    struct tm tm = { 0 };
    const char *text = text_of(r, root, "started");
    if (!text)
        return;
    const char *end = strptime(text, "%Y-%m-%dT%H:%M:%SZ", &tm);
    if (end && !*end)
        r->p->info.when = timegm(&tm);
    else
        member_is_wrong(r, "started", "is no time of day");
}

static void read_counters(struct reader *r, const json_t *root)
{
    const json_t *list = member_of(root, "counters");
    if (!json_is_array(list) || json_array_size(list) != 2)
        member_is_wrong(r, "counters", "are not two");
    r->list = "counters";
    for (size_t i = 0; i < 2 && !*r->bad; i++) {
        const json_t *c = json_array_get(list, i);
        r->row = i;
        if (json_is_null(c))
            continue;
        r->p->info.counter[i] = (struct profile_counter){ .code = (uint16_t)count_of(r, c, "code"),
                                                          .name = text_of(r, c, "name"),
                                                          .unit = text_of(r, c, "unit") };
    }
    r->list = NULL;
}

static void read_time(struct reader *r, const json_t *root)
{
    const json_t *t = object_in(r, root, "time");
    r->p->info.time = (struct run_time){ .target_cycles = count_of(r, t, "target_cycles"),
                                         .agent_cycles = count_of(r, t, "agent_cycles"),
                                         .host_ns = ns_of(r, t, "host_seconds"),
                                         .board_ns = ns_of(r, t, "board_seconds"),
                                         .held_ns = ns_of(r, t, "held_seconds") };
}

static void read_sampling(struct reader *r, const json_t *root)
{
    const json_t *s = object_in(r, root, "sampling");
    r->p->info.sampling = (struct profile_sampling){ .rate_asked = count_of(r, s, "rate_asked"),
                                                     .looks = count_of(r, s, "looks"),
                                                     .asleep = count_of(r, s, "asleep"),
                                                     .missed = count_of(r, s, "missed"),
                                                     .running_ns = ns_of(r, s, "seconds") };
}

static void read_estimate(struct reader *r, const json_t *root)
{
    const json_t *e = object_in(r, root, "estimate");
    struct profile_estimate *to = &r->p->info.estimate;
    if (!e)
        return;
    to->is = true;
    to->measurements = count_of(r, e, "measurements");
    to->factor = real_of(r, e, "factor");
    if (flag_of(r, e, "by_stamps"))
        to->sources |= EVENT_BY_STAMPS;
    if (flag_of(r, e, "by_arrivals"))
        to->sources |= EVENT_BY_ARRIVALS;
}

static void read_remarks(struct reader *r, const json_t *root)
{
    const json_t *list;
    size_t n;
    struct profile_remark *row = rows_of(r, root, "remarks", sizeof *row, &n, &list);
    for (size_t i = 0; i < n; i++) {
        const json_t *x = row_at(r, list, i);
        row[i] = (struct profile_remark){ .kind = text_or(text_of(r, x, "kind"), ""),
                                          .text = text_or(text_of(r, x, "text"), ""),
                                          .count = count_of(r, x, "count") };
    }
    r->p->info.remarks = row;
    r->p->info.nremarks = n;
    r->list = NULL;
}

static void read_unfinished(struct reader *r, const json_t *root)
{
    const json_t *u = object_in(r, root, "crash");
    if (u)
        r->p->unfinished =
            (struct profile_unfinished){ .what = text_of(r, u, "exception"),
                                         .where = text_of(r, u, "at"),
                                         .vector = (uint16_t)count_of(r, u, "vector"),
                                         .c1 = count_of(r, u, "c1_since"),
                                         .reset = flag_of(r, u, "reset") };
}

/* ---- what was not seen ---- */

static unsigned word_of(struct reader *r, const json_t *object, const char *key, unsigned n,
                        const char *(*name)(unsigned))
{
    const char *text = text_or(text_of(r, object, key), "");
    for (unsigned i = 0; i < n; i++)
        if (!strcmp(text, name(i)))
            return i;
    member_is_wrong(r, key, "is not known");
    return 0;
}

static const char *kind_name(unsigned i) { return coverage_kind_name((enum coverage_kind)i); }
static const char *cause_name(unsigned i) { return coverage_cause_name((enum coverage_cause)i); }

static struct profile_coverage read_place(struct reader *r, const json_t *x)
{
    return (struct profile_coverage){
        .at = { .address = count_of(r, x, "address"),
                .kind = (uint8_t)word_of(r, x, "kind", COVERAGE_NPLACES, kind_name),
                .cause = (uint8_t)word_of(r, x, "cause", COVERAGE_NCAUSES, cause_name),
                .amount = count_of(r, x, "bytes") },
        .name = text_of(r, x, "function"),
        .by = text_of(r, x, "by"),
    };
}

/* The document has sums of what was lost, not the causes of each. */
static void add_losses(struct reader *r, const json_t *c)
{
    const struct coverage_row lost = { .kind = COVERAGE_LOST,
                                       .amount = count_of(r, c, "lost"),
                                       .c1 = count_of(r, c, "lost_c1"),
                                       .bound = flag_of(r, c, "lost_is_bound") },
                              gaps = { .kind = COVERAGE_AWAY,
                                       .cause = EVENT_CAUSE_LINK,
                                       .amount = count_of(r, c, "gaps") },
                              resets = { .kind = COVERAGE_AWAY,
                                         .cause = EVENT_CAUSE_RESET,
                                         .amount = count_of(r, c, "resets") },
                              blind = { .kind = COVERAGE_BLIND,
                                        .amount = count_of(r, c, "blind_events"),
                                        .c1 = count_of(r, c, "blind_c1") };
    const struct coverage_row *all[] = { &lost, &gaps, &resets, &blind };
    for (size_t i = 0; i < ARRAY_LEN(all); i++)
        if (all[i]->amount || all[i]->c1)
            r->no_memory |= profile_add_coverage(r->p, all[i], 1, NULL) < 0;
}

static void read_coverage(struct reader *r, const json_t *root)
{
    const json_t *c = object_in(r, root, "coverage"), *list;
    struct profile *p = r->p;
    p->info.sums_only = !member_of(c, "events");
    if (p->info.sums_only)
        return;
    p->info.events = count_of(r, c, "events");
    p->info.doubtful = count_of(r, c, "doubtful");
    p->info.unnamed = !flag_of(r, c, "names");
    p->untraced_hits = count_of(r, c, "untraced_hits");
    size_t n;
    p->coverage = rows_of(r, c, "untraced", sizeof *p->coverage, &n, &list);
    for (size_t i = 0; i < n; i++)
        p->coverage[i] = read_place(r, row_at(r, list, i));
    p->ncoverage = n;
    r->list = NULL;
    add_losses(r, c);
}

/* ---- functions and call paths ---- */

static uint8_t description_of(struct reader *r, const json_t *x)
{
    const char *text = text_or(text_of(r, x, "description"), "");
    for (unsigned i = 0; i <= PROFILE_USER_BLOCK; i++)
        if (!strcmp(profile_description_name(i), text))
            return (uint8_t)i;
    if (strcmp(text, "thread") != 0) /* its function's own is not told */
        member_is_wrong(r, "description", "is not known");
    return PROFILE_UNKNOWN;
}

static void read_function(struct reader *r, const json_t *x, struct profile_function *f)
{
    *f = (struct profile_function){
        .name = text_or(text_of(r, x, "name"), ""),
        .linkage = text_or(text_of(r, x, "linkage_name"), ""),
        .qualified = text_or(text_of(r, x, "qualified_name"), ""),
        .file = text_of(r, x, "file"),
        .line = (int)index_of(r, x, "line", INT32_MAX),
        .low = count_of(r, x, "low"),
        .high = count_of(r, x, "high"),
        .cache_line = PROFILE_NOT_CACHED,
        .description = description_of(r, x),
        .hits = count_of(r, x, "hits"),
        .hits_unknown = !member_of(x, "hits"),
        .c1 = count_of(r, x, "c1"),
        .c1_children = count_of(r, x, "c1_children"),
        .c1_spread = count_of(r, x, "c1_spread"),
        .c1_children_spread = count_of(r, x, "c1_children_spread"),
        .c2 = count_of(r, x, "c2"),
        .c2_children = count_of(r, x, "c2_children"),
        .hits_half = real_of(r, x, "hits_share_half"),
        .c1_half = real_of(r, x, "c1_share_half"),
        .doubtful = flag_of(r, x, "doubtful"),
        .tagged = flag_of(r, x, "tagged"),
        .steps = count_of(r, x, "measurements"),
        .doubts = count_of(r, x, "doubtful_measurements"),
    };
    if (member_of(x, "cache_line"))
        f->cache_line = (uint16_t)index_of(r, x, "cache_line", PROFILE_NOT_CACHED);
    if (f->high < f->low)
        member_is_wrong(r, "high", "is below its low");
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

static void read_functions(struct reader *r, const json_t *root)
{
    struct profile *p = r->p;
    const json_t *list;
    size_t n;
    p->functions = rows_of(r, root, "functions", sizeof *p->functions, &n, &list);
    for (size_t i = 0; i < n; i++) {
        read_function(r, row_at(r, list, i), &p->functions[i]);
        if (i && !in_order(&p->functions[i - 1], &p->functions[i]))
            member_is_wrong(r, "low", "is out of order");
    }
    p->nfunctions = n;
    r->list = NULL;
    if (n && !member_of(json_array_get(list, 0), "low"))
        p->info.unknown |= PROFILE_ADDRESSES;
    bool counted = p->type == PROFILE_TRACE; /* of samples they are not missing */
    if (n && counted && !member_of(json_array_get(list, 0), "c1_children"))
        p->info.unknown |= PROFILE_CHILDREN;
}

static void read_nodes(struct reader *r, const json_t *root)
{
    struct profile *p = r->p;
    const json_t *list;
    size_t n;
    p->nodes = rows_of(r, root, "tree", sizeof *p->nodes, &n, &list);
    for (size_t i = 0; i < n; i++) {
        const json_t *x = row_at(r, list, i);
        struct profile_node *node = &p->nodes[i];
        *node = (struct profile_node){
            .parent = PROFILE_NO_PARENT,
            .function = index_of(r, x, "function", p->nfunctions),
            .hits = count_of(r, x, "hits"),
            .c1 = count_of(r, x, "c1"),
            .c1_children = count_of(r, x, "c1_children"),
            .c2 = count_of(r, x, "c2"),
            .c2_children = count_of(r, x, "c2_children"),
            .doubtful = flag_of(r, x, "doubtful"),
        };
        if (member_of(x, "parent")) /* parents come first */
            node->parent = index_of(r, x, "parent", i);
        /* in pre-order: the parent is the last node, or one of those above it */
        uint32_t up = i ? (uint32_t)i - 1 : PROFILE_NO_PARENT;
        while (up != node->parent && up != PROFILE_NO_PARENT && !*r->bad)
            up = p->nodes[up].parent;
        if (up != node->parent)
            member_is_wrong(r, "parent", "is not on the path before it");
    }
    p->nnodes = n;
    r->list = NULL;
}

static void read_calls(struct reader *r, const json_t *root)
{
    struct profile *p = r->p;
    const json_t *list;
    struct profile_call *c = rows_of(r, root, "calls", sizeof *c, &p->ncalls, &list);
    for (size_t i = 0; i < p->ncalls; i++) {
        const json_t *x = row_at(r, list, i), *from = member_of(x, "caller");
        c[i].caller = from ? index_of(r, x, "caller", p->nfunctions) : PROFILE_NO_PARENT;
        c[i].callee = index_of(r, x, "callee", p->nfunctions);
        c[i].hits = count_of(r, x, "hits");
        c[i].c1_children = count_of(r, x, "c1_children");
        c[i].c2_children = count_of(r, x, "c2_children");
    }
    p->calls = c;
    if (list) {
        p->nnodes = 0;
        p->info.unknown |= PROFILE_PATHS;
    }
    r->list = NULL;
}

static void read_handlers(struct reader *r, const json_t *root)
{
    struct profile *p = r->p;
    const json_t *list;
    size_t n;
    p->handlers = rows_of(r, root, "handlers", sizeof *p->handlers, &n, &list);
    for (size_t i = 0; i < n; i++) {
        const json_t *x = row_at(r, list, i);
        const char *kind = text_of(r, x, "kind");
        p->handlers[i] = (struct profile_handler){
            .function = index_of(r, x, "function", p->nfunctions),
            .vector = (uint16_t)count_of(r, x, "vector"),
            .exception = kind && !strcmp(kind, "exception"),
            .count = count_of(r, x, "count"),
            .c1 = count_of(r, x, "c1"),
            .longest = count_of(r, x, "longest_c1"),
            .shortest = count_of(r, x, "shortest_c1"),
        };
    }
    p->nhandlers = n;
    r->list = NULL;
}

static void read_threads(struct reader *r, const json_t *root)
{
    struct profile *p = r->p;
    const json_t *list;
    size_t n;
    p->tasks = rows_of(r, root, "threads", sizeof *p->tasks, &n, &list);
    for (size_t i = 0; i < n; i++) {
        const json_t *x = row_at(r, list, i);
        struct profile_task *k = &p->tasks[i];
        *k = (struct profile_task){
            .function = index_of(r, x, "function", p->nfunctions),
            .number = -1,
            .name = text_of(r, x, "name"),
            .low = count_of(r, x, "stack_low"),
            .high = count_of(r, x, "stack_high"),
            .c1 = count_of(r, x, "c1"),
            .c2 = count_of(r, x, "c2"),
        };
        if (member_of(x, "number"))
            k->number = (int64_t)count_of(r, x, "number");
        if (!*r->bad)
            p->functions[k->function].task = (uint32_t)i + 1;
    }
    p->ntasks = n;
    r->list = NULL;
}

static void read_blocks(struct reader *r, const json_t *root)
{
    struct profile *p = r->p;
    const json_t *list;
    p->blocks = rows_of(r, root, "blocks", sizeof *p->blocks, &p->nblocks, &list);
    for (size_t i = 0; i < p->nblocks; i++) {
        const json_t *x = row_at(r, list, i);
        p->blocks[i] = (struct block_count){ .low = count_of(r, x, "low"),
                                             .high = count_of(r, x, "high"),
                                             .count = count_of(r, x, "count") };
    }
    p->branches = rows_of(r, root, "branches", sizeof *p->branches, &p->nbranches, &list);
    for (size_t i = 0; i < p->nbranches; i++) {
        const json_t *x = row_at(r, list, i);
        p->branches[i] = (struct branch_count){ .pc = count_of(r, x, "pc"),
                                                .taken = count_of(r, x, "taken"),
                                                .not_taken = count_of(r, x, "not_taken") };
    }
    r->list = NULL;
}

/* ---- the document ---- */

static void read_type(struct reader *r, const json_t *root)
{
    const char *type = text_or(text_of(r, root, "type"), "");
    r->p->type = PROFILE_TRACE;
    if (!strcmp(type, "statistical"))
        r->p->type = PROFILE_STATISTICAL;
    else if (strcmp(type, "trace") != 0)
        member_is_wrong(r, "type", "is neither trace nor statistical");
}

static void read_info(struct reader *r, const json_t *root)
{
    struct profile_info *i = &r->p->info;
    read_type(r, root);
    i->target = text_of(r, root, "target");
    i->probe = text_of(r, root, "probe");
    i->elf = text_of(r, root, "elf");
    i->note = text_of(r, root, "note");
    i->passes = count_of(r, root, "passes");
    read_build_id(r, root);
    read_started(r, root);
    read_counters(r, root);
    read_time(r, root);
    read_sampling(r, root);
    read_estimate(r, root);
    read_remarks(r, root);
    read_unfinished(r, root);
    i->stretches = count_of(r, object_in(r, root, "losses"), "stretches");
    const json_t *totals = object_in(r, root, "totals");
    if (totals && !member_of(totals, "hits"))
        i->unknown |= PROFILE_HITS;
    r->p->total_hits = count_of(r, totals, "hits");
    r->p->total_c1 = count_of(r, totals, "c1");
    r->p->total_c2 = count_of(r, totals, "c2");
}

static int read_document(const json_t *root, struct reader *r, struct err *err)
{
    const char *is = json_string_value(json_object_get(root, "schema"));
    if (!is || strcmp(is, schema) != 0)
        return err_set(err, ERR_FORMAT, "give what `probeprof report FILE --json` has written",
                       "its schema is %.60s, not %s", text_or(is, "missing"), schema);
    void (*const parts[])(struct reader *, const json_t *) = {
        read_info,  read_functions, read_coverage, read_nodes,
        read_calls, read_handlers,  read_threads,  read_blocks,
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
    struct reader r = { 0 };
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
