/* The session: what each packet is answered, on a target made of RAM. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "gdbstub/packets.h"
#include "tests/gdbstub/session_rig.h"

/* ---- golden answers ---- */

struct line {
    const char *in, *out;
};
struct script {
    const char *name;
    struct line lines[20];
};

static const struct script scripts[] = {
    { "features",
      {
          { "qSupported:multiprocess+;swbreak+;hwbreak+;vContSupported+",
            "PacketSize=10000;QStartNoAckMode+;QNonStop+;vContSupported+;swbreak+;hwbreak+;error-"
            "message+;binary-upload+;ConditionalBreakpoints+;BreakpointCommands+;"
            "qXfer:features:read+;qXfer:memory-map:read+" },
          { "vCont?", "vCont;c;C;s;S;t;r" },
          { "vMustReplyEmpty", "" },
          { "vUnknown", "" },
          { "qSymbol::", "" },
          { "QThreadEvents:1", "" },
          { "", "" },
      } },
    { "connect",
      {
          { "!", "OK" },
          { "Hg0", "OK" },
          { "Hc-1", "OK" },
          { "Hg5", "E16" },
          { "qC", "QC1" },
          { "qAttached", "1" },
          { "qfThreadInfo", "m1" },
          { "qsThreadInfo", "l" },
          { "T1", "OK" },
          { "T7", "E16" },
          { "?", STOP_AT("05", "00100000", "") },
      } },
    { "descriptions",
      {
          { "qXfer:features:read:target.xml:0,1000",
            "l<?xml version=\"1.0\"?><!DOCTYPE target SYSTEM \"gdb-target.dtd\">"
            "<target version=\"1.0\"><architecture>sh4</architecture></target>" },
          { "qXfer:features:read:target.xml:0,5", "m<?xml" },
          { "qXfer:features:read:target.xml:7c,100", "l>" },
          { "qXfer:features:read:target.xml:7d,100", "l" },
          { "qXfer:features:read:target.xml:1000,5", "E16" },
          { "qXfer:features:read:other.xml:0,5", "E00" },
          { "qXfer:memory-map:read::0,1000",
            "l<?xml version=\"1.0\"?><!DOCTYPE memory-map PUBLIC \"+//IDN gnu.org//DTD GDB Memory "
            "Map V1.0//EN\" "
            "\"http://sourceware.org/gdb/gdb-memory-map.dtd\"><memory-map>"
            "<memory type=\"rom\" start=\"0x0\" length=\"0x1000\"/><memory type=\"ram\" "
            "start=\"0x1000\" length=\"0x1000\"/>"
            "<memory type=\"ram\" start=\"0x2000\" length=\"0xe000\"/>"
            "<memory type=\"ram\" start=\"0x10000\" length=\"0xffff0000\"/></memory-map>" },
      } },
    { "registers",
      {
          { "g", "00000000000000000000000000000000xxxxxxxx00100000008000000000000000" },
          { "p0", "00000000" },
          { "p4", "xxxxxxxx" },
          { "p7", "00" },
          { "p9", "E16" },
          { "pffffffffff", "E16" },
          { "P0=78563412", "OK" },
          { "p8", "78563412" },
          { "P4=00000000", "E02" },
          { "P0=7856", "E16" },
          { "P7=ff", "OK" },
          { "p7", "ff" },
      } },
    { "memory",
      {
          { "M2000,4:01020304", "OK" },
          { "m2000,4", "01020304" },
          { "m2001,2", "0203" },
          { "m2000,0", "" },
          { "m20000,4", "E0e" },
          { "mzz,4", "E16" },
          { "m2000", "E16" },
          { "M2000,4:0102", "E16" },
          { "M2000,2:01zz", "E16" },
          { "Mffff,2:0102", "E0e" },
          { "X2000,0:", "OK" },
          { "x2000,4", "b\001\002\003\004" },
      } },
    { "binary write",
      {
          { "X2000,4:ab}\003}]", "OK" },
          { "m2000,4", "6162237d" },
          { "x2000,4", "bab}\003}]" },
          { "X2000,4:ab", "E16" },
      } },
    { "breakpoints",
      {
          { "Z0,1006,2", "OK" },
          { "Z0,1006,2", "OK" },
          { "Z0,1006,3", "E.breakpoints here have kind 2, not 3" },
          { "Z1,1006,4", "E.breakpoints here have kind 2, not 4" },
          { "Z5,1006,2", "" },
          { "Z0,1006", "E16" },
          { "Z2,2000,0", "E.a watchpoint of 0 bytes" },
          { "vCont;c", STOP_AT("05", "06100000", "") },
          { "z0,1006,2", "OK" },
          { "z0,1006,2", "OK" },
      } },
    { "breakpoint where it goes on",
      {
          { "Z0,1000,2", "OK" },
          { "c", STOP_AT("05", "00100000", "") },
          { "s", STOP_AT("05", "00100000", "") },
          { "z0,1000,2", "OK" },
          { "s", STOP_AT("05", "02100000", "") },
          { "Z1,2000,2", "OK" },
          { "c2000", STOP_AT("05", "00200000", "") },
          { "p5", "00200000" },
      } },
    { "breakpoint reasons",
      {
          { "qSupported:swbreak+;hwbreak+",
            "PacketSize=10000;QStartNoAckMode+;QNonStop+;vContSupported+;swbreak+;hwbreak+;error-"
            "message+;binary-upload+;ConditionalBreakpoints+;BreakpointCommands+;"
            "qXfer:features:read+;qXfer:memory-map:read+" },
          { "Z0,1006,2", "OK" },
          { "vCont;c:1", STOP_AT("05", "06100000", "swbreak:;") },
          { "z0,1006,2", "OK" },
          { "Z1,100a,2", "OK" },
          { "c", STOP_AT("05", "0a100000", "hwbreak:;") },
          { "z1,100a,2", "OK" },
          { "s", STOP_AT("05", "0c100000", "") },
      } },
    { "stepping",
      {
          { "vCont;s:1;c", STOP_AT("05", "02100000", "") },
          { "vCont;S05:1", STOP_AT("05", "04100000", "") },
          { "vCont;r1004,100c:1", STOP_AT("05", "0c100000", "") },
          { "s2000", STOP_AT("05", "02200000", "") },
          { "S05;3000", STOP_AT("05", "02300000", "") },
          { "vCont;s:-1", STOP_AT("05", "04300000", "") },
          { "vCont;q", "E16" },
          { "vCont", "E16" },
          { "vCont;s:5;c:1", "" },
          { "^C", STOP_AT("02", "74470000", "") },
          { "szz", "E16" },
      } },
    { "interrupt",
      {
          { "c", "" },
          { "^C", STOP_AT("02", "70270000", "") },
      } },
    { "detach", { { "D", "OK" } } },
    { "restart",
      {
          { "vRun;61;62", "T0505:34120000;06:00000000;thread:1;" },
          { "qAttached", "0" },
          { "!", "OK" },
          { "vKill;1", "OK" },
          { "?", "W00" },
          { "qfThreadInfo", "l" },
          { "vCont;c", "E.no program is being debugged; use run or attach" },
          { "vAttach;1", "T0205:c05d0000;06:00000000;thread:1;" },
          { "R00", "" },
          { "p5", "34120000" },
      } },
    { "checks",
      {
          { "M2000,9:313233343536373839", "OK" },
          { "qCRC:2000,9", "C376e6e7" },
          { "qCRC:fff0,20", "E0e" },
          { "qSearch:memory:0;10000;789", "1,2006" },
          { "qSearch:memory:0;2008;789", "0" },
          { "qSearch:memory:0;2009;789", "1,2006" },
          { "qSearch:memory:0;10;", "E16" },
          { "qSearch:memory:0;20000;absent", "E0e" },
      } },
    { "flash",
      {
          { "vFlashErase:f000,200", "OK" },
          { "mf0fe,4", "ffffffff" },
          { "vFlashWrite:f0ff:ab}\003c", "OK" },
          { "mf0fe,6", "ff61622363ff" },
          { "vFlashDone", "OK" },
          { "vFlashErase:f080,100", "E.no whole sectors" },
          { "vFlashErase:1000,100", "E.0x1000 is no flash" },
          { "vFlashErase:f000", "E16" },
          { "vFlashWrite:1000:x", "E.0x1000 is no flash" },
          { "vFlashWrite:f000", "E16" },
          { "vFlashDone1", "" },
          { "vCont;c", "OThe download failed: 0x1000 is no flash\n" },
          { "^C", STOP_AT("02", "70270000", "") },
      } },
    { "a download's failure is told when GDB listens",
      {
          { "vFlashWrite:1000:x", "E.0x1000 is no flash" },
          { "vFlashErase:f000,200", "OK" },
          { "vCont;c", "" },
          { "^C", STOP_AT("02", "70270000", "") },
          { "vFlashWrite:2000:x", "E.0x2000 is no flash" },
          { "qRcmd,76657273696f6e",
            "OThe download failed: 0x2000 is no flash\n Oprobeprof 1.2, target ram\n OK" },
          { "qRcmd,76657273696f6e", "=probeprof 1.2, target ram\n" },
      } },
    { "file i/o replies out of place", { { "F0", "" }, { "F-1,4,C", "" } } },
    { "thread text", { { "qThreadExtraInfo,1", "72616d2c2068616c746564" } } },
};

