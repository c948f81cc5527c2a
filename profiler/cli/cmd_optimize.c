/* `probeprof optimize`: an order of functions for the instruction cache. */
#include <elf.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "probe/base/choice.h"
#include "profiler/analyses/order.h"
#include "profiler/analyses/order_write.h"
#include "profiler/cli/command.h"
#include "profiler/cli/input.h"
#include "profiler/cli/report_marks.h"
#include "profiler/cli/optimize_view.h"
#include "profiler/cli/parts.h"
#include "profiler/cli/view.h"
#include "profiler/core/file_atomic.h"

enum {
    OPTIMIZE_OPT_MAP,
    OPTIMIZE_OPT_OUTPUT,
    OPTIMIZE_OPT_FORMAT,
    OPTIMIZE_OPT_ALGORITHM,
    OPTIMIZE_OPT_INCLUDE,
    OPTIMIZE_OPT_EXCLUDE,
    OPTIMIZE_OPT_HITS,
    OPTIMIZE_OPT_CACHE,
    OPTIMIZE_OPT_MARKS,
    OPTIMIZE_OPT_ELF,
    OPTIMIZE_OPT_JSON,
    OPTIMIZE_OPT_HELP
};

static const struct opt optimize_opts[] = {
    { "map", 0, "FILE", "the link map: linked with -Wl,-Map=FILE", OPTIMIZE_OPT_MAP },
    { "output", 'o', "F", "write the order for a linker to F", OPTIMIZE_OPT_OUTPUT },
    { "format", 0, "ORDER", "of F: ld (default), ld-insert, ld-order, lld, gold, lor",
      OPTIMIZE_OPT_FORMAT },
    { "algorithm", 0, "A", "cpho (default), ph or c3", OPTIMIZE_OPT_ALGORITHM },
    { "include", 0, "RE", "only functions whose names match", OPTIMIZE_OPT_INCLUDE },
    { "exclude", 0, "RE", "none whose name matches; exclude wins", OPTIMIZE_OPT_EXCLUDE },
    { "hits", 0, "X", "only functions with such hits: '>=100', '>=1%'", OPTIMIZE_OPT_HITS },
    { "cache", 0, "S,L,W", "size, line, ways of the cache; default 8K,32,1", OPTIMIZE_OPT_CACHE },
    { "marks", 0, "F", "excludes and groups; default probeprof.marks beside the ELF; off: none",
      OPTIMIZE_OPT_MARKS },
    { "elf", 'e', "E", "the program; needed with a .prf", OPTIMIZE_OPT_ELF },
    { "json", 0, NULL, "print one JSON document", OPTIMIZE_OPT_JSON },
    { "help", 'h', NULL, "this text", OPTIMIZE_OPT_HELP },
    { NULL, 0, NULL, NULL, 0 },
};

struct optimizing {
    struct cli *cli;
    struct order_wish wish;
    struct threshold hits;
    const char *path, *elf, *map_path, *output, *marks_path;
    int format, algorithm;
    bool has_format, json;
    struct link_map map;
    struct marks *marks;
    struct profile *profile;
    struct symbols *symbols;
    struct order order;
};

/* ---- what was asked ---- */

/* A power of two that is followed by `end`, at most a million; 0: something else. */
static uint32_t take_power(const char **text, char end)
{
    char *behind;
    unsigned long v = 0;
    if (**text >= '1' && **text <= '9')
        v = strtoul(*text, &behind, 10);
    if (!v || v > 1 << 20)
        return 0;
    if (*behind == 'K' || *behind == 'k') {
        behind++;
        v *= 1024;
    }
    bool good = *behind == end && v <= 1 << 20 && !(v & (v - 1));
    *text = behind + (end != 0);
    if (good)
        return (uint32_t)v;
    return 0;
}

/* "16K,32,2" */
static int take_cache(const char *text, struct order_cache *out, struct err *err)
{
    const char *at = text;
    struct order_cache c = { .size = take_power(&at, ',') };
    c.line = 0;
    if (c.size)
        c.line = take_power(&at, ',');
    c.ways = 0;
    if (c.line)
        c.ways = take_power(&at, 0);
    if (!c.ways || c.line < 4 || c.ways > c.size / c.line / 2)
        return err_set(err, ERR_USAGE, "--cache 8K,32,1 is the SH7750's, --cache 16K,32,2 the R's",
                       "--cache: \"%s\" is not SIZE,LINE,WAYS, powers of two", text);
    *out = c;
    return 0;
}

