/* Nasty programs against the whole trace: generator -> qemu's log -> true tree; simulated board ->
 * agent -> events -> call tree.
 *
 *     sh4-nasty [--features a,b|all] [--seed N] [--count N] [--drop MASK] [--shrink] [--print]
 * [--exact] [--each] [--vary N]
 *               [--big] [--small] [--stripped] [--mix] [--blocks]
 *
 * Program k has seed N + k; --vary adds N programs of seeds that nobody has seen. With --each a
 * program has a part of the features. --big: big-endian.
 * --small: a ring that fills several times. --stripped: without symbols, so that functions are what
 * is called. --mix: some of them so. --blocks: parts of functions are measured by themselves. Each
 * is judged: "exact" (paths, hits, instructions, result), "marked" (what differs is doubtful), else
 * it fails. With --exact "marked" fails, too. */
#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include <cmocka.h>

#include "probe/base/bytes.h"
#include "probe/base/util.h"
#include "profiler/core/calltree.h"
#include "tests/nasty/oracle.h"
#include "tests/nasty/qemu_log.h"
#include "tests/profiler/watch_sums.h"
#include "tests/sh4_trace/board.h"

enum verdict { EXACT, MARKED, FAILED, NVERDICTS };
enum {
    WORK_LIMIT_S = 60,  /* of processor time */
    TIME_LIMIT_S = 900, /* where it waits for something */
    MAX_SHOWN = 12,
    PHYS = 0x1FFFFFFF,
    MAX_ROM_FUNCTIONS = 16,
    MAX_BLOCKS = 12,
    TRIED_BLOCKS = 24,
    MOST_NODES = 1 << 14,
    ROM_FILE = 0x3000
};

struct options {
    uint64_t seed;
    unsigned count, vary;
    uint32_t features, dropped;
    bool shrink, print, exact, each, quiet, big, small, stripped, mix, blocks;
};
/* What became of the programs. */
struct tally {
    unsigned all[NVERDICTS], by[NASTY_NFEATURES][NVERDICTS], bad;
};
struct run {
    const struct options *o;
    uint64_t seed;
    struct nasty_program p;
    struct asm_prog prog, rom, copied;
    struct image_section sec[3];
    uint64_t load[3];
    struct image_function fn[ARRAY_LEN(((struct board *)0)->fn) + MAX_ROM_FUNCTIONS];
    struct qemu_log log;
    struct oracle *oracle;
    struct oracle_function f[256];
    size_t nf;
    /* by address; the image's have its alias */
    struct oracle_block block[MAX_BLOCKS];
    struct image_block image_block[MAX_BLOCKS];
    size_t nblocks;
    struct board b;
    struct calltree *tree;
    struct watch_sums watched;
    struct trace_status st;
    /* true instructions from the first event to the last one: a profile is what lies between its
     * events */
    uint64_t between;
    uint64_t outside[MOST_NODES]; /* by node: instructions seen before and behind these */
    unsigned shown, differ, unmarked;
};

/* ---- both trees, by path ---- */

static void name_in(const struct run *r, uint64_t addr, char *out, size_t cap)
{
    addr &= PHYS;
    for (size_t i = 0; i < r->nf; i++)
        if (addr >= r->f[i].low && addr < r->f[i].high) {
            snprintf(out, cap, "%s", r->f[i].name);
            return;
        }
    snprintf(out, cap, "%08x", (unsigned)addr);
}

/* Whether a true node is that of a function, or of a block, at addr. */
static bool is_at(const struct run *r, const struct oracle_node *k, uint64_t addr, bool block)
{
    size_t f = (size_t)k->function;
    addr &= PHYS;
    if (block || f >= r->nf)
        return block && f >= r->nf && addr == r->block[f - r->nf].low;
    return addr >= r->f[f].low && addr < r->f[f].high;
}

static int true_child(const struct run *r, int parent, const struct calltree_node *got,
                      bool exception)
{
    size_t n;
    const struct oracle_node *nodes = oracle_nodes(r->oracle, &n);
    for (size_t i = 0; i < n; i++)
        if (nodes[i].parent == parent && is_at(r, &nodes[i], got->addr, got->block) &&
            nodes[i].exception == exception)
            return (int)i;
    return -1;
}

/* The function that a true node is of, or a part of. */
static const struct oracle_function *true_function(const struct run *r, const struct oracle_node *k)
{
    size_t n;
    if ((size_t)k->function < r->nf)
        return &r->f[k->function];
    return &r->f[oracle_nodes(r->oracle, &n)[k->parent].function];
}

