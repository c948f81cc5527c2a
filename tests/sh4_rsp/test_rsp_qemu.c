/* The RSP target against qemu-system-sh4, which shares nothing with this project. Skipped, saying
 * so, without it. */
#include <errno.h>
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <fcntl.h>
#include <time.h>
#include <unistd.h>

#include <cmocka.h>

#include "probe/base/bytes.h"
#include "probe/base/util.h"
#include "probe/probe.h"
#include "targets/sh4/rsp/rsp_priv.h"
#include "tests/sim_sh4/asm.h"
#include "tests/sh4_rsp/walks.h"

enum { CODE = 0x8C010000 };
#define MS 1000000ull
enum { TURNS_TO_WAIT = 6000 }; /* of 100 ms: this machine may have other things to do */

struct rig {
    pid_t pid;
    char dir[40], path[64];
    struct probe *probe;
    struct target *t;
    struct asm_prog prog;
};

static void exec_qemu(const char *path, bool big)
{
    const char *name = big ? "qemu-system-sh4eb" : "qemu-system-sh4";
    char option[100];
    int null = open("/dev/null", O_RDWR);
    snprintf(option, sizeof option, "unix:%s,server=on,wait=off", path);
    prctl(PR_SET_PDEATHSIG, SIGKILL);
    dup2(null, 0);
    dup2(null, 1);
    dup2(null, 2);
    execlp(name, name, "-M", "r2d", "-display", "none", "-monitor", "none", "-serial", "null", "-S",
           "-gdb", option, (char *)NULL);
    _exit(127);
}

static void start_qemu(struct rig *r)
{
    strcpy(r->dir, "/tmp/pp-rsp-qemu-XXXXXX");
    assert_non_null(mkdtemp(r->dir));
    snprintf(r->path, sizeof r->path, "%s/gdb", r->dir);
    r->pid = fork();
    assert_true(r->pid >= 0);
    if (r->pid == 0)
        exec_qemu(r->path, r->prog.big);
}

/* Its socket is there some time before it listens. */
static void connect_qemu(struct rig *r)
{
    struct err err;
    char name[80];
    snprintf(name, sizeof name, "rsp:%s", r->path);
    for (int i = 0; i < 6000; i++) {
        err = (struct err){ .code = ERR_OK };
        if (probe_open(name, &(struct probe_config){ .spec = "" }, &r->probe, &err) == 0)
            return;
        nanosleep(&(struct timespec){ .tv_nsec = 50000000 }, NULL);
    }
    fail_msg("%s: %s", name, err.what);
}

static struct rig *rig_open_as(bool big)
{
    struct rig *r = calloc(1, sizeof *r);
    struct err err = { .code = ERR_OK };
    assert_non_null(r);
    r->prog.big = big;
    start_qemu(r);
    connect_qemu(r);
    assert_int_equal(
        sh4_rsp_open(r->probe, &(struct sh4_options){ .big_endian = big }, &r->t, &err), 0);
    assert_int_equal(r->t->ops->attach(r->t, &err), 0);
    return r;
}

static struct rig *rig_open(void) { return rig_open_as(false); }

static void rig_close(struct rig *r)
{
    r->t->ops->close(r->t);
    probe_close(r->probe);
    kill(r->pid, SIGKILL);
    waitpid(r->pid, NULL, 0);
    unlink(r->path);
    rmdir(r->dir);
    free(r);
}

static uint32_t reg_value(struct rig *r, unsigned n)
{
    uint8_t b[4] = { 0 };
    assert_int_equal(r->t->ops->read_reg(r->t, n, b, NULL), 0);
    return get32(b, r->prog.big);
}

static void set_reg(struct rig *r, unsigned n, uint32_t v)
{
    uint8_t b[4];
    put32(b, v, r->prog.big);
    assert_int_equal(r->t->ops->write_reg(r->t, n, b, NULL), 0);
}

static void load_program(struct rig *r, const char *program)
{
    r->prog.nlabels = 0;
    asm_text(&r->prog, CODE, program);
    assert_int_equal(r->t->ops->write_mem(r->t, CODE, 0, r->prog.code, r->prog.len, NULL), 0);
    set_reg(r, RSP_SR, 0x400000F0);
    set_reg(r, RSP_PC, CODE);
    set_reg(r, RSP_R15, 0x8C100000);
}

static uint32_t label_address(const struct rig *r, const char *name)
{
    return asm_label(&r->prog, name);
}

