#include "profiler/profile/marks.h"

#include <ctype.h>
#include <regex.h>
#include <stdlib.h>
#include <string.h>

#include "probe/base/err.h"
#include "probe/base/util.h"
#include "profiler/core/arena.h"
#include "profiler/core/file_atomic.h"

struct marks {
    struct arena arena;
    const char *file;
    struct mark *row;
    size_t n;
};

/* What stands on a line of each kind. */
static const struct {
    const char *word;
    bool named; /* NAME = behind the word */
    const char *example;
} kinds[MARK_NKINDS] = {
    [MARK_TAG] = { "tag", false, "tag main" },
    [MARK_RENAME] = { "rename", true, "rename fn_12 = decode frame" },
    [MARK_EXCLUDE] = { "exclude", false, "exclude /^__/" },
    [MARK_GROUP] = { "group", true, "group libc = /^mem/" },
    [MARK_BLOCK] = { "block", true, "block inner loop = main+0x10..main+0x40" },
};

/* ---- one line ---- */

static int refuse_line(const struct marks *m, int line, const char *hint, const char *what,
                       struct err *err)
{
    return err_set(err, ERR_FORMAT, hint, "%s:%d: %s", m->file, line, what);
}

/* A copy without blanks at its ends; NULL: out of memory. */
static char *copy_trimmed(struct arena *a, const char *text, size_t len)
{
    while (len && isspace((unsigned char)*text)) {
        text++;
        len--;
    }
    while (len && isspace((unsigned char)text[len - 1]))
        len--;
    return arena_strn(a, text, len);
}

/* A bad expression is the line's fault. */
static int check_regex(const struct marks *m, const struct mark *k, struct err *err)
{
    regex_t re;
    char why[100];
    int bad = regcomp(&re, k->which, REG_EXTENDED | REG_NOSUB);
    if (!bad) {
        regfree(&re);
        return 0;
    }
    regerror(bad, &re, why, sizeof why);
    return err_set(err, ERR_FORMAT, "POSIX extended regular expressions are meant: man 7 regex",
                   "%s:%d: /%.60s/: %s", m->file, k->line, k->which, why);
}

static int take_which(struct marks *m, struct mark *k, char *which, struct err *err)
{
    size_t len = strlen(which);
    k->which = which;
    if (len > 2 && which[0] == '/' && which[len - 1] == '/') {
        which[len - 1] = 0;
        k->which = which + 1;
        k->is_regex = true;
        if (k->kind == MARK_RENAME)
            return refuse_line(m, k->line, "name one function", "one name is not for several", err);
        return check_regex(m, k, err);
    }
    if (len)
        return 0;
    return refuse_line(m, k->line, kinds[k->kind].example, "which function?", err);
}

static char *skip_blanks(char *text) { return text + strspn(text, " \t"); }

/* column: of the range in its line. */
static int take_range(struct marks *m, struct mark *k, char *range, int column, struct err *err)
{
    char *dots = strstr(range, "..");
    if (!dots || dots == range || !*skip_blanks(dots + 2) || !*k->name)
        return refuse_line(m, k->line, kinds[k->kind].example, "a block is NAME = LOW..HIGH", err);
    k->low = range;
    k->high = skip_blanks(dots + 2);
    k->low_column = column;
    k->high_column = column + (int)(k->high - range);
    while (dots > range && isspace((unsigned char)dots[-1]))
        dots--;
    *dots = 0;
    return 0;
}

/* "NAME = WHICH"; a rename has it the other way round. column: of the text in its line. */
static int take_named(struct marks *m, struct mark *k, char *text, int column, struct err *err)
{
    char *equals = strstr(text, " = ");
    if (!equals)
        return refuse_line(m, k->line, kinds[k->kind].example, "there is no ' = '", err);
    char *left = copy_trimmed(&m->arena, text, (size_t)(equals - text));
    char *right = copy_trimmed(&m->arena, equals + 3, strlen(equals + 3));
    if (!left || !right)
        return err_set(err, ERR_NOMEM, "close other programs", "marks: out of memory");
    k->name = k->kind == MARK_RENAME ? right : left;
    column += (int)(skip_blanks(equals + 2) - text);
    if (k->kind == MARK_BLOCK)
        return take_range(m, k, right, column, err);
    return take_which(m, k, k->kind == MARK_RENAME ? left : right, err);
}

static bool kind_of_word(const char *word, size_t len, enum mark_kind *kind)
{
    for (enum mark_kind k = 0; k < MARK_NKINDS; k++)
        if (strlen(kinds[k].word) == len && !strncmp(kinds[k].word, word, len)) {
            *kind = k;
            return true;
        }
    return false;
}

static int take_line(struct marks *m, const char *line, size_t len, int number, struct err *err)
{
    if (memchr(line, 0, len))
        return refuse_line(m, number, "write it as text", "there is a zero byte in it", err);
    char *text = copy_trimmed(&m->arena, line, len);
    if (!text)
        return err_set(err, ERR_NOMEM, "close other programs", "marks: out of memory");
    if (!*text || *text == '#')
        return 0;
    if (m->n == MARKS_MOST)
        return refuse_line(m, number, "use regular expressions", "more than 4096 marks", err);
    struct mark *k = &m->row[m->n];
    *k = (struct mark){ .line = number, .which = "", .name = "", .low = "", .high = "" };
    size_t word = strcspn(text, " \t");
    if (!kind_of_word(text, word, &k->kind))
        return err_set(err, ERR_FORMAT, "the words are tag, rename, exclude, group and block",
                       "%s:%d: \"%.*s\" is no mark", m->file, number, (int)MIN(word, 40), text);
    char *rest = skip_blanks(text + word);
    size_t before = strspn(line, " \t\r\v\f") + (size_t)(rest - text);
    int ret = kinds[k->kind].named ? take_named(m, k, rest, (int)before + 1, err)
                                   : take_which(m, k, rest, err);
    m->n += ret == 0;
    return ret;
}

/* ---- files ---- */

int marks_parse(const char *text, size_t len, const char *file, struct marks **out, struct err *err)
{
    struct marks *m = calloc(1, sizeof *m);
    int ret = 0;
    if (m) {
        m->file = arena_str(&m->arena, file);
        m->row = arena_alloc(&m->arena, (MARKS_MOST + 1) * sizeof *m->row);
    }
    if (!m || !m->file || !m->row)
        ret = err_set(err, ERR_NOMEM, "close other programs", "marks: out of memory");
    if (ret == 0 && len > MARKS_FILE_BYTES)
        ret = err_set(err, ERR_FORMAT, "use regular expressions", "%s is larger than a megabyte",
                      file);
    for (int number = 1; ret == 0 && len; number++) {
        const char *end = memchr(text, '\n', len);
        size_t line = end ? (size_t)(end - text) : len;
        ret = take_line(m, text, line, number, err);
        line += end != NULL;
        text += line;
        len -= line;
    }
    if (ret < 0)
        marks_free(m);
    else
        *out = m;
    return ret;
}

int marks_read(const char *path, struct marks **out, struct err *err)
{
    uint8_t *data;
    size_t len;
    int ret = file_read_all(path, MARKS_FILE_BYTES + 1, &data, &len, err);
    if (ret < 0)
        return ret;
    ret = marks_parse((const char *)data, len, path, out, err);
    free(data);
    return ret;
}

void marks_free(struct marks *m)
{
    if (!m)
        return;
    arena_fini(&m->arena);
    free(m);
}

const struct mark *marks_list(const struct marks *m, size_t *n)
{
    *n = m->n;
    return m->row;
}

const char *marks_file(const struct marks *m) { return m->file; }
