/* A live run and the replay of its recording are one piece of code with one result. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>
#include <stdio.h>
#include <sys/resource.h>
#include <signal.h>

#include "probe/base/util.h"
#include "profiler/cli/replay.h"
#include "profiler/cli/parts.h"
#include "profiler/views/report_json.h"

#define ELF SOURCE_DIR "/docs/examples/profexam/profexam.elf"

struct fixture {
    char dir[64], path[96];
    struct symbols *symbols;
    struct recording_header header;
    struct event events[4096];
    size_t n;
};

static void add_event(struct fixture *fx, uint8_t kind, uint64_t pc, uint64_t target, uint64_t cost)
{
    uint64_t c1 = fx->n ? fx->events[fx->n - 1].c1 : 0;
    assert_true(fx->n < ARRAY_LEN(fx->events));
    fx->events[fx->n++] = (struct event){
        .kind = kind,
        .pc = pc,
        .target = target,
        .c1 = c1 + cost,
        .c2 = (c1 + cost) / 100,
        .sp = 0x0cff0000,
        .time_cycles = (c1 + cost) * 2,
        .flags = EVENT_HAS_PC | EVENT_HAS_TARGET | EVENT_HAS_C1 | EVENT_HAS_C2 | EVENT_HAS_SP |
                 EVENT_HAS_TIME,
    };
}

static uint64_t address_of(const struct fixture *fx, const char *name)
{
    uint64_t a = 0;
    assert_true(symbols_lookup(fx->symbols, name, &a));
    return a;
}

/* A pass of profexam with 20 nodes: what its trace looks like. */
static void add_pass(struct fixture *fx)
{
    uint64_t main_ = address_of(fx, "main"), init = address_of(fx, "Initialise"),
             build = address_of(fx, "BuildList"), new = address_of(fx, "GetNewNode"),
             malloc_ = address_of(fx, "MallocNode"), last = address_of(fx, "GetLastNode");
    add_event(fx, EVENT_START, main_ + 8, main_ + 8, 0);
    add_event(fx, EVENT_CALL, main_ + 10, init, 3);
    add_event(fx, EVENT_RETURN, init + 30, main_ + 14, 20);
    add_event(fx, EVENT_CALL, main_ + 16, build, 3);
    for (int i = 0; i < 20; i++) {
        add_event(fx, EVENT_CALL, build + 30, new, 10);
        add_event(fx, EVENT_CALL, new + 20, malloc_, 8);
        add_event(fx, EVENT_RETURN, malloc_ + 50, new + 24, 25);
        add_event(fx, EVENT_RETURN, new + 70, build + 34, 12);
        add_event(fx, EVENT_CALL, build + 40, last, 5);
        add_event(fx, EVENT_RETURN, last + 60, build + 44, (uint64_t)i * 15);
    }
    add_event(fx, EVENT_RETURN, build + 130, main_ + 20, 9);
    add_event(fx, EVENT_STOP, main_ + 20, main_ + 8, 2);
}

static int set_up_capture(void **state)
{
    static const char pattern[] = "/tmp/probeprof-capture-XXXXXX";
    struct fixture *fx = test_calloc(1, sizeof *fx);
    *state = fx;
    memcpy(fx->dir, pattern, sizeof pattern);
    if (!mkdtemp(fx->dir) || symbols_open(ELF, &fx->symbols, NULL) < 0 ||
        part_prepare_symbols(fx->symbols, "sh7750", NULL) < 0)
        return -1;
    snprintf(fx->path, sizeof fx->path, "%s/run.rec", fx->dir);
    const struct image *im = symbols_image(fx->symbols);
    fx->header = (struct recording_header){
        .program = "test",
        .target = "sh7750",
        .probe = "sim:sh7750",
        .elf = ELF,
        .build_id_len = im->build_id_len,
        .counter = { { 0x23, "elapsed-time", "cycles" }, { 8, "icache-miss", "count" } },
        .when = 1795000000,
        .address_cached = true,
    };
    memcpy(fx->header.build_id, im->build_id, im->build_id_len);
    return 0;
}

static int tear_down_capture(void **state)
{
    struct fixture *fx = *state;
    char part[128];
    unlink(fx->path);
    snprintf(part, sizeof part, "%s.part", fx->path);
    unlink(part);
    int ret = rmdir(fx->dir);
    symbols_close(fx->symbols);
    test_free(fx);
    return ret;
}

