#include "profiler/cli/explain.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "probe/base/choice.h"
#include "probe/base/text.h"
#include "profiler/cli/view.h"
#include "profiler/views/json_writer.h"
#include "targets/s12z/offline/explain.h"

struct explain {
    struct cli *cli;
    const struct explain_config *cfg;
    bool terminal;
    struct s12z_explained found;
    /* the best variant over the whole file, where that is longer than what was tried */
    struct s12z_fit whole;
    bool longer;
    /* the pass under way */
    struct s12z_fitting fitting;
    uint64_t left;
};

/* ---- trying ---- */

static int on_item(void *ctx, const struct s12z_item *i)
{
    struct explain *x = ctx;
    if (!x->left)
        return -ERR_STATE; /* enough: pass() tells it from a failure */
    x->left--;
    return s12z_fit_item(&x->fitting, i);
}

static int read_pass(void *ctx, const struct s12z_settings *s, uint64_t max_lines,
                     struct s12z_fit *out, struct err *err)
{
    struct explain *x = ctx;
    struct trace_input in = x->cfg->in;
    struct trace_input_stats stats = { 0 };
    in.settings = *s;
    x->fitting = (struct s12z_fitting){ .flow = NULL };
    x->left = max_lines;
    int ret = s12z_flow_new(symbols_image(x->cfg->syms), s, s12z_fit_event, &x->fitting,
                            &x->fitting.flow, err);
    if (ret == 0 && x->cfg->ivbr)
        s12z_flow_set_vectors(x->fitting.flow, x->cfg->ivbr);
    if (ret == 0)
        ret = trace_input_read(x->cfg->path, &in, on_item, x, &stats, err);
    s12z_flow_free(x->fitting.flow);
    x->fitting.fit.pthf = stats.pthf_bytes;
    *out = x->fitting.fit;
    if (ret == -ERR_STATE && !x->left)
        return 0;
    return ret;
}

static void show_progress(void *ctx, size_t made)
{
    struct explain *x = ctx;
    if (x->terminal)
        fprintf(x->cli->err_out, "\rprobeprof: %zu encodings tried ", made);
}

static int whole_file(struct explain *x, struct err *err)
{
    const struct s12z_variant *b = &x->found.row[x->found.best];
    x->longer = b->fit.lines + b->fit.bad == S12Z_EXPLAIN_LINES;
    if (!x->longer || !x->found.any_fits)
        return 0;
    return read_pass(x, &b->settings, UINT64_MAX, &x->whole, err);
}

/* ---- words ---- */

static const char *value_of(const struct s12z_setting *t, const struct s12z_settings *s)
{
    return t->values[t->get(s)];
}

static bool is_changed(const struct explain *x, const struct s12z_setting *t,
                       const struct s12z_variant *v)
{
    return t->get(&v->settings) != t->get(&x->found.given);
}

static const char *verdict_of(const struct s12z_variant *v)
{
    if (v->fits)
        return "consistent";
    if (!v->failed && s12z_fit_is_clean(&v->fit))
        return "follows less";
    return "does not fit";
}

/* "a=b c=d", or "as given". */
static char *name_rows(const struct explain *x, const struct s12z_variant *v, char *buf, size_t cap)
{
    size_t n = 0;
    *buf = 0;
    for (const struct s12z_setting *t = s12z_setting_list(); t->name; t++)
        if (is_changed(x, t, v) && n < cap)
            n += (size_t)snprintf(buf + n, cap - n, "%s%s=%s", text_if(n, " "), t->name,
                                  value_of(t, &v->settings));
    if (!*buf)
        snprintf(buf, cap, "as given");
    return buf;
}

static bool any_undecided(const struct explain *x)
{
    for (size_t t = 0; t < S12Z_MAX_SETTINGS; t++)
        if (x->found.undecided[t])
            return true;
    return false;
}

static unsigned fitting_rows(const struct explain *x)
{
    unsigned n = 0;
    for (size_t k = 0; k < x->found.n; k++)
        n += x->found.row[k].fits;
    return n;
}

/* Shows each change alone, whether it fits or not; of combinations those that fit, or the nearest
 * one. */
static bool worth_telling(const struct explain *x, size_t k)
{
    return x->found.row[k].nchanges <= 1 || x->found.row[k].fits || k == x->found.best;
}

/* ---- the table ---- */

static void show_row(const struct explain *x, const struct s12z_variant *v)
{
    char text[256], *at,
        *word = strtok_r(name_rows(x, v, text, sizeof text), text_if(v->nchanges, " "), &at);
    text_print(x->cli->out, "%-27s %9" PRIu64 " %8" PRIu64 " %9" PRIu64 " %8" PRIu64 "  %s\n", word,
               v->fit.lines, v->fit.bad, v->fit.walked, v->fit.misfits, verdict_of(v));
    while (v->nchanges && (word = strtok_r(NULL, " ", &at)))
        text_print(x->cli->out, "  %s\n", word);
}

static void show_table(const struct explain *x)
{
    size_t hidden = 0;
    text_print(x->cli->out, "%-27s %9s %8s %9s %8s\n", "settings", "lines", "no lines", "walked",
               "misfits");
    for (size_t k = 0; k < x->found.n; k++)
        if (worth_telling(x, k))
            show_row(x, &x->found.row[k]);
        else
            hidden++;
    if (hidden)
        text_print(x->cli->out, "%zu more combinations, none %s\n", hidden,
                   x->found.any_fits ? "as good" : "nearer");
}

