#include "profiler/core/svd.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "probe/base/choice.h"
#include "probe/base/nearest.h"
#include "probe/base/options.h"
#include "probe/base/util.h"
#include "profiler/core/file_atomic.h"
#include "profiler/core/svd_xml.h"

enum { DERIVED_MOST = 8, DIM_MOST = 4096, CLUSTERS_MOST = 4, ITEMS_MOST = 1 << 17 };

struct svd {
    struct svd_tree t;
    char file[256];
};

/* ---- numbers ---- */

/* scaledNonNegativeInteger: 0x..., #1010, 4k. */
static bool read_number(const char *p, uint64_t *out)
{
    static const char scales[] = "kmgt";
    p += *p == '+';
    if (*p == '#') {
        uint64_t v = 0;
        size_t n = strspn(p + 1, "01");
        if (n == 0 || n > 64 || p[1 + n])
            return false;
        for (size_t i = 1; i <= n; i++)
            v = v << 1 | (p[i] == '1');
        *out = v;
        return true;
    }
    unsigned base = 10;
    uint64_t v;
    if (!strncasecmp(p, "0x", 2)) {
        base = 16;
        p += 2;
    }
    if (!options_number(&p, base, &v))
        return false;
    const char *scale = NULL;
    if (*p)
        scale = strchr(scales, *p | 0x20);
    if (*p && (!scale || p[1]))
        return false;
    unsigned shift = 0;
    if (scale)
        shift = 10 * (unsigned)(scale - scales + 1);
    if (shift && v >> (64 - shift))
        return false;
    *out = v << shift;
    return true;
}

static int file_error(const struct svd *s, uint32_t node, const char *what, struct err *err)
{
    uint32_t name = svd_child(&s->t, node, "name");
    return err_set(err, ERR_FORMAT, "mend the SVD file", "%s, line %u: %s %s: %s", s->file,
                   s->t.node[node].line, svd_name(&s->t, node), svd_text(&s->t, name), what);
}

/* ---- what elements take from others ---- */

/* The element that this one is derived from: by name among those beside it, or by a path
 * into another peripheral. SVD_NONE: it is not, or there is no such element. */
static uint32_t base_of(const struct svd *s, uint32_t node)
{
    const struct svd_tree *t = &s->t;
    const char *from = svd_derived(t, node), *last = strrchr(from, '.');
    uint32_t beside = t->node[node].parent;
    if (!*from)
        return SVD_NONE;
    if (last) { /* "PERIPHERAL.REGISTER": other depths are not used */
        uint32_t p = svd_child(t, svd_child(t, svd_root(t), "peripherals"), "peripheral");
        for (; p; p = t->node[p].next) {
            const char *name = svd_text(t, svd_child(t, p, "name"));
            if (!strncmp(name, from, (size_t)(last - from)) && !name[last - from])
                break;
        }
        beside = svd_child(t, p, "registers");
        from = last + 1;
    }
    for (uint32_t c = beside ? t->node[beside].child : 0; c; c = t->node[c].next)
        if (c != node && !strcmp(svd_name(t, c), svd_name(t, node)) &&
            !strcmp(svd_text(t, svd_child(t, c, "name")), from))
            return c;
    return SVD_NONE;
}

/* A child of the element, or of what it is derived from. */
static uint32_t own_child(const struct svd *s, uint32_t node, const char *name)
{
    for (int i = 0; node && i < DERIVED_MOST; i++) {
        uint32_t c = svd_child(&s->t, node, name);
        if (c)
            return c;
        node = base_of(s, node);
    }
    return SVD_NONE;
}

static const char *own_text(const struct svd *s, uint32_t node, const char *name)
{
    return svd_text(&s->t, own_child(s, node, name));
}

/* A register's properties (size, access ...) hold for all below where they stand. */
static const char *inherited_text(const struct svd *s, uint32_t node, const char *name)
{
    for (; node; node = s->t.node[node].parent) {
        const char *text = own_text(s, node, name);
        if (*text)
            return text;
    }
    return "";
}

static bool own_number(const struct svd *s, uint32_t node, const char *name, uint64_t *out)
{
    return read_number(own_text(s, node, name), out);
}

