#include "profiler/core/svd_xml.h"

#include <expat.h>
#include <stdlib.h>
#include <string.h>

#include "probe/base/array.h"
#include "probe/base/util.h"

enum { DEPTH_MOST = 32, NODES_MOST = 4 << 20, TEXT_MOST = 1 << 16, CHARS_MOST = 256 << 20 };

struct reader {
    struct svd_tree *t;
    XML_Parser xml;
    const char *file;
    uint32_t at[DEPTH_MOST]; /* elements that are open */
    unsigned depth;
    char text[TEXT_MOST]; /* of the innermost one, since its last child */
    size_t len;
    int ret;
    struct err *err;
};

static void stop_reading(struct reader *r, int ret)
{
    r->ret = ret;
    XML_StopParser(r->xml, XML_FALSE);
}

static int fail_memory(struct reader *r)
{
    return err_set(r->err, ERR_NOMEM, "close other programs", "%s: out of memory", r->file);
}

/* The place of a string among the tree's; SVD_NONE for "" and when it has failed. */
static uint32_t keep_string(struct reader *r, const char *p, size_t n)
{
    struct svd_tree *t = r->t;
    if (n == 0 || r->ret)
        return SVD_NONE;
    if (t->used + n + 1 > t->room) {
        size_t room = MAX(t->room * 2, t->used + n + 4096);
        char *chars = room > CHARS_MOST ? NULL : realloc(t->chars, room);
        if (!chars) {
            stop_reading(r, fail_memory(r));
            return SVD_NONE;
        }
        t->chars = chars;
        t->room = room;
    }
    uint32_t at = (uint32_t)t->used;
    memcpy(t->chars + at, p, n);
    t->chars[at + n] = 0;
    t->used += n + 1;
    return at;
}

static uint32_t add_node(struct reader *r, uint32_t parent)
{
    struct svd_tree *t = r->t;
    if (t->n >= NODES_MOST) {
        stop_reading(r,
                     err_set(r->err, ERR_RESOURCE, "leave out peripherals that are not looked at",
                             "%s: more than %d elements", r->file, NODES_MOST));
        return SVD_NONE;
    }
    if (!array_room(&t->node, t->n, &t->cap, sizeof *t->node)) {
        stop_reading(r, fail_memory(r));
        return SVD_NONE;
    }
    uint32_t me = (uint32_t)t->n++;
    t->node[me] =
        (struct svd_node){ .parent = parent, .line = (uint32_t)XML_GetCurrentLineNumber(r->xml) };
    if (me == 0)
        return me;
    if (t->node[parent].last)
        t->node[t->node[parent].last].next = me;
    else
        t->node[parent].child = me;
    t->node[parent].last = me;
    return me;
}

static void XMLCALL on_start(void *ctx, const XML_Char *name, const XML_Char **atts)
{
    struct reader *r = ctx;
    if (r->ret)
        return;
    if (r->depth == DEPTH_MOST) {
        stop_reading(r, err_set(r->err, ERR_FORMAT, "is it a CMSIS-SVD file?",
                                "%s, line %lu: elements in more than %d elements", r->file,
                                XML_GetCurrentLineNumber(r->xml), DEPTH_MOST));
        return;
    }
    uint32_t me = add_node(r, r->at[r->depth - 1]);
    uint32_t called = keep_string(r, name, strlen(name)), derived = SVD_NONE;
    for (; *atts; atts += 2)
        if (!strcmp(atts[0], "derivedFrom"))
            derived = keep_string(r, atts[1], strlen(atts[1]));
    if (r->ret)
        return;
    r->t->node[me].name = called;
    r->t->node[me].derived = derived;
    r->at[r->depth++] = me;
    r->len = 0;
}

