/* Two passes over the message: tables first, which may stand behind the samples, then samples.
 * Source for numbers of fields: google/pprof, proto/profile.proto. */
#include <ctype.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "probe/base/array.h"
#include "probe/base/buffer.h"
#include "probe/base/choice.h"
#include "probe/base/range.h"
#include "probe/base/util.h"
#include "profiler/profile/assembly.h"
#include "profiler/views/gunzip.h"
#include "profiler/views/import.h"
#include "profiler/views/protobuf_read.h"

enum { UNPACKED_MOST_MB = 512, TYPES_MOST = 64, NOTE_BYTES = 400 };
/* Locations have many lines, and samples name locations many times: a small file could ask for more
 * than any memory. */
enum { LINES_MOST = 1000, DEPTH_MOST = 65536, STEPS_MOST = 1 << 27 };

/* A column of numbers, as strings' numbers. */
struct value_type {
    uint64_t type, unit;
};

/* function: of the assembly. Of a location: its lines, the innermost first. */
struct function_row {
    uint64_t id;
    uint32_t function;
};
struct location_row {
    uint64_t id, address;
    size_t first, n; /* in lines */
};

struct pprof {
    const uint8_t *data; /* unpacked */
    size_t len;
    bool packed; /* it was compressed: offsets are of what came out */
    struct assembly *a;
    struct assembly_text *string;
    struct function_row *function;
    struct location_row *location;
    uint64_t *line; /* ids of functions, then functions of the assembly */
    uint64_t *comment;
    uint32_t *way;
    size_t nstrings, nfunctions, nlocations, nlines, ncomments;
    size_t cap_strings, cap_functions, cap_locations, cap_lines, cap_comments, cap_way;
    struct value_type type[TYPES_MOST];
    size_t ntypes;
    int place[TYPES_MOST]; /* of a column: ASSEMBLY_HITS, ..., or -1 */
    uint64_t shown;        /* default_sample_type */
    uint64_t time_ns, duration_ns, file, build_id;
    bool has_mapping, has_hits;
    size_t steps; /* functions that samples have gone through */
    struct err *err;
};

static const char hint[] = "the file is cut off or damaged: write it again";

static int bad_place(const struct pprof *w, const uint8_t *at, const char *what)
{
    return err_set(w->err, ERR_FORMAT, hint, "pprof, offset %zu%s: %s", (size_t)(at - w->data),
                   text_if(w->packed, " of what is unpacked"), what);
}

static int no_memory(const struct pprof *w)
{
    return err_set(w->err, ERR_NOMEM, "close other programs", "pprof: out of memory");
}

/* ---- messages ---- */

typedef int take_field(struct pprof *w, const struct protobuf_field *f, void *ctx);

static int each_field(struct pprof *w, struct protobuf m, take_field *take, void *ctx)
{
    struct protobuf_field f;
    int ret = 0;
    while (ret == 0 && protobuf_next(&m, &f))
        ret = take(w, &f, ctx);
    if (ret == 0 && m.at != m.end)
        return bad_place(w, m.at, "no field of a message, or one that is cut short");
    return ret;
}

/* The numbers of one: a field that is not among them is skipped. */
struct number_field {
    uint32_t number;
    uint64_t *to;
};

struct number_fields {
    const struct number_field *row;
    size_t n;
};

static int take_one_number(struct pprof *w, const struct protobuf_field *f, void *ctx)
{
    const struct number_fields *of = ctx;
    for (size_t i = 0; i < of->n; i++) {
        if (of->row[i].number != f->number)
            continue;
        if (f->wire != PROTOBUF_NUMBER)
            return bad_place(w, f->begin, "a number is expected");
        *of->row[i].to = f->value;
    }
    return 0;
}

static int take_numbers(struct pprof *w, struct protobuf m, const struct number_field *row,
                        size_t n)
{
    return each_field(w, m, take_one_number, &(struct number_fields){ row, n });
}

/* ---- tables ---- */

static int take_type(struct pprof *w, const struct protobuf_field *f)
{
    struct value_type *t = &w->type[w->ntypes];
    if (w->ntypes == TYPES_MOST)
        return bad_place(w, f->begin, "more than 64 kinds of values");
    *t = (struct value_type){ 0 };
    w->ntypes++;
    return take_numbers(w, f->bytes, (struct number_field[]){ { 1, &t->type }, { 2, &t->unit } },
                        2);
}

