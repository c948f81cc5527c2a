#include <stdbool.h>
#include <string.h>

#include "probe/base/choice.h"
#include "probe/base/text.h"
#include "probe/base/util.h"
#include "probe/probe.h"
#include "profiler/cli/command.h"
#include "profiler/cli/fold.h"
#include "profiler/cli/parts.h"
#include "profiler/cli/view.h"
#include "profiler/views/json_writer.h"

enum { LIST_JSON, LIST_ANALYSERS, LIST_HELP };
struct wanted {
    bool json, analysers;
};
static const struct opt list_opts[] = {
    { "json", 0, NULL, "print one JSON document", LIST_JSON },
    { "analysers", 0, NULL,
      "also look for logic analysers (for --pdo), which may disturb devices of other kinds",
      LIST_ANALYSERS },
    { "help", 'h', NULL, "this text", LIST_HELP },
    { NULL, 0, NULL, NULL, 0 },
};
static const struct {
    enum adapter_can bit;
    const char *name;
} abilities[] = {
    { ADAPTER_JTAG, "JTAG" },
    { ADAPTER_BDC, "BDC" },
    { ADAPTER_PDO, "PDO capture" },
    { ADAPTER_STREAM, "serial" },
};

static int take_option(void *ctx, int id, const char *value, struct err *err)
{
    (void)value;
    (void)err;
    struct wanted *w = ctx;
    w->json |= id == LIST_JSON;
    w->analysers |= id == LIST_ANALYSERS;
    return 0;
}

/* A driver that could not look. */
static bool is_trouble(const struct adapter *a) { return !*a->serial && !*a->bus_path; }

/* "JTAG, serial; firmware V2.1; at 1-2.3; SWD only" */
static void facts_of(const struct adapter *a, char *out, size_t cap)
{
    size_t at = 0;
    if (!a->can && !is_trouble(a))
        at = (size_t)snprintf(out, cap, "cannot be used");
    for (size_t i = 0; i < ARRAY_LEN(abilities); i++)
        if (a->can & abilities[i].bit)
            at +=
                (size_t)snprintf(out + at, cap - at, "%s%s", text_if(at, ", "), abilities[i].name);
    bool named_only = a->driver->own_spec;
    const struct {
        const char *before, *text;
    } rows[] = {
        { "firmware ", a->firmware },
        { "at ", text_if(!named_only, a->bus_path) },
        { "", a->note },
        { "", text_if(a->doubtful, "may be a serial cable: used only if named") },
        { "", text_if(named_only && !a->doubtful, "used only if named") },
    };
    for (size_t i = 0; i < ARRAY_LEN(rows); i++)
        if (*rows[i].text)
            at += (size_t)snprintf(out + at, cap - at, "%s%s%s", text_if(at, "; "), rows[i].before,
                                   rows[i].text);
}

static void row_text(const struct adapter_list *list, size_t i, FILE *out)
{
    const struct adapter *a = &list->row[i];
    char name[PROBE_NAME_MAX], text[512] = "";
    adapter_name(list, i, name, sizeof name);
    bool looked = !is_trouble(a);
    if (!looked)
        snprintf(name, sizeof name, "%s", a->driver->name);
    text_print(out, "  %s%s%s\n", name, text_if(*a->product, "  "), a->product);
    facts_of(a, text, sizeof text);
    fold(out, "      ", text);
    if (a->problem.code == ERR_OK)
        return;
    snprintf(text, sizeof text, "%s: %s", looked ? "cannot be opened" : "cannot be looked for",
             a->problem.what);
    fold(out, "      ", text);
    if (*a->problem.hint) {
        snprintf(text, sizeof text, "hint: %s", a->problem.hint);
        fold(out, "      ", text);
    }
}

static void adapters_text(const struct adapter_list *list, FILE *out)
{
    fprintf(out, "adapters (--probe NAME; one alone needs no naming):\n");
    for (size_t i = 0; i < list->n; i++)
        row_text(list, i, out);
    if (!list->n)
        fprintf(out, "  none found; `probeprof doctor` says what to look at\n");
}

static void help_line(FILE *out, const char *prefix, const char *name, const char *help)
{
    char head[64];
    snprintf(head, sizeof head, "  %s%-*s ", prefix, (int)(14 - strlen(prefix)), name);
    fold(out, head, help);
}