static void write_text(void *ctx, const char *text, size_t len) { fwrite(text, 1, len, ctx); }

static char *json_of(const struct profile *p)
{
    char *text = NULL;
    size_t n;
    FILE *f = open_memstream(&text, &n);
    struct text_sink sink = { .write = write_text, .ctx = f };
    report_json(p, &sink);
    fclose(f);
    return text;
}

/* Feeds the events in batches of `batch`, recording; returns the JSON of the result. */
static char *run_live(struct fixture *fx, size_t batch, const struct recording_end *end)
{
    struct capture c = { 0 };
    struct profile *p;
    struct event copy[512];
    assert_int_equal(capture_open(&c, fx->symbols, &fx->header, fx->path, NULL), 0);
    for (size_t at = 0; at < fx->n; at += batch) {
        size_t n = MIN(batch, fx->n - at);
        memcpy(copy, fx->events + at, n * sizeof *copy);
        assert_int_equal(capture_feed(&c, copy, n, NULL), 0);
    }
    struct profile_info info = {
        .target = fx->header.target,
        .probe = fx->header.probe,
        .elf = fx->header.elf,
        .build_id_len = fx->header.build_id_len,
        .counter = { fx->header.counter[0], fx->header.counter[1] },
        .when = fx->header.when,
        .cache_by_address = true,
        .time = end->time,
        .icache_enabled = end->icache_enabled,
        .note = end->note,
    };
    memcpy(info.build_id, fx->header.build_id, info.build_id_len);
    assert_int_equal(capture_profile(&c, &info, &p, NULL), 0);
    assert_int_equal(capture_finish_recording(&c, end, NULL), 0);
    char *json = json_of(p);
    profile_free(p);
    capture_close(&c);
    return json;
}

static void remarks_of(const struct profile *p, char *text, size_t cap)
{
    text[0] = 0;
    for (size_t i = 0; i < p->info.nremarks; i++)
        snprintf(text + strlen(text), cap - strlen(text), "%s: %s\n", p->info.remarks[i].kind,
                 p->info.remarks[i].text);
}

/* warn: what the profile remarks. */
static char *replay_json(struct fixture *fx, const char *elf, char *warn, size_t cap)
{
    struct profile *p;
    struct symbols *syms;
    struct err err = { .code = ERR_OK };
    if (replay_file(fx->path, elf, &p, &syms, &err) < 0)
        fail_msg("%s", err.what);
    remarks_of(p, warn, cap);
    char *json = json_of(p);
    profile_free(p);
    symbols_close(syms);
    return json;
}

static const struct recording_end the_end = {
    .time = { .target_cycles = 123456,
              .agent_cycles = 23456,
              .board_ns = 4000000000,
              .held_ns = 900000000,
              .host_ns = 5000000000 },
    .icache_enabled = true,
    .note = "two not traced",
};

static void capture__recorded_and_replayed__the_same_document(void **state)
{
    static const size_t batches[] = { 1, 7, 512 };
    struct fixture *fx = *state;
    char warn[256];
    add_pass(fx);
    add_pass(fx);
    for (size_t i = 0; i < ARRAY_LEN(batches); i++) {
        char *live = run_live(fx, batches[i], &the_end),
             *again = replay_json(fx, NULL, warn, sizeof warn);
        assert_string_equal(live, again);
        assert_non_null(strstr(live, "\"GetLastNode\""));
        assert_string_equal(warn, "");
        free(live);
        free(again);
    }
}

/* A block count, as an S12Z's trace tells it at the end of a pass. */
static void add_block(struct fixture *fx, uint64_t low, uint64_t runs)
{
    fx->events[fx->n++] = (struct event){ .kind = EVENT_BLOCK,
                                          .pc = low,
                                          .target = low + 4,
                                          .runs = runs,
                                          .flags = EVENT_HAS_PC | EVENT_HAS_TARGET };
}