static void path_of(const struct run *r, const struct calltree_node *nodes, uint32_t k, char *out,
                    size_t cap)
{
    char name[32];
    size_t n = 0;
    if (nodes[k].parent != CALLTREE_NONE) {
        path_of(r, nodes, nodes[k].parent, out, cap);
        n = strlen(out);
    }
    name_in(r, nodes[k].addr, name, sizeof name);
    const char *before = nodes[k].kind == CALLTREE_EXCEPTION ? "!" : "";
    if (n)
        before = "/";
    if (nodes[k].block)
        snprintf(out + n, cap - n, "/block %08x", (unsigned)nodes[k].addr);
    else
        snprintf(out + n, cap - n, "%s%s", before, name);
}

static void note_difference(struct run *r, bool marked, const char *fmt, ...)
    __attribute__((format(printf, 3, 4)));
static void note_difference(struct run *r, bool marked, const char *fmt, ...)
{
    va_list ap;
    r->differ++;
    r->unmarked += !marked;
    if (r->o->quiet || (r->shown++ >= MAX_SHOWN && marked))
        return;
    printf("    %s ", marked ? "marked " : "DIFFERS");
    va_start(ap, fmt);
    vprintf(fmt, ap);
    va_end(ap);
    printf("\n");
}

/* A node that was seen, against the true one of its path. What is less is negative. */
struct compared {
    int same;            /* true node, -1: the path is none */
    bool excused;        /* it, its caller, or where the false path begins, is marked doubtful */
    int64_t hits, count; /* more than is true */
    int function;
    /* below a marked root that begins within a function: a part of the true path, whose other part
     * has a root of its own */
    bool part;
};
/* More than is true, of a function's nodes that are excused: as much may be missing elsewhere. */
struct surplus {
    int64_t hits, count;
};

static int function_at(const struct run *r, uint64_t addr)
{
    addr &= PHYS; /* code may run at an alias */
    for (size_t i = 0; i < r->nf; i++)
        if (addr >= r->f[i].low && addr < r->f[i].high)
            return (int)i;
    return -1;
}

static void compare_node(struct run *r, const struct calltree_node *got, size_t i,
                         struct compared *c)
{
    size_t nt;
    const struct oracle_node *want = oracle_nodes(r->oracle, &nt);
    uint32_t above = got[i].parent;
    bool root = above == CALLTREE_NONE, false_path = !root && c[above].same < 0;
    c[i].same = false_path ? -1
                           : true_child(r, root ? -1 : c[above].same, &got[i],
                                        root && got[i].kind == CALLTREE_EXCEPTION);
    c[i].excused =
        got[i].doubtful || (!root && got[above].doubtful) || (false_path && c[above].excused);
    c[i].function = function_at(r, got[i].addr);
    c[i].part = root ? got[i].doubtful && c[i].function >= 0 &&
                           r->f[c[i].function].low != (got[i].addr & PHYS)
                     : c[above].part;
    uint64_t c1 = got[i].c1 - r->outside[i];
    c[i].hits = (int64_t)(got[i].hits - (c[i].same < 0 ? 0 : want[c[i].same].hits));
    c[i].count = (int64_t)(c1 - (c[i].same < 0 ? 0 : want[c[i].same].count));
}

/* Is what is missing at one path there at others that are marked? Then it is taken off them. */
static bool cover_missing(struct surplus *more, int64_t hits, int64_t count)
{
    if (more->hits + hits < 0 || more->count + count < 0)
        return false;
    more->hits += hits;
    more->count += count;
    return true;
}

static bool is_less(const struct compared *c) { return c->hits <= 0 && c->count <= 0; }

static void judge_seen(struct run *r, const struct calltree_node *got, const struct compared *c,
                       size_t n, struct surplus *more)
{
    char path[1024];
    for (size_t i = 0; i < n; i++) {
        if (c[i].same >= 0 && !c[i].hits && !c[i].count)
            continue;
        path_of(r, got, (uint32_t)i, path, sizeof path);
        bool excused = c[i].excused || (is_less(&c[i]) && c[i].part) ||
                       (is_less(&c[i]) && c[i].function >= 0 &&
                        cover_missing(&more[c[i].function], c[i].hits, c[i].count));
        note_difference(r, excused, "%s: hits %u, %+d; instructions %u, %+d", path,
                        (unsigned)got[i].hits, (int)c[i].hits, (unsigned)got[i].c1,
                        (int)c[i].count);
    }
}

/* Its caller is marked, or was not seen itself with an excuse, or it is elsewhere, or as much time
 * as it took is told to be in nobody's sight (a task within it). */
