/* What a function trace costs: target cycles and wire bits an event, events a second, slow-down.
 * usage: bench_sh4_trace [ELF [TCK_HZ [SYMBOL=VALUE]]]      default: the profexam example at 10 MHz
 *        bench_sh4_trace functions [TCK_HZ]                  arming generated programs of more and
 * more functions */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <time.h>

#include "probe/base/bytes.h"
#include "probe/probe.h"
#include "profiler/core/symbols.h"
#include "targets/sim/sh4/board.h"
#include "targets/sh4/sh4.h"
#include "targets/target.h"
#include "tests/sh4_trace/generate.h"

enum { REG_PC = 16, REG_SR = 22, SLICE_NS = 2000000, MAX_EVENTS = 1 << 16 };
#define GENERATED 0x8C020000u

static void die_of(const char *what, const struct err *err)
{
    fprintf(stderr, "%s: %s (%s)\n", what, err->what, err->hint);
    exit(1);
}

static void set_reg(struct target *t, unsigned n, uint32_t v)
{
    uint8_t b[4];
    struct err err = { .code = ERR_OK };
    put_le32(b, v);
    if (t->ops->write_reg(t, n, b, &err) < 0)
        die_of("register", &err);
}

static void load_image(struct target *t, const struct image *im, const char *poke)
{
    struct err err = { .code = ERR_OK };
    for (size_t i = 0; i < im->nsections; i++)
        if (im->sections[i].data &&
            t->ops->write_mem(t, im->sections[i].addr, 0, im->sections[i].data,
                              im->sections[i].size, &err) < 0)
            die_of("load", &err);
    set_reg(t, REG_PC, (uint32_t)im->entry);
    const char *eq = poke ? strchr(poke, '=') : NULL;
    char name[64];
    uint64_t addr;
    uint8_t b[4];
    if (!eq)
        return;
    snprintf(name, sizeof name, "%.*s", (int)(eq - poke), poke);
    put_le32(b, (uint32_t)strtoul(eq + 1, NULL, 0));
    if (im->lookup(im, name, &addr) && t->ops->write_mem(t, addr, 4, b, 4, &err) < 0)
        die_of("poke", &err);
}

static void run_program(const struct image *im, uint32_t tck, const char *poke, bool traced,
                        enum irq_filter filter, const char *name)
{
    static const struct sim_board_type *const boards[] = { &sh4_board_sh7750, NULL };
    static struct event ev[MAX_EVENTS];
    struct probe_config cfg = { .boards = boards };
    struct sh4_options opt = { .allow_private = true, .tck_hz = tck };
    struct err err = { .code = ERR_OK };
    struct probe *p;
    struct target *t = NULL;
    struct target_stop stop;
    if (probe_open("sim:sh7750", &cfg, &p, &err) < 0 || sh4_open(p, &opt, &t, &err) < 0 ||
        t->ops->attach(t, &err) < 0 || t->ops->reset(t, RESET_HALT, &err) < 0)
        die_of("open", &err);
    while (t->ops->poll(t, SLICE_NS, &stop, &err) > 0)
        ;
    load_image(t, im, poke);
    struct resume go = { .kind = RESUME_CONTINUE };
    struct trace_config tc = { .image = im, .counter = { 0x23, 0x13 }, .irq_filter = filter };
    if (t->ops->set_image(t, im, &err) < 0)
        die_of("image", &err);
    uint64_t begin_arm = t->ops->now_ns(t);
    if (traced && t->ops->trace->arm(t, &tc, &err) < 0)
        die_of("arm", &err);
    if (!traced && t->ops->counters_arm(t, tc.counter, &err) < 0)
        die_of("counters", &err);
    uint64_t start = t->ops->now_ns(t), events = 0, kinds[EVENT_NKINDS] = { 0 }, c1 = 0, c2 = 0;
    if (t->ops->resume(t, &go, &err) < 0)
        die_of("resume", &err);
    while (t->ops->now_ns(t) - start < 1000000000) {
        int n = traced ? t->ops->trace->poll(t, ev, MAX_EVENTS, SLICE_NS, &err) : 0;
        if (n < 0)
            die_of("trace poll", &err);
        for (int i = 0; i < n; i++) {
            kinds[ev[i].kind]++;
            c1 = ev[i].c1;
            c2 = ev[i].c2;
        }
        events += (uint64_t)n;
        n = t->ops->poll(t, SLICE_NS, &stop, &err);
        if (n)
            fprintf(stderr, "stop: %08x %s %s\n", (unsigned)stop.pc, stop.text,
                    n < 0 ? err.what : "");
        if (n)
            break;
    }
    if (!traced) {
        struct counter_values v;
        t->ops->halt(t, &err);
        while (t->ops->state(t) == TARGET_RUNNING && t->ops->poll(t, SLICE_NS, &stop, &err) >= 0)
            ;
        if (t->ops->counters_read(t, &v, &err) < 0)
            die_of("counters", &err);
        printf("%-12s c1 %llu c2 %llu  %.3f cycles an instruction\n", name,
               (unsigned long long)v.value[0], (unsigned long long)v.value[1],
               (double)v.value[0] / (double)v.value[1]);
        t->ops->close(t);
        probe_close(p);
        return;
    }
    struct trace_status st;
    uint64_t ns = t->ops->now_ns(t) - start;
    t->ops->trace->status(t, &st, NULL);
    if (traced && t->ops->trace->disarm(t, &err) < 0)
        die_of("disarm", &err);
    if (t->ops->detach(t, &err) < 0)
        die_of("detach", &err);
    printf("%-12s %9.0f events/s  %6.1f wire bits/event  %6.1f target cycles/event  slow-down %.2f "
           " lost %u  doubtful %u  armed in %.0f ms\n",
           name, (double)events * 1e9 / (double)ns,
           st.events ? (double)st.wire_bits / (double)st.events : 0,
           st.events ? (double)st.time.agent_cycles / (double)st.events : 0,
           c1 ? (double)ns / 5.0 / (double)c1 : 0, (unsigned)st.lost, (unsigned)st.doubtful,
           (double)(start - begin_arm) / 1e6);
    printf("  calls %u returns %u jumps %u interrupts %u exceptions %u rte %u   c1 %llu c2 %llu "
           "%.3f  cost %u %u  %s\n",
           (unsigned)kinds[EVENT_CALL], (unsigned)kinds[EVENT_RETURN], (unsigned)kinds[EVENT_JUMP],
           (unsigned)kinds[EVENT_INTERRUPT], (unsigned)kinds[EVENT_EXCEPTION],
           (unsigned)kinds[EVENT_RTE], (unsigned long long)c1, (unsigned long long)c2,
           (double)c1 / (double)c2, st.agent_cost[0], st.agent_cost[1], st.note);
    t->ops->close(t);
    probe_close(p);
}

