#include "targets/s12z/trace_vcd.h"

#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

enum { CLK, DATA };

void s12z_vcd_init(struct s12z_vcd *v, const char *clk, const char *data, struct s12z_edges *out)
{
    memset(v, 0, sizeof *v);
    v->out = out;
    v->line = 1;
    snprintf(v->want[CLK], sizeof v->want[CLK], "%s", clk ? clk : "PDOCLK");
    snprintf(v->want[DATA], sizeof v->want[DATA], "%s", data ? data : "PDO");
}

static int bad(const struct s12z_vcd *v, const char *why, struct err *err)
{
    return err_set(err, ERR_FORMAT, "give a value change dump (VCD) of the two pins", "line %llu: %s", (unsigned long long)v->line, why);
}

static int missing(const struct s12z_vcd *v, struct err *err)
{
    return err_set(err, ERR_FORMAT, "--signals CLOCK,DATA names them as the file does", "the file declares no signal '%s'",
                   *v->id[CLK] ? v->want[DATA] : v->want[CLK]);
}

/* $var TYPE BITS ID NAME ... */
static void declared(struct s12z_vcd *v)
{
    for (unsigned k = 0; k < 2 && v->nfields == 4; k++)
        if (!strcasecmp(v->field[3], v->want[k]) && !strcmp(v->field[1], "1"))
            snprintf(v->id[k], sizeof v->id[k], "%s", v->field[2]);
}

static int keyword(struct s12z_vcd *v, const char *t, struct err *err)
{
    if (!strcmp(t, "$end")) {
        if (!strcmp(v->keyword, "$var"))
            declared(v);
        *v->keyword = 0;
        return 0;
    }
    if (!strcmp(t, "$enddefinitions")) {
        if (!*v->id[CLK] || !*v->id[DATA])
            return missing(v, err);
        v->body = true;
    }
    bool values = v->body && (!strcmp(t, "$dumpvars") || !strcmp(t, "$dumpall") || !strcmp(t, "$dumpon") || !strcmp(t, "$dumpoff"));
    snprintf(v->keyword, sizeof v->keyword, "%.15s", values ? "" : t);
    v->nfields = 0;
    return 0;
}

static int put_edge(struct s12z_vcd *v)
{
    pdo_edge e = PDO_EDGE(v->time, v->level[CLK], v->level[DATA]);
    if (!v->changed)
        return 0;
    v->changed = false;
    v->changes++;
    return s12z_edges_feed(v->out, &e, 1);
}

static int time_mark(struct s12z_vcd *v, const char *t, struct err *err)
{
    char *end;
    unsigned long long to = strtoull(t + 1, &end, 10);
    if (*end || end == t + 1 || to >> 62)
        return bad(v, "a time that is no number", err);
    if (v->timed && to < v->time)
        return bad(v, "time goes back", err);
    int ret = v->timed ? put_edge(v) : 0;
    v->changed |= !v->timed; /* the levels as the capture begins */
    v->timed = true;
    v->time = to;
    return ret;
}

static void value(struct s12z_vcd *v, const char *id, unsigned level)
{
    for (unsigned k = 0; k < 2; k++)
        if (!strcmp(id, v->id[k]) && level != v->level[k]) {
            v->level[k] = level;
            v->changed = true;
        }
}

static int token(struct s12z_vcd *v, struct err *err)
{
    const char *t = v->token;
    if (*v->keyword && strcmp(t, "$end") != 0) {
        if (v->nfields < 4)
            snprintf(v->field[v->nfields++], S12Z_VCD_NAME, "%.63s", t);
        return 0;
    }
    if (*t == '$')
        return keyword(v, t, err);
    if (!v->body)
        return bad(v, "no declaration", err);
    if (v->vector) {
        v->vector = false;
        return 0;
    }
    if (*t == '#')
        return time_mark(v, t, err);
    if (strchr("bBrR", *t)) {
        v->vector = true;
        return 0;
    }
    if (!strchr("01xXzZ", *t) || !t[1])
        return bad(v, "no value change", err);
    value(v, t + 1, *t == '1');
    return 0;
}

int s12z_vcd_feed(struct s12z_vcd *v, const char *text, size_t n, struct err *err)
{
    for (size_t k = 0; k < n; k++) {
        if (!isspace((unsigned char)text[k])) {
            if (v->ntoken + 1 < sizeof v->token) /* longer ones are names nobody asks for */
                v->token[v->ntoken++] = text[k];
            continue;
        }
        v->token[v->ntoken] = 0;
        int ret = v->ntoken ? token(v, err) : 0;
        v->ntoken = 0;
        if (ret < 0)
            return ret;
        v->line += text[k] == '\n';
    }
    return 0;
}

int s12z_vcd_end(struct s12z_vcd *v, struct err *err)
{
    int ret = s12z_vcd_feed(v, "\n", 1, err);
    if (ret == 0 && !v->body)
        return missing(v, err);
    return ret < 0 ? ret : put_edge(v);
}
