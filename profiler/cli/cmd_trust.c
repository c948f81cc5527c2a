#include <string.h>

#include "probe/base/text.h"
#include "probe/base/util.h"
#include "profiler/cli/command.h"
#include "profiler/cli/project.h"
#include "profiler/cli/view.h"
#include "profiler/views/json_writer.h"

enum { TRUST_LIST, TRUST_REMOVE, TRUST_JSON, TRUST_COUNT };
static const struct opt trust_opts[] = {
    { "list", 0, NULL, "show the folders that are trusted", TRUST_LIST },
    { "remove", 0, NULL, "trust the folder no more", TRUST_REMOVE },
    { "json", 0, NULL, "the list as one JSON document", TRUST_JSON },
    { NULL, 0, NULL, NULL, 0 },
};

static int take_option(void *ctx, int id, const char *value, struct err *err)
{
    (void)value, (void)err;
    ((bool *)ctx)[id] = true;
    return 0;
}

static void show_line(void *ctx, const char *folder) { text_print(ctx, "%s\n", folder); }

static void show_string(void *ctx, const char *folder) { json_write_string(ctx, folder); }

static int show_json(FILE *out, struct err *err)
{
    struct text_sink sink = file_sink(out);
    struct json_writer j = { .out = &sink };
    json_write_object(&j, false);
    json_member_string(&j, "schema", "probeprof.trust/1");
    json_write_key(&j, "folders");
    json_write_array(&j, false);
    int ret = project_trusted(show_string, &j, err);
    json_write_end(&j);
    json_write_end(&j);
    fputc('\n', out);
    return ret;
}

static int run_trust(struct cli *cli, int argc, char **argv, struct err *err)
{
    bool asked[TRUST_COUNT] = { false };
    const char *folder = ".";
    int ret = opts_parse(trust_opts, argc, argv, take_option, asked, &folder, 1, err);
    if (ret < 0)
        return ret;
    if (asked[TRUST_LIST] && (ret > 0 || asked[TRUST_REMOVE]))
        return err_set(err, ERR_USAGE, "probeprof trust --list",
                       "--list shows all: it takes no folder");
    if (asked[TRUST_JSON] && !asked[TRUST_LIST])
        return err_set(err, ERR_USAGE, "probeprof trust --list --json", "--json is for --list");
    if (asked[TRUST_JSON])
        return show_json(cli->out, err);
    if (asked[TRUST_LIST])
        return project_trusted(show_line, cli->out, err);
    if (asked[TRUST_REMOVE])
        return project_distrust(folder, err);
    return project_trust(folder, err);
}

const struct command command_trust = {
    "trust",
    "trust [FOLDER] [--remove | --list]",
    "trust what a folder's probeprof.conf says",
    trust_opts,
    "Settings that write files, name devices, sockets or libraries, or let a part be\n"
    "locked count only from folders that you trust, and those below them.\n"
    "FOLDER: the current one if not given.\n\nExample:\n  probeprof trust --list\n",
    run_trust,
};
