/* `probeprof decode` and `dump`: the motor example runs on the model, its pins are captured, and
 * the capture written in every form the commands read. Each must give the same report, and its
 * counts must be those the model keeps for itself. */
#include "profiler/cli/command.h"
#include "tests/cli/capture_rig.h"

static FILE *create_file(struct fixture *x, const char *name, char path[128])
{
    snprintf(path, 128, "%s/%s", x->dir, name);
    FILE *f = fopen(path, "wb");
    assert_non_null(f);
    return f;
}

/* By hand, without the decoders under test: PDOCLK toggles once a bit, a line's length follows from
 * its first byte. */
static void write_forms(struct fixture *x)
{
    char path[128];
    FILE *edges = create_file(x, "m.edges", path), *vcd = create_file(x, "m.vcd", path),
         *wire = create_file(x, "m.pdo-bytes", path), *lines = create_file(x, "m.lines", path),
         *dbgtb = create_file(x, "m.dbgtb", path);
    fprintf(vcd, "$date today $end\n$timescale 1 ps $end\n$scope module top $end\n$var wire 1 ! "
                 "pdo $end\n$var wire 1 \" PDOCLK $end\n"
                 "$var wire 8 # other [7:0] $end\n$upscope $end\n$enddefinitions $end\n");
    uint8_t line[8] = { 0 };
    unsigned bits = 0, need = 0;
    for (size_t k = 0; k < x->n; k++) {
        pdo_edge e = x->edge[k];
        for (unsigned b = 0; b < 8; b++)
            fputc((int)(e >> (8 * b) & 0xFF), edges);
        fprintf(vcd, "#%llu\n%u!\n%u\"\nb%u01 #\n", (unsigned long long)PDO_TICK(e), PDO_DATA(e),
                PDO_CLK(e), (unsigned)k & 1);
        if (!k || PDO_CLK(e) == PDO_CLK(x->edge[k - 1]))
            continue;
        line[bits / 8] |= (uint8_t)(PDO_DATA(e) << bits % 8);
        bits++;
        if (bits == 8)
            need = 8 * ((line[0] & 15) == 0 ? 4 : (line[0] & 15) == 2 ? 6 : 8);
        if (bits >= 8 && bits == need) {
            fwrite(line, 1, bits / 8, wire);
            fwrite(line, 1, 8, lines);
            for (unsigned b = 0; b < 8; b++)
                fputc(line[b ^ 1], dbgtb);
            memset(line, 0, sizeof line);
            bits = 0;
        }
    }
    assert_int_equal(bits, 0);
    assert_int_equal(fclose(edges) | fclose(vcd) | fclose(wire) | fclose(lines) | fclose(dbgtb), 0);
}

static int set_up_forms(void **state)
{
    struct fixture *x = calloc(1, sizeof *x);
    assert_non_null(x);
    snprintf(x->dir, sizeof x->dir, "/tmp/probeprof-decode-XXXXXX");
    assert_non_null(mkdtemp(x->dir));
    capture_from(x, "sim:s12zvml128,bdc=20M");
    write_forms(x);
    *state = x;
    return 0;
}

static int tear_down_forms(void **state)
{
    static const char *const names[] = { "m.edges", "m.vcd",     "m.pdo-bytes", "m.lines",
                                         "m.dbgtb", "cut.lines", "m.rec",       "other.elf" };
    struct fixture *x = *state;
    char path[128];
    for (size_t k = 0; k < ARRAY_LEN(names); k++) {
        snprintf(path, sizeof path, "%s/%s", x->dir, names[k]);
        unlink(path);
    }
    rmdir(x->dir);
    fixture_drop(x);
    free(x);
    return 0;
}

/* What a command printed; caller frees. */
static char *run_command(const struct command *c, int *ret, struct err *err, int argc, ...)
{
    char *argv[16], *text = NULL;
    size_t size = 0;
    va_list ap;
    va_start(ap, argc);
    for (int k = 0; k < argc; k++)
        argv[k] = va_arg(ap, char *);
    va_end(ap);
    argv[argc] = NULL;
    FILE *out = open_memstream(&text, &size);
    struct cli cli = { .out = out, .err_out = out };
    struct err mine = { .code = ERR_OK };
    *ret = c->run(&cli, argc, argv, err ? err : &mine);
    if (*ret < 0 && !err)
        print_message("  %s: %s\n", mine.what, mine.hint);
    fclose(out);
    return text;
}

