/* recording: the same events back, whatever happens to the file. */
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "probe/base/util.h"
#include "profiler/core/calltree.h"
#include "profiler/core/filter.h"
#include "profiler/profile/recording.h"
#include "profiler/profile/recording_format.h"
#include "profiler/views/report.h"
#include "profiler/views/report_json.h"
#include "tests/profiler/sample.h"
#include "tests/profiler/sink.h"

enum { MANY = 3 * RECORDING_BLOCK_EVENTS + 100 };

static const struct recording_header header = {
    .program = "probeprof 0.1.0",
    .target = "sh7750",
    .probe = "sim:sh7750",
    .elf = "/home/x/a b=c\\d\nand a line feed.elf",
    .build_id = { 0xde, 0xad, 0xbe, 0xef, 0x00, 0xff },
    .build_id_len = 6,
    .counter = { { 0x23, "elapsed-time", "cycles" }, { 0x08, "icache-miss", "count" } },
    .when = 1795268759,
    .has_start = true,
    .start = 0x8c01011c,
    .stops = { 0x8c010030, 0xFFFFFFFFFFFFFFFF },
    .nstops = 2,
    .irq_filter = IRQ_FILTER_AUTO,
    .max_passes = 19,
    .address_cached = true,
    .code_sum = 0x1234567890,
    .canonical_mask = 0x1fffffff,
};
static const struct recording_end end_info = {
    .icache_enabled = true,
    .events = MANY,
    .time = { .target_cycles = 1000000007,
              .agent_cycles = 12345,
              .host_ns = 99,
              .board_ns = 77,
              .held_ns = 7 },
    .lost = 5,
    .note = "shinobi: not patched\\n, said the board",
    .remark = { { "bad-bytes", "3 bytes are\nno lines", 3 }, { "no-end", "cut short", 0 } },
    .nremarks = 2,
};

static struct event *random_events(size_t n, uint64_t seed)
{
    struct event *e = calloc(n, sizeof *e);
    assert_non_null(e);
    for (size_t i = 0; i < n; i++) {
        e[i] = (struct event){ .kind = (uint8_t)random_below(&seed, EVENT_NKINDS),
                               .flags = (uint32_t)random_next(&seed) & 0x1ff,
                               .pc = 0x8c010000 + 2 * random_below(&seed, 1000),
                               .c1 = i * 100 + random_below(&seed, 100),
                               .time_cycles = i * 150,
                               .host_ns = 1000 * i,
                               .sp = 0x8cff0000 - 4 * random_below(&seed, 100) };
        e[i].target = random_below(&seed, 3) ? e[i].pc + 4 : random_next(&seed);
        if (random_below(&seed, 10) == 0) {
            e[i].c1 = random_next(&seed);
            e[i].c2 = random_next(&seed);
            e[i].amount = random_next(&seed);
            e[i].sp = (uint32_t)random_next(&seed);
            e[i].vector = (uint16_t)random_next(&seed);
            e[i].cause = (uint8_t)random_next(&seed);
            e[i].context = (uint32_t)random_next(&seed);
            e[i].host_ns = UINT64_MAX;
        }
    }
    return e;
}

static void expect_same(const struct event *a, const struct event *b, size_t n)
{
    for (size_t i = 0; i < n; i++) {
        assert_int_equal(a[i].kind, b[i].kind);
        assert_int_equal(a[i].flags, b[i].flags);
        assert_int_equal(a[i].pc, b[i].pc);
        assert_int_equal(a[i].target, b[i].target);
        assert_int_equal(a[i].c1, b[i].c1);
        assert_int_equal(a[i].c2, b[i].c2);
        assert_int_equal(a[i].time_cycles, b[i].time_cycles);
        assert_int_equal(a[i].host_ns, b[i].host_ns);
        assert_int_equal(a[i].amount, b[i].amount);
        assert_int_equal(a[i].sp, b[i].sp);
        assert_int_equal(a[i].vector, b[i].vector);
        assert_int_equal(a[i].cause, b[i].cause);
        assert_int_equal(a[i].context, b[i].context);
    }
}