static void session__golden_scripts__exact_answers(void **state)
{
    (void)state;
    for (size_t i = 0; i < ARRAY_LEN(scripts); i++) {
        struct fixture *fx;
        print_message("  %s\n", scripts[i].name);
        assert_int_equal(rig_setup((void **)&fx), 0);
        no_acks(fx);
        for (const struct line *l = scripts[i].lines; l->in; l++) {
            const char *got = talk_first(fx, l->in);
            if (strcmp(got, l->out) != 0)
                print_message("    %s\n    got  %s\n    want %s\n", l->in, got, l->out);
            assert_string_equal(got, l->out);
        }
        rig_teardown((void **)&fx);
    }
}

static void session__each_script_byte_by_byte__same_answers(void **state)
{
    (void)state;
    for (size_t i = 0; i < ARRAY_LEN(scripts); i++) {
        struct fixture *fx;
        assert_int_equal(rig_setup((void **)&fx), 0);
        no_acks(fx);
        for (const struct line *l = scripts[i].lines; l->in; l++) {
            char frame[512];
            int n = strcmp(l->in, "^C") == 0
                        ? snprintf(frame, sizeof frame, "\003")
                        : snprintf(frame, sizeof frame, "$%s#%02x", l->in,
                                   rsp_checksum((const uint8_t *)l->in, strlen(l->in)));
            for (int k = 0; k < n; k++)
                feed_bytes(fx->s, frame + k, 1);
            pump_target(fx);
            assert_string_equal(take_answer(fx, fx->s), l->out);
        }
        rig_teardown((void **)&fx);
    }
}

/* ---- acknowledgments ---- */

static void session__acks_on__every_packet_acked_and_resent_on_nak(void **state)
{
    struct fixture *fx = *state;
    assert_string_equal(talk_first(fx, "p5"), "+ 00100000");
    feed_bytes(fx->s, "-", 1);
    assert_string_equal(take_answer(fx, fx->s), "00100000");
    feed_bytes(fx->s, "+", 1);
    assert_string_equal(take_answer(fx, fx->s), "");
    feed_bytes(fx->s, "$p5#00", 6);
    assert_string_equal(take_answer(fx, fx->s), "-");
    for (int i = 0; i < 100; i++) /* a peer that never takes it */
        feed_bytes(fx->s, "-", 1);
    const uint8_t *out;
    assert_true(session_pending(fx->s, &out) <= MAX_RESENDS * 12);
}

static void session__no_ack_mode__bad_packets_vanish(void **state)
{
    struct fixture *fx = *state;
    no_acks(fx);
    feed_bytes(fx->s, "+$p5#00-", 8);
    assert_string_equal(take_answer(fx, fx->s), "");
    assert_string_equal(talk_first(fx, "p5"), "00100000");
}

/* ---- bounds ---- */

static void session__packet_too_long__error_and_it_goes_on(void **state)
{
    struct fixture *fx = *state;
    char *big = malloc(GDBSTUB_PACKET_SIZE + 100);
    no_acks(fx);
    memset(big, '0', GDBSTUB_PACKET_SIZE + 100);
    send_packet(fx->s, big, GDBSTUB_PACKET_SIZE + 100);
    assert_string_equal(take_answer(fx, fx->s), "E16");
    assert_string_equal(talk_first(fx, "p5"), "00100000");
    free(big);
}

static void session__largest_transfers__whole(void **state)
{
    struct fixture *fx = *state;
    size_t n = (GDBSTUB_PACKET_SIZE - 32) / 2;
    char *packet = malloc(GDBSTUB_PACKET_SIZE + 1);
    no_acks(fx);
    int head = snprintf(packet, 32, "M0,%zx:", n);
    for (size_t i = 0; i < n; i++)
        snprintf(packet + head + 2 * i, 3, "%02x", (unsigned)(i * 7) & 0xFF);
    send_packet(fx->s, packet, (size_t)head + 2 * n);
    assert_string_equal(take_answer(fx, fx->s), "OK");
    for (size_t i = 0; i < n; i++)
        assert_int_equal(fx->ram.mem[i], i * 7 & 0xFF);
    assert_string_equal(talk_first(fx, "m0,ffffff"), talk_first(fx, "m0,8000"));
    assert_int_equal(strlen(fx->answer), GDBSTUB_PACKET_SIZE);
    assert_memory_equal(fx->answer, packet + head, 2 * n);
    free(packet);
}

static void session__peer_that_does_not_read__input_stops_at_a_bound(void **state)
{
    struct fixture *fx = *state;
    struct err err;
    const uint8_t *out;
    size_t total = 0, taken = 0;
    no_acks(fx);
    for (int i = 0; i < 100000; i++) {
        int used = session_feed(fx->s, (const uint8_t *)"$m0,1000#8a", 11, &err);
        assert_true(used >= 0);
        taken += used > 0;
        if (used == 0)
            break;
    }
    total = session_pending(fx->s, &out);
    assert_true(total >= OUT_HIGH && total < OUT_HIGH + 3 * GDBSTUB_PACKET_SIZE);
    assert_true(taken < 100);
    session_sent(fx->s, total);
    assert_string_equal(talk_first(fx, "p5"), "00100000");
}

