#include "profiler/cli/annotate_bridge.h"

#include <string.h>

#include "probe/base/choice.h"
#include "profiler/cli/input.h"
#include "profiler/cli/parts.h"

static bool is_where_it_was(const struct symbols *syms, const struct profile_function *f)
{
    long at = symbols_find(syms, profile_place(f));
    const struct symbol_function *s = at < 0 ? NULL : symbols_function(syms, (size_t)at);
    return s && s->low == symbols_own_address(syms, profile_place(f)) &&
           strcmp(s->linkage, f->linkage) == 0;
}

/* By the build id; without one, by where its functions are. */
static int check_build(const struct profile *p, const struct symbols *syms, const char *elf,
                       struct err *err)
{
    const struct image *im = symbols_image(syms);
    bool by_id = p->info.build_id_len && im->build_id_len, same = true;
    if (by_id)
        same = p->info.build_id_len == im->build_id_len &&
               memcmp(p->info.build_id, im->build_id, im->build_id_len) == 0;
    for (size_t i = 0; !by_id && same && i < p->nfunctions; i++) {
        const struct profile_function *f = &p->functions[i];
        if (f->linkage && *f->linkage && f->high > f->low)
            same = is_where_it_was(syms, f);
    }
    if (same)
        return 0;
    return err_set(err, ERR_FORMAT, "give the ELF that is profiled: --elf E",
                   "%s is of another build than the program of the bridge", elf);
}

static int open_program(const struct profile *p, const char *elf, struct symbols **syms,
                        struct err *err)
{
    int ret = symbols_open(elf, syms, err);
    if (ret < 0)
        return ret;
    const struct part *part = part_of_machine(symbols_machine(*syms));
    ret = part_prepare_symbols(*syms, part ? part->name : NULL, err);
    if (ret < 0)
        return ret;
    return check_build(p, *syms, elf, err);
}

int annotate_bridge_read(struct cli *cli, const char *url, const char *elf, struct profile **p,
                         struct symbols **syms, struct err *err)
{
    int ret = input_profile_watched(cli, &url, 1, NULL, p, syms, err);
    if (ret < 0)
        return ret;
    const bool sampled = (*p)->type == PROFILE_STATISTICAL;
    if (sampled && (*p)->total_hits && !(*p)->naddresses)
        return err_set(err, ERR_UNSUPPORTED, "give a recording of it",
                       "%s has samples of functions, and not where in them they were taken", url);
    const char *program = text_or(elf, (*p)->info.elf);
    if (!program || !*program)
        return err_set(err, ERR_USAGE, "give --elf", "%s: the bridge does not name its program",
                       url);
    ret = open_program(*p, program, syms, err);
    if (ret == 0 && !sampled && !(*p)->watched)
        cli_warn(cli,
                 "%s does not watch what each call takes, and stretches: its start with --watch, "
                 "or its recording (--record F), has them",
                 url);
    return ret;
}