/* Only edges say when lines arrived: C1 and what it rests on differ with that, counts do not. */
static void decode__each_form__same_document_and_the_models_counts(void **state)
{
    static const char *const forms[] = { "lines", "pdo-bytes", "dbgtb", "edges", "vcd" };
    struct fixture *x = *state;
    char *documents[2] = { NULL, NULL }, path[128], want[128];
    int ret;
    for (size_t k = 0; k < ARRAY_LEN(forms); k++) {
        char **same = &documents[k >= 3];
        print_message("  %s\n", forms[k]);
        snprintf(path, sizeof path, "%s/m.%s", x->dir, forms[k]);
        char *text = run_command(&command_decode, &ret, NULL, 7, "decode", path, "--format",
                                 forms[k], "--elf", ELF, "--json");
        assert_int_equal(ret, 0);
        if (*same)
            assert_string_equal(text, *same);
        else
            *same = text;
        if (*same != text)
            free(text);
    }
    char *first = documents[0];
    assert_non_null(strstr(documents[0], "\"by_stamps\": true, \"by_arrivals\": false"));
    assert_non_null(strstr(documents[1], "\"by_arrivals\": true"));
    assert_non_null(strstr(documents[1], "\"c1_spread\""));
    assert_string_equal(strstr(documents[0], "\"blocks\""), strstr(documents[1], "\"blocks\""));
    free(documents[1]);
    uint64_t n, taken;
    cpu_count(&board_of(x)->cpu, (uint32_t)symbol_address(x, "pi_step"), &n, &taken);
    assert_true(n > 20);
    assert_non_null(strstr(first, "\"blocks\""));
    assert_non_null(strstr(first, "\"branches\""));
    snprintf(want, sizeof want, "\"low\": %llu, ",
             (unsigned long long)symbol_address(x, "pi_step"));
    char *at = strstr(strstr(first, "\"blocks\""), want);
    assert_non_null(at);
    snprintf(want, sizeof want, "\"count\": %llu", (unsigned long long)n);
    char *count = strstr(at, "\"count\"");
    assert_non_null(count);
    if (strncmp(count, want, strlen(want)) != 0)
        fail_msg("model %s, decoded %.30s", want, count);
    free(first);
}

static void dump__each_view__shows_it(void **state)
{
    static const struct {
        const char *what, *text;
    } rows[] = { { "lines", "PTS  -> " },   { "lines", "PTVB" },    { "bits", "T" },
                 { "events", "interrupt" }, { "events", "return" }, { "flow", "branches" } };
    struct fixture *x = *state;
    char path[128];
    int ret;
    snprintf(path, sizeof path, "%s/m.lines", x->dir);
    for (size_t k = 0; k < ARRAY_LEN(rows); k++) {
        char *text =
            run_command(&command_dump, &ret, NULL, 5, "dump", rows[k].what, path, "--elf", ELF);
        assert_int_equal(ret, 0);
        if (!strstr(text, rows[k].text))
            fail_msg("%s: no '%s' in: %.300s", rows[k].what, rows[k].text, text);
        free(text);
    }
}

/* Exactly the settings the model has are consistent where it matters for this program. */
static void explain__edges_of_the_model__tells_right_from_wrong(void **state)
{
    static const char *const wrong[] = { "edges=rising", "edges=falling", "byte-order=high-first" };
    struct fixture *x = *state;
    char path[128];
    int ret;
    snprintf(path, sizeof path, "%s/m.edges", x->dir);
    char *text = run_command(&command_dump, &ret, NULL, 8, "dump", "lines", path, "--format",
                             "edges", "--elf", ELF, "--explain");
    assert_int_equal(ret, 0);
    print_message("%s", text);
    char *given = strstr(text, "as given");
    assert_non_null(given);
    assert_non_null(strstr(given, "consistent"));
    for (size_t k = 0; k < ARRAY_LEN(wrong); k++) {
        char *row = strstr(text, wrong[k]);
        assert_non_null(row);
        char *end = strchr(row, '\n');
        assert_true(end && !strncmp(end - 12, "does not fit", 12));
    }
    assert_non_null(strstr(text, "the stream says    pthf=6"));
    assert_non_null(strstr(text, "cannot tell        software-exceptions: traced or silent"));
    assert_null(strstr(text, "stamp-from")); /* its timer's interrupts tell */
    free(text);
}

