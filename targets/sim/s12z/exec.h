/* Operands and flags, inlined into the instruction handlers (exec*.c). */
#ifndef TARGETS_SIM_S12Z_EXEC_H
#define TARGETS_SIM_S12Z_EXEC_H

#include "targets/sim/s12z/cpu.h"

/* Assumptions about operands (docs/unverified.md, "S12Z CPU"). */
enum {
    /* How a register narrower than the operation is extended: by its sign (1), or with zeros
     * (0). */
    NARROW_REGISTERS_EXTEND_SIGN = 1,
    INDEX_REGISTERS_SIGNED = 1, /* Dn in (Dn,X) and [Dn,X] is signed */
    OFFSET_REGISTERS_SIGNED = 0 /* Dn in (u18,Dn) and (s24,Dn) is not */
};

static inline unsigned bits_of(unsigned bytes) { return 8 * bytes; }
static inline uint32_t mask_of(unsigned bytes) { return 0xFFFFFFFFu >> (32 - 8 * bytes); }
static inline uint32_t sign_extend(uint32_t v, unsigned bytes)
{
    unsigned shift = 32 - 8 * bytes;
    return (uint32_t)((int32_t)(v << shift) >> shift);
}

static inline uint32_t load_fast(struct s12z_cpu *c, uint32_t addr, unsigned bytes)
{
    const uint8_t *p = c->bus->read[addr >> BUS_PAGE_BITS];
    unsigned at = addr & ((1u << BUS_PAGE_BITS) - 1);
    if (__builtin_expect(!p || c->watch_data || at > (1u << BUS_PAGE_BITS) - 4, 0))
        return cpu_load(c, addr, bytes);
    uint32_t v;
    __builtin_memcpy(&v, p + at, 4);
    return __builtin_bswap32(v) >> (32 - 8 * bytes);
}

/* Stores to plain memory without decoded code that no one watches; everything else goes to
 * cpu_store(). addr has 24 bits. */
static inline void store_fast(struct s12z_cpu *c, uint32_t addr, unsigned bytes, uint32_t v)
{
    uint8_t *p = c->bus->write[addr >> BUS_PAGE_BITS];
    unsigned at = addr & ((1u << BUS_PAGE_BITS) - 1);
    if (__builtin_expect(!p || c->watch_data || c->page[addr >> BUS_PAGE_BITS] ||
                             at > (1u << BUS_PAGE_BITS) - 4,
                         0)) {
        cpu_store(c, addr, bytes, v);
        return;
    }
    v = __builtin_bswap32(v << (32 - 8 * bytes));
    switch (bytes) {
    case 1: p[at] = (uint8_t)v; break;
    case 2: __builtin_memcpy(p + at, &v, 2); break;
    case 3: __builtin_memcpy(p + at, &v, 3); break;
    default: __builtin_memcpy(p + at, &v, 4); break;
    }
}

static inline uint32_t index_value(const struct s12z_cpu *c, unsigned reg, bool is_signed)
{
    if (is_signed)
        return sign_extend(c->r[reg], s12z_reg_bytes(reg));
    return c->r[reg];
}

/* The value of a base register X, Y or S, with its adjustment by the operand's size. */
static inline uint32_t adjusted_base(struct s12z_cpu *c, const struct s12z_operand *o)
{
    uint32_t v = c->r[o->reg];
    switch ((enum s12z_adjust)o->adjust) {
    case S12Z_PLAIN: return v;
    case S12Z_PRE_DEC: return c->r[o->reg] = (v - o->bytes) & 0xFFFFFF;
    case S12Z_PRE_INC: return c->r[o->reg] = (v + o->bytes) & 0xFFFFFF;
    case S12Z_POST_DEC: c->r[o->reg] = (v - o->bytes) & 0xFFFFFF; return v;
    case S12Z_POST_INC: c->r[o->reg] = (v + o->bytes) & 0xFFFFFF; return v;
    }
    return v;
}

/* The 24-bit address of a memory operand. It follows pointers and adjusts registers, so it must be
 * called only once an operand. */