/* A page in a browser may send any of these. */
static void session__what_is_not_of_the_protocol__ends_it_and_nothing_behind_acts(void **state)
{
    static const char *const rows[] = { "x$P5=11111111#xx", " $P5=11111111#xx", "$g$P5=11111111#xx",
                                        "+ / HTTP/1.1\r\n\r\n$P5=11111111#xx",
                                        "$q / HTTP/1.1\r\n\r\n$P5=11111111#xx" };
    struct fixture *fx = *state;
    struct err err;
    for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
        char text[80];
        struct session *s;
        print_message("  %s\n", rows[i]);
        int n = snprintf(text, sizeof text, "%s", rows[i]);
        snprintf(text + n - 2, 3, "%02x", rsp_checksum((const uint8_t *)"P5=11111111", 11));
        session_close(fx->s);
        assert_int_equal(session_open(fx->stub, NULL, NULL, &s, &err), 0);
        fx->s = s;
        assert_int_equal(session_feed(s, (const uint8_t *)text, (size_t)n, &err), -ERR_PROTOCOL);
        session_close(s);
        assert_int_equal(session_open(fx->stub, NULL, NULL, &fx->s, &err), 0);
        assert_string_equal(talk_first(fx, "p5"), "+ 00100000");
    }
}

static void session__monitor_flood__cut_and_goes_on(void **state)
{
    struct fixture *fx = *state;
    const uint8_t *out;
    no_acks(fx);
    send_packet(fx->s, "qRcmd,666c6f6f64", 16);
    assert_true(session_pending(fx->s, &out) <= OUT_MAX);
    const char *text = take_answer(fx, fx->s);
    assert_memory_equal(text, "Oline 00000000 of a long answer", 30);
    assert_string_equal(talk_first(fx, "p5"), "00100000");
}

/* ---- registers ---- */

static void session__g_twice__target_read_once_per_halt(void **state)
{
    struct fixture *fx = *state;
    no_acks(fx);
    talk_first(fx, "?");
    talk_first(fx, "g");
    unsigned reads = fx->ram.reg_reads;
    assert_int_equal(reads, RAM_NREGS - 1); /* one place has no register */
    for (int i = 0; i < 5; i++)
        talk_first(fx, "g");
    assert_int_equal(fx->ram.reg_reads, reads);
    talk_first(fx, "s");
    talk_first(fx, "g");
    assert_int_equal(fx->ram.reg_reads, 2 * reads);
}

/* GDB's G carries r0 and the bank that is the same register, stale. */
static void session__G_with_a_stale_alias__low_number_wins(void **state)
{
    struct fixture *fx = *state;
    no_acks(fx);
    talk_first(fx, "P0=11111111");
    assert_string_equal(
        talk_first(fx, "G44332211000000000000000000000000000000000010000000800000aa11111111"),
        "OK");
    assert_int_equal(fx->ram.reg[RAM_R0], 0x11223344);
    assert_int_equal(fx->ram.reg[RAM_FLAG], 0xAA);
    assert_string_equal(talk_first(fx, "g"),
                        "44332211000000000000000000000000xxxxxxxx0010000000800000aa44332211");
    assert_string_equal(talk_first(fx, "G55"),
                        "OK"); /* shorter than a register: nothing is written */
    assert_int_equal(fx->ram.reg[RAM_R0], 0x11223344);
    assert_string_equal(talk_first(fx, "G5"), "E16");
}

static void session__running__registers_refused_memory_allowed(void **state)
{
    struct fixture *fx = *state;
    no_acks(fx);
    talk_first(fx, "QNonStop:1");
    assert_string_equal(talk_first(fx, "vCont;c"), "OK");
    assert_string_equal(talk_first(fx, "g"), "E10");
    assert_string_equal(talk_first(fx, "m2000,2"), "0000");
}

/* A variable is changed while it runs; what GDB sends at once of a load is refused. */
static void session__running__a_load_is_refused_a_variable_is_not(void **state)
{
    struct fixture *fx = *state;
    char packet[160] = "M2000,41:";
    no_acks(fx);
    for (int i = 0; i < 65; i++)
        strcat(packet, "5a");
    talk_first(fx, "QNonStop:1");
    assert_string_equal(talk_first(fx, "vCont;c"), "OK");
    assert_string_equal(talk_first(fx, packet), "E10");
    assert_string_equal(talk_first(fx, "m2000,2"), "0000");
    assert_string_equal(talk_first(fx, "M2000,2:1234"), "OK");
    assert_string_equal(talk_first(fx, "m2000,2"), "1234");
}

/* ---- breakpoints ---- */

/* What GDB does at every stop: remove all, set all again, go on. */
static void breakpoints__removed_and_set_again__target_not_bothered(void **state)
{
    struct fixture *fx = *state;
    no_acks(fx);
    talk_first(fx, "Z0,1006,2");
    talk_first(fx, "Z0,1100,2");
    unsigned calls = fx->ram.bp_calls;
    for (int i = 0; i < 5; i++) {
        assert_string_equal(talk_first(fx, "z0,1006,2"), "OK");
        assert_string_equal(talk_first(fx, "Z0,1006,2"), "OK");
    }
    assert_int_equal(fx->ram.bp_calls, calls);
    assert_string_equal(talk_first(fx, "z0,1006,2"), "OK");
    assert_int_equal(fx->ram.nbps, 2);
    assert_string_equal(talk_first(fx, "c"),
                        STOP_AT("05", "00110000", "")); /* the removed one is gone */
    assert_int_equal(fx->ram.nbps, 1);
}

static void breakpoints__target_full_of_removed_ones__place_is_made(void **state)
{
    struct fixture *fx = *state;
    char packet[32];
    no_acks(fx);
    for (int round = 0; round < 3; round++) {
        for (int i = 0; i < RAM_BPS; i++) {
            snprintf(packet, sizeof packet, "Z0,%x,2", 0x4000 + round * 0x100 + 2 * i);
            assert_string_equal(talk_first(fx, packet), "OK");
        }
        /* GDB shows it */
        assert_string_equal(talk_first(fx, "Z1,9000,2"),
                            "E.resource.all 32 breakpoints are used; delete one");
        assert_string_equal(talk_monitor(fx, fx->s, "version"), "=probeprof 1.2, target ram\n");
        /* and not this one: it is told */
        assert_string_equal(talk_first(fx, "Z2,9000,2"),
                            "E.all 32 breakpoints are used; delete one");
        assert_string_equal(talk_monitor(fx, fx->s, "version"),
                            "OThe request for a breakpoint or watchpoint failed: all 32 "
                            "breakpoints are used\n  delete one\n Oprobeprof 1.2, target ram\n OK");
        for (int i = 0; i < RAM_BPS; i++) {
            snprintf(packet, sizeof packet, "z0,%x,2", 0x4000 + round * 0x100 + 2 * i);
            assert_string_equal(talk_first(fx, packet), "OK");
        }
    }
}

/* GDB goes on only when the breakpoint that was refused is deleted, or granted. */
static void breakpoints__refused_one_is_deleted__nothing_is_said_of_it_later(void **state)
{
    struct fixture *fx = *state;
    no_acks(fx);
    ram_put_word(&fx->ram, 0x1004, RAM_CRASH);
    assert_int_equal(talk_first(fx, "Z0,4000,3")[0], 'E');
    fx->ram.nbps = RAM_BPS;
    assert_int_equal(talk_first(fx, "Z2,9000,2")[0], 'E');
    fx->ram.nbps = 0;
    assert_string_equal(talk_first(fx, "s"), STOP_AT("05", "02100000", ""));
    assert_string_equal(talk_first(fx, "s"), STOP_AT("05", "04100000", ""));
    assert_string_equal(talk_monitor(fx, fx->s, "version"), "=probeprof 1.2, target ram\n");
}

