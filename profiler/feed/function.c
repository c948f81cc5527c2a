#include "profiler/feed/function.h"

#include <stdlib.h>
#include <string.h>

#include "probe/base/choice.h"
#include "probe/base/util.h"
#include "profiler/feed/frame.h"
#include "profiler/feed/source_text.h"

/* Another function on the way to this one, or from it. */
struct kin {
    bool is, doubtful;
    uint64_t hits, c1, c1_children, c2, c2_children;
};

/* Where a path is, seen from the function. */
enum where {
    OUTSIDE,
    OUTERMOST, /* the function, not below itself, or called by itself only */
    INSIDE     /* below it, be it the function again */
};

struct function {
    const struct feed *feed;
    uint32_t id;
    const struct feed_function *is;
    size_t nfunctions;
    const char *mark;        /* NULL: callers and callees are of all */
    struct feed_node *since; /* nodes of what came since the mark; NULL */
    struct kin *up, *down;   /* by function; behind them one for paths that begin here */
    struct listing listing;
    const char *file; /* of its source; NULL */
    int first, last;  /* its lines there */
    bool lines_cut;
    struct source_text source;
};

/* part: of enum profile_part, all of them */
static bool has_part(const struct function *x, unsigned part)
{
    return !(feed_unknown(x->feed) & part);
}

static void write_if(const struct function *x, struct frame *j, const char *key, unsigned part,
                     uint64_t value)
{
    if (has_part(x, part))
        frame_member_uint(j, key, value);
}

/* ---- callers and callees ---- */

/* with: adds the callees' time, too, which may count once on a path. */
static void add_node(struct kin *k, const struct feed_node *n, bool with)
{
    k->is = true;
    k->doubtful |= n->flags & FEED_DOUBTFUL;
    k->hits += n->hits;
    k->c1 += n->c1;
    k->c2 += n->c2;
    if (with)
        k->c1_children += n->c1_children;
    if (with)
        k->c2_children += n->c2_children;
}

static void add_path(struct function *x, const struct feed_node *n, const uint8_t *where, size_t i)
{
    bool root = n[i].parent == FEED_NO_PARENT;
    if (n[i].function == x->id)
        add_node(&x->up[root ? x->nfunctions : n[n[i].parent].function], &n[i], n[i].outermost);
    if (!root && n[n[i].parent].function == x->id)
        add_node(&x->down[n[i].function], &n[i],
                 n[i].function != x->id && where[n[i].parent] == OUTERMOST);
}

static bool find_kin(struct function *x)
{
    size_t n;
    const struct feed_node *node = feed_nodes(x->feed, &n);
    if (x->since)
        node = x->since;
    uint8_t *where = calloc(n + 1, 1);
    x->up = calloc(x->nfunctions + 1, sizeof *x->up);
    x->down = calloc(x->nfunctions + 1, sizeof *x->down);
    bool ok = where && x->up && x->down;
    for (size_t i = 0; ok && i < n; i++) { /* parents come first */
        uint8_t above = node[i].parent == FEED_NO_PARENT ? OUTSIDE : where[node[i].parent];
        where[i] = INSIDE;
        if (above == OUTSIDE)
            where[i] = OUTSIDE;
        if (above != INSIDE && node[i].function == x->id)
            where[i] = OUTERMOST;
        add_path(x, node, where, i);
    }
    free(where);
    return ok;
}

static void write_kin(const struct function *x, struct frame *j, const char *key,
                      const struct kin *kin)
{
    size_t n;
    const struct feed_function *fn = feed_functions(x->feed, &n);
    frame_key(j, key);
    if (feed_totals(x->feed)->samples || !has_part(x, PROFILE_PATHS)) {
        frame_raw(j, "null");
        return;
    }
    frame_open(j, '[');
    for (size_t i = 0; i <= x->nfunctions; i++) {
        const struct kin *k = &kin[i];
        if (!k->is || !(k->hits | k->c1 | k->c2 | k->c1_children | k->c2_children))
            continue;
        frame_open(j, '{');
        frame_key(j, "function");
        if (i < n)
            frame_uint(j, i);
        else
            frame_raw(j, "null");
        frame_member_string(j, "name", i < n ? fn[i].is.name : NULL);
        write_if(x, j, "hits", PROFILE_HITS, k->hits);
        write_if(x, j, "c1", PROFILE_C1, k->c1);
        write_if(x, j, "c1_children", PROFILE_C1, k->c1_children);
        write_if(x, j, "c2", PROFILE_C2, k->c2);
        write_if(x, j, "c2_children", PROFILE_C2, k->c2_children);
        frame_key(j, "doubtful");
        frame_raw(j, true_or_false(k->doubtful));
        frame_close(j, '}');
    }
    frame_close(j, ']');
}