/* Another board than the settings suppose: addresses high byte first, and an edge of the clock that
 * begins what follows an idle time. */
static void explain__a_board_with_two_unusual_encodings__names_both(void **state)
{
    static const char *const said[] = { "consistent with    first-edge=none\n",
                                        "consistent with    byte-order=high-first\n" };
    struct fixture *x = *state, other = { 0 };
    char path[128], rest[256];
    int ret;
    memcpy(other.dir, x->dir, sizeof other.dir);
    capture_from(&other, "sim:s12zvml128,bdc=20M,first-edge=none,byte-order=high-first");
    FILE *f = create_file(&other, "cut.lines", path);
    for (size_t k = 0; k < other.n; k++)
        for (unsigned b = 0; b < 8; b++)
            fputc((int)(other.edge[k] >> (8 * b) & 0xFF), f);
    fclose(f);
    char *text = run_command(&command_dump, &ret, NULL, 8, "dump", "lines", path, "--format",
                             "edges", "--elf", ELF, "--explain");
    print_message("%s", text);
    assert_int_equal(ret, 0);
    for (size_t k = 0; k < ARRAY_LEN(said); k++)
        assert_non_null(strstr(text, said[k]));
    for (char *line = text; *line; line = strchr(line, '\n') + 1)
        assert_true(strchr(line, '\n') - line <= 80);
    free(text);
    text = run_command(&command_dump, &ret, NULL, 9, "dump", "lines", path, "--format", "edges",
                       "--elf", ELF, "--explain", "--json");
    assert_int_equal(ret, 0);
    char *best = strstr(text, "\"best\"");
    assert_non_null(best);
    snprintf(rest, sizeof rest, "%.250s", best);
    assert_non_null(strstr(rest, "\"first-edge\": \"none\""));
    assert_non_null(strstr(rest, "\"byte-order\": \"high-first\""));
    free(text);
    fixture_drop(&other);
}

/* What the given settings say wrongly, and one more beside it. */
static void explain__wrong_settings_given__says_what_to_give(void **state)
{
    struct fixture *x = *state;
    char path[128];
    int ret;
    snprintf(path, sizeof path, "%s/m.lines", x->dir);
    char *text =
        run_command(&command_dump, &ret, NULL, 10, "dump", "lines", path, "--elf", ELF, "--explain",
                    "--setting", "static-operand=indirect", "--setting", "byte-order=high-first");
    assert_int_equal(ret, 0);
    assert_non_null(strstr(text, "consistent with    static-operand=static\n"));
    assert_non_null(strstr(text, "consistent with    byte-order=low-first\n"));
    free(text);
}

static void decode__bad_input__says_what_and_what_to_do(void **state)
{
    static const struct {
        const char *name, *file, *form, *elf, *what;
        int code;
    } rows[] = {
        { "no such file", "none", "lines", ELF, "none", ERR_NOT_FOUND },
        { "no such form", "m.lines", "line", ELF, "--format", ERR_USAGE },
        { "not what it is said to be", "m.edges", "vcd", ELF, "line 1", ERR_FORMAT },
        { "wrong byte order", "m.lines", "dbgtb", ELF, "", ERR_FORMAT },
        { "an ELF for SH-4", "m.lines", "lines", SOURCE_DIR "/docs/examples/profexam/profexam.elf",
          "another CPU", ERR_USAGE },
        { "no ELF", "m.lines", "lines", "/nonexistent.elf", "nonexistent", ERR_NOT_FOUND },
    };
    struct fixture *x = *state;
    char path[128];
    for (size_t k = 0; k < ARRAY_LEN(rows); k++) {
        struct err err = { .code = ERR_OK };
        int ret;
        print_message("  %s\n", rows[k].name);
        snprintf(path, sizeof path, "%s/%s", x->dir, rows[k].file);
        free(run_command(&command_decode, &ret, &err, 6, "decode", path, "--format", rows[k].form,
                         "--elf", rows[k].elf));
        assert_int_equal(ret, -rows[k].code);
        assert_string_not_equal(err.hint, "");
        assert_non_null(strstr(err.what, rows[k].what));
    }
}