/* ---- watchpoints, exits, crashes ---- */

static void session__watchpoints__kind_and_address_reported(void **state)
{
    static const struct {
        const char *z;
        uint16_t word;
        const char *out;
    } rows[] = {
        { "Z2,2000,4", RAM_STORE, STOP_AT("05", "02100000", "watch:2001;") },
        { "Z3,2000,4", RAM_LOAD, STOP_AT("05", "02100000", "rwatch:2001;") },
        { "Z4,2000,4", RAM_STORE, STOP_AT("05", "02100000", "awatch:2001;") },
        { "Z4,2000,4", RAM_LOAD, STOP_AT("05", "02100000", "awatch:2001;") },
    };
    (void)state;
    for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
        struct fixture *fx;
        assert_int_equal(rig_setup((void **)&fx), 0);
        no_acks(fx);
        ram_put_word(&fx->ram, 0x1000, rows[i].word);
        fx->ram.reg[RAM_R1] = 0x2001;
        assert_string_equal(talk_first(fx, rows[i].z), "OK");
        assert_string_equal(talk_first(fx, "c"), rows[i].out);
        rig_teardown((void **)&fx);
    }
}

static void session__program_exits__W_with_its_status(void **state)
{
    struct fixture *fx = *state;
    no_acks(fx);
    ram_put_word(&fx->ram, 0x1004, RAM_EXIT);
    fx->ram.reg[RAM_R0] = 7;
    assert_string_equal(talk_first(fx, "c"), "W07");
    assert_string_equal(talk_first(fx, "?"), "W00");
    struct session *next = open_second(fx); /* finds a halted board */
    assert_string_equal(talk_to(fx, next, "?"), STOP_AT("05", "04100000", ""));
}

static void session__crash__text_then_signal(void **state)
{
    struct fixture *fx = *state;
    no_acks(fx);
    ram_put_word(&fx->ram, 0x1004, RAM_CRASH);
    assert_string_equal(talk_first(fx, "c"),
                        "Ofault at the crash word\n " STOP_AT("0b", "04100000", ""));
}

/* ---- host I/O ---- */

static void fileio__off__refused_to_the_program_and_it_goes_on(void **state)
{
    struct fixture *fx = *state;
    no_acks(fx);
    put_syscall(fx, 5, 0x2000, 0, 0);
    talk_first(fx, "Z0,1006,2");
    assert_string_equal(talk_first(fx, "c"), STOP_AT("05", "06100000", ""));
    assert_int_equal(fx->ram.result, -1);
    assert_int_equal(fx->ram.error, 88);
}

static void fileio__off__console_text_still_comes(void **state)
{
    struct fixture *fx = *state;
    no_acks(fx);
    memcpy(fx->ram.mem + 0x2000, "hello", 5);
    put_syscall(fx, 4, 1, 0x2000, 5);
    talk_first(fx, "Z0,1006,2");
    assert_string_equal(talk_first(fx, "c"), "Ohello " STOP_AT("05", "06100000", ""));
    assert_int_equal(fx->ram.result, 5);
}

/* The driver steps over a breakpoint where it is told to go on; here nobody has seen the program
 * stop at it. */
static void fileio__breakpoint_behind_the_call__met(void **state)
{
    static const struct {
        const char *name, *monitor, *first, *second;
    } rows[] = {
        { "off", "qRcmd,66696c65696f206f6666", STOP_AT("05", "02100000", "swbreak:;"), NULL },
        { "on", "qRcmd,66696c65696f206f6e", "Fclose,3", STOP_AT("05", "02100000", "swbreak:;") },
    };
    (void)state;
    for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
        struct fixture *fx;
        print_message("  %s\n", rows[i].name);
        assert_int_equal(rig_setup((void **)&fx), 0);
        no_acks(fx);
        talk_first(fx, "qSupported:swbreak+");
        talk_first(fx, rows[i].monitor);
        put_syscall(fx, 6, 3, 0, 0);
        talk_first(fx, "Z0,1002,2");
        assert_string_equal(talk_first(fx, "c"), rows[i].first);
        if (rows[i].second)
            assert_string_equal(talk_first(fx, "F0"), rows[i].second);
        assert_int_equal(fx->ram.result, rows[i].second ? 0 : -1);
        rig_teardown((void **)&fx);
    }
}

static void fileio__on__requests_and_results(void **state)
{
    static const struct {
        const char *name;
        uint32_t call[4];
        const char *request, *reply;
        int64_t result;
        int error;
    } rows[] = {
        { "open", { 5, 0x2000, 0x601, 0x1b6 }, "Fopen,2000/9,601,1b6", "F3", 3, 0 },
        { "open fails", { 5, 0x2000, 0, 0 }, "Fopen,2000/9,0,0", "F-1,2", -1, 2 },
        { "read", { 3, 3, 0x3000, 0x10 }, "Fread,3,3000,10", "Fc", 12, 0 },
        { "write", { 4, 3, 0x3000, 0x10 }, "Fwrite,3,3000,10", "F10", 16, 0 },
        { "close", { 6, 3, 0, 0 }, "Fclose,3", "F0", 0, 0 },
        { "lseek", { 19, 3, 0x40, 2 }, "Flseek,3,40,2", "F40", 64, 0 },
        { "unlink", { 10, 0x2000, 0, 0 }, "Funlink,2000/9", "F0", 0, 0 },
        { "isatty", { 21, 1, 0, 0 }, "Fisatty,1", "F1", 1, 0 },
    };
    (void)state;
    for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
        struct fixture *fx;
        print_message("  %s\n", rows[i].name);
        assert_int_equal(rig_setup((void **)&fx), 0);
        no_acks(fx);
        strcpy((char *)fx->ram.mem + 0x2000, "file.txt");
        assert_string_equal(talk_first(fx, "qRcmd,66696c65696f206f6e"),
                            "=File-I/O is on: the program can use files where GDB runs.\n");
        put_syscall(fx, rows[i].call[0], rows[i].call[1], rows[i].call[2], rows[i].call[3]);
        talk_first(fx, "Z0,1006,2");
        assert_string_equal(talk_first(fx, "c"), rows[i].request);
        assert_string_equal(talk_first(fx, rows[i].reply), STOP_AT("05", "06100000", ""));
        assert_int_equal(fx->ram.result, rows[i].result);
        assert_int_equal(fx->ram.error, rows[i].error);
        rig_teardown((void **)&fx);
    }
}

static void fileio__ctrl_c_in_the_reply__stops_as_interrupted(void **state)
{
    struct fixture *fx = *state;
    no_acks(fx);
    talk_first(fx, "qRcmd,66696c65696f206f6e");
    put_syscall(fx, 3, 0, 0x3000, 16);
    assert_string_equal(talk_first(fx, "c"), "Fread,0,3000,10");
    assert_string_equal(talk_first(fx, "F-1,4,C"), STOP_AT("02", "02100000", ""));
    assert_int_equal(fx->ram.error, 4);
}

