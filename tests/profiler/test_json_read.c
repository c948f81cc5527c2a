/* json_read: what report_json() writes comes back, and what is damaged is named. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "probe/base/util.h"
#include "profiler/profile/watched.h"
#include "profiler/views/json_read.h"
#include "profiler/views/report_json.h"
#include "tests/profiler/sample.h"
#include "tests/profiler/sink.h"

/* With what a trace and samples have, both. */
static char *sample_text(void)
{
    struct profile *p = sample_profile();
    struct profile_address met[] = { { 0x8c010002, 7, 0 }, { 0x8c010004, 1, 0 }, { 2, 3, 1 } };
    const uint64_t stops[] = { 0x8c010022, UINT32_MAX };
    p->points = (struct profile_points){ true, 0x8c010010, stops, ARRAY_LEN(stops) };
    p->addresses = met;
    p->naddresses = ARRAY_LEN(met);
    p->addresses_dropped = 5;
    const struct profile_live live[] = {
        { 0x8c010000,
          "main",
          { .calls = 3,
            .cut = 1,
            .live = 30,
            .work = 9,
            .below = 21,
            .least = 4,
            .most = 20,
            .histogram = { [3] = 2, [5] = 1 } } },
        { 0x8c010020, "never_whole", { .cut = 2 } },
    };
    const struct profile_site site[] = { { 0x0c010002, 4, 5, 6, false },
                                         { 0x0c010008, 1, 2, 3, true } };
    const struct profile_stretch stretch[] = { { 0x0c010000, 0x8c010000, 0x8c010006, 3, 2, 1,
                                                 true },
                                               { 0x0c010000, 0, 0x8c010008, 1, 9, 0, false },
                                               { 0x0c010020, 0x8c010024, 0, 7, 8, 9, false } };
    const struct profile_watched watched = {
        live, site, stretch, ARRAY_LEN(live), ARRAY_LEN(site), ARRAY_LEN(stretch), 11
    };
    p->watched = &watched;
    struct memory_sink m = { 0 };
    report_json(p, sink_to(&m));
    char *text = strdup(sink_text(&m));
    sink_free(&m);
    profile_free(p);
    return text;
}

static void read__what_was_written__is_written_again(void **state)
{
    (void)state;
    char *text = sample_text();
    struct profile *p = NULL;
    struct memory_sink again = { 0 };
    assert_int_equal(json_to_profile((const uint8_t *)text, strlen(text), &p, NULL), 0);
    report_json(p, sink_to(&again));
    assert_string_equal(sink_text(&again), text);
    assert_true(p->points.has_start && p->points.start == 0x8c010010);
    assert_int_equal(p->points.nstops, 2);
    assert_int_equal(p->naddresses, 3);
    assert_int_equal(p->addresses[1].hits, 1);
    assert_int_equal(p->addresses_dropped, 5);
    assert_non_null(p->watched);
    assert_int_equal(p->watched->live[0].sum.histogram[5], 1);
    assert_int_equal(p->watched->stretch[1].c1, 9);
    assert_int_equal(p->watched->dropped, 11);
    profile_free(p);
    sink_free(&again);
    free(text);
}

/* The text with the first `from` made to `to`. */
static char *replace_first(const char *text, const char *from, const char *to)
{
    const char *at = strstr(text, from);
    char *out = malloc(strlen(text) + strlen(to) + 1);
    assert_non_null(at);
    assert_non_null(out);
    sprintf(out, "%.*s%s%s", (int)(at - text), text, to, at + strlen(from));
    return out;
}

static void read__damaged__says_where(void **state)
{
    (void)state;
    static const struct {
        const char *from, *to, *said;
    } row[] = {
        { "probeprof.profile/1", "probeprof.profile/9", "probeprof.profile/9" },
        { "\"parent\": 0", "\"parent\": 99", "tree[1].parent is beyond the end" },
        { "\"function\": 0", "\"function\": 12345", "].function is beyond the end" },
        { "\"hits\": ", "\"hits\": -", "hits is no count" },
        { "\"started\": \"20", "\"started\": \"x", "started is no time of day" },
        { "\"build_id\": \"00", "\"build_id\": \"0g", "build_id is no build id" },
        { "\"description\": \"function\"", "\"description\": \"thing\"",
          "].description is not known" },
        { "\"doubtful\": true", "\"doubtful\": 1", "is neither true nor false" },
        { "\"address\": 2348875780", "\"address\": 1", "addresses[1].address is out of order" },
        { "\"function\": 1, \"hits\": 3", "\"function\": 999", "[2].function is beyond the end" },
        { "\"address\": 2348875810", "\"address\": \"f\"", "stops[0].address is no count" },
        { "\"points\": {", "\"points\": 1, \"x\": {", "points is no object" },
        { "\"histogram\": [0, ", "\"histogram\": [-1, ", "activations[0].histogram has no count" },
        { "\"cut\": 2", "\"cut\": 2.5", "activations[1].cut is no count" },
        { "\"address\": 201392136", "\"address\": 5", "call_sites[1].address is out of order" },
        { "\"at\": 201392160", "\"at\": 0", "stretches[2].at is out of order" },
        { "\"functions\": [", "\"functions\": 3, \"x\": [", "functions is no list" },
    };
    char *text = sample_text();
    for (size_t i = 0; i < ARRAY_LEN(row); i++) {
        struct err err = { .code = ERR_OK };
        struct profile *p;
        char *bad = replace_first(text, row[i].from, row[i].to);
        assert_int_equal(json_to_profile((const uint8_t *)bad, strlen(bad), &p, &err), -ERR_FORMAT);
        if (!strstr(err.what, row[i].said))
            fail_msg("%s: %s", row[i].to, err.what);
        free(bad);
    }
    free(text);
}

static void read__cut_short__says_at_which_line(void **state)
{
    (void)state;
    char *text = sample_text();
    size_t len = strlen(text);
    for (size_t n = 0; n + 2 < len; n += 1 + n / 7) {
        struct err err = { .code = ERR_OK };
        struct profile *p;
        assert_int_equal(json_to_profile((const uint8_t *)text, n, &p, &err), -ERR_FORMAT);
        assert_non_null(strstr(err.what, "line "));
    }
    free(text);
}

static bool is_profile(const char *text)
{
    return json_is_profile((const uint8_t *)text, strlen(text));
}

static void is_profile__by_its_schema(void **state)
{
    (void)state;
    assert_true(is_profile("{\n  \"schema\": \"probeprof.profile/1\","));
    assert_true(is_profile(" {\"schema\":\"probeprof.profile/7\""));
    assert_false(
        is_profile("{\"$schema\": \"https://www.speedscope.app/file-format-schema.json\""));
    assert_false(is_profile("main;probeprof.profile/1 12"));
    assert_false(is_profile(""));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(read__what_was_written__is_written_again),
        cmocka_unit_test(read__damaged__says_where),
        cmocka_unit_test(read__cut_short__says_at_which_line),
        cmocka_unit_test(is_profile__by_its_schema),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
