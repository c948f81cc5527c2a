/* sh4-single-step DIR: runs SingleStepTests/sh4 files on the CPU model and prints pass counts.
 *
 * A record is the state before and after four instructions, with the accesses they make in a flat
 * 32-bit memory without exceptions. Its states come from an emulator: where they contradict the
 * manual the record is excused, with a reason, if the model ends in the state the manual demands
 * (sst_manual.c), word by word. Exit: 0 all passed or excused, 1 not, 2 usage, 77 no DIR. */
#include <dirent.h>
#include <errno.h>
#include <getopt.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "probe/base/bytes.h"
#include "probe/base/util.h"
#include "targets/sh4/isa/isa.h"
#include "targets/sim/sh4/cpu.h"
#include "tests/sim_sh4/sst.h"

enum {
    RECORD_BYTES = 756,
    INITIAL = 12,
    FINAL = 296,
    CYCLES = 584,
    CYCLE_BYTES = 36,
    OPCODES = 736
};

struct store {
    uint32_t addr;
    unsigned size;
    uint64_t value;
};
struct machine {
    struct sh4_cpu cpu;
    const struct sst_record *rec;
    unsigned nfetch, nstores, bad_reads;
    struct store stores[8];
};

/* ---- records ---- */

static void decode_record(const uint8_t *raw, struct sst_record *r)
{
    memset(r, 0, sizeof *r);
    for (unsigned i = 0; i < SST_STATE_WORDS; i++) {
        r->initial[i] = le32(raw + INITIAL + 4 * i);
        r->final[i] = le32(raw + FINAL + 4 * i);
    }
    for (unsigned i = 0; i < SST_NCYCLES; i++) {
        const uint8_t *c = raw + CYCLES + CYCLE_BYTES * i;
        if (le32(c) & 1)
            r->read[r->nreads++] = (struct sst_access){ le32(c + 24), le64(c + 28) };
        if (le32(c) & 2)
            r->write[r->nwrites++] = (struct sst_access){ le32(c + 12), le64(c + 16) };
    }
    for (unsigned i = 0; i < 5; i++)
        r->opcode[i] = (uint16_t)le32(raw + OPCODES + 4 * i);
}

static const char *state_name(unsigned i, char buf[16])
{
    static const char *const sys[] = { "PC",  "GBR",  "SR",   "SSR", "SPC",   "VBR", "SGR",
                                       "DBR", "MACL", "MACH", "PR",  "FPSCR", "FPUL" };
    if (i >= S_PC)
        return sys[i - S_PC];
    const char *fmt = i < S_RB ? "R%u" : i < S_FP0 ? "RB%u" : i < S_FP1 ? "FP0_%u" : "FP1_%u";
    snprintf(buf, 16, fmt, i - (i < S_RB ? S_R : i < S_FP0 ? S_RB : i < S_FP1 ? S_FP0 : S_FP1));
    return buf;
}

/* ---- the machine: the real model on a flat bus that plays the record ---- */

/* Fetches come in the order PC, PC+2, PC+4, then anywhere; a data read is never at the next of
 * these, and the second instruction of a record, the tested one, reads no data if it branches or
 * computes in the FPU (when it may end at a vector). */
static bool is_fetch(const struct machine *m, uint32_t addr, unsigned size)
{
    uint16_t op = m->rec->opcode[1];
    unsigned sure = sh4_flow(op, 0).kind == SH4_FLOW_NONE && !sst_fpu_arithmetic(op) ? 3 : 2;
    return size == 2 && (m->nfetch >= sure || addr == m->rec->initial[S_PC] + 2 * m->nfetch);
}

static uint64_t bus_read(void *ctx, uint32_t addr, unsigned size)
{
    struct machine *m = ctx;
    const struct sst_record *r = m->rec;
    if (is_fetch(m, addr, size)) {
        uint32_t index = (addr - r->initial[S_PC]) / 2;
        m->nfetch++;
        return r->opcode[index < 4 ? index : 4];
    }
    for (unsigned i = 0; i < r->nreads; i++) {
        uint64_t v = r->read[i].value;
        if (r->read[i].addr == addr)
            return size == 8 ? v : v & ((1ull << 8 * size) - 1);
        if (size == 4 && r->read[i].addr + 4 == addr)
            return v >> 32;
    }
    m->bad_reads++;
    return 0;
}

static void bus_write(void *ctx, uint32_t addr, unsigned size, uint64_t value)
{
    struct machine *m = ctx;
    if (m->nstores < ARRAY_LEN(m->stores))
        m->stores[m->nstores] = (struct store){ addr, size, value };
    m->nstores++;
}

