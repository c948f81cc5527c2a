#include "profiler/profile/merge.h"

#include <stdlib.h>
#include <string.h>

#include "probe/base/choice.h"
#include "profiler/profile/naming.h"

/* ---- may they be added? ---- */

static int refuse_pair(const struct merge_input *a, const struct merge_input *b, const char *hint,
                       const char *why, struct err *err)
{
    return err_set(err, ERR_USAGE, hint, "%s and %s %s", a->name, b->name, why);
}

static bool tells_build(const struct merge_input *in)
{
    return in->profile->info.build_id_len || in->code_sum;
}

static bool same_build(const struct merge_input *a, const struct merge_input *b)
{
    const struct profile_info *x = &a->profile->info, *y = &b->profile->info;
    if (x->build_id_len && y->build_id_len)
        return x->build_id_len == y->build_id_len &&
               memcmp(x->build_id, y->build_id, x->build_id_len) == 0;
    return a->code_sum && a->code_sum == b->code_sum;
}

static bool same_text(const char *a, const char *b) { return a == b || (a && b && !strcmp(a, b)); }

static bool same_counters(const struct profile_info *a, const struct profile_info *b)
{
    for (int i = 0; i < 2; i++)
        if (a->counter[i].code != b->counter[i].code ||
            !same_text(a->counter[i].name, b->counter[i].name))
            return false;
    return true;
}

static int refuse_untold(const struct merge_input *in, struct err *err)
{
    return err_set(err, ERR_USAGE, "link with --build-id and record again",
                   "%s does not say of which build it is", in->name);
}

int merge_check_build(const struct merge_input *a, const struct merge_input *b, struct err *err)
{
    if (!tells_build(a) || !tells_build(b))
        return refuse_untold(tells_build(a) ? b : a, err);
    if (!same_build(a, b))
        return refuse_pair(a, b, "merge recordings of one build; `probeprof report` each alone",
                           "are of different builds: a function of one is not that of the other",
                           err);
    return 0;
}

static int check_pair(const struct merge_input *a, const struct merge_input *b, struct err *err)
{
    int ret = merge_check_build(a, b, err);
    if (ret < 0)
        return ret;
    if (a->profile->type != b->profile->type)
        return refuse_pair(a, b, "merge traces with traces, samples with samples",
                           "are a trace and samples: their hits are not the same thing", err);
    if (!same_counters(&a->profile->info, &b->profile->info))
        return refuse_pair(a, b, "record them with the same --c1 and --c2",
                           "have counted different things", err);
    return 0;
}

static int check_inputs(const struct merge_input *in, size_t n, struct err *err)
{
    int ret = 0;
    for (size_t i = 0; ret == 0 && i < n; i++) {
        if (n > 1 && !tells_build(&in[i]))
            return refuse_untold(&in[i], err);
        if (n > 1 && in[i].profile->ntasks)
            return err_set(err, ERR_USAGE, "show each alone",
                           "%s has tasks, and which of them is which in another run is not known",
                           in[i].name);
        ret = 0;
        if (i)
            ret = check_pair(&in[0], &in[i], err);
    }
    return ret;
}

/* ---- functions ---- */

/* A function of one input, and where it is in the result. */
struct merge_from {
    const struct profile_function *f;
    size_t input, index;
};

struct merging {
    const struct merge_input *in;
    size_t n;
    struct profile *p;
    struct merge_from *from; /* all functions of all inputs, in the order of the result */
    size_t nfrom;
    uint32_t **function; /* by input, by its function: index in the result */
    /* the tree under construction: in order of creation, each with its children as a list */
    struct profile_node *node;
    uint32_t *first, *last, *next;
    size_t nnodes;
    uint32_t **path; /* by input, by its node */
};

static bool has_place(const struct profile_function *f) { return f->low || f->high; }

static int compare_functions(const struct profile_function *a, const struct profile_function *b)
{
    if (has_place(a) != has_place(b))
        return has_place(a) ? -1 : 1;
    if (a->low != b->low)
        return a->low < b->low ? -1 : 1;
    int order = strcmp(a->name, b->name);
    return EITHER(order, strcmp(text_or(a->overlay, ""), text_or(b->overlay, "")));
}

static int by_function(const void *a, const void *b)
{
    const struct merge_from *x = a, *y = b;
    int order = compare_functions(x->f, y->f);
    if (order)
        return order;
    return (x->input > y->input) - (x->input < y->input);
}

