/* Options, settings, conf, nearest names. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

#include "probe/base/log.h"
#include "probe/base/util.h"
#include "profiler/cli/conf.h"
#include "profiler/cli/fold.h"
#include "probe/base/nearest.h"
#include "profiler/cli/settings.h"

static void edit_distance__pairs__count_edits(void **state)
{
    static const struct {
        const char *a, *b;
        unsigned d;
    } rows[] = {
        { "", "", 0 },         { "main", "main", 0 }, { "main", "Main", 0 },
        { "main", "mian", 1 }, { "main", "man", 1 },  { "main", "mains", 1 },
        { "abc", "xyz", 3 },   { "", "four", 4 },     { "kitten", "sitting", 3 },
    };
    (void)state;
    for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
        print_message("  %s / %s\n", rows[i].a, rows[i].b);
        assert_int_equal(edit_distance(rows[i].a, rows[i].b), rows[i].d);
        assert_int_equal(edit_distance(rows[i].b, rows[i].a), rows[i].d);
    }
}

static void nearest__mistyped__offers_close_ones_best_first(void **state)
{
    static const char *const names[] = { "icache-miss", "icache-fill", "dcache-read-miss",
                                         "elapsed-time" };
    static const struct {
        const char *wanted, *text;
    } rows[] = {
        { "icache-mis", "did you mean icache-miss or icache-fill?" },
        { "elapsed", "did you mean elapsed-time?" },
        { "zzz", "nothing near" },
    };
    (void)state;
    for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
        struct nearest near = { .wanted = rows[i].wanted };
        char text[NEAREST_TEXT];
        for (size_t n = 0; n < ARRAY_LEN(names); n++)
            nearest_offer(&near, names[n]);
        assert_string_equal(nearest_text(&near, "nothing near", text, sizeof text), rows[i].text);
    }
}

static void nearest__many_candidates__keeps_the_best_three(void **state)
{
    (void)state;
    struct nearest near = { .wanted = "GetLastNode" };
    char text[NEAREST_TEXT];
    nearest_offer(&near, "GetLostNodes");
    nearest_offer(&near, "GetNewNode");
    nearest_offer(&near, "GetLastNodf");
    nearest_offer(&near, "GetLastNodf");
    nearest_offer(&near, "GetLastNod");
    assert_string_equal(nearest_text(&near, "", text, sizeof text),
                        "did you mean GetLastNodf, GetLastNod or GetLostNodes?");
}

/* ---- settings ---- */

struct files {
    char dir[64];
};

static int enter_folder(void **state)
{
    static const char pattern[] = "/tmp/probeprof-settings-XXXXXX";
    struct files *f = test_calloc(1, sizeof *f);
    memcpy(f->dir, pattern, sizeof pattern);
    *state = f;
    return mkdtemp(f->dir) && chdir(f->dir) == 0 ? 0 : -1;
}

static int leave_folder(void **state)
{
    struct files *f = *state;
    unlink("probeprof.conf");
    int ret = chdir("/") | rmdir(f->dir);
    test_free(f);
    return ret;
}

static void write_conf(const char *text)
{
    FILE *f = fopen("probeprof.conf", "w");
    assert_non_null(f);
    fputs(text, f);
    fclose(f);
}

static int read_settings(struct settings *s, const char *line, const char *env, struct err *err)
{
    static const char *const words = " ";
    char copy[256], *argv[32] = { "run" }, *rest = NULL;
    int argc = 1;
    snprintf(copy, sizeof copy, "%s", line);
    for (char *w = strtok_r(copy, words, &rest); w; w = strtok_r(NULL, words, &rest))
        argv[argc++] = w;
    return settings_read(s, settings_opts, argc, argv, env, err);
}

static void settings__flag_env_conf__flag_wins_then_env(void **state)
{
    static const struct {
        const char *conf, *env, *line, *probe;
    } rows[] = {
        { "", NULL, "", "" },
        { "[probeprof]\nprobe = conf\n", NULL, "", "conf" },
        { "[probeprof]\nprobe = conf\n", "env", "", "env" },
        { "[probeprof]\nprobe = conf\n", "env", "--probe flag", "flag" },
        { "[probeprof]\nprobe = conf\n", "", "-pflag", "flag" },
        { "[probeprof]\nprobe = conf\n", NULL, "--conf off", "" },
    };
    (void)state;
    for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
        struct settings s;
        struct err err = { .code = ERR_OK };
        print_message("  row %zu\n", i);
        write_conf(rows[i].conf);
        assert_int_equal(read_settings(&s, rows[i].line, rows[i].env, &err), 0);
        assert_string_equal(s.probe, rows[i].probe);
    }
}

