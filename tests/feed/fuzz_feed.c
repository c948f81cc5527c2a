/* A program, folds, marks, clears and readers, all by the input's bytes: what rig.h says holds of
 * every state, and at the end of every reader. */
#include <stddef.h>
#include <stdint.h>

#include "tests/feed/rig.h"

enum { MOST_STEPS = 24 };

struct input {
    const uint8_t *at;
    size_t left;
    uint64_t more; /* behind its end the last bytes go on as numbers of their own */
};

static uint32_t pick_below(void *ctx, uint32_t n)
{
    struct input *in = ctx;
    uint32_t v;
    if (!n)
        return 0;
    if (in->left) {
        v = *in->at++;
        in->left--;
        in->more = in->more * 31 + v;
    } else {
        in->more = in->more * 6364136223846793005u + 1442695040888963407u;
        v = (uint32_t)(in->more >> 40);
    }
    return n > 256 ? (uint32_t)((v * 2654435761u) % n) : v % n;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t n);
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t n)
{
    struct input in = { data, n, 1 };
    uint32_t kind = pick_below(&in, 64), steps = 1 + pick_below(&in, MOST_STEPS);
    struct rig *r = rig_new(&(struct rig_config){ .pick = pick_below,
                                                  .ctx = &in,
                                                  .functions = kind & 1 ? 300 : 6,
                                                  .depth = kind & 2 ? 40 : 6,
                                                  .estimated = kind & 4,
                                                  .samples = (kind & 24) == 24,
                                                  .clears = kind & 8,
                                                  .nodes = kind & 16 ? 256 : 65536,
                                                  .most_paths = kind & 32 ? 20 : 0 });
    for (uint32_t k = 0; k < steps; k++) {
        rig_run(r, pick_below(&in, 60));
        if (pick_below(&in, 2))
            rig_bustle(r);
        rig_fold(r);
        rig_read(r);
    }
    rig_check(r);
    rig_free(r);
    return 0;
}
