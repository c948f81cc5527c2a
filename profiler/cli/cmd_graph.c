/* `probeprof graph`: basic blocks of a program and where they go on, for both CPUs. */
#include <inttypes.h>
#include <string.h>

#include "probe/base/choice.h"
#include "probe/base/text.h"
#include "profiler/cli/command.h"
#include "profiler/cli/parts.h"
#include "profiler/cli/view.h"
#include "profiler/core/symbols.h"
#include "profiler/views/json_writer.h"

enum { GRAPH_DOT, GRAPH_JSON, GRAPH_HELP };
static const struct opt graph_opts[] = {
    { "dot", 0, NULL, "print it for Graphviz: | dot -Tsvg", GRAPH_DOT },
    { "json", 0, NULL, "print one JSON document", GRAPH_JSON },
    { "help", 'h', NULL, "this text", GRAPH_HELP },
    { NULL, 0, NULL, NULL, 0 },
};

enum { WHERE_TEXT = 256 };
struct graph_view {
    bool dot, json;
    const char *name[2]; /* ELF, FUNCTION */
    struct symbols *syms;
    const struct part *part;
    struct graph graph;
    size_t first, behind; /* blocks shown: [first, behind) */
    FILE *out;
};

static int take_option(void *ctx, int id, const char *value, struct err *err)
{
    struct graph_view *v = ctx;
    (void)value;
    v->dot |= id == GRAPH_DOT;
    v->json |= id == GRAPH_JSON;
    if (v->dot && v->json)
        return err_set(err, ERR_USAGE, "leave one out", "both --dot and --json");
    return 0;
}

static const char *place_text(const struct graph_view *v, uint64_t addr, char buf[WHERE_TEXT])
{
    return symbols_describe(v->syms, addr, buf, WHERE_TEXT);
}

/* ---- instructions of a block ---- */

/* The instruction at pc as one line, with blanks for tabs. Returns its bytes, 0 where there is
 * none. */
static size_t insn_text(const struct graph_view *v, uint64_t pc, char *buf, size_t cap)
{
    const struct image *im = symbols_image(v->syms);
    struct insn i;
    for (size_t k = 0; k < im->nsections; k++) {
        const struct image_section *s = &im->sections[k];
        if (!s->code || !s->data || pc - s->addr >= s->size)
            continue;
        size_t n = v->part->ops()->insn(s->data + (pc - s->addr),
                                        (size_t)(s->size - (pc - s->addr)), pc, im->big_endian, &i);
        size_t word = strcspn(i.text, "\t");
        if (!i.text[word] || !i.text[word + 1]) {
            snprintf(buf, cap, "%.*s", (int)word, i.text);
            return n;
        }
        snprintf(buf, cap, "%-7.*s %s", (int)word, i.text, i.text + word + 1);
        return n;
    }
    return 0;
}

/* ---- text ---- */

static void print_edges(const struct graph_view *v, const struct graph_block *b)
{
    char buf[WHERE_TEXT];
    for (uint32_t k = 0; k < b->nedges; k++) {
        const struct graph_edge *e = &v->graph.edge[b->edge + k];
        text_print(v->out, "    -> %-11s  %08" PRIx64 "  %s%s\n", graph_edge_name(e->kind),
                   e->target, place_text(v, e->target, buf),
                   text_if(e->to == GRAPH_NONE, "  (no code known there)"));
    }
    if (b->end == INSN_RETURN || b->end == INSN_HANDLER_RETURN)
        fprintf(v->out, "    -> return\n");
    if (b->unknown)
        fprintf(v->out, "    -> unknown\n");
}

static void print_block(const struct graph_view *v, const struct graph_block *b)
{
    char buf[WHERE_TEXT], text[128];
    text_print(v->out, "%08" PRIx64 " <%s>:\n", b->low, place_text(v, b->low, buf));
    size_t n;
    for (uint64_t pc = b->low; pc < b->high && (n = insn_text(v, pc, text, sizeof text)); pc += n)
        text_print(v->out, "    %08" PRIx64 "  %s\n", pc, text);
    if (b->has_callee)
        text_print(v->out, "    calls %s\n", place_text(v, b->callee, buf));
    else if (b->end == INSN_CALL_INDIRECT)
        fprintf(v->out, "    calls what is not known\n");
    print_edges(v, b);
    fputc('\n', v->out);
}

