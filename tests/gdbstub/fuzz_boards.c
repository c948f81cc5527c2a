/* Any packets, their checksums right, to the stub over the real drivers and the simulated boards:
 * SH-4 and S12Z.
 *
 * The first byte of the input picks the board and how the session begins; each line behind it is a
 * packet, but for those that begin with >   a line for `monitor`        ^   a 0x03 first        @
 * the observer sends what follows        ~   the program runs for a while first A byte above 0x7F
 * is a word: the name of a packet, of a monitor command, an address or a register.
 *
 * Every packet is answered as the protocol wants it: once, by a stop that is still to come, or not
 * at all where that is its meaning; who waits for a stop gets one after a 0x03; and all of it takes
 * little of the board's time. */
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "gdbstub/packets.h"
#include "probe/base/hex.h"
#include "probe/probe.h"
#include "probe/sim.h"
#include "targets/sim/s12z/board.h"
#include "targets/s12z/s12z.h"
#include "targets/sim/sh4/board.h"
#include "targets/sh4/sh4.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

enum {
    INPUTS_MOST = 256,
    PACKETS_MOST = 24,
    PIECES_MOST = 3,
    LINE_MOST = 2048,
    RUN_NS = 50000,
    PATIENCE_NS = 300000000,
    LOOKS = 40
};

struct board_kind {
    const char *spec;
    bool sh4, big;
    uint32_t code, stack;
    unsigned pc, sp;
    const uint8_t *program;
    size_t bytes;
    const char *words[16]; /* addresses and registers of this part */
};

/* loop: add #1,r0; bsr f; nop; bra loop; nop; f: mov.l r0,@r1; rts; nop */
static const uint8_t sh4_program[] = { 0x01, 0x70, 0x02, 0xB0, 0x09, 0x00, 0xFB, 0xAF,
                                       0x09, 0x00, 0x02, 0x21, 0x0B, 0x00, 0x09, 0x00 };
static const uint8_t s12z_program[] = { 0x01, 0x01, 0x20, 0x7E }; /* loop: nop; nop; bra loop */

static const struct board_kind kinds[] = {
    { "sim:sh7750,cpu=100M",
      true,
      false,
      0x8C010000,
      0x8C100000,
      16,
      15,
      sh4_program,
      sizeof sh4_program,
      { "8c010000", "8c010002", "8c020000", "ac010000", "ff000024", "1f000000", "a0000000", ",2",
        ",4", "f0000000", "BRCR", "CCR", "vbr", "0x40", "all", "10" } },
    { "sim:s12zvml128",
      false,
      true,
      0x1100,
      0x2F00,
      11,
      10,
      s12z_program,
      sizeof s12z_program,
      { "1100", "1102", "2000", "fe0000", "ffffff", "ffa000", "100000", ",1", ",2", ",4", "DBGC1",
        "BDCCSR", "x", "0x40", "all", "10" } },
};

struct rig {
    const struct board_kind *kind;
    struct probe *probe;
    unsigned inputs; /* that the board has seen */
    struct target *t;
    struct stub *stub;
    struct session *session, *observer;
};

static void must_hold(bool holds, const char *what)
{
    if (holds)
        return;
    fprintf(stderr, "fuzz_gdb_boards: %s\n", what);
    abort();
}

/* ---- boards ---- */

static int set_reg(struct target *t, bool big, unsigned n, uint32_t value, struct err *err)
{
    uint8_t raw[8] = { 0 };
    unsigned bytes = t->ops->regs[n].bytes;
    for (unsigned k = 0; k < bytes; k++, value >>= 8)
        raw[big ? bytes - 1 - k : k] = (uint8_t)value;
    return t->ops->write_reg(t, n, raw, err);
}

/* A driver of its own for each input; the board is the last input's, reset, while it can be got
 * ready, for making one takes longer than most inputs do. */
static int get_ready(struct rig *r, struct err *err)
{
    const struct board_kind *k = r->kind;
    struct target_stop stop;
    int ret = k->sh4
                  ? sh4_open(r->probe, &(struct sh4_options){ .allow_private = true }, &r->t, err)
                  : s12z_open(r->probe, &(struct s12z_options){ .chip = "s12zvml128" }, &r->t, err);
    if (ret < 0)
        return ret;
    const struct target_ops *ops = r->t->ops;
    ret = ops->attach(r->t, err);
    if (ret == 0)
        ret = ops->reset(r->t, RESET_HALT, err);
    if (ret == 0)
        ret = ops->poll(r->t, PATIENCE_NS, &stop, err);
    if (ret >= 0)
        ret = ops->write_mem(r->t, k->code, 0, k->program, k->bytes, err);
    if (ret == 0)
        ret = set_reg(r->t, k->big, k->sp, k->stack, err);
    if (ret == 0)
        ret = set_reg(r->t, k->big, k->pc, k->code, err);
    if (ret < 0)
        ops->close(r->t);
    return ret;
}