/* ---- figures ---- */

static void write_name(struct frame *j, const char *key, const char *text)
{
    frame_member_string(j, key, text && *text ? text : NULL);
}

static void write_figures(const struct function *x, struct frame *j)
{
    const struct profile_function *is = &x->is->is;
    char id[FEED_POSITION_TEXT];
    frame_member_string(j, "schema", "probeprof.function/1");
    frame_member_string(j, "position",
                        feed_position_text(feed_epoch(x->feed), feed_seq(x->feed), id));
    frame_member_string(j, "type", feed_totals(x->feed)->samples ? "statistical" : "trace");
    frame_member_uint(j, "id", x->id);
    write_name(j, "name", is->name);
    write_name(j, "qualified", is->qualified);
    write_name(j, "linkage", is->linkage);
    write_name(j, "file", is->file);
    if (x->mark)
        frame_member_string(j, "since", x->mark);
    frame_key(j, "line");
    if (is->line > 0)
        frame_int(j, is->line);
    else
        frame_raw(j, "null");
    const struct {
        const char *key;
        uint64_t value;
        unsigned part; /* of enum profile_part: there if all are known */
    } figure[] = {
        { "low", is->low, PROFILE_ADDRESSES },
        { "high", is->high, PROFILE_ADDRESSES },
        { "hits", is->hits, PROFILE_HITS },
        { "c1", is->c1, PROFILE_C1 },
        { "c1_children", is->c1_children, PROFILE_C1 | PROFILE_CHILDREN },
        { "c2", is->c2, PROFILE_C2 },
        { "c2_children", is->c2_children, PROFILE_C2 | PROFILE_CHILDREN },
        { "steps", is->steps, 0 },
        { "doubts", is->doubts, 0 },
        { "c1_spread", is->c1_spread, PROFILE_C1 },
        { "c1_children_spread", is->c1_children_spread, PROFILE_C1 },
        { "flags", x->is->flags, 0 },
    };
    for (size_t i = 0; i < ARRAY_LEN(figure); i++)
        if (has_part(x, figure[i].part) && !(figure[i].part == PROFILE_HITS && is->hits_unknown))
            frame_member_uint(j, figure[i].key, figure[i].value);
}

/* ---- instructions ---- */

static void write_measured(struct frame *j, const struct listing_row *r)
{
    if (r->hits)
        frame_member_uint(j, "hits", r->hits);
    if (r->counted)
        frame_member_uint(j, "count", r->count);
    if (r->branched) {
        frame_member_uint(j, "taken", r->taken);
        frame_member_uint(j, "not_taken", r->not_taken);
    }
}

static bool is_file(const struct function *x, const struct listing_row *r)
{
    return x->file && r->file && strcmp(r->file, x->file) == 0;
}

static void write_instructions(const struct function *x, const struct program_code *c,
                               struct frame *j)
{
    char to[160];
    frame_key(j, "instructions");
    frame_open(j, '[');
    for (size_t i = 0; i < x->listing.n; i++) {
        const struct listing_row *r = &x->listing.row[i];
        frame_open(j, '{');
        frame_member_uint(j, "address", r->address);
        frame_member_string(j, "text", r->insn.text);
        if (r->insn.has_target)
            frame_member_string(j, "to",
                                symbols_describe(c->symbols, r->insn.target, to, sizeof to));
        if (r->line > 0 && r->file)
            frame_member_uint(j, "line", (uint64_t)r->line);
        if (r->line > 0 && r->file && !is_file(x, r))
            frame_member_string(j, "file", r->file); /* inlined from there */
        write_measured(j, r);
        frame_close(j, '}');
    }
    frame_close(j, ']');
    frame_key(j, "cut");
    frame_raw(j, true_or_false(x->listing.cut));
}

/* ---- source ---- */

/* The file is the definition's, or that of the first instruction that has one. */
static void find_lines(struct function *x)
{
    const struct listing *l = &x->listing;
    x->file = x->is->is.file;
    for (size_t i = 0; i < l->n && !x->file; i++)
        x->file = l->row[i].file;
    if (x->file && x->is->is.file && x->is->is.line > 0)
        x->first = x->last = x->is->is.line;
    for (size_t i = 0; i < l->n; i++)
        if (is_file(x, &l->row[i]) && l->row[i].line > 0) {
            x->first = x->first ? MIN(x->first, l->row[i].line) : l->row[i].line;
            x->last = MAX(x->last, l->row[i].line);
        }
    x->lines_cut = x->last - x->first >= FUNCTION_LINES;
    if (x->lines_cut)
        x->last = x->first + FUNCTION_LINES - 1;
}