static void print_text(const struct graph_view *v)
{
    size_t edges = 0, unknown = 0;
    for (size_t k = v->first; k < v->behind; k++) {
        print_block(v, &v->graph.block[k]);
        edges += v->graph.block[k].nedges;
        unknown += v->graph.block[k].unknown;
    }
    fprintf(v->out, "%zu blocks, %zu edges; %zu blocks go on where nothing is known\n",
            v->behind - v->first, edges, unknown);
}

/* ---- dot ---- */

/* Within a label in quotes. */
static void print_quoted(FILE *out, const char *text)
{
    for (; *text; text++)
        text_print(out, *text == '"' || *text == '\\' ? "\\%c" : "%c", *text);
}

static void print_dot_block(const struct graph_view *v, const struct graph_block *b)
{
    static const char *const styles[] = { "", "", " style=bold", " style=dashed" };
    char buf[WHERE_TEXT], text[128];
    fprintf(v->out, "  b%" PRIx64 " [label=\"", b->low);
    print_quoted(v->out, place_text(v, b->low, buf));
    size_t n;
    for (uint64_t pc = b->low; pc < b->high && (n = insn_text(v, pc, text, sizeof text)); pc += n) {
        fprintf(v->out, "\\l%08" PRIx64 "  ", pc);
        print_quoted(v->out, text);
    }
    fprintf(v->out, "\\l\"];\n");
    for (uint32_t k = 0; k < b->nedges; k++) {
        const struct graph_edge *e = &v->graph.edge[b->edge + k];
        text_print(v->out, "  b%" PRIx64 " -> b%" PRIx64 " [label=\"%s\"%s];\n", b->low, e->target,
                   graph_edge_name(e->kind), styles[e->kind]);
    }
    if (b->unknown)
        fprintf(v->out,
                "  b%" PRIx64 " -> u%" PRIx64 " [style=dotted];\n  u%" PRIx64 " [label=\"?\"];\n",
                b->low, b->low, b->low);
}

/* Where edges lead out of what is shown: by name. */
static void print_dot_outside(const struct graph_view *v, const struct graph_block *b)
{
    char buf[WHERE_TEXT];
    for (uint32_t k = 0; k < b->nedges; k++) {
        const struct graph_edge *e = &v->graph.edge[b->edge + k];
        if (e->to != GRAPH_NONE && e->to >= v->first && e->to < v->behind)
            continue;
        fprintf(v->out, "  b%" PRIx64 " [style=dashed label=\"", e->target);
        print_quoted(v->out, place_text(v, e->target, buf));
        fprintf(v->out, "\"];\n");
    }
}

static void print_dot(const struct graph_view *v)
{
    fprintf(v->out, "digraph blocks {\n  node [shape=box fontname=monospace];\n");
    for (size_t k = v->first; k < v->behind; k++) {
        print_dot_outside(v, &v->graph.block[k]);
        print_dot_block(v, &v->graph.block[k]);
    }
    fprintf(v->out, "}\n");
}

/* ---- JSON ---- */

static void json_edges(struct json_writer *j, const struct graph_view *v,
                       const struct graph_block *b)
{
    json_write_key(j, "edges");
    json_write_array(j, true);
    for (uint32_t k = 0; k < b->nedges; k++) {
        const struct graph_edge *e = &v->graph.edge[b->edge + k];
        json_write_object(j, true);
        json_member_string(j, "kind", graph_edge_name(e->kind));
        json_member_uint(j, "target", e->target);
        json_member_bool(j, "known_code", e->to != GRAPH_NONE);
        json_write_end(j);
    }
    json_write_end(j);
}

