#include "targets/s12z/offline/explain.h"

#include <stdio.h>
#include <string.h>

#include "probe/base/util.h"
#include "probe/base/nearest.h"
#include "targets/s12z/isa/isa.h"

static void set_rule(struct s12z_settings *s, unsigned v) { s->edge_rule = (uint8_t)v; }
static void set_first(struct s12z_settings *s, unsigned v) { s->first_edge_is_clock = v == 0; }
static void set_pthf(struct s12z_settings *s, unsigned v) { s->pthf_bytes = (uint8_t)(6 - v); }
static void set_static(struct s12z_settings *s, unsigned v)
{
    s->static_operand_is_indirect = v == 1;
}
static void set_soft(struct s12z_settings *s, unsigned v)
{
    s->software_exceptions_traced = v == 0;
}
static void set_bits(struct s12z_settings *s, unsigned v) { s->bit_branches_traced = v == 0; }
static void set_loops(struct s12z_settings *s, unsigned v) { s->loop_branches_traced = v == 0; }
static void set_stamp(struct s12z_settings *s, unsigned v) { s->stamp_from_line = v == 0; }
static void set_order(struct s12z_settings *s, unsigned v) { s->low_byte_first = v == 0; }
static unsigned get_rule(const struct s12z_settings *s) { return s->edge_rule; }
static unsigned get_first(const struct s12z_settings *s) { return !s->first_edge_is_clock; }
static unsigned get_pthf(const struct s12z_settings *s) { return s->pthf_bytes == 5; }
static unsigned get_static(const struct s12z_settings *s) { return s->static_operand_is_indirect; }
static unsigned get_soft(const struct s12z_settings *s) { return !s->software_exceptions_traced; }
static unsigned get_bits(const struct s12z_settings *s) { return !s->bit_branches_traced; }
static unsigned get_loops(const struct s12z_settings *s) { return !s->loop_branches_traced; }
static unsigned get_stamp(const struct s12z_settings *s) { return !s->stamp_from_line; }
static unsigned get_order(const struct s12z_settings *s) { return !s->low_byte_first; }

/* clang-format off */
const struct s12z_setting *s12z_setting_list(void)
{
    static const struct s12z_setting all[] = {
        { "edges", { "both", "rising", "falling" }, "which PDOCLK edges carry a bit",
          set_rule, get_rule, true, true },
        { "first-edge", { "bit", "none" }, "what the first PDOCLK edge after an idle time samples",
          set_first, get_first, true, true },
        { "pthf", { "6", "5" }, "bytes of a PTHF line where the stream itself leaves it open",
          set_pthf, get_pthf, false, true },
        { "static-operand", { "static", "indirect" }, "JMP and JSR with a static general operand (AA, AB)",
          set_static, get_static, false, false },
        { "software-exceptions", { "traced", "silent" }, "SWI, SYS, TRAP and SPARE make a PTVB",
          set_soft, get_soft, false, false },
        { "bit-branches", { "traced", "silent" }, "BRSET and BRCLR make a bit",
          set_bits, get_bits, false, false },
        { "loop-branches", { "traced", "silent" }, "DBcc and TBcc make a bit",
          set_loops, get_loops, false, false },
        { "byte-order", { "low-first", "high-first" }, "of addresses and stamps",
          set_order, get_order, false, false },
        { "stamp-from", { "line", "flow" }, "what stamps count from",
          set_stamp, get_stamp, false, false },
        { NULL, { NULL }, NULL, NULL, NULL, false, false },
    };
    return all;
}
/* clang-format on */

static unsigned count_values(const struct s12z_setting *s)
{
    unsigned n = 0;
    while (n < 4 && s->values[n])
        n++;
    return n;
}

static int wrong_value(const struct s12z_setting *s, const char *value, struct err *err)
{
    char list[96] = "";
    for (unsigned k = 0; k < count_values(s); k++)
        snprintf(list + strlen(list), sizeof list - strlen(list), "%s%s", k ? ", " : "one of ",
                 s->values[k]);
    return err_set(err, ERR_USAGE, list, "setting %s: '%.40s' is no value of it", s->name, value);
}

int s12z_setting_parse(struct s12z_settings *out, const char *text, struct err *err)
{
    struct nearest near = { .wanted = text };
    char hint[NEAREST_TEXT];
    const char *eq = strchr(text, '=');
    for (const struct s12z_setting *s = s12z_setting_list(); s->name; s++) {
        nearest_offer(&near, s->name);
        if (!eq || strlen(s->name) != (size_t)(eq - text) ||
            strncmp(s->name, text, (size_t)(eq - text)) != 0)
            continue;
        for (unsigned k = 0; k < count_values(s); k++)
            if (!strcmp(eq + 1, s->values[k])) {
                s->set(out, k);
                return 0;
            }
        return wrong_value(s, eq + 1, err);
    }
    return err_set(err, ERR_USAGE,
                   nearest_text(&near, "NAME=VALUE, as in pthf=5", hint, sizeof hint),
                   "no setting '%.60s'", text);
}