static int take_string(struct pprof *w, const struct protobuf_field *f)
{
    size_t n = (size_t)(f->bytes.end - f->bytes.at);
    if (n && memchr(f->bytes.at, 0, n))
        return bad_place(w, f->begin, "a text with a byte that is 0");
    if (!array_room(&w->string, w->nstrings, &w->cap_strings, sizeof *w->string))
        return no_memory(w);
    w->string[w->nstrings++] = (struct assembly_text){ (const char *)f->bytes.at, n };
    return 0;
}

static int text_at(const struct pprof *w, uint64_t index, const uint8_t *at,
                   struct assembly_text *out)
{
    if (index >= w->nstrings)
        return bad_place(w, at, "the number of a text that is not there");
    *out = w->string[index];
    return 0;
}

/* Strings may come behind functions. */
static int take_function(struct pprof *w, const struct protobuf_field *f)
{
    uint64_t id = 0, name = 0, linkage = 0, file = 0, line = 0;
    struct assembly_function fn = { .line = 0 };
    const struct number_field rows[] = {
        { 1, &id }, { 2, &name }, { 3, &linkage }, { 4, &file }, { 5, &line }
    };
    int ret = take_numbers(w, f->bytes, rows, ARRAY_LEN(rows));
    if (ret == 0)
        ret = text_at(w, name, f->begin, &fn.name);
    if (ret == 0)
        ret = text_at(w, linkage, f->begin, &fn.linkage);
    if (ret == 0)
        ret = text_at(w, file, f->begin, &fn.file);
    if (ret < 0)
        return ret;
    if (!fn.name.n)
        fn.name = fn.linkage;
    fn.line = line <= INT32_MAX ? (int)line : 0;
    if (!array_room(&w->function, w->nfunctions, &w->cap_functions, sizeof *w->function))
        return no_memory(w);
    struct function_row *row = &w->function[w->nfunctions++];
    row->id = id;
    return assembly_function(w->a, &fn, &row->function, w->err);
}

static int take_location_field(struct pprof *w, const struct protobuf_field *f, void *ctx)
{
    struct location_row *row = ctx;
    uint64_t function = 0;
    const struct number_field rows[] = { { 1, &row->id }, { 3, &row->address } };
    if (f->number != 4)
        return take_one_number(w, f, &(struct number_fields){ rows, ARRAY_LEN(rows) });
    if (f->wire != PROTOBUF_BYTES)
        return bad_place(w, f->begin, "a line is expected");
    int ret = take_numbers(w, f->bytes, (struct number_field[]){ { 1, &function } }, 1);
    if (ret < 0)
        return ret;
    if (!array_room(&w->line, w->nlines, &w->cap_lines, sizeof *w->line))
        return no_memory(w);
    if (row->n == LINES_MOST)
        return bad_place(w, f->begin, "a location of more than 1000 lines");
    w->line[w->nlines++] = function;
    row->n++;
    return 0;
}

static int take_location(struct pprof *w, const struct protobuf_field *f)
{
    if (!array_room(&w->location, w->nlocations, &w->cap_locations, sizeof *w->location))
        return no_memory(w);
    struct location_row *row = &w->location[w->nlocations++];
    *row = (struct location_row){ .first = w->nlines };
    return each_field(w, f->bytes, take_location_field, row);
}

/* The first is the program. */
static int take_mapping(struct pprof *w, const struct protobuf_field *f)
{
    const struct number_field rows[] = { { 5, &w->file }, { 6, &w->build_id } };
    if (w->has_mapping)
        return 0;
    w->has_mapping = true;
    return take_numbers(w, f->bytes, rows, ARRAY_LEN(rows));
}

static int take_comments(struct pprof *w, const struct protobuf_field *f)
{
    struct protobuf at = { NULL, NULL };
    uint64_t v;
    while (protobuf_each(f, &at, &v)) {
        if (!array_room(&w->comment, w->ncomments, &w->cap_comments, sizeof *w->comment))
            return no_memory(w);
        w->comment[w->ncomments++] = v;
    }
    return protobuf_broken(&at) ? bad_place(w, f->begin, "numbers that are cut short") : 0;
}

static const struct table_field {
    uint32_t number;
    unsigned pass;
    int (*take)(struct pprof *w, const struct protobuf_field *f);
} tables[] = {
    { 1, 0, take_type },   { 3, 0, take_mapping },  { 4, 0, take_location },
    { 6, 0, take_string }, { 5, 1, take_function },
};

