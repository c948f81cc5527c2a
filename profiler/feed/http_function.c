/* One function and its neighbours: who calls it, whom it calls. */
#include <stdlib.h>
#include <string.h>

#include "probe/base/util.h"
#include "profiler/feed/http_api.h"
#include "profiler/views/json_writer.h"

/* What passes between the function and one neighbour. */
struct edge {
    uint64_t hits, c1_children, c2_children;
    bool is;
};

static void number(struct json_writer *j, const char *key, uint64_t value)
{
    json_write_key(j, key);
    json_write_uint(j, value);
}

static void text(struct json_writer *j, const char *key, const char *value)
{
    json_write_key(j, key);
    json_write_string(j, value && *value ? value : NULL);
}

/* A path below itself is in the one above it already. */
static bool is_inside(const struct feed_node *nodes, uint32_t node)
{
    uint32_t callee = nodes[node].function, caller = nodes[nodes[node].parent].function;
    for (uint32_t up = nodes[node].parent; nodes[up].parent != FEED_NO_PARENT;
         up = nodes[up].parent)
        if (nodes[up].function == callee && nodes[nodes[up].parent].function == caller)
            return true;
    return false;
}

static void add(struct edge *e, const struct feed_node *nodes, uint32_t node)
{
    e->is = true;
    e->hits += nodes[node].hits;
    if (is_inside(nodes, node))
        return;
    e->c1_children += nodes[node].c1_children;
    e->c2_children += nodes[node].c2_children;
}

static void write_edges(struct json_writer *j, const char *key, const struct edge *e,
                        const struct feed_function *f, size_t n)
{
    json_write_key(j, key);
    json_write_array(j, false);
    for (size_t i = 0; i < n; i++) {
        if (!e[i].is)
            continue;
        json_write_object(j, true);
        number(j, "function", i);
        text(j, "name", f[i].is.name);
        number(j, "hits", e[i].hits);
        number(j, "c1_children", e[i].c1_children);
        number(j, "c2_children", e[i].c2_children);
        json_write_end(j);
    }
    json_write_end(j);
}

static void write_function(struct json_writer *j, uint64_t id, const struct profile_function *f)
{
    text(j, "schema", "probeprof.function/1");
    number(j, "function", id);
    text(j, "name", f->name);
    text(j, "qualified_name", f->qualified);
    text(j, "file", f->file);
    number(j, "line", f->line > 0 ? (uint64_t)f->line : 0);
    number(j, "low", f->low);
    number(j, "high", f->high);
    number(j, "hits", f->hits);
    number(j, "c1", f->c1);
    number(j, "c1_children", f->c1_children);
    number(j, "c2", f->c2);
    number(j, "c2_children", f->c2_children);
}

int http_function(const struct feed *feed, uint64_t id, const struct text_sink *out,
                  struct err *err)
{
    size_t nf, nn;
    const struct feed_function *f = feed_functions(feed, &nf);
    const struct feed_node *nodes = feed_nodes(feed, &nn);
    if (id >= nf)
        return err_set(err, ERR_NOT_FOUND, "ids are those of the snapshot's names",
                       "there is no function %llu in this epoch", (unsigned long long)id);
    struct edge *callers = calloc(2 * nf, sizeof *callers), *callees = callers + nf;
    if (!callers)
        return err_set(err, ERR_NOMEM, "close other programs", "the feed is out of memory");
    for (uint32_t i = 0; i < nn; i++) {
        if (nodes[i].parent == FEED_NO_PARENT)
            continue;
        if (nodes[i].function == id)
            add(&callers[nodes[nodes[i].parent].function], nodes, i);
        if (nodes[nodes[i].parent].function == id)
            add(&callees[nodes[i].function], nodes, i);
    }
    struct json_writer j = { .out = out };
    json_write_object(&j, false);
    write_function(&j, id, &f[id].is);
    write_edges(&j, "callers", callers, f, nf);
    write_edges(&j, "callees", callees, f, nf);
    json_write_end(&j);
    free(callers);
    return 0;
}