/* ---- trying ---- */

/* Core cycles of the straight run between two places of it; -1: it is none. */
static int64_t cycles_of_run(const struct s12z_fitting *f, uint32_t from, uint32_t to)
{
    struct s12z_flow_piece piece[8];
    int n = s12z_flow_part(f->flow, from, to, piece, sizeof piece / sizeof *piece);
    if (n < 0)
        return -1;
    int64_t cycles = 0;
    for (int k = 0; k < n; k++)
        cycles += piece[k].core_cycles;
    return cycles;
}

/* Both origins' times to a stamp, in bus cycles: nearer to which one, as a ratio? Only where they
 * are far enough apart to forgive the cycle table, and the program did not wait. */
static void judge_stamp(struct s12z_fit *f, double measured, double since_line, double since_flow)
{
    enum { STACKING = S12Z_EXCEPTION_CYCLES / 2, WAITED = 8 };
    double a = since_line + STACKING, b = since_flow + STACKING;
    if (a < 3 * b || measured > WAITED * a)
        return;
    if (measured * measured > a * b)
        f->from_line++;
    else
        f->from_flow++;
}

/* A handler begins; what its PTVB says can be judged when the place is known, of interrupts only.
 */
static void enter_handler(struct s12z_fitting *f, uint32_t node, bool interrupt)
{
    const struct s12z_flow_totals *t = s12z_flow_totals(f->flow);
    unsigned k = f->nlevels++;
    if (k >= S12Z_FITTING_LEVELS)
        return;
    f->level[k].node = node;
    f->level[k].resumed = f->resumed;
    f->level[k].since_line = t->core_cycles - f->origin; /* what ran of this node comes on top */
    f->level[k].stamp = 0;
    if (f->line)
        f->level[k].stamp = f->line->stamp;
    f->level[k].usable =
        interrupt && f->line && f->line->format == S12Z_PTVB && f->waits == t->waits;
}

/* The RTI says where it was. */
static void went_on(struct s12z_fitting *f, uint32_t at)
{
    f->resumed = at;
    f->nlevels -= f->nlevels > 0;
    unsigned k = f->nlevels;
    if (k >= S12Z_FITTING_LEVELS || !f->level[k].usable)
        return;
    f->level[k].usable = false;
    int64_t whole = cycles_of_run(f, f->level[k].node, at);
    int64_t ran = 0;
    if (f->level[k].resumed != f->level[k].node)
        ran = cycles_of_run(f, f->level[k].node, f->level[k].resumed);
    int64_t since_line = (int64_t)f->level[k].since_line + whole;
    int64_t since_flow = whole;
    if (ran > 0 && ran <= whole)
        since_flow -= ran;
    if (whole >= 0)
        judge_stamp(&f->fit, f->level[k].stamp, (double)since_line / 2, (double)since_flow / 2);
}

void s12z_fit_event(void *ctx, const struct event *e)
{
    struct s12z_fitting *f = ctx;
    if (e->kind == EVENT_INTERRUPT || e->kind == EVENT_EXCEPTION)
        enter_handler(f, (uint32_t)e->pc, e->kind == EVENT_INTERRUPT);
    else if (e->kind == EVENT_RTE)
        went_on(f, (uint32_t)e->target);
    else if (e->kind == EVENT_START || e->kind == EVENT_STOP)
        f->nlevels = 0;
}

/* The next stamp may count from here. */
static void note_origin(struct s12z_fitting *f, const struct s12z_line *l)
{
    const struct s12z_flow_totals *t = s12z_flow_totals(f->flow);
    uint32_t pc = s12z_flow_pc(f->flow);
    int64_t ran = 0;
    if (f->resumed)
        ran = cycles_of_run(f, pc, f->resumed);
    f->origin = t->core_cycles;
    if (ran > 0)
        f->origin += (uint64_t)ran;
    else
        f->resumed = pc;
    /* where it was when the time overflowed is not known */
    f->waits = l->stamp_overflow ? UINT64_MAX : t->waits;
    f->line = NULL;
}