static int take_table(struct pprof *w, const struct protobuf_field *f, void *ctx)
{
    const unsigned *pass = ctx;
    const struct number_field rows[] = { { 9, &w->time_ns },
                                         { 10, &w->duration_ns },
                                         { 14, &w->shown } };
    for (size_t i = 0; i < ARRAY_LEN(tables); i++) {
        if (tables[i].number != f->number || tables[i].pass != *pass)
            continue;
        if (f->wire != PROTOBUF_BYTES)
            return bad_place(w, f->begin, "a message or a text is expected");
        return tables[i].take(w, f);
    }
    if (f->number == 13 && *pass == 0)
        return take_comments(w, f);
    return take_one_number(w, f, &(struct number_fields){ rows, ARRAY_LEN(rows) });
}

static int by_id(const void *a, const void *b)
{
    return COMPARE(*(const uint64_t *)a, *(const uint64_t *)b);
}

/* Lines name functions by id; sorted, each is found. */
static int link_lines(struct pprof *w)
{
    if (w->nfunctions)
        qsort(w->function, w->nfunctions, sizeof *w->function, by_id);
    if (w->nlocations)
        qsort(w->location, w->nlocations, sizeof *w->location, by_id);
    for (size_t i = 0; i < w->nlines; i++) {
        uint64_t id = w->line[i];
        size_t at = PARTITION_POINT(w->nfunctions, k, w->function[k].id < id);
        if (at == w->nfunctions || w->function[at].id != id)
            return err_set(w->err, ERR_FORMAT, hint,
                           "pprof, offset %zu%s: line %zu is of function %" PRIu64
                           ", which is not there",
                           w->len, text_if(w->packed, " of what is unpacked"), i + 1, id);
        w->line[i] = w->function[at].function;
    }
    return 0;
}

/* ---- columns ---- */

static bool same_text(struct assembly_text a, struct assembly_text b)
{
    return a.n == b.n && !memcmp(text_or(a.at, ""), text_or(b.at, ""), a.n);
}

static bool is_type(const struct pprof *w, size_t i, struct assembly_text name)
{
    return name.n && same_text(w->string[w->type[i].type], name);
}

/* Counter 1 is the column that pprof shows: the default, else the last one. Our own calls of
 * functions are "hits"; counter 2 is the first of the others. */
static int choose_columns(struct pprof *w)
{
    size_t main = w->ntypes;
    if (!w->ntypes || !w->nstrings)
        return bad_place(w, w->data + w->len, "the file ends before its kinds of values");
    for (size_t i = 0; i < w->ntypes; i++) {
        if (w->type[i].type >= w->nstrings || w->type[i].unit >= w->nstrings)
            return bad_place(w, w->data, "a kind of values without a name");
        w->place[i] = -1;
        if (main == w->ntypes && w->shown < w->nstrings && is_type(w, i, w->string[w->shown]))
            main = i;
    }
    main = MIN(main, w->ntypes - 1);
    for (size_t i = 0; i < w->ntypes && !w->has_hits; i++)
        if (i != main && is_type(w, i, (struct assembly_text){ "hits", 4 })) {
            w->place[i] = ASSEMBLY_HITS;
            w->has_hits = true;
        }
    w->place[main] = ASSEMBLY_C1;
    for (size_t i = 0; i < w->ntypes; i++)
        if (w->place[i] < 0) {
            w->place[i] = ASSEMBLY_C2;
            break;
        }
    return 0;
}

/* ---- samples ---- */

struct sample {
    const uint8_t *begin;
    size_t nvalues, nlocations;
    uint64_t count[ASSEMBLY_NCOUNTS];
    bool doubtful;
};

static bool is_text(const struct pprof *w, uint64_t index, const char *text)
{
    return index < w->nstrings &&
           same_text(w->string[index], (struct assembly_text){ text, strlen(text) });
}

static int take_label(struct pprof *w, const struct protobuf_field *f, struct sample *s)
{
    uint64_t key = 0, text = 0;
    int ret = take_numbers(w, f->bytes, (struct number_field[]){ { 1, &key }, { 2, &text } }, 2);
    s->doubtful |= ret == 0 && is_text(w, key, "doubtful") && is_text(w, text, "yes");
    return ret;
}

static int take_value(struct pprof *w, struct sample *s, uint64_t v)
{
    if (s->nvalues == w->ntypes)
        return bad_place(w, s->begin, "a sample with more values than there are kinds");
    if (v > INT64_MAX)
        return bad_place(w, s->begin,
                         "a sample with a negative value: a difference of two profiles is none");
    int place = w->place[s->nvalues++];
    if (place >= 0)
        s->count[place] = v;
    return 0;
}

static int keep_location(struct pprof *w, struct sample *s, uint64_t id)
{
    size_t at = PARTITION_POINT(w->nlocations, k, w->location[k].id < id);
    if (at == w->nlocations || w->location[at].id != id)
        return bad_place(w, s->begin, "a sample of a location that is not there");
    if (!array_room(&w->way, s->nlocations, &w->cap_way, sizeof *w->way))
        return no_memory(w);
    w->way[s->nlocations++] = (uint32_t)at;
    return 0;
}

