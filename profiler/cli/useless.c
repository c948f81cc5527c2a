#include "profiler/cli/useless.h"

#include <elf.h>
#include <string.h>

#include "profiler/cli/setting_row.h"

/* The first that has one of these needs and came from there or higher, or NULL. */
static const struct setting_row *first_set(const struct settings *s, unsigned needs,
                                           enum origin origin)
{
    for (enum setting id = 0; id < SET_COUNT; id++)
        if (s->origin[id] >= origin && setting_row(id)->needs & needs)
            return setting_row(id);
    return NULL;
}

static const struct setting_row *first_flag(const struct settings *s, unsigned needs)
{
    return first_set(s, needs, ORIGIN_FLAG);
}

int useless_view(const struct settings *s, struct err *err)
{
    const struct setting_row *row = NULL;
    if (s->json && s->origin[SET_JSON] == ORIGIN_FLAG)
        row = first_flag(s, NEEDS_TEXT);
    if (row)
        return err_set(err, ERR_USAGE, "leave one of them out",
                       "--json has every function and the tree: it has no use for --%s", row->name);
    row = NULL;
    if (s->tree && s->origin[SET_TREE] == ORIGIN_FLAG)
        row = first_flag(s, NEEDS_LIST);
    if (row)
        return err_set(err, ERR_USAGE, "leave one of them out",
                       "--tree shows who called whom: it has no use for --%s, which is for the "
                       "list of functions",
                       row->name);
    return 0;
}

static int without_program(const struct settings *s, struct err *err)
{
    const struct setting_row *row = first_flag(s, NEEDS_PROGRAM);
    if (!row && !s->no_profile)
        row = first_set(s, NEEDS_PROGRAM_IN_CONF, ORIGIN_CONF);
    if (row && !*s->elf)
        return err_set(err, ERR_USAGE, "add --elf FILE, or elf = FILE in probeprof.conf",
                       "--%s needs the program", row->name);
    return 0;
}

int useless_sample(const struct settings *s, struct err *err)
{
    const struct setting_row *row = NULL;
    if (s->sample)
        row = first_flag(s, NEEDS_TRACE);
    if (s->origin[SET_RATE] && !s->sample)
        return err_set(err, ERR_USAGE, "add --sample", "--rate says how often --sample looks");
    if (row)
        return err_set(err, ERR_USAGE, "leave one of them out",
                       "--sample only looks where the program is: it has no use for --%s",
                       row->name);
    return 0;
}

int useless_passes(const struct settings *s, struct err *err)
{
    if (s->origin[SET_PASSES] != ORIGIN_FLAG || (*s->start && s->nstops))
        return 0;
    return err_set(err, ERR_USAGE, "add --start A and --stop B",
                   "--passes counts rounds from a start to a stop point");
}

static bool writes_json(const struct settings *s)
{
    const char *dot = strrchr(s->output, '.');
    return s->json || (dot && !strcmp(dot, ".json"));
}

/* It is shown by nothing but the feed's document, and others of its kind. */
static int without_reader(const struct settings *s, struct err *err)
{
    if (s->origin[SET_WATCH] != ORIGIN_FLAG || strcmp(s->http, "off") != 0 || writes_json(s))
        return 0;
    return err_set(err, ERR_USAGE, "leave --http off out, or add --json or --output F.json",
                   "--watch is for who asks the feed, and for JSON: there is neither");
}

/* Options on a file that is not written. */
static int without_file(const struct settings *s, struct err *err)
{
    if (s->origin[SET_ROTATE] == ORIGIN_FLAG && !*s->record)
        return err_set(err, ERR_USAGE, "add --record F", "--rotate cuts --record's file");
    if (s->origin[SET_SAVE_EVERY] == ORIGIN_FLAG && !*s->record && !*s->output)
        return err_set(err, ERR_USAGE, "add --output F.prf, F.json or --record F",
                       "--save-every saves what they name");
    if (s->origin[SET_SLICE_ON] == ORIGIN_FLAG && !*s->slice)
        return err_set(err, ERR_USAGE, "add --slice F", "--slice-on says when it is written");
    return 0;
}

int useless_run(const struct settings *s, struct err *err)
{
    int ret = without_program(s, err);
    if (ret == 0)
        ret = without_file(s, err);
    if (ret == 0)
        ret = useless_sample(s, err);
    if (ret == 0)
        ret = without_reader(s, err);
    if (ret == 0)
        ret = useless_view(s, err);
    if (ret == 0 && *s->pdo && s->capture == TRACE_CAPTURE_READOUT &&
        s->origin[SET_PDO] == ORIGIN_FLAG && s->origin[SET_CAPTURE] == ORIGIN_FLAG)
        return err_set(err, ERR_USAGE, "leave one of them out",
                       "--capture bdc does without the pins, --pdo says what captures them");
    if (ret == 0 && !s->sample)
        return useless_passes(s, err);
    return ret;
}

int useless_part(const struct settings *s, const struct part *part, struct err *err)
{
    const char *other_cpu = "SH-4";
    unsigned others = ONLY_SH4;
    if (part->elf_machine == EM_SH) {
        other_cpu = "S12Z";
        others = ONLY_S12Z;
    }
    const struct setting_row *row = first_flag(s, others);
    if (!row)
        return 0;
    const struct setting_row *no = setting_negation(setting_id(row));
    if (no)
        return err_set(err, ERR_USAGE, "leave it out",
                       "--%s and --%s are for %s parts, not for a %s", row->name, no->name,
                       other_cpu, part->name);
    return err_set(err, ERR_USAGE, "leave it out", "--%s is for %s parts, not for a %s", row->name,
                   other_cpu, part->name);
}

int useless_ratio(const struct settings *s, const struct part *part, const uint16_t event[2],
                  struct err *err)
{
    for (int i = 0; i < 2; i++) {
        const struct counter_event *e = part_counter(part, event[i]);
        if (e && !strcmp(e->unit, "cycles"))
            return 0;
    }
    if (!s->ratio || s->sample || s->origin[SET_RATIO] != ORIGIN_FLAG)
        return 0;
    return err_set(err, ERR_USAGE, "leave it out, or count elapsed-time",
                   "--ratio says what cycles are counted in, and neither counter counts cycles");
}
