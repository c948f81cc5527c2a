/* OpenOCD as judge of the models: its own driver scans the board behind an adapter's model; the sim
 * driver does the same scans on another board of the kind, and every bit must agree. Runs in the
 * rig; skipped without OpenOCD. test_openocd COMMAND...    OpenOCD's configuration of the adapter,
 * one command an argument */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

#include "probe/base/bytes.h"
#include "probe/base/util.h"
#include "probe/probe.h"
#include "targets/sim/sh4/board.h"

enum { SCANS = 150, IR_BITS = 16, LINE = 512 };

struct scan {
    bool ir;
    unsigned bits;
    uint8_t tdi[8], tdo[8], openocd[8];
};
struct judge {
    int argc;
    char **argv;
    struct scan scan[SCANS];
};

static uint64_t next_random(uint64_t *s)
{
    *s ^= *s << 13;
    *s ^= *s >> 7;
    return *s ^= *s << 17;
}

/* SDDR (command 60) and BYPASS, scans as long as the register, shorter and longer. */
static void make_scans(struct judge *j)
{
    uint64_t seed = 0x12345678abcdef;
    for (unsigned i = 0; i < SCANS; i++) {
        struct scan *s = &j->scan[i];
        s->ir = i % 10 == 0;
        s->bits = s->ir                    ? IR_BITS
                  : next_random(&seed) % 2 ? 32
                                           : (unsigned)(next_random(&seed) % 64) + 1;
        uint64_t v = s->ir ? (i % 30 == 20 ? 0xFFFF : 0x6000)
                           : next_random(&seed) & (~(uint64_t)0 >> (64 - s->bits));
        put_le64(s->tdi, v);
    }
}

static void by_sim(struct judge *j)
{
    const struct sim_board_type *boards[] = { &sh4_board_sh7750, NULL };
    const struct probe_config cfg = { .boards = boards };
    struct jtag_op op = jtag_reset();
    struct probe *p;
    assert_int_equal(probe_open("sim:sh7750", &cfg, &p, NULL), 0);
    assert_int_equal(p->driver->jtag->execute(p, &op, 1, NULL), 0);
    for (unsigned i = 0; i < SCANS; i++) {
        struct scan *s = &j->scan[i];
        op = s->ir ? jtag_ir(s->bits, s->tdi, NULL) : jtag_dr(s->bits, s->tdi, s->tdo);
        assert_int_equal(p->driver->jtag->execute(p, &op, 1, NULL), 0);
    }
    probe_close(p);
}

static void write_script(const struct judge *j, FILE *f)
{
    for (int i = 1; i < j->argc; i++)
        fprintf(f, "%s\n", j->argv[i]);
    fprintf(f,
            "transport select jtag\nadapter speed 1000\ngdb_port disabled\ntelnet_port "
            "disabled\ntcl_port disabled\n"
            "jtag newtap sh7750 cpu -irlen %d -ircapture 0x1 -irmask 0x3\ninit\n",
            IR_BITS);
    for (unsigned i = 0; i < SCANS; i++) {
        const struct scan *s = &j->scan[i];
        unsigned long long v = (unsigned long long)le64(s->tdi);
        if (s->ir)
            fprintf(f, "irscan sh7750.cpu 0x%llx\n", v);
        else
            fprintf(f, "echo \"scan %u [drscan sh7750.cpu %u 0x%llx]\"\n", i, s->bits, v);
    }
    fprintf(f, "shutdown\n");
}

/* Returns how many scans OpenOCD answered. */
static unsigned by_openocd(struct judge *j)
{
    char path[] = "openocd-judge-XXXXXX", command[LINE], line[LINE];
    int fd = mkstemp(path);
    unsigned n = 0, answered = 0;
    assert_true(fd >= 0);
    FILE *f = fdopen(fd, "w");
    write_script(j, f);
    fclose(f);
    snprintf(command, sizeof command, "openocd -f %s 2>&1", path);
    f = popen(command, "r");
    assert_non_null(f);
    while (fgets(line, sizeof line, f)) {
        unsigned long long v;
        if (sscanf(line, "scan %u %llx", &n, &v) == 2 && n < SCANS) {
            put_le64(j->scan[n].openocd, v);
            answered++;
        } else {
            print_message("  %s", line);
        }
    }
    assert_int_equal(pclose(f), 0);
    unlink(path);
    return answered;
}

static void openocd__scans_the_board_behind_the_model__as_the_sim_driver_does(void **state)
{
    struct judge *j = *state;
    unsigned wanted = 0;
    make_scans(j);
    by_sim(j);
    for (unsigned i = 0; i < SCANS; i++)
        wanted += !j->scan[i].ir;
    assert_int_equal(by_openocd(j), wanted);
    for (unsigned i = 0; i < SCANS; i++)
        if (memcmp(j->scan[i].tdo, j->scan[i].openocd, 8) != 0)
            fail_msg("scan %u of %u bits: %016llx, OpenOCD has %016llx", i, j->scan[i].bits,
                     (unsigned long long)le64(j->scan[i].tdo),
                     (unsigned long long)le64(j->scan[i].openocd));
}

int main(int argc, char **argv)
{
    static struct judge judge;
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_prestate(openocd__scans_the_board_behind_the_model__as_the_sim_driver_does,
                                  &judge),
    };
    if (system("command -v openocd >/dev/null") != 0) {
        puts("skipped: OpenOCD is not installed");
        return 77;
    }
    judge.argc = argc;
    judge.argv = argv;
    return cmocka_run_group_tests(tests, NULL, NULL);
}