/* ---- non-stop ---- */

static void non_stop__runs_and_stops__notified_once(void **state)
{
    struct fixture *fx = *state;
    no_acks(fx);
    assert_string_equal(talk_first(fx, "QNonStop:1"), "OK");
    assert_string_equal(talk_first(fx, "?"), STOP_AT("05", "00100000", ""));
    assert_string_equal(talk_first(fx, "vStopped"), "OK");
    assert_string_equal(talk_first(fx, "vCont;s:1"), "OK %Stop:" STOP_AT("05", "02100000", ""));
    assert_string_equal(talk_first(fx, "vStopped"), "OK");
    assert_string_equal(talk_first(fx, "vCont;c"), "OK");
    assert_string_equal(talk_first(fx, "?"), "OK");
    const char *got = talk_first(fx, "vCont;t");
    assert_memory_equal(got, "OK %Stop:T00", 12);
    assert_string_equal(talk_first(fx, "vStopped"), "OK");
    assert_string_equal(talk_first(fx, "vCont;c"), "OK");
    got = talk_first(fx, "vCtrlC");
    assert_memory_equal(got, "OK %Stop:T02", 12);
    assert_string_equal(talk_first(fx, "QNonStop:0"), "OK");
    assert_string_equal(talk_first(fx, "QNonStop:2"), "E16");
}

/* ---- which file runs ---- */

static void exec_file__named__read_in_parts(void **state)
{
    struct fixture *fx = *state;
    no_acks(fx);
    assert_null(strstr(talk_first(fx, "qSupported"), "exec-file"));
    assert_string_equal(talk_first(fx, "qXfer:exec-file:read::0,1000"), "E00");
    fx->stub->cfg.exec_file = "/home/me/a b#1.elf";
    assert_non_null(strstr(talk_first(fx, "qSupported"), ";qXfer:exec-file:read+"));
    assert_string_equal(talk_first(fx, "qXfer:exec-file:read::0,1000"), "l/home/me/a b}\0031.elf");
    assert_string_equal(talk_first(fx, "qXfer:exec-file:read:1:0,6"), "m/home/");
    assert_string_equal(talk_first(fx, "qXfer:exec-file:read:1:6,100"), "lme/a b}\0031.elf");
    assert_string_equal(talk_first(fx, "qXfer:exec-file:read::12,1"), "l");
    assert_string_equal(talk_first(fx, "qXfer:exec-file:read::13,1"), "E16");
    assert_string_equal(talk_first(fx, "qXfer:exec-file:read:0,1"), "E00");
    assert_string_equal(talk_first(fx, "qXfer:exec-file:read:"), "E00");
}

/* ---- monitor ---- */

static void monitor__words__reach_the_right_table(void **state)
{
    struct fixture *fx = *state;
    no_acks(fx);
    assert_string_equal(talk_monitor(fx, fx->s, "version"), "=probeprof 1.2, target ram\n");
    assert_string_equal(talk_monitor(fx, fx->s, "bdccsr"), "Obdccsr OK");
    assert_string_equal(talk_monitor(fx, fx->s, " echo  a \"b c\" d"), "Oecho|a|b c|d OK");
    assert_string_equal(talk_monitor(fx, fx->s, "reset sideways"),
                        "OError: reset: sideways is neither halt nor run\n  reset [halt|run]\n OK");
    assert_string_equal(talk_monitor(fx, fx->s, "ecko"),
                        "OError: no monitor command ecko\n  did you mean echo?\n OK");
    assert_string_equal(talk_monitor(fx, fx->s, "go"),
                        "OError: no monitor command go; here it is\n  continue\n OK");
    assert_string_equal(talk_monitor(fx, fx->s, "mdw 0x2000"),
                        "OError: no monitor command mdw; here it is\n  x/1xw ADDRESS\n OK");
    assert_non_null(strstr(talk_monitor(fx, fx->s, "reset init"), "reset and is halted"));
    assert_string_equal(talk_monitor(fx, fx->s, "fail"),
                        "OError: this never works\n  try something else\n OK");
    const char *help = talk_monitor(fx, fx->s, "help");
    assert_non_null(strstr(help, "reset [halt|run]"));
    assert_non_null(strstr(help, "echo WORDS"));
    talk_first(fx, "qSupported:error-message+");
    assert_string_equal(talk_monitor(fx, fx->s, "fail"), "E.this never works; try something else");
    assert_string_equal(talk_first(fx, "qRcmd,6"),
                        "E.malformed packet: qRcmd expects digits, at most 1024 characters");
}

static void monitor__reset_run__continue_waits_for_the_next_stop(void **state)
{
    struct fixture *fx = *state;
    no_acks(fx);
    talk_first(fx, "Z0,20,2");
    assert_string_equal(talk_monitor(fx, fx->s, "reset halt"),
                        "=The target was reset and is halted; `maintenance flush register-cache` "
                        "shows its registers.\n");
    assert_string_equal(talk_first(fx, "p5"), "00000000");
    fx->ram.words_per_poll = 2;
    talk_monitor(fx, fx->s, "reset run");
    unsigned resumes = fx->ram.resumes;
    fx->ram.words_per_poll = 0;
    assert_string_equal(talk_first(fx, "c"), "T0505:20000000;06:00000000;thread:1;");
    assert_int_equal(fx->ram.resumes, resumes);
}

/* ---- several sessions ---- */

static void observers__may_read_not_write(void **state)
{
    struct fixture *fx = *state;
    no_acks(fx);
    struct session *o = open_second(fx);
    const char *refusal = "E.another GDB controls the target, this one observes; it takes over "
                          "when the other one leaves, or by monitor control take";
    talk_to(fx, o, "qSupported:error-message+");
    assert_string_equal(talk_to(fx, o, "?"), STOP_AT("05", "00100000", ""));
    assert_string_equal(talk_to(fx, o, "m2000,1"), "00");
    assert_string_equal(talk_to(fx, o, "p5"), "00100000");
    static const char *const refused[] = {
        "M2000,1:01", "X2000,1:a", "P0=00000001", "G00000001", "Z0,1000,2", "z0,1000,2",       "c",
        "s",          "vCont;c",   "vRun;",       "vKill;1",   "R00",       "qRcmd,666c6f6f64"
    };
    for (size_t i = 0; i < ARRAY_LEN(refused); i++) {
        print_message("  %s\n", refused[i]);
        assert_string_equal(talk_to(fx, o, refused[i]), refusal);
    }
    assert_string_equal(talk_monitor(fx, o, "sessions"),
                        "O1: controls\n2: observes, this one\n OK");
    assert_int_equal(fx->ram.resumes, 0);
    assert_int_equal(fx->ram.reg_writes, 0);
    assert_int_equal(fx->ram.resets, 0);
}

static void observers__wait_and_look__are_notified_without_disturbing(void **state)
{
    struct fixture *fx = *state;
    no_acks(fx);
    struct session *o = open_second(fx);
    fx->ram.words_per_poll = 1;
    talk_first(fx, "c");
    const char *got = talk_to(fx, o, "?"); /* runs: a look */
    assert_memory_equal(got, "T02", 3);
    assert_string_equal(take_answer(fx, fx->s), "");
    assert_int_equal(fx->ram.state, TARGET_RUNNING);
    assert_int_equal(strlen(talk_to(fx, o, "g")), 66);
    assert_string_equal(talk_to(fx, o, "c"), "");
    feed_bytes(fx->s, "\003", 1);
    pump_target(fx);
    assert_memory_equal(take_answer(fx, fx->s), "T02", 3);
    assert_memory_equal(take_answer(fx, o), "T02", 3);
}