static uint32_t *state_field(struct sh4_cpu *c, unsigned i)
{
    switch (i) {
    case S_PC: return &c->pc;
    case S_GBR: return &c->gbr;
    case S_SSR: return &c->ssr;
    case S_SPC: return &c->spc;
    case S_VBR: return &c->vbr;
    case S_SGR: return &c->sgr;
    case S_DBR: return &c->dbr;
    case S_MACL: return &c->macl;
    case S_MACH: return &c->mach;
    case S_PR: return &c->pr;
    case S_FPUL: return &c->fpul;
    default: break;
    }
    if (i < S_RB)
        return &c->r[i - S_R];
    if (i < S_FP0)
        return &c->rb[i - S_RB];
    /* the files, too, exchange them physically */
    return i < S_FP1 ? &c->fr[i - S_FP0] : &c->xf[i - S_FP1];
}

static uint32_t get_state(struct sh4_cpu *c, unsigned i)
{
    return i == S_SR ? sh4_get_sr(c) : i == S_FPSCR ? c->fpscr : *state_field(c, i);
}

/* 64-bit stores may reach the bus in halves, and are compared as bytes. */
static bool stores_match(const struct machine *m)
{
    const struct sst_record *r = m->rec;
    unsigned got = 0, want = 0;
    for (unsigned k = 0; k < MIN(m->nstores, ARRAY_LEN(m->stores)); k++) {
        const struct store *s = &m->stores[k];
        bool found = false;
        got += s->size;
        for (unsigned i = 0; i < r->nwrites && !found; i++) {
            uint32_t off = s->addr - r->write[i].addr;
            uint64_t mask = s->size == 8 ? ~0ull : (1ull << 8 * s->size) - 1;
            found =
                off + s->size <= 8 && (r->write[i].value >> 8 * off & mask) == (s->value & mask);
        }
        if (!found)
            return false;
    }
    for (unsigned i = 0; i < r->nwrites; i++)
        want++;
    return (want == 0) == (got == 0) && m->nstores >= want;
}

static bool slot_follows(uint16_t op) { return sh4_flow(op, 0).slot; }

static void run_record(struct machine *m, const struct sst_record *r)
{
    m->rec = r;
    m->nfetch = m->nstores = m->bad_reads = 0;
    sh4_set_sr(&m->cpu, r->initial[S_SR]);
    sh4_set_fpscr(&m->cpu, r->initial[S_FPSCR]);
    for (unsigned i = 0; i < SST_STATE_WORDS; i++)
        if (i != S_SR && i != S_FPSCR)
            *state_field(&m->cpu, i) = r->initial[i];
    m->cpu.asleep = false;
    m->cpu.ccn.expevt = 0;
    for (unsigned n = 0; n < 4; n++) {
        if (n < 3 && slot_follows(r->opcode[n]))
            n++; /* the step takes the slot along */
        sh4_cpu_step(&m->cpu);
    }
}

/* ---- what is not compared: bits the files never show as the manual has them ---- */

enum { CAUSE_AND_FLAG = 0x3F07C, FPSCR_BITS = 0x3FFFFF };

/* FPU arithmetic: the files leave FPSCR's cause and flag fields alone; manual: every operation sets
 * them. LDS to FPSCR: the files keep bits 31-22; manual: they read 0. */
static uint32_t compared_bits(unsigned i, uint16_t op)
{
    if (i != S_FPSCR)
        return ~0u;
    return FPSCR_BITS & ~(sst_fpu_arithmetic(op) ? (uint32_t)CAUSE_AND_FLAG : 0);
}

static bool word_differs(struct machine *m, const struct sst_record *r, unsigned i)
{
    return (get_state(&m->cpu, i) ^ r->final[i]) & compared_bits(i, r->opcode[1]);
}

/* ---- excused records: where the file contradicts the manual, and the model does what the manual
 * says ---- */

static bool word_as_manual(struct machine *m, const struct sst_record *r,
                           const struct sst_manual *e, unsigned i)
{
    if (i >= S_FP0 && i < S_FP1 && e->near >> (i - S_FP0) & 1)
        return sst_near(e, i - S_FP0, get_state(&m->cpu, i));
    return !((get_state(&m->cpu, i) ^ e->state[i]) & compared_bits(i, r->opcode[1]));
}

/* The reason, if the record is one of those and the model is in the state the manual demands; NULL
 * if not. */
static const char *excuse_for(struct machine *m, const char *encoding, const struct sst_record *r)
{
    struct sst_manual e;
    if (!sst_manual(encoding, r, &e) || m->cpu.ccn.expevt != e.expevt)
        return NULL;
    for (unsigned i = 0; i < SST_STATE_WORDS; i++)
        if (!word_as_manual(m, r, &e, i))
            return NULL;
    return stores_match(m) && !m->bad_reads ? e.reason : NULL;
}

