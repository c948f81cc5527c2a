#include "profiler/core/symbols.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "probe/base/choice.h"
#include "probe/base/util.h"
#include "probe/base/range.h"
#include "profiler/core/calltree.h"
#include "profiler/core/symbols_priv.h"

/* ---- functions out of claims ---- */

static int by_low(const void *a, const void *b)
{
    const struct claim *x = a, *y = b;
    return EITHER(COMPARE(x->low, y->low), y->rank - x->rank);
}

/* Claims to one address become one: name of the best, size and source position from whoever has
 * them. */
static void merge_claims(struct symbols *s)
{
    size_t n = 0;
    for (size_t i = 0; i < s->nclaims; i++) {
        const struct claim *c = &s->claims[i];
        if (n == 0 || s->claims[n - 1].low != c->low) {
            s->claims[n++] = *c;
            continue;
        }
        struct claim *best = &s->claims[n - 1];
        if (best->high == best->low)
            best->high = c->high;
        if (!best->name)
            best->name = c->name;
        if (!best->file) {
            best->file = c->file;
            best->line = c->line;
            best->unit = c->unit;
        }
    }
    s->nclaims = n;
}

/* A label without size inside of a function that has one is a place in it, not a function. */
static void drop_inner_labels(struct symbols *s)
{
    size_t n = 0;
    uint64_t covered = 0;
    for (size_t i = 0; i < s->nclaims; i++) {
        const struct claim *c = &s->claims[i];
        if (c->high == c->low && c->low < covered)
            continue;
        if (c->high > covered)
            covered = c->high;
        s->claims[n++] = *c;
    }
    s->nclaims = n;
}

/* Where the section ends that a claim is in. */
static uint64_t section_end(const struct symbols *s, const struct claim *c)
{
    const struct image_section *section = sym_section(s, c->low);
    if (!section)
        return c->low + 1;
    return sym_section_low(s, section, c->low) + section->size;
}

/* Missing sizes reach to the next function or the section's end; where two overlap, the later one
 * begins where it says, and takes over what is left of the earlier one. */
static void settle_ranges(struct symbols *s)
{
    for (size_t i = 0; i < s->nclaims; i++) {
        struct claim *c = &s->claims[i], *next = NULL;
        if (i + 1 < s->nclaims)
            next = c + 1;
        if (c->high <= c->low) {
            c->high = section_end(s, c);
            if (next)
                c->high = MIN(c->high, next->low);
        }
        if (next && next->low < c->high) {
            if (next->high < c->high)
                next->high = c->high;
            c->high = next->low;
        }
    }
}

/* "_main" of a toolchain that puts an underscore before every C name is "main" if debug info says
 * so. */
const char *sym_function_name(struct symbols *s, const struct claim *c)
{
    const char *mangled = c->linkage;
    if (!strncmp(mangled, "__Z", 3))
        mangled++;
    char *plain = symbol_demangle(mangled);
    if (plain) {
        const char *copy = arena_str(&s->arena, plain);
        free(plain);
        if (copy)
            return copy;
        return c->linkage;
    }
    if (c->name)
        return c->name;
    return c->linkage;
}

/* Claims of all sources become functions that do not overlap. */
static void settle_claims(struct symbols *s)
{
    if (s->nclaims)
        qsort(s->claims, s->nclaims, sizeof *s->claims, by_low);
    merge_claims(s);
    drop_inner_labels(s);
    settle_ranges(s);
}

static struct image_function image_function_of(const struct symbols *s, const struct claim *c)
{
    uint64_t bits = s->overlay_bits;
    return (struct image_function){ text_or(c->linkage, ""), c->low & ~bits, c->high & ~bits };
}

/* Of claims in order, those of overlays come last: their addresses are the highest. */
static bool keep_overlay_functions(struct symbols *s)
{
    size_t from = PARTITION_POINT(s->nclaims, i, !overlay_number(s->claims[i].low));
    struct image_overlay_function *f = arena_alloc(&s->arena, (s->nclaims - from + 1) * sizeof *f);
    for (size_t i = from; f && i < s->nclaims; i++) {
        const struct claim *c = &s->claims[i];
        f[i - from] =
            (struct image_overlay_function){ image_function_of(s, c), overlay_number(c->low) };
    }
    s->image.overlay_functions = f;
    s->image.noverlay_functions = s->nclaims - from;
    return f != NULL;
}

static bool keep_image_functions(struct symbols *s)
{
    struct image_function *f = arena_alloc(&s->arena, (s->nclaims + 1) * sizeof *f);
    for (size_t i = 0; f && i < s->nclaims; i++)
        f[i] = image_function_of(s, &s->claims[i]);
    s->image.functions = f;
    s->image.nfunctions = s->nclaims;
    return f != NULL;
}