static void rig_begin(struct rig *r)
{
    static const struct sim_board_type *const boards[] = { &sh4_board_sh7750, &s12z_board_zvml128,
                                                           NULL };
    const struct probe_config cfg = { .boards = boards };
    struct err err = { .code = ERR_OK };
    if (r->probe && r->inputs++ < INPUTS_MOST && get_ready(r, NULL) == 0)
        return;
    probe_close(r->probe);
    r->probe = NULL;
    r->inputs = 0;
    must_hold(probe_open(r->kind->spec, &cfg, &r->probe, &err) == 0 && get_ready(r, &err) == 0,
              err.what);
}

/* ---- what comes back ---- */

/* One thing that comes back, at out; *answer: it answers something, which an acknowledgment, a
 * notification and the console do not. Returns its bytes. */
static size_t take_one(const uint8_t *out, size_t n, bool *answer)
{
    char sum[4];
    *answer = false;
    if (*out == '+' || *out == '-')
        return 1;
    must_hold(*out == '$' || *out == '%', "output between packets");
    const uint8_t *body = out + 1, *hash = memchr(body, '#', n - 1);
    must_hold(hash && hash + 2 < out + n && hash - body <= GDBSTUB_PACKET_SIZE,
              "a packet without an end, or too long");
    snprintf(sum, sizeof sum, "%02x", rsp_checksum(body, (size_t)(hash - body)));
    must_hold(!memcmp(sum, hash + 1, 2) && !memchr(body, '$', (size_t)(hash - body)),
              "a packet is damaged");
    *answer = *out == '$' && !(*body == 'O' && body[1] != 'K');
    return (size_t)(hash + 3 - out);
}

/* How many answers are pending; they are sent. */
static unsigned take_answers(struct session *s)
{
    const uint8_t *out;
    size_t n = session_pending(s, &out);
    unsigned answers = 0;
    must_hold(n <= OUT_MAX, "more output than a session may hold");
    for (size_t at = 0; at < n;) {
        bool answer;
        at += take_one(out + at, n - at, &answer);
        answers += answer;
    }
    session_sent(s, n);
    return answers;
}

/* Whoever has sent nothing hears at most of a stop, and of that only who waits. */
static void hears_of_stops(struct session *s, bool waited)
{
    unsigned n = take_answers(s);
    must_hold(n <= waited, "a stop nobody waited for");
    must_hold(!waited || session_waits(s) || n == 1, "who waited for a stop was told none");
}

/* ---- the program runs, as the worker has it ---- */

static bool poll_board(struct rig *r, uint64_t ns)
{
    struct target_stop stop;
    struct err err = { .code = ERR_OK };
    int ret = r->t->ops->poll(r->t, ns, &stop, &err);
    if (ret > 0)
        stub_stopped(r->stub, &stop);
    else if (ret < 0 && r->t->ops->state(r->t) == TARGET_GONE)
        stub_gone(r->stub, &err);
    else if (ret < 0)
        stub_troubled(r->stub, &err);
    return ret > 0;
}

static void run_board(struct rig *r, uint64_t ns)
{
    bool session = session_waits(r->session), observer = session_waits(r->observer);
    poll_board(r, ns);
    session_tick(r->session, r->t->ops->now_ns(r->t), NULL);
    hears_of_stops(r->session, session);
    hears_of_stops(r->observer, observer);
}

static void send_interrupt(struct rig *r, struct session *s)
{
    const uint8_t byte = 3;
    bool session = session_waits(r->session), observer = session_waits(r->observer);
    session_feed(s, &byte, 1, NULL);
    hears_of_stops(r->session, session);
    hears_of_stops(r->observer, observer);
}

/* Who waits has interrupted the program, and is told of its stop. */
static void end_waiting(struct rig *r, struct session *s)
{
    if (!session_waits(s) || session_finished(s))
        return;
    send_interrupt(r, s);
    for (int i = 0; i < LOOKS && session_waits(s); i++)
        run_board(r, PATIENCE_NS / LOOKS);
    must_hold(!session_waits(s), "no stop after an interrupt");
}

/* ---- packets ---- */

/* R, k and F have no answer of their own, a bad one of these has none either. */
static bool has_no_answer(const char *packet)
{
    return *packet == 'R' || *packet == 'k' || *packet == 'F';
}