static struct svd_access access_of(const struct svd *s, uint32_t node)
{
    const char *text = inherited_text(s, node, "access");
    struct svd_access a = { .read = strncmp(text, "write", 5) != 0,
                            .write = strcmp(text, "read-only") != 0 };
    a.read_changes = *own_text(s, node, "readAction") != 0;
    return a;
}

static enum svd_write write_of(const struct svd *s, uint32_t node, enum svd_write above)
{
    const char *text = own_text(s, node, "modifiedWriteValues");
    if (!*text)
        return above;
    if (!strncmp(text, "one", 3))
        return SVD_WRITE_ONE_ACTS;
    if (!strncmp(text, "zero", 4))
        return SVD_WRITE_ZERO_ACTS;
    if (strcmp(text, "modify"))
        return SVD_WRITE_ANY_ACTS;
    return SVD_WRITE_VALUE;
}

/* ---- arrays ---- */

/* What stands behind so many commas; "" if there are fewer. */
static const char *item_of_list(const char *list, unsigned commas)
{
    for (; commas > 0; commas--) {
        list = strchr(list, ',');
        if (!list)
            return "";
        list++;
    }
    return list + strspn(list, " ");
}

/* The i-th of dimIndex: "0-7", "A-D", "A,B,C"; a number where there is none. */
static void index_text(const char *index, unsigned i, char *out, size_t cap)
{
    unsigned lo, hi;
    char from, to;
    if (sscanf(index, "%u-%u", &lo, &hi) == 2 && lo <= hi) {
        snprintf(out, cap, "%u", lo + i);
    } else if (sscanf(index, "%c-%c", &from, &to) == 2 && from <= to && !index[3]) {
        snprintf(out, cap, "%c", (char)(from + (int)i));
    } else if (*index) {
        const char *item = item_of_list(index, i);
        snprintf(out, cap, "%.*s", (int)strcspn(item, ", "), item);
    } else {
        snprintf(out, cap, "%u", i);
    }
}

/* One name of an array: "TCR%s", "BUF[%s]". */
static void element_name(const struct svd *s, uint32_t node, bool array, unsigned i, char *out,
                         size_t cap)
{
    const char *name = own_text(s, node, "name"), *at = strstr(name, "%s");
    char index[32] = "";
    if (array)
        index_text(own_text(s, node, "dimIndex"), i, index, sizeof index);
    if (at)
        snprintf(out, cap, "%.*s%s%s", (int)(at - name), name, index, at + 2);
    else
        snprintf(out, cap, "%s", name);
}

/* How many there are of an element, and how far apart; -ERR_FORMAT. */
static int read_dim(const struct svd *s, uint32_t node, unsigned *n, uint64_t *step,
                    struct err *err)
{
    uint64_t dim;
    *n = 1;
    *step = 0;
    if (!*own_text(s, node, "dim"))
        return 0;
    if (!own_number(s, node, "dim", &dim) || dim == 0 || dim > DIM_MOST ||
        !own_number(s, node, "dimIncrement", step))
        return file_error(s, node, "dim or dimIncrement is wrong", err);
    *n = (unsigned)dim;
    return 1;
}

/* ---- walking ---- */

struct walk {
    const struct svd *s;
    int (*item)(void *ctx, const struct svd_register *r, struct err *err);
    void *ctx;
    unsigned items; /* arrays of arrays could be endless */
    struct err *err;
};

static int walk_registers(struct walk *w, uint32_t list, const char *prefix, uint64_t base,
                          unsigned depth);

static int give_register(struct walk *w, uint32_t node, const char *name, uint64_t addr)
{
    uint64_t bits = 32;
    const char *size = inherited_text(w->s, node, "size");
    if ((*size && !read_number(size, &bits)) || (bits != 8 && bits != 16 && bits != 32)) {
        if (bits == 64) /* none of these parts has such, and a file may */
            return 0;
        return file_error(w->s, node, "size is not 8, 16, 32 or 64", w->err);
    }
    struct svd_register r = { .text = own_text(w->s, node, "description"),
                              .addr = addr,
                              .bits = (unsigned)bits,
                              .access = access_of(w->s, node),
                              .writes = write_of(w->s, node, SVD_WRITE_VALUE),
                              .node = node };
    snprintf(r.name, sizeof r.name, "%s", name);
    return w->item(w->ctx, &r, w->err);
}

