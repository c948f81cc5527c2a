/* The reader of frames against any bytes: what it takes is in order, what it refuses says where and
 * what to do, in one piece or in two. */
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "probe/base/util.h"
#include "profiler/feed/follow.h"
#include "tests/feed/rig_priv.h"

static void check_tables(const struct follow *w)
{
    size_t nf, nn, n;
    const struct follow_function *f = follow_functions(w, &nf);
    const struct follow_node *node = follow_nodes(w, &nn);
    for (size_t i = 0; i < nf; i++)
        REQUIRE(f[i].name);
    for (size_t i = 0; i < nn; i++) {
        REQUIRE(node[i].function < nf && (!i || node[i].id > node[i - 1].id));
        REQUIRE(node[i].parent == FEED_NO_PARENT ||
                (node[i].parent < node[i].id && follow_node(w, node[i].parent)));
    }
    const struct follow_entry *e = follow_log(w, &n);
    for (size_t i = 1; i < n; i++)
        REQUIRE(e[i].number > e[i - 1].number);
    const struct follow_handler *h = follow_handlers(w, &n);
    for (size_t i = 0; i < n; i++)
        REQUIRE(h[i].function < nf);
}

/* Whether all of it was taken. */
static bool follow_all(const uint8_t *data, size_t n, size_t cut, struct follow **out)
{
    struct follow *w;
    struct err err = { .code = ERR_OK };
    char position[FEED_POSITION_TEXT];
    REQUIRE(follow_new(&w, NULL) == 0);
    int ret = follow_bytes(w, (const char *)data, cut, &err);
    if (ret >= 0)
        ret = follow_bytes(w, (const char *)data + cut, n - cut, &err);
    if (ret < 0) {
        REQUIRE(*err.what && *err.hint && !follow_position(w, position));
        REQUIRE(follow_bytes(w, "\n", 1, NULL) < 0);
    } else {
        check_tables(w);
        double v;
        follow_number(w, "coverage", "ratio", &v);
        follow_text(w, "target", "state");
        follow_mark(w, 0);
    }
    *out = w;
    return ret >= 0;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t n);
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t n)
{
    struct follow *a, *b;
    bool whole = follow_all(data, n, n, &a), parts = follow_all(data, n, n / 3, &b);
    REQUIRE(whole == parts);
    if (whole) {
        size_t x, y;
        follow_nodes(a, &x);
        follow_nodes(b, &y);
        REQUIRE(x == y && follow_seq(a) == follow_seq(b) && follow_frames(a) == follow_frames(b));
    }
    follow_restart(a);
    REQUIRE(follow_bytes(a, "\n", 1, NULL) == 0);
    follow_free(a);
    follow_free(b);
    return 0;
}
