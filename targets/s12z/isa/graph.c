/* The flow graph of an S12Z program. Its instructions say where they lead, but for jumps through
 * registers and memory, whose ways are not known. */
#include "targets/graph.h"

#include "targets/s12z/s12z.h"

int s12z_graph(const struct image *im, struct graph *out, struct err *err)
{
    const struct graph_code code = { .insn = s12z_insn_text };
    return graph_make(im, &code, out, err);
}
