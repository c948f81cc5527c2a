#include "profiler/views/calls.h"

#include <ctype.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "probe/base/choice.h"
#include "probe/base/nearest.h"
#include "probe/base/util.h"
#include "profiler/views/report_priv.h"

/* ---- by name ---- */

static bool is_called(const struct profile_function *f, const char *text)
{
    return !strcmp(f->name, text) || (*f->qualified && !strcmp(f->qualified, text)) ||
           (*f->linkage && !strcmp(f->linkage, text));
}

static bool read_address(const char *text, uint64_t *out)
{
    char *end;
    if (strncmp(text, "0x", 2) || !isxdigit((unsigned char)text[2]))
        return false;
    errno = 0;
    *out = strtoull(text, &end, 16);
    return !*end && !errno;
}

static int refuse_unknown(const struct profile *p, const char *text, struct err *err)
{
    char hint[NEAREST_TEXT];
    struct nearest near = { .wanted = text };
    for (size_t i = 0; i < p->nfunctions; i++)
        nearest_offer(&near, profile_shown_name(&p->functions[i]));
    return err_set(
        err, ERR_USAGE,
        nearest_text(&near, "without --callers and --callees all are listed", hint, sizeof hint),
        "no function \"%.80s\" in this profile", text);
}

static int refuse_ambiguous(const struct profile *p, const char *text, struct err *err)
{
    char hint[256] = "name one: ";
    size_t used = strlen(hint);
    for (size_t i = 0; i < p->nfunctions && used < sizeof hint - 1; i++)
        if (is_called(&p->functions[i], text)) {
            const struct profile_function *f = &p->functions[i];
            char address[24];
            snprintf(address, sizeof address, "0x%llx", (unsigned long long)f->low);
            const char *name = text_or(text_given(f->qualified), address);
            int n = snprintf(hint + used, sizeof hint - used, "%s  ", name);
            used = MIN(used + (size_t)n, sizeof hint - 1);
        }
    return err_set(err, ERR_USAGE, hint, "several functions are called \"%.80s\"", text);
}

int calls_find(const struct profile *p, const char *text, uint32_t *out, struct err *err)
{
    size_t found = 0;
    uint64_t at = 0;
    bool by_address = read_address(text, &at);
    for (size_t i = 0; i < p->nfunctions; i++) {
        const struct profile_function *f = &p->functions[i];
        bool covers = by_address && (at == f->low || (at > f->low && at < f->high));
        if (!covers && !is_called(f, text))
            continue;
        found++;
        *out = (uint32_t)i;
    }
    if (found > 1 && !by_address)
        return refuse_ambiguous(p, text, err);
    if (!found)
        return refuse_unknown(p, text, err);
    return 0;
}

/* ---- sums ---- */

struct sums {
    const struct profile *p;
    uint32_t function;
    /* per node: the function is above it; it is below a call of the function that is not the
     * outermost, where a chain of calls by itself is one call */
    bool *below, *again;
    uint32_t *place; /* per function, and one for CALLS_ITSELF: its row, or UINT32_MAX */
    struct calls *out;
};

static void add_to_row(struct sums *s, uint32_t of, const struct profile_node *n, bool outermost)
{
    uint32_t *place = &s->place[of == CALLS_ITSELF ? s->p->nfunctions : of];
    if (*place == UINT32_MAX) {
        *place = (uint32_t)s->out->n++;
        s->out->row[*place] = (struct calls_row){ .function = of, .within = true };
    }
    struct calls_row *r = &s->out->row[*place];
    r->hits += n->hits;
    r->c1 += n->c1;
    r->c2 += n->c2;
    r->doubtful |= n->doubtful;
    if (outermost) {
        r->c1_children += n->c1_children;
        r->c2_children += n->c2_children;
        r->within = false;
    }
}

/* Parents come before children in nodes. */
static void find_nesting(struct sums *s)
{
    const struct profile_node *nodes = s->p->nodes;
    for (size_t i = 0; i < s->p->nnodes; i++) {
        uint32_t up = nodes[i].parent;
        if (up == PROFILE_NO_PARENT)
            continue;
        bool under = nodes[up].function == s->function;
        s->below[i] = s->below[up] || under;
        s->again[i] = nodes[i].function == s->function && !under ? s->below[i] : s->again[up];
    }
}