static int walk_element(struct walk *w, uint32_t node, const char *prefix, uint64_t base,
                        unsigned depth)
{
    unsigned n;
    uint64_t offset, step;
    bool cluster = !strcmp(svd_name(&w->s->t, node), "cluster");
    int array = read_dim(w->s, node, &n, &step, w->err);
    if (array < 0)
        return array;
    if (!own_number(w->s, node, "addressOffset", &offset))
        return file_error(w->s, node, "addressOffset is missing or no number", w->err);
    for (unsigned i = 0; i < n; i++) {
        char own[SVD_NAME], name[2 * SVD_NAME + 2];
        if (++w->items > ITEMS_MOST)
            return file_error(w->s, node, "too many registers", w->err);
        element_name(w->s, node, array, i, own, sizeof own);
        snprintf(name, sizeof name, "%s.%s", prefix, own);
        if (!*own || strlen(name) >= SVD_NAME)
            return file_error(w->s, node, "no name, or one that is too long", w->err);
        uint64_t addr = base + offset + i * step;
        int ret;
        if (cluster)
            ret = walk_registers(w, node, name, addr, depth + 1);
        else
            ret = give_register(w, node, name, addr);
        if (ret)
            return ret;
    }
    return 0;
}

static int walk_registers(struct walk *w, uint32_t list, const char *prefix, uint64_t base,
                          unsigned depth)
{
    const struct svd_tree *t = &w->s->t;
    if (depth > CLUSTERS_MOST)
        return file_error(w->s, list, "too many clusters in one another", w->err);
    for (uint32_t c = list ? t->node[list].child : 0; c; c = t->node[c].next) {
        int ret = 0;
        if (!strcmp(svd_name(t, c), "register") || !strcmp(svd_name(t, c), "cluster"))
            ret = walk_element(w, c, prefix, base, depth);
        if (ret)
            return ret;
    }
    return 0;
}

/* only: NULL for all */
static int walk_peripheral(struct walk *w, uint32_t node, const char *only)
{
    unsigned n;
    uint64_t base, step;
    int array = read_dim(w->s, node, &n, &step, w->err), ret = 0;
    if (array < 0)
        return array;
    if (!own_number(w->s, node, "baseAddress", &base))
        return file_error(w->s, node, "baseAddress is missing or no number", w->err);
    for (unsigned i = 0; i < n && ret == 0; i++) {
        char name[SVD_NAME];
        if (++w->items > ITEMS_MOST)
            return file_error(w->s, node, "too many peripherals", w->err);
        element_name(w->s, node, array, i, name, sizeof name);
        if (!only || !strcasecmp(only, name))
            ret = walk_registers(w, own_child(w->s, node, "registers"), name, base + i * step, 0);
    }
    return ret;
}

static uint32_t first_peripheral(const struct svd *s)
{
    return svd_child(&s->t, svd_child(&s->t, svd_root(&s->t), "peripherals"), "peripheral");
}

int svd_each_register(const struct svd *s, const char *peripheral,
                      int (*item)(void *ctx, const struct svd_register *r, struct err *err),
                      void *ctx, struct err *err)
{
    struct walk w = { .s = s, .item = item, .ctx = ctx, .err = err };
    int ret = 0;
    for (uint32_t p = first_peripheral(s); p && ret == 0; p = s->t.node[p].next)
        if (!strcmp(svd_name(&s->t, p), "peripheral"))
            ret = walk_peripheral(&w, p, peripheral);
    return ret;
}

bool svd_has_peripheral(const struct svd *s, const char *name)
{
    struct err err;
    for (uint32_t p = first_peripheral(s); p; p = s->t.node[p].next) {
        unsigned n;
        uint64_t step;
        int array = read_dim(s, p, &n, &step, &err);
        for (unsigned i = 0; array >= 0 && i < n; i++) {
            char is[SVD_NAME];
            element_name(s, p, array, i, is, sizeof is);
            if (!strcasecmp(is, name))
                return true;
        }
    }
    return false;
}