static void json_block(struct json_writer *j, const struct graph_view *v,
                       const struct graph_block *b)
{
    const struct image *im = symbols_image(v->syms);
    json_write_object(j, true);
    json_member_uint(j, "low", b->low);
    json_member_uint(j, "high", b->high);
    json_member_uint(j, "last", b->last);
    json_member_uint(j, "instructions", b->ninsns);
    json_member_string(j, "function",
                       b->function == GRAPH_NONE ? NULL : im->functions[b->function].name);
    json_member_bool(j, "returns", b->end == INSN_RETURN || b->end == INSN_HANDLER_RETURN);
    json_member_bool(j, "calls", b->end == INSN_CALL || b->end == INSN_CALL_INDIRECT);
    json_member_uint_if(j, "callee", b->has_callee, b->callee);
    json_member_bool(j, "unknown", b->unknown);
    json_edges(j, v, b);
    json_write_end(j);
}

static void print_json(const struct graph_view *v)
{
    struct text_sink sink = file_sink(v->out);
    struct json_writer j = { .out = &sink };
    json_write_object(&j, false);
    json_member_string(&j, "schema", "probeprof.graph/1");
    json_write_key(&j, "blocks");
    json_write_array(&j, false);
    for (size_t k = v->first; k < v->behind; k++)
        json_block(&j, v, &v->graph.block[k]);
    json_write_end(&j);
    json_write_end(&j);
    fputc('\n', v->out);
}

/* ---- the command ---- */

/* Which blocks: those of the function that is named, or all. */
static int choose_blocks(struct graph_view *v, struct err *err)
{
    const struct graph *g = &v->graph;
    uint64_t addr;
    v->behind = g->nblocks;
    if (!v->name[1])
        return 0;
    int ret = symbols_parse(v->syms, v->name[1], &addr, err);
    if (ret < 0)
        return ret;
    long f = symbols_find(v->syms, addr);
    if (f < 0)
        return err_set(err, ERR_NOT_FOUND, "leave it out to see all blocks",
                       "%s: no function is there", v->name[1]);
    const struct symbol_function *fn = symbols_function(v->syms, (size_t)f);
    while (v->first < g->nblocks && g->block[v->first].low < fn->low)
        v->first++;
    for (v->behind = v->first; v->behind < g->nblocks && g->block[v->behind].low < fn->high;)
        v->behind++;
    return 0;
}

static int show_graph(struct graph_view *v, struct err *err)
{
    int ret = v->part->ops()->graph(symbols_image(v->syms), &v->graph, err);
    if (ret == 0)
        ret = choose_blocks(v, err);
    if (ret == 0 && v->first == v->behind)
        ret = err_set(err, ERR_NOT_FOUND, "probeprof disasm shows it as instructions",
                      "%s: no control flow leads there", text_or(v->name[1], v->name[0]));
    if (ret < 0)
        return ret;
    if (v->dot)
        print_dot(v);
    else if (v->json)
        print_json(v);
    else
        print_text(v);
    return 0;
}

static int run_graph(struct cli *cli, int argc, char **argv, struct err *err)
{
    struct graph_view v = { .out = cli->out };
    int ret = opts_parse(graph_opts, argc, argv, take_option, &v, v.name, 2, err);
    if (ret < 0)
        return ret;
    if (ret == 0)
        return err_set(err, ERR_USAGE, "probeprof graph game.elf main", "graph needs an ELF");
    ret = part_open_code(v.name[0], &v.syms, &v.part, err);
    if (ret == 0)
        ret = show_graph(&v, err);
    graph_fini(&v.graph);
    symbols_close(v.syms);
    return ret;
}

const struct command command_graph = {
    "graph",
    "graph ELF [FUNCTION] [--dot|--json]",
    "show the basic blocks of a program and where each goes on",
    graph_opts,
    "FUNCTION is a function, or an address in one; without it all blocks are shown.\n"
    "Example:\n  probeprof graph game.elf main\n"
    "  probeprof graph game.elf main --dot | dot -Tsvg > main.svg\n",
    run_graph,
};
