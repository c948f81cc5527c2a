/* What the files that make an order share. */
#ifndef PROFILER_ANALYSES_ORDER_PRIV_H
#define PROFILER_ANALYSES_ORDER_PRIV_H

#include "profiler/analyses/order.h"

/* order_check_map - is the map of the link that made this program? Its code sections are where the
 * map has them, and so are the functions that the map names. Returns 0, -ERR_FORMAT, -ERR_NOMEM. */
int order_check_map(const struct link_map *m, const struct symbols *syms, struct err *err);

/* order_no_memory - says that memory is out; -ERR_NOMEM. */
int order_no_memory(struct err *err);

/* order_take_edges - fills the edges, when units are chosen. Returns 0 or -ERR_NOMEM. */
int order_take_edges(const struct order_wish *w, struct order *o, struct err *err);

#endif