/* ---- fields ---- */

/* bitOffset and bitWidth, lsb and msb, or bitRange "[7:4]". */
static bool read_place(const struct svd *s, uint32_t node, uint64_t *lsb, uint64_t *width)
{
    uint64_t msb;
    unsigned hi, lo;
    if (own_number(s, node, "bitOffset", lsb))
        return own_number(s, node, "bitWidth", width) || ((*width = 1), true);
    if (own_number(s, node, "lsb", lsb) && own_number(s, node, "msb", &msb)) {
        *width = msb - *lsb + 1;
        return msb >= *lsb;
    }
    if (sscanf(own_text(s, node, "bitRange"), "[%u:%u]", &hi, &lo) != 2 || lo > hi)
        return false;
    *lsb = lo;
    *width = hi - lo + 1u;
    return true;
}

int svd_each_field(const struct svd *s, const struct svd_register *r,
                   int (*item)(void *ctx, const struct svd_field *f, struct err *err), void *ctx,
                   struct err *err)
{
    uint32_t list = own_child(s, r->node, "fields");
    for (uint32_t c = svd_child(&s->t, list, "field"); c; c = s->t.node[c].next) {
        uint64_t lsb, width, step;
        unsigned n;
        int array = read_dim(s, c, &n, &step, err);
        if (array < 0)
            return array;
        if (!read_place(s, c, &lsb, &width))
            return file_error(s, c, "no bitOffset, lsb and msb, or bitRange", err);
        if (array && step == 0)
            return file_error(s, c, "dimIncrement is 0", err);
        for (unsigned i = 0; i < n; i++, lsb += step) {
            if (width == 0 || lsb > r->bits || width > r->bits - lsb || step > 64)
                return file_error(s, c, "its bits are outside of the register", err);
            struct svd_field f = { .text = own_text(s, c, "description"),
                                   .lsb = (unsigned)lsb,
                                   .width = (unsigned)width,
                                   .access = access_of(s, c),
                                   .writes = write_of(s, c, r->writes),
                                   .node = c };
            element_name(s, c, array, i, f.name, sizeof f.name);
            int ret = item(ctx, &f, err);
            if (ret)
                return ret;
        }
    }
    return 0;
}

/* ---- values with names ---- */

static uint32_t first_value(const struct svd *s, const struct svd_field *f)
{
    return svd_child(&s->t, own_child(s, f->node, "enumeratedValues"), "enumeratedValue");
}

const char *svd_value_name(const struct svd *s, const struct svd_field *f, uint32_t value)
{
    uint64_t v;
    for (uint32_t c = first_value(s, f); c; c = s->t.node[c].next)
        if (own_number(s, c, "value", &v) && v == value)
            return svd_text(&s->t, svd_child(&s->t, c, "name"));
    return NULL;
}

bool svd_value_named(const struct svd *s, const struct svd_field *f, const char *name,
                     uint32_t *value)
{
    uint64_t v;
    for (uint32_t c = first_value(s, f); c; c = s->t.node[c].next)
        if (!strcasecmp(svd_text(&s->t, svd_child(&s->t, c, "name")), name) &&
            own_number(s, c, "value", &v) && v <= UINT32_MAX) {
            *value = (uint32_t)v;
            return true;
        }
    return false;
}

/* ---- finding ---- */

struct search {
    const struct svd *s;
    const char *path;
    size_t len; /* of the register's part of the path, once it is found */
    struct svd_register *reg;
    struct svd_field *field;
    struct nearest *near;
    bool found;
};

/* Not "TCR%s": the names of an array are not in the file. */
static void offer_name(struct search *q, uint32_t node)
{
    const char *name = own_text(q->s, node, "name");
    if (!strchr(name, '%'))
        nearest_offer(q->near, name);
}

