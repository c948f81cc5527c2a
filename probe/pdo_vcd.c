#include "probe/pdo_vcd.h"

#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "probe/base/choice.h"
#include "probe/base/options.h"
#include "probe/base/util.h"

enum { CLK, DATA };

void pdo_vcd_init(struct pdo_vcd *v, const char *clk, const char *data)
{
    memset(v, 0, sizeof *v);
    v->line = 1;
    snprintf(v->want[CLK], sizeof v->want[CLK], "%s", text_or(clk, "PDOCLK"));
    snprintf(v->want[DATA], sizeof v->want[DATA], "%s", text_or(data, "PDO"));
}

static int refuse_file(const struct pdo_vcd *v, const char *why, struct err *err)
{
    return err_set(err, ERR_FORMAT, "give a value change dump (VCD) of the two pins",
                   "line %llu: %s", (unsigned long long)v->line, why);
}

static int refuse_signals(const struct pdo_vcd *v, struct err *err)
{
    return err_set(
        err, ERR_FORMAT,
        "name them as the file does: --signals CLOCK,DATA; pdoclk= and pdo= behind --pdo",
        "the file declares no signal '%s'; it has %s", *v->id[CLK] ? v->want[DATA] : v->want[CLK],
        *v->names ? v->names : "none");
}

/* $var TYPE BITS ID NAME ... */
static void note_signal(struct pdo_vcd *v)
{
    size_t used = strlen(v->names);
    if (v->nfields == 4 && !strcmp(v->field[1], "1"))
        snprintf(v->names + used, sizeof v->names - used, "%s%s", text_if(used, ", "), v->field[3]);
    for (unsigned k = 0; k < 2 && v->nfields == 4; k++)
        if (!strcasecmp(v->field[3], v->want[k]) && !strcmp(v->field[1], "1"))
            snprintf(v->id[k], sizeof v->id[k], "%s", v->field[2]);
}

/* $timescale 10 ns, or 10ns */
static void read_timescale(struct pdo_vcd *v)
{
    static const struct {
        const char *name;
        uint64_t hz;
    } units[] = { { "s", 1 },           { "ms", 1000 },          { "us", 1000000 },
                  { "ns", 1000000000 }, { "ps", 1000000000000 }, { "fs", 1000000000000000 } };
    const char *unit = v->field[0];
    uint64_t n = 0;
    options_number(&unit, 10, &n);
    const char *name = *unit || v->nfields < 2 ? unit : v->field[1];
    for (size_t k = 0; k < ARRAY_LEN(units); k++)
        if (v->nfields && (n == 1 || n == 10 || n == 100) && !strcmp(name, units[k].name))
            v->tick_hz = units[k].hz / n;
}

static int read_keyword(struct pdo_vcd *v, const char *t, struct err *err)
{
    if (!strcmp(t, "$end")) {
        if (!strcmp(v->keyword, "$var"))
            note_signal(v);
        if (!strcmp(v->keyword, "$timescale"))
            read_timescale(v);
        *v->keyword = 0;
        return 0;
    }
    if (!strcmp(t, "$enddefinitions")) {
        if (!*v->id[CLK] || !*v->id[DATA])
            return refuse_signals(v, err);
        v->body = true;
    }
    bool values = v->body && (!strcmp(t, "$dumpvars") || !strcmp(t, "$dumpall") ||
                              !strcmp(t, "$dumpon") || !strcmp(t, "$dumpoff"));
    snprintf(v->keyword, sizeof v->keyword, "%.15s", text_if(!values, t));
    v->nfields = 0;
    return 0;
}

static int put_edge(struct pdo_vcd *v, pdo_edge *out)
{
    if (!v->changed)
        return 0;
    v->changed = false;
    v->changes++;
    *out = PDO_EDGE(v->time, v->level[CLK], v->level[DATA]);
    return 1;
}

static int time_mark(struct pdo_vcd *v, const char *t, pdo_edge *out, struct err *err)
{
    const char *end = t + 1;
    uint64_t to;
    if (!options_number(&end, 10, &to) || *end || to >> 62)
        return refuse_file(v, "a time that is no number", err);
    if (v->timed && to < v->time)
        return refuse_file(v, "time goes back", err);
    int ret = 0;
    if (v->timed)
        ret = put_edge(v, out);
    v->changed |= !v->timed; /* the levels as the capture begins */
    v->timed = true;
    v->time = to;
    return ret;
}

static void note_value(struct pdo_vcd *v, const char *id, unsigned level)
{
    for (unsigned k = 0; k < 2; k++)
        if (!strcmp(id, v->id[k]) && level != v->level[k]) {
            v->level[k] = level;
            v->changed = true;
        }
}

static int read_token(struct pdo_vcd *v, pdo_edge *out, struct err *err)
{
    const char *t = v->token;
    if (*v->keyword && strcmp(t, "$end") != 0) {
        if (v->nfields < 4)
            snprintf(v->field[v->nfields++], PDO_VCD_NAME, "%.63s", t);
        return 0;
    }
    if (*t == '$')
        return read_keyword(v, t, err);
    /* sigrok-cli 0.7.2 writes a line "META samplerate: ..." before what it converts */
    if (!v->body) {
        v->meta |= v->line == 1 && !strcmp(t, "META");
        if (v->meta && v->line == 1)
            return 0;
        return refuse_file(v, "no declaration", err);
    }
    if (v->vector) {
        v->vector = false;
        return 0;
    }
    if (*t == '#')
        return time_mark(v, t, out, err);
    if (strchr("bBrR", *t)) {
        v->vector = true;
        return 0;
    }
    if (!strchr("01xXzZ", *t) || !t[1])
        return refuse_file(v, "no value change", err);
    note_value(v, t + 1, *t == '1');
    return 0;
}

int pdo_vcd_feed(struct pdo_vcd *v, const char *text, size_t n, pdo_edge *out, struct err *err)
{
    int edges = 0;
    for (size_t k = 0; k < n; k++) {
        if (!isspace((unsigned char)text[k])) {
            if (v->ntoken + 1 <
                sizeof v->token) /* longer ones are no names of signals that are used */
                v->token[v->ntoken++] = text[k];
            continue;
        }
        v->token[v->ntoken] = 0;
        int ret = 0;
        if (v->ntoken)
            ret = read_token(v, out + edges, err);
        v->ntoken = 0;
        if (ret < 0)
            return ret;
        edges += ret;
        v->line += text[k] == '\n';
    }
    return edges;
}

int pdo_vcd_end(struct pdo_vcd *v, pdo_edge *out, struct err *err)
{
    int ret = pdo_vcd_feed(v, "\n", 1, out, err);
    if (ret == 0 && !v->body)
        return refuse_signals(v, err);
    if (ret)
        return ret;
    return put_edge(v, out);
}