static struct target_stop resume_to_stop(struct rig *r, enum resume_kind kind)
{
    struct target_stop stop = { .reason = STOP_NONE };
    struct err err = { .code = ERR_OK };
    int ret = r->t->ops->resume(r->t, &(struct resume){ .kind = kind }, &err);
    for (int i = 0; i < TURNS_TO_WAIT && ret == 0; i++)
        ret = r->t->ops->poll(r->t, 100 * MS, &stop, &err);
    if (ret < 0)
        print_message("  %s\n", err.what);
    assert_int_equal(ret, 1);
    return stop;
}

/* Off the breakpoint and on, as GDB does. */
static struct target_stop go_on(struct rig *r)
{
    resume_to_stop(r, RESUME_STEP);
    return resume_to_stop(r, RESUME_CONTINUE);
}

static void registers__every_one__read_back_as_written(void **state)
{
    (void)state;
    struct rig *r = rig_open();
    set_reg(r, RSP_SR, 0x400000F0);
    for (unsigned n = 0; n < RSP_NREGS; n++) {
        uint32_t v = n == RSP_SR    ? 0x400000F1
                     : n == RSP_PC  ? 0x8C010002
                     : n == 24      ? 0x00040001
                     : n == RSP_SSR ? 0x700000F0
                                    : 0x10000000 + n * 4;
        set_reg(r, n, v);
        if (reg_value(r, n) != v)
            print_message("  register %u\n", n);
        assert_int_equal(reg_value(r, n), v);
    }
    set_reg(r, RSP_SR, 0x600000F0); /* bank 1: r0-r7 are the other ones now */
    assert_int_equal(reg_value(r, 3), 0x10000000 + (RSP_BANK1 + 3) * 4);
    set_reg(r, 3, 42);
    assert_int_equal(reg_value(r, RSP_BANK1 + 3), 42);
    set_reg(r, RSP_BANK1 + 5, 43);
    assert_int_equal(reg_value(r, 5), 43);
    rig_close(r);
}

static void memory__any_length__comes_back(void **state)
{
    uint8_t in[20000], back[20000];
    (void)state;
    struct rig *r = rig_open();
    for (size_t i = 0; i < sizeof in; i++)
        in[i] = (uint8_t)(i * 7 + (i >> 7));
    for (size_t n = 1; n <= sizeof in; n = n * 4 + 3) {
        assert_int_equal(r->t->ops->write_mem(r->t, 0x8C020001, 0, in, n, NULL), 0);
        memset(back, 0, n);
        assert_int_equal(r->t->ops->read_mem(r->t, 0x8C020001, 0, back, n, NULL), 0);
        assert_memory_equal(in, back, n);
    }
    rig_close(r);
}

/* QEMU's own steps, and ours in which the branch is worked out here, as for stubs that get it
 * wrong. */
static void step__every_branch__both_ways_arrive(void **state)
{
    (void)state;
    struct rig *r = rig_open();
    for (int way = 0; way < 4; way++)
        for (size_t k = 0; k < ARRAY_LEN(walks); k++) {
            const struct walk *w = &walks[k];
            bool own = way & 1, bps = way & 2;
            if (bps && strstr(w->program, ".space"))
                continue;
            rsp_of(r->t)->q.trusts_step = !own;
            load_program(r, w->program);
            for (size_t i = 0; i < r->prog.len && bps; i += 2) /* on everything, slots too */
                assert_int_equal(r->t->ops->insert_bp(r->t, BP_SOFT, CODE + i, 2, NULL), 0);
            for (size_t i = 0; i < ARRAY_LEN(w->path) && w->path[i]; i++) {
                struct target_stop stop = resume_to_stop(r, RESUME_STEP);
                if (stop.pc != label_address(r, w->path[i]))
                    print_message("  %s, %s: step %zu to %08x\n", w->name, own ? "ours" : "QEMU's",
                                  i, (unsigned)stop.pc);
                assert_int_equal(stop.pc, label_address(r, w->path[i]));
                assert_int_equal(reg_value(r, RSP_PC), stop.pc);
            }
            for (size_t i = 0; i < ARRAY_LEN(w->regs); i++)
                if (w->regs[i].reg && w->regs[i].reg != 7)
                    assert_int_equal(reg_value(r, w->regs[i].reg), w->regs[i].value);
            for (size_t i = 0; i < r->prog.len && bps; i += 2)
                assert_int_equal(r->t->ops->remove_bp(r->t, BP_SOFT, CODE + i, 2, NULL), 0);
        }
    rig_close(r);
}