/* In the middle of a pass: that pass's blocks count what was before, too, and are left out. */
static void capture__cleared__the_recording_says_the_same(void **state)
{
    struct fixture *fx = *state;
    struct capture c = { 0 };
    struct event copy[ARRAY_LEN(fx->events)];
    struct profile *p;
    char warn[256];
    add_pass(fx);
    add_block(fx, 0x8c010000, 3);
    add_pass(fx);
    size_t middle = fx->n - 40;
    fx->events[fx->n] = fx->events[fx->n - 1]; /* the end of the pass comes behind its blocks */
    fx->n--;
    add_block(fx, 0x8c010000, 5);
    fx->n++;
    add_pass(fx);
    assert_int_equal(capture_open(&c, fx->symbols, &fx->header, fx->path, NULL), 0);
    memcpy(copy, fx->events, sizeof copy);
    assert_int_equal(capture_feed(&c, copy, middle, NULL), 0);
    assert_int_equal(capture_clear(&c, NULL), 0);
    assert_int_equal(calltree_stats(c.tree)->total_c1, 0);
    assert_int_equal(capture_feed(&c, copy + middle, fx->n - middle, NULL), 0);
    struct profile_info info = { .target = fx->header.target,
                                 .probe = fx->header.probe,
                                 .elf = fx->header.elf,
                                 .build_id_len = fx->header.build_id_len,
                                 .counter = { fx->header.counter[0], fx->header.counter[1] },
                                 .when = fx->header.when,
                                 .cache_by_address = true,
                                 .time = the_end.time,
                                 .icache_enabled = true,
                                 .note = the_end.note };
    memcpy(info.build_id, fx->header.build_id, info.build_id_len);
    assert_int_equal(capture_profile(&c, &info, &p, NULL), 0);
    assert_int_equal(capture_finish_recording(&c, &the_end, NULL), 0);
    assert_int_equal(p->nblocks, 0);
    char *live = json_of(p), *again = replay_json(fx, NULL, warn, sizeof warn);
    assert_string_equal(live, again);
    assert_string_equal(warn, "");
    long build = symbols_find(fx->symbols, address_of(fx, "BuildList"));
    assert_true(build >= 0);
    for (size_t i = 0; i < p->nfunctions; i++) /* of the third pass; the second began before */
        if (!strcmp(p->functions[i].name, "BuildList"))
            assert_int_equal(p->functions[i].hits, 1);
    free(live);
    free(again);
    profile_free(p);
    capture_close(&c);
}

/* From event number `at` on counters and time begin at 0 again: what is armed anew tells so. */
static void insert_again(struct fixture *fx, size_t at, bool forgets)
{
    const struct event was = fx->events[at - 1];
    memmove(fx->events + at + 1, fx->events + at, (fx->n - at) * sizeof fx->events[0]);
    fx->n++;
    fx->events[at] = (struct event){ .kind = EVENT_AGAIN,
                                     .counts = forgets ? 0x13 | 0x23 << 16 : 0x23 | 8 << 16,
                                     .forgets = forgets,
                                     .flags = EVENT_HAS_C1 | EVENT_HAS_C2 | EVENT_HAS_TIME };
    for (size_t i = at + 1; i < fx->n; i++) {
        fx->events[i].c1 -= was.c1;
        fx->events[i].c2 -= was.c2;
        fx->events[i].time_cycles -= was.time_cycles;
    }
}

static struct profile *profile_of(struct fixture *fx, struct symbols **syms)
{
    struct profile *p;
    struct err err = { .code = ERR_OK };
    if (replay_file(fx->path, NULL, &p, syms, &err) < 0)
        fail_msg("%s", err.what);
    return p;
}

/* In the middle of a pass, deep in its calls: their paths are known still. */
static void capture__other_counters__nothing_of_before_is_in_their_sums(void **state)
{
    static const size_t batches[] = { 1, 7, 512 };
    struct fixture *fx = *state;
    struct symbols *syms;
    char warn[256];
    add_pass(fx);
    add_pass(fx);
    const struct event last = fx->events[fx->n - 1], before = fx->events[fx->n - 41];
    insert_again(fx, fx->n - 40, true);
    for (size_t i = 0; i < ARRAY_LEN(batches); i++) {
        char *live = run_live(fx, batches[i], &the_end),
             *again = replay_json(fx, NULL, warn, sizeof warn);
        assert_string_equal(live, again);
        assert_non_null(strstr(live, "\"instructions\""));
        assert_non_null(strstr(live, "\"elapsed-time\""));
        assert_null(strstr(live, "\"icache-miss\""));
        free(live);
        free(again);
    }
    struct profile *p = profile_of(fx, &syms);
    assert_int_equal(p->total_c1, last.c1 - before.c1);
    assert_int_equal(p->total_c2, last.c2 - before.c2);
    for (size_t i = 0; i < p->nnodes; i++)
        if (p->nodes[i].parent == PROFILE_NO_PARENT)
            assert_string_equal(p->functions[p->nodes[i].function].name, "main");
    profile_free(p);
    symbols_close(syms);
}

