/* A loader in the target's RAM that programs flash from one of two buffers while the other is
 * filled over BDC: a sector is one block write instead of six transfers for each phrase. What it
 * covers, RAM and registers, is kept and put back. Interrupts are masked; it is not used where the
 * program has its watchdog on, as BDC's own accesses need no CPU that could be reset.
 *
 * A job is records, [count of phrases, FCCOB0, FCCOB1, phrases], ended by a count of 0, right
 * before the buffer's flag; the flag, written last, is the address of the first record, and the
 * loader's answer is 0, or the FSTAT errors, after which it does nothing more. */
#include <stdlib.h>
#include <string.h>

#include "probe/base/bytes.h"
#include "probe/base/choice.h"
#include "probe/base/log.h"
#include "probe/base/util.h"
#include "targets/s12z/driver/driver.h"

enum {
    CPMUCOP = 0x6CC,
    COP_CR = 7,
    RECORD = 6,
    PHRASE = 8,
    FSTAT_CCIF = 0x80,
    CCW_MASKED = 0x00D0 /* S, X, I */
};
/* Places, from the beginning of RAM. */
enum {
    STACK = 0x70,
    FIRST = STACK,
    DATA = S12Z_LOADER_JOB + 2,
    BUFFER = DATA + 4,
    KEPT = FIRST + 2 * BUFFER
};
enum { REG_D2 = 2, REG_D3 = 3 };
#define LIMIT_NS (1000u * 1000000u) /* for 64 phrases that take 230 us each */
#define LOOK_NS  50000u
_Static_assert(DATA % 4 == 0, "flags are aligned longs");

static const uint8_t code[] = {
    /* 00 start: */ 0xCB,   0,    0,                /* LD Y,#first flag */
    /* 03 */ 0x21,          0x09,                   /* BSR job */
    /* 05 */ 0xCB,          0,    0,                /* LD Y,#second flag */
    /* 08 */ 0x21,          0x04,                   /* BSR job */
    /* 0A */ 0x20,          0x76,                   /* BRA start */
    /* 0C job: */ 0xA6,     0x50,                   /* LD D6,(0,Y) */
    /* 0E */ 0x27,          0x7E,                   /* BEQ job */
    /* 10 */ 0xA8,          0x51,                   /* LD X,(1,Y) */
    /* 12 record: */ 0xA2,  0xE7,                   /* LD D4,(X+) */
    /* 14 */ 0x27,          0x3C,                   /* BEQ done */
    /* 16 */ 0xA0,          0xE7,                   /* LD D2,(X+) */
    /* 18 */ 0xA1,          0xE7,                   /* LD D3,(X+) */
    /* 1A phrase: */ 0x0C,  0x30, 0x03, 0x86,       /* MOV.B #ACCERR|FPVIOL,FSTAT */
    /* 1E */ 0x0C,          0x05, 0x03, 0x82,       /* MOV.B #5,FCCOBIX */
    /* 22 */ 0xC0,          0x03, 0x8C,             /* ST D2,FCCOB0 */
    /* 25 */ 0xC1,          0x03, 0x8E,             /* ST D3,FCCOB1 */
    /* 28 */ 0x1D,          0xE7, 0x03, 0x90,       /* MOV.W (X+),FCCOB2 */
    /* 2C */ 0x1D,          0xE7, 0x03, 0x92,       /* MOV.W (X+),FCCOB3 */
    /* 30 */ 0x1D,          0xE7, 0x03, 0x94,       /* MOV.W (X+),FCCOB4 */
    /* 34 */ 0x1D,          0xE7, 0x03, 0x96,       /* MOV.W (X+),FCCOB5 */
    /* 38 */ 0x0C,          0x80, 0x03, 0x86,       /* MOV.B #CCIF,FSTAT */
    /* 3C */ 0x02,          0xF0, 0x03, 0x86, 0x00, /* BRCLR.B FSTAT,#7,* */
    /* 41 */ 0xA4,          0x03, 0x86,             /* LD D0,FSTAT */
    /* 44 */ 0x5C,          0x33,                   /* AND D0,#ACCERR|FPVIOL|MGSTAT */
    /* 46 */ 0x26,          0x0D,                   /* BNE refused */
    /* 48 */ 0x51,          0x00, 0x08,             /* ADD D3,#8 */
    /* 4B */ 0x0B,          0x82, 0x4F,             /* DBNE D4,phrase */
    /* 4E */ 0x20,          0x44,                   /* BRA record */
    /* 50 done: */ 0xBF,    0x50,                   /* CLR.L (0,Y) */
    /* 52 */ 0x05,                                  /* RTS */
    /* 53 refused: */ 0x9E, 0x46,                   /* TFR D0,D6 */
    /* 55 */ 0xC6,          0x50,                   /* ST D6,(0,Y) */
    /* 57 */ 0x20,          0x00,                   /* BRA *: D2 and D3 have the address */
    /* 59 */ 0x01,          0x01, 0x01,
};
_Static_assert(sizeof code % 4 == 0 && sizeof code + 8 < STACK,
               "code and the way back from job fit");