static void write_file(const char *path, const struct event *e, size_t n)
{
    struct recording_writer *w;
    struct err err = { .code = ERR_OK };
    uint64_t seed = 5;
    if (recording_create(path, &header, &w, &err) < 0)
        fail_msg("%s", err.what);
    for (size_t i = 0; i < n;) {
        size_t some = 1 + random_below(&seed, 3000);
        some = some < n - i ? some : n - i;
        assert_int_equal(recording_write(w, e + i, some, &err), 0);
        i += some;
    }
    struct recording_end end = end_info;
    end.events = n;
    assert_int_equal(recording_finish(w, &end, &err), 0);
}

/* All events of a recording, in pieces of odd sizes. */
static size_t read_all(struct recording *r, struct event *out, size_t cap)
{
    size_t n = 0;
    int got;
    while ((got = recording_read(r, out + n, cap - n < 777 ? cap - n : 777, NULL)) > 0)
        n += (size_t)got;
    assert_int_equal(got, 0);
    return n;
}

static void recording__written_and_read__same_events_and_header(void **state)
{
    static const size_t sizes[] = { 0, 1, RECORDING_BLOCK_EVENTS, RECORDING_BLOCK_EVENTS + 1,
                                    MANY };
    (void)state;
    char *folder = temp_folder(), *path = temp_path(folder, "run.rec");
    struct event *e = random_events(MANY, 3), *back = calloc(MANY + 1, sizeof *back);
    for (size_t i = 0; i < ARRAY_LEN(sizes); i++) {
        struct recording *r;
        write_file(path, e, sizes[i]);
        assert_int_equal(recording_open(path, &r, NULL), 0);
        assert_int_equal(read_all(r, back, MANY + 1), sizes[i]);
        expect_same(e, back, sizes[i]);
        assert_null(recording_damage(r));
        assert_non_null(recording_end_info(r));
        assert_memory_equal(&recording_end_info(r)->time, &end_info.time, sizeof end_info.time);
        assert_true(recording_end_info(r)->icache_enabled);
        assert_string_equal(recording_end_info(r)->note, end_info.note);
        assert_int_equal(recording_end_info(r)->nremarks, 2);
        assert_int_equal(recording_end_info(r)->remark[0].count, 3);
        assert_string_equal(recording_end_info(r)->remark[0].kind, "bad-bytes");
        assert_string_equal(recording_end_info(r)->remark[0].text, end_info.remark[0].text);
        assert_string_equal(recording_end_info(r)->remark[1].text, "cut short");
        recording_close(r);
    }
    free(e);
    free(back);
    free(path);
    temp_remove(folder);
}

static void recording__header__every_field_comes_back(void **state)
{
    (void)state;
    char *folder = temp_folder(), *path = temp_path(folder, "run.rec");
    struct recording *r;
    write_file(path, NULL, 0);
    assert_int_equal(recording_open(path, &r, NULL), 0);
    const struct recording_header *h = recording_header(r);
    assert_string_equal(h->program, header.program);
    assert_string_equal(h->target, header.target);
    assert_string_equal(h->probe, header.probe);
    assert_string_equal(h->elf, header.elf);
    assert_int_equal(h->build_id_len, header.build_id_len);
    assert_true(h->code_sum == header.code_sum);
    assert_memory_equal(h->build_id, header.build_id, header.build_id_len);
    for (int i = 0; i < 2; i++) {
        assert_int_equal(h->counter[i].code, header.counter[i].code);
        assert_string_equal(h->counter[i].name, header.counter[i].name);
        assert_string_equal(h->counter[i].unit, header.counter[i].unit);
    }
    assert_int_equal(h->when, header.when);
    assert_true(h->has_start);
    assert_int_equal(h->start, header.start);
    assert_int_equal(h->nstops, 2);
    assert_int_equal(h->stops[0], header.stops[0]);
    assert_int_equal(h->stops[1], header.stops[1]);
    assert_int_equal(h->irq_filter, IRQ_FILTER_AUTO);
    assert_int_equal(h->max_passes, 19);
    assert_true(h->address_cached);
    assert_int_equal(h->canonical_mask, 0x1fffffff);
    recording_close(r);
    free(path);
    temp_remove(folder);
}

