/* Names in few columns. Forms of a name, from the whole one to its address, are tried in turn; one
 * that two functions have in common is no name for either. */
#include "profiler/views/report_names.h"

#include <inttypes.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "probe/base/choice.h"
#include "probe/base/range.h"
#include "probe/base/text.h"
#include "probe/base/util.h"
#include "profiler/views/report_priv.h"

/* In the order of preference. */
enum form {
    FORM_WHOLE,
    FORM_NO_TEMPLATES,  /* Filter<..>::run(int) */
    FORM_NO_BRACKETS,   /* Filter<..>::run(..) */
    FORM_NO_PARAMETERS, /* Filter<int, 8>::run(..) */
    FORM_LAST_SCOPE,    /* ..::run(..) */
    FORM_MIDDLE,        /* head and tail of the shortest so far */
    FORM_FRONT,         /* the tail of FORM_NO_PARAMETERS */
    FORM_WHOLE_MIDDLE,  /* head and tail of all of it */
    FORM_ADDRESS,       /* head, and the address */
    NFORMS
};

struct entry {
    char *name; /* printable */
    uint64_t low;
};

/* Hashes of one form of every function's name, ascending: those that come twice are of no use. */
struct known_form {
    enum form form;
    size_t columns; /* 0: does not depend on them */
    uint64_t *hash;
};

/* Texts given so far, and whose they are: open addressing, a power of two, at most half full. */
struct given {
    uint64_t hash;
    size_t owner; /* + 1; 0: free */
};

struct report_names {
    struct entry *entry;
    size_t n;
    struct known_form *known;
    size_t nknown;
    struct given *given;
    size_t ngiven, given_cap;
};

/* ---- parts of names ---- */

/* The brackets of operator<, operator(), operator-> and so on are no brackets. */
static size_t operator_name(const char *s, const char *begin)
{
    static const char word[] = "operator";
    size_t n = sizeof word - 1;
    bool starts = s == begin || !(s[-1] == '_' || (s[-1] | 32) >= 'a');
    if (!starts || strncmp(s, word, n) || !strchr("<>()-[=!", s[n]) || !s[n])
        return 0;
    if (!strncmp(s + n, "()", 2) || !strncmp(s + n, "[]", 2))
        return n + 2;
    while (s[n] && strchr("<>-=!*", s[n]))
        n++;
    return n;
}

/* Copies name with everything between open and close replaced by "..". buf has strlen(name) + 1
 * bytes. */
static void collapse_brackets(const char *name, char open, char close, char *buf)
{
    unsigned depth = 0;
    const char *begin = name;
    while (*name) {
        size_t op = operator_name(name, begin);
        if (op) {
            for (; op; op--, name++)
                if (!depth)
                    *buf++ = *name;
            continue;
        }
        if (*name == open && depth++ == 0) {
            *buf++ = open;
            if (name[1] != close) {
                *buf++ = '.';
                *buf++ = '.';
            }
        }
        if (*name == close && depth && --depth == 0) {
            *buf++ = *name++;
            continue;
        }
        if (!depth)
            *buf++ = *name;
        name++;
    }
    *buf = '\0';
}

/* The front of the scope goes: "..::walk(..)". */
static const char *last_scope(const char *name)
{
    const char *paren = strchr(name, '('), *last = NULL;
    for (const char *s = strstr(name, "::"); s && (!paren || s < paren); s = strstr(s + 2, "::"))
        last = s;
    return last;
}

/* Head and tail stay: long C names often differ at the end. */
static void cut_middle(const char *name, size_t columns, char *buf, size_t cap)
{
    size_t n = strlen(name), head = (columns - 2) * 2 / 3, tail = columns - 2 - head;
    if (n <= columns) {
        snprintf(buf, cap, "%s", name);
        return;
    }
    while (head && (name[head] & 0xC0) == 0x80)
        head--;
    while (tail && (name[n - tail] & 0xC0) == 0x80)
        tail--;
    snprintf(buf, cap, "%.*s..%s", (int)head, name, name + n - tail);
}