static bool sum_lines(const struct function *x, struct listing_row **out)
{
    size_t n = 0;
    if (x->first)
        n = (size_t)(x->last - x->first + 1);
    struct listing_row *sum = calloc(n + 1, sizeof *sum);
    for (size_t i = 0; sum && i < x->listing.n; i++) {
        const struct listing_row *r = &x->listing.row[i];
        if (!is_file(x, r) || r->line < x->first || r->line > x->last)
            continue;
        struct listing_row *s = &sum[r->line - x->first];
        s->line = r->line;
        listing_row_add(s, r);
    }
    *out = sum;
    return sum != NULL;
}

/* Cut where a character ends. */
static void write_text(struct frame *j, const char *at, size_t len)
{
    char text[FUNCTION_LINE_TEXT + 1];
    size_t n = MIN(len, (size_t)FUNCTION_LINE_TEXT);
    while (n < len && n && ((unsigned char)at[n] & 0xC0) == 0x80)
        n--;
    memcpy(text, at, n);
    text[n] = '\0';
    frame_member_string(j, "text", text);
}

static void write_source(const struct function *x, const struct listing_row *sum, struct frame *j)
{
    struct source_at at = { 0 };
    size_t len;
    frame_key(j, "source");
    if (!x->file) {
        frame_raw(j, "null");
        return;
    }
    frame_open(j, '{');
    frame_member_string(j, "file", x->file);
    frame_member_string(j, "note", x->source.note);
    frame_key(j, "cut");
    frame_raw(j, true_or_false(x->lines_cut));
    frame_key(j, "lines");
    frame_open(j, '[');
    for (int line = x->first; x->first && line <= x->last; line++) {
        const struct listing_row *s = &sum[line - x->first];
        const char *text = source_text_line(&x->source, line, &at, &len);
        if (!text && !s->line)
            continue;
        frame_open(j, '{');
        frame_member_uint(j, "line", (uint64_t)line);
        if (text)
            write_text(j, text, len);
        frame_key(j, "code");
        frame_raw(j, true_or_false(s->line));
        write_measured(j, s);
        frame_close(j, '}');
    }
    frame_close(j, ']');
    frame_close(j, '}');
}

/* ---- together ---- */

static int gather_parts(struct function *x, const struct program_code *c, struct listing_row **sum,
                        struct err *err)
{
    const struct profile_function *is = &x->is->is;
    uint64_t low = profile_place(is);
    int ret = 0;
    if (c && !is->task)
        ret = listing_make(c, low, low + (is->high - is->low), &x->listing, err);
    if (ret == 0 && x->mark)
        ret = feed_nodes_since(x->feed, x->mark, &x->since, err);
    if (ret < 0)
        return ret;
    find_lines(x);
    if (!find_kin(x) || !sum_lines(x, sum))
        return err_set(err, ERR_NOMEM, "close other programs", "the feed is out of memory");
    if (x->file && c && c->symbols)
        source_text_read(x->file, symbols_directory(c->symbols, low), c->elf, &x->source);
    return 0;
}

int function_write(const struct feed *f, uint64_t id, const char *mark,
                   const struct program_code *code, const struct text_sink *out, struct err *err)
{
    struct function x = { .feed = f, .id = (uint32_t)id, .mark = mark };
    struct listing_row *sum = NULL;
    const struct feed_function *fn = feed_functions(f, &x.nfunctions);
    if (id >= x.nfunctions)
        return err_set(err, ERR_NOT_FOUND, "ids are those of the snapshot's names",
                       "there is no function %llu in this epoch", (unsigned long long)id);
    x.is = &fn[id];
    int ret = gather_parts(&x, code, &sum, err);
    if (ret == 0) {
        struct frame j;
        frame_begin(&j, out, "function");
        write_figures(&x, &j);
        write_kin(&x, &j, "callers", x.up);
        write_kin(&x, &j, "callees", x.down);
        write_source(&x, sum, &j);
        write_instructions(&x, code, &j);
        frame_end(&j);
    }
    free(sum);
    free(x.since);
    free(x.up);
    free(x.down);
    listing_fini(&x.listing);
    source_text_fini(&x.source);
    return ret;
}