static bool keep_functions(struct symbols *s)
{
    size_t n = s->nclaims;
    s->functions = arena_alloc(&s->arena, (n + 1) * sizeof *s->functions);
    s->by_key = arena_alloc(&s->arena, (n + 1) * sizeof *s->by_key);
    for (size_t i = 0; s->functions && i < n; i++) {
        const struct claim *c = &s->claims[i];
        size_t overlay = overlay_number(c->low & s->overlay_bits);
        s->functions[i] = (struct symbol_function){
            .linkage = text_or(c->linkage, ""),
            .low = c->low,
            .high = c->high,
            .name = "",
            .file = c->file,
            .line = c->line,
            .either = c->either,
            .unit = c->unit,
            .overlay = overlay ? s->sections[overlay - 1].name : NULL,
        };
        if (c->linkage)
            s->functions[i].name = sym_function_name(s, c);
    }
    s->nfunctions = n;
    return s->functions && s->by_key;
}

/* For target drivers, every overlay's functions mixed up at plain addresses, as if all of them were
 * in memory. Then those of each by themselves. */
static bool make_with_overlays(struct symbols *s)
{
    struct claim *all = malloc((s->nclaims + 1) * sizeof *all);
    size_t n = s->nclaims;
    if (!all)
        return false;
    memcpy(all, s->claims, n * sizeof *all);
    for (size_t i = 0; i < n; i++) {
        s->claims[i].low = overlay_plain(s->claims[i].low);
        s->claims[i].high = overlay_plain(s->claims[i].high);
    }
    settle_claims(s);
    bool ok = keep_image_functions(s);
    memcpy(s->claims, all, n * sizeof *all);
    s->nclaims = n;
    free(all);
    settle_claims(s);
    ok = ok && keep_overlay_functions(s) && symbols_claim_either(s);
    settle_claims(s);
    return ok && keep_functions(s);
}

int symbols_make_functions(struct symbols *s, struct err *err)
{
    bool ok;
    if (s->noverlays) {
        ok = make_with_overlays(s);
    } else {
        settle_claims(s);
        ok = keep_image_functions(s) && keep_functions(s);
    }
    if (!ok)
        return err_set(err, ERR_NOMEM, "", "%s: out of memory", s->image.path);
    free(s->claims);
    s->claims = NULL;
    return 0;
}

/* ---- canonical order ---- */

struct keyed {
    uint64_t key;
    size_t index;
};

static int by_keyed(const void *a, const void *b)
{
    const struct keyed *x = a, *y = b;
    return EITHER(COMPARE(x->key, y->key), COMPARE(x->index, y->index));
}

/* At one address, the end of a sequence comes before the first row of the next. */
static int by_line_key(const void *a, const void *b)
{
    const struct line_row *x = a, *y = b;
    int order = COMPARE(x->key, y->key);
    order = EITHER(order, y->end - x->end);
    return EITHER(order, x->stmt - y->stmt);
}

int symbols_set_canonical(struct symbols *s, uint64_t (*fn)(uint64_t), struct err *err)
{
    size_t n = s->nfunctions;
    struct keyed *order = malloc((n + 1) * sizeof *order);
    if (!order)
        return err_set(err, ERR_NOMEM, "", "symbols: out of memory");
    s->canonical = fn;
    for (size_t i = 0; i < n; i++)
        order[i] = (struct keyed){ sym_key(s, s->functions[i].low), i };
    qsort(order, n, sizeof *order, by_keyed);
    for (size_t i = 0; i < n; i++)
        s->by_key[i] = order[i].index;
    free(order);
    for (size_t i = 0; i < s->nlines; i++)
        s->lines[i].key = sym_key(s, s->lines[i].addr);
    if (s->nlines)
        qsort(s->lines, s->nlines, sizeof *s->lines, by_line_key);
    return symbols_index_sections(s, err);
}

/* ---- opening ---- */

static int read_all(int fd, struct symbols *s, const char *path, struct err *err)
{
    struct stat st;
    if (fstat(fd, &st) < 0 || !S_ISREG(st.st_mode))
        return err_set(err, ERR_IO, "give the linked program in ELF format",
                       "%s: not a regular file", path);
    s->bytes = malloc((size_t)st.st_size + 1);
    if (!s->bytes)
        return err_set(err, ERR_NOMEM, "", "%s: out of memory for %lld bytes", path,
                       (long long)st.st_size);
    while (s->nbytes < (size_t)st.st_size) {
        ssize_t n = read(fd, s->bytes + s->nbytes, (size_t)st.st_size - s->nbytes);
        if (n < 0 && errno == EINTR)
            continue;
        if (n < 0)
            return err_set(err, ERR_IO, "", "%s: read: %s", path, strerror(errno));
        if (n == 0)
            break;
        s->nbytes += (size_t)n;
    }
    return 0;
}

