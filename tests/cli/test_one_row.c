/* A row more in the table of settings (settings_one_more.def, which this is compiled with) makes
 * the flag, its help, the key, its trust, the shells' words and the refusals: no other line of the
 * program knows of --frob. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

#include "probe/base/util.h"
#include "profiler/cli/boards.h"
#include "profiler/cli/completion.h"
#include "profiler/cli/parts.h"
#include "profiler/cli/project.h"
#include "profiler/cli/settings.h"
#include "profiler/cli/useless.h"

static int read_words(struct settings *s, const char *a, const char *b, const char *c,
                      struct err *err)
{
    char words[4][64] = { "probeprof" };
    char *argv[4] = { words[0], words[1], words[2], words[3] };
    const char *const given[] = { a, b, c };
    int argc = 1;
    for (size_t i = 0; i < ARRAY_LEN(given); i++)
        if (given[i])
            snprintf(words[argc++], sizeof words[0], "%s", given[i]);
    *err = (struct err){ .code = ERR_OK };
    return settings_read(s, settings_opts, argc, argv, NULL, err);
}

static void one_row__flag__is_read(void **state)
{
    struct settings *s = *state;
    struct err err;
    assert_int_equal(read_words(s, "--conf=off", "--frob", "wildly", &err), 0);
    assert_int_equal(s->frob, 1);
    assert_int_equal(s->origin[SET_FROB], ORIGIN_FLAG);
    assert_int_equal(read_words(s, "--conf=off", "-Fgently", NULL, &err), 0);
    assert_int_equal(s->frob, 0);
    assert_int_equal(read_words(s, "--conf=off", "--frob=badly", NULL, &err), -ERR_USAGE);
    assert_string_equal(err.hint, "one of gently, wildly");
    assert_int_equal(read_words(s, "--conf=off", "--frop=wildly", NULL, &err), -ERR_USAGE);
    assert_string_equal(err.hint, "did you mean --frob?");
}

static void one_row__help__has_its_line(void **state)
{
    char *text = NULL;
    size_t len = 0;
    FILE *out = open_memstream(&text, &len);
    (void)state;
    assert_non_null(out);
    opts_help(settings_opts, out);
    assert_int_equal(fclose(out), 0);
    assert_non_null(strstr(text, "\n  -F, --frob HOW "));
    assert_non_null(strstr(text, "how the board is frobbed: gently or wildly\n"));
    free(text);
}

/* In a new folder, which is left and removed. */
static void one_row__key__counts_from_a_trusted_folder_only(void **state)
{
    struct settings *s = *state;
    struct err err;
    char folder[] = "/tmp/one_row.XXXXXX", list[64], command[96];
    assert_non_null(mkdtemp(folder));
    assert_int_equal(chdir(folder), 0);
    setenv("XDG_CONFIG_HOME", folder, 1);
    FILE *conf = fopen("probeprof.conf", "w");
    assert_non_null(conf);
    fputs("[probeprof]\nfrob = wildly\n", conf);
    assert_int_equal(fclose(conf), 0);
    assert_int_equal(read_words(s, NULL, NULL, NULL, &err), -ERR_USAGE);
    assert_non_null(strstr(err.what, "probeprof.conf:2: this setting opens a device or a file"));
    assert_int_equal(project_trust(".", &err), 0);
    assert_int_equal(read_words(s, NULL, NULL, NULL, &err), 0);
    assert_int_equal(s->frob, 1);
    assert_int_equal(s->origin[SET_FROB], ORIGIN_CONF);
    assert_int_equal(s->conf_line[SET_FROB], 2);
    assert_int_equal(chdir("/"), 0);
    snprintf(list, sizeof list, "%s/probeprof/trusted", folder);
    assert_int_equal(access(list, F_OK), 0);
    snprintf(command, sizeof command, "rm -r %s", folder);
    assert_int_equal(system(command), 0);
}

static const struct command run = {
    .name = "run", .usage = "run", .summary = "run", .opts = settings_opts
};
static const struct command *const commands[] = { &run };

static char *completion_script(const char *shell)
{
    char *text = NULL;
    size_t len = 0;
    FILE *out = open_memstream(&text, &len);
    assert_non_null(out);
    const struct completion c = { commands, 1, boards(), out };
    assert_int_equal(completion_print(&c, shell, NULL), 0);
    assert_int_equal(fclose(out), 0);
    return text;
}

static void one_row__completion__has_flag_and_words_in_each_shell(void **state)
{
    static const struct {
        const char *shell, *line;
    } rows[] = {
        { "bash", "run:--frob|run:-F) words='gently wildly' ;;" },
        { "bash", " --frob=" },
        { "zsh", "--frob=[how the board is frobbed\\: gently or wildly]:HOW:(gently wildly)'" },
        { "fish", "-l frob -s F -x -a 'gently wildly' -d 'how the board is frobbed" },
    };
    (void)state;
    for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
        char *text = completion_script(rows[i].shell);
        print_message("  %s: %s\n", rows[i].shell, rows[i].line);
        assert_non_null(strstr(text, rows[i].line));
        free(text);
    }
}

static void set_setting(struct settings *s, enum setting id, const char *value)
{
    assert_int_equal(settings_set(s, id, ORIGIN_FLAG, value, NULL), 0);
}

static void one_row__where_it_has_no_effect__is_refused(void **state)
{
    struct settings *s = *state;
    struct err err = { .code = ERR_OK };
    const struct part *sh4, *s12z;
    assert_int_equal(part_choose("sh7750", "", &sh4, &err), 0);
    assert_int_equal(part_choose("s12zvml128", "", &s12z, &err), 0);
    *s = (struct settings){ 0 };
    set_setting(s, SET_FROB, "wildly");
    assert_int_equal(useless_run(s, &err), -ERR_USAGE);
    assert_string_equal(err.what, "--frob needs the program");
    set_setting(s, SET_ELF, "x.elf");
    assert_int_equal(useless_run(s, &err), 0);
    assert_int_equal(useless_part(s, s12z, &err), 0);
    assert_int_equal(useless_part(s, sh4, &err), -ERR_USAGE);
    assert_string_equal(err.what, "--frob is for S12Z parts, not for a sh7750");
    set_setting(s, SET_JSON, "yes");
    assert_int_equal(useless_run(s, &err), -ERR_USAGE);
    assert_non_null(strstr(err.what, "it has no use for --frob"));
    set_setting(s, SET_JSON, "no");
    set_setting(s, SET_SAMPLE, "yes");
    assert_int_equal(useless_run(s, &err), -ERR_USAGE);
    assert_non_null(strstr(err.what, "it has no use for --frob"));
}

static int set_up_settings(void **state)
{
    *state = calloc(1, sizeof(struct settings));
    return *state ? 0 : -1;
}

static int tear_down_settings(void **state)
{
    free(*state);
    return 0;
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(one_row__flag__is_read),
        cmocka_unit_test(one_row__help__has_its_line),
        cmocka_unit_test(one_row__key__counts_from_a_trusted_folder_only),
        cmocka_unit_test(one_row__completion__has_flag_and_words_in_each_shell),
        cmocka_unit_test(one_row__where_it_has_no_effect__is_refused),
    };
    return cmocka_run_group_tests(tests, set_up_settings, tear_down_settings);
}