static int match_register(void *ctx, const struct svd_register *r, struct err *err)
{
    struct search *q = ctx;
    size_t n = strlen(r->name);
    (void)err;
    offer_name(q, r->node);
    if (strncasecmp(r->name, q->path, n) || (q->path[n] && q->path[n] != '.'))
        return 0;
    *q->reg = *r;
    q->len = n;
    q->found = true;
    return !q->path[n]; /* the longest one counts: a register may be called as a cluster is */
}

static int match_field(void *ctx, const struct svd_field *f, struct err *err)
{
    struct search *q = ctx;
    (void)err;
    offer_name(q, f->node);
    if (strcasecmp(f->name, q->path))
        return 0;
    *q->field = *f;
    q->found = true;
    return 1;
}

static int find_field(const struct svd *s, struct search *q, struct err *err)
{
    char hint[NEAREST_TEXT];
    struct nearest near = { .wanted = q->path + q->len + 1 };
    q->path = near.wanted;
    q->near = &near;
    q->found = false;
    int ret = svd_each_field(s, q->reg, match_field, q, err);
    if (ret < 0 || q->found)
        return MIN(ret, 0);
    return err_set(err, ERR_NOT_FOUND,
                   nearest_text(&near, "the register alone shows its fields", hint, sizeof hint),
                   "%s has no field %s", q->reg->name, near.wanted);
}

int svd_find(const struct svd *s, const char *path, struct svd_register *reg,
             struct svd_field *field, bool *has_field, struct err *err)
{
    const char *dot = strchr(path, '.');
    struct nearest near = { .wanted = dot ? dot + 1 : "" };
    struct search q = { .s = s, .path = path, .reg = reg, .field = field, .near = &near };
    char first[SVD_NAME], hint[NEAREST_TEXT];
    snprintf(first, sizeof first, "%.*s", (int)strcspn(path, "."), path);
    int ret = svd_each_register(s, first, match_register, &q, err);
    if (ret < 0)
        return ret;
    if (!q.found && !svd_has_peripheral(s, first))
        return err_set(err, ERR_NOT_FOUND, "--svd FILE named another part's file?",
                       "%s has no peripheral %s", s->file, first);
    if (!q.found)
        return err_set(err, ERR_NOT_FOUND,
                       nearest_text(&near, "the peripheral alone lists them", hint, sizeof hint),
                       "no register %s", path);
    *has_field = path[q.len] != 0;
    if (*has_field)
        return find_field(s, &q, err);
    return 0;
}

/* ---- opening ---- */

static int check_field(void *ctx, const struct svd_field *f, struct err *err)
{
    (void)ctx, (void)f, (void)err;
    return 0;
}

static int check_register(void *ctx, const struct svd_register *r, struct err *err)
{
    return svd_each_field(ctx, r, check_field, NULL, err);
}

int svd_read(const char *name, const char *xml, size_t len, struct svd **out, struct err *err)
{
    struct svd *s = calloc(1, sizeof *s);
    if (!s)
        return err_set(err, ERR_NOMEM, "close other programs", "%s: out of memory", name);
    snprintf(s->file, sizeof s->file, "%s", name);
    int ret = svd_tree_read(&s->t, name, xml, len, err);
    if (ret == 0 && strcmp(svd_name(&s->t, svd_root(&s->t)), "device"))
        ret = err_set(err, ERR_FORMAT, "name a CMSIS-SVD file", "%s: <%s> instead of <device>",
                      name, svd_name(&s->t, svd_root(&s->t)));
    if (ret == 0 && !first_peripheral(s))
        ret = err_set(err, ERR_FORMAT, "name a CMSIS-SVD file", "%s: no peripherals", name);
    if (ret == 0)
        ret = svd_each_register(s, NULL, check_register, s, err);
    if (ret < 0) {
        svd_close(s);
        return ret;
    }
    *out = s;
    return 0;
}

int svd_open(const char *path, struct svd **out, struct err *err)
{
    uint8_t *bytes;
    size_t len;
    int ret = file_read_all(path, SVD_MOST_BYTES, &bytes, &len, err);
    if (ret < 0)
        return ret;
    ret = svd_read(path, (const char *)bytes, len, out, err);
    free(bytes);
    return ret;
}

void svd_close(struct svd *s)
{
    if (s)
        svd_tree_fini(&s->t);
    free(s);
}
