/* The S12Z driver through pods to a part whose program changes the bus clock, before any command.
 * The fast BDC clock follows it, and V5 pods to 5.7 need that one. (A blank part changes it by
 * itself: it runs into SWI, whose frames go down through all of memory, the PLL's registers too.)
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <string.h>

#include <cmocka.h>

#include "probe/base/util.h"
#include "probe/probe.h"
#include "targets/s12z/s12z.h"
#include "targets/sim/s12z/board.h"
#include "targets/sim/s12z/board_priv.h"
#include "targets/target.h"
#include "tests/system/usb/usb_in_process.h"

extern const struct usb_model_type usb_model_usbdm, usb_model_osbdm;

enum { CPMUPOSTDIV = 0x6C6, RAM = 0x1800, MOST = 64 };
enum { USB_NS = 125000, SETTLED_NS = 1000000 };

static const struct pod {
    const char *driver, *options;
    bool fast; /* by choice */
} pods[] = { { "usbdm", "v5", false },
             { "usbdm", "v5,version=5.8.1", true },
             { "usbdm", "", true },
             { "usbdm", "", false },
             { "osbdm", "", false } };

static const struct way {
    const char *name, *board;
    uint8_t postdiv;
} ways[] = { { "50 to 6.25 MHz", "bus=50M", 3 }, { "4 to 25 MHz", "bus=4M", 0 } };

/* ---- a pod that is watched ---- */

struct rig {
    struct usb_model_type watched;
    const struct usb_model_type *type;
    struct sim_board *board;
    struct usb_model *model;
    struct probe *probe;
    struct target *t;
    unsigned commands; /* sent to the pod */
    /* the one before which the clock changes, or the next while the program runs; 0: it does not */
    unsigned changes_before;
    uint8_t postdiv;
    bool changed;
};
static struct rig *rig; /* the bus knows no context */

static struct s12z_board *board_of(struct rig *r)
{
    return CONTAINER_OF(r->board, struct s12z_board, sim);
}

static void put_byte(struct rig *r, uint32_t addr, uint8_t v)
{
    assert_int_equal(bus_write(&board_of(r)->bus, addr, 1, BUS_CPU, v), BUS_OK);
}
static uint8_t get_byte(struct rig *r, uint32_t addr)
{
    uint32_t v = 0;
    assert_int_equal(bus_read(&board_of(r)->bus, addr, 1, BUS_CPU, &v), BUS_OK);
    return (uint8_t)v;
}

static int watched_out(struct usb_model *m, uint8_t ep, const uint8_t *data, size_t len)
{
    bool runs = board_of(rig)->cpu.state == CPU_RUN;
    rig->board->type->advance(rig->board, USB_NS, NULL);
    rig->commands++;
    if (!rig->changed && runs && rig->changes_before && rig->commands >= rig->changes_before) {
        rig->changed = true;
        put_byte(rig, CPMUPOSTDIV, rig->postdiv);
        rig->board->type->advance(rig->board, SETTLED_NS, NULL);
    }
    return rig->type->out(m, ep, data, len);
}

static void rig_open(struct rig *r, const struct pod *pod, const struct way *way)
{
    const struct probe_config cfg = { 0 };
    const struct s12z_options opt = { .fast_clock = pod->fast };
    struct err err = { .code = ERR_OK };
    *r = (struct rig){ .postdiv = way->postdiv };
    rig = r;
    assert_int_equal(s12z_board_zvml128.create(way->board, NULL, &r->board, &err), 0);
    r->type = strcmp(pod->driver, "osbdm") == 0 ? &usb_model_osbdm : &usb_model_usbdm;
    r->watched = *r->type;
    r->watched.out = watched_out;
    assert_int_equal(r->type->create(pod->options, r->board, &r->model, &err), 0);
    r->model->type = &r->watched;
    in_process_plug(0, r->model);
    assert_int_equal(probe_open(pod->driver, &cfg, &r->probe, &err), 0);
    assert_int_equal(s12z_open(r->probe, &opt, &r->t, &err), 0);
}

static void rig_close(struct rig *r)
{
    r->t->ops->close(r->t);
    probe_close(r->probe);
    in_process_plug(0, NULL);
    r->type->destroy(r->model);
    r->board->type->destroy(r->board);
}

static void changes_before(struct rig *r, unsigned command)
{
    r->commands = 0;
    r->changes_before = command;
    r->changed = false;
}

static void must_succeed(struct rig *r, int ret, const char *what, const struct err *err)
{
    if (ret < 0)
        fail_msg("%s, clock changed before command %u: %s (%s)", what, r->changes_before, err->what,
                 err->hint);
}

/* ---- */

