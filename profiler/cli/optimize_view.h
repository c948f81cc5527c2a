/* What `probeprof optimize` shows: what is put in order, what stays and why, groups and cliques. */
#ifndef PROFILER_CLI_OPTIMIZE_VIEW_H
#define PROFILER_CLI_OPTIMIZE_VIEW_H

#include "probe/base/sink.h"
#include "profiler/analyses/order.h"
#include "profiler/analyses/order_write.h"

/* optimize_text - in 80 columns, but for names that are longer; o as order_make() leaves it. */
void optimize_text(const struct order *o, const struct order_head *head,
                   const struct text_sink *out);

/* optimize_json - one document, schema probeprof.order/1. */
void optimize_json(const struct order *o, const struct order_head *head,
                   const struct text_sink *out);

#endif
