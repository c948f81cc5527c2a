/* Lines are read in one pass. A cost line belongs to the function of the last fn=, also behind fi=
 * and fe=, which say in which file inlined code stands. Of its positions nothing is kept but that
 * they are well-formed: the profile has no places within functions. */
#include <ctype.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "probe/base/array.h"
#include "probe/base/choice.h"
#include "probe/base/util.h"
#include "profiler/profile/assembly.h"
#include "profiler/profile/call_sums.h"
#include "profiler/views/import.h"
#include "profiler/views/import_callgrind_priv.h"

/* "???" stands for what is not known. */
static struct assembly_text known_text(struct assembly_text t)
{
    return callgrind_is(t, "???") ? (struct assembly_text){ NULL, 0 } : t;
}

/* What our own writer lets call all that has no caller. */
static bool is_program(const struct callgrind *g, struct assembly_text name)
{
    return g->ours && callgrind_is(name, "[program]");
}

static int take_function(struct callgrind *g, struct assembly_text name, struct assembly_text file,
                         struct assembly_text object, uint32_t *out)
{
    const struct assembly_function f = { .name = name,
                                         .file = known_text(file),
                                         .object = known_text(object) };
    *out = ASSEMBLY_ROOT;
    if (is_program(g, name))
        return 0;
    return assembly_function(g->a, &f, out, g->err);
}

static int take_fn(struct callgrind *g, struct span s)
{
    struct assembly_text name;
    int ret = callgrind_name(g, NAME_FUNCTION, s, &name);
    if (ret == 0)
        ret = take_function(g, name, g->file, g->object, &g->function);
    g->has_function = true;
    return ret;
}

/* Without a file or object of its own it has the caller's. */
static int take_cfn(struct callgrind *g, struct span s)
{
    struct assembly_text name;
    int ret = callgrind_name(g, NAME_FUNCTION, s, &name);
    struct assembly_text file = g->c_file.at ? g->c_file : g->file,
                         object = g->c_object.at ? g->c_object : g->object;
    if (ret == 0)
        ret = take_function(g, name, file, object, &g->callee);
    if (ret == 0 && g->callee == ASSEMBLY_ROOT)
        return callgrind_bad(g, s.at, "[program] is called");
    g->has_callee = true;
    g->c_file = g->c_object = (struct assembly_text){ NULL, 0 };
    return ret;
}

static int take_file(struct callgrind *g, struct span s)
{
    return callgrind_name(g, NAME_FILE, s, &g->file);
}

static int take_c_file(struct callgrind *g, struct span s)
{
    return callgrind_name(g, NAME_FILE, s, &g->c_file);
}

static int take_object(struct callgrind *g, struct span s)
{
    return callgrind_name(g, NAME_OBJECT, s, &g->object);
}

static int take_c_object(struct callgrind *g, struct span s)
{
    return callgrind_name(g, NAME_OBJECT, s, &g->c_object);
}

/* Where a jump leads is not kept, but it may give a name its number. */
static int take_jump_file(struct callgrind *g, struct span s)
{
    struct assembly_text text;
    return callgrind_name(g, NAME_FILE, s, &text);
}

static int take_jump_function(struct callgrind *g, struct span s)
{
    struct assembly_text text;
    return callgrind_name(g, NAME_FUNCTION, s, &text);
}

/* ---- the head ---- */

static int take_events(struct callgrind *g, struct span s)
{
    size_t n = 0;
    while (s.at < s.end) {
        struct assembly_text name = callgrind_text(callgrind_word(&s));
        if (n == CALLGRIND_EVENTS)
            return callgrind_bad(g, name.at, "more than 64 events");
        bool same =
            n < g->nevents && name.n == g->event[n].n && !memcmp(name.at, g->event[n].at, name.n);
        if (g->nevents && !same)
            return callgrind_bad(g, name.at, "other events than before");
        g->event[n++] = name;
    }
    if (n == 0 || (g->nevents && n != g->nevents))
        return callgrind_bad(g, s.at, n ? "other events than before" : "no events");
    g->nevents = n;
    return 0;
}

/* "A : long text", or a formula, which is not needed. */
static int take_event(struct callgrind *g, struct span s)
{
    struct assembly_text name = callgrind_text(callgrind_word(&s));
    if (!g->ours || !callgrind_skip_key(&s, ":"))
        return 0;
    if (callgrind_is(name, "C1"))
        g->shown[0] = callgrind_text(s);
    if (callgrind_is(name, "C2"))
        g->shown[1] = callgrind_text(s);
    return 0;
}

