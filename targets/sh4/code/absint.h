/* Abstract values of the general registers and of SR.BL along one path. Pure.
 * Used by flow.c to resolve call targets, switch tables and the state of SR.BL. */
#ifndef TARGETS_SH4_CODE_ABSINT_H
#define TARGETS_SH4_CODE_ABSINT_H

#include <stdbool.h>
#include <stdint.h>

enum abs_kind {
    ABS_UNKNOWN,
    ABS_CONST, /* v */
    ABS_TABLE, /* element of `size` bytes loaded from the table at v */
    ABS_SR     /* unknown but for bit 28: bl is a SH4_BL_* mask, without SH4_BL_MEANT */
};

struct abs_value {
    uint8_t kind; /* enum abs_kind */
    uint8_t bl, size;
    bool zero_extended;
    uint32_t v;
    uint32_t origin; /* address of the literal load the constant came from; 0 if none */
};

struct abs_state {
    uint8_t bl; /* SH4_BL_* mask */
    struct abs_value r[16];
};

/* What one instruction's effect depends on beside the state.
 * read: the image: 1, 2 or 4 bytes at addr, zero-extended; false if not in the image. */
struct abs_memory {
    bool (*read)(const void *ctx, uint32_t addr, unsigned bytes, uint32_t *value);
    const void *ctx;
    /* SR may be loaded by the agent in the program's place here, see abs_sr_trapped() */
    bool traps;
    bool entry_blocked; /* the function may be entered with SR.BL=1 */
    bool entry_meant;   /* it may be entered where the program means SR.BL to be 1 */
};

/* abs_entry - state at a function's start: nothing known, BL as at entry. */
void abs_entry(struct abs_state *s);

/* abs_step - effect of one instruction that is no branch.
 * escaped, cap   addresses (origins) of constants used other than as a jump target are appended,
 *                at most 4; may be NULL
 * Returns how many were appended. */
unsigned abs_step(struct abs_state *s, uint16_t opcode, uint32_t pc, const struct abs_memory *mem,
                  uint32_t escaped[4]);

/* abs_sr_trapped - true if the instruction reads or loads SR and has to be done by the agent: it
 * loads a value that may have BL=1 or comes behind such a load, and BL is 0 for certain when it
 * runs. */
bool abs_sr_trapped(const struct abs_state *s, uint16_t opcode, const struct abs_memory *mem);

/* abs_call - effect of a call on the state: R0-R7 unknown (the ABI's scratch registers), BL as the
 * callee leaves it: exit_bl is the callee's SH4_BL_* mask. */
void abs_call(struct abs_state *s, uint8_t exit_bl);

/* abs_join - merges b into a; returns true if a changed. lost (may be NULL, 16 entries): origins of
 * constants that merging forgot; *nlost is advanced. */
bool abs_join(struct abs_state *a, const struct abs_state *b, uint32_t lost[32], unsigned *nlost);

/* abs_through - BL after a part whose effect is exit_bl, entered with bl. */
uint8_t abs_through(uint8_t bl, uint8_t exit_bl);

#endif