static void settings__stop_points__flags_replace_those_of_the_conf(void **state)
{
    (void)state;
    struct settings s;
    write_conf("[profile]\nstop = a\nstop = b\nstart = main ; why not\n");
    assert_int_equal(read_settings(&s, "", NULL, NULL), 0);
    assert_int_equal(s.nstops, 2);
    assert_string_equal(s.stop[1], "b");
    assert_string_equal(s.start, "main");
    assert_int_equal(read_settings(&s, "--stop c", NULL, NULL), 0);
    assert_int_equal(s.nstops, 1);
    assert_string_equal(s.stop[0], "c");
}

static void settings__no_load__beats_the_conf(void **state)
{
    (void)state;
    struct settings s;
    write_conf("[probeprof]\nload = yes\nelf = \"my prog.elf\"  # quoted\n");
    assert_int_equal(read_settings(&s, "", NULL, NULL), 0);
    assert_true(s.load);
    assert_string_equal(s.elf, "my prog.elf");
    assert_int_equal(read_settings(&s, "--no-load", NULL, NULL), 0);
    assert_false(s.load);
}

static void settings__bad_input__says_where_and_what_to_do(void **state)
{
    static const struct {
        const char *conf, *line, *what, *hint;
    } rows[] = {
        { "", "--prob x", "unknown option --prob", "did you mean --probe?" },
        { "", "--zzzzzzzz", "unknown option --zzzzzzzz", "--help lists them" },
        { "", "--start", "--start needs a value: --start A", "profile from here" },
        { "", "--json=3", "--json takes no value", "" },
        { "", "--passes 0", "passes: '0' is not a number from 1", "whole number" },
        { "", "--passes -1", "passes: '-1' is not a number", "whole number" },
        { "", "--for 30", "for: '30' is not a time", "30s" },
        { "", "--speed fast", "speed: 'fast' is not a frequency", "10M" },
        { "", "--voltage 33", "voltage: '33' is not a number between 1 and 6", "3.3" },
        { "", "--voltage 3.3mV", "voltage: '3.3mV'", "3.3" },
        { "", "--voltage nan", "voltage: 'nan'", "3.3" },
        { "", "--hits 10x", "10x", "10%" },
        { "", "--sort cycles", "cycles", "c1" },
        { "", "--irq-filter on", "irq-filter: 'on' is not one of its values",
          "off, auto, calls, shinobi" },
        { "", "--log usb,wires", "log: 'wires'", "usb, wire, target" },
        { "", "--agent-ram 0x8c000000", "agent-ram: '0x8c000000' is not ADDRESS:SIZE", "64k" },
        { "", "--probe=", "probe: empty", "value" },
        { "", "program surplus", "unexpected argument 'surplus'", "--help" },
        { "", "--conf nowhere.conf", "conf nowhere.conf: No such file", "--conf off" },
        { "[probeprof]\nelff = x\n", "", "probeprof.conf:2: unknown setting 'elff'",
          "did you mean elf" },
        { "[probeprof]\nelf x\n", "", "probeprof.conf:2: 'elf x' has no '='", "elf = program.elf" },
        { "elf = x\n", "", "probeprof.conf:1: elf stands in section []", "[probeprof]" },
        { "[probeprof\n", "", "probeprof.conf:1: '[probeprof' is not a section", "[probeprof]" },
        { "\n\n[profile]\npasses = many\n", "", "probeprof.conf:4: passes: 'many'",
          "whole number" },
    };
    (void)state;
    for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
        struct settings s;
        struct err err = { .code = ERR_OK };
        print_message("  %s%s\n", rows[i].conf, rows[i].line);
        write_conf(rows[i].conf);
        int ret = read_settings(&s, rows[i].line, NULL, &err);
        assert_true(ret == -ERR_USAGE || ret == -ERR_NOT_FOUND);
        if (!strstr(err.what, rows[i].what) || !strstr(err.hint, rows[i].hint))
            fail_msg("what: %s\nhint: %s", err.what, err.hint);
    }
}