static bool may_be_missing(const struct run *r, const struct oracle_node *want, size_t k,
                           const struct calltree_node *got, const struct compared *c, size_t n,
                           const bool *excused, struct surplus *more, uint64_t *blind)
{
    int above = want[k].parent;
    if (above < 0 && want[k].count <= *blind) {
        *blind -= want[k].count;
        return true;
    }
    for (size_t i = 0; i < n; i++)
        if (above >= 0 && c[i].same == above && got[i].doubtful)
            return true;
    return (above >= 0 && excused[above]) ||
           cover_missing(&more[true_function(r, &want[k]) - r->f], -(int64_t)want[k].hits,
                         -(int64_t)want[k].count);
}

/* True nodes that were never seen. */
static void judge_missing(struct run *r, const struct calltree_node *got, const struct compared *c,
                          size_t n, struct surplus *more)
{
    size_t nt;
    const struct oracle_node *want = oracle_nodes(r->oracle, &nt);
    bool *excused = calloc(nt + 1, sizeof *excused);
    uint64_t blind = calltree_stats(r->tree)->blind_c1;
    for (size_t k = 0; excused && k < nt; k++) {
        bool met = false;
        for (size_t i = 0; i < n; i++)
            met |= c[i].same == (int)k;
        if (met)
            continue;
        excused[k] = may_be_missing(r, want, k, got, c, n, excused, more, &blind);
        note_difference(
            r, excused[k], "%s%s below %s: never seen, hits %u, instructions %u",
            (size_t)want[k].function < r->nf ? "" : "block of ", true_function(r, &want[k])->name,
            want[k].parent < 0 ? "no one" : true_function(r, &want[want[k].parent])->name,
            (unsigned)want[k].hits, (unsigned)want[k].count);
    }
    free(excused);
}

static void compare_trees(struct run *r)
{
    size_t n;
    const struct calltree_node *got = calltree_nodes(r->tree, &n);
    struct compared *c = calloc(n + 1, sizeof *c);
    struct surplus more[ARRAY_LEN(r->f)] = { 0 };
    for (size_t i = 0; c && i < n; i++) {
        compare_node(r, got, i, c);
        if (c[i].excused && c[i].function >= 0) {
            more[c[i].function].hits += c[i].hits > 0 ? c[i].hits : 0;
            more[c[i].function].count += c[i].count > 0 ? c[i].count : 0;
        }
    }
    if (c) {
        judge_seen(r, got, c, n, more);
        judge_missing(r, got, c, n, more);
    }
    free(c);
}

static void compare_run(struct run *r)
{
    compare_trees(r);
    uint64_t seen = calltree_stats(r->tree)->total_c1;
    for (size_t i = 0; i < MOST_NODES; i++)
        seen -= r->outside[i];
    if (r->between != seen)
        note_difference(r, false, "all: instructions %u for %u", (unsigned)seen,
                        (unsigned)r->between);
    uint32_t result = board_reg(&r->b, 8);
    if (result != r->log.result)
        note_difference(r, false, "the program's result: %08x for %08x", (unsigned)result,
                        (unsigned)r->log.result);
}

/* ---- one program ---- */

static bool resolve_function(void *ctx, uint64_t addr, struct calltree_range *out)
{
    int i = function_at(ctx, addr);
    const struct oracle_function *f = &((const struct run *)ctx)->f[i < 0 ? 0 : i];
    uint64_t alias = addr & ~(uint64_t)PHYS;
    *out = (struct calltree_range){ f->low, f->low | alias, f->high | alias };
    return i >= 0;
}

static void find_functions(struct run *r)
{
    for (size_t i = 0; i < r->prog.nlabels; i++) {
        const char *name = r->prog.labels[i].name;
        bool second_entry = r->o->stripped && !strncmp(name, "e_f", 3); /* is called, too */
        if (strchr(name, '_') && !second_entry)
            continue;
        assert_true(r->nf < ARRAY_LEN(r->f));
        struct oracle_function *f = &r->f[r->nf++];
        snprintf(f->name, sizeof f->name, "%s", name);
        f->low = r->prog.labels[i].value;
        f->high = BOARD_TEXT + (uint32_t)r->prog.len;
        if (r->nf > 1)
            r->f[r->nf - 2].high = f->low;
    }
}

/* In place of each "x_PREFIX..." in the program's text: where `code` has that label. */
static void name_apart(struct run *r, const struct asm_prog *code, const char *prefix)
{
    static char out[NASTY_MAX_TEXT];
    size_t n = 0;
    for (const char *t = r->p.text, *end; *t;) {
        assert_true(n + 16 < sizeof out);
        if (strncmp(t, prefix, strlen(prefix)) != 0) {
            out[n++] = *t++;
            continue;
        }
        char name[16];
        end = t + strlen(prefix) + strspn(t + strlen(prefix), "0123456789");
        snprintf(name, sizeof name, "%.*s", (int)(end - t - 2), t + 2);
        n += (size_t)snprintf(out + n, sizeof out - n, "0x%08X", (unsigned)asm_label(code, name));
        t = end;
    }
    memcpy(r->p.text, out, n);
    r->p.text[n] = 0;
    r->p.len = n;
}