static int take_sample_field(struct pprof *w, const struct protobuf_field *f, void *ctx)
{
    struct sample *s = ctx;
    struct protobuf at = { NULL, NULL };
    uint64_t v;
    int ret = 0;
    if (f->number == 3 && f->wire == PROTOBUF_BYTES)
        return take_label(w, f, s);
    if (f->number != 1 && f->number != 2)
        return 0;
    while (ret == 0 && protobuf_each(f, &at, &v))
        ret = f->number == 1 ? keep_location(w, s, v) : take_value(w, s, v);
    if (ret == 0 && (protobuf_broken(&at) || !at.at))
        return bad_place(w, f->begin, "numbers that are cut short");
    return ret;
}

static int enter_name(struct pprof *w, const char *name, uint32_t *node)
{
    uint32_t function;
    const struct assembly_function fn = { .name = { name, strlen(name) } };
    int ret = assembly_function(w->a, &fn, &function, w->err);
    return ret < 0 ? ret : assembly_enter(w->a, *node, function, node, w->err);
}

/* What has no lines is known by its address. */
static int enter_address(struct pprof *w, uint64_t address, uint32_t *node)
{
    char name[24];
    snprintf(name, sizeof name, "0x%08" PRIx64, address);
    return enter_name(w, name, node);
}

static int check_depth(struct pprof *w, const struct sample *s)
{
    size_t depth = 0;
    for (size_t i = 0; i < s->nlocations && depth <= DEPTH_MOST; i++)
        depth += MAX(w->location[w->way[i]].n, (size_t)1);
    w->steps += depth;
    if (depth > DEPTH_MOST)
        return bad_place(w, s->begin, "a call path of more than 65536 functions");
    if (w->steps > STEPS_MOST)
        return bad_place(w, s->begin, "call paths of more functions than are read");
    return 0;
}

/* Samples begin with the leaf, and locations with the innermost inlined function. */
static int enter_path(struct pprof *w, const struct sample *s, uint32_t *node)
{
    int ret = check_depth(w, s);
    *node = ASSEMBLY_ROOT;
    for (size_t i = s->nlocations; ret == 0 && i-- > 0;) {
        const struct location_row *l = &w->location[w->way[i]];
        for (size_t k = l->n; ret == 0 && k-- > 0;)
            ret = assembly_enter(w->a, *node, (uint32_t)w->line[l->first + k], node, w->err);
        if (ret == 0 && !l->n)
            ret = enter_address(w, l->address, node);
    }
    if (ret == 0 && *node == ASSEMBLY_ROOT)
        ret = enter_name(w, "[no call path]", node);
    return ret;
}

static int take_sample(struct pprof *w, const struct protobuf_field *f, void *ctx)
{
    struct sample s = { .begin = f->begin };
    uint32_t node;
    (void)ctx;
    if (f->number != 2)
        return 0;
    if (f->wire != PROTOBUF_BYTES)
        return bad_place(w, f->begin, "a sample is expected");
    int ret = each_field(w, f->bytes, take_sample_field, &s);
    if (ret == 0 && s.nvalues != w->ntypes)
        return bad_place(w, f->begin, "a sample with fewer values than there are kinds");
    if (ret == 0)
        ret = enter_path(w, &s, &node);
    if (ret < 0)
        return ret;
    ret = assembly_take(w->a, node, s.count, s.doubtful, NULL);
    return ret < 0 ? bad_place(w, f->begin, "all values together have more than 64 bits") : 0;
}

/* ---- the profile ---- */

static bool keep_text(struct profile *p, struct assembly_text t, const char **out)
{
    if (t.n)
        *out = arena_strn(&p->arena, t.at, t.n);
    return *out || !t.n;
}

static bool name_counters(const struct pprof *w, struct profile *p)
{
    bool ok = true;
    for (size_t i = 0; ok && i < w->ntypes; i++) {
        if (w->place[i] != ASSEMBLY_C1 && w->place[i] != ASSEMBLY_C2)
            continue;
        struct profile_counter *c = &p->info.counter[w->place[i] == ASSEMBLY_C2];
        ok = keep_text(p, w->string[w->type[i].type], &c->name) &&
             keep_text(p, w->string[w->type[i].unit], &c->unit);
        if (!c->name)
            c->name = "unnamed";
    }
    return ok;
}