/* Returns the commands that it took. */
static unsigned attach_and_halt(const struct pod *pod, const struct way *way, unsigned before)
{
    struct target_stop stop = { .reason = STOP_NONE };
    struct err err = { .code = ERR_OK };
    struct rig r;
    rig_open(&r, pod, way);
    changes_before(&r, before);
    must_succeed(&r, r.t->ops->attach(r.t, &err), "attach", &err);
    must_succeed(&r, r.t->ops->halt(r.t, &err), "halt", &err);
    for (int k = 0; k < 100 && stop.reason == STOP_NONE; k++)
        must_succeed(&r, r.t->ops->poll(r.t, 2000000, &stop, &err), "poll", &err);
    if (stop.reason != STOP_REQUEST)
        fail_msg("%s %s, %s before command %u: it does not halt", pod->driver, pod->options,
                 way->name, before);
    unsigned took = r.commands;
    rig_close(&r);
    return took;
}

static void attach_and_halt__clock_changed_before_any_command__succeed(void **state)
{
    (void)state;
    for (size_t k = 0; k < ARRAY_LEN(pods); k++)
        for (size_t w = 0; w < ARRAY_LEN(ways); w++) {
            unsigned all = attach_and_halt(&pods[k], &ways[w], 0);
            print_message("  %s %s, %s: %u commands\n", pods[k].driver, pods[k].options,
                          ways[w].name, all);
            assert_in_range(all, 5, 200);
            for (unsigned at = 1; at <= all; at++)
                attach_and_halt(&pods[k], &ways[w], at);
        }
}

static void move_bytes(const struct pod *pod, const struct way *way, uint32_t len, bool write)
{
    struct err err = { .code = ERR_OK };
    uint8_t want[MOST], got[MOST] = { 0 };
    struct rig r;
    int ret;
    rig_open(&r, pod, way);
    must_succeed(&r, r.t->ops->attach(r.t, &err), "attach", &err);
    for (uint32_t i = 0; i < len; i++) {
        want[i] = (uint8_t)(0x5A + i * 37);
        put_byte(&r, RAM + i, write ? 0 : want[i]);
    }
    changes_before(&r, 1);
    if (write)
        ret = r.t->ops->write_mem(r.t, RAM, 0, want, len, &err);
    else
        ret = r.t->ops->read_mem(r.t, RAM, 0, got, len, &err);
    must_succeed(&r, ret, write ? "write" : "read", &err);
    for (uint32_t i = 0; write && i < len; i++)
        got[i] = get_byte(&r, RAM + i);
    if (memcmp(got, want, len) != 0)
        fail_msg("%s %s, %s before %u bytes are %s: %02X..., %02X... is right", pod->driver,
                 pod->options, way->name, len, write ? "written" : "read", got[0], want[0]);
    rig_close(&r);
}

static void memory_of_a_running_program__clock_changed_before__right(void **state)
{
    static const uint32_t lengths[] = { 1, 2, 4, 16, MOST };
    (void)state;
    for (size_t k = 0; k < ARRAY_LEN(pods); k++)
        for (size_t w = 0; w < ARRAY_LEN(ways); w++)
            for (size_t l = 0; l < ARRAY_LEN(lengths); l++) {
                move_bytes(&pods[k], &ways[w], lengths[l], false);
                move_bytes(&pods[k], &ways[w], lengths[l], true);
            }
}

/* One look may fail to meet the program; the next ones do. */
static void look_at_pc(const struct pod *pod, const struct way *way, unsigned before)
{
    struct err err = { .code = ERR_OK };
    struct rig r;
    uint64_t pc;
    int seen = 0;
    rig_open(&r, pod, way);
    must_succeed(&r, r.t->ops->attach(r.t, &err), "attach", &err);
    changes_before(&r, before);
    for (int k = 0; k < 4 || (seen == 0 && k < 10); k++)
        must_succeed(&r, seen = r.t->ops->sample_pc(r.t, &pc, &err), "sample", &err);
    if (seen != 1)
        fail_msg("%s %s, %s before command %u: no look meets it any more", pod->driver,
                 pod->options, way->name, before);
    rig_close(&r);
}

static void look_at_pc__clock_changed_before_any_command__goes_on(void **state)
{
    (void)state;
    for (size_t k = 0; k < ARRAY_LEN(pods); k++)
        for (size_t w = 0; w < ARRAY_LEN(ways); w++)
            for (unsigned at = 1; at <= 8; at++)
                look_at_pc(&pods[k], &ways[w], at);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(attach_and_halt__clock_changed_before_any_command__succeed),
        cmocka_unit_test(memory_of_a_running_program__clock_changed_before__right),
        cmocka_unit_test(look_at_pc__clock_changed_before_any_command__goes_on),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