/* False: it takes so long that GDB gives up, and is gone. */
static bool finish_work(struct rig *r, struct session *s)
{
    for (unsigned pieces = 0; session_work(s); pieces++)
        if (pieces == PIECES_MOST) {
            session_close(s);
            *(s == r->session ? &r->session : &r->observer) = NULL;
            return false;
        }
    return true;
}

static void send_packet(struct rig *r, struct session *s, const char *body, size_t len)
{
    static uint8_t frame[2 * LINE_MOST + 8];
    struct session *other = s == r->session ? r->observer : r->session;
    bool waited = session_waits(s), other_waited = session_waits(other);
    struct err err = { .code = ERR_OK };
    frame[0] = '$';
    size_t n = 1 + rsp_binary_encode(frame + 1, (const uint8_t *)body, len);
    n += (size_t)sprintf((char *)frame + n, "#%02x", rsp_checksum(frame + 1, n - 1));
    int used = session_feed(s, frame, n, &err);
    must_hold(used == (int)n, "a packet was not taken");
    if (!finish_work(r, s))
        return;
    unsigned answers = take_answers(s);
    must_hold(answers <= 1u + waited, "answered more than once");
    must_hold(answers || session_waits(s) || has_no_answer(body), "not answered");
    hears_of_stops(other, other_waited);
}

/* Words in place of bytes above 0x7F. */
static const char *word_of(const struct rig *r, unsigned n)
{
    size_t rows, commands = 0;
    const struct packet_row *row = packet_rows(&rows);
    const struct monitor_command *own = r->t->ops->monitor;
    while (own[commands].name)
        commands++;
    if (n < ARRAY_LEN(r->kind->words))
        return r->kind->words[n];
    n -= ARRAY_LEN(r->kind->words);
    if (n < rows)
        return row[n].name;
    n -= (unsigned)rows;
    return n < commands ? own[n].name : n % 3 == 0 ? "reset " : n % 3 == 1 ? "halt" : "run";
}

static size_t expand_words(const struct rig *r, const uint8_t *line, size_t len, char *out)
{
    size_t n = 0;
    for (size_t i = 0; i < len && n < LINE_MOST / 2 - 64; i++) {
        if (line[i] < 0x80)
            out[n++] = (char)line[i];
        else
            n += (size_t)sprintf(out + n, "%s", word_of(r, line[i] - 0x80u));
    }
    out[n] = 0;
    return n;
}

static void send_line(struct rig *r, const uint8_t *line, size_t len)
{
    char text[LINE_MOST / 2], packet[LINE_MOST + 8] = "qRcmd,";
    struct session *s = r->session;
    for (; len && memchr("@^~", *line, 3); line++, len--) {
        if (*line == '@')
            s = r->observer;
        else if (*line == '~')
            run_board(r, RUN_NS);
        else
            send_interrupt(r, s);
    }
    if (session_finished(s))
        return;
    if (len && *line == '>') {
        size_t n = expand_words(r, line + 1, len - 1, text);
        hex_encode(packet + 6, (const uint8_t *)text, n);
        send_packet(r, s, packet, 6 + 2 * n);
    } else if (len) {
        size_t n = expand_words(r, line, len, text);
        send_packet(r, s, text, n);
    }
}

static void play_lines(struct rig *r, const uint8_t *at, const uint8_t *end)
{
    for (int i = 0; at < end && i < PACKETS_MOST && r->session && r->observer; i++) {
        const uint8_t *feed = memchr(at, '\n', (size_t)(end - at));
        send_line(r, at, MIN((size_t)((feed ? feed : end) - at), (size_t)LINE_MOST / 2));
        at = feed ? feed + 1 : end;
    }
    if (r->session && r->observer) {
        end_waiting(r, r->session);
        end_waiting(r, r->observer);
    }
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static struct rig rigs[ARRAY_LEN(kinds)]; /* their boards are kept */
    struct err err = { .code = ERR_OK };
    if (size < 2)
        return 0;
    struct rig *r = &rigs[data[0] % ARRAY_LEN(kinds)];
    r->kind = &kinds[data[0] % ARRAY_LEN(kinds)];
    rig_begin(r);
    const struct stub_config cfg = {
        .target = r->t, .version = "fuzz", .has_entry = data[0] & 2, .entry = r->kind->code
    };
    must_hold(stub_new(&cfg, &r->stub, &err) == 0 &&
                  session_open(r->stub, NULL, NULL, &r->session, &err) == 0 &&
                  session_open(r->stub, NULL, NULL, &r->observer, &err) == 0,
              err.what);
    play_lines(r, data + 1, data + size);
    session_close(r->session);
    session_close(r->observer);
    stub_free(r->stub);
    r->t->ops->close(r->t);
    return 0;
}