static void take_build_id(struct profile_info *i, struct assembly_text t)
{
    if (t.n % 2 || t.n / 2 > sizeof i->build_id)
        return;
    for (size_t k = 0; k < t.n; k++)
        if (!isxdigit((unsigned char)t.at[k]))
            return;
    for (size_t k = 0; k < t.n / 2; k++) {
        const char byte[3] = { t.at[2 * k], t.at[2 * k + 1], 0 };
        i->build_id[k] = (uint8_t)strtoul(byte, NULL, 16);
    }
    i->build_id_len = t.n / 2;
}

/* Comments are what pprof prints above each report; ours say what was not seen. */
static bool join_comments(const struct pprof *w, struct profile *p)
{
    char note[NOTE_BYTES];
    size_t used = 0;
    for (size_t i = 0; i < w->ncomments && used < sizeof note - 1; i++) {
        struct assembly_text t = { NULL, 0 };
        if (w->comment[i] < w->nstrings)
            t = w->string[w->comment[i]];
        int n = snprintf(note + used, sizeof note - used, "%s%.*s", text_if(used, "; "),
                         (int)MIN(t.n, sizeof note), text_or(t.at, ""));
        used = MIN(used + (size_t)n, sizeof note - 1);
    }
    return keep_text(p, (struct assembly_text){ note, used }, &p->info.note);
}

static bool tell_left_out(const struct pprof *w, struct profile *p)
{
    size_t n = 0;
    for (size_t i = 0; i < w->ntypes; i++)
        n += w->place[i] < 0;
    if (!n)
        return true;
    return assembly_remark(p, "events-left-out", n,
                           arena_printf(&p->arena,
                                        "%zu more kinds of values are not shown: a profile has two "
                                        "counters, %.40s and %.40s here",
                                        n, p->info.counter[0].name, p->info.counter[1].name));
}

static bool fill_info(const struct pprof *w, struct profile *p)
{
    struct profile_info *i = &p->info;
    i->unknown |= PROFILE_ADDRESSES;
    if (!w->has_hits)
        i->unknown |= PROFILE_HITS;
    i->when = (int64_t)(MIN(w->time_ns, (uint64_t)INT64_MAX) / 1000000000u);
    i->time.host_ns = w->duration_ns <= INT64_MAX ? w->duration_ns : 0;
    if (w->build_id < w->nstrings)
        take_build_id(i, w->string[w->build_id]);
    if (w->file < w->nstrings && !keep_text(p, w->string[w->file], &i->elf))
        return false;
    return name_counters(w, p) && join_comments(w, p) && tell_left_out(w, p);
}

static int read_message(struct pprof *w, struct profile **out)
{
    const struct protobuf all = { w->data, w->data + w->len };
    struct profile *p;
    int ret = 0;
    for (unsigned pass = 0; ret == 0 && pass < 2; pass++)
        ret = each_field(w, all, take_table, &pass);
    if (ret == 0)
        ret = choose_columns(w);
    if (ret == 0)
        ret = link_lines(w);
    if (ret == 0)
        ret = each_field(w, all, take_sample, NULL);
    if (ret == 0)
        ret = assembly_profile(w->a, &p, w->err);
    if (ret < 0)
        return ret;
    if (!fill_info(w, p)) {
        profile_free(p);
        return no_memory(w);
    }
    *out = p;
    return 0;
}

static int read_unpacked(const uint8_t *data, size_t len, bool packed, struct profile **out,
                         struct err *err)
{
    struct pprof w = { len ? data : (const uint8_t *)"", len, packed, .err = err };
    int ret = assembly_new(&w.a, err);
    if (ret == 0)
        ret = read_message(&w, out);
    assembly_free(w.a);
    free(w.string);
    free(w.function);
    free(w.location);
    free(w.line);
    free(w.comment);
    free(w.way);
    return ret;
}

int import_pprof(const uint8_t *data, size_t len, struct profile **out, struct err *err)
{
    struct buffer b = { 0 };
    if (!gunzip_is(data, len))
        return read_unpacked(data, len, false, out, err);
    int ret = gunzip(data, len, (size_t)UNPACKED_MOST_MB << 20, &b, err);
    if (ret == 0)
        ret = read_unpacked((const uint8_t *)b.data, b.size, true, out, err);
    else
        err_prefix(err, ret, "pprof");
    buffer_fini(&b);
    return ret;
}

/* Compressed, or a first field that is a kind of values. */
bool import_pprof_is(const uint8_t *head, size_t n)
{
    bool type =
        n > 4 && head[0] == (1 << 3 | 2) && head[1] >= 2 && head[1] < 24 && head[2] == (1 << 3 | 0);
    return gunzip_is(head, n) || type;
}