/* A writer that died: everything up to the last whole block, and the offset where it ends. */
static void recording__cut_at_every_length__blocks_before_it_are_used(void **state)
{
    (void)state;
    size_t len, whole = 0;
    char *folder = temp_folder(), *path = temp_path(folder, "run.rec");
    struct event *e = random_events(MANY, 4), *back = calloc(MANY + 1, sizeof *back);
    write_file(path, e, MANY);
    uint8_t *data = load_file(path, &len);
    for (size_t n = 0; n < len; n += n < 400 || n >= len - 150 ? 1 : MIN(len / 97, len - 150 - n)) {
        struct recording *r = NULL;
        struct err err = { .code = ERR_OK };
        uint8_t *exact = malloc(n ? n : 1);
        memcpy(exact, data, n);
        if (recording_open_bytes(exact, n, &r, &err) < 0) {
            assert_int_equal(err.code, ERR_FORMAT);
            assert_true(n < 600);
        } else {
            size_t got = read_all(r, back, MANY + 1);
            assert_true(got == MANY || got % RECORDING_BLOCK_EVENTS == 0);
            assert_true(got >= whole);
            whole = got;
            expect_same(e, back, got);
            const char *damage = recording_damage(r);
            assert_non_null(damage);
            assert_non_null(strstr(damage, "at offset "));
            assert_non_null(strstr(damage, "events before it are used"));
            assert_null(recording_end_info(r));
            recording_close(r);
        }
        free(exact);
    }
    assert_int_equal(whole, MANY);
    free(data);
    free(e);
    free(back);
    free(path);
    temp_remove(folder);
}

static void recording__any_byte_changed__noticed(void **state)
{
    (void)state;
    size_t len;
    char *folder = temp_folder(), *path = temp_path(folder, "run.rec");
    struct event *e = random_events(500, 4), *back = calloc(501, sizeof *back);
    write_file(path, e, 500);
    uint8_t *data = load_file(path, &len);
    for (size_t at = 0; at < len; at += at < 60 || at > len - 200 ? 1 : 17) {
        struct recording *r = NULL;
        data[at] ^= 0x10;
        if (recording_open_bytes(data, len, &r, NULL) == 0) {
            size_t got = read_all(r, back, 501);
            expect_same(e, back, got);
            assert_non_null(recording_damage(r));
            recording_close(r);
        }
        data[at] ^= 0x10;
    }
    free(data);
    free(e);
    free(back);
    free(path);
    temp_remove(folder);
}

static void recording__bytes_behind_the_end__reported(void **state)
{
    (void)state;
    size_t len;
    struct recording *r;
    struct event one;
    char *folder = temp_folder(), *path = temp_path(folder, "run.rec");
    write_file(path, NULL, 0);
    uint8_t *data = load_file(path, &len);
    data = realloc(data, len + 1);
    data[len] = 0;
    assert_int_equal(recording_open_bytes(data, len + 1, &r, NULL), 0);
    assert_int_equal(recording_read(r, &one, 1, NULL), 0);
    assert_non_null(strstr(recording_damage(r), "behind"));
    recording_close(r);
    free(data);
    free(path);
    temp_remove(folder);
}

static void recording__not_finished__part_file_is_readable(void **state)
{
    (void)state;
    struct recording_writer *w;
    struct recording *r;
    struct err err = { .code = ERR_OK };
    char *folder = temp_folder(), *path = temp_path(folder, "run.rec"),
         *part = temp_path(folder, "run.rec.part");
    struct event *e = random_events(10, 9), back[20];
    assert_int_equal(recording_create(path, &header, &w, NULL), 0);
    assert_int_equal(recording_write(w, e, 10, NULL), 0);
    assert_int_equal(recording_flush(w, NULL), 0);
    assert_true(recording_bytes(w) > 100);
    assert_int_equal(recording_open(path, &r, &err), -ERR_NOT_FOUND);
    assert_int_equal(recording_open(part, &r, NULL), 0);
    assert_int_equal(recording_read(r, back, 20, NULL), 10);
    expect_same(e, back, 10);
    assert_int_equal(recording_read(r, back, 20, NULL), 0);
    assert_non_null(strstr(recording_damage(r), "not finished"));
    recording_close(r);
    recording_abandon(w);
    assert_int_equal(access(part, F_OK), -1);
    free(e);
    free(path);
    free(part);
    temp_remove(folder);
}

