/* The blocks of a file of marks, in a program. */
#include <stdio.h>
#include <stdlib.h>

#include "probe/base/err.h"
#include "profiler/profile/marks.h"

static int at_place(const struct marks *m, const struct mark *k, int column, int ret,
                    struct err *err)
{
    char where[300];
    snprintf(where, sizeof where, "%.200s:%d:%d", marks_file(m), k->line, column);
    if (ret == -ERR_USAGE) { /* of the file, not of the command line */
        ret = -ERR_FORMAT;
        if (err)
            err->code = ERR_FORMAT;
    }
    return err_prefix(err, ret, where);
}

static int parse_low(const struct marks *m, const struct mark *k, const struct symbols *syms,
                     uint64_t *addr, struct err *err)
{
    int ret = symbols_parse(syms, k->low, addr, err);
    if (ret < 0)
        return at_place(m, k, k->low_column, ret, err);
    return 0;
}

static int parse_high(const struct marks *m, const struct mark *k, const struct symbols *syms,
                      uint64_t *addr, struct err *err)
{
    int ret = symbols_parse(syms, k->high, addr, err);
    if (ret < 0)
        return at_place(m, k, k->high_column, ret, err);
    return 0;
}

int marks_blocks(const struct marks *m, struct symbols *syms, size_t *n, struct err *err)
{
    size_t nmarks, nblocks = 0, bad = 0;
    const struct mark *k = marks_list(m, &nmarks);
    struct symbol_block *block = calloc(nmarks + 1, sizeof *block);
    const struct mark **of = calloc(nmarks + 1, sizeof *of);
    int ret = 0;
    if (!block || !of)
        ret = err_set(err, ERR_NOMEM, "close other programs", "marks: out of memory");
    for (size_t i = 0; ret == 0 && i < nmarks; i++) {
        if (k[i].kind != MARK_BLOCK)
            continue;
        struct symbol_block *b = &block[nblocks];
        b->name = k[i].name;
        of[nblocks++] = &k[i];
        ret = parse_low(m, &k[i], syms, &b->low, err);
        if (ret == 0)
            ret = parse_high(m, &k[i], syms, &b->high, err);
    }
    if (ret == 0) {
        ret = symbols_set_blocks(syms, block, nblocks, &bad, err);
        if (ret == -ERR_USAGE)
            ret = at_place(m, of[bad], of[bad]->low_column, ret, err);
    }
    *n = nblocks;
    free(block);
    free(of);
    return ret;
}