/* ---- files ---- */

struct totals {
    unsigned encodings, records, passed, excused, failed;
};
struct options {
    bool verbose, json;
    const char *dir;
};

static bool record_passes(struct machine *m, const struct sst_record *r)
{
    for (unsigned i = 0; i < SST_STATE_WORDS; i++)
        if (word_differs(m, r, i))
            return false;
    return stores_match(m) && !m->bad_reads;
}

static void explain_record(struct machine *m, const struct sst_record *r, unsigned number)
{
    char text[64], name[16];
    uint32_t pc = r->initial[S_PC] + 2;
    sh4_disasm(r->opcode[1], pc, r->initial[S_FPSCR] >> 19 & 1, r->initial[S_FPSCR] >> 20 & 1, text,
               sizeof text);
    printf("  record %u: %04x %s (FPSCR %08x SR %08x)\n", number, r->opcode[1], text,
           r->initial[S_FPSCR], r->initial[S_SR]);
    for (unsigned i = 0; i < SST_STATE_WORDS; i++)
        if (word_differs(m, r, i))
            printf("    %-6s before %08x, file %08x, model %08x\n", state_name(i, name),
                   r->initial[i], r->final[i], get_state(&m->cpu, i));
    for (unsigned i = 0; i < r->nwrites; i++)
        printf("    file writes %08x: %016llx\n", r->write[i].addr,
               (unsigned long long)r->write[i].value);
    for (unsigned i = 0; i < MIN(m->nstores, ARRAY_LEN(m->stores)); i++)
        printf("    model writes %08x: %0*llx\n", m->stores[i].addr, 2 * (int)m->stores[i].size,
               (unsigned long long)m->stores[i].value);
    if (m->bad_reads)
        printf("    model reads %u times where the file does not\n", m->bad_reads);
}

static void print_row(const struct options *o, bool first, const char *encoding, const char *text,
                      const struct totals *t, const char *reason)
{
    if (o->json)
        printf("%s\n    { \"encoding\": \"%s\", \"instruction\": \"%s\", \"records\": %u, "
               "\"passed\": %u, \"excused\": %u, "
               "\"failed\": %u, \"reason\": \"%s\" }",
               first ? "" : ",", encoding, text, t->records, t->passed, t->excused, t->failed,
               reason);
    else
        printf("%-26s %-24s %6u %6u %7u %6u%s%s\n", encoding, text, t->records, t->passed,
               t->excused, t->failed, *reason ? "  " : "", reason);
}

static int read_file(const char *path, uint8_t **data, size_t *len)
{
    FILE *f = fopen(path, "rb");
    long n;
    *data = NULL;
    if (!f || fseek(f, 0, SEEK_END) || (n = ftell(f)) < 0 || fseek(f, 0, SEEK_SET)) {
        fprintf(stderr, "sh4-single-step: %s: %s\n", path, strerror(errno));
        if (f)
            fclose(f);
        return -1;
    }
    *len = (size_t)n;
    *data = malloc(*len + 1);
    bool ok = *data && fread(*data, 1, *len, f) == *len;
    fclose(f);
    if (ok && *len && *len % RECORD_BYTES == 0)
        return 0;
    fprintf(stderr, "sh4-single-step: %s: %zu bytes is no whole number of %d-byte records\n", path,
            *len, RECORD_BYTES);
    free(*data);
    return -1;
}

static int run_file(struct machine *m, const struct options *o, const char *file,
                    struct totals *sum)
{
    char path[4096], encoding[64], text[64] = "";
    uint8_t *data;
    size_t len;
    struct totals t = { .encodings = 1 };
    const char *reason = "";
    snprintf(path, sizeof path, "%s/%s", o->dir, file);
    snprintf(encoding, sizeof encoding, "%.*s", (int)strcspn(file, "."), file);
    if (read_file(path, &data, &len))
        return -1;
    for (size_t at = 0; at < len; at += RECORD_BYTES) {
        const struct sh4_insn *row;
        struct sst_record r;
        if (le32(data + at) != RECORD_BYTES) {
            fprintf(stderr, "sh4-single-step: %s: no record at offset %zu\n", path, at);
            free(data);
            return -1;
        }
        decode_record(data + at, &r);
        run_record(m, &r);
        row = &sh4_insns[sh4_decode(r.opcode[1], r.initial[S_FPSCR] >> 19 & 1,
                                    r.initial[S_FPSCR] >> 20 & 1)];
        if (row == &sh4_insns[SH4_ILLEGAL])
            row = &sh4_insns[sh4_decode(r.opcode[1], true, false)];
        snprintf(text, sizeof text, "%s", row->text);
        bool pass = record_passes(m, &r);
        const char *excuse = pass ? NULL : excuse_for(m, encoding, &r);
        t.records++;
        t.passed += pass;
        t.excused += !pass && excuse;
        t.failed += !pass && !excuse;
        if (excuse)
            reason = excuse;
        if (!pass && !excuse && o->verbose && t.failed <= 3)
            explain_record(m, &r, (unsigned)(at / RECORD_BYTES));
    }
    print_row(o, sum->encodings == 0, encoding, text, &t, reason);
    free(data);
    sum->encodings++;
    sum->records += t.records;
    sum->passed += t.passed;
    sum->excused += t.excused;
    sum->failed += t.failed;
    return 0;
}