static bool copy_names(struct arena *a, struct profile_function *to,
                       const struct profile_function *f)
{
    to->name = arena_str(a, f->name);
    to->linkage = arena_str(a, f->linkage);
    to->file = arena_str(a, f->file);
    to->qualified = arena_str(a, f->qualified);
    to->overlay = arena_str(a, f->overlay);
    return to->name && to->linkage && to->qualified && (to->file || !f->file) &&
           (to->overlay || !f->overlay);
}

static void add_function(struct profile_function *to, const struct profile_function *f)
{
    to->hits += f->hits;
    to->c1 += f->c1;
    to->c2 += f->c2;
    to->c1_children += f->c1_children;
    to->c2_children += f->c2_children;
    to->doubtful |= f->doubtful;
    to->tagged |= f->tagged;
    to->c1_spread += f->c1_spread;
    to->c1_children_spread += f->c1_children_spread;
    to->steps += f->steps;
    to->doubts += f->doubts;
    /* without a symbol it ends where the next known one begins */
    to->high = f->high < to->high ? f->high : to->high;
}

static bool add_from(struct merging *m, const struct merge_from *from)
{
    struct profile *p = m->p;
    size_t last = p->nfunctions - 1;
    if (p->nfunctions && compare_functions(&p->functions[last], from->f) == 0) {
        add_function(&p->functions[last], from->f);
    } else {
        last = p->nfunctions++;
        p->functions[last] = *from->f;
        if (!copy_names(&p->arena, &p->functions[last], from->f))
            return false;
    }
    m->function[from->input][from->index] = (uint32_t)last;
    return true;
}

static bool merge_functions(struct merging *m)
{
    size_t k = 0;
    for (size_t i = 0; i < m->n; i++)
        for (size_t j = 0; j < m->in[i].profile->nfunctions; j++)
            m->from[k++] = (struct merge_from){ &m->in[i].profile->functions[j], i, j };
    qsort(m->from, m->nfrom, sizeof *m->from, by_function);
    m->p->functions = arena_alloc(&m->p->arena, (m->nfrom + 1) * sizeof *m->p->functions);
    bool ok = m->p->functions != NULL;
    for (size_t i = 0; ok && i < m->nfrom; i++)
        ok = add_from(m, &m->from[i]);
    struct profile_function **f = calloc(m->p->nfunctions + 1, sizeof *f);
    for (size_t i = 0; f && i < m->p->nfunctions; i++)
        f[i] = &m->p->functions[i];
    ok = ok && f && naming_qualify(&m->p->arena, f, m->p->nfunctions);
    free(f);
    return ok;
}

/* ---- the tree ---- */

/* The node below `parent` (nnodes of all inputs: a root) for a function; made if there is none. */
static uint32_t path_below(struct merging *m, size_t parent, uint32_t function)
{
    for (uint32_t i = m->first[parent]; i != PROFILE_NO_PARENT; i = m->next[i])
        if (m->node[i].function == function)
            return i;
    uint32_t i = (uint32_t)m->nnodes++;
    m->node[i] = (struct profile_node){ .function = function };
    m->first[i] = m->last[i] = m->next[i] = PROFILE_NO_PARENT;
    if (m->first[parent] == PROFILE_NO_PARENT)
        m->first[parent] = i;
    else
        m->next[m->last[parent]] = i;
    m->last[parent] = i;
    return i;
}

static void add_node(struct profile_node *to, const struct profile_node *n)
{
    to->hits += n->hits;
    to->c1 += n->c1;
    to->c2 += n->c2;
    to->c1_children += n->c1_children;
    to->c2_children += n->c2_children;
    to->doubtful |= n->doubtful;
}

/* In pre-order, without recursion: paths may be thousands deep. */
static void write_tree(struct merging *m, size_t roots, uint32_t *stack)
{
    struct profile *p = m->p;
    uint32_t i = m->first[roots], depth = 0;
    while (i != PROFILE_NO_PARENT || depth) {
        if (i == PROFILE_NO_PARENT) {
            i = m->next[stack[--depth]];
            continue;
        }
        uint32_t above = PROFILE_NO_PARENT;
        if (depth)
            above = stack[depth - 1];
        p->nodes[p->nnodes] = m->node[i];
        p->nodes[p->nnodes].parent = PROFILE_NO_PARENT;
        if (depth)
            p->nodes[p->nnodes].parent = m->last[above];
        m->last[i] = (uint32_t)p->nnodes++; /* not needed as a list's end any more */
        stack[depth++] = i;
        i = m->first[i];
    }
}

