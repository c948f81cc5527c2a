/* The words that completion offers are words that the program takes. What the shells make of them:
 * e2e/completion.py. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "probe/base/util.h"
#include "profiler/cli/boards.h"
#include "profiler/cli/completion.h"
#include "profiler/cli/parts.h"
#include "profiler/cli/settings.h"
#include "targets/s12z/offline/trace_input.h"

static const struct command run = { .name = "run", .opts = settings_opts },
                            report = { .name = "report" };
static const struct command *const commands[] = { &run, &report };
/* Of commands whose tables are their own. */
static const struct opt others[] = { { "format", 'f', "FORM", "", 0 }, { NULL, 0, NULL, NULL, 0 } };

static struct completion all_of(void)
{
    return (struct completion){
        .command = commands, .n = ARRAY_LEN(commands), .boards = boards(), .out = stdout
    };
}

/* What the run checks only once it knows part and adapter. */
static int takes_word(const struct opt *o, const char *word, struct err *err)
{
    struct settings *s = calloc(1, sizeof *s);
    const struct part *part;
    enum trace_format form;
    assert_non_null(s);
    int ret = !strcmp(o->name, "target") ? part_choose(word, "", &part, err)
              : !strcmp(o->name, "format")
                  ? trace_format_parse(word, &form, err)
                  : settings_set(s, (enum setting)o->id, ORIGIN_FLAG, word, err);
    free(s);
    return ret;
}

static unsigned try_words(const struct completion *c, const struct opt *opts)
{
    char words[COMPLETION_TEXT];
    unsigned n = 0;
    for (const struct opt *o = opts; o->name; o++) {
        char *rest = NULL;
        if (completion_value(c, o, words) != COMPLETION_WORDS)
            continue;
        for (char *word = strtok_r(words, " ", &rest); word;
             word = strtok_r(NULL, " ", &rest), n++) {
            struct err err = { .code = ERR_OK };
            if (takes_word(o, word, &err) < 0)
                fail_msg("--%s %s: %s", o->name, word, err.what);
        }
    }
    return n;
}

static void values__every_word_offered__is_taken(void **state)
{
    const struct completion c = all_of();
    (void)state;
    unsigned n = try_words(&c, settings_opts) + try_words(&c, others);
    print_message("  %u words\n", n);
    assert_true(n > 100);
}

static void values__table_of_run__has_files_words_and_flags(void **state)
{
    static const struct {
        const char *name;
        enum completion_kind kind;
        const char *word;
    } rows[] = {
        { "elf", COMPLETION_FILE, "" },
        { "output", COMPLETION_FILE, "" },
        { "record", COMPLETION_FILE, "" },
        { "conf", COMPLETION_FILE, "" },
        { "load", COMPLETION_NONE, "" },
        { "start", COMPLETION_FREE, "" },
        { "probe", COMPLETION_WORDS, "sim:s12zvml128" },
        { "target", COMPLETION_WORDS, "sh7091" },
        { "c1", COMPLETION_WORDS, "elapsed-time" },
        { "policy", COMPLETION_WORDS, "live" },
    };
    const struct completion c = all_of();
    char words[COMPLETION_TEXT];
    (void)state;
    for (size_t i = 0; i < ARRAY_LEN(rows); i++)
        for (const struct opt *o = settings_opts; o->name; o++)
            if (!strcmp(o->name, rows[i].name)) {
                print_message("  %s\n", o->name);
                assert_int_equal(completion_value(&c, o, words), rows[i].kind);
                assert_non_null(strstr(words, rows[i].word));
            }
}

static void argument__lines_of_usage__give_what_follows(void **state)
{
    static const struct {
        const char *usage;
        enum completion_kind kind;
        const char *words;
    } rows[] = {
        { "list [--json] [--analysers]", COMPLETION_NONE, "" },
        { "doctor [OPTIONS]", COMPLETION_NONE, "" },
        { "report FILE... [OPTIONS]", COMPLETION_FILE, "" },
        { "[run] [ELF] [OPTIONS]", COMPLETION_FILE, "" },
        { "[run] [OPTIONS]", COMPLETION_NONE, "" },
        { "x [--json] FILE", COMPLETION_FILE, "" },
        { "dump lines|bits FILE", COMPLETION_WORDS, "lines bits" },
        { "help [COMMAND]", COMPLETION_WORDS, "run report" },
    };
    const struct completion c = all_of();
    char words[COMPLETION_TEXT];
    (void)state;
    for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
        const struct command k = { .usage = rows[i].usage };
        print_message("  %s\n", k.usage);
        assert_int_equal(completion_argument(&c, &k, words), rows[i].kind);
        assert_string_equal(words, rows[i].words);
    }
}

static void print__other_shell__is_refused(void **state)
{
    const struct completion c = all_of();
    struct err err = { .code = ERR_OK };
    (void)state;
    assert_int_equal(completion_print(&c, "tcsh", &err), -ERR_USAGE);
    assert_string_not_equal(err.hint, "");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(values__every_word_offered__is_taken),
        cmocka_unit_test(values__table_of_run__has_files_words_and_flags),
        cmocka_unit_test(argument__lines_of_usage__give_what_follows),
        cmocka_unit_test(print__other_shell__is_refused),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