/* At the end of the text: the section as it is loaded. */
static void append_copied(struct run *r)
{
    static const uint8_t nothing[4];
    size_t n = r->p.len;
    assert_true(r->copied.len <= NASTY_COPIED_BYTES);
    n += (size_t)snprintf(r->p.text + n, sizeof r->p.text - n, ".align 2\ncp_src:");
    for (size_t i = 0; i < NASTY_COPIED_BYTES; i += 4)
        n += (size_t)snprintf(
            r->p.text + n, sizeof r->p.text - n, ".long 0x%08X\n",
            (unsigned)get32(i < r->copied.len ? r->copied.code + i : nothing, r->copied.big));
    assert_true(n + 1 < sizeof r->p.text);
    r->p.len = n;
}

static void assemble_apart(struct run *r)
{
    r->rom.origin = NASTY_ROM;
    r->copied.origin = NASTY_COPIED;
    r->rom.big = r->copied.big = r->o->big;
    if (r->p.rom[0]) {
        asm_text(&r->rom, NASTY_ROM, r->p.rom);
        name_apart(r, &r->rom, "x_rom");
    }
    if (r->p.copied[0]) {
        asm_text(&r->copied, NASTY_COPIED, r->p.copied);
        name_apart(r, &r->copied, "x_cop");
        append_copied(r);
    }
}

static void find_functions_of(struct run *r, const struct asm_prog *code)
{
    size_t first = r->nf;
    for (size_t i = 0; i < code->nlabels; i++) {
        if (strchr(code->labels[i].name, '_'))
            continue;
        assert_true(r->nf < ARRAY_LEN(r->f));
        struct oracle_function *f = &r->f[r->nf++];
        snprintf(f->name, sizeof f->name, "%s", code->labels[i].name);
        f->low = code->labels[i].value & PHYS;
        f->high = (code->origin & PHYS) + (uint32_t)code->len;
        if (r->nf - first > 1)
            r->f[r->nf - 2].high = f->low;
    }
}

static bool is_in_range(uint32_t low, const struct asm_prog *code)
{
    return low - (code->origin & PHYS) < code->len;
}

static void add_section(struct run *r, const char *name, const struct asm_prog *code, uint64_t load)
{
    size_t *n = &r->b.im.nsections;
    r->sec[*n] = (struct image_section){ name, code->origin, code->len, code->code, true, false };
    r->load[(*n)++] = load;
    for (size_t i = 0; i < r->nf; i++)
        if (is_in_range(r->f[i].low, code))
            r->fn[r->b.im.nfunctions++] =
                (struct image_function){ r->f[i].name,
                                         r->f[i].low | (code->origin & ~(uint32_t)PHYS),
                                         r->f[i].high | (code->origin & ~(uint32_t)PHYS) };
}

/* The image with the sections that lie apart. */
static void add_sections(struct run *r)
{
    if (!r->rom.len && !r->copied.len)
        return;
    memcpy(r->fn, r->b.fn, r->b.im.nfunctions * sizeof *r->fn);
    r->sec[0] = r->b.sec;
    r->load[0] = BOARD_TEXT;
    r->b.im.sections = r->sec;
    r->b.im.load_addr = r->load;
    r->b.im.functions = r->fn;
    if (r->copied.len) {
        uint32_t load = asm_label(&r->prog, "cp_src");
        r->sec[0].size = load - BOARD_TEXT;
        r->fn[r->b.im.nfunctions - 1].high = load;
        add_section(r, ".copied", &r->copied, load);
    }
    if (r->rom.len)
        add_section(r, ".rom", &r->rom, NASTY_ROM);
    assert_int_equal(r->b.t->ops->set_image(r->b.t, &r->b.im, NULL), 0);
}

/* The board, if there is a ROM with that, where it has its first instruction, too. */
static void open_board(struct run *r)
{
    static uint8_t bytes[ROM_FILE];
    char path[] = "/tmp/nastyXXXXXX", options[64];
    const char *order = r->o->big ? ",be" : "";
    if (!r->rom.len) {
        board_open(&r->b, &r->prog, order, r->p.text);
        return;
    }
    put16(bytes, 0xAFFE, r->o->big); /* bra to itself */
    assert_true((NASTY_ROM & 0xFFFF) + r->rom.len <= sizeof bytes);
    memcpy(bytes + (NASTY_ROM & 0xFFFF), r->rom.code, r->rom.len);
    int fd = mkstemp(path);
    assert_true(fd >= 0 && write(fd, bytes, sizeof bytes) == sizeof bytes);
    close(fd);
    snprintf(options, sizeof options, "%s,rom=%s", order, path);
    board_open(&r->b, &r->prog, options, r->p.text);
    unlink(path);
}