static void observers__look_where_a_breakpoint_is__program_stops_there(void **state)
{
    struct fixture *fx = *state;
    char packet[32], want[80];
    no_acks(fx);
    struct session *o = open_second(fx);
    talk_first(fx, "qSupported:swbreak+");
    fx->ram.words_per_poll = 1;
    talk_first(fx, "c");
    uint32_t pc = fx->ram.reg[RAM_PC];
    snprintf(packet, sizeof packet, "Z0,%x,2", pc);
    send_packet(fx->s, packet, strlen(packet));
    assert_string_equal(take_answer(fx, fx->s), "OK");
    assert_memory_equal(talk_to(fx, o, "?"), "T02", 3);
    snprintf(want, sizeof want, "T0505:%02x%02x0000;06:00800000;thread:1;swbreak:;", pc & 0xFF,
             pc >> 8);
    assert_string_equal(take_answer(fx, fx->s), want);
    assert_int_equal(fx->ram.state, TARGET_HALTED);
}

static void observers__controller_leaves__oldest_takes_over(void **state)
{
    struct fixture *fx = *state;
    no_acks(fx);
    struct session *o = open_second(fx), *o2 = open_second(fx);
    talk_first(fx, "Z0,1006,2");
    assert_int_equal(fx->ram.nbps, 1);
    session_close(fx->s);
    assert_int_equal(fx->ram.nbps, 0);
    assert_true(session_controls(o));
    assert_false(session_controls(o2));
    assert_string_equal(talk_to(fx, o, "P0=01000000"), "OK");
    assert_int_equal(fx->ram.state, TARGET_HALTED);
}

static void sessions__too_many__refused(void **state)
{
    struct fixture *fx = *state;
    struct session *s;
    struct err err = { .code = ERR_OK };
    for (int i = 1; i < GDBSTUB_MAX_SESSIONS; i++)
        assert_int_equal(session_open(fx->stub, NULL, NULL, &s, &err), 0);
    assert_int_equal(session_open(fx->stub, NULL, NULL, &s, &err), -ERR_RESOURCE);
}

/* ---- detaching ---- */

static void detach__alone__board_is_let_go(void **state)
{
    struct fixture *fx = *state;
    no_acks(fx);
    talk_first(fx, "Z0,1006,2");
    assert_string_equal(talk_first(fx, "D"), "OK");
    assert_true(session_finished(fx->s));
    assert_int_equal(fx->ram.detaches, 1);
    session_close(fx->s);
    struct session *s = open_second(fx); /* attaches again, halts when asked */
    assert_int_equal(fx->ram.attaches, 1);
    assert_memory_equal(talk_to(fx, s, "?"), "T02", 3);
}

static void session__breaks_off_while_halted__goes_on_only_for_somebody_who_waits(void **state)
{
    struct fixture *fx = *state;
    no_acks(fx);
    struct session *o = open_second(fx);
    talk_first(fx, "Z0,1006,2");
    fx->hold = true;
    session_close(fx->s);
    assert_int_equal(fx->ram.state, TARGET_HALTED); /* the other one can let it go on */
    session_close(o);
    assert_int_equal(fx->ram.state, TARGET_RUNNING);
    assert_int_equal(fx->ram.nbps, 0);
    assert_int_equal(fx->ram.detaches, 0);
    fx->ram.halt_asked = true;
    fx->hold = false;
    struct session *s = open_second(fx);
    assert_memory_equal(talk_to(fx, s, "?"), "T02", 3);
    session_close(s);
    assert_int_equal(fx->ram.state, TARGET_HALTED);
}

static void detach__something_holds_the_target__only_resumed(void **state)
{
    struct fixture *fx = *state;
    fx->hold = true;
    no_acks(fx);
    talk_first(fx, "Z0,1006,2");
    assert_string_equal(talk_first(fx, "D;1"), "OK");
    assert_int_equal(fx->ram.detaches, 0);
    assert_int_equal(fx->ram.nbps, 0);
    assert_int_equal(fx->ram.state, TARGET_RUNNING);
}

/* ---- a target that goes away ---- */

static void gone__while_running__reported_and_breakpoints_come_back(void **state)
{
    struct fixture *fx = *state;
    const struct err why = { .what = "USB unplugged", .hint = "plug it in" };
    no_acks(fx);
    fx->ram.words_per_poll = 1;
    talk_first(fx, "Z0,1100,2");
    talk_first(fx, "c");
    fx->ram.gone = true;
    stub_gone(fx->stub, &why);
    assert_string_equal(take_answer(fx, fx->s),
                        "OThe connection to the target is lost: USB unplugged; "
                        "plug it in\nStill looking for it.\n");
    assert_string_equal(talk_first(fx, "m2000,4"), "E01");
    fx->ram.gone = false;
    fx->ram.nbps = 0; /* as after power loss */
    stub_back(fx->stub);
    assert_string_equal(take_answer(fx, fx->s), "OThe target is back.\n");
    assert_int_equal(fx->ram.nbps, 1);
    fx->ram.words_per_poll = 1000;
    pump_target(fx);
    assert_string_equal(take_answer(fx, fx->s), STOP_AT("05", "00110000", ""));
}

static void gone__ctrl_c_meanwhile__answered(void **state)
{
    struct fixture *fx = *state;
    no_acks(fx);
    talk_first(fx, "c");
    lose_target(fx);
    assert_string_equal(talk_first(fx, "^C"),
                        "OThe target does not answer; its state is unknown.\n T02thread:1;");
    assert_string_equal(
        talk_first(fx, "c"),
        "E.the target does not answer; check adapter, cable and power; it is being looked for");
    /* GDB waits for ever behind an error here */
    assert_string_equal(talk_first(fx, "?"), "T02thread:1;");
    assert_string_equal(
        talk_first(fx, "g"),
        "E.the target does not answer; check adapter, cable and power; it is being looked for");
}

/* ---- a target that answers, but does not halt ---- */

static const struct err no_halt = { .code = ERR_TIMEOUT,
                                    .what = "halt: no answer",
                                    .hint = "is it clocked?" };

/* GDB takes the first packet behind ? for the stop: an O packet there, or an error, and it hangs.
 */
static void troubled__question_mark_pending__a_stop_then_the_reason(void **state)
{
    static const char *const questions[] = { "?", "vAttach;1" };
    for (size_t i = 0; i < ARRAY_LEN(questions); i++) {
        struct fixture *fx = *state;
        no_acks(fx);
        fx->ram.state = TARGET_RUNNING;
        send_packet(fx->s, questions[i], strlen(questions[i]));
        assert_string_equal(take_answer(fx, fx->s), "");
        stub_troubled(fx->stub, &no_halt);
        assert_string_equal(take_answer(fx, fx->s), "T02thread:1;");
        send_packet(fx->s, "g", 1);
        assert_string_equal(take_answer(fx, fx->s), "E.halt: no answer; is it clocked?");
        pump_target(fx); /* it stops after all */
        assert_string_equal(talk_first(fx, "m2000,1"), "00");
        fx->s->acks = true; /* as it began */
    }
}