static bool merge_tree(struct merging *m)
{
    size_t all = 0;
    for (size_t i = 0; i < m->n; i++)
        all += m->in[i].profile->nnodes;
    m->node = calloc(all + 1, sizeof *m->node);
    m->first = calloc(all + 1, sizeof *m->first);
    m->last = calloc(all + 1, sizeof *m->last);
    m->next = calloc(all + 1, sizeof *m->next);
    uint32_t *stack = calloc(all + 1, sizeof *stack);
    m->p->nodes = arena_alloc(&m->p->arena, (all + 1) * sizeof *m->p->nodes);
    bool ok = m->node && m->first && m->last && m->next && stack && m->p->nodes;
    if (ok)
        m->first[all] = PROFILE_NO_PARENT;
    for (size_t i = 0; ok && i < m->n; i++)
        for (size_t j = 0; j < m->in[i].profile->nnodes; j++) {
            const struct profile_node *n = &m->in[i].profile->nodes[j];
            size_t parent = n->parent == PROFILE_NO_PARENT ? all : m->path[i][n->parent];
            m->path[i][j] = path_below(m, parent, m->function[i][n->function]);
            add_node(&m->node[m->path[i][j]], n);
        }
    if (ok)
        write_tree(m, all, stack);
    free(stack);
    return ok;
}

/* ---- what else a profile has ---- */

static void add_handler(struct profile *p, const struct profile_handler *h, uint32_t function)
{
    for (size_t i = 0; i < p->nhandlers; i++) {
        struct profile_handler *to = &p->handlers[i];
        if (to->function != function || to->exception != h->exception)
            continue;
        bool seen = to->longest > 0, more = h->longest > 0;
        to->count += h->count;
        to->c1 += h->c1;
        to->longest = h->longest > to->longest ? h->longest : to->longest;
        if (more && (!seen || h->shortest < to->shortest))
            to->shortest = h->shortest;
        return;
    }
    p->handlers[p->nhandlers] = *h;
    p->handlers[p->nhandlers++].function = function;
}

static bool merge_handlers(struct merging *m)
{
    size_t all = 0;
    for (size_t i = 0; i < m->n; i++)
        all += m->in[i].profile->nhandlers;
    m->p->handlers = arena_alloc(&m->p->arena, (all + 1) * sizeof *m->p->handlers);
    for (size_t i = 0; m->p->handlers && i < m->n; i++)
        for (size_t j = 0; j < m->in[i].profile->nhandlers; j++) {
            const struct profile_handler *h = &m->in[i].profile->handlers[j];
            add_handler(m->p, h, m->function[i][h->function]);
        }
    return m->p->handlers != NULL;
}

static int merge_blocks(struct merging *m, struct err *err)
{
    struct blocks sum = { 0 };
    int ret = 0;
    for (size_t i = 0; i < m->n; i++) {
        const struct profile *p = m->in[i].profile;
        for (size_t j = 0; ret == 0 && j < p->nblocks; j++)
            ret = blocks_add(&sum, &(struct event){ .kind = EVENT_BLOCK,
                                                    .pc = p->blocks[j].low,
                                                    .target = p->blocks[j].high,
                                                    .runs = p->blocks[j].count });
        for (size_t j = 0; ret == 0 && j < p->nbranches; j++)
            ret = blocks_add(&sum, &(struct event){ .kind = EVENT_BRANCH,
                                                    .pc = p->branches[j].pc,
                                                    .taken = p->branches[j].taken,
                                                    .not_taken = p->branches[j].not_taken });
    }
    if (ret < 0)
        err_set(err, ERR_NOMEM, "close other programs", "merge: out of memory");
    if (ret == 0 && sum.used)
        ret = profile_take_blocks(m->p, &sum, err);
    blocks_fini(&sum);
    return ret;
}

static int by_address(const void *a, const void *b)
{
    const struct profile_address *x = a, *y = b;
    if (x->function != y->function)
        return x->function < y->function ? -1 : 1;
    return (x->address > y->address) - (x->address < y->address);
}

