#include "probe/base/choice.h"
#include "probe/base/text.h"
#include "profiler/cli/command.h"
#include "profiler/cli/parts.h"
#include "profiler/cli/view.h"
#include "profiler/views/json_writer.h"

enum { EVENTS_JSON, EVENTS_TARGET, EVENTS_HELP };
static const struct opt events_opts[] = {
    { "target", 0, "T", "part: sh7750 (default), sh7091", EVENTS_TARGET },
    { "json", 0, NULL, "print one JSON document", EVENTS_JSON },
    { "help", 'h', NULL, "this text", EVENTS_HELP },
    { NULL, 0, NULL, NULL, 0 },
};

struct events_request {
    bool json;
    const char *target;
};

static int take_option(void *ctx, int id, const char *value, struct err *err)
{
    struct events_request *r = ctx;
    (void)err;
    if (id == EVENTS_JSON)
        r->json = true;
    else if (id == EVENTS_TARGET)
        r->target = value;
    return 0;
}

static void events_json(const struct part *part, FILE *out)
{
    struct text_sink sink = file_sink(out);
    struct json_writer j = { .out = &sink };
    json_write_object(&j, false);
    json_member_string(&j, "schema", "probeprof.events/1");
    json_member_string(&j, "target", part->name);
    json_write_key(&j, "events");
    json_write_array(&j, false);
    for (const struct counter_event *e = part->ops()->events; e && e->name; e++) {
        json_write_object(&j, true);
        json_member_uint(&j, "code", e->code);
        json_member_string(&j, "name", e->name);
        json_member_string(&j, "unit", e->unit);
        json_member_string(&j, "text", e->text);
        json_write_end(&j);
    }
    json_write_end(&j);
    json_write_end(&j);
    fputc('\n', out);
}

static void events_text(const struct part *part, FILE *out)
{
    text_print(out, "events of the %s, for --c1 and --c2 by name or code\n\n", part->name);
    text_print(out, "code  %-20s %-6s meaning\n", "name", "unit");
    for (const struct counter_event *e = part->ops()->events; e && e->name; e++) {
        const uint16_t *defaults = part->ops()->default_events;
        const char *mark = text_if(e->code == defaults[0], " (default of --c1)");
        if (e->code == defaults[1] && !*mark)
            mark = " (default of --c2)";
        text_print(out, "0x%02x  %-20s %-6s %s%s\n", e->code, e->name, e->unit, e->text, mark);
    }
}

static int run_events(struct cli *cli, int argc, char **argv, struct err *err)
{
    struct events_request r = { .target = "sh7750" };
    const struct part *part;
    int ret = opts_parse(events_opts, argc, argv, take_option, &r, NULL, 0, err);
    if (ret >= 0)
        ret = part_choose(r.target, "", &part, err);
    if (ret == 0 && part->no_trace)
        return err_set(err, ERR_UNSUPPORTED, "its profiles are statistical: --sample",
                       "the %s has no trace: there is nothing that counts", part->name);
    if (ret < 0)
        return ret;
    if (r.json)
        events_json(part, cli->out);
    else
        events_text(part, cli->out);
    return 0;
}

const struct command command_events = {
    "events",
    "events [--target T] [--json]",
    "list what the performance counters can count",
    events_opts,
    "Example:\n  probeprof events\n  probeprof --c2 dcache-read-miss\n",
    run_events,
};