static int take_option(void *ctx, int id, const char *value, struct err *err)
{
    struct optimizing *z = ctx;
    switch (id) {
    case OPTIMIZE_OPT_MAP: z->map_path = value; return 0;
    case OPTIMIZE_OPT_OUTPUT: z->output = value; return 0;
    case OPTIMIZE_OPT_FORMAT:
        z->has_format = true;
        return opt_word("--format", value, order_format_words(), &z->format, err);
    case OPTIMIZE_OPT_ALGORITHM:
        return opt_word("--algorithm", value, "cpho ph c3", &z->algorithm, err);
    case OPTIMIZE_OPT_INCLUDE: z->wish.include = value; return 0;
    case OPTIMIZE_OPT_EXCLUDE: z->wish.exclude = value; return 0;
    case OPTIMIZE_OPT_HITS:
        z->wish.hits = &z->hits;
        return err_prefix(err, threshold_parse(value, &z->hits, err), "--hits");
    case OPTIMIZE_OPT_CACHE: return take_cache(value, &z->wish.cache, err);
    case OPTIMIZE_OPT_MARKS: z->marks_path = value; return 0;
    case OPTIMIZE_OPT_ELF: z->elf = value; return 0;
    case OPTIMIZE_OPT_JSON: z->json = true; return 0;
    default: return 0;
    }
}

static int check_request(const struct optimizing *z, struct err *err)
{
    if (!z->path)
        return err_set(err, ERR_USAGE, "probeprof optimize run.rec --map game.map -o order.ld",
                       "optimize needs a recording");
    if (!z->map_path)
        return err_set(err, ERR_USAGE, "link with -Wl,-Map=game.map and add --map game.map",
                       "optimize needs the link map: it says what can be moved");
    if (z->has_format && !z->output)
        return err_set(err, ERR_USAGE, "add -o F", "--format is the format of -o's file");
    if (z->output)
        return file_replaceable(z->output, err);
    return 0;
}

/* ---- what is there ---- */

/* A profile without calls, of a CPU without such a cache, or of a program that ran without it. */
static int check_profile(const struct optimizing *z, const struct importer *is, struct err *err)
{
    const struct profile *p = z->profile;
    if (!z->symbols)
        return err_set(err, ERR_USAGE, "add --elf FILE", "%s: its program is not known", z->path);
    if (symbols_machine(z->symbols) != EM_SH)
        return err_set(err, ERR_UNSUPPORTED, "optimize is for SH-4 programs",
                       "%s: an S12Z has no instruction cache", z->path);
    if (p->type == PROFILE_STATISTICAL || !(p->nnodes + p->ncalls))
        return err_set(err, ERR_UNSUPPORTED, "record a trace: probeprof PROGRAM --record run.rec",
                       "%s: it has no calls, and an order is made of who calls whom", z->path);
    if (!profile_knows(p, PROFILE_ADDRESSES))
        return err_set(err, ERR_UNSUPPORTED, "give a recording or a .prf",
                       "%s: it does not say where functions are", z->path);
    bool says = !is || !strcmp(is->name, "prf");
    if (says && !p->info.icache_enabled)
        return err_set(err, ERR_UNSUPPORTED, "enable it: CCR.ICE, in code that runs uncached",
                       "%s: the program ran with its instruction cache off: there is nothing to "
                       "gain",
                       z->path);
    return 0;
}

/* A .prf says nothing of its build: its functions have to be the program's. */
static int check_program(const struct optimizing *z, struct err *err)
{
    for (size_t i = 0; i < z->profile->nfunctions; i++) {
        const struct profile_function *f = &z->profile->functions[i];
        long at = symbols_find(z->symbols, profile_place(f));
        if (!*f->linkage || f->high <= f->low)
            continue;
        const struct symbol_function *s = NULL;
        if (at >= 0)
            s = symbols_function(z->symbols, (size_t)at);
        if (!s || s->low != symbols_own_address(z->symbols, profile_place(f)) ||
            strcmp(s->linkage, f->linkage) != 0)
            return err_set(err, ERR_FORMAT, "give the ELF that was profiled",
                           "%s is of another build than %s: %s is not where it was", z->elf,
                           z->path, f->name);
    }
    return 0;
}

static int open_program(struct optimizing *z, struct err *err)
{
    if (!z->elf)
        return 0;
    int ret = symbols_open(z->elf, &z->symbols, err);
    if (ret < 0)
        return ret;
    const struct part *part = part_of_machine(symbols_machine(z->symbols));
    ret = part_prepare_symbols(z->symbols, part ? part->name : NULL, err);
    if (ret == 0)
        return check_program(z, err);
    return ret;
}

