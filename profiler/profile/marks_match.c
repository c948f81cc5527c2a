#include "profiler/profile/marks_match.h"

#include <regex.h>
#include <stdlib.h>
#include <string.h>

#include "probe/base/choice.h"
#include "probe/base/nearest.h"
#include "targets/overlay.h"

static const char excluded_name[] = "(excluded)";

struct matcher {
    const struct mark *k;
    regex_t re; /* if k->is_regex */
    bool is_address, is_compiled;
    uint64_t address;
};

struct marks_matcher {
    size_t n;
    struct matcher of[];
};

/* ---- lines made ready ---- */

static int prepare_line(struct matcher *x, const struct mark *k, struct err *err)
{
    x->k = k;
    x->is_address = !k->is_regex && !strncmp(k->which, "0x", 2) &&
                    symbols_parse(NULL, k->which, &x->address, NULL) == 0;
    if (k->is_regex && regcomp(&x->re, k->which, REG_EXTENDED | REG_NOSUB))
        return err_set(err, ERR_NOMEM, "close other programs", "marks: out of memory");
    x->is_compiled = k->is_regex;
    return 0;
}

static int prepare_lines(const struct mark *k, size_t n, struct marks_matcher **out,
                         struct err *err)
{
    struct marks_matcher *x = calloc(1, sizeof *x + n * sizeof x->of[0]);
    if (!x)
        return err_set(err, ERR_NOMEM, "close other programs", "marks: out of memory");
    x->n = n;
    int ret = 0;
    for (size_t i = 0; ret == 0 && i < n; i++)
        ret = prepare_line(&x->of[i], &k[i], err);
    if (ret == 0)
        *out = x;
    else
        marks_matcher_free(x);
    return ret;
}

int marks_matcher_new(const struct marks *m, struct marks_matcher **out, struct err *err)
{
    size_t n;
    const struct mark *k = marks_list(m, &n);
    return prepare_lines(k, n, out, err);
}

void marks_matcher_free(struct marks_matcher *x)
{
    for (size_t i = 0; x && i < x->n; i++)
        if (x->of[i].is_compiled)
            regfree(&x->of[i].re);
    free(x);
}

/* ---- which functions? ---- */

static bool name_matches(const struct matcher *x, const char *name)
{
    if (!name || !*name)
        return false;
    if (x->k->is_regex)
        return regexec(&x->re, name, 0, NULL, 0) == 0;
    return !strcmp(name, x->k->which);
}

/* "list.c:walk", also while no other function of that name has been seen. */
static bool file_and_name_match(const struct matcher *x, const struct profile_function *f)
{
    const char *slash = NULL;
    if (f->file)
        slash = strrchr(f->file, '/');
    const char *file = slash ? slash + 1 : text_or(f->file, "");
    size_t n = strlen(file);
    return n && !strncmp(x->k->which, file, n) && x->k->which[n] == ':' &&
           !strcmp(x->k->which + n + 1, f->name);
}

static bool function_matches(const struct matcher *x, const struct profile_function *f)
{
    if (x->k->kind == MARK_BLOCK)
        return false;
    if (x->is_address)
        return x->address >= f->low && x->address < f->high;
    return name_matches(x, f->name) ||
           (!x->k->is_regex && (name_matches(x, f->linkage) || name_matches(x, f->qualified) ||
                                file_and_name_match(x, f)));
}

bool marks_matcher_means(const struct marks_matcher *x, size_t k, const struct profile_function *f)
{
    return function_matches(&x->of[k], f);
}

bool mark_means(const struct mark *k, const struct profile_function *f)
{
    struct marks_matcher *x;
    if (prepare_lines(k, 1, &x, NULL) < 0)
        return false;
    bool means = function_matches(&x->of[0], f);
    marks_matcher_free(x);
    return means;
}

static struct profile_function function_of_symbol(const struct symbol_function *s)
{
    return (struct profile_function){ .name = s->name,
                                      .linkage = s->linkage,
                                      .qualified = "",
                                      .file = s->file,
                                      .low = s->overlay ? overlay_plain(s->low) : s->low,
                                      .high = s->overlay ? overlay_plain(s->high) : s->high };
}

bool marks_matcher_in_program(const struct marks_matcher *x, size_t k, const struct symbols *syms,
                              size_t *n)
{
    const struct matcher *line = &x->of[k];
    size_t met = 0;
    if (syms && line->is_address)
        met = symbols_find(syms, line->address) >= 0;
    for (size_t i = 0; syms && !line->is_address && i < symbols_nfunctions(syms); i++) {
        const struct profile_function f = function_of_symbol(symbols_function(syms, i));
        met += function_matches(line, &f);
    }
    if (n)
        *n = met;
    return met > 0;
}