static void breakpoint__by_z_and_by_trapa__counts_the_loop(void **state)
{
    uint8_t now[4];
    (void)state;
    struct rig *r = rig_open();
    load_program(r, "start: mov #0,r8\n loop: add #1,r8\n a: bra loop\n add #1,r9\n");
    assert_int_equal(r->t->ops->insert_bp(r->t, BP_SOFT, label_address(r, "a"), 2, NULL), 0);
    assert_false(rsp_of(r->t)->bp[0].written);
    for (unsigned n = 1; n < 20; n++) {
        struct target_stop stop = n > 1 ? go_on(r) : resume_to_stop(r, RESUME_CONTINUE);
        assert_int_equal(stop.reason, STOP_SWBREAK);
        assert_int_equal(stop.pc, label_address(r, "a"));
        assert_int_equal(reg_value(r, 8), n);
    }
    assert_int_equal(r->t->ops->insert_bp(r->t, BP_HARD, label_address(r, "loop"), 2, NULL), 0);
    assert_int_equal(go_on(r).reason, STOP_HWBREAK);
    assert_int_equal(r->t->ops->remove_bp(r->t, BP_HARD, label_address(r, "loop"), 2, NULL), 0);
    assert_int_equal(r->t->ops->remove_bp(r->t, BP_SOFT, label_address(r, "a"), 2, NULL), 0);
    assert_int_equal(r->t->ops->read_mem(r->t, label_address(r, "a"), 0, now, 4, NULL), 0);
    assert_memory_equal(now, r->prog.code + (label_address(r, "a") - CODE), 4);
    rig_close(r);
}

/* And a TRAPA in memory, as where a stub has no Z: in the part's byte order, and out of the way of
 * a step. */
static void big_endian__steps_and_breakpoints__as_little(void **state)
{
    uint8_t code[2];
    (void)state;
    struct rig *r = rig_open_as(true);
    load_program(r, "start: mov #0,r8\n loop: add #1,r8\n a: bra loop\n add #1,r9\n");
    assert_int_equal(resume_to_stop(r, RESUME_STEP).pc, label_address(r, "loop"));
    assert_int_equal(r->t->ops->insert_bp(r->t, BP_SOFT, label_address(r, "a"), 2, NULL), 0);
    assert_int_equal(resume_to_stop(r, RESUME_CONTINUE).pc, label_address(r, "a"));
    assert_int_equal(go_on(r).pc, label_address(r, "a"));
    assert_int_equal(reg_value(r, 8), 2);
    rsp_of(r->t)->q.no_z[0] = true;
    assert_int_equal(r->t->ops->insert_bp(r->t, BP_SOFT, label_address(r, "loop"), 2, NULL), 0);
    assert_true(rsp_of(r->t)->bp[1].written);
    assert_int_equal(rsp_peek(rsp_of(r->t), label_address(r, "loop"), code, 2, NULL), 0);
    assert_int_equal(be16(code), RSP_TRAPA);
    rsp_of(r->t)->q.no_z[0] = false;
    resume_to_stop(r, RESUME_STEP);
    assert_int_equal(reg_value(r, RSP_PC), label_address(r, "loop"));
    resume_to_stop(r, RESUME_STEP); /* lifted for the step */
    assert_int_equal(reg_value(r, RSP_PC), label_address(r, "a"));
    assert_int_equal(reg_value(r, 8), 3);
    rig_close(r);
}

static void watchpoint__write__stops_with_its_address(void **state)
{
    (void)state;
    struct rig *r = rig_open();
    load_program(
        r, "start: mov.l at,r1\n mov #9,r2\n nop\n mov.l r2,@r1\n nop\n e: bra e\n nop\n .align "
           "2\n at: .long 0x8C020000");
    assert_int_equal(r->t->ops->insert_bp(r->t, BP_WATCH_WRITE, 0x8C020000, 4, NULL), 0);
    struct target_stop stop = resume_to_stop(r, RESUME_CONTINUE);
    assert_int_equal(stop.reason, STOP_WATCH);
    assert_int_equal(stop.watch_addr, 0x8C020000);
    rig_close(r);
}