static int read_profile(struct optimizing *z, struct err *err)
{
    const struct importer *is;
    int ret = input_kind(z->path, NULL, &is, err);
    if (ret < 0)
        return ret;
    ret = input_profile(z->cli, z->path, NULL, is ? NULL : z->elf, &z->profile, &z->symbols, err);
    if (ret == 0 && is && !z->symbols)
        ret = open_program(z, err);
    if (ret == 0)
        return check_profile(z, is, err);
    return ret;
}

static int read_marks(struct optimizing *z, struct err *err)
{
    char path[MARKS_FILE_PATH];
    if (!marks_file_path(symbols_image(z->symbols)->path, z->marks_path, path))
        return 0;
    int ret = marks_read(path, &z->marks, err);
    if (ret == 0 && !z->marks_path)
        cli_warn(z->cli, "excludes and groups are those of %s (--marks off: none)", path);
    return ret;
}

/* ---- the order ---- */

static int find_order(struct optimizing *z, struct err *err)
{
    z->wish.profile = z->profile;
    z->wish.symbols = z->symbols;
    z->wish.map = &z->map;
    z->wish.marks = z->marks;
    int ret = order_take(&z->wish, &z->order, err);
    if (ret < 0)
        return err_prefix(err, ret, z->map_path);
    return order_make(&z->order, (enum order_algorithm)z->algorithm, err);
}

static int write_order(const struct optimizing *z, const struct order_head *head, struct err *err)
{
    struct file_atomic *f;
    int ret = file_atomic_open(z->output, &f, err);
    if (ret < 0)
        return ret;
    const struct text_sink out = file_atomic_sink(f);
    order_write(&z->order, &z->map, head, (enum order_format)z->format, &out);
    return file_atomic_close(f, true, err);
}

static int show_order(const struct optimizing *z, struct err *err)
{
    const struct image *im = symbols_image(z->symbols);
    const struct order_head head = { .program = im->path,
                                     .build_id = im->build_id,
                                     .build_id_len = im->build_id_len,
                                     .algorithm = (enum order_algorithm)z->algorithm };
    const struct text_sink out = file_sink(z->cli->out);
    bool any = z->order.nmoving > 1;
    int ret = 0;
    if (z->output && any)
        ret = write_order(z, &head, err);
    if (ret < 0)
        return ret;
    if (z->json)
        optimize_json(&z->order, &head, &out);
    else
        optimize_text(&z->order, &head, &out);
    if (any)
        return 0;
    return err_set(err, ERR_UNSUPPORTED,
                   "compile with -ffunction-sections; the list says why each stays",
                   "%zu section%s that ran can be moved: there is no order to be found",
                   z->order.nmoving, plural_s(z->order.nmoving));
}

static int run_optimize(struct cli *cli, int argc, char **argv, struct err *err)
{
    struct optimizing z = { .cli = cli, .wish.cache = { 8192, 32, 1 } };
    int ret = opts_parse(optimize_opts, argc, argv, take_option, &z, &z.path, 1, err);
    if (ret >= 0)
        ret = check_request(&z, err);
    if (ret == 0)
        ret = read_profile(&z, err);
    if (ret == 0)
        ret = link_map_read(z.map_path, &z.map, err);
    if (ret == 0)
        ret = read_marks(&z, err);
    if (ret == 0)
        ret = find_order(&z, err);
    if (ret == 0)
        ret = show_order(&z, err);
    order_fini(&z.order);
    marks_free(z.marks);
    link_map_fini(&z.map);
    profile_free(z.profile);
    symbols_close(z.symbols);
    return ret;
}

const struct command command_optimize = {
    "optimize",
    "optimize FILE --map FILE [OPTIONS]",
    "an order of functions for the instruction cache",
    optimize_opts,
    "FILE is a recording of a trace, or a .prf and --elf. What can be moved is an\n"
    "input section of the link map: compile with -ffunction-sections. Those that\n"
    "call each other often are put together, in cliques that fit into the cache; a\n"
    "group is what cannot be parted. The cache of an SH-4 is direct mapped, so that\n"
    "an order may also be worse: count before and after, with probeprof stat --c1\n"
    "icache-miss. docs/optimize.md has the formats and how each is linked.\n\n"
    "Examples:\n"
    "  probeprof optimize run.rec --map game.map\n"
    "  probeprof optimize run.rec --map game.map -o order.ld\n",
    run_optimize,
};
