/* An SVD file as a tree of elements: names, text, one attribute. Private to profiler/core. */
#ifndef PROFILER_CORE_SVD_XML_H
#define PROFILER_CORE_SVD_XML_H

#include <stddef.h>
#include <stdint.h>

#include "probe/base/err.h"

enum { SVD_NONE = 0 /* no node, and no text; the document itself is node 0 */ };

struct svd_node {
    uint32_t name, text, derived; /* in svd_tree.chars; text without blanks around it */
    uint32_t child, last, next;   /* node numbers; SVD_NONE: none */
    uint32_t parent;
    uint32_t line;
};

/* Zero-initialise; svd_tree_fini() frees it. */
struct svd_tree {
    struct svd_node *node;
    size_t n, cap;
    char *chars; /* strings, each with its NUL; the first is "" */
    size_t used, room;
};

/* svd_tree_read - reads a whole document into an empty tree
 * name   of the file, for errors
 * Returns 0; -ERR_FORMAT with line and byte for what is no well-formed XML, has a document type, or
 * is nested too deep; -ERR_RESOURCE for too many elements; -ERR_NOMEM. */
int svd_tree_read(struct svd_tree *t, const char *name, const char *xml, size_t len,
                  struct err *err);
void svd_tree_fini(struct svd_tree *t);

/* svd_name, svd_text - strings of a node, "" for none; until the tree is freed.
 * svd_derived - its attribute derivedFrom, "" if it has none. */
const char *svd_name(const struct svd_tree *t, uint32_t node);
const char *svd_text(const struct svd_tree *t, uint32_t node);
const char *svd_derived(const struct svd_tree *t, uint32_t node);

/* svd_child - the first child of that name; SVD_NONE: none, or node is SVD_NONE and not the
 * document. svd_root - the document's element. */
uint32_t svd_child(const struct svd_tree *t, uint32_t node, const char *name);
uint32_t svd_root(const struct svd_tree *t);

#endif
