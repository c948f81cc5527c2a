#include "profiler/cli/useless.h"

#include <elf.h>
#include <string.h>

#include "probe/base/util.h"

struct row {
    enum setting id;
    const char *name;
};

/* The first that was given as an option, or NULL. */
static const char *first_flag(const struct settings *s, const struct row *rows, size_t n)
{
    for (size_t i = 0; i < n; i++)
        if (s->origin[rows[i].id] == ORIGIN_FLAG)
            return rows[i].name;
    return NULL;
}

int useless_view(const struct settings *s, struct err *err)
{
    static const struct row of_text[] = {
        { SET_TREE, "--tree" }, { SET_SORT, "--sort" }, { SET_HITS, "--hits" }, { SET_ALL, "--all" }
    };
    static const struct row of_list[] = { { SET_SORT, "--sort" }, { SET_ALL, "--all" } };
    const char *name = s->json && s->origin[SET_JSON] == ORIGIN_FLAG
                           ? first_flag(s, of_text, ARRAY_LEN(of_text))
                           : NULL;
    if (name)
        return err_set(err, ERR_USAGE, "leave one of them out",
                       "--json has every function and the tree: it has no use for %s", name);
    name = s->tree && s->origin[SET_TREE] == ORIGIN_FLAG
               ? first_flag(s, of_list, ARRAY_LEN(of_list))
               : NULL;
    if (name)
        return err_set(err, ERR_USAGE, "leave one of them out",
                       "--tree shows who called whom: it has no use for %s, which is for the list "
                       "of functions",
                       name);
    return 0;
}

static int without_program(const struct settings *s, struct err *err)
{
    static const struct row rows[] = {
        { SET_START, "--start" },
        { SET_STOP, "--stop" },
        { SET_PASSES, "--passes" },
        { SET_FOR, "--for" },
        { SET_OUTPUT, "--output" },
        { SET_RECORD, "--record" },
        { SET_C1, "--c1" },
        { SET_C2, "--c2" },
        { SET_RATIO, "--ratio" },
        { SET_SAMPLE, "--sample" },
        { SET_RATE, "--rate" },
        { SET_IRQ_FILTER, "--irq-filter" },
        { SET_POLICY, "--policy" },
        { SET_CAPTURE, "--capture" },
        { SET_PDO, "--pdo" },
        { SET_TRACE_LINES, "--trace-lines" },
        { SET_AGENT_RAM, "--agent-ram" },
        { SET_NO_PATCH, "--no-patch" },
        { SET_STACK, "--stack" },
        { SET_JSON, "--json" },
        { SET_TREE, "--tree" },
        { SET_HITS, "--hits" },
        { SET_ALL, "--all" },
        { SET_SORT, "--sort" },
    };
    const char *name = !*s->elf ? first_flag(s, rows, ARRAY_LEN(rows)) : NULL;
    return name ? err_set(err, ERR_USAGE, "add --elf FILE, or elf = FILE in probeprof.conf",
                          "%s needs the program", name)
                : 0;
}

int useless_passes(const struct settings *s, struct err *err)
{
    if (s->origin[SET_PASSES] != ORIGIN_FLAG || (*s->start && s->nstops))
        return 0;
    return err_set(err, ERR_USAGE, "add --start A and --stop B",
                   "--passes counts rounds from a start to a stop point");
}

int useless_run(const struct settings *s, struct err *err)
{
    int ret = without_program(s, err);
    if (ret == 0)
        ret = useless_view(s, err);
    if (ret == 0 && *s->pdo && s->capture == TRACE_CAPTURE_READOUT &&
        s->origin[SET_PDO] == ORIGIN_FLAG && s->origin[SET_CAPTURE] == ORIGIN_FLAG)
        return err_set(err, ERR_USAGE, "leave one of them out",
                       "--capture bdc does without the pins, --pdo says what captures them");
    return ret == 0 && !s->sample ? useless_passes(s, err) : ret;
}

int useless_part(const struct settings *s, const struct part *part, struct err *err)
{
    static const struct row sh4[] = { { SET_PRIVATE, "--private and --no-private are" },
                                      { SET_AGENT_RAM, "--agent-ram is" },
                                      { SET_RATIO, "--ratio is" },
                                      { SET_NO_PATCH, "--no-patch is" },
                                      { SET_STACK, "--stack is" } };
    static const struct row s12z[] = { { SET_BDC_FAST, "--bdc-fast is" },
                                       { SET_ALLOW_SECURITY, "--allow-security is" },
                                       { SET_CAPTURE, "--capture is" },
                                       { SET_PDO, "--pdo is" },
                                       { SET_TRACE_LINES, "--trace-lines is" } };
    bool is_sh4 = part->elf_machine == EM_SH;
    const char *name =
        is_sh4 ? first_flag(s, s12z, ARRAY_LEN(s12z)) : first_flag(s, sh4, ARRAY_LEN(sh4));
    if (name)
        return err_set(err, ERR_USAGE, "leave it out", "%s for %s parts, not for a %s", name,
                       is_sh4 ? "S12Z" : "SH-4", part->name);
    return 0;
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
