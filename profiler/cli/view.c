#include "profiler/cli/view.h"

#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include "probe/base/choice.h"
#include "probe/base/util.h"

static void write_file(void *ctx, const char *text, size_t len) { fwrite(text, 1, len, ctx); }

struct text_sink file_sink(FILE *out)
{
    return (struct text_sink){ .write = write_file, .ctx = out };
}

/* Source: ECMA-48, EL. The one command to a terminal that is ever written. */
void view_clear_line(FILE *out) { fputs("\r\033[K", out); }

static unsigned terminal_width(FILE *out)
{
    struct winsize size;
    if (!isatty(fileno(out)))
        return 0;
    if (ioctl(fileno(out), TIOCGWINSZ, &size) == 0 && size.ws_col)
        return size.ws_col;
    return 80;
}

unsigned view_columns(FILE *out)
{
    const char *term = getenv("TERM");
    if (term && *term && strcmp(term, "dumb"))
        return terminal_width(out);
    return 0;
}

/* The first of these that is set decides. Source: POSIX, Base Definitions 8.2. */
static bool speaks_utf8(void)
{
    static const char *const names[] = { "LC_ALL", "LC_CTYPE", "LANG" };
    const char *value = "";
    for (size_t i = 0; i < ARRAY_LEN(names) && !*value; i++)
        value = text_or(getenv(names[i]), "");
    return strcasestr(value, "UTF-8") || strcasestr(value, "UTF8");
}

const struct exporter *view_exporter(const struct settings *s)
{
    const struct exporter *x = NULL;
    const char *name = "functions";
    if (s->tree)
        name = "tree";
    if (s->json)
        name = "json";
    if (exporter_find(name, &x, NULL) == 0)
        return x;
    return NULL;
}

int view_save(const char *path, const struct profile *p, struct err *err)
{
    const struct exporter *x;
    const char *dot = strrchr(path, '.'), *format = "prf";
    if (dot && !strcmp(dot, ".json"))
        format = "json";
    int ret = exporter_find(format, &x, err);
    if (ret < 0)
        return ret;
    return exporter_save(x, p, &(struct report_options){ 0 }, path, err);
}

struct report_options view_options(const struct settings *s, const struct symbols *syms, FILE *out)
{
    unsigned width = terminal_width(out);
    const char *no_color = getenv("NO_COLOR");
    return (struct report_options){
        .width = EITHER(width, 100u),
        .color = view_columns(out) && !text_given(no_color),
        .ascii = !width || !speaks_utf8(),
        .sort = s->sort,
        .up = s->tree_up,
        .hits = s->hits,
        .all = s->all,
        .symbols = syms,
    };
}

int view_show(const struct settings *s, const struct profile *p, const struct symbols *syms,
              FILE *out, struct err *err)
{
    struct text_sink sink = file_sink(out);
    struct report_options o = view_options(s, syms, out);
    return view_exporter(s)->write(p, &o, &sink, err);
}
