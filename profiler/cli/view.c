#include "profiler/cli/view.h"

#include <stdlib.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include "profiler/report_json.h"

static void write_file(void *ctx, const char *text, size_t len) { fwrite(text, 1, len, ctx); }

struct text_sink file_sink(FILE *out) { return (struct text_sink){ .write = write_file, .ctx = out }; }

unsigned view_columns(FILE *out)
{
    struct winsize size;
    if (!isatty(fileno(out)))
        return 0;
    return ioctl(fileno(out), TIOCGWINSZ, &size) == 0 && size.ws_col ? size.ws_col : 80;
}

void view_show(const struct settings *s, const struct profile *p, const struct symbols *syms, FILE *out)
{
    struct text_sink sink = file_sink(out);
    unsigned columns = view_columns(out);
    const char *no_color = getenv("NO_COLOR");
    struct report_options o = {
        .width = columns ? columns : 100,
        .color = columns && !(no_color && *no_color),
        .ascii = !columns,
        .sort = s->sort,
        .hits = s->hits,
        .all = s->all,
        .symbols = syms,
    };
    if (s->json) {
        report_json(p, &sink);
        return;
    }
    if (s->tree)
        report_tree(p, &o, &sink);
    else
        report_functions(p, &o, &sink);
    sink_printf(&sink, "\n");
    report_summary(p, &o, &sink);
}