static void settings__values__are_read_with_their_units(void **state)
{
    (void)state;
    struct settings s;
    write_conf("");
    assert_int_equal(
        read_settings(&s,
                      "--for 1.5s --speed 2.5M --hits >=10% --agent-ram 0x8cf00000:64k "
                      "--irq-filter shinobi:sbExit --log usb,rsp --policy live -n 0x10 --no-patch "
                      "Sum --no-patch 0x8c010000:0x8c010400 --stack 0x8c020000:0x8c020200",
                      NULL, NULL),
        0);
    assert_int_equal(s.for_ns, 1500000000);
    assert_int_equal(s.speed_hz, 2500000);
    assert_true(s.hits.percent && s.hits.value == 10);
    assert_int_equal(s.ram_base, 0x8cf00000);
    assert_int_equal(s.ram_bytes, 65536);
    assert_int_equal(s.irq_filter, IRQ_FILTER_SHINOBI);
    assert_string_equal(s.shinobi_routine, "sbExit");
    assert_int_equal(s.log, 1 << LOG_USB | 1 << LOG_RSP);
    assert_int_equal(s.policy, TRACE_LIVE);
    assert_int_equal(s.passes, 16);
    assert_int_equal(s.no_patch.n, 2);
    assert_string_equal(s.no_patch.text[1], "0x8c010000:0x8c010400");
    assert_int_equal(s.stack.n, 1);
    assert_string_equal(s.stack.text[0], "0x8c020000:0x8c020200");
}

static void settings__every_option__has_help_and_a_name_of_its_own(void **state)
{
    (void)state;
    for (const struct opt *o = settings_opts; o->name; o++) {
        assert_true(o->help && *o->help);
        for (const struct opt *p = o + 1; p->name; p++) {
            assert_string_not_equal(o->name, p->name);
            assert_true(!o->letter || o->letter != p->letter);
            assert_int_not_equal(o->id, p->id);
        }
    }
}

static void fold__any_text__lines_fit_and_no_word_is_lost(void **state)
{
    static const struct {
        const char *text, *head;
        int lines;
    } rows[] = {
        { "", "head  ", 0 },
        { "one", "head  ", 1 },
        { "  two  words ", "", 1 },
        { "USB 1-2.3: no permission to open /dev/bus/usb/001/004, which is a sentence that is "
          "broken",
          "head  ", 2 },
        { "0123456789012345678901234567890123456789012345678901234567890123456789012345678901234567"
          "890123456789 after",
          "  ", 2 },
    };
    (void)state;
    for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
        char buf[400] = "";
        FILE *out = fmemopen(buf, sizeof buf, "w");
        int lines = 0;
        print_message("  '%s'\n", rows[i].text);
        fold(out, rows[i].head, rows[i].text);
        fclose(out);
        for (char *line = strtok(buf, "\n"); line; line = strtok(NULL, "\n"), lines++) {
            size_t width = strlen(rows[i].head);
            if (lines == 0)
                assert_memory_equal(line, rows[i].head, width);
            else
                assert_int_equal(strspn(line, " "), width);
            line += width;
            assert_true(strlen(line) + width < 80 || !strchr(line, ' '));
            for (char *rest = NULL, *word = strtok_r(line, " ", &rest); word;
                 word = strtok_r(NULL, " ", &rest))
                assert_non_null(strstr(rows[i].text, word));
        }
        assert_int_equal(lines, rows[i].lines);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(edit_distance__pairs__count_edits),
        cmocka_unit_test(nearest__mistyped__offers_close_ones_best_first),
        cmocka_unit_test(nearest__many_candidates__keeps_the_best_three),
        cmocka_unit_test_setup_teardown(settings__flag_env_conf__flag_wins_then_env, enter_folder,
                                        leave_folder),
        cmocka_unit_test_setup_teardown(settings__stop_points__flags_replace_those_of_the_conf,
                                        enter_folder, leave_folder),
        cmocka_unit_test_setup_teardown(settings__no_load__beats_the_conf, enter_folder,
                                        leave_folder),
        cmocka_unit_test_setup_teardown(settings__bad_input__says_where_and_what_to_do,
                                        enter_folder, leave_folder),
        cmocka_unit_test_setup_teardown(settings__values__are_read_with_their_units, enter_folder,
                                        leave_folder),
        cmocka_unit_test(settings__every_option__has_help_and_a_name_of_its_own),
        cmocka_unit_test(fold__any_text__lines_fit_and_no_word_is_lost),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