static int is_record_file(const struct dirent *d)
{
    size_t n = strlen(d->d_name);
    return n > 4 && strcmp(d->d_name + n - 4, ".bin") == 0;
}

static int run_dir(struct machine *m, const struct options *o)
{
    struct dirent **names;
    struct totals sum = { 0 };
    int n = scandir(o->dir, &names, is_record_file, alphasort), bad = 0;
    if (n <= 0) {
        fprintf(stderr, "sh4-single-step: no .bin files in %s\n", o->dir);
        return 2;
    }
    if (o->json)
        printf("{ \"schema\": \"probeprof.single-step/1\", \"encodings\": [");
    else
        printf("%-26s %-24s %6s %6s %7s %6s\n", "encoding", "instruction", "tests", "pass",
               "excused", "fail");
    for (int i = 0; i < n; i++) {
        bad |= run_file(m, o, names[i]->d_name, &sum);
        free(names[i]);
    }
    free(names);
    if (o->json)
        printf(" ],\n  \"records\": %u, \"passed\": %u, \"excused\": %u, \"failed\": %u }\n",
               sum.records, sum.passed, sum.excused, sum.failed);
    else
        printf("not compared: FPSCR cause and flag after FPU arithmetic (the files never set "
               "them), FPSCR 31-22\n"
               "%u encodings, %u records: %u passed, %u excused, %u failed\n",
               sum.encodings, sum.records, sum.passed, sum.excused, sum.failed);
    return bad || sum.failed ? 1 : 0;
}

static int print_usage(int code)
{
    fprintf(code ? stderr : stdout,
            "usage: sh4-single-step DIR [--verbose] [--json] [--if-present]\n"
            "Runs every SingleStepTests/sh4 file (*.bin) of DIR on the SH-4 model, prints passes "
            "per encoding.\n"
            "  --verbose     shows the first three failures of each encoding\n"
            "  --json        one JSON document instead of the table\n"
            "  --if-present  exit 77 (skipped) when DIR does not exist\n"
            "example: sh4-single-step ../shared/testdata/sh4-single-step --verbose\n");
    return code;
}

int main(int argc, char **argv)
{
    static const struct option longs[] = { { "verbose", 0, NULL, 'v' },
                                           { "json", 0, NULL, 'j' },
                                           { "if-present", 0, NULL, 'p' },
                                           { "help", 0, NULL, 'h' },
                                           { 0 } };
    struct options o = { 0 };
    bool if_present = false;
    int c, ret;
    while ((c = getopt_long(argc, argv, "", longs, NULL)) != -1) {
        o.verbose |= c == 'v';
        o.json |= c == 'j';
        if_present |= c == 'p';
        if (c == 'h' || c == '?')
            return print_usage(c == 'h' ? 0 : 2);
    }
    if (optind + 1 != argc)
        return print_usage(2);
    o.dir = argv[optind];
    DIR *d = opendir(o.dir);
    if (!d) {
        fprintf(stderr, "%ssh4-single-step: %s: %s\n", if_present ? "SKIPPED: " : "", o.dir,
                strerror(errno));
        return if_present ? 77 : 2;
    }
    closedir(d);
    struct machine *m = calloc(1, sizeof *m);
    struct sh4_config cfg = { .variant = SH4_VARIANT_7091, .flat = true, .no_fast_path = true };
    struct sh4_bus bus = { .ctx = m, .read = bus_read, .write = bus_write };
    if (!m || sh4_cpu_init(&m->cpu, &cfg, &bus)) {
        fprintf(stderr, "sh4-single-step: no memory for the model\n");
        free(m);
        return 1;
    }
    ret = run_dir(m, &o);
    sh4_cpu_fini(&m->cpu);
    free(m);
    return ret;
}