static void troubled__ctrl_c_pending__says_so_and_tries_again(void **state)
{
    struct fixture *fx = *state;
    no_acks(fx);
    send_packet(fx->s, "c", 1);
    feed_bytes(fx->s, "\003", 1);
    stub_troubled(fx->stub, &no_halt);
    assert_string_equal(
        take_answer(fx, fx->s),
        "Ohalt: no answer; is it clocked?\nIt is taken to run on; Ctrl-C tries again.\n");
    stub_troubled(fx->stub, &no_halt); /* nobody asked again: not said again */
    assert_string_equal(take_answer(fx, fx->s), "");
    assert_string_equal(talk_first(fx, "^C"), STOP_AT("02", "00100000", ""));
}

static void stop_with_text__in_answer_to_a_question__comes_alone(void **state)
{
    struct fixture *fx = *state;
    const struct target_stop stop = {
        .reason = STOP_REQUEST, .pc = 0x1000, .signal = 2, .text = "halted in a handler"
    };
    no_acks(fx);
    fx->ram.state = TARGET_RUNNING;
    send_packet(fx->s, "?", 1);
    fx->ram.state = TARGET_HALTED;
    stub_stopped(fx->stub, &stop);
    assert_string_equal(take_answer(fx, fx->s), STOP_AT("02", "00100000", ""));
    fx->ram.words_per_poll = 1;
    send_packet(fx->s, "c", 1);
    fx->ram.state = TARGET_HALTED;
    stub_stopped(fx->stub, &stop);
    assert_string_equal(take_answer(fx, fx->s),
                        "Ohalted in a handler\n " STOP_AT("02", "00100000", ""));
}

static void gone__while_halted__halted_again_when_it_runs_after(void **state)
{
    struct fixture *fx = *state;
    no_acks(fx);
    talk_first(fx, "?");
    fx->ram.gone = true;
    stub_gone(fx->stub, &(struct err){ .what = "x" });
    assert_string_equal(take_answer(fx, fx->s), "");
    fx->ram.gone = false;
    fx->ram.state = TARGET_RUNNING;
    stub_back(fx->stub);
    pump_target(fx);
    assert_int_equal(fx->ram.state, TARGET_HALTED);
    assert_string_equal(talk_first(fx, "m2000,1"), "00");
}

/* The program stops while nobody looks; then the target is back. */
static void stop_unseen(struct fixture *fx)
{
    struct target_stop unseen;
    fx->ram.gone = false;
    assert_int_equal(fx->ram.target.ops->poll(&fx->ram.target, 0, &unseen, NULL), 1);
    stub_back(fx->stub);
}

static void gone__breakpoint_or_call_meanwhile__reported_as_ever(void **state)
{
    struct fixture *fx = *state;
    no_acks(fx);
    talk_first(fx, "qSupported:swbreak+");
    talk_first(fx, "?"); /* from here on exits are noticed */
    talk_first(fx, "Z0,1100,2");
    send_packet(fx->s, "c", 1);
    lose_target(fx);
    stop_unseen(fx);
    assert_string_equal(take_answer(fx, fx->s),
                        "OThe target is back.\n " STOP_AT("05", "00110000", "swbreak:;"));
    ram_put_word(&fx->ram, 0x1102, RAM_EXIT);
    talk_first(fx, "z0,1100,2");
    send_packet(fx->s, "c", 1);
    lose_target(fx);
    stop_unseen(fx);
    assert_string_equal(take_answer(fx, fx->s), "OThe target is back.\n W00");
}

/* GDB has interrupted a host call, whose stop is the program's last; it waits for nothing. */
static void gone__while_halted_in_a_call__nothing_is_asked_of_gdb(void **state)
{
    struct fixture *fx = *state;
    no_acks(fx);
    talk_first(fx, "?");
    fx->ram.gone = true;
    stub_gone(fx->stub, &(struct err){ .what = "x" });
    fx->ram.gone = false;
    fx->ram.last = (struct target_stop){ .reason = STOP_SYSCALL, .syscall = { .number = 4 } };
    stub_back(fx->stub);
    assert_string_equal(take_answer(fx, fx->s), "");
    assert_int_equal(fx->ram.state, TARGET_HALTED);
}

/* It runs when it is back, and GDB waits for something else than a breakpoint. */
static void gone__ctrl_c_or_step_was_under_way__halted_when_back(void **state)
{
    /* the driver knows a moment before sessions are told */
    enum when { BEFORE, AS_IT_GOES, NEVER };
    static const struct {
        const char *begin;
        enum when ctrl_c;
    } rows[] = {
        { "c", BEFORE }, { "c", AS_IT_GOES }, { "s", NEVER }, { "vCont;r1000,1100:1", NEVER }
    };
    for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
        struct fixture *fx = *state;
        no_acks(fx);
        send_packet(fx->s, rows[i].begin, strlen(rows[i].begin));
        fx->ram.gone = rows[i].ctrl_c == AS_IT_GOES;
        if (rows[i].ctrl_c != NEVER)
            feed_bytes(fx->s, "\003", 1);
        lose_target(fx);
        fx->ram.gone = fx->ram.halt_asked = false;
        /* attaching forgets what was under way */
        fx->ram.how = (struct resume){ .kind = RESUME_CONTINUE };
        stub_back(fx->stub);
        pump_target(fx);
        assert_int_equal(fx->ram.state, TARGET_HALTED);
        assert_string_equal(take_answer(fx, fx->s),
                            "OThe target is back.\n " STOP_AT("02", "00100000", ""));
        fx->s->acks = true; /* as it began */
    }
}

/* ---- long work ---- */

static bool interrupted_thrice(void *ctx) { return ++*(int *)ctx > 2; }

static void search__ctrl_c_meanwhile__given_up(void **state)
{
    struct fixture *fx = *state;
    struct session *s;
    struct err err;
    int looks = 0;
    session_close(fx->s);
    assert_int_equal(session_open(fx->stub, interrupted_thrice, &looks, &s, &err), 0);
    send_packet(s, "qCRC:0,10000", 12);
    while (session_work(s))
        ;
    assert_string_equal(take_answer(fx, s), "+ E01");
    assert_int_equal(looks, 3);
}

static void walks__piece_by_piece__as_in_one(void **state)
{
    static const struct {
        const char *packet, *reply;
        int pieces;
    } rows[] = {
        { "qCRC:0,1000", "+ C", 0 },
        { "qCRC:0,10000", "+ C", 15 },
        { "qCRC:0,0", "+ Cffffffff", 0 },
        { "qSearch:memory:0;10000;\x7f\x7f\x7f\x7f\x7f\x7f\x7f", "+ 0", 16 },
    };
    struct fixture *fx = *state;
    struct err err;
    for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
        int pieces = 0;
        print_message("  %s\n", rows[i].packet);
        send_packet(fx->s, rows[i].packet, strlen(rows[i].packet));
        if (rows[i].pieces)
            assert_int_equal(session_feed(fx->s, (const uint8_t *)"$g#67", 5, &err),
                             0); /* not before it has answered */
        while (session_work(fx->s))
            pieces++;
        const char *text = take_answer(fx, fx->s);
        assert_int_equal(strncmp(text, rows[i].reply, strlen(rows[i].reply)), 0);
        assert_in_range(pieces, rows[i].pieces ? rows[i].pieces - 2 : 0, rows[i].pieces);
    }
}

