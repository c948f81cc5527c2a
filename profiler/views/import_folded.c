/* One pass, a line at a time; the text is not copied. */
#include <ctype.h>
#include <string.h>

#include "profiler/profile/assembly.h"
#include "profiler/views/import.h"

struct folded {
    struct assembly *a;
    const uint8_t *data;
    size_t line;         /* number of the one that is read, from 1 */
    const uint8_t *from; /* where it begins */
    bool any, all_twice; /* lines with a path; each of them had two counts */
    struct err *err;
};

static const char wanted[] = "lines are \"outer;inner 12\", with a whole number behind a blank";

static int bad_line(const struct folded *f, const uint8_t *at, const char *what)
{
    return err_set(f->err, ERR_FORMAT, wanted, "folded, line %zu, offset %zu: %s", f->line,
                   (size_t)(at - f->data), what);
}

static bool is_blank(uint8_t c) { return c == ' ' || c == '\t'; }

/* Without blanks at the end, and the \r of other systems. */
static const uint8_t *end_of_text(const uint8_t *from, const uint8_t *end)
{
    while (end > from && (is_blank(end[-1]) || end[-1] == '\r'))
        end--;
    return end;
}

/* Where the last word begins. */
static const uint8_t *last_word(const uint8_t *from, const uint8_t *end)
{
    while (end > from && !is_blank(end[-1]))
        end--;
    return end;
}

static bool is_count(const uint8_t *from, const uint8_t *end)
{
    for (const uint8_t *s = from; s < end; s++)
        if (!isdigit(*s))
            return false;
    return from < end;
}

/* "path 3 5", of difffolded.pl: before and after. */
static bool ends_in_count(const uint8_t *from, const uint8_t *end)
{
    const uint8_t *word = last_word(from, end);
    return word > from && is_count(word, end);
}

static int take_count(struct folded *f, const uint8_t *from, const uint8_t *end, uint64_t *out)
{
    uint64_t v = 0;
    for (const uint8_t *s = from; s < end; s++) {
        if (*s == '.' && s > from && is_count(s + 1, end))
            return bad_line(f, from, "the count has decimals: counts are whole numbers here");
        if (!isdigit(*s))
            return bad_line(f, from, "no count at the end");
        if (v > (UINT64_MAX - (*s - '0')) / 10)
            return bad_line(f, from, "the count has more than 64 bits");
        v = 10 * v + (*s - '0');
    }
    *out = v;
    return 0;
}

/* Down the path, outermost first. */
static int enter_path(struct folded *f, const uint8_t *from, const uint8_t *end, uint32_t *node)
{
    int ret = 0;
    *node = ASSEMBLY_ROOT;
    for (const uint8_t *stop = NULL; ret == 0 && stop != end; from = stop + (stop != end)) {
        stop = memchr(from, ';', (size_t)(end - from));
        stop = stop ? stop : end;
        const struct assembly_function fn = { .name = { (const char *)from,
                                                        (size_t)(stop - from) } };
        uint32_t function;
        ret = assembly_function(f->a, &fn, &function, f->err);
        if (ret == 0)
            ret = assembly_enter(f->a, *node, function, node, f->err);
    }
    return ret;
}

static int take_line(struct folded *f, const uint8_t *from, const uint8_t *end)
{
    uint64_t count[ASSEMBLY_NCOUNTS] = { 0 };
    uint32_t node;
    const uint8_t *zero = memchr(from, 0, (size_t)(end - from));
    if (zero)
        return bad_line(f, zero, "a byte that is 0");
    end = end_of_text(from, end);
    if (from == end)
        return 0;
    const uint8_t *word = last_word(from, end);
    int ret = take_count(f, word, end, &count[ASSEMBLY_C1]);
    if (ret < 0)
        return ret;
    const uint8_t *path_end = end_of_text(from, word);
    if (path_end == from)
        return bad_line(f, from, "a count without a call path");
    f->all_twice &= ends_in_count(from, path_end);
    f->any = true;
    ret = enter_path(f, from, path_end, &node);
    if (ret < 0)
        return ret;
    ret = assembly_take(f->a, node, count, false, f->err);
    if (ret < 0)
        return bad_line(f, word, "all counts together have more than 64 bits");
    return 0;
}

static int take_lines(struct folded *f, size_t len)
{
    const uint8_t *end = f->data + len;
    int ret = 0;
    for (f->from = f->data; ret == 0 && f->from < end; f->line++) {
        const uint8_t *stop = memchr(f->from, '\n', (size_t)(end - f->from));
        stop = stop ? stop : end;
        ret = take_line(f, f->from, stop);
        f->from = stop + (stop < end);
    }
    if (ret == 0 && !f->any)
        return err_set(f->err, ERR_FORMAT, wanted, "folded, offset %zu: no call path", len);
    if (ret == 0 && f->all_twice)
        return err_set(f->err, ERR_FORMAT, "name the two files that it compares, in diff",
                       "folded, line 1: two counts a line, before and after: no profile");
    return ret;
}

int import_folded(const uint8_t *data, size_t len, struct profile **out, struct err *err)
{
    /* nothing may be NULL, which has no end behind it */
    struct folded f = {
        .data = len ? data : (const uint8_t *)"", .line = 1, .all_twice = true, .err = err
    };
    struct profile *p = NULL;
    int ret = assembly_new(&f.a, err);
    if (ret == 0)
        ret = take_lines(&f, len);
    if (ret == 0)
        ret = assembly_profile(f.a, &p, err);
    assembly_free(f.a);
    if (ret < 0)
        return ret;
    p->info.unknown = PROFILE_HITS | PROFILE_ADDRESSES;
    p->info.counter[0] = (struct profile_counter){ .name = "weight" };
    p->info.note = "folded call paths have one number each and do not say of what: C1 here. How "
                   "often functions were called, and what was not seen, is not known.";
    *out = p;
    return 0;
}

/* The first line is a path with a count, or a path that is longer than the head. */
bool import_folded_is(const uint8_t *head, size_t n)
{
    const uint8_t *end = head + n, *stop = n ? memchr(head, '\n', n) : NULL;
    bool whole = stop || n < IMPORT_HEAD_BYTES;
    stop = stop ? stop : end;
    for (const uint8_t *s = head; s < stop; s++)
        if (*s < ' ' && *s != '\t' && *s != '\r')
            return false;
    if (!whole)
        return memchr(head, ';', n) != NULL;
    stop = end_of_text(head, stop);
    const uint8_t *word = last_word(head, stop);
    bool number = word > head && word < stop;
    for (const uint8_t *s = word; number && s < stop; s++)
        number = isdigit(*s) || *s == '.';
    return number;
}