static struct oracle_event as_reported(const struct event *e)
{
    return (struct oracle_event){ (uint32_t)(e->kind == EVENT_RTE ? e->target : e->pc),
                                  (uint32_t)e->sp };
}

/* How many events there are up to the program's first one and its last one. */
static void find_ends(struct run *r, size_t *head, size_t *body)
{
    const struct event *first = NULL, *last = NULL;
    *head = *body = 0;
    for (size_t i = 0; i < r->b.nev; i++) {
        const struct event *e = &r->b.ev[i];
        bool border = e->kind == EVENT_JUMP && e->pc == e->target, /* of a block */
            of_program = e->kind >= EVENT_CALL && e->kind <= EVENT_RTE && !border;
        first = !first && of_program ? e : first;
        last = of_program ? e : last;
    }
    if (!first)
        return;
    r->between =
        oracle_between(r->oracle, as_reported(first), as_reported(last), last->c1 - first->c1);
    *head = (size_t)(first - r->b.ev) + 1;
    *body = (size_t)(last - r->b.ev) + 1;
}

static bool no_symbol(const struct image *im, const char *name, uint64_t *addr)
{
    (void)im;
    (void)name;
    (void)addr;
    return false;
}

/* In RAM as small as will do, or in all there is. */
static void arm_trace(struct run *r)
{
    struct trace_config cfg = { .counter = { 0x13, 0x23 },
                                .image = &r->b.im,
                                .ram_base = SH4_AGENT_RAM_DEFAULT,
                                .ram_bytes = SH4_AGENT_RAM_BYTES };
    if (r->o->small)
        for (cfg.ram_bytes = 14 << 10; r->b.t->ops->trace->arm(r->b.t, &cfg, NULL) == -ERR_RESOURCE;
             cfg.ram_bytes += 1 << 10)
            assert_true(cfg.ram_bytes < SH4_AGENT_RAM_BYTES);
    else
        board_arm(&r->b, &cfg);
}

/* ---- blocks ---- */

static bool block_range(void *ctx, uint64_t addr, struct calltree_range *out)
{
    const struct run *r = ctx;
    uint32_t phys = (uint32_t)addr & PHYS;
    for (size_t i = 0; i < r->nblocks; i++)
        if (phys >= r->block[i].low && phys < r->block[i].high) {
            uint64_t alias = addr & ~(uint64_t)PHYS;
            *out = (struct calltree_range){ r->block[i].low, r->block[i].low | alias,
                                            r->block[i].high | alias };
            return true;
        }
    return false;
}

/* In the order of addresses; false: it is not apart from the others. */
static bool put_block(struct run *r, struct oracle_block b)
{
    size_t k = 0;
    while (k < r->nblocks && r->block[k].high <= b.low)
        k++;
    if (k < r->nblocks && r->block[k].low < b.high)
        return false;
    memmove(&r->block[k + 1], &r->block[k], (r->nblocks - k) * sizeof b);
    r->block[k] = b;
    r->nblocks++;
    return true;
}

static void give_blocks(struct run *r)
{
    for (size_t i = 0; i < r->nblocks; i++)
        r->image_block[i] =
            (struct image_block){ r->block[i].low | (BOARD_TEXT & ~(uint32_t)PHYS),
                                  r->block[i].high | (BOARD_TEXT & ~(uint32_t)PHYS) };
    r->b.im.blocks = r->image_block;
    r->b.im.nblocks = r->nblocks;
}

/* Whether the trace takes these blocks. It refuses those that begin or end in a slot or in data, at
 * code that nothing leads to, in ROM, where BL may be 1, ... */
static bool takes_blocks(struct run *r)
{
    struct trace_config cfg = { .counter = { 0x13, 0x23 },
                                .image = &r->b.im,
                                .ram_base = SH4_AGENT_RAM_DEFAULT,
                                .ram_bytes = SH4_AGENT_RAM_BYTES };
    give_blocks(r);
    int ret = r->b.t->ops->trace->arm(r->b.t, &cfg, NULL);
    assert_true(ret == 0 || ret == -ERR_USAGE);
    if (ret == 0)
        assert_int_equal(r->b.t->ops->trace->disarm(r->b.t, NULL), 0);
    return ret == 0;
}