static void show_undecided(const struct explain *x)
{
    const struct s12z_setting *list = s12z_setting_list();
    for (size_t t = 0; list[t].name; t++) {
        if (!x->found.undecided[t])
            continue;
        text_print(x->cli->out, "cannot tell        %s:", list[t].name);
        for (unsigned v = 0; v < 4 && list[t].values[v]; v++)
            text_print(x->cli->out, "%s %s", text_if(v, " or"), list[t].values[v]);
        fputs("\n", x->cli->out);
    }
}

static void show_verdict(const struct explain *x)
{
    const struct s12z_variant *b = &x->found.row[x->found.best];
    char text[256], *at;
    if (!x->found.any_fits) {
        fprintf(
            x->cli->out,
            "nothing fits: of %zu encodings tried none follows the program; this ELF may not be\n"
            "what was traced, lines may be missing, or more is unusual than was tried\n",
            x->found.n);
        return;
    }
    for (char *w = strtok_r(name_rows(x, b, text, sizeof text), text_if(b->nchanges, " "), &at); w;
         w = strtok_r(NULL, " ", &at))
        text_print(x->cli->out, "consistent %s    %s\n", b->nchanges ? "with" : "    ", w);
    if (b->fit.pthf)
        fprintf(x->cli->out, "the stream says    pthf=%u\n", b->fit.pthf);
    show_undecided(x);
    for (int k = s12z_explained_other(&x->found, 0); k >= 0;
         k = s12z_explained_other(&x->found, (size_t)k + 1))
        text_print(x->cli->out, "cannot tell        or %s\n",
                   name_rows(x, &x->found.row[k], text, sizeof text));
    if (x->longer && (x->whole.bad || x->whole.misfits))
        fprintf(x->cli->out, "further on         %" PRIu64 " of %" PRIu64 " lines do not fit\n",
                x->whole.bad + x->whole.misfits, x->whole.lines);
    else if (x->longer)
        fprintf(x->cli->out, "tried on %u lines; all %" PRIu64 " are consistent\n",
                S12Z_EXPLAIN_LINES, x->whole.lines);
}

/* ---- JSON ---- */

static void json_settings(struct json_writer *j, const struct s12z_settings *s)
{
    json_write_key(j, "settings");
    json_write_object(j, true);
    for (const struct s12z_setting *t = s12z_setting_list(); t->name; t++)
        json_member_string(j, t->name, value_of(t, s));
    json_write_end(j);
}

static void json_row(struct json_writer *j, const struct s12z_variant *v)
{
    json_write_object(j, false);
    json_settings(j, &v->settings);
    json_member_uint(j, "changes", v->nchanges);
    json_member_uint(j, "lines", v->fit.lines);
    json_member_uint(j, "no_lines", v->fit.bad);
    json_member_uint(j, "walked", v->fit.walked);
    json_member_uint(j, "misfits", v->fit.misfits);
    json_member_uint(j, "unplaced", v->fit.unplaced);
    json_member_uint(j, "astray", v->fit.astray);
    json_member_uint(j, "stamps_from_line", v->fit.from_line);
    json_member_uint(j, "stamps_from_flow", v->fit.from_flow);
    json_member_string(j, "verdict", verdict_of(v));
    json_write_end(j);
}

static void json_undecided(const struct explain *x, struct json_writer *j)
{
    const struct s12z_setting *list = s12z_setting_list();
    json_write_key(j, "undecided");
    json_write_array(j, true);
    for (size_t t = 0; list[t].name; t++)
        if (x->found.undecided[t])
            json_write_string(j, list[t].name);
    json_write_end(j);
}

static void show_json(const struct explain *x)
{
    struct text_sink sink = file_sink(x->cli->out);
    struct json_writer j = { .out = &sink };
    bool clear = fitting_rows(x) == 1 && !any_undecided(x);
    json_write_object(&j, false);
    json_write_key(&j, "verdict");
    const char *words = "cannot tell all";
    if (clear)
        words = "consistent";
    json_write_string(&j, x->found.any_fits ? words : "nothing fits");
    json_write_key(&j, "best");
    if (x->found.any_fits)
        json_row(&j, &x->found.row[x->found.best]);
    else
        json_write_null(&j);
    json_member_uint(&j, "pthf_told", x->found.any_fits ? x->found.row[x->found.best].fit.pthf : 0);
    json_undecided(x, &j);
    json_member_uint(&j, "tried", x->found.n);
    json_write_key(&j, "rows");
    json_write_array(&j, false);
    for (size_t k = 0; k < x->found.n; k++)
        json_row(&j, &x->found.row[k]);
    json_write_end(&j);
    json_write_end(&j);
    fputs("\n", x->cli->out);
}

int explain_file(struct cli *cli, const struct explain_config *cfg, struct err *err)
{
    struct explain *x = calloc(1, sizeof *x);
    bool edges = cfg->in.format == TRACE_EDGES || cfg->in.format == TRACE_VCD;
    if (!x)
        return err_set(err, ERR_NOMEM, "close other programs", "%s: out of memory", cfg->path);
    x->cli = cli;
    x->cfg = cfg;
    x->terminal = isatty(fileno(cli->err_out));
    int ret = s12z_explain(&cfg->in.settings, edges, edges || cfg->in.format == TRACE_PDO_BYTES,
                           read_pass, show_progress, x, &x->found, err);
    if (ret == 0)
        ret = whole_file(x, err);
    if (x->terminal)
        view_clear_line(cli->err_out);
    if (ret == 0 && cfg->json) {
        show_json(x);
    } else if (ret == 0) {
        show_table(x);
        show_verdict(x);
    }
    free(x);
    return ret;
}