static int take_positions(struct callgrind *g, struct span s)
{
    for (g->npositions = 0; s.at < s.end; g->npositions++) {
        struct assembly_text word = callgrind_text(callgrind_word(&s));
        if (!callgrind_is(word, "instr") && !callgrind_is(word, "addr") &&
            !callgrind_is(word, "bb") && !callgrind_is(word, "line"))
            return callgrind_bad(g, word.at, "a kind of position that is not known");
        if (g->npositions == 4)
            return callgrind_bad(g, word.at, "more than four positions");
    }
    return 0;
}

static int take_version(struct callgrind *g, struct span s)
{
    uint64_t version;
    int ret = callgrind_number(g, callgrind_word(&s), &version);
    if (ret == 0 && version > 1)
        return callgrind_bad(g, s.at, "a version above 1");
    return ret;
}

static int take_creator(struct callgrind *g, struct span s)
{
    g->ours = callgrind_is(callgrind_text(s), "probeprof");
    if (g->ours)
        assembly_once(g->a);
    return 0;
}

/* "Doubtful: name, at most 3 % of it", of our own: how much of it is not kept. */
static int take_doubt(struct callgrind *g, struct span s)
{
    static const char behind[] = ", at most ";
    const char *found = NULL;
    for (const char *at = s.at; (size_t)(s.end - at) >= sizeof behind - 1; at++)
        if (!memcmp(at, behind, sizeof behind - 1))
            found = at;
    if (!found)
        return 0;
    if (!array_room(&g->doubt, g->ndoubts, &g->cap_doubts, sizeof *g->doubt))
        return callgrind_no_memory(g);
    g->doubt[g->ndoubts++] = (struct assembly_text){ s.at, (size_t)(found - s.at) };
    return 0;
}

static int take_desc(struct callgrind *g, struct span s)
{
    if (!g->ours)
        return 0;
    if (callgrind_skip_key(&s, "Coverage:"))
        g->coverage = callgrind_text(s);
    else if (callgrind_skip_key(&s, "Doubtful:"))
        return take_doubt(g, s);
    return 0;
}

/* A line of sums: of the first two events; more than there are events is refused. */
static int take_costs(const struct callgrind *g, struct span s, uint64_t out[2])
{
    size_t n = 0;
    uint64_t v;
    out[0] = out[1] = 0;
    for (; s.at < s.end; n++) {
        struct span word = callgrind_word(&s);
        if (n == g->nevents)
            return callgrind_bad(g, word.at, "more costs than events");
        int ret = callgrind_number(g, word, &v);
        if (ret < 0)
            return ret;
        if (n < 2)
            out[n] = v;
    }
    return 0;
}

/* One for each part of the file. */
static int take_summary(struct callgrind *g, struct span s)
{
    uint64_t part[2];
    int ret = take_costs(g, s, part);
    for (int k = 0; ret == 0 && k < 2; k++)
        g->summary[k] = part[k] > UINT64_MAX - g->summary[k] ? UINT64_MAX : g->summary[k] + part[k];
    g->has_summary = true;
    return ret;
}

/* Of one part: all self costs since the last. */
static int take_totals(struct callgrind *g, struct span s)
{
    int ret = take_costs(g, s, g->totals);
    if (ret < 0)
        return ret;
    g->has_totals = true;
    if (g->totals[0] != g->part[0] || g->totals[1] != g->part[1])
        return callgrind_bad(g, s.at, "the costs above do not add up to these totals");
    g->part[0] = g->part[1] = 0;
    return 0;
}

static int skip_line(struct callgrind *g, struct span s)
{
    (void)g, (void)s;
    return 0;
}

/* ---- the body ---- */

static int take_calls(struct callgrind *g, struct span s)
{
    int ret = callgrind_number(g, callgrind_word(&s), &g->calls);
    if (ret < 0)
        return ret;
    if (!g->has_callee || !g->has_function)
        return callgrind_bad(g, g->line, "calls without a cfn= or fn= before them");
    g->in_call = true;
    return 0;
}

static int take_jump(struct callgrind *g, struct span s)
{
    (void)s;
    g->in_jump = true;
    return 0;
}

/* "*", "+3", "-3", a number. */
static int take_place(const struct callgrind *g, struct span word)
{
    uint64_t v;
    if (word.end - word.at == 1 && *word.at == '*')
        return 0;
    word.at += word.at < word.end && (*word.at == '+' || *word.at == '-');
    return callgrind_number(g, word, &v);
}

static int add_self(struct callgrind *g, const uint64_t cost[2], const char *at)
{
    const uint64_t count[ASSEMBLY_NCOUNTS] = { 0, cost[0], cost[1] };
    if (!g->has_function)
        return callgrind_bad(g, at, "costs without an fn= before them");
    if (g->function == ASSEMBLY_ROOT && (cost[0] || cost[1]))
        return callgrind_bad(g, at, "[program] has costs");
    for (int k = 0; k < 2; k++) {
        g->part[k] += cost[k];
        g->sum[k] += cost[k];
    }
    if (g->function == ASSEMBLY_ROOT)
        return 0;
    if (assembly_self(g->a, g->function, count, NULL) < 0)
        return callgrind_bad(g, at, "all costs together have more than 64 bits");
    return 0;
}