/* ---- what lines make of a function ---- */

bool marks_same_group(const struct mark *a, const struct mark *b)
{
    return a->kind == b->kind && !strcmp(a->name, b->name);
}

struct mark_effect marks_effect(const struct marks_matcher *x, const struct profile_function *f)
{
    struct mark_effect e = { .rename = NULL };
    for (size_t i = 0; x && i < x->n; i++) {
        const struct mark *k = x->of[i].k;
        if (!function_matches(&x->of[i], f))
            continue;
        e.tag |= k->kind == MARK_TAG;
        if (k->kind == MARK_RENAME)
            e.rename = k->name;
        if (k->kind != MARK_GROUP && k->kind != MARK_EXCLUDE)
            continue;
        if (!e.to)
            e.to = k;
        else if (!e.also && !marks_same_group(e.to, k))
            e.also = k;
    }
    return e;
}

struct profile_function marks_group_row(const struct mark *to)
{
    return (struct profile_function){ .name = to->kind == MARK_EXCLUDE ? excluded_name : to->name,
                                      .linkage = "",
                                      .qualified = "",
                                      .description = PROFILE_FUNCTION,
                                      .cache_line = PROFILE_NOT_CACHED,
                                      .group = true };
}

/* ---- before there is a profile ---- */

/* What is called so is made while the program runs: "(task 3)", "interrupt 0x8c000600"; or by the
 * marks themselves: their blocks. */
static bool is_of_a_program(const struct marks_matcher *all, const struct matcher *x)
{
    static const char *const others[] = { "(", "interrupt ", "exception " };
    bool other = x->is_address || x->k->is_regex;
    for (size_t i = 0; i < all->n; i++)
        other |= all->of[i].k->kind == MARK_BLOCK && !strcmp(all->of[i].k->name, x->k->which);
    for (size_t i = 0; i < sizeof others / sizeof *others; i++)
        other |= !strncmp(x->k->which, others[i], strlen(others[i]));
    return !other;
}

static int refuse_unknown(const struct marks *m, const struct mark *k, const struct symbols *syms,
                          struct err *err)
{
    struct nearest near = { .wanted = k->which };
    char hint[NEAREST_TEXT];
    for (size_t i = 0; i < symbols_nfunctions(syms); i++)
        nearest_offer(&near, symbols_function(syms, i)->name);
    return err_set(
        err, ERR_NOT_FOUND, nearest_text(&near, "names are those of the report", hint, sizeof hint),
        "%s:%d: no function of the program is \"%.100s\"", marks_file(m), k->line, k->which);
}

static int check_line(const struct marks *m, const struct marks_matcher *x, size_t at,
                      const struct symbols *syms, struct err *err)
{
    const struct mark *k = x->of[at].k;
    size_t n;
    if (k->kind == MARK_BLOCK || !is_of_a_program(x, &x->of[at]))
        return 0;
    if (!marks_matcher_in_program(x, at, syms, &n))
        return refuse_unknown(m, k, syms, err);
    if (k->kind == MARK_RENAME && n > 1)
        return err_set(err, ERR_USAGE, "name it file.c:function, or by an address (0x...)",
                       "%s:%d: %zu functions are \"%.100s\"", marks_file(m), k->line, n, k->which);
    return 0;
}

static int check_groups(const struct marks *m, const struct marks_matcher *x,
                        const struct symbols *syms, struct err *err)
{
    for (size_t i = 0; i < symbols_nfunctions(syms); i++) {
        const struct profile_function f = function_of_symbol(symbols_function(syms, i));
        const struct mark_effect e = marks_effect(x, &f);
        if (e.also)
            return err_set(err, ERR_USAGE, "leave it out of one of them",
                           "%s:%d: %s is in line %d already", marks_file(m), e.also->line, f.name,
                           e.to->line);
    }
    return 0;
}

int marks_check(const struct marks *m, const struct symbols *syms, struct err *err)
{
    struct marks_matcher *x;
    int ret = marks_matcher_new(m, &x, err);
    if (ret < 0)
        return ret;
    for (size_t i = 0; ret == 0 && i < x->n; i++)
        ret = check_line(m, x, i, syms, err);
    if (ret == 0)
        ret = check_groups(m, x, syms, err);
    marks_matcher_free(x);
    return ret;
}
