/* The peer of bench_s12z_decode: libipt's block decoder on an Intel PT trace of like shape. The
 * same random program, its blocks as x86-64 code; the same run, each branch a TNT bit, each return
 * and indirect call a TIP (no return compression, as on S12Z). Blocks are counted by address, no
 * call tree is built: the comparison favours libipt. Skips, saying so, when built without
 * libipt-dev. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#ifdef HAVE_LIBIPT
#include <intel-pt.h>

#include "tests/s12z/synth.h"

enum { ROUNDS = 3, PACKET_BYTES = 16 };
static const uint64_t BASE = 0x400000, BRANCHES = 1000000;

struct x86 {
    uint64_t *start; /* by block */
    uint8_t *code;
    size_t size;
};

static unsigned end_bytes(const struct synth_block *b)
{
    switch (b->kind) {
    case SYNTH_BRANCH: return 6;
    case SYNTH_GOTO:
    case SYNTH_CALL: return 5;
    case SYNTH_RETURN: return 1;
    default: return 2;
    }
}

static void put_rel(uint8_t *p, uint64_t from, uint64_t to)
{
    uint32_t rel = (uint32_t)(to - from);
    for (unsigned k = 0; k < 4; k++)
        p[k] = (uint8_t)(rel >> (8 * k));
}

static void translate_program(const struct synth *s, struct x86 *x)
{
    uint64_t at = BASE;
    x->start = calloc(s->nblocks + 1, sizeof *x->start);
    x->code = malloc((size_t)s->nblocks * 16);
    if (!x->start || !x->code)
        abort();
    for (uint32_t k = 0; k < s->nblocks; k++) {
        x->start[k] = at;
        at += s->b[k].fill + end_bytes(&s->b[k]);
    }
    x->size = (size_t)(at - BASE);
    for (uint32_t k = 0; k < s->nblocks; k++) {
        const struct synth_block *b = &s->b[k];
        uint8_t *p = x->code + (x->start[k] - BASE);
        uint64_t behind = x->start[k] + b->fill + end_bytes(b);
        memset(p, 0x90, b->fill);
        p += b->fill;
        switch ((enum synth_kind)b->kind) {
        case SYNTH_BRANCH:
            p[0] = 0x0F;
            p[1] = 0x85;
            put_rel(p + 2, behind, x->start[b->target]);
            break;
        case SYNTH_GOTO:
            p[0] = 0xE9;
            put_rel(p + 1, behind, x->start[b->target]);
            break;
        case SYNTH_CALL:
            p[0] = 0xE8;
            put_rel(p + 1, behind, x->start[b->target * s->opt.per_function]);
            break;
        case SYNTH_CALL_IND:
            p[0] = 0xFF;
            p[1] = 0xD0;
            break;
        case SYNTH_RETURN: p[0] = 0xC3; break;
        default:
            p[0] = 0x0F;
            p[1] = 0x0B;
            break;
        }
    }
}

static uint64_t x86_of(const struct synth *s, const struct x86 *x, uint32_t pc)
{
    uint32_t lo = 0, hi = s->nblocks;
    while (hi - lo > 1) {
        uint32_t mid = (lo + hi) / 2;
        if (s->b[mid].start <= pc)
            lo = mid;
        else
            hi = mid;
    }
    return x->start[lo];
}

static void put_packet(struct pt_encoder *e, struct pt_packet *p)
{
    if (pt_enc_next(e, p) < 0)
        abort();
}

static void put_ip(struct pt_encoder *e, enum pt_packet_type type, uint64_t ip)
{
    struct pt_packet p = { .type = type };
    p.payload.ip.ipc = pt_ipc_sext_48;
    p.payload.ip.ip = ip;
    put_packet(e, &p);
}

static void encode_run(const struct synth *s, const struct x86 *x, struct pt_encoder *e)
{
    struct pt_packet psb = { .type = ppt_psb }, end = { .type = ppt_psbend },
                     mode = { .type = ppt_mode };
    mode.payload.mode.leaf = pt_mol_exec;
    mode.payload.mode.bits.exec.csl = 1;
    put_packet(e, &psb);
    put_packet(e, &mode);
    put_packet(e, &end);
    put_ip(e, ppt_tip_pge, x->start[0]);
    for (size_t k = 1; k < s->nlines; k++) {
        uint32_t direct = (uint32_t)(s->line[k] >> 8);
        unsigned n = 31 - (unsigned)__builtin_clz(direct);
        struct pt_packet tnt = { .type = n > 6 ? ppt_tnt_64 : ppt_tnt_8 };
        tnt.payload.tnt.bit_size = (uint8_t)n;
        tnt.payload.tnt.payload = direct ^ 1u << n;
        if (n)
            put_packet(e, &tnt);
        if ((s->line[k] & 15) == 1)
            put_ip(e, ppt_tip, x86_of(s, x, (uint32_t)(s->line[k] >> 40)));
    }
}