static void list_text(struct cli *cli, const struct adapter_list *list)
{
    adapters_text(list, cli->out);
    fprintf(cli->out, "simulated boards (--probe sim:BOARD):\n");
    for (const struct sim_board_type *const *b = cli->boards; *b; b++)
        help_line(cli->out, "sim:", (*b)->name, (*b)->help);
    fprintf(cli->out, "parts (--target NAME, where the adapter does not imply it):\n");
    for (const struct part *p = parts(); p->name; p++)
        help_line(cli->out, "", p->name, p->help);
    fprintf(cli->out, "drivers (what is looked for, and what --probe takes):\n");
    for (const struct probe_driver *const *d = probe_drivers(); *d; d++)
        help_line(cli->out, "", (*d)->name, (*d)->help);
    for (const struct probe_absent *a = probe_absent_drivers(); a->name; a++)
        help_line(cli->out, "", a->name, a->why);
}

static void is_named(struct json_writer *j, const char *name, const char *help)
{
    json_write_object(j, true);
    json_member_string(j, "name", name);
    json_member_string(j, "help", help);
    json_write_end(j);
}

static void problem_json(struct json_writer *j, const struct err *problem)
{
    json_write_key(j, "problem");
    if (problem->code == ERR_OK) {
        json_write_null(j);
        return;
    }
    json_write_object(j, true);
    json_member_text(j, "code", err_code_name(problem->code));
    json_member_text(j, "what", problem->what);
    json_member_text(j, "hint", problem->hint);
    json_write_end(j);
}

static void row_json(const struct adapter_list *list, size_t i, struct json_writer *j)
{
    const struct adapter *a = &list->row[i];
    char name[PROBE_NAME_MAX], usb[12] = "";
    adapter_name(list, i, name, sizeof name);
    if (a->vid || a->pid)
        snprintf(usb, sizeof usb, "%04x:%04x", a->vid, a->pid);
    const struct {
        const char *key, *text;
    } rows[] = {
        { "probe", text_if(*a->serial || *a->bus_path, name) },
        { "driver", a->driver->name },
        { "serial", a->serial },
        { "location", a->bus_path },
        { "channel", a->channel },
        { "usb", usb },
        { "product", a->product },
        { "firmware", a->firmware },
        { "note", a->note },
    };
    json_write_object(j, false);
    for (size_t k = 0; k < ARRAY_LEN(rows); k++)
        json_member_text(j, rows[k].key, rows[k].text);
    json_member_bool(j, "doubtful", a->doubtful);
    json_write_key(j, "can");
    json_write_array(j, true);
    for (size_t k = 0; k < ARRAY_LEN(abilities); k++)
        if (a->can & abilities[k].bit)
            json_write_string(j, abilities[k].name);
    json_write_end(j);
    problem_json(j, &a->problem);
    json_write_end(j);
}

static void list_json(struct cli *cli, const struct adapter_list *list)
{
    struct text_sink sink = file_sink(cli->out);
    struct json_writer j = { .out = &sink };
    json_write_object(&j, false);
    json_member_string(&j, "schema", "probeprof.list/2");
    json_write_key(&j, "adapters");
    json_write_array(&j, false);
    for (size_t i = 0; i < list->n; i++)
        row_json(list, i, &j);
    json_write_end(&j);
    json_write_key(&j, "drivers");
    json_write_array(&j, false);
    for (const struct probe_driver *const *d = probe_drivers(); *d; d++)
        is_named(&j, (*d)->name, (*d)->help);
    json_write_end(&j);
    json_write_key(&j, "boards");
    json_write_array(&j, false);
    for (const struct sim_board_type *const *b = cli->boards; *b; b++)
        is_named(&j, (*b)->name, (*b)->help);
    json_write_end(&j);
    json_write_key(&j, "parts");
    json_write_array(&j, false);
    for (const struct part *p = parts(); p->name; p++)
        is_named(&j, p->name, p->help);
    json_write_end(&j);
    json_write_end(&j);
    fputc('\n', cli->out);
}

static int run_list(struct cli *cli, int argc, char **argv, struct err *err)
{
    struct adapter_list list;
    struct wanted w = { false, false };
    int ret = opts_parse(list_opts, argc, argv, take_option, &w, NULL, 0, err);
    if (ret == 0)
        ret = adapters_find(true, &list, err);
    if (ret < 0)
        return ret;
    if (w.analysers)
        ret = adapters_scan(&list, err);
    if (ret < 0) {
        adapter_list_free(&list);
        return ret;
    }
    if (w.json)
        list_json(cli, &list);
    else
        list_text(cli, &list);
    adapter_list_free(&list);
    return 0;
}

const struct command command_list = {
    "list",
    "list [--json] [--analysers]",
    "list the adapters that are there, simulated boards and parts",
    list_opts,
    "Each adapter comes with what --probe takes, what it can do and, if it cannot be\n"
    "opened, why and what to do. What --probe takes is DRIVER:SERIAL, or\n"
    "DRIVER:@PLACE where there is no serial number, then :CHANNEL of a chip with\n"
    "several; a driver alone is enough where it has one adapter.\n\n"
    "Example:\n  probeprof list\n  probeprof list --json\n",
    run_list,
};