static void write_recording(const char *path, size_t n, int result)
{
    struct recording_writer *w;
    struct event *e = random_events(n + 1, 9);
    assert_int_equal(recording_create(path, &header, &w, NULL), 0);
    assert_int_equal(recording_write(w, e, n, NULL), 0);
    assert_int_equal(recording_finish(w, &end_info, NULL), result);
    free(e);
}

static size_t events_in(const char *path)
{
    struct recording *r;
    struct event *back = calloc(MANY, sizeof *back);
    assert_int_equal(recording_open(path, &r, NULL), 0);
    size_t n = (size_t)read_all(r, back, MANY);
    recording_close(r);
    free(back);
    return n;
}

static void recording__nothing_to_record__what_was_there_stays(void **state)
{
    (void)state;
    char *folder = temp_folder(), *path = temp_path(folder, "run.rec"),
         *part = temp_path(folder, "run.rec.part");
    write_recording(path, 0, 0); /* nothing was there */
    assert_int_equal(events_in(path), 0);
    write_recording(path, 10, 0);
    assert_int_equal(chmod(path, 0620), 0);
    write_recording(path, 0, 1);
    assert_int_equal(events_in(path), 10);
    write_recording(path, 20, 0);
    assert_int_equal(events_in(path), 20);
    struct stat st;
    assert_int_equal(stat(path, &st), 0);
    assert_int_equal(st.st_mode & 0777, 0620);
    assert_int_equal(access(part, F_OK), -1);
    free(path);
    free(part);
    temp_remove(folder);
}

/* What is at path.part: nothing is lost of it that is worth anything. */
static void
recording__part_that_is_there__kept_under_another_name_if_it_holds_anything(void **state)
{
    static const struct {
        const char *text;
        size_t events;
        bool kept;
    } rows[] = { { "", 0, false }, { NULL, 0, false }, { NULL, 5, true }, { "notes", 0, true } };
    (void)state;
    for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
        char *folder = temp_folder(), *path = temp_path(folder, "run.rec"),
             *part = temp_path(folder, "run.rec.part"),
             *first = temp_path(folder, "run.rec.part.1"),
             *second = temp_path(folder, "run.rec.part.2");
        print_message("  row %zu\n", i);
        FILE *f = fopen(rows[i].text ? part : path, "w");
        fputs(rows[i].text ? rows[i].text : "", f);
        fclose(f);
        f = fopen(first, "w");
        fclose(f);
        struct recording_writer *w;
        if (!rows[i].text) {
            write_recording(path, rows[i].events, 0);
            assert_int_equal(rename(path, part), 0);
        }
        assert_int_equal(recording_create(path, &header, &w, NULL), 0);
        assert_int_equal(recording_kept(w) != NULL, rows[i].kept);
        if (rows[i].kept)
            assert_string_equal(recording_kept(w), second);
        recording_abandon(w);
        if (rows[i].events)
            assert_int_equal(events_in(second), rows[i].events);
        assert_int_equal(access(part, F_OK), -1);
        free(path);
        free(part);
        free(first);
        free(second);
        temp_remove(folder);
    }
}

/* Processes that record to one name, over and over: each is refused or finishes, and what is there
 * is whole at any time. */
static void recording__many_at_once__a_finished_file_is_never_written_to(void **state)
{
    enum { PROCESSES = 4, ROUNDS = 150 };
    (void)state;
    char *folder = temp_folder(), *path = temp_path(folder, "run.rec");
    write_recording(path, 3, 0);
    for (int k = 0; k < PROCESSES; k++) {
        pid_t pid = fork();
        assert_true(pid >= 0);
        for (int i = 0; pid == 0 && i < ROUNDS; i++) {
            struct recording_writer *w;
            struct event *e = random_events(4, 9);
            if (recording_create(path, &header, &w, NULL) == 0 &&
                (recording_write(w, e, 3, NULL) < 0 || recording_finish(w, &end_info, NULL) < 0))
                _exit(1);
            free(e);
        }
        if (pid == 0)
            _exit(0);
    }
    for (int status, left = PROCESSES; left > 0;) {
        assert_int_equal(events_in(path), 3);
        if (waitpid(-1, &status, WNOHANG) > 0) {
            assert_int_equal(status, 0);
            left--;
        }
    }
    free(path);
    temp_remove(folder);
}