struct s12z_loader {
    uint8_t kept[KEPT];
    uint8_t reg[S12Z_NREGS][4];
    uint8_t job[DATA];
    size_t used;   /* of job, without the ending count */
    size_t record; /* where the record begins that may be continued; used: none */
    uint32_t next; /* the phrase that would continue it */
    unsigned turn; /* the buffer the next job goes to */
    bool busy[2], runs;
    bool stole; /* STEAL was on before */
};

static uint32_t flag_at(unsigned buffer) { return S12Z_RAM_START + FIRST + buffer * BUFFER + DATA; }

static int move_registers(struct s12z_target *t, bool write, struct err *err)
{
    struct bdc_op ops[S12Z_NREGS];
    for (unsigned r = 0; r < S12Z_NREGS; r++) {
        uint8_t *v = t->download.loader->reg[r];
        ops[r] = (struct bdc_op){ .kind = BDC_COMMAND };
        if (write) {
            ops[r].opcode = (uint8_t)(BDC_WRITE_REG + r);
            ops[r].tx = v;
        } else {
            ops[r].opcode = (uint8_t)(BDC_READ_REG + r);
            ops[r].rx = v;
        }
    }
    int ret = s12z_do(t, ops, S12Z_NREGS, err);
    for (unsigned r = 0; ret == 0 && !write && r < S12Z_NREGS; r++)
        memset(t->download.loader->reg[r], 0, 4u - s12z_target_regs[r].bytes); /* not specified */
    return ret;
}

static int set_register(struct s12z_target *t, unsigned r, uint32_t v, struct err *err)
{
    uint8_t tx[4];
    struct bdc_op op = { .kind = BDC_COMMAND, .opcode = (uint8_t)(BDC_WRITE_REG + r), .tx = tx };
    put_be32(tx, v);
    return s12z_do(t, &op, 1, err);
}

static int halt_loader(struct s12z_target *t, struct err *err)
{
    uint64_t since = s12z_now(t);
    int ret = 0;
    if (t->download.loader->runs)
        ret = s12z_ask_to_stand(t, err);
    for (unsigned looks = 1; ret == 0 && t->download.loader->runs; looks++) {
        ret = s12z_read_csr(t, err);
        t->download.loader->runs = ret == 0 && !REG_GET(t->link.csr, S12Z_BDCCSR_BDMACT);
        if (ret == 0 && s12z_state(t) != TARGET_HALTED)
            return err_set(err, ERR_STATE, "monitor reset halt, then load again",
                           "the part was reset while it was programmed");
        if (ret == 0 && t->download.loader->runs && s12z_overdue(t, since, LIMIT_NS, looks))
            return err_set(err, ERR_TIMEOUT, "monitor reset halt, then load again",
                           "the loader in RAM does not halt");
        if (ret == 0)
            ret = s12z_ask_again(t, err);
    }
    return ret;
}