static void walks__beyond_the_address_space__refused(void **state)
{
    static const char *const packets[] = { "qCRC:0,ffffffffffffffff", "qCRC:ffffffffffffffff,2",
                                           "qCRC:ffffffff,2",
                                           "qSearch:memory:0;ffffffffffffffff;abc" };
    struct fixture *fx = *state;
    for (size_t i = 0; i < ARRAY_LEN(packets); i++) {
        print_message("  %s\n", packets[i]);
        assert_string_equal(talk_first(fx, packets[i]), "+ E16");
    }
}

/* ---- the table ---- */

static void packet_rows__each__found_and_not_hidden(void **state)
{
    size_t n;
    const struct packet_row *rows = packet_rows(&n);
    (void)state;
    for (size_t i = 0; i < n; i++) {
        print_message("  %s\n", rows[i].name);
        assert_non_null(rows[i].run);
        assert_ptr_equal(packet_find(rows[i].name), &rows[i]);
        for (size_t k = 0; k < i; k++)
            if (!(rows[k].flags & EXACT))
                assert_int_not_equal(strncmp(rows[i].name, rows[k].name, strlen(rows[k].name)), 0);
    }
    assert_null(packet_find("gX"));
    assert_null(packet_find("qCX"));
}

/* Anything changing the target must be refused to observers; this finds a row that forgot. */
static void packet_rows__every_one_from_an_observer__changes_nothing(void **state)
{
    struct fixture *fx = *state;
    size_t n;
    const struct packet_row *rows = packet_rows(&n);
    static const char *const args[] = { "",   "0,1000,2", "0=00000001", "2000,1:01",
                                        ";c", "00000001", "7265736574" };
    no_acks(fx);
    struct session *o = open_second(fx);
    struct ram_target before = fx->ram;
    for (size_t i = 0; i < n; i++) {
        for (size_t k = 0; k < ARRAY_LEN(args); k++) {
            char packet[64];
            snprintf(packet, sizeof packet, "%s%s", rows[i].name, args[k]);
            if (session_finished(o)) {
                session_close(o);
                o = open_second(fx);
            }
            talk_to(fx, o, packet);
        }
    }
    assert_memory_equal(fx->ram.mem, before.mem, sizeof before.mem);
    assert_memory_equal(fx->ram.reg, before.reg, sizeof before.reg);
    assert_int_equal(fx->ram.resumes + fx->ram.resets + fx->ram.detaches + fx->ram.nbps, 0);
    assert_int_equal(fx->ram.state, TARGET_HALTED);
}

#define TEST(f) cmocka_unit_test_setup_teardown(f, rig_setup, rig_teardown)
static void secured_part__without_a_program__has_a_monitor_in_extended_mode(void **state)
{
    struct fixture *fx = *state;
    no_acks(fx);
    fx->ram.secured = true;
    fx->ram.state = TARGET_DETACHED;
    /* plain remote: an error here would hang GDB, so the registers tell */
    assert_string_equal(talk_first(fx, "?"), "T02thread:1;");
    assert_string_equal(talk_first(fx, "g"), "E.it is secured; erase it");
    assert_string_equal(talk_first(fx, "!"), "OK");
    assert_string_equal(talk_first(fx, "?"), "W00");
    assert_string_equal(talk_first(fx, "vAttach;1"), "E.it is secured; erase it");
    assert_string_equal(talk_first(fx, "qRcmd,6563686f"), "Oecho OK");
    fx->ram.secured = false;
    fx->ram.state = TARGET_HALTED;
    assert_string_equal(talk_first(fx, "vAttach;1"), STOP_AT("05", "00100000", ""));
    assert_int_not_equal(talk_first(fx, "g")[0], 'E'); /* what was wrong before is over */
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(session__golden_scripts__exact_answers),
        cmocka_unit_test(session__each_script_byte_by_byte__same_answers),
        TEST(session__acks_on__every_packet_acked_and_resent_on_nak),
        TEST(session__no_ack_mode__bad_packets_vanish),
        TEST(session__packet_too_long__error_and_it_goes_on),
        TEST(session__largest_transfers__whole),
        TEST(session__peer_that_does_not_read__input_stops_at_a_bound),
        TEST(session__what_is_not_of_the_protocol__ends_it_and_nothing_behind_acts),
        TEST(session__monitor_flood__cut_and_goes_on),
        TEST(session__g_twice__target_read_once_per_halt),
        TEST(session__G_with_a_stale_alias__low_number_wins),
        TEST(session__running__registers_refused_memory_allowed),
        TEST(session__running__a_load_is_refused_a_variable_is_not),
        TEST(breakpoints__removed_and_set_again__target_not_bothered),
        TEST(breakpoints__target_full_of_removed_ones__place_is_made),
        TEST(breakpoints__refused_one_is_deleted__nothing_is_said_of_it_later),
        cmocka_unit_test(session__watchpoints__kind_and_address_reported),
        TEST(session__program_exits__W_with_its_status),
        TEST(session__crash__text_then_signal),
        TEST(fileio__off__refused_to_the_program_and_it_goes_on),
        TEST(fileio__off__console_text_still_comes),
        TEST(secured_part__without_a_program__has_a_monitor_in_extended_mode),
        cmocka_unit_test(fileio__breakpoint_behind_the_call__met),
        cmocka_unit_test(fileio__on__requests_and_results),
        TEST(fileio__ctrl_c_in_the_reply__stops_as_interrupted),
        TEST(non_stop__runs_and_stops__notified_once),
        TEST(exec_file__named__read_in_parts),
        TEST(monitor__words__reach_the_right_table),
        TEST(monitor__reset_run__continue_waits_for_the_next_stop),
        TEST(observers__may_read_not_write),
        TEST(observers__wait_and_look__are_notified_without_disturbing),
        TEST(observers__look_where_a_breakpoint_is__program_stops_there),
        TEST(observers__controller_leaves__oldest_takes_over),
        TEST(sessions__too_many__refused),
        TEST(detach__alone__board_is_let_go),
        TEST(session__breaks_off_while_halted__goes_on_only_for_somebody_who_waits),
        TEST(detach__something_holds_the_target__only_resumed),
        TEST(gone__while_running__reported_and_breakpoints_come_back),
        TEST(gone__ctrl_c_meanwhile__answered),
        TEST(gone__while_halted__halted_again_when_it_runs_after),
        TEST(gone__breakpoint_or_call_meanwhile__reported_as_ever),
        TEST(gone__while_halted_in_a_call__nothing_is_asked_of_gdb),
        TEST(gone__ctrl_c_or_step_was_under_way__halted_when_back),
        TEST(troubled__question_mark_pending__a_stop_then_the_reason),
        TEST(troubled__ctrl_c_pending__says_so_and_tries_again),
        TEST(stop_with_text__in_answer_to_a_question__comes_alone),
        TEST(search__ctrl_c_meanwhile__given_up),
        TEST(walks__piece_by_piece__as_in_one),
        TEST(walks__beyond_the_address_space__refused),
        cmocka_unit_test(packet_rows__each__found_and_not_hidden),
        TEST(packet_rows__every_one_from_an_observer__changes_nothing),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