int s12z_fit_item(struct s12z_fitting *x, const struct s12z_item *i)
{
    struct s12z_fit *f = &x->fit;
    struct s12z_flow *flow = x->flow;
    f->bad += i->kind == S12Z_ITEM_BAD;
    if (i->kind == S12Z_ITEM_BAD) {
        s12z_flow_lost(flow);
        x->nlevels = 0;
        return 0;
    }
    x->line = &i->line;
    if (i->line.nbranches)
        x->resumed = 0;
    bool before = s12z_flow_synchronised(flow);
    uint64_t adrift = s12z_flow_totals(flow)->adrift;
    f->lines++;
    int ret = s12z_flow_line(flow, &i->line, NULL);
    bool ended =
        before && (i->line.end || i->line.overflow) && s12z_flow_totals(flow)->adrift == adrift;
    bool placed = ret == 0 && (ended || s12z_flow_synchronised(flow));
    f->misfits += ret == -ERR_FORMAT;
    f->walked += placed;
    f->unplaced += ret == 0 && !placed;
    f->astray = s12z_flow_totals(flow)->returns_astray;
    if (!placed)
        x->nlevels = 0;
    note_origin(x, &i->line);
    if (ret == -ERR_NOMEM)
        return ret;
    return 0;
}

bool s12z_fit_is_clean(const struct s12z_fit *f)
{
    return f->lines && f->walked && !f->bad && !f->misfits;
}

struct search {
    s12z_try *pass;
    void (*progress)(void *ctx, size_t made);
    void *ctx;
    bool edges, wire;
    struct s12z_settings given;
    struct s12z_explained *out;
};

static bool setting_applies(const struct search *s, const struct s12z_setting *t)
{
    /* lines fit whatever stamps count from */
    return (!t->edges_only || s->edges) && (!t->wire_only || s->wire) && t->set != set_stamp;
}

static unsigned count_differences(const struct s12z_settings *a, const struct s12z_settings *b)
{
    unsigned n = 0;
    for (const struct s12z_setting *t = s12z_setting_list(); t->name; t++)
        n += t->get(a) != t->get(b);
    return n;
}

static bool is_clean(const struct s12z_variant *v)
{
    return !v->failed && s12z_fit_is_clean(&v->fit);
}

/* How far from fitting: what could not be followed. */
static uint64_t distance_of(const struct s12z_variant *v)
{
    if (v->failed || !v->fit.lines)
        return UINT64_MAX;
    return v->fit.bad + v->fit.misfits + v->fit.unplaced;
}

/* One pass, unless it was made before or there is no room. */
static int try_one(struct search *s, const struct s12z_settings *with, struct err *err)
{
    struct err why = { .code = ERR_OK };
    struct s12z_explained *e = s->out;
    for (size_t k = 0; k < e->n; k++)
        if (!count_differences(&e->row[k].settings, with))
            return 0;
    if (e->n == S12Z_MAX_VARIANTS)
        return 0;
    struct s12z_variant *v = &e->row[e->n];
    *v = (struct s12z_variant){ .settings = *with, .nchanges = count_differences(with, &s->given) };
    if (s->progress)
        s->progress(s->ctx, e->n);
    int ret = s->pass(s->ctx, with, S12Z_EXPLAIN_LINES, &v->fit, &why);
    e->n++;
    v->failed = ret < 0;
    if (ret == -ERR_NOMEM || ret == -ERR_NOT_FOUND || ret == -ERR_IO)
        return err_set(err, (enum err_code) - ret, why.hint, "%s", why.what);
    return 0;
}

/* Each other value of each setting, all else as in a row; changed: those that are not as given,
 * too. */
static int try_around(struct search *s, size_t row, bool changed, struct err *err)
{
    const struct s12z_settings base = s->out->row[row].settings;
    int ret = 0;
    for (const struct s12z_setting *t = s12z_setting_list(); t->name && ret == 0; t++)
        for (unsigned k = 0; k < count_values(t) && ret == 0; k++) {
            struct s12z_settings other = base;
            t->set(&other, k);
            if (setting_applies(s, t) && (changed || t->get(&base) == t->get(&s->given)))
                ret = try_one(s, &other, err);
        }
    return ret;
}

static bool any_clean(const struct s12z_explained *e)
{
    for (size_t k = 0; k < e->n; k++)
        if (is_clean(&e->row[k]))
            return true;
    return false;
}

/* A variant that loses its way at each silent branch has little to contradict. */
static bool any_convincing(const struct s12z_explained *e)
{
    for (size_t k = 0; k < e->n; k++)
        if (is_clean(&e->row[k]) && 10 * e->row[k].fit.unplaced <= e->row[k].fit.lines)
            return true;
    return false;
}

/* The nearest row with so many changes that is farther than `than` in the order of distance, then
 * place; e->n: none. */
static size_t next_nearest(const struct s12z_explained *e, unsigned changes, const size_t *taken,
                           size_t ntaken)
{
    size_t best = e->n;
    for (size_t k = 0; k < e->n; k++) {
        bool again = e->row[k].nchanges != changes;
        for (size_t t = 0; t < ntaken; t++)
            again |= taken[t] == k;
        if (!again && (best == e->n || distance_of(&e->row[k]) < distance_of(&e->row[best])))
            best = k;
    }
    return best;
}