static void choose_blocks(struct run *r)
{
    uint64_t x = (r->seed + 1) * 0x9E3779B97F4A7C15u;
    for (unsigned n = 0; n < TRIED_BLOCKS && r->nblocks < MAX_BLOCKS; n++) {
        x = x * 6364136223846793005u + 1442695040888963407u;
        const struct oracle_function *f = &r->f[(x >> 33) % r->nf];
        uint32_t bytes = f->high - f->low, at = (uint32_t)(x >> 13) % bytes & ~1u,
                 rest = bytes - at, len = ((uint32_t)(x >> 40) % rest & ~1u) + 2;
        struct oracle_block before[MAX_BLOCKS];
        size_t nbefore = r->nblocks;
        memcpy(before, r->block, sizeof before);
        if (!put_block(r, (struct oracle_block){ f->low + at, f->low + MIN(at + len, bytes) }))
            continue;
        if (takes_blocks(r))
            continue;
        memcpy(r->block, before, sizeof before);
        r->nblocks = nbefore;
    }
    give_blocks(r);
}

static void prepare_board(struct run *r)
{
    open_board(r);
    add_sections(r);
    if (r->o->stripped) {
        r->b.im.nfunctions = 0;
        r->b.im.lookup = no_symbol;
    }
    if (r->o->blocks && !r->o->stripped) /* blocks are parts of functions */
        choose_blocks(r);
}

/* Adds what the nodes have by now to what lies outside, or takes it off. */
static void note_outside(struct run *r, bool off)
{
    size_t n;
    const struct calltree_node *nodes = calltree_nodes(r->tree, &n);
    assert_true(n <= MOST_NODES);
    for (size_t i = 0; i < n; i++)
        r->outside[i] += off ? -nodes[i].c1 : nodes[i].c1;
}

static void feed_tree(struct run *r)
{
    size_t head, body;
    find_ends(r, &head, &body);
    calltree_feed(r->tree, r->b.ev, head);
    note_outside(r, false);
    calltree_feed(r->tree, r->b.ev + head, body - head);
    note_outside(r, true);
    calltree_feed(r->tree, r->b.ev + body, r->b.nev - body);
    note_outside(r, false);
}

static void trace_run(struct run *r)
{
    struct calltree_config cfg = { .resolve = r->o->stripped ? NULL : resolve_function,
                                   .block = r->nblocks ? block_range : NULL,
                                   .resolve_ctx = r };
    arm_trace(r);
    board_run(&r->b, "m_end", 4000000000);
    board_disarm(&r->b);
    assert_int_equal(r->b.t->ops->trace->status(r->b.t, &r->st, NULL), 0);
    watch_sums_init(&r->watched);
    cfg.watch = &r->watched.watch;
    assert_int_equal(calltree_new(&cfg, &r->tree, NULL), 0);
    feed_tree(r);
    const char *wrong = watch_sums_check(&r->watched, r->tree, false);
    if (wrong)
        fail_msg("%s", wrong);
    watch_sums_fini(&r->watched);
}

static void print_nodes(const struct run *r)
{
    size_t n;
    const struct calltree_node *nodes = calltree_nodes(r->tree, &n);
    char path[1024];
    for (size_t i = 0; i < n; i++) {
        path_of(r, nodes, (uint32_t)i, path, sizeof path);
        printf("node %s %08x hits %u c1 %u doubts %u%s\n", path, (unsigned)nodes[i].addr,
               (unsigned)nodes[i].hits, (unsigned)nodes[i].c1, (unsigned)nodes[i].doubts,
               nodes[i].lacking ? " lacking" : "");
    }
}

static void print_events(const struct run *r)
{
    char from[32], to[32];
    for (size_t i = 0; i < r->b.nev; i++) {
        const struct event *e = &r->b.ev[i];
        name_in(r, e->pc, from, sizeof from);
        name_in(r, e->target, to, sizeof to);
        printf("event kind %u %s %08x -> %s %08x sp %08x c1 %u flags %x\n", e->kind, from,
               (unsigned)e->pc, to, (unsigned)e->target, (unsigned)e->sp, (unsigned)e->c1,
               (unsigned)e->flags);
    }
}