static int add_call(struct callgrind *g, const uint64_t cost[2])
{
    const uint64_t count[ASSEMBLY_NCOUNTS] = { g->calls, cost[0], cost[1] };
    g->in_call = g->has_callee = false;
    g->any_call = true;
    g->counted |= g->calls > 0;
    return assembly_call(g->a, g->function, g->callee, count, g->err);
}

static int take_cost_line(struct callgrind *g, struct span s)
{
    uint64_t cost[2];
    int ret = g->nevents ? 0 : callgrind_bad(g, s.at, "costs before the events: line");
    for (size_t i = 0; ret == 0 && i < g->npositions; i++)
        ret = take_place(g, callgrind_word(&s));
    if (ret == 0)
        ret = take_costs(g, s, cost);
    if (ret < 0)
        return ret;
    if (g->in_jump) {
        g->in_jump = false;
        return 0;
    }
    if (g->in_call)
        return add_call(g, cost);
    return add_self(g, cost, g->line);
}

static const struct line_kind {
    const char *key;
    int (*take)(struct callgrind *g, struct span s);
} kinds[] = {
    { "version:", take_version },
    { "creator:", take_creator },
    { "positions:", take_positions },
    { "events:", take_events },
    { "event:", take_event },
    { "desc:", take_desc },
    { "summary:", take_summary },
    { "totals:", take_totals },
    { "pid:", skip_line },
    { "cmd:", skip_line },
    { "part:", skip_line },
    { "thread:", skip_line },
    { "ob=", take_object },
    { "fl=", take_file },
    { "fi=", take_file },
    { "fe=", take_file },
    { "fn=", take_fn },
    { "cob=", take_c_object },
    { "cfi=", take_c_file },
    { "cfl=", take_c_file },
    { "cfn=", take_cfn },
    { "calls=", take_calls },
    { "jump=", take_jump },
    { "jcnd=", take_jump },
    { "jfi=", take_jump_file },
    { "jfn=", take_jump_function },
};

static bool begins_costs(char c) { return isdigit((unsigned char)c) || strchr("+-*", c); }

static int take_line(struct callgrind *g, struct span s)
{
    callgrind_skip_key(&s, "");
    if (s.at == s.end || *s.at == '#')
        return 0;
    if (begins_costs(*s.at))
        return take_cost_line(g, s);
    if (g->in_call || g->in_jump)
        return callgrind_bad(g, s.at, "the costs of calls, or the place of a jump, are missing");
    for (size_t i = 0; i < ARRAY_LEN(kinds); i++)
        if (callgrind_skip_key(&s, kinds[i].key))
            return kinds[i].take(g, s);
    return callgrind_bad(g, s.at, "this line is not understood");
}

/* A file that ends too soon shows by its sums, or where it ends. */
static int check_end(struct callgrind *g)
{
    g->line = g->end;
    if (g->in_call || g->in_jump)
        return callgrind_bad(g, g->end, "the file ends before the costs of calls");
    if (!g->nevents)
        return callgrind_bad(g, g->end, "the file ends before the events: line");
    if (!g->has_function)
        return callgrind_bad(g, g->end, "the file ends before its first function");
    if (g->has_totals && (g->part[0] || g->part[1]))
        return callgrind_bad(g, g->end, "the file ends before the totals of its last part");
    if (g->has_summary && !g->has_totals &&
        (g->sum[0] < g->summary[0] || g->sum[1] < g->summary[1]))
        return callgrind_bad(g, g->end, "the file ends before its costs add up to the summary");
    return 0;
}

static int take_lines(struct callgrind *g)
{
    int ret = 0;
    const char *zero = g->data == g->end ? NULL : memchr(g->data, 0, (size_t)(g->end - g->data));
    if (zero)
        return callgrind_bad(g, zero, "a byte that is 0: it is no text");
    for (g->line = g->data; ret == 0 && g->line < g->end; g->number++) {
        const char *stop = memchr(g->line, '\n', (size_t)(g->end - g->line));
        const char *next = stop ? stop + 1 : g->end;
        struct span s = { g->line, stop ? stop : g->end };
        if (s.end > s.at && s.end[-1] == '\r')
            s.end--;
        ret = take_line(g, s);
        g->line = next;
    }
    if (ret < 0)
        return ret;
    return check_end(g);
}

/* ---- the profile ---- */

static int by_text(const void *x, const void *y)
{
    const struct assembly_text *a = x, *b = y;
    int order = memcmp(a->at, b->at, MIN(a->n, b->n));
    return EITHER(order, COMPARE(a->n, b->n));
}