static double cpu_seconds(void)
{
    struct timespec t;
    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t);
    return (double)t.tv_sec + (double)t.tv_nsec / 1e9;
}

/* Returns how many conditional branches the blocks ended in, which must be those of the run. */
static uint64_t decode_run(struct pt_config *c, const char *file, const struct x86 *x,
                           uint32_t *count)
{
    struct pt_block_decoder *d = pt_blk_alloc_decoder(c);
    uint64_t branches = 0;
    if (!d || pt_image_add_file(pt_blk_get_image(d), file, 0, x->size, NULL, BASE) < 0)
        abort();
    int status = pt_blk_sync_forward(d);
    while (status >= 0) {
        struct pt_event ev;
        while (status >= 0 && status & pts_event_pending)
            status = pt_blk_event(d, &ev, sizeof ev);
        struct pt_block b = { 0 };
        if (status >= 0)
            status = pt_blk_next(d, &b, sizeof b);
        if (status < 0) /* the end: a block that no bit decides any more */
            break;
        count[b.ip - BASE]++;
        branches += b.iclass == ptic_cond_jump;
    }
    pt_blk_free_decoder(d);
    return branches;
}

static int measure_program(unsigned blocks, const char *name, unsigned per, unsigned calls,
                           bool loops)
{
    static struct synth s;
    struct x86 x;
    char file[] = "/tmp/probeprof-libipt-XXXXXX";
    struct pt_config c;
    double best = 1e9;
    uint64_t branches = 0;
    synth_new(&s, &(struct synth_options){ .seed = 7,
                                           .blocks = blocks,
                                           .per_function = per,
                                           .call_percent = calls,
                                           .goto_percent = 5,
                                           .loops = loops });
    synth_run_branches(&s, BRANCHES);
    translate_program(&s, &x);
    int fd = mkstemp(file);
    FILE *f = fd < 0 ? NULL : fdopen(fd, "wb");
    uint8_t *trace = calloc(s.nlines + 16, PACKET_BYTES);
    uint32_t *count = calloc(x.size, sizeof *count);
    if (!f || !trace || !count || fwrite(x.code, 1, x.size, f) != x.size || fclose(f) != 0)
        return 1;
    pt_config_init(&c);
    c.begin = trace;
    c.end = trace + (s.nlines + 16) * PACKET_BYTES;
    struct pt_encoder *e = pt_alloc_encoder(&c);
    encode_run(&s, &x, e);
    uint64_t used = 0;
    pt_enc_get_offset(e, &used);
    pt_free_encoder(e);
    c.end = trace + used;
    for (int k = 0; k < ROUNDS; k++) {
        double a = cpu_seconds();
        branches = decode_run(&c, file, &x, count);
        double b = cpu_seconds();
        best = b - a < best ? b - a : best;
    }
    remove(file);
    printf("| %6u | %-8s | %6.1f | %s\n", blocks, name, (double)s.nbranches / best / 1e6,
           branches == s.nbranches ? "" : "COUNTS DIFFER");
    fflush(stdout);
    free(trace);
    free(count);
    free(x.start);
    free(x.code);
    synth_free(&s);
    return branches != s.nbranches;
}

int main(void)
{
    static const unsigned sizes[] = { 256, 4096, 65536 };
    int ret = 0;
    puts("| blocks | shape    | M br/s |");
    for (unsigned k = 0; k < 3; k++)
        ret |= measure_program(sizes[k], "branches", 128, 1, true);
    for (unsigned k = 0; k < 3; k++)
        ret |= measure_program(sizes[k], "mixed", 32, 6, true);
    for (unsigned k = 0; k < 3; k++)
        ret |= measure_program(sizes[k], "calls", 8, 20, false);
    return ret;
}
#else
int main(void)
{
    puts("bench_libipt: skipped, built without libipt-dev");
    return 0;
}
#endif
