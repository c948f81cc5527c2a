#include "tests/profiler/sample.h"

#include "probe/base/util.h"
#include "tests/profiler/sink.h"

#pragma GCC diagnostic ignored "-Wmissing-field-initializers"

/* Addresses of small-le.elf. */
enum {
    MAIN = 0x8c010114,
    LIST_SUM = 0x8c010088,
    WALK_LIST = 0x8c010020,
    TREE_DEPTH = 0x8c0100f4,
    WALK_TREE = 0x8c0100b0,
    CXX = 0x8c01001a,
    NOWHERE = 0xac000000,
    VECTOR = 0x8c000600,
    SP = 0x8cff0000,
    ALL = EVENT_HAS_PC | EVENT_HAS_TARGET | EVENT_HAS_C1 | EVENT_HAS_C2 | EVENT_HAS_SP |
          EVENT_HAS_TIME
};

#define E(kind_, c1_, pc_, target_, sp_)                                                 \
    {                                                                                    \
        .kind = kind_, .c1 = c1_, .c2 = (c1_) / 50, .time_cycles = 2 * (c1_), .pc = pc_, \
        .target = target_, .sp = sp_, .flags = ALL                                       \
    }

static const struct event events[] = {
    E(EVENT_START, 1000, MAIN + 8, 0, SP),
    E(EVENT_CALL, 1010, MAIN + 10, LIST_SUM, SP),
    E(EVENT_CALL, 1020, LIST_SUM + 8, WALK_LIST, SP - 8),
    E(EVENT_RETURN, 1500, WALK_LIST + 90, LIST_SUM + 12, SP - 8),
    E(EVENT_RETURN, 1510, LIST_SUM + 20, MAIN + 14, SP),
    { .kind = EVENT_CALL,
      .c1 = 1530,
      .c2 = 30,
      .pc = MAIN + 16,
      .target = TREE_DEPTH,
      .sp = SP,
      .flags = ALL | EVENT_DOUBTFUL },
    E(EVENT_CALL, 1540, TREE_DEPTH + 8, WALK_TREE, SP - 8),
    E(EVENT_CALL, 1550, WALK_TREE + 20, WALK_TREE, SP - 24),
    E(EVENT_INTERRUPT, 1555, WALK_TREE + 4, VECTOR, SP - 40),
    E(EVENT_CALL, 1600, VECTOR + 8, CXX, SP - 60),
    E(EVENT_RETURN, 1700, CXX + 2, VECTOR + 12, SP - 60),
    E(EVENT_RTE, 1710, VECTOR + 30, WALK_TREE + 4, SP - 40),
    E(EVENT_RETURN, 1720, WALK_TREE + 60, WALK_TREE + 24, SP - 24),
    E(EVENT_RETURN, 1730, WALK_TREE + 60, TREE_DEPTH + 12, SP - 8),
    E(EVENT_RETURN, 1735, TREE_DEPTH + 20, MAIN + 20, SP),
    E(EVENT_CALL, 1740, MAIN + 24, LIST_SUM, SP),
    E(EVENT_CALL, 1745, LIST_SUM + 8, WALK_LIST, SP - 8),
    E(EVENT_RETURN, 3300, WALK_LIST + 90, LIST_SUM + 12, SP - 8),
    E(EVENT_RETURN, 3310, LIST_SUM + 20, MAIN + 28, SP),
    E(EVENT_CALL, 3320, MAIN + 32, NOWHERE, SP),
    E(EVENT_RETURN, 3400, NOWHERE + 40, MAIN + 36, SP),
    E(EVENT_STOP, 3500, MAIN + 50, 0, SP),
};

const struct event *sample_events(size_t *n)
{
    *n = ARRAY_LEN(events);
    return events;
}

struct profile *sample_profile(void)
{
    struct symbols *s;
    struct calltree *t;
    struct profile *p;
    const struct profile_info info = { .target = "sh7750",
                                       .probe = "sim:sh7750",
                                       .elf = "small-le.elf",
                                       .build_id = { 0x00, 0xff, 0x10 },
                                       .build_id_len = 3,
                                       .counter = { { 0x23, "elapsed-time", "cycles" },
                                                    { 0x08, "icache-miss", "count" } },
                                       .time = { .target_cycles = 5000,
                                                 .agent_cycles = 2500,
                                                 .board_ns = 2500000000u,
                                                 .held_ns = 500000000u,
                                                 .host_ns = 2500000000u },
                                       .when = 1795268759,
                                       .icache_enabled = true,
                                       .cache_by_address = true };
    assert_int_equal(symbols_open(FIXTURES "small-le.elf", &s, NULL), 0);
    assert_int_equal(
        calltree_new(&(struct calltree_config){ .resolve = symbols_range, .resolve_ctx = s }, &t,
                     NULL),
        0);
    calltree_feed(t, events, ARRAY_LEN(events));
    assert_int_equal(profile_build(t, s, &info, &p, NULL), 0);
    calltree_free(t);
    symbols_close(s); /* the profile has copies */
    return p;
}