/* One more change on top of those with so many: of all, or of the nearest few. */
static int search_deeper(struct search *s, unsigned changes, size_t width, struct err *err)
{
    size_t taken[S12Z_MAX_VARIANTS], n = 0, k;
    int ret = 0;
    while (n < width && (k = next_nearest(s->out, changes, taken, n)) != s->out->n)
        taken[n++] = k;
    for (k = 0; k < n && ret == 0; k++)
        ret = try_around(s, taken[k], false, err);
    return ret;
}

/* The row with the fewest changes of those that follow most. */
static void judge_rows(struct s12z_explained *e)
{
    uint64_t most = 0;
    e->any_fits = any_clean(e);
    for (size_t k = 0; k < e->n; k++)
        if (is_clean(&e->row[k]) && e->row[k].fit.walked > most)
            most = e->row[k].fit.walked;
    e->best = 0;
    for (size_t k = 0; k < e->n; k++) {
        struct s12z_variant *v = &e->row[k], *b = &e->row[e->best];
        v->fits = is_clean(v) && v->fit.walked == most;
        bool better = distance_of(v) < distance_of(b);
        if (e->any_fits)
            better = v->fits && (!b->fits || v->nchanges < b->nchanges);
        if (better)
            e->best = k;
    }
}

/* The stream itself tells how long its PTHFs are: then the setting has no say. */
static bool is_settled(const struct s12z_explained *e, const struct s12z_setting *t)
{
    return t->set == set_stamp || (t->set == set_pthf && e->row[e->best].fit.pthf);
}

/* Enough stamps, and nearly all of one opinion. */
static void ask_stamps(struct s12z_explained *e)
{
    enum { ENOUGH = 5, MOST_PERCENT = 80 };
    const struct s12z_setting *list = s12z_setting_list();
    struct s12z_variant *b = &e->row[e->best];
    uint64_t line = b->fit.from_line, flow = b->fit.from_flow, n = line + flow,
             most = MAX(line, flow);
    bool agreed = e->any_fits && n >= ENOUGH && 100 * most >= MOST_PERCENT * n;
    for (size_t t = 0; list[t].name; t++)
        if (list[t].set == set_stamp)
            e->undecided[t] = e->any_fits && !agreed;
    if (agreed)
        set_stamp(&b->settings, flow > line);
    b->nchanges = count_differences(&b->settings, &e->given);
}

static void find_undecided(struct s12z_explained *e)
{
    const struct s12z_setting *list = s12z_setting_list();
    for (size_t t = 0; list[t].name; t++) {
        e->undecided[t] = false;
        for (size_t k = 0; e->any_fits && k < e->n && !is_settled(e, &list[t]); k++)
            e->undecided[t] |=
                e->row[k].fits &&
                count_differences(&e->row[k].settings, &e->row[e->best].settings) == 1 &&
                list[t].get(&e->row[k].settings) != list[t].get(&e->row[e->best].settings);
    }
}

int s12z_explained_other(const struct s12z_explained *e, size_t from)
{
    const struct s12z_setting *list = s12z_setting_list();
    for (size_t k = from; e->any_fits && k < e->n; k++) {
        bool other = false;
        for (size_t t = 0; list[t].name; t++)
            other |= !e->undecided[t] && !is_settled(e, &list[t]) &&
                     list[t].get(&e->row[k].settings) != list[t].get(&e->row[e->best].settings);
        if (other && e->row[k].fits)
            return (int)k;
    }
    return -1;
}

int s12z_explain(const struct s12z_settings *given, bool edges, bool wire, s12z_try *pass,
                 void (*progress)(void *ctx, size_t made), void *ctx, struct s12z_explained *out,
                 struct err *err)
{
    enum { BEAM = 4 };
    struct search s = { pass, progress, ctx, edges, wire, *given, out };
    out->n = 0;
    out->given = *given;
    int ret = try_one(&s, given, err);
    if (ret == 0)
        ret = try_around(&s, 0, false, err);
    unsigned kept = S12Z_MAX_VARIANTS; /* all of those with one change, then the best */
    for (unsigned changes = 1; changes < S12Z_MAX_CHANGES && ret == 0 && !any_convincing(out);
         changes++) {
        ret = search_deeper(&s, changes, kept, err);
        kept = BEAM;
    }
    judge_rows(out);
    if (ret == 0 && out->any_fits) {
        ret = try_around(&s, out->best, true, err);
        judge_rows(out);
    }
    find_undecided(out);
    ask_stamps(out);
    return ret;
}