/* What standard error says stands in the document, by its kind. kind NULL: nothing of lines does.
 */
static void expect_remark(const char *path, const char *kind, const char *says)
{
    char want[64];
    int ret;
    char *text = run_command(&command_decode, &ret, NULL, 7, "decode", path, "--format", "lines",
                             "--elf", ELF, "--json");
    char *document = strstr(text, "\n{") ? strstr(text, "\n{") : text;
    assert_int_equal(ret, 0);
    snprintf(want, sizeof want, "\"kind\": \"%s\"", kind ? kind : "no-");
    if (kind ? !strstr(document, want) || !strstr(document, says)
             : strstr(document, "\"no-") || strstr(document, "misfit"))
        fail_msg("%s not in: %.600s", want,
                 strstr(document, "\"remarks\"") ? strstr(document, "\"remarks\"") : document);
    if (kind && strcmp(kind, "no-beginning") != 0) /* and it is lost, not only remarked upon */
        assert_null(strstr(document, "\"lost\": 0,"));
    free(text);
}

/* Truncated, begun in the middle, damaged: a report all the same. */
static void decode__part_of_a_stream__a_report_all_the_same(void **state)
{
    static const struct {
        const char *name;
        size_t from, drop;
        bool flip;
        const char *says, *kind;
    } rows[] = {
        { "whole", 0, 0, false, NULL, NULL },
        { "truncated in a line", 0, 5, false, "bytes in 1 place are no lines, first behind line",
          "bad-bytes" },
        { "truncated in a line", 0, 5, false, "cut short: its last line ends no session",
          "no-end" },
        { "truncated between lines", 0, 8, false, "cut short: its last line ends no session",
          "no-end" },
        { "begun in the middle", 8 * 40, 0, false,
          "begins in the middle, what ran before is missing", "no-beginning" },
        { "a bit flipped", 0, 0, true,
          "not fit the program, something was lost before; the first is line 51: trace ",
          "misfit" },
    };
    struct fixture *x = *state;
    static uint8_t bytes[1 << 20];
    char path[128];
    int ret;
    snprintf(path, sizeof path, "%s/m.lines", x->dir);
    FILE *in = fopen(path, "rb");
    size_t n = fread(bytes, 1, sizeof bytes, in);
    fclose(in);
    for (size_t k = 0; k < ARRAY_LEN(rows); k++) {
        print_message("  %s\n", rows[k].name);
        FILE *out = create_file(x, "cut.lines", path);
        bytes[8 * 50 + 6] ^= rows[k].flip ? 0x40 : 0;
        fwrite(bytes + rows[k].from, 1, n - rows[k].from - rows[k].drop, out);
        fclose(out);
        char *text = run_command(&command_decode, &ret, NULL, 6, "decode", path, "--format",
                                 "lines", "--elf", ELF);
        assert_int_equal(ret, 0);
        assert_non_null(strstr(text, "pi_step"));
        if (rows[k].says ? !strstr(text, rows[k].says)
                         : strstr(text, "missing") || strstr(text, "fit"))
            fail_msg("not said: %s\n%.600s", rows[k].says ? rows[k].says : "nothing", text);
        free(text);
        expect_remark(path, rows[k].kind, rows[k].says);
    }
}

/* Two sessions, the first without its last line or the second without its first. */
static void decode__a_session_s_first_or_last_line_missing__said(void **state)
{
    static const struct {
        const char *name;
        size_t drop, from;
        const char *says, *kind;
    } rows[] = {
        { "nothing", 0, 0, NULL, NULL },
        { "the last line", 8, 0, "1 session has no last line, the first of them ends before line ",
          "no-last-line" },
        { "the first line", 0, 8,
          "1 session has no first line, the first of them begins with line ", "no-first-line" },
    };
    struct fixture *x = *state;
    static uint8_t bytes[1 << 20];
    char path[128];
    snprintf(path, sizeof path, "%s/m.lines", x->dir);
    FILE *in = fopen(path, "rb");
    size_t n = fread(bytes, 1, sizeof bytes, in);
    fclose(in);
    for (size_t k = 0; k < ARRAY_LEN(rows); k++) {
        print_message("  %s\n", rows[k].name);
        FILE *out = create_file(x, "cut.lines", path);
        fwrite(bytes, 1, n - rows[k].drop, out);
        fwrite(bytes + rows[k].from, 1, n - rows[k].from, out);
        fclose(out);
        expect_remark(path, rows[k].kind, rows[k].says);
    }
}

