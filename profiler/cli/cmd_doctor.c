#include <stdlib.h>
#include <string.h>

#include "probe/base/choice.h"
#include "probe/base/text.h"
#include "probe/base/util.h"
#include "profiler/cli/command.h"
#include "profiler/cli/doctor.h"
#include "profiler/cli/doctor_file.h"
#include "profiler/cli/fold.h"
#include "profiler/cli/parts.h"
#include "profiler/cli/useless.h"
#include "profiler/cli/view.h"
#include "profiler/core/file_atomic.h"
#include "profiler/views/json_writer.h"

static const struct opt doctor_opts[] = {
    { "probe", 'p', "P", SETTINGS_PROBE_HELP, SET_PROBE },
    { "target", 0, "T",
      "part behind the adapter, where the adapter does not imply it: sh7750, s12zvml128, ... "
      "(probeprof list)",
      SET_TARGET },
    { "speed", 0, "HZ", "look at this wire clock: 10M, 500k; auto: find the fastest that works",
      SET_SPEED },
    { "chain", 0, "LIST", "IR lengths of the JTAG chain from TDI to TDO, the part marked: 4,16*,8",
      SET_CHAIN },
    { "voltage", 0, "V", "what the target's supply must be: 3.3, 5", SET_VOLTAGE },
    { "pdo", 0, "P",
      "also look at what captures S12Z's PDO and PDOCLK, as after run's --pdo: sigrok:DRIVER,... "
      "or file:F,...",
      SET_PDO },
    { "private", 0, NULL,
      "use private H-UDI commands: unverified on silicon; default on simulated boards only",
      SET_PRIVATE },
    { "no-private", 0, NULL, "documented commands only", SET_NO_PRIVATE },
    { "elf", 'e', "E", "the program: its byte order is the board's", SET_ELF },
    { "halt", 0, NULL, "also hold the program for a moment, to see whether the CPU obeys",
      SET_HALT },
    { "report", 0, "F",
      "also write all of it, and what went over the adapter, for who is to help: without serial "
      "numbers and names",
      SET_REPORT },
    { "log", 0, "WHAT", "log to stderr: usb,wire,target or all", SET_LOG },
    { "json", 0, NULL, "print one JSON document", SET_JSON },
    { "conf", 0, "F", "read this file instead of ./probeprof.conf; off: none", SET_CONF },
    { "help", 'h', NULL, "this text", SET_HELP },
    { NULL, 0, NULL, NULL, 0 },
};
static const char *const words[] = {
    [DOCTOR_OK] = "ok", [DOCTOR_SKIPPED] = "-", [DOCTOR_WRONG] = "WRONG", [DOCTOR_NOT_REACHED] = ""
};

static void print_text(const struct doctor_report *r, FILE *out)
{
    for (const struct doctor_step *s = r->step; s < r->step + DOCTOR_STEPS; s++) {
        char head[24], text[sizeof s->problem.hint + 16];
        if (s->state == DOCTOR_NOT_REACHED || (s->state == DOCTOR_SKIPPED && !*s->detail))
            continue;
        snprintf(head, sizeof head, "%-6s %-9s ", words[s->state], s->name);
        if (s->state != DOCTOR_WRONG) {
            fold(out, head, s->detail);
            continue;
        }
        fold(out, head, s->problem.what);
        if (*s->problem.hint) {
            snprintf(text, sizeof text, "do this: %s", s->problem.hint);
            fold(out, "                 ", text);
        }
    }
}

static void step_json(struct json_writer *j, const struct doctor_step *s)
{
    json_write_object(j, true);
    json_member_string(j, "name", s->name);
    json_write_key(j, "ok");
    if (s->state == DOCTOR_OK || s->state == DOCTOR_WRONG)
        json_write_bool(j, s->state == DOCTOR_OK);
    else
        json_write_null(j);
    json_member_text(j, "detail", s->detail);
    if (s->state == DOCTOR_WRONG) {
        json_member_string(j, "what", s->problem.what);
        json_member_string(j, "hint", s->problem.hint);
    }
    json_write_end(j);
}

static void print_json(const struct doctor_report *r, bool well, FILE *out)
{
    struct text_sink sink = file_sink(out);
    struct json_writer j = { .out = &sink };
    json_write_object(&j, false);
    json_member_string(&j, "schema", "probeprof.doctor/1");
    json_member_text(&j, "probe", r->probe);
    json_member_bool(&j, "ok", well);
    json_write_key(&j, "steps");
    json_write_array(&j, false);
    for (size_t i = 0; i < DOCTOR_STEPS; i++)
        step_json(&j, &r->step[i]);
    json_write_end(&j);
    json_write_end(&j);
    fputc('\n', out);
}

/* On a terminal, one line that is overwritten; "" clears it. */
static void show_step(void *ctx, const char *name)
{
    FILE *out = ctx;
    view_clear_line(out);
    text_print(out, "%s%s%s", text_if(*name, "looking at: "), name, text_if(*name, " ..."));
    fflush(out);
}

/* Logs into the report's file, and to stderr the subjects that were asked for. */
struct listener {
    struct cli *cli;
    unsigned shown;
    struct doctor_file *file; /* NULL: none */
};