static enum verdict judge_seed(struct run *r)
{
    char why[128];
    nasty_generate(&r->p, r->seed, r->o->features, r->o->dropped, r->o->small ? NASTY_ROUNDS : 1);
    if (r->o->print)
        printf("%s%s%s", r->p.text, r->p.rom, r->p.copied);
    r->prog.big = r->o->big;
    assemble_apart(r);
    asm_text(&r->prog, BOARD_TEXT, r->p.text);
    assert_true(!r->copied.len || BOARD_TEXT + r->prog.len <= NASTY_COPIED);
    find_functions(r);
    find_functions_of(r, &r->copied);
    find_functions_of(r, &r->rom);
    if (!qemu_log_run(&r->log, &r->prog, &r->rom, asm_label(&r->prog, "m_end"))) {
        note_difference(r, false, "%s", r->log.why);
        return FAILED;
    }
    prepare_board(r);
    const struct oracle_program program = { .code = &r->prog,
                                            .rom = &r->rom,
                                            .copied = &r->copied,
                                            .f = r->f,
                                            .nf = r->nf,
                                            .block = r->block,
                                            .nblocks = r->nblocks,
                                            .named = !r->o->stripped };
    r->oracle = oracle_run(r->log.steps, r->log.n, &program, &r->p, why);
    if (!r->oracle) {
        note_difference(r, false, "the log: %s", why);
        return FAILED;
    }
    trace_run(r);
    if (r->o->print) {
        print_events(r);
        print_nodes(r);
    }
    compare_run(r);
    for (size_t i = 0; r->o->print && i < r->nblocks; i++)
        printf("block %08x..%08x\n", (unsigned)r->block[i].low, (unsigned)r->block[i].high);
    if (r->differ && !r->o->quiet)
        printf("    %u instructions; %s\n", (unsigned)r->log.n, r->st.note);
    return r->unmarked ? FAILED : r->differ ? MARKED : EXACT;
}

/* In a process of its own: whatever goes wrong is that program's. */
static enum verdict run_seed(const struct options *o, uint64_t seed)
{
    int status;
    fflush(stdout);
    pid_t pid = fork();
    if (pid == 0) {
        struct run *r = calloc(1, sizeof *r);
        setrlimit(RLIMIT_CPU, &(struct rlimit){ WORK_LIMIT_S, WORK_LIMIT_S });
        alarm(TIME_LIMIT_S);
        if (o->quiet && (!freopen("/dev/null", "w", stdout) || !freopen("/dev/null", "w", stderr)))
            _exit(FAILED);
        r->o = o;
        r->seed = seed;
        enum verdict v = judge_seed(r);
        oracle_free(r->oracle);
        qemu_log_free(&r->log);
        calltree_free(r->tree);
        if (r->b.t)
            board_close(&r->b);
        free(r);
        fflush(stdout);
        exit((int)v);
    }
    if (pid < 0 || waitpid(pid, &status, 0) != pid)
        return FAILED;
    if (!WIFEXITED(status) || WEXITSTATUS(status) >= NVERDICTS) {
        if (!o->quiet)
            printf("    no verdict: the run ended with status 0x%x, perhaps at a limit of the "
                   "test's own\n",
                   (unsigned)status);
        return FAILED;
    }
    return (enum verdict)WEXITSTATUS(status);
}

/* Leaves out whatever the failure does not need. */
static void shrink_failure(const struct options *given, uint64_t seed)
{
    struct options o = *given;
    o.quiet = true;
    for (unsigned k = 0; k < 8 + NASTY_NFEATURES; k++) {
        if (k >= 8 && !(o.features >> (k - 8) & 1))
            continue;
        o.dropped |= 1u << k;
        if (run_seed(&o, seed) != FAILED)
            o.dropped &= ~(1u << k);
    }
    printf("    smaller: --seed %llu --count 1 --drop 0x%x\n", (unsigned long long)seed,
           (unsigned)o.dropped);
}

/* ---- options ---- */

static int feature_named(const char *name, size_t len)
{
    for (int i = 0; i < NASTY_NFEATURES; i++)
        if (strlen(nasty_features[i].name) == len && !strncmp(nasty_features[i].name, name, len))
            return i;
    return -1;
}

static void print_usage(void)
{
    printf("usage: sh4-nasty [--features a,b|all] [--seed N] [--count N] [--drop MASK] [--shrink] "
           "[--print] [--exact] [--each] [--vary N]\n"
           "       [--big] [--small] [--stripped] [--mix] [--blocks]\nfeatures:\n");
    for (int i = 0; i < NASTY_NFEATURES; i++)
        printf("  %-12s %s\n", nasty_features[i].name, nasty_features[i].text);
    exit(2);
}

static uint32_t parse_features(const char *list)
{
    uint32_t out = 0;
    if (!strcmp(list, "all"))
        return (1u << NASTY_NFEATURES) - 1;
    while (*list) {
        size_t len = strcspn(list, ",");
        int k = feature_named(list, len);
        if (k < 0)
            print_usage();
        out |= 1u << k;
        list += len + (list[len] == ',');
    }
    return out;
}