static void mark_doubts(const struct callgrind *g, struct profile *p)
{
    if (g->ndoubts)
        qsort(g->doubt, g->ndoubts, sizeof *g->doubt, by_text);
    for (size_t i = 0; g->ndoubts && i < p->nfunctions; i++) {
        const struct assembly_text name = { p->functions[i].name, strlen(p->functions[i].name) };
        p->functions[i].doubtful |=
            bsearch(&name, g->doubt, g->ndoubts, sizeof name, by_text) != NULL;
    }
}

/* Our own long name is "elapsed-time (cycles)". */
static bool name_counter(const struct callgrind *g, struct profile *p, size_t i)
{
    struct profile_counter *c = &p->info.counter[i];
    struct assembly_text name = g->shown[i].n ? g->shown[i] : g->event[i], unit = { NULL, 0 };
    const char *open = memchr(name.at, '(', name.n);
    if (g->shown[i].n && open && open > name.at + 1 && name.at[name.n - 1] == ')') {
        unit = (struct assembly_text){ open + 1, (size_t)(name.at + name.n - open) - 2 };
        name.n = (size_t)(open - name.at) - 1;
    }
    c->name = arena_strn(&p->arena, name.at, name.n);
    if (unit.n)
        c->unit = arena_strn(&p->arena, unit.at, unit.n);
    return c->name && (c->unit || !unit.n);
}

/* What a profile has no place for. */
static bool tell_losses(const struct callgrind *g, struct profile *p)
{
    bool ok = true;
    size_t circles = g->ours ? 0 : calls_circles(p);
    if (g->nevents > 2)
        ok = assembly_remark(
            p, "events-left-out", g->nevents - 2,
            arena_printf(&p->arena,
                         "%zu more events are not shown: a profile has two counters, "
                         "%.40s and %.40s here",
                         g->nevents - 2, p->info.counter[0].name, p->info.counter[1].name));
    if (ok && g->summary[0] > g->sum[0])
        ok = assembly_remark(p, "in-no-function", g->summary[0] - g->sum[0],
                             arena_printf(&p->arena,
                                          "the file's summary has %" PRIu64
                                          " %.40s more than its functions add up to",
                                          g->summary[0] - g->sum[0], p->info.counter[0].name));
    if (ok && circles)
        ok = assembly_remark(
            p, "circles", circles,
            arena_printf(&p->arena,
                         "%zu functions call one another in circles: what they took "
                         "with what they called is the least of it",
                         circles));
    return ok;
}

static bool fill_info(const struct callgrind *g, struct profile *p)
{
    bool ok = true;
    p->info.unknown |= PROFILE_PATHS | PROFILE_ADDRESSES;
    if (!g->counted)
        p->info.unknown |= PROFILE_HITS;
    for (size_t i = 0; ok && i < MIN(g->nevents, (size_t)2); i++)
        ok = name_counter(g, p, i);
    if (ok && g->coverage.n && !callgrind_is(g->coverage, "what was not seen is not known")) {
        p->info.note = arena_printf(&p->arena, "when it was written: %.*s",
                                    (int)MIN(g->coverage.n, (size_t)300), g->coverage.at);
        ok = p->info.note != NULL;
    }
    mark_doubts(g, p);
    return ok && tell_losses(g, p);
}

static int make_profile(struct callgrind *g, struct profile **out)
{
    struct profile *p;
    int ret = assembly_profile(g->a, &p, g->err);
    if (ret < 0)
        return ret;
    if (!fill_info(g, p)) {
        profile_free(p);
        return callgrind_no_memory(g);
    }
    *out = p;
    return 0;
}

int import_callgrind(const uint8_t *data, size_t len, struct profile **out, struct err *err)
{
    const char *text = "";
    if (len)
        text = (const char *)data; /* NULL has no end behind it */
    struct callgrind g = { .data = text,
                           .end = text + len,
                           .number = 1,
                           .npositions = 1,
                           .file = { "???", 3 },
                           .err = err };
    int ret = assembly_new(&g.a, err);
    if (ret == 0)
        ret = take_lines(&g);
    if (ret == 0)
        ret = make_profile(&g, out);
    assembly_free(g.a);
    for (size_t i = 0; i < NAME_KINDS; i++)
        free(g.names[i].row);
    free(g.doubt);
    return ret;
}

/* The first line, of version 1; before there was one, "version:" or "events:". */
bool import_callgrind_is(const uint8_t *head, size_t n)
{
    static const char *const begins[] = { "# callgrind format",
                                          "version:", "creator:", "events:", "positions:" };
    for (size_t i = 0; i < ARRAY_LEN(begins); i++)
        if (n >= strlen(begins[i]) && !memcmp(head, begins[i], strlen(begins[i])))
            return true;
    return false;
}