static void capture__armed_anew__sums_go_on(void **state)
{
    struct fixture *fx = *state;
    struct symbols *syms[2];
    struct profile *p[2];
    for (int again = 0; again < 2; again++) {
        fx->n = 0;
        fx->header.irq_filter = IRQ_FILTER_AUTO;
        add_pass(fx);
        size_t from = fx->n;
        add_pass(fx);
        if (again)
            insert_again(fx, from + 33, false);
        free(run_live(fx, 512, &the_end));
        p[again] = profile_of(fx, &syms[again]);
    }
    assert_int_equal(p[0]->nfunctions, p[1]->nfunctions);
    for (size_t i = 0; i < p[0]->nfunctions; i++) {
        assert_int_equal(p[0]->functions[i].hits, p[1]->functions[i].hits);
        assert_int_equal(p[0]->functions[i].c1_children, p[1]->functions[i].c1_children);
        assert_int_equal(p[0]->functions[i].c2, p[1]->functions[i].c2);
        assert_int_equal(p[0]->functions[i].doubtful, p[1]->functions[i].doubtful);
    }
    assert_int_equal(p[0]->total_c1, p[1]->total_c1);
    for (int k = 0; k < 2; k++) {
        profile_free(p[k]);
        symbols_close(syms[k]);
    }
}

static void add_point(struct fixture *fx, uint64_t at, enum event_point point)
{
    fx->events[fx->n] = fx->events[fx->n - 1];
    fx->events[fx->n].kind = EVENT_POINT;
    fx->events[fx->n].pc = at;
    fx->events[fx->n].point = (uint8_t)point;
    fx->events[fx->n].flags = at ? EVENT_HAS_PC : 0;
    fx->n++;
}

/* A stop point without a start point ends the profile, in the recording, too. */
static void capture__points_change__decide_when_it_is_over(void **state)
{
    struct fixture *fx = *state;
    struct symbols *syms;
    add_pass(fx);
    add_point(fx, 0, EVENT_POINT_START);
    add_point(fx, 0x8c010010, EVENT_POINT_START);
    add_point(fx, 0x8c010020, EVENT_POINT_STOP);
    add_pass(fx);
    add_pass(fx);
    add_point(fx, 0, EVENT_POINT_START);
    add_point(fx, 0x8c010020, EVENT_POINT_STOP);
    add_pass(fx);
    add_pass(fx);
    free(run_live(fx, 512, &the_end));
    struct profile *p = profile_of(fx, &syms);
    for (size_t i = 0; i < p->nfunctions; i++)
        if (!strcmp(p->functions[i].name, "BuildList"))
            assert_int_equal(p->functions[i].hits, 4);
    profile_free(p);
    symbols_close(syms);
}

static void capture__passes_used_up__later_events_change_nothing(void **state)
{
    struct fixture *fx = *state;
    char warn[256];
    fx->header.max_passes = 1;
    add_pass(fx);
    char *one = run_live(fx, 64, &the_end);
    add_pass(fx);
    char *two = run_live(fx, 64, &the_end), *again = replay_json(fx, NULL, warn, sizeof warn);
    assert_string_equal(one, two);
    assert_string_equal(two, again);
    free(one);
    free(two);
    free(again);
}

static void capture__recording_without_its_elf__addresses_and_a_warning(void **state)
{
    struct fixture *fx = *state;
    char warn[256];
    fx->header.elf = "/nowhere/profexam.elf";
    add_pass(fx);
    free(run_live(fx, 64, &the_end));
    char *json = replay_json(fx, NULL, warn, sizeof warn);
    assert_non_null(strstr(warn, "/nowhere/profexam.elf"));
    assert_non_null(strstr(warn, "--elf"));
    assert_null(strstr(json, "GetLastNode"));
    free(json);
    json = replay_json(fx, ELF, warn, sizeof warn);
    assert_string_equal(warn, "");
    assert_non_null(strstr(json, "\"GetLastNode\""));
    free(json);
}