/* The tail alone. */
static void cut_front(const char *name, size_t columns, char *buf, size_t cap)
{
    size_t n = strlen(name), tail = columns - 2;
    if (n <= columns) {
        snprintf(buf, cap, "%s", name);
        return;
    }
    while (tail && (name[n - tail] & 0xC0) == 0x80)
        tail--;
    snprintf(buf, cap, "..%s", name + n - tail);
}

/* ---- forms ---- */

static bool depends_on_columns(enum form form)
{
    return form >= FORM_MIDDLE && form < FORM_ADDRESS;
}

/* Brackets of either kind, or of both, made empty. Returns malloc'd text; NULL: out of memory. */
static char *empty_brackets(const char *name, bool templates, bool parameters)
{
    /* Replacing "x" by ".." may make it longer by one, for each pair of brackets. */
    size_t n = 2 * strlen(name) + 3;
    char *a = malloc(n), *b = malloc(2 * n);
    if (a && b) {
        strcpy(a, name);
        if (templates)
            collapse_brackets(name, '<', '>', a);
        strcpy(b, a);
        if (parameters)
            collapse_brackets(a, '(', ')', b);
    }
    free(a);
    return b;
}

static char *in_last_scope(const char *name)
{
    char *plain = empty_brackets(name, true, true);
    if (!plain)
        return NULL;
    const char *scope = last_scope(plain);
    if (!scope)
        return plain;
    char *text = malloc(strlen(scope) + 3);
    if (text)
        sprintf(text, "..%s", scope);
    free(plain);
    return text;
}

static char *with_address(const struct entry *e, size_t columns)
{
    enum { ADDRESS = 9 }; /* "@0c010120" */
    size_t room = number_if(columns > ADDRESS + 2, columns - ADDRESS);
    char *text = malloc(4 * columns + 32);
    if (!text)
        return NULL;
    text[0] = '\0';
    if (room)
        cut_middle(e->name, room, text, 4 * columns);
    sprintf(text + strlen(text), &"@%08" PRIx64[room == 0], e->low & UINT32_MAX);
    return text;
}

static char *cut_text(char *text, size_t columns, void (*by)(const char *, size_t, char *, size_t))
{
    if (!text)
        return NULL;
    size_t cap = strlen(text) + 4;
    char *out = malloc(cap);
    if (out)
        by(text, columns, out, cap);
    free(text);
    return out;
}

/* Malloc'd; NULL: out of memory. */
static char *make_form(const struct entry *e, enum form form, size_t columns)
{
    switch (form) {
    case FORM_NO_TEMPLATES: return empty_brackets(e->name, true, false);
    case FORM_NO_BRACKETS: return empty_brackets(e->name, true, true);
    case FORM_NO_PARAMETERS: return empty_brackets(e->name, false, true);
    case FORM_LAST_SCOPE: return in_last_scope(e->name);
    case FORM_MIDDLE: return cut_text(in_last_scope(e->name), columns, cut_middle);
    case FORM_FRONT: return cut_text(empty_brackets(e->name, false, true), columns, cut_front);
    case FORM_WHOLE_MIDDLE:
        return cut_text(empty_brackets(e->name, false, false), columns, cut_middle);
    case FORM_ADDRESS: return with_address(e, columns);
    default: return strdup(e->name);
    }
}

static uint64_t hash_text(const char *text)
{
    uint64_t h = 0xCBF29CE484222325u; /* FNV-1a, 64 bits */
    for (; *text; text++)
        h = (h ^ (unsigned char)*text) * 0x100000001B3u;
    return h;
}

/* ---- which forms tell functions apart ---- */

static int by_hash(const void *a, const void *b)
{
    uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;
    return (x > y) - (x < y);
}

