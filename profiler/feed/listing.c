#include "profiler/feed/listing.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

#include "probe/base/bytes.h"
#include "probe/base/range.h"
#include "probe/base/util.h"
#include "targets/overlay.h"

enum { INSN_BYTES_MOST = 8 };

/* Where the instructions are. */
struct span {
    const struct program_code *c;
    const struct image_section *section;
    uint64_t from, to; /* offsets in it */
};

static uint64_t key_of(const struct program_code *c, uint64_t addr)
{
    return overlay_canonical(c->canonical, addr);
}

/* Code of an overlay is meant by its number only: without one it is not known whose it is. */
static bool is_meant(const struct image *im, size_t section, size_t overlay)
{
    if (!im->overlay)
        return true;
    if (!im->overlay[section])
        return overlay == 0;
    return overlay == section + 1;
}

static bool find_span(const struct program_code *c, uint64_t low, uint64_t high, struct span *out)
{
    const struct image *im = symbols_image(c->symbols);
    size_t overlay = 0;
    if (im->overlay)
        overlay = overlay_number(low);
    uint64_t key = key_of(c, symbols_plain(c->symbols, low));
    for (size_t i = 0; i < im->nsections; i++) {
        const struct image_section *s = &im->sections[i];
        uint64_t from = key - key_of(c, s->addr);
        if (!s->code || !s->data || from >= s->size || !is_meant(im, i, overlay))
            continue;
        *out = (struct span){ c, s, from, from + MIN(high - low, s->size - from) };
        return true;
    }
    return false;
}

/* ---- instructions ---- */

static size_t decode_row(const struct span *s, uint64_t off, unsigned literal, struct insn *out)
{
    bool big = symbols_image(s->c->symbols)->big_endian;
    const uint8_t *code = s->section->data + off;
    if (!literal)
        return s->c->insn(code, (size_t)(s->section->size - off), s->section->addr + off, big, out);
    *out = (struct insn){ .bytes = literal, .flow = INSN_NONE };
    if (literal == 2)
        snprintf(out->text, sizeof out->text, ".word\t0x%04x", get16(code, big));
    else
        snprintf(out->text, sizeof out->text, ".long\t0x%08" PRIx32, get32(code, big));
    return literal;
}

/* For each byte of the span how many bytes the literal has that begins there. */
static void find_literals(const struct span *s, uint8_t *found)
{
    struct insn i;
    uint64_t base = s->section->addr + s->from, size = s->to - s->from;
    for (uint64_t off = 0, n; off < size && (n = decode_row(s, s->from + off, found[off], &i)) > 0;
         off += n)
        if (i.has_data && (i.data_bytes == 2 || i.data_bytes == 4) && i.data > base + off &&
            i.data - base < size && size - (i.data - base) >= i.data_bytes)
            found[i.data - base] = (uint8_t)i.data_bytes;
}

static void list_rows(const struct span *s, const uint8_t *literals, struct listing *out)
{
    for (uint64_t off = s->from; off < s->to;) {
        if (out->n == LISTING_MOST) {
            out->cut = true;
            return;
        }
        struct listing_row *r = &out->row[out->n];
        *r = (struct listing_row){ .address = s->section->addr + off };
        size_t n = decode_row(s, off, literals[off - s->from], &r->insn);
        if (!n)
            return; /* cut off by the section's end */
        symbols_line(s->c->symbols, overlay_address(r->address, out->overlay), &r->file, &r->line);
        r->insn.bytes = (unsigned)n;
        out->n++;
        off += n;
    }
}

/* ---- what was measured ---- */

struct listing_row *listing_at(const struct listing *l, const struct program_code *c, uint64_t addr)
{
    size_t overlay = 0;
    if (symbols_plain(c->symbols, addr) != addr)
        overlay = overlay_number(addr);
    if (overlay && overlay != l->overlay)
        return NULL;
    uint64_t key = key_of(c, symbols_plain(c->symbols, addr));
    size_t behind = PARTITION_POINT(l->n, i, key_of(c, l->row[i].address) <= key);
    struct listing_row *r = NULL;
    if (behind)
        r = &l->row[behind - 1];
    if (r && key - key_of(c, r->address) < r->insn.bytes)
        return r;
    return NULL;
}