/* The same ELF with its code moved by some bytes: as after a rebuild. */
static void decode__another_build__refused_and_says_how_it_shows(void **state)
{
    struct fixture *x = *state;
    static uint8_t elf[1 << 17];
    struct err err = { .code = ERR_OK };
    char path[128], other[128];
    int ret;
    FILE *in = fopen(ELF, "rb");
    size_t n = fread(elf, 1, sizeof elf, in);
    fclose(in);
    const struct image *im = symbols_image(x->syms);
    for (size_t k = 0; k < im->nsections; k++)
        if (im->sections[k].code && im->sections[k].size > 64) {
            uint8_t *at = memmem(elf, n, im->sections[k].data, im->sections[k].size);
            assert_non_null(at);
            memmove(at + 24, at + 16, im->sections[k].size - 24);
        }
    FILE *out = create_file(x, "other.elf", other);
    fwrite(elf, 1, n, out);
    fclose(out);
    snprintf(path, sizeof path, "%s/m.lines", x->dir);
    free(run_command(&command_decode, &ret, &err, 6, "decode", path, "--format", "lines", "--elf",
                     other));
    print_message("  %s; %s\n", err.what, err.hint);
    assert_int_equal(ret, -ERR_FORMAT);
    assert_non_null(strstr(err.what, "do not fit the program"));
    assert_non_null(strstr(err.hint, "ELF"));
}

/* From a start to a stop point: one function's rounds, no more. */
static void decode__start_and_stop_points__count_between_them(void **state)
{
    struct fixture *x = *state;
    char path[128];
    int ret;
    snprintf(path, sizeof path, "%s/m.lines", x->dir);
    char *text =
        run_command(&command_decode, &ret, NULL, 12, "decode", path, "--format", "lines", "--elf",
                    ELF, "--start", "regulate", "--stop", "commutate", "--passes", "5");
    assert_int_equal(ret, 0);
    assert_non_null(strstr(text, "pi_step"));
    assert_non_null(strstr(text, "5 passes"));
    assert_null(strstr(text, "phase_a"));
    free(text);
}

static void decode__recorded__report_gives_the_same_document(void **state)
{
    struct fixture *x = *state;
    char path[128], rec[128];
    int ret;
    snprintf(path, sizeof path, "%s/cut.lines", x->dir); /* of two sessions; a line is missing */
    snprintf(rec, sizeof rec, "%s/m.rec", x->dir);
    char *text = run_command(&command_decode, &ret, NULL, 9, "decode", path, "--format", "lines",
                             "--elf", ELF, "--json", "--record", rec);
    assert_int_equal(ret, 0);
    char *again = run_command(&command_report, &ret, NULL, 3, "report", rec, "--json");
    assert_int_equal(ret, 0);
    char *a = strstr(text, "\"remarks\""), *b = strstr(again, "\"remarks\"");
    assert_true(a && b);
    assert_string_equal(a, b);
    free(text);
    free(again);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(decode__each_form__same_document_and_the_models_counts),
        cmocka_unit_test(dump__each_view__shows_it),
        cmocka_unit_test(explain__edges_of_the_model__tells_right_from_wrong),
        cmocka_unit_test(explain__a_board_with_two_unusual_encodings__names_both),
        cmocka_unit_test(explain__wrong_settings_given__says_what_to_give),
        cmocka_unit_test(decode__bad_input__says_what_and_what_to_do),
        cmocka_unit_test(decode__part_of_a_stream__a_report_all_the_same),
        cmocka_unit_test(decode__a_session_s_first_or_last_line_missing__said),
        cmocka_unit_test(decode__another_build__refused_and_says_how_it_shows),
        cmocka_unit_test(decode__start_and_stop_points__count_between_them),
        cmocka_unit_test(decode__recorded__report_gives_the_same_document),
    };
    return cmocka_run_group_tests(tests, set_up_forms, tear_down_forms);
}