static const struct known_form *know_form(struct report_names *t, enum form form, size_t columns)
{
    size_t at = number_if(depends_on_columns(form), columns);
    for (size_t i = 0; i < t->nknown; i++)
        if (t->known[i].form == form && t->known[i].columns == at)
            return &t->known[i];
    struct known_form *more = realloc(t->known, (t->nknown + 1) * sizeof *more);
    uint64_t *hash = calloc(t->n + 1, sizeof *hash);
    if (more)
        t->known = more;
    if (!more || !hash) {
        free(hash);
        return NULL;
    }
    for (size_t i = 0; i < t->n; i++) {
        char *text = make_form(&t->entry[i], form, columns);
        hash[i] = 0;
        if (text)
            hash[i] = hash_text(text);
        free(text);
    }
    qsort(hash, t->n, sizeof *hash, by_hash);
    t->known[t->nknown] = (struct known_form){ form, at, hash };
    return &t->known[t->nknown++];
}

static bool is_unique(struct report_names *t, enum form form, size_t columns, uint64_t hash)
{
    const struct known_form *k = know_form(t, form, columns);
    if (!k)
        return true; /* out of memory: better a name than none */
    size_t lo = PARTITION_POINT(t->n, i, k->hash[i] < hash);
    return lo + 1 >= t->n || k->hash[lo + 1] != hash;
}

static struct given *find_given(const struct report_names *t, uint64_t hash)
{
    size_t i = hash & (t->given_cap - 1);
    while (t->given[i].owner && t->given[i].hash != hash)
        i = (i + 1) & (t->given_cap - 1);
    return &t->given[i];
}

static bool grow_given(struct report_names *t)
{
    struct report_names bigger = { .given_cap = EITHER(2 * t->given_cap, (size_t)64) };
    bigger.given = calloc(bigger.given_cap, sizeof *bigger.given);
    if (!bigger.given)
        return false;
    for (size_t i = 0; i < t->given_cap; i++)
        if (t->given[i].owner)
            *find_given(&bigger, t->given[i].hash) = t->given[i];
    free(t->given);
    t->given = bigger.given;
    t->given_cap = bigger.given_cap;
    return true;
}

/* A text is one function's for the whole report: forms of different kinds may be equal, too. */
static bool claim_text(struct report_names *t, size_t i, uint64_t hash)
{
    if (2 * t->ngiven >= t->given_cap && !grow_given(t))
        return true;
    struct given *g = find_given(t, hash);
    if (g->owner)
        return g->owner == i + 1;
    *g = (struct given){ hash, i + 1 };
    t->ngiven++;
    return true;
}

/* ---- the table ---- */

struct report_names *report_names_new(size_t n)
{
    struct report_names *t = calloc(1, sizeof *t);
    if (!t)
        return NULL;
    t->entry = calloc(n + 1, sizeof *t->entry);
    t->n = n;
    if (t->entry)
        return t;
    free(t);
    return NULL;
}

void report_names_free(struct report_names *t)
{
    if (!t)
        return;
    for (size_t i = 0; i < t->n; i++)
        free(t->entry[i].name);
    for (size_t i = 0; i < t->nknown; i++)
        free(t->known[i].hash);
    free(t->entry);
    free(t->known);
    free(t->given);
    free(t);
}

void report_names_set(struct report_names *t, size_t i, const char *name, uint64_t low)
{
    free(t->entry[i].name);
    t->entry[i].name = strdup(name);
    t->entry[i].low = low;
    if (t->entry[i].name)
        text_clean(t->entry[i].name); /* names come from files */
}

static bool text_fits(struct report_names *t, size_t i, enum form form, size_t columns,
                      const char *text)
{
    uint64_t hash = hash_text(text);
    return report_columns(text) <= columns && is_unique(t, form, columns, hash) &&
           claim_text(t, i, hash);
}

char *report_names_text(struct report_names *t, size_t i, size_t columns, char *buf, size_t cap)
{
    columns = MAX(columns, (size_t)5);
    snprintf(buf, cap, "?");
    for (enum form form = FORM_WHOLE; form < NFORMS && t->entry[i].name; form++) {
        char *text = make_form(&t->entry[i], form, columns);
        bool taken = text && (text_fits(t, i, form, columns, text) || form == FORM_ADDRESS);
        if (taken)
            snprintf(buf, cap, "%.*s", (int)MIN(cap - 1, strlen(text)), text);
        free(text);
        if (taken)
            break;
    }
    return buf;
}