static void recording__disk_full__error_and_what_was_written_stays(void **state)
{
    (void)state;
    struct rlimit old, limit;
    struct recording_writer *w;
    struct recording *r;
    struct err err = { .code = ERR_OK };
    char *folder = temp_folder(), *path = temp_path(folder, "run.rec"),
         *part = temp_path(folder, "run.rec.part");
    struct event *e = random_events(MANY, 9), *back = calloc(MANY, sizeof *back);
    assert_int_equal(recording_create(path, &header, &w, NULL), 0);
    assert_int_equal(recording_write(w, e, RECORDING_BLOCK_EVENTS, NULL), 0);
    signal(SIGXFSZ, SIG_IGN);
    getrlimit(RLIMIT_FSIZE, &old);
    limit = old;
    limit.rlim_cur = recording_bytes(w) + 100;
    assert_int_equal(setrlimit(RLIMIT_FSIZE, &limit), 0);
    int ret = recording_write(w, e, 2 * RECORDING_BLOCK_EVENTS, &err);
    assert_int_equal(setrlimit(RLIMIT_FSIZE, &old), 0);
    assert_int_equal(ret, -ERR_IO);
    assert_int_equal(recording_finish(w, &end_info, &err), -ERR_IO);
    assert_int_equal(access(path, F_OK), -1);
    assert_int_equal(recording_open(part, &r, NULL), 0);
    assert_int_equal(read_all(r, back, MANY), RECORDING_BLOCK_EVENTS);
    expect_same(e, back, RECORDING_BLOCK_EVENTS);
    assert_non_null(strstr(recording_damage(r), "cut short"));
    recording_close(r);
    free(e);
    free(back);
    free(path);
    free(part);
    temp_remove(folder);
}

static void recording__no_recording__refused(void **state)
{
    static const struct {
        const char *name;
        const char *bytes;
        size_t len;
    } rows[] = {
        { "empty", "", 0 },
        { "text", "hello, world, this is no recording", 34 },
        { "magic only", "PROBEREC", 8 },
        { "magic and nothing sensible",
          "PROBEREC\377\377\377\377\377\377\377\377\377\377\377\377\377\377\377\377\377\377\377\377"
          "\377\377\377\377",
          32 },
    };
    (void)state;
    for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
        struct recording *r = NULL;
        struct err err = { .code = ERR_OK };
        print_message("  %s\n", rows[i].name);
        assert_int_equal(
            recording_open_bytes((const uint8_t *)rows[i].bytes, rows[i].len, &r, &err),
            -ERR_FORMAT);
        assert_null(r);
        assert_string_not_equal(err.hint, "");
    }
    assert_false(recording_is((const uint8_t *)"PROBERE", 7));
    assert_true(recording_is((const uint8_t *)"PROBEREC", 8));
}

/* Everything a run shows can be computed again from its recording. */
static void replay_into(struct recording *r, struct memory_sink *json, struct memory_sink *tree)
{
    struct event events[7];
    struct symbols *s;
    struct calltree *t;
    struct profile *p;
    struct filter f;
    size_t n_all, at = 0;
    int n;
    const struct event *all = sample_events(&n_all);
    assert_int_equal(symbols_open(FIXTURES "small-le.elf", &s, NULL), 0);
    assert_int_equal(
        calltree_new(&(struct calltree_config){ .resolve = symbols_range, .resolve_ctx = s }, &t,
                     NULL),
        0);
    filter_init(&f, &(struct filter_config){ .exclude_interrupts = true });
    for (;;) {
        n = r ? recording_read(r, events, 7, NULL) : (int)(n_all - at < 7 ? n_all - at : 7);
        if (n <= 0)
            break;
        if (!r)
            memcpy(events, all + at, (size_t)n * sizeof *events);
        at += (size_t)n;
        calltree_feed(t, events, filter_events(&f, events, (size_t)n));
    }
    assert_int_equal(at, n_all);
    assert_int_equal(profile_build(t, s, NULL, &p, NULL), 0);
    report_json(p, sink_to(json));
    report_tree(p, &(struct report_options){ 0 }, sink_to(tree));
    profile_free(p);
    calltree_free(t);
    symbols_close(s);
}