static int read_file(struct symbols *s, const char *path, struct err *err)
{
    int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK); /* a FIFO would wait for a writer */
    enum err_code code = ERR_IO;
    if (fd < 0 && errno == ENOENT)
        code = ERR_NOT_FOUND;
    if (fd < 0)
        return err_set(err, code, "check the name given with --elf", "%s: %s", path,
                       strerror(errno));
    int ret = read_all(fd, s, path, err);
    close(fd);
    return ret;
}

static bool image_member(const struct image *im, const char *type, const char *name,
                         uint64_t *offset, uint64_t *bytes)
{
    return symbols_member(im->priv, type, name, offset, bytes);
}

static bool image_lookup(const struct image *im, const char *name, uint64_t *addr)
{
    return symbols_lookup(im->priv, name, addr);
}

int symbols_open(const char *path, struct symbols **out, struct err *err)
{
    struct symbols *s = calloc(1, sizeof *s);
    int ret;
    if (!s)
        return err_set(err, ERR_NOMEM, "", "%s: out of memory", path);
    s->image.path = arena_str(&s->arena, path);
    s->image.lookup = image_lookup;
    s->image.member = image_member;
    s->image.priv = s;
    if (!s->image.path)
        ret = err_set(err, ERR_NOMEM, "", "%s: out of memory", path);
    else if ((ret = read_file(s, path, err)) == 0 && (ret = symbols_read_elf(s, path, err)) == 0 &&
             (ret = symbols_read_dwarf(s, err)) == 0 && (ret = symbols_make_functions(s, err)) == 0)
        ret = symbols_set_canonical(s, NULL, err);
    if (ret < 0) {
        symbols_close(s);
        return ret;
    }
    *out = s;
    return 0;
}

void symbols_close(struct symbols *s)
{
    if (!s)
        return;
    if (s->dwarf)
        dwarf_end(s->dwarf);
    if (s->elf)
        elf_end(s->elf);
    free(s->claims);
    free(s->names);
    free(s->lines);
    free(s->spans);
    free(s->bytes);
    arena_fini(&s->arena);
    free(s);
}

/* ---- queries ---- */

const struct image *symbols_image(const struct symbols *s) { return &s->image; }

unsigned symbols_machine(const struct symbols *s) { return s->machine; }

size_t symbols_nfunctions(const struct symbols *s) { return s->nfunctions; }

const struct symbol_function *symbols_function(const struct symbols *s, size_t i)
{
    return &s->functions[i];
}

long symbols_find(const struct symbols *s, uint64_t addr)
{
    uint64_t key = sym_key(s, addr);
    size_t lo =
        PARTITION_POINT(s->nfunctions, i, sym_key(s, s->functions[s->by_key[i]].low) <= key);
    if (lo == 0)
        return -1;
    const struct symbol_function *f = &s->functions[s->by_key[lo - 1]];
    if (key - sym_key(s, f->low) < f->high - f->low)
        return (long)s->by_key[lo - 1];
    return -1;
}

uint64_t symbols_section_end(const struct symbols *s, uint64_t addr)
{
    const struct image_section *section = sym_section(s, addr);
    if (!section || !section->code)
        return 0;
    return addr - (sym_key(s, addr) - sym_key(s, sym_section_low(s, section, addr))) +
           section->size;
}

uint64_t symbols_own_address(const struct symbols *s, uint64_t addr)
{
    const struct image_section *section = sym_section(s, addr);
    if (!section)
        return addr;
    uint64_t low = sym_section_low(s, section, addr);
    return low + (sym_key(s, addr) - sym_key(s, low));
}

bool symbols_line(const struct symbols *s, uint64_t addr, const char **file, int *line)
{
    uint64_t key = sym_key(s, addr);
    size_t lo = PARTITION_POINT(s->nlines, i, s->lines[i].key <= key);
    if (lo == 0 || s->lines[lo - 1].end || !s->lines[lo - 1].file || s->lines[lo - 1].line == 0)
        return false;
    *file = s->lines[lo - 1].file;
    *line = s->lines[lo - 1].line;
    return true;
}

bool symbols_range(void *ctx, uint64_t addr, struct calltree_range *out)
{
    const struct symbols *s = ctx;
    long i = symbols_find(s, addr);
    if (i < 0)
        return false;
    const struct symbol_function *f = &s->functions[i];
    out->id = sym_key(s, f->low);
    out->low = addr - (sym_key(s, addr) - out->id);
    out->high = out->low + (f->high - f->low);
    return true;
}