static void running__hot_loop__halted_sampled_read(void **state)
{
    unsigned hot = 0, all = 0;
    uint64_t pc;
    uint8_t b[4];
    struct err err = { .code = ERR_OK };
    (void)state;
    struct rig *r = rig_open();
    load_program(r,
                 "start: mov.l n,r1\n hot: dt r1\n bf hot\n end_hot: mov #10,r1\n cold: dt r1\n bf "
                 "cold\n end_cold: bra start\n nop\n .align 2\n n: .long 100000");
    assert_int_equal(r->t->ops->resume(r->t, &(struct resume){ .kind = RESUME_CONTINUE }, NULL), 0);
    for (int i = 0; i < 200; i++) {
        nanosleep(&(struct timespec){ .tv_nsec = 200000 + 7919 * i }, NULL);
        int ret = r->t->ops->sample_pc(r->t, &pc, &err);
        assert_int_equal(ret, 1);
        assert_int_equal(r->t->ops->state(r->t), TARGET_RUNNING);
        assert_in_range(pc, CODE, CODE + r->prog.len);
        all++;
        hot += pc >= label_address(r, "hot") && pc < label_address(r, "end_hot");
    }
    print_message("  %u of %u in the hot loop\n", hot, all);
    assert_true(hot > all * 9 / 10); /* 99.99 % of the time; where QEMU looks is not quite random */
    assert_int_equal(r->t->ops->read_mem(r->t, CODE, 0, b, 4, NULL), 0);
    assert_memory_equal(b, r->prog.code, 4);
    assert_int_equal(r->t->ops->halt(r->t, NULL), 0);
    struct target_stop stop = { .reason = STOP_NONE };
    int ret = 0;
    for (int i = 0; i < TURNS_TO_WAIT && ret == 0; i++)
        ret = r->t->ops->poll(r->t, 100 * MS, &stop, NULL);
    assert_int_equal(ret, 1);
    assert_int_equal(stop.reason, STOP_REQUEST);
    rig_close(r);
}

static void reset_and_counters__qemu__reset_works_counters_are_refused(void **state)
{
    static const uint16_t code[2] = { 0x23, 0x13 };
    struct err err = { .code = ERR_OK };
    (void)state;
    struct rig *r = rig_open();
    load_program(r, "start: nop\n e: bra e\n nop");
    resume_to_stop(r, RESUME_STEP);
    assert_int_equal(r->t->ops->reset(r->t, RESET_HALT, &err), 0);
    assert_int_equal(reg_value(r, RSP_PC), 0xA0000000);
    /* touching them would end QEMU */
    assert_int_equal(r->t->ops->counters_arm(r->t, code, &err), -ERR_UNSUPPORTED);
    assert_string_not_equal(err.hint, "");
    assert_int_equal(r->t->ops->detach(r->t, NULL), 0);
    rig_close(r);
}

static void gone__qemu_is_killed__reported_soon(void **state)
{
    struct target_stop stop;
    struct err err = { .code = ERR_OK };
    (void)state;
    struct rig *r = rig_open();
    load_program(r, "start: bra start\n nop");
    assert_int_equal(r->t->ops->resume(r->t, &(struct resume){ .kind = RESUME_CONTINUE }, NULL), 0);
    kill(r->pid, SIGKILL);
    int ret = 0;
    for (int i = 0; i < TURNS_TO_WAIT && ret == 0; i++)
        ret = r->t->ops->poll(r->t, 100 * MS, &stop, &err);
    assert_int_equal(ret, -ERR_USB);
    assert_string_not_equal(err.hint, "");
    assert_int_equal(r->t->ops->state(r->t), TARGET_GONE);
    rig_close(r);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(registers__every_one__read_back_as_written),
        cmocka_unit_test(memory__any_length__comes_back),
        cmocka_unit_test(step__every_branch__both_ways_arrive),
        cmocka_unit_test(breakpoint__by_z_and_by_trapa__counts_the_loop),
        cmocka_unit_test(big_endian__steps_and_breakpoints__as_little),
        cmocka_unit_test(watchpoint__write__stops_with_its_address),
        cmocka_unit_test(running__hot_loop__halted_sampled_read),
        cmocka_unit_test(reset_and_counters__qemu__reset_works_counters_are_refused),
        cmocka_unit_test(gone__qemu_is_killed__reported_soon),
    };
    signal(SIGPIPE, SIG_IGN);
    if (system("command -v qemu-system-sh4 >/dev/null 2>&1 && command -v qemu-system-sh4eb "
               ">/dev/null 2>&1") != 0) {
        printf("skipped: no qemu-system-sh4 (package qemu-system-misc)\n");
        return 77;
    }
    return cmocka_run_group_tests(tests, NULL, NULL);
}