static bool take_flag(struct options *o, const char *arg)
{
    const struct {
        const char *name;
        bool *flag;
    } flags[] = { { "--shrink", &o->shrink },     { "--print", &o->print },
                  { "--exact", &o->exact },       { "--each", &o->each },
                  { "--big", &o->big },           { "--small", &o->small },
                  { "--stripped", &o->stripped }, { "--mix", &o->mix },
                  { "--blocks", &o->blocks } };
    for (size_t i = 0; i < ARRAY_LEN(flags); i++)
        if (!strcmp(arg, flags[i].name))
            return *flags[i].flag = true;
    return false;
}

static void parse_options(struct options *o, int argc, char **argv)
{
    for (int i = 1; i < argc; i++) {
        if (take_flag(o, argv[i]))
            continue;
        const char *value = i + 1 < argc ? argv[++i] : NULL;
        if (!value)
            print_usage();
        if (!strcmp(argv[i - 1], "--features"))
            o->features = parse_features(value);
        else if (!strcmp(argv[i - 1], "--seed"))
            o->seed = strtoull(value, NULL, 0);
        else if (!strcmp(argv[i - 1], "--count"))
            o->count = (unsigned)strtoul(value, NULL, 0);
        else if (!strcmp(argv[i - 1], "--vary"))
            o->vary = (unsigned)strtoul(value, NULL, 0);
        else if (!strcmp(argv[i - 1], "--drop"))
            o->dropped = (uint32_t)strtoul(value, NULL, 0);
        else
            print_usage();
    }
}

static void print_features(uint32_t features)
{
    const char *comma = "";
    for (int i = 0; i < NASTY_NFEATURES; i++)
        if (features >> i & 1) {
            printf("%s%s", comma, nasty_features[i].name);
            comma = ",";
        }
}

/* Some of them, two on the average, and calls always. */
static uint32_t part_of(uint32_t features, uint64_t seed)
{
    uint32_t some = 1u << NASTY_calls, want = 1 + (uint32_t)(seed % 3);
    uint64_t x = (seed + 1) * 0xD1342543DE82EF95u;
    for (unsigned n = 0; n < 64 && want; n++, x = x * 6364136223846793005u + 1442695040888963407u) {
        uint32_t bit = 1u << ((x >> 33) % NASTY_NFEATURES);
        if (features & bit && !(some & bit)) {
            some |= bit;
            want--;
        }
    }
    return some;
}

static void run_one(const struct options *given, uint64_t seed, struct tally *t)
{
    struct options o = *given;
    o.features = o.each ? part_of(o.features, seed) : o.features;
    o.big |= o.mix && seed % 4 == 1;
    o.small |= o.mix && seed % 5 == 1;
    o.stripped |= o.mix && seed % 7 == 1 && !o.exact;
    enum verdict v = run_seed(&o, seed);
    t->all[v]++;
    for (int i = 0; i < NASTY_NFEATURES; i++)
        t->by[i][v] += o.features >> i & 1;
    if (v == EXACT || (v == MARKED && !o.exact))
        return;
    t->bad++;
    printf("  failed: sh4-nasty --features ");
    print_features(o.features);
    printf(" --seed %llu --count 1 --drop 0x%x%s%s%s%s%s\n", (unsigned long long)seed,
           (unsigned)o.dropped, o.exact ? " --exact" : "", o.big ? " --big" : "",
           o.small ? " --small" : "", o.stripped ? " --stripped" : "", o.blocks ? " --blocks" : "");
    if (o.shrink)
        shrink_failure(&o, seed);
}

static void print_tally(const struct tally *t, uint32_t features)
{
    printf("%-12s %8s %8s %8s\n", "programs", "exact", "marked", "failed");
    for (int i = 0; i < NASTY_NFEATURES; i++)
        if (features >> i & 1)
            printf("%-12s %8u %8u %8u\n", nasty_features[i].name, t->by[i][EXACT], t->by[i][MARKED],
                   t->by[i][FAILED]);
    printf("%-12s %8u %8u %8u\n", "all", t->all[EXACT], t->all[MARKED], t->all[FAILED]);
}

int main(int argc, char **argv)
{
    struct options o = { .seed = 1, .count = 20, .features = 1u << NASTY_calls };
    static struct tally t;
    parse_options(&o, argc, argv);
    if (!qemu_log_present()) {
        printf("skipped: needs qemu-system-sh4 and qemu-system-sh4eb\n");
        return 77;
    }
    for (unsigned k = 0; k < o.count; k++)
        run_one(&o, o.seed + k, &t);
    uint64_t fresh = (uint64_t)time(NULL) * 1000;
    if (o.vary)
        printf("seeds of today: %llu to %llu\n", (unsigned long long)fresh,
               (unsigned long long)(fresh + o.vary - 1));
    for (unsigned k = 0; k < o.vary; k++)
        run_one(&o, fresh + k, &t);
    print_tally(&t, o.features);
    return t.bad ? 1 : 0;
}