static int run_loader(struct s12z_target *t, struct err *err)
{
    int ret = 0;
    if (!t->download.loader->runs)
        ret = s12z_command(t, BDC_GO, err);
    t->download.loader->runs |= ret == 0;
    return ret;
}

/* Waits until the buffer is free. If the loader met an error, its registers say at which phrase. */
static int await_buffer(struct s12z_target *t, unsigned buffer, struct s12z_loader_refusal *refusal,
                        struct err *err)
{
    uint8_t flag[4];
    uint64_t since = s12z_now(t);
    for (unsigned looks = 1; t->download.loader->busy[buffer]; looks++) {
        int ret = s12z_read_raw(t, flag_at(buffer), 4, flag, 4, err);
        if (ret < 0)
            return ret;
        t->download.loader->busy[buffer] = be32(flag) >= S12Z_RAM_START;
        if (!t->download.loader->busy[buffer] && be32(flag)) {
            uint8_t d2[4], d3[4];
            struct bdc_op ops[] = {
                { .kind = BDC_COMMAND, .opcode = BDC_READ_REG + REG_D2, .rx = d2 },
                { .kind = BDC_COMMAND, .opcode = BDC_READ_REG + REG_D3, .rx = d3 }
            };
            refusal->fstat = flag[3] | FSTAT_CCIF;
            if ((ret = halt_loader(t, err)) < 0 || (ret = s12z_do(t, ops, ARRAY_LEN(ops), err)) < 0)
                return ret;
            refusal->addr = (be32(d2) & 0xFF) << 16 | (be32(d3) & 0xFFFF);
            return 1;
        }
        if (t->download.loader->busy[buffer] && s12z_overdue(t, since, LIMIT_NS, looks))
            return err_set(err, ERR_TIMEOUT, "monitor reset halt, then load again",
                           "the loader in RAM does not answer");
        if (t->download.loader->busy[buffer] && (ret = s12z_wait(t, LOOK_NS, err)) < 0)
            return ret;
    }
    return 0;
}

/* Puts the job into the next buffer. 1: an earlier one was refused. */
static int hand_over(struct s12z_target *t, struct s12z_loader_refusal *refusal, struct err *err)
{
    struct s12z_loader *l = t->download.loader;
    uint8_t block[BUFFER] = { 0 };
    uint32_t len = (uint32_t)(l->used + 2 + 3) & ~3u, at = flag_at(l->turn);
    int ret = await_buffer(t, l->turn, refusal, err);
    if (ret != 0)
        return ret;
    memcpy(block, l->job, l->used);
    put_be32(block + len, at - len);
    ret = s12z_write_raw(t, at - len, 4, block, len + 4, err); /* ascending */
    if (ret == 0)
        ret = run_loader(t, err);
    l->busy[l->turn] = true;
    l->turn ^= 1;
    l->used = l->record = 0;
    l->next = S12Z_NONE;
    return ret;
}

int s12z_loader_program(struct s12z_target *t, uint8_t command, uint32_t addr, const uint8_t *data,
                        struct s12z_loader_refusal *refusal, struct err *err)
{
    struct s12z_loader *l = t->download.loader;
    int ret = 0;
    if (l->used + RECORD + PHRASE > S12Z_LOADER_JOB)
        ret = hand_over(t, refusal, err);
    if (ret != 0)
        return ret;
    if (addr != l->next || !(addr & 0xFFFF)) {
        l->record = l->used;
        put_be16(l->job + l->used, 0);
        put_be32(l->job + l->used + 2, (uint32_t)command << 24 | addr);
        l->used += RECORD;
    }
    put_be16(l->job + l->record, (uint16_t)(be16(l->job + l->record) + 1));
    memcpy(l->job + l->used, data, PHRASE);
    l->used += PHRASE;
    l->next = addr + PHRASE;
    return 0;
}