static void XMLCALL on_end(void *ctx, const XML_Char *name)
{
    struct reader *r = ctx;
    const char *from = r->text, *to = r->text + r->len;
    (void)name;
    if (r->ret)
        return;
    while (from < to && strchr(" \t\r\n", *from))
        from++;
    while (to > from && strchr(" \t\r\n", to[-1]))
        to--;
    uint32_t text = keep_string(r, from, (size_t)(to - from));
    if (r->ret)
        return;
    r->t->node[r->at[--r->depth]].text = text;
    r->len = 0;
}

/* What is longer than any text of an SVD file has to be is cut. */
static void XMLCALL on_text(void *ctx, const XML_Char *p, int n)
{
    struct reader *r = ctx;
    size_t room = MIN((size_t)n, sizeof r->text - r->len);
    memcpy(r->text + r->len, p, room);
    r->len += room;
}

/* It could define entities, which SVD files have no use for. */
static void XMLCALL on_doctype(void *ctx, const XML_Char *name, const XML_Char *system,
                               const XML_Char *public, int internal)
{
    struct reader *r = ctx;
    (void)name, (void)system, (void)public, (void)internal;
    stop_reading(r, err_set(r->err, ERR_FORMAT, "remove the line with DOCTYPE",
                            "%s, line %lu: a document type, which SVD files have not", r->file,
                            XML_GetCurrentLineNumber(r->xml)));
}

static int parse_all(struct reader *r, const char *xml, size_t len)
{
    XML_SetUserData(r->xml, r);
    XML_SetElementHandler(r->xml, on_start, on_end);
    XML_SetCharacterDataHandler(r->xml, on_text);
    XML_SetStartDoctypeDeclHandler(r->xml, on_doctype);
    add_node(r, 0); /* the document: node 0 */
    r->depth = 1;
    enum XML_Status done = XML_STATUS_ERROR;
    if (r->ret == 0)
        done = XML_Parse(r->xml, xml, (int)len, 1);
    if (r->ret || done == XML_STATUS_OK)
        return r->ret;
    return err_set(r->err, ERR_FORMAT, "is it a CMSIS-SVD file?", "%s, line %lu, byte %ld: %s",
                   r->file, XML_GetCurrentLineNumber(r->xml), (long)XML_GetCurrentByteIndex(r->xml),
                   XML_ErrorString(XML_GetErrorCode(r->xml)));
}

int svd_tree_read(struct svd_tree *t, const char *name, const char *xml, size_t len,
                  struct err *err)
{
    struct reader *r = calloc(1, sizeof *r);
    int ret = -ERR_NOMEM;
    if (r) {
        *r = (struct reader){ .t = t, .file = name, .err = err, .xml = XML_ParserCreate(NULL) };
        t->chars = calloc(1, 4096);
        t->room = 4096;
        t->used = 1;
    }
    if (r && r->xml && t->chars && len <= INT32_MAX)
        ret = parse_all(r, xml, len);
    else
        err_set(err, ERR_NOMEM, "close other programs", "%s: out of memory", name);
    if (r && r->xml)
        XML_ParserFree(r->xml);
    free(r);
    return ret;
}

void svd_tree_fini(struct svd_tree *t)
{
    free(t->node);
    free(t->chars);
    *t = (struct svd_tree){ 0 };
}

const char *svd_name(const struct svd_tree *t, uint32_t node)
{
    return t->chars + t->node[node].name;
}

const char *svd_text(const struct svd_tree *t, uint32_t node)
{
    return t->chars + t->node[node].text;
}

const char *svd_derived(const struct svd_tree *t, uint32_t node)
{
    return t->chars + t->node[node].derived;
}

uint32_t svd_root(const struct svd_tree *t) { return t->node[0].child; }

uint32_t svd_child(const struct svd_tree *t, uint32_t node, const char *name)
{
    if (node == SVD_NONE)
        return SVD_NONE;
    for (uint32_t c = t->node[node].child; c; c = t->node[c].next)
        if (!strcmp(svd_name(t, c), name))
            return c;
    return SVD_NONE;
}