static void recording__replayed__same_result_as_live(void **state)
{
    (void)state;
    size_t n;
    char *folder = temp_folder(), *path = temp_path(folder, "run.rec");
    struct memory_sink live_json = { 0 }, live_tree = { 0 }, json = { 0 }, tree = { 0 };
    struct recording *r;
    const struct event *e = sample_events(&n);
    write_file(path, e, n);
    assert_int_equal(recording_open(path, &r, NULL), 0);
    replay_into(NULL, &live_json, &live_tree);
    replay_into(r, &json, &tree);
    assert_null(recording_damage(r));
    assert_string_equal(sink_text(&json), sink_text(&live_json));
    assert_string_equal(sink_text(&tree), sink_text(&live_tree));
    assert_non_null(strstr(sink_text(&tree), "list_sum"));
    recording_close(r);
    sink_free(&live_json);
    sink_free(&live_tree);
    sink_free(&json);
    sink_free(&tree);
    free(path);
    temp_remove(folder);
}

/* Call, work, return: what compresses in practice. Two bytes an event at most, or disks fill in
 * days. */
static void recording__usual_events__compress_well(void **state)
{
    (void)state;
    char *folder = temp_folder(), *path = temp_path(folder, "run.rec");
    struct event *e = calloc(100000, sizeof *e);
    uint64_t seed = 8;
    size_t len;
    for (size_t i = 0; i < 100000; i++) {
        uint32_t site = 0x8c010000 + 0x20 * (uint32_t)(i / 2 % 7);
        e[i] = (struct event){ .kind = i % 2 ? EVENT_RETURN : EVENT_CALL,
                               .pc = i % 2 ? 0x8c012060 : site,
                               .target = i % 2 ? site + 4 : 0x8c012000,
                               .sp = 0x8cff0000,
                               .c1 = i * 40 + random_below(&seed, 8),
                               .c2 = i / 100,
                               .time_cycles = i * 130,
                               .host_ns = i / 64 * 100000 };
        e[i].flags = EVENT_HAS_PC | EVENT_HAS_TARGET | EVENT_HAS_C1 | EVENT_HAS_C2 | EVENT_HAS_SP |
                     EVENT_HAS_TIME;
    }
    write_file(path, e, 100000);
    free(load_file(path, &len));
    print_message("  %.2f bytes per event\n", (double)len / 100000);
    assert_true(len < 200000);
    free(e);
    free(path);
    temp_remove(folder);
}

static void recording__crc__standard_check_value(void **state)
{
    (void)state;
    /* CRC-32's own test vector */
    assert_int_equal(recording_crc(0, (const uint8_t *)"123456789", 9), 0xCBF43926);
    assert_int_equal(
        recording_crc(recording_crc(0, (const uint8_t *)"1234", 4), (const uint8_t *)"56789", 5),
        0xCBF43926);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(recording__written_and_read__same_events_and_header),
        cmocka_unit_test(recording__header__every_field_comes_back),
        cmocka_unit_test(recording__cut_at_every_length__blocks_before_it_are_used),
        cmocka_unit_test(recording__any_byte_changed__noticed),
        cmocka_unit_test(recording__bytes_behind_the_end__reported),
        cmocka_unit_test(recording__not_finished__part_file_is_readable),
        cmocka_unit_test(recording__nothing_to_record__what_was_there_stays),
        cmocka_unit_test(
            recording__part_that_is_there__kept_under_another_name_if_it_holds_anything),
        cmocka_unit_test(recording__many_at_once__a_finished_file_is_never_written_to),
        cmocka_unit_test(recording__disk_full__error_and_what_was_written_stays),
        cmocka_unit_test(recording__no_recording__refused),
        cmocka_unit_test(recording__replayed__same_result_as_live),
        cmocka_unit_test(recording__usual_events__compress_well),
        cmocka_unit_test(recording__crc__standard_check_value),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
