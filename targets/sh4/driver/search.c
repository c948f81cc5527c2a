/* Searching the board's memory by loops that run there, in the kernel's overlay area. An answer is
 * a dozen words on the wire; reading would take one for each word. */
#include "probe/base/util.h"
#include "targets/sh4/isa/regs.h"
#include "targets/sh4/driver/driver.h"

/* A scan at 10 MHz takes 740 cycles. The exchange waits for what takes longer, if it is the only
 * request. */
enum { WORDS_A_SCAN = 64, UNCACHED_A_SCAN = 16, WAIT = 16, PART = 16384 };

/* FNV-1's prime. It is odd, so every step can be undone, and a single word that differs always
 * shows. */
#define PRIME 0x01000193u

static uint32_t mixed_hash(uint32_t h, uint32_t word) { return (h ^ word) * PRIME; }

/* r4 address, r5 start value, r6 words; r0 the hash */
static const uint16_t hash_code[] = {
    0xD204, /*  0 mov.l 20f,r2 */
    0x6053, /*  2 mov r5,r0 */
    0x6146, /*  4 mov.l @r4+,r1 */
    0x201A, /*  6 xor r1,r0 */
    0x0027, /*  8 mul.l r2,r0 */
    0x001A, /* 10 sts macl,r0 */
    0x4610, /* 12 dt r6 */
    0x8BF9, /* 14 bf 4b */
    0x000B, /* 16 rts */
    0x0009, /* 18 nop */
};

/* r4 address, r5 value, r6 places, 32 bytes apart; r0 the address, 0: not there */
static const uint16_t find_code[] = {
    0x6042, /*  0 mov.l @r4,r0 */
    0x3050, /*  2 cmp/eq r5,r0 */
    0x8904, /*  4 bt 16f */
    0x7420, /*  6 add #32,r4 */
    0x4610, /*  8 dt r6 */
    0x8BF9, /* 10 bf 0b */
    0x000B, /* 12 rts */
    0xE000, /* 14 mov #0,r0 */
    0x000B, /* 16 rts */
    0x6043, /* 18 mov r4,r0 */
};
enum { CODE = ARRAY_LEN(hash_code) };
_Static_assert(CODE == ARRAY_LEN(find_code) && CODE % 4 == 2, "a constant may follow");

static int load_loop(struct sh4_target *t, const uint16_t *code, uint32_t *at, struct err *err)
{
    uint32_t words[CODE / 2 + 1];
    if (!t->agent.layout)
        return err_set(err, ERR_STATE, "halt the target first", "no agent is known on the target");
    sh4_code_words(t, code, CODE, words);
    words[CODE / 2] = PRIME;
    return sh4_agent_overlay(t, words, ARRAY_LEN(words), at, err);
}

static struct sh4_request call_loop(const struct sh4_target *t, uint32_t at, uint32_t addr,
                                    uint32_t value, size_t n)
{
    uint32_t a_scan = WORDS_A_SCAN;
    if (addr >> 29 == 5) /* P2 */
        a_scan = UNCACHED_A_SCAN;
    return (struct sh4_request){ .routine =
                                     at - t->agent.base - (uint32_t)t->agent.layout->ref_call,
                                 .arg = { addr, value, (uint32_t)n },
                                 .slack = WAIT + (uint32_t)n / a_scan };
}

int sh4_agent_same(struct sh4_target *t, uint32_t addr, const uint32_t *words, size_t n, bool *same,
                   struct err *err)
{
    bool equal = true;
    uint32_t at = 0;
    int ret = load_loop(t, hash_code, &at, err);
    for (size_t done = 0, part; ret == 0 && equal && done < n; done += part) {
        part = MIN(n - done, (size_t)PART);
        uint32_t h = addr;
        struct sh4_request req = call_loop(t, at, addr + (uint32_t)(4 * done), h, part);
        ret = sh4_agent_run(t, &req, 1, err);
        for (size_t k = 0; k < part; k++)
            h = mixed_hash(h, words[done + k]);
        equal = req.status == 0 && req.r0 == h;
    }
    if (ret == 0)
        *same = equal;
    return ret;
}

int sh4_agent_find(struct sh4_target *t, uint32_t addr, uint32_t places, uint32_t value,
                   uint32_t *found, struct err *err)
{
    uint32_t at = 0;
    int ret = load_loop(t, find_code, &at, err);
    if (ret < 0)
        return ret;
    struct sh4_request req = call_loop(t, at, addr, value, places);
    ret = sh4_agent_run(t, &req, 1, err);
    if (ret < 0)
        return ret;
    if (req.status)
        return err_set(err, ERR_FAULT,
                       "check the address and, with the MMU on, that the page is mapped",
                       "looking through memory from %08x on: exception %03x", addr, req.status);
    *found = req.r0;
    return req.r0 != 0;
}
