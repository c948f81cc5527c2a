/* An order as linkers take it, and as people read it. */
#ifndef PROFILER_ANALYSES_ORDER_WRITE_H
#define PROFILER_ANALYSES_ORDER_WRITE_H

#include "probe/base/sink.h"
#include "profiler/analyses/order.h"

/*   LD        a fragment of a linker script of GNU ld, for INCLUDE within its SECTIONS
 *   LD_INSERT a whole script, beside ld's own: -T FILE
 *   LD_ORDER  for ld's --section-ordering-file, from binutils 2.43 on
 *   LLD       for lld's --symbol-ordering-file
 *   GOLD      for gold's --section-ordering-file
 *   LOR       for people: cliques with their functions, sizes and calls, and what stays */
enum order_format {
    ORDER_LD,
    ORDER_LD_INSERT,
    ORDER_LD_ORDER,
    ORDER_LLD,
    ORDER_GOLD,
    ORDER_LOR,
    ORDER_NFORMATS
};

/* order_format_words - the names of all, with a blank between, in the order above; static. */
const char *order_format_words(void);

/* What the head of the file says. */
struct order_head {
    const char *program; /* the ELF's name; borrowed */
    const uint8_t *build_id;
    size_t build_id_len;
    enum order_algorithm algorithm;
};

/* order_write - the order that order_make() has found
 * map   the one it was taken from: section names that are in it once need no object
 * Only order_format_words()'s formats. */
void order_write(const struct order *o, const struct link_map *map, const struct order_head *head,
                 enum order_format format, const struct text_sink *out);

#endif