static void hear_step(void *ctx, enum log_subject subject, const char *line)
{
    struct listener *l = ctx;
    if (l->file)
        doctor_file_log(l->file, subject, line);
    if (l->shown >> subject & 1)
        text_print(l->cli->err_out, "%s: %s\n", log_subject_name(subject), line);
}

static int write_report(const struct listener *l, const struct settings *set,
                        const struct doctor_report *report, struct err *err)
{
    char *text = NULL;
    size_t len = 0;
    FILE *f = open_memstream(&text, &len);
    if (!f)
        return err_set(err, ERR_NOMEM, "close other programs", "out of memory");
    print_text(report, f);
    int ret;
    if (fclose(f) != 0)
        ret = err_set(err, ERR_NOMEM, "close other programs", "out of memory");
    else
        ret = doctor_file_write(l->file, set->report, set, report, text, err);
    free(text);
    if (ret == 0)
        cli_warn(l->cli, "%s is for who is to help: look through it before you give it away",
                 set->report);
    if (ret < 0)
        return err_prefix(err, ret, "--report");
    return 0;
}

static int look_at_board(struct cli *cli, const struct settings *set, struct listener *l,
                         struct err *err)
{
    struct doctor_report report;
    const struct doctor_watch watch = { show_step, cli->err_out }, *watched = NULL;
    struct log log = { .enabled = set->log, .write = hear_step, .ctx = l };
    if (l->file) /* a report has all of it */
        log.enabled = (1u << LOG_NSUBJECTS) - 1;
    if (!set->log && view_columns(cli->err_out) > 0)
        watched = &watch;
    bool well = doctor(cli, set, watched, &log, &report);
    if (watched)
        show_step(cli->err_out, "");
    if (set->json)
        print_json(&report, well, cli->out);
    else
        print_text(&report, cli->out);
    int ret = 0;
    if (l->file)
        ret = write_report(l, set, &report, err);
    if (ret >= 0 && !well)
        ret = err_set(err, ERR_NO_TARGET, "", "%s", ""); /* the report has said it */
    return ret;
}

/* Settings that are wrong for any board: the same errors as those of `run`. */
static int check_settings(const struct settings *set, struct err *err)
{
    const struct part *part;
    struct symbols *syms = NULL;
    int ret = 0;
    if (*set->probe)
        ret = settings_blame(set, SET_PROBE, probe_named(set->probe, err), err);
    if (ret == 0 && *set->target)
        ret =
            settings_blame(set, SET_TARGET, part_choose(set->target, set->probe, &part, err), err);
    if (ret == 0 && *set->target)
        ret = useless_part(set, part, err);
    if (ret == 0 && set->origin[SET_LOG] == ORIGIN_FLAG && set->log &&
        !(set->log & (1u << LOG_USB | 1u << LOG_WIRE | 1u << LOG_TARGET)))
        return err_set(
            err, ERR_USAGE, "usb, wire, target or all",
            "log: doctor serves no GDB and profiles nothing, so there is nothing to log of that");
    /* of a conf file it need not be built yet */
    if (ret == 0 && set->origin[SET_ELF] == ORIGIN_FLAG)
        ret = symbols_open(set->elf, &syms, err);
    symbols_close(syms);
    return ret;
}

/* The name behind --report may be that of another file by mistake. */
static int check_report(const struct settings *set, struct err *err)
{
    char head[sizeof DOCTOR_FILE_HEAD] = "";
    FILE *f = fopen(set->report, "rbe");
    size_t n = 0;
    if (f)
        n = fread(head, 1, sizeof head - 1, f);
    if (f)
        fclose(f);
    if (n && strcmp(head, DOCTOR_FILE_HEAD))
        return err_set(err, ERR_USAGE, "name another file",
                       "--report %s would replace what is no such report", set->report);
    return err_prefix(err, file_writable(set->report, err), "--report");
}

static int run_doctor(struct cli *cli, int argc, char **argv, struct err *err)
{
    struct settings set;
    int ret = settings_read(&set, doctor_opts, argc, argv, cli->probe_env, err);
    if (ret == 0)
        ret = check_settings(&set, err);
    if (ret == 0 && *set.report)
        ret = check_report(&set, err);
    if (ret < 0)
        return ret;
    struct listener l = { .cli = cli, .shown = set.log };
    if (*set.report) {
        l.file = doctor_file_new();
        if (!l.file)
            return err_set(err, ERR_NOMEM, "close other programs", "out of memory");
    }
    ret = look_at_board(cli, &set, &l, err);
    doctor_file_free(l.file);
    return ret;
}

const struct command command_doctor = {
    "doctor",
    "doctor [OPTIONS]",
    "say the first thing that is wrong on the way to the board",
    doctor_opts,
    "Looks at the adapter, whether it may be opened, its firmware, the target's\n"
    "power, the clock, the wire (JTAG chain or BDC), the part, with --halt the CPU,\n"
    "with --pdo the logic analyser, and ends at the first that is wrong: what it\n"
    "is, and what to do. The program on the board goes on unless --halt is given.\n"
    "Settings of ./probeprof.conf hold here, too.\n"
    "If something is wrong the exit status is 1.\n\n"
    "Example:\n  probeprof doctor --target sh7750 --speed auto\n"
    "  probeprof doctor --probe usbdm --target s12zvml128 --halt\n"
    "  probeprof doctor --target sh7750 --speed auto --report board.txt\n",
    run_doctor,
};