void listing_row_add(struct listing_row *sum, const struct listing_row *r)
{
    sum->hits += r->hits;
    sum->counted |= r->counted;
    sum->count = MAX(sum->count, r->count);
    sum->branched |= r->branched;
    sum->taken += r->taken;
    sum->not_taken += r->not_taken;
}

static void add_hits(const struct span *s, struct listing *l, uint64_t address, uint64_t hits)
{
    struct listing_row *r = listing_at(l, s->c, address);
    if (r)
        r->hits += hits;
}

static void take_samples(const struct span *s, struct listing *l)
{
    const struct address_counts *a = s->c->samples;
    const struct profile *sums = a ? NULL : s->c->sums;
    for (uint32_t i = 0; a && i < a->n; i++)
        add_hits(s, l, a->row[i].address, a->row[i].hits);
    for (size_t i = 0; sums && i < sums->naddresses; i++)
        add_hits(s, l, sums->addresses[i].address, sums->addresses[i].hits);
}

/* Both ascending; blocks do not overlap. */
static void take_counts(const struct span *s, struct listing *l, const struct block_count *block,
                        size_t nblocks, const struct branch_count *branch, size_t nbranches)
{
    for (size_t i = 0, k = 0; i < l->n; i++) {
        while (k < nblocks && block[k].high <= l->row[i].address)
            k++;
        l->row[i].counted = k < nblocks && block[k].low <= l->row[i].address;
        l->row[i].count = 0;
        if (l->row[i].counted)
            l->row[i].count = block[k].count;
    }
    for (size_t i = 0; i < nbranches; i++) {
        struct listing_row *r = listing_at(l, s->c, branch[i].pc);
        if (!r)
            continue;
        r->branched = true;
        r->taken += branch[i].taken;
        r->not_taken += branch[i].not_taken;
    }
}

static int take_blocks(const struct span *s, struct listing *l, struct err *err)
{
    struct block_count *block = NULL;
    struct branch_count *branch = NULL;
    size_t nblocks = 0, nbranches = 0;
    const struct profile *sums = s->c->sums;
    if (!s->c->blocks && sums)
        take_counts(s, l, sums->blocks, sums->nblocks, sums->branches, sums->nbranches);
    if (!s->c->blocks || !s->c->blocks->used)
        return 0;
    int ret = blocks_list(s->c->blocks, &block, &nblocks, err);
    if (ret == 0)
        ret = branches_list(s->c->blocks, &branch, &nbranches, err);
    if (ret == 0)
        take_counts(s, l, block, nblocks, branch, nbranches);
    free(block);
    free(branch);
    return ret;
}

int listing_make(const struct program_code *c, uint64_t low, uint64_t high, struct listing *out,
                 struct err *err)
{
    struct span s;
    if (!c->symbols || !c->insn || high <= low || !find_span(c, low, high, &s))
        return 0;
    uint64_t most = (uint64_t)INSN_BYTES_MOST * LISTING_MOST;
    if (symbols_plain(c->symbols, low) != low)
        out->overlay = overlay_number(low);
    s.to = MIN(s.to, s.from + most);
    uint8_t *literals = calloc(s.to - s.from, 1);
    /* an instruction has a byte at least */
    out->row = calloc(MIN(s.to - s.from, (uint64_t)LISTING_MOST), sizeof *out->row);
    int ret = 0;
    if (!literals || !out->row)
        ret = err_set(err, ERR_NOMEM, "close other programs", "the feed is out of memory");
    if (ret == 0) {
        find_literals(&s, literals);
        list_rows(&s, literals, out);
        out->cut |= high - low > most;
        take_samples(&s, out);
        ret = take_blocks(&s, out, err);
    }
    free(literals);
    return ret;
}

void listing_fini(struct listing *l)
{
    free(l->row);
    *l = (struct listing){ 0 };
}
