#include <stdbool.h>

#include "probe/probe.h"
#include "profiler/cli/command.h"
#include "profiler/cli/parts.h"
#include "profiler/cli/view.h"
#include "profiler/json_writer.h"

enum { LIST_JSON, LIST_HELP };
static const struct opt list_opts[] = {
    { "json", 0, NULL, "print one JSON document", LIST_JSON },
    { "help", 'h', NULL, "this text", LIST_HELP },
    { NULL, 0, NULL, NULL, 0 },
};

static int take(void *ctx, int id, const char *value, struct err *err)
{
    (void)value;
    (void)err;
    if (id == LIST_JSON)
        *(bool *)ctx = true;
    return 0;
}

static void list_text(struct cli *cli)
{
    fprintf(cli->out, "adapters (--probe NAME):\n");
    for (const struct probe_driver *const *d = probe_drivers(); *d; d++)
        fprintf(cli->out, "  %-14s %s\n", (*d)->name, (*d)->help);
    fprintf(cli->out, "simulated boards (--probe sim:BOARD):\n");
    for (const struct sim_board_type *const *b = cli->boards; *b; b++)
        fprintf(cli->out, "  sim:%-10s %s\n", (*b)->name, (*b)->help);
    fprintf(cli->out, "parts (--target NAME, where the adapter does not imply it):\n");
    for (const struct part *p = parts(); p->name; p++)
        fprintf(cli->out, "  %-14s %s\n", p->name, p->help);
}

static void named(struct json_writer *j, const char *name, const char *help)
{
    json_write_object(j, true);
    json_write_key(j, "name");
    json_write_string(j, name);
    json_write_key(j, "help");
    json_write_string(j, help);
    json_write_end(j);
}

static void list_json(struct cli *cli)
{
    struct text_sink sink = file_sink(cli->out);
    struct json_writer j = { .out = &sink };
    json_write_object(&j, false);
    json_write_key(&j, "schema");
    json_write_string(&j, "probeprof.list/1");
    json_write_key(&j, "drivers");
    json_write_array(&j, false);
    for (const struct probe_driver *const *d = probe_drivers(); *d; d++)
        named(&j, (*d)->name, (*d)->help);
    json_write_end(&j);
    json_write_key(&j, "boards");
    json_write_array(&j, false);
    for (const struct sim_board_type *const *b = cli->boards; *b; b++)
        named(&j, (*b)->name, (*b)->help);
    json_write_end(&j);
    json_write_key(&j, "parts");
    json_write_array(&j, false);
    for (const struct part *p = parts(); p->name; p++)
        named(&j, p->name, p->help);
    json_write_end(&j);
    json_write_end(&j);
    fputc('\n', cli->out);
}

static int run(struct cli *cli, int argc, char **argv, struct err *err)
{
    bool json = false;
    int ret = opts_parse(list_opts, argc, argv, take, &json, NULL, 0, err);
    if (ret < 0)
        return ret;
    if (json)
        list_json(cli);
    else
        list_text(cli);
    return 0;
}

const struct command command_list = {
    "list", "list [--json]", "list the adapters and simulated boards this program knows", list_opts,
    "Example:\n  probeprof list\n", run,
};
