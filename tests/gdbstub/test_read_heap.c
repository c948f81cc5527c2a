/* A GDB that reads memory makes nobody allocate: from its bytes to the scan and back, over the real
 * drivers and the simulated boards. The linker leads every malloc, calloc and realloc of the
 * libraries here (--wrap). */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "gdbstub/gdbstub.h"
#include "gdbstub/rsp.h"
#include "probe/base/util.h"
#include "probe/probe.h"
#include "targets/s12z/s12z.h"
#include "targets/sh4/sh4.h"
#include "targets/sim/s12z/board.h"
#include "targets/sim/sh4/board.h"

void *__real_malloc(size_t n);
void *__real_calloc(size_t n, size_t size);
void *__real_realloc(void *p, size_t n);
void *__wrap_malloc(size_t n);
void *__wrap_calloc(size_t n, size_t size);
void *__wrap_realloc(void *p, size_t n);

static unsigned heap_calls;

void *__wrap_malloc(size_t n)
{
    heap_calls++;
    return __real_malloc(n);
}

void *__wrap_calloc(size_t n, size_t size)
{
    heap_calls++;
    return __real_calloc(n, size);
}

void *__wrap_realloc(void *p, size_t n)
{
    heap_calls++;
    return __real_realloc(p, n);
}

/* ---- a board, a driver, a session ---- */

struct rig {
    struct probe *probe;
    struct target *t;
    struct stub *stub;
    struct session *s;
};

static void rig_open(struct rig *r, const char *spec, bool sh4)
{
    static const struct sim_board_type *const boards[] = { &sh4_board_sh7750, &s12z_board_zvml128,
                                                           NULL };
    const struct probe_config cfg = { .boards = boards };
    struct target_stop stop;
    struct err err = { .code = ERR_OK };
    int ret = probe_open(spec, &cfg, &r->probe, &err);
    if (ret == 0 && sh4)
        ret = sh4_open(r->probe, &(struct sh4_options){ .allow_private = true }, &r->t, &err);
    else if (ret == 0)
        ret = s12z_open(r->probe, &(struct s12z_options){ .chip = "s12zvml128" }, &r->t, &err);
    if (ret == 0)
        ret = r->t->ops->attach(r->t, &err);
    if (ret == 0)
        ret = r->t->ops->reset(r->t, RESET_HALT, &err);
    if (ret == 0)
        ret = r->t->ops->poll(r->t, 300000000, &stop, &err);
    const struct stub_config stub = { .target = r->t, .version = "x" };
    if (ret < 0 || stub_new(&stub, &r->stub, &err) < 0 ||
        session_open(r->stub, NULL, NULL, &r->s, &err) < 0)
        fail_msg("%s: %s", spec, err.what);
}

static void rig_close(struct rig *r)
{
    stub_free(r->stub);
    r->t->ops->close(r->t);
    probe_close(r->probe);
}

/* One packet; its answer is sent. Returns the heap calls it took, *answer its payload bytes. */
static unsigned exchange_packet(struct rig *r, const char *payload, size_t *answer)
{
    char frame[64];
    const uint8_t *out;
    struct err err;
    int n = snprintf(frame, sizeof frame, "$%s#%02x", payload,
                     rsp_checksum((const uint8_t *)payload, strlen(payload)));
    unsigned before = heap_calls;
    assert_int_equal(session_feed(r->s, (const uint8_t *)frame, (size_t)n, &err), n);
    unsigned calls = heap_calls - before;
    size_t pending = session_pending(r->s, &out);
    if (pending > 5 && out[1] == '$' && out[2] == 'E')
        fail_msg("%s: %.*s", payload, (int)pending, (const char *)out);
    *answer = pending - 5; /* +, $, #, sum */
    session_sent(r->s, pending);
    return calls;
}

static void reading_memory__any_length__allocates_nothing(void **state)
{
    static const struct {
        const char *spec;
        bool sh4;
        uint32_t ram;
    } boards[] = { { "sim:sh7750,cpu=100M", true, 0x8C010000 },
                   { "sim:s12zvml128", false, 0x1100 } };
    static const struct {
        char packet;
        uint32_t offset;
        size_t bytes;
    } rows[] = {
        { 'm', 0, 4 },      { 'm', 1, 7 },  { 'm', 0, 64 },     { 'm', 0, 4096 },
        { 'm', 0, 0x8000 }, { 'x', 0, 64 }, { 'x', 0, 0x7000 },
    };
    (void)state;
    for (size_t b = 0; b < ARRAY_LEN(boards); b++) {
        struct rig r = { 0 };
        unsigned before = heap_calls;
        rig_open(&r, boards[b].spec, boards[b].sh4);
        assert_true(heap_calls > before); /* they are counted */
        for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
            char packet[32];
            size_t answer;
            if (!boards[b].sh4 && rows[i].bytes > 4096) /* its RAM is 8 KB */
                continue;
            snprintf(packet, sizeof packet, "%c%x,%zx", rows[i].packet,
                     boards[b].ram + rows[i].offset, rows[i].bytes);
            unsigned calls = exchange_packet(&r, packet, &answer);
            print_message("  %s %s: %u heap calls\n", boards[b].spec, packet, calls);
            assert_true(answer >= (rows[i].packet == 'm' ? 2 : 1) * rows[i].bytes);
            assert_int_equal(calls, 0);
        }
        rig_close(&r);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(reading_memory__any_length__allocates_nothing),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
