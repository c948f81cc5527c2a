#include "profiler/views/import_callgrind_priv.h"

#include <ctype.h>
#include <stdlib.h>
#include <string.h>

static const char hint[] = "the file is cut off or damaged: write it again";

int callgrind_bad(const struct callgrind *g, const char *at, const char *what)
{
    return err_set(g->err, ERR_FORMAT, hint, "callgrind, line %zu, offset %zu: %s", g->number,
                   (size_t)(at - g->data), what);
}

int callgrind_no_memory(const struct callgrind *g)
{
    return err_set(g->err, ERR_NOMEM, "close other programs", "callgrind: out of memory");
}

/* ---- words ---- */

static bool is_blank(char c) { return c == ' ' || c == '\t'; }

static void skip_blanks(struct span *s)
{
    while (s->at < s->end && is_blank(*s->at))
        s->at++;
}

/* "key" at the beginning, which is skipped. */
bool callgrind_skip_key(struct span *s, const char *key)
{
    size_t n = strlen(key);
    if ((size_t)(s->end - s->at) < n || memcmp(s->at, key, n) != 0)
        return false;
    s->at += n;
    skip_blanks(s);
    return true;
}

struct span callgrind_word(struct span *s)
{
    skip_blanks(s);
    struct span word = { s->at, s->at };
    while (word.end < s->end && !is_blank(*word.end))
        word.end++;
    s->at = word.end;
    skip_blanks(s);
    return word;
}

struct assembly_text callgrind_text(struct span s)
{
    while (s.end > s.at && is_blank(s.end[-1]))
        s.end--;
    return (struct assembly_text){ s.at, (size_t)(s.end - s.at) };
}

bool callgrind_is(struct assembly_text t, const char *word)
{
    return t.n == strlen(word) && memcmp(t.at, word, t.n) == 0;
}

static unsigned digit_of(char c)
{
    if (c >= '0' && c <= '9')
        return (unsigned)(c - '0');
    c |= 32;
    if (c >= 'a' && c <= 'f')
        return (unsigned)(c - 'a') + 10;
    return 16;
}

/* Decimal, or 0x and hex digits. */
int callgrind_number(const struct callgrind *g, struct span word, uint64_t *out)
{
    unsigned base = 10;
    const char *at = word.at;
    uint64_t v = 0;
    if (word.end - at > 2 && at[0] == '0' && (at[1] | 32) == 'x') {
        base = 16;
        at += 2;
    }
    if (at == word.end)
        return callgrind_bad(g, word.at, "a number is missing");
    for (; at < word.end; at++) {
        unsigned digit = digit_of(*at);
        if (digit >= base)
            return callgrind_bad(g, word.at, "no whole number");
        if (v > (UINT64_MAX - digit) / base)
            return callgrind_bad(g, word.at, "a number of more than 64 bits");
        v = v * base + digit;
    }
    *out = v;
    return 0;
}

/* ---- names ---- */

/* Its row, or where it would be. */
static struct name_row *find_name(const struct names *n, uint64_t id)
{
    size_t k = (id * 0x9E3779B97F4A7C15u >> 32) & (n->size - 1);
    while (n->row[k].used && n->row[k].id != id)
        k = (k + 1) & (n->size - 1);
    return &n->row[k];
}

static bool grow_names(struct names *n)
{
    if (2 * (n->n + 1) <= n->size)
        return true;
    struct names more = { .n = n->n, .size = n->size ? 2 * n->size : 64 };
    more.row = calloc(more.size, sizeof *more.row);
    if (!more.row)
        return false;
    for (size_t k = 0; k < n->size; k++)
        if (n->row[k].used)
            *find_name(&more, n->row[k].id) = n->row[k];
    free(n->row);
    *n = more;
    return true;
}

static int keep_name(struct callgrind *g, struct names *n, uint64_t id, struct assembly_text text)
{
    if (!grow_names(n))
        return callgrind_no_memory(g);
    struct name_row *row = find_name(n, id);
    n->n += !row->used;
    *row = (struct name_row){ id, text, true };
    return 0;
}

/* "(id) name", "(id)" or "name". */
int callgrind_name(struct callgrind *g, enum name_kind kind, struct span s,
                   struct assembly_text *out)
{
    struct names *n = &g->names[kind];
    uint64_t id;
    const char *close = NULL;
    if (s.at < s.end && *s.at == '(')
        close = memchr(s.at, ')', (size_t)(s.end - s.at));
    if (!close || close == s.at + 1 || !isdigit((unsigned char)s.at[1])) {
        *out = callgrind_text(s);
        return 0;
    }
    int ret = callgrind_number(g, (struct span){ s.at + 1, close }, &id);
    if (ret < 0)
        return ret;
    const char *begin = s.at;
    s.at = close + 1;
    skip_blanks(&s);
    if (s.at < s.end) {
        *out = callgrind_text(s);
        return keep_name(g, n, id, *out);
    }
    const struct name_row *row = NULL;
    if (n->size)
        row = find_name(n, id);
    if (!row || !row->used)
        return callgrind_bad(g, begin, "a number in brackets that has had no name");
    *out = row->text;
    return 0;
}