static void capture__another_build_of_the_elf__makes_no_numbers(void **state)
{
    struct fixture *fx = *state;
    struct profile *p;
    struct symbols *syms;
    struct err err = { .code = ERR_OK };
    char warn[400];
    fx->header.build_id[3] ^= 1;
    add_pass(fx);
    free(run_live(fx, 64, &the_end));
    char *json = replay_json(fx, NULL, warn, sizeof warn); /* rebuilt since: not used */
    assert_non_null(strstr(warn, "is another build"));
    assert_null(strstr(json, "GetLastNode"));
    free(json);
    assert_int_equal(replay_file(fx->path, ELF, &p, &syms, &err), -ERR_FORMAT);
    assert_non_null(strstr(err.what, "is another build"));
    assert_non_null(strstr(err.hint, "--elf"));
}

static void capture__no_build_id__is_said(void **state)
{
    struct fixture *fx = *state;
    char warn[400];
    fx->header.build_id_len = 0;
    add_pass(fx);
    free(run_live(fx, 64, &the_end));
    char *json = replay_json(fx, NULL, warn, sizeof warn);
    assert_non_null(strstr(warn, "cannot be told"));
    assert_non_null(strstr(json, "\"GetLastNode\""));
    free(json);
}

static void capture__recording_cut_short__is_used_as_far_as_it_goes(void **state)
{
    struct fixture *fx = *state;
    char warn[512];
    add_pass(fx);
    free(run_live(fx, 64, &the_end));
    assert_int_equal(truncate(fx->path, 700), 0);
    struct profile *p;
    struct symbols *syms;
    struct err err = { .code = ERR_OK };
    int ret = replay_file(fx->path, NULL, &p, &syms, &err);
    if (ret == 0) {
        remarks_of(p, warn, sizeof warn);
        assert_non_null(strstr(warn, "offset"));
        profile_free(p);
        symbols_close(syms);
    } else {
        assert_non_null(strstr(err.what, "offset"));
    }
}

static void capture__disk_full__events_count_all_the_same(void **state)
{
    struct fixture *fx = *state;
    struct capture c = { 0 };
    struct err err = { .code = ERR_OK };
    struct rlimit old;
    int failures = 0;
    signal(SIGXFSZ, SIG_IGN);
    getrlimit(RLIMIT_FSIZE, &old);
    assert_int_equal(capture_open(&c, fx->symbols, &fx->header, fx->path, NULL), 0);
    add_pass(fx);
    setrlimit(RLIMIT_FSIZE, &(struct rlimit){ 8, old.rlim_max });
    for (int round = 0; round < 100; round++) {
        struct event copy[ARRAY_LEN(fx->events)];
        memcpy(copy, fx->events, fx->n * sizeof *copy);
        failures += capture_feed(&c, copy, fx->n, &err) < 0;
    }
    setrlimit(RLIMIT_FSIZE, &old);
    assert_int_equal(failures, 1); /* said once, then recording is over */
    assert_int_equal(err.code, ERR_IO);
    assert_int_equal(calltree_stats(c.tree)->events, 100 * fx->n);
    capture_close(&c);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(capture__recorded_and_replayed__the_same_document,
                                        set_up_capture, tear_down_capture),
        cmocka_unit_test_setup_teardown(capture__cleared__the_recording_says_the_same,
                                        set_up_capture, tear_down_capture),
        cmocka_unit_test_setup_teardown(capture__other_counters__nothing_of_before_is_in_their_sums,
                                        set_up_capture, tear_down_capture),
        cmocka_unit_test_setup_teardown(capture__armed_anew__sums_go_on, set_up_capture,
                                        tear_down_capture),
        cmocka_unit_test_setup_teardown(capture__points_change__decide_when_it_is_over,
                                        set_up_capture, tear_down_capture),
        cmocka_unit_test_setup_teardown(capture__passes_used_up__later_events_change_nothing,
                                        set_up_capture, tear_down_capture),
        cmocka_unit_test_setup_teardown(capture__recording_without_its_elf__addresses_and_a_warning,
                                        set_up_capture, tear_down_capture),
        cmocka_unit_test_setup_teardown(capture__another_build_of_the_elf__makes_no_numbers,
                                        set_up_capture, tear_down_capture),
        cmocka_unit_test_setup_teardown(capture__no_build_id__is_said, set_up_capture,
                                        tear_down_capture),
        cmocka_unit_test_setup_teardown(capture__recording_cut_short__is_used_as_far_as_it_goes,
                                        set_up_capture, tear_down_capture),
        cmocka_unit_test_setup_teardown(capture__disk_full__events_count_all_the_same,
                                        set_up_capture, tear_down_capture),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