static void add_caller(struct sums *s, size_t i)
{
    const struct profile_node *n = &s->p->nodes[i];
    bool begins = n->parent == PROFILE_NO_PARENT;
    if (n->function == s->function)
        add_to_row(s, begins ? CALLS_ITSELF : s->p->nodes[n->parent].function, n, !s->below[i]);
}

static void add_callee(struct sums *s, size_t i)
{
    const struct profile_node *n = &s->p->nodes[i];
    uint32_t up = n->parent;
    if (n->function == s->function) {
        struct profile_node itself = {
            .hits = n->hits, .c1 = n->c1, .c1_children = n->c1, .c2 = n->c2, .c2_children = n->c2
        };
        itself.doubtful = n->doubtful;
        add_to_row(s, CALLS_ITSELF, &itself, true);
    }
    if (up != PROFILE_NO_PARENT && s->p->nodes[up].function == s->function)
        add_to_row(s, n->function, n, n->function != s->function && !s->again[up]);
}

/* Of calls between functions: one row each. */
static void add_call(const struct profile_call *c, uint32_t of, struct calls *out)
{
    bool itself = c->caller == c->callee;
    out->row[out->n++] = (struct calls_row){
        .function = of,
        .hits = c->hits,
        .c1_children = number_if(!itself, c->c1_children),
        .c2_children = number_if(!itself, c->c2_children),
        .within = itself,
        .own_unknown = true,
    };
}

static int calls_of_graph(const struct profile *p, uint32_t function, enum calls_side side,
                          struct calls *out, struct err *err)
{
    const struct profile_function *f = &p->functions[function];
    *out = (struct calls){ .row = calloc(p->nfunctions + 1, sizeof *out->row) };
    if (!out->row)
        return err_set(err, ERR_NOMEM, "close other programs", "out of memory for callers");
    if (side == CALLS_CALLEES)
        out->row[out->n++] = (struct calls_row){ .function = CALLS_ITSELF,
                                                 .hits = f->hits,
                                                 .c1 = f->c1,
                                                 .c1_children = f->c1,
                                                 .c2 = f->c2,
                                                 .c2_children = f->c2,
                                                 .doubtful = f->doubtful,
                                                 .hits_unknown = f->hits_unknown };
    for (size_t i = 0; i < p->ncalls; i++) {
        const struct profile_call *c = &p->calls[i];
        uint32_t caller = c->caller == PROFILE_NO_PARENT ? CALLS_ITSELF : c->caller;
        if (side == CALLS_CALLERS && c->callee == function)
            add_call(c, caller, out);
        if (side == CALLS_CALLEES && c->caller == function)
            add_call(c, c->callee, out);
    }
    return 0;
}

int calls_of(const struct profile *p, uint32_t function, enum calls_side side, struct calls *out,
             struct err *err)
{
    if (!profile_knows(p, PROFILE_PATHS))
        return calls_of_graph(p, function, side, out, err);
    struct sums s = { .p = p, .function = function, .out = out };
    size_t nodes = p->nnodes + 1, rows = p->nfunctions + 1;
    *out = (struct calls){ .row = calloc(rows, sizeof *out->row) };
    s.below = calloc(nodes, sizeof *s.below);
    s.again = calloc(nodes, sizeof *s.again);
    s.place = malloc(rows * sizeof *s.place);
    bool made = out->row && s.below && s.again && s.place;
    if (made) {
        memset(s.place, 0xFF, rows * sizeof *s.place);
        find_nesting(&s);
        for (size_t i = 0; i < p->nnodes; i++)
            (side == CALLS_CALLERS ? add_caller : add_callee)(&s, i);
    } else {
        free(out->row);
        *out = (struct calls){ 0 };
    }
    free(s.below);
    free(s.again);
    free(s.place);
    if (!made)
        return err_set(err, ERR_NOMEM, "close other programs", "out of memory for callers");
    return 0;
}