static double cpu_ms(void) { return (double)clock() * 1e3 / CLOCKS_PER_SEC; }

static long memory_kb(void)
{
    struct rusage u;
    getrusage(RUSAGE_SELF, &u);
    return u.ru_maxrss;
}

/* Attached to a board that holds the generated program. */
static struct target *open_generated(const struct gen_program *g, uint32_t tck, struct probe **p)
{
    static const struct sim_board_type *const boards[] = { &sh4_board_sh7750, NULL };
    struct probe_config cfg = { .boards = boards };
    struct sh4_options opt = { .allow_private = true, .tck_hz = tck };
    struct target *t = NULL;
    struct target_stop stop;
    struct err err = { .code = ERR_OK };
    if (probe_open("sim:sh7750", &cfg, p, &err) < 0 || sh4_open(*p, &opt, &t, &err) < 0 ||
        t->ops->attach(t, &err) < 0 || t->ops->reset(t, RESET_HALT, &err) < 0)
        die_of("open", &err);
    while (t->ops->poll(t, SLICE_NS, &stop, &err) > 0)
        ;
    load_image(t, &g->im, NULL);
    set_reg(t, 15, GENERATED - 256);
    set_reg(t, REG_SR, 0x40000000);
    if (t->ops->set_image(t, &g->im, &err) < 0)
        die_of("image", &err);
    return t;
}

static void arm_generated(size_t functions, uint32_t tck)
{
    struct gen_program g;
    struct probe *p;
    struct trace_status st;
    struct err err = { .code = ERR_OK };
    gen_open(&g, &(struct gen_config){
                     .kind = GEN_MIXED, .functions = functions, .base = GENERATED, .rounds = 1 });
    struct target *t = open_generated(&g, tck, &p);
    struct trace_config tc = { .image = &g.im, .counter = { 0x23, 0x13 } };
    uint64_t wire = t->ops->now_ns(t);
    double cpu = cpu_ms();
    if (t->ops->trace->arm(t, &tc, &err) < 0)
        die_of("arm", &err);
    double armed_cpu = cpu_ms() - cpu, armed = (double)(t->ops->now_ns(t) - wire) / 1e6;
    t->ops->trace->status(t, &st, NULL);
    wire = t->ops->now_ns(t);
    if (t->ops->trace->disarm(t, &err) < 0)
        die_of("disarm", &err);
    printf("%6zu functions  %5zu KB of code  %6u places, %u not  armed in %6.0f ms of wire, %5.0f "
           "ms of CPU (board model included)  disarmed in %5.0f ms  "
           "host %ld KB\n",
           functions, (size_t)g.sec[0].size / 1024, (unsigned)st.sites, (unsigned)st.untraced_sites,
           armed, armed_cpu, (double)(t->ops->now_ns(t) - wire) / 1e6, memory_kb());
    t->ops->close(t);
    probe_close(p);
    gen_close(&g);
}

int main(int argc, char **argv)
{
    if (argc > 1 && !strcmp(argv[1], "functions")) {
        for (size_t n = 1250; n <= 40000; n *= 2)
            arm_generated(n, argc > 2 ? (uint32_t)strtoul(argv[2], NULL, 0) : 10000000);
        return 0;
    }
    const char *path = argc > 1 ? argv[1] : "docs/examples/profexam/profexam.elf";
    uint32_t tck = argc > 2 ? (uint32_t)strtoul(argv[2], NULL, 0) : 10000000;
    struct symbols *s;
    struct err err = { .code = ERR_OK };
    if (symbols_open(path, &s, &err) < 0)
        die_of(path, &err);
    run_program(symbols_image(s), tck, argc > 3 ? argv[3] : NULL, false, IRQ_FILTER_OFF,
                "untraced");
    run_program(symbols_image(s), tck, argc > 3 ? argv[3] : NULL, true, IRQ_FILTER_OFF, "traced");
    run_program(symbols_image(s), tck, argc > 3 ? argv[3] : NULL, true, IRQ_FILTER_AUTO,
                "irq auto");
    symbols_close(s);
    return 0;
}