static bool merge_addresses(struct merging *m)
{
    size_t all = 0, k = 0;
    for (size_t i = 0; i < m->n; i++)
        all += m->in[i].profile->naddresses;
    struct profile_address *a = arena_alloc(&m->p->arena, (all + 1) * sizeof *a);
    for (size_t i = 0; a && i < m->n; i++)
        for (size_t j = 0; j < m->in[i].profile->naddresses; j++) {
            a[k] = m->in[i].profile->addresses[j];
            a[k].function = m->function[i][a[k].function];
            k++;
        }
    if (!a)
        return false;
    qsort(a, all, sizeof *a, by_address);
    m->p->addresses = a;
    for (size_t i = 0; i < all; i++) {
        struct profile_address *last = NULL;
        if (m->p->naddresses)
            last = &a[m->p->naddresses - 1];
        if (last && by_address(last, &a[i]) == 0)
            last->hits += a[i].hits;
        else
            a[m->p->naddresses++] = a[i];
    }
    return true;
}

/* A place once, losses of a kind and cause as one sum; in the order in which they come first. */
static bool same_row(const struct coverage_row *a, const struct coverage_row *b)
{
    return a->kind == b->kind && a->cause == b->cause && a->address == b->address;
}

static void add_row(struct profile *p, const struct profile_coverage *row)
{
    for (size_t i = 0; i < p->ncoverage; i++) {
        struct coverage_row *to = &p->coverage[i].at;
        if (!same_row(to, &row->at))
            continue;
        if (to->kind >= COVERAGE_NPLACES) {
            to->amount += row->at.amount;
            to->c1 += row->at.c1;
            to->bound |= row->at.bound;
        }
        return;
    }
    p->coverage[p->ncoverage++] = *row;
}

static int compare_rows(const void *a, const void *b)
{
    const struct coverage_row *x = &((const struct profile_coverage *)a)->at,
                              *y = &((const struct profile_coverage *)b)->at;
    bool loss = x->kind >= COVERAGE_NPLACES, other = y->kind >= COVERAGE_NPLACES;
    if (loss != other)
        return loss - other;
    if (loss && x->kind != y->kind)
        return x->kind - y->kind;
    if (x->cause != y->cause)
        return x->cause - y->cause;
    return (x->address > y->address) - (x->address < y->address);
}

static bool merge_coverage(struct merging *m)
{
    size_t all = 0;
    struct profile *p = m->p;
    for (size_t i = 0; i < m->n; i++)
        all += m->in[i].profile->ncoverage;
    p->coverage = arena_alloc(&p->arena, (all + 1) * sizeof *p->coverage);
    for (size_t i = 0; p->coverage && i < m->n; i++) {
        const struct profile *from = m->in[i].profile;
        for (size_t j = 0; j < from->ncoverage; j++)
            add_row(p, &from->coverage[j]);
        p->untraced_hits += from->untraced_hits;
    }
    if (!p->coverage)
        return false;
    qsort(p->coverage, p->ncoverage, sizeof *p->coverage, compare_rows);
    for (size_t i = 0; i < p->ncoverage; i++) {
        p->coverage[i].name = arena_str(&p->arena, p->coverage[i].name);
        p->coverage[i].by = arena_str(&p->arena, p->coverage[i].by);
    }
    return true;
}

/* ---- about the runs ---- */

static bool copy_info(struct profile *to, const struct profile_info *from)
{
    struct arena *a = &to->arena;
    struct profile_info *i = &to->info;
    *i = *from;
    i->target = arena_str(a, from->target);
    i->probe = arena_str(a, from->probe);
    i->elf = arena_str(a, from->elf);
    i->note = arena_str(a, from->note);
    i->marks = arena_str(a, from->marks);
    i->stretches = 0; /* one run's: what was seen of another weighs differently */
    for (int k = 0; k < 2; k++) {
        i->counter[k].name = arena_str(a, from->counter[k].name);
        i->counter[k].unit = arena_str(a, from->counter[k].unit);
    }
    i->remarks = NULL;
    i->nremarks = 0;
    return (i->target || !from->target) && (i->elf || !from->elf) && (i->note || !from->note);
}

/* Estimates: the factor over all is the corrected sum by the sum of what was estimated. */
static void add_estimate(struct profile_estimate *to, const struct profile_estimate *e, uint64_t c1,
                         uint64_t more)
{
    double was = 0;
    if (to->factor > 0)
        was = (double)c1 / to->factor;
    double is = 0;
    if (e->factor > 0)
        is = (double)more / e->factor;
    to->is |= e->is;
    to->measurements += e->measurements;
    to->sources |= e->sources;
    if (was + is > 0)
        to->factor = (double)(c1 + more) / (was + is);
}