static inline uint32_t operand_address(struct s12z_cpu *c, const struct cpu_insn *u,
                                       const struct s12z_operand *o)
{
    uint32_t a = (uint32_t)o->value;
    if (o->reg == S12Z_P)
        a += u->pc; /* relative to the start of the instruction; unconfirmed */
    else if (o->reg >= S12Z_X && o->reg != S12Z_NOREG)
        a += adjusted_base(c, o);
    else if (o->reg != S12Z_NOREG)
        a += index_value(c, o->reg, OFFSET_REGISTERS_SIGNED);
    if (o->index != S12Z_NOREG)
        a += index_value(c, o->index, INDEX_REGISTERS_SIGNED);
    a &= 0xFFFFFF;
    if (o->indirect)
        return load_fast(c, a, 3);
    return a;
}

/* An operand's value, for an operation of so many bytes. */
static inline uint32_t operand_value(struct s12z_cpu *c, const struct cpu_insn *u,
                                     const struct s12z_operand *o, unsigned bytes)
{
    if (o->kind == S12Z_OPR_MEM)
        return load_fast(c, operand_address(c, u, o), o->bytes);
    if (o->kind != S12Z_OPR_REG)
        return (uint32_t)o->value & mask_of(bytes);
    uint32_t v = o->reg == S12Z_P ? u->pc : c->r[o->reg];
    if (NARROW_REGISTERS_EXTEND_SIGN && o->bytes < bytes)
        v = sign_extend(v, o->bytes);
    return v & mask_of(bytes);
}

/* ---- flags ---- */
static inline void flags_nz(struct s12z_cpu *c, uint32_t v, unsigned bytes)
{
    c->n = v >> (8 * bytes - 1) & 1;
    c->z = v == 0;
}
static inline void flags_logic(struct s12z_cpu *c, uint32_t v, unsigned bytes)
{
    flags_nz(c, v, bytes);
    c->v = 0;
}
static inline uint32_t flags_add(struct s12z_cpu *c, uint32_t a, uint32_t b, uint32_t carry,
                                 unsigned bytes)
{
    uint64_t sum = (uint64_t)a + b + carry;
    uint32_t v = (uint32_t)sum & mask_of(bytes);
    c->c = sum >> (8 * bytes) & 1;
    c->v = (~(a ^ b) & (a ^ v)) >> (8 * bytes - 1) & 1;
    flags_nz(c, v, bytes);
    return v;
}
static inline uint32_t flags_sub(struct s12z_cpu *c, uint32_t a, uint32_t b, uint32_t borrow,
                                 unsigned bytes)
{
    uint32_t v = (a - b - borrow) & mask_of(bytes);
    c->c = (uint64_t)a < (uint64_t)b + borrow;
    c->v = ((a ^ b) & (a ^ v)) >> (8 * bytes - 1) & 1;
    flags_nz(c, v, bytes);
    return v;
}

/* A register or an immediate that says which bits of another operand are meant. */
static inline uint32_t selector_value(const struct s12z_cpu *c, const struct s12z_operand *o)
{
    if (o->kind == S12Z_OPR_REG)
        return c->r[o->reg];
    return (uint32_t)o->value;
}

/* Where an operand is that is read, changed and written back. */
struct place {
    bool in_register;
    unsigned bytes;
    uint32_t at; /* register number, or address */
};
static inline struct place place_of(struct s12z_cpu *c, const struct cpu_insn *u,
                                    const struct s12z_operand *o)
{
    if (o->kind == S12Z_OPR_REG)
        return (struct place){ true, o->bytes, o->reg };
    if (o->kind == S12Z_OPR_MEM)
        return (struct place){ false, o->bytes, operand_address(c, u, o) };
    /* An immediate reads as itself; writes to it have no effect. */
    return (struct place){ true, o->bytes, S12Z_NOREG };
}
static inline uint32_t place_load(struct s12z_cpu *c, const struct place *p,
                                  const struct s12z_operand *o)
{
    if (p->in_register)
        return p->at == S12Z_NOREG ? (uint32_t)o->value & mask_of(p->bytes) : c->r[p->at];
    return load_fast(c, p->at, p->bytes);
}
static inline void place_store(struct s12z_cpu *c, const struct place *p, uint32_t v)
{
    if (!p->in_register)
        store_fast(c, p->at, p->bytes, v);
    else if (p->at != S12Z_NOREG)
        c->r[p->at] = v & mask_of(p->bytes);
}

/* The handler of an instruction in exec_flow.c; NULL: it is not there. */
cpu_fn *exec_flow_handler(const struct s12z_insn *i);
/* The same in exec_math.c: multiply, divide, shifts, bits, fields. */
cpu_fn *exec_math_handler(const struct s12z_insn *i);

#endif
