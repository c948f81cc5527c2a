/* Any lines over any program: the walker ends, its counts hold together, and the totals say what
 * the blocks say. */
#include <stdlib.h>
#include <string.h>

#include "probe/base/bytes.h"
#include "targets/s12z/trace/flow.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

enum { CODE = 0xFE0000, CODE_BYTES = 512 };

static void note_event(void *ctx, const struct event *e)
{
    uint64_t *n = ctx;
    ++*n;
    if (e->kind >= EVENT_NKINDS)
        abort();
}

static int add_block(void *ctx, uint32_t low, uint32_t high, uint64_t count)
{
    (void)count;
    *(uint64_t *)ctx += high > low;
    if (high <= low)
        abort();
    return 0;
}

static int add_branch(void *ctx, uint32_t pc, uint64_t taken, uint64_t not_taken)
{
    (void)pc;
    *(uint64_t *)ctx += taken + not_taken;
    return 0;
}

/* Half of the input, up to 512 bytes, is the program; the rest lines. Addresses are folded into the
 * program, or nothing would fit. */
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct s12z_settings set = s12z_settings_default();
    uint8_t code[CODE_BYTES] = { 0 }, vectors[512];
    size_t ncode = size / 2 < CODE_BYTES ? size / 2 : CODE_BYTES;
    uint64_t events = 0, blocks = 0, branches = 0;
    struct s12z_flow *f;
    uint32_t pc;
    memcpy(code, data, ncode);
    for (unsigned k = 0; k < 128; k++)
        put_be32(vectors + 4 * k, CODE + 3 * k);
    struct image_section s[2] = { { ".text", CODE, CODE_BYTES, code, true, false },
                                  { ".vectors", 0xFFFE00, 512, vectors, false, false } };
    struct image im = { .sections = s, .nsections = 2, .big_endian = true };
    if (s12z_flow_new(&im, &set, note_event, &events, &f, NULL) < 0)
        abort();
    for (size_t k = ncode; k + 8 <= size; k += 8) {
        struct s12z_line l;
        struct err err = { .code = ERR_OK };
        if (s12z_line_decode(le64(data + k), &set, &l, &err) < 0)
            continue;
        l.address = CODE + l.address % (CODE_BYTES + 8);
        int ret = s12z_flow_line(f, &l, &err);
        if ((ret < 0) != (err.code != ERR_OK) || (ret < 0 && s12z_flow_synchronised(f)))
            abort();
        if (s12z_flow_check(f, &pc))
            abort();
    }
    if (s12z_flow_blocks(f, add_block, &blocks) < 0 ||
        s12z_flow_branches(f, add_branch, &branches) < 0)
        abort();
    if (branches != s12z_flow_totals(f)->branches)
        abort();
    s12z_flow_free(f);
    return 0;
}