static void add_info(struct profile *to, const struct profile *from)
{
    struct profile_info *i = &to->info;
    const struct profile_info *f = &from->info;
    run_time_add(&i->time, &f->time);
    add_estimate(&i->estimate, &f->estimate, to->total_c1, from->total_c1);
    i->events += f->events;
    i->doubtful += f->doubtful;
    i->passes += f->passes;
    i->nesting = f->nesting > i->nesting ? f->nesting : i->nesting;
    i->sampling.looks += f->sampling.looks;
    i->sampling.asleep += f->sampling.asleep;
    i->sampling.missed += f->sampling.missed;
    i->sampling.running_ns += f->sampling.running_ns;
}

static void add_totals(struct profile *to, const struct profile *from)
{
    to->total_hits += from->total_hits;
    to->total_c1 += from->total_c1;
    to->total_c2 += from->total_c2;
    to->addresses_dropped += from->addresses_dropped;
}

static bool merge_remarks(struct merging *m)
{
    size_t all = 1, k = 0;
    struct arena *a = &m->p->arena;
    for (size_t i = 0; i < m->n; i++)
        all += m->in[i].profile->info.nremarks;
    struct profile_remark *r = arena_alloc(a, all * sizeof *r);
    bool ok = r != NULL;
    for (size_t i = 0; ok && i < m->n; i++)
        for (size_t j = 0; ok && j < m->in[i].profile->info.nremarks; j++) {
            const struct profile_remark *from = &m->in[i].profile->info.remarks[j];
            r[k++] = (struct profile_remark){ arena_str(a, from->kind),
                                              m->n > 1 ? arena_printf(a, "%s: %s", m->in[i].name,
                                                                      from->text)
                                                       : arena_str(a, from->text),
                                              from->count };
            ok = r[k - 1].kind && r[k - 1].text;
        }
    m->p->info.remarks = r;
    m->p->info.nremarks = k;
    return ok;
}

static bool merge_info(struct merging *m)
{
    const struct profile *first = m->in[0].profile, *last = m->in[m->n - 1].profile;
    m->p->type = first->type;
    bool ok = copy_info(m->p, &first->info);
    add_totals(m->p, first);
    for (size_t i = 1; i < m->n; i++) {
        add_info(m->p, m->in[i].profile);
        add_totals(m->p, m->in[i].profile);
    }
    m->p->unfinished = last->unfinished;
    m->p->unfinished.where = arena_str(&m->p->arena, last->unfinished.where);
    return ok && merge_remarks(m);
}

static bool merge_begin(struct merging *m)
{
    m->function = calloc(m->n, sizeof *m->function);
    m->path = calloc(m->n, sizeof *m->path);
    bool ok = m->function && m->path;
    for (size_t i = 0; ok && i < m->n; i++) {
        const struct profile *p = m->in[i].profile;
        m->nfrom += p->nfunctions;
        m->function[i] = calloc(p->nfunctions + 1, sizeof **m->function);
        m->path[i] = calloc(p->nnodes + 1, sizeof **m->path);
        ok = m->function[i] && m->path[i];
    }
    m->from = ok ? calloc(m->nfrom + 1, sizeof *m->from) : NULL;
    return m->from != NULL;
}

static void merge_end(struct merging *m)
{
    for (size_t i = 0; i < m->n; i++) {
        if (m->function)
            free(m->function[i]);
        if (m->path)
            free(m->path[i]);
    }
    free(m->function);
    free(m->path);
    free(m->from);
    free(m->node);
    free(m->first);
    free(m->last);
    free(m->next);
}

int profile_merge(const struct merge_input *in, size_t n, struct profile **out, struct err *err)
{
    struct merging m = { .in = in, .n = n };
    int ret = check_inputs(in, n, err);
    if (ret == 0)
        ret = profile_new(&m.p, err);
    if (ret < 0)
        return ret;
    bool ok = merge_begin(&m) && merge_info(&m) && merge_functions(&m) && merge_tree(&m) &&
              merge_handlers(&m) && merge_addresses(&m) && merge_coverage(&m);
    if (!ok)
        ret = err_set(err, ERR_NOMEM, "close other programs", "merge: out of memory");
    if (ret == 0)
        ret = merge_blocks(&m, err);
    merge_end(&m);
    if (ret < 0)
        profile_free(m.p);
    else
        *out = m.p;
    return ret;
}
