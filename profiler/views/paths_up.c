#include "profiler/views/paths_up.h"

#include <stdlib.h>

#include "probe/base/choice.h"
#include "probe/base/util.h"

enum { FIRST_ROOM = 1024 };

/* Finds a node by its parent and function; open addressing, at most half full. */
struct inversion {
    const struct profile *p;
    struct paths_up *out;
    size_t room;     /* of out->nodes */
    uint32_t *place; /* 2 * room: index into out->nodes, or UINT32_MAX */
};

static size_t first_place(const struct inversion *v, uint32_t parent, uint32_t function)
{
    uint64_t h = ((uint64_t)parent << 32 | function) * 0x9E3779B97F4A7C15ull; /* 2^64 / phi */
    return (size_t)(h >> 20) & (2 * v->room - 1);
}

/* Where the node is in place, or where it would be. */
static uint32_t *find_place(const struct inversion *v, uint32_t parent, uint32_t function)
{
    size_t i = first_place(v, parent, function);
    for (;; i = (i + 1) & (2 * v->room - 1)) {
        uint32_t at = v->place[i];
        if (at == UINT32_MAX ||
            (v->out->nodes[at].parent == parent && v->out->nodes[at].function == function))
            return &v->place[i];
    }
}

static bool make_room(struct inversion *v)
{
    size_t room = EITHER(2 * v->room, (size_t)FIRST_ROOM);
    if (v->out->n < v->room)
        return true;
    struct profile_node *nodes = reallocarray(v->out->nodes, room, sizeof *nodes);
    if (!nodes)
        return false;
    v->out->nodes = nodes;
    uint32_t *place = malloc(2 * room * sizeof *place);
    if (!place)
        return false;
    free(v->place);
    v->place = place;
    v->room = room;
    for (size_t i = 0; i < 2 * room; i++)
        place[i] = UINT32_MAX;
    for (size_t i = 0; i < v->out->n; i++)
        *find_place(v, nodes[i].parent, nodes[i].function) = (uint32_t)i;
    return true;
}

/* Adds a path's own counts to the node, which is made if it is not there. UINT32_MAX: no memory. */
static uint32_t add_counts(struct inversion *v, uint32_t parent, uint32_t function,
                           const struct profile_node *from)
{
    if (!make_room(v))
        return UINT32_MAX;
    uint32_t *place = find_place(v, parent, function);
    if (*place == UINT32_MAX) {
        *place = (uint32_t)v->out->n++;
        v->out->nodes[*place] = (struct profile_node){ .parent = parent, .function = function };
    }
    struct profile_node *n = &v->out->nodes[*place];
    n->hits += from->hits;
    n->c1_children = n->c1 += from->c1;
    n->c2_children = n->c2 += from->c2;
    n->doubtful |= from->doubtful;
    return *place;
}

static bool add_path(struct inversion *v, uint32_t end)
{
    const struct profile_node *nodes = v->p->nodes, *from = &nodes[end];
    uint32_t parent = PROFILE_NO_PARENT, i = end;
    for (unsigned depth = 0; i != PROFILE_NO_PARENT; i = nodes[i].parent, depth++) {
        if (depth > PATHS_UP_DEPTH) {
            v->out->cut++;
            return true;
        }
        parent = add_counts(v, parent, nodes[i].function, from);
        if (parent == UINT32_MAX)
            return false;
    }
    return true;
}

int paths_up(const struct profile *p, struct paths_up *out, struct err *err)
{
    struct inversion v = { .p = p, .out = out };
    bool made = true;
    *out = (struct paths_up){ 0 };
    for (uint32_t i = 0; made && i < p->nnodes; i++)
        if (p->nodes[i].hits || p->nodes[i].c1 || p->nodes[i].c2)
            made = add_path(&v, i);
    free(v.place);
    if (made)
        return 0;
    free(out->nodes);
    *out = (struct paths_up){ 0 };
    return err_set(err, ERR_NOMEM, "close other programs; --tree takes less",
                   "out of memory for call paths");
}