int s12z_loader_rest(struct s12z_target *t, struct s12z_loader_refusal *refusal, struct err *err)
{
    int ret = 0;
    if (t->download.loader->used)
        ret = hand_over(t, refusal, err);
    for (unsigned k = 0; ret == 0 && k < 2; k++)
        ret = await_buffer(t, t->download.loader->turn ^ k, refusal, err);
    if (ret != 0)
        return ret;
    return halt_loader(t, err);
}

/* ---- there and away ---- */

/* Buffers are filled whether the loader's loops leave a bus cycle or not. */
static int set_steal(struct s12z_target *t, bool on, struct err *err)
{
    t->link.control = (uint16_t)with_bits(t->link.control, REG_MASK(S12Z_BDCCSR_STEAL), on);
    return s12z_write_csr(t, err);
}

static int install_loader(struct s12z_target *t, struct err *err)
{
    uint8_t bytes[KEPT] = { 0 };
    memcpy(bytes, code, sizeof code);
    put_be16(bytes + 1, (uint16_t)flag_at(0));
    put_be16(bytes + 6, (uint16_t)flag_at(1));
    int ret = s12z_write_raw(t, S12Z_RAM_START, 4, bytes, KEPT, err);
    if (ret == 0)
        ret = set_steal(t, true, err);
    if (ret == 0)
        ret = set_register(t, S12Z_REG_CCW, CCW_MASKED, err);
    if (ret == 0)
        ret = set_register(t, S12Z_REG_SP, S12Z_RAM_START + STACK, err);
    if (ret < 0)
        return ret;
    return set_register(t, S12Z_REG_PC, S12Z_RAM_START, err);
}

static int put_back(struct s12z_target *t, struct err *err)
{
    int ret = halt_loader(t, err);
    if (ret == 0)
        ret = set_steal(t, t->download.loader->stole, err);
    if (ret == 0)
        ret = s12z_write_raw(t, S12Z_RAM_START, 4, t->download.loader->kept, KEPT, err);
    if (ret < 0)
        return ret;
    return move_registers(t, true, err);
}

/* Runs an empty job, to see whether the loader runs at all. */
static int try_loader(struct s12z_target *t, struct err *err)
{
    struct s12z_loader_refusal none;
    int ret = hand_over(t, &none, err);
    if (ret != 0)
        return ret;
    return s12z_loader_rest(t, &none, err);
}

bool s12z_loader_come(struct s12z_target *t)
{
    uint8_t cop;
    struct err why = { .code = ERR_OK };
    if (t->download.loader)
        return true;
    if (t->download.no_loader || t->chip->ram_end - S12Z_RAM_START < KEPT ||
        s12z_peek8(t, CPMUCOP, &cop, NULL) < 0 || cop & COP_CR)
        return false;
    t->download.loader = calloc(1, sizeof *t->download.loader);
    if (!t->download.loader)
        return false;
    t->download.loader->next = S12Z_NONE;
    t->download.loader->stole = REG_GET(t->link.control, S12Z_BDCCSR_STEAL);
    bool kept = s12z_read_raw(t, S12Z_RAM_START, 4, t->download.loader->kept, KEPT, &why) == 0 &&
                move_registers(t, false, &why) == 0;
    if (kept && install_loader(t, &why) == 0 && try_loader(t, &why) == 0)
        return true;
    log_msg(t->probe->log, LOG_TARGET, "%s: no loader in RAM (%s): phrase by phrase",
            t->probe->name, why.what);
    t->download.no_loader = true;
    if (kept && put_back(t, &why) < 0)
        log_msg(t->probe->log, LOG_TARGET, "%s: RAM and registers are not as they were: %s",
                t->probe->name, why.what);
    free(t->download.loader);
    t->download.loader = NULL;
    return false;
}

int s12z_loader_leave(struct s12z_target *t, struct err *err)
{
    if (!t->download.loader)
        return 0;
    int ret = 0;
    if (s12z_state(t) == TARGET_HALTED)
        ret = put_back(t, err);
    free(t->download.loader);
    t->download.loader = NULL;
    if (ret < 0)
        return err_prefix(err, ret, "putting RAM and registers back");
    return 0;
}
