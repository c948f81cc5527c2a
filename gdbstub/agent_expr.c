#include "gdbstub/agent_expr.h"

#include "gdbstub/agent_printf.h"
#include "probe/base/bytes.h"
#include "probe/base/util.h"

enum {
    OP_ADD = 0x02,
    OP_SUB,
    OP_MUL,
    OP_DIV_SIGNED,
    OP_DIV_UNSIGNED,
    OP_REM_SIGNED,
    OP_REM_UNSIGNED,
    OP_LSH,
    OP_RSH_SIGNED,
    OP_RSH_UNSIGNED,
    OP_LOG_NOT = 0x0E,
    OP_BIT_AND,
    OP_BIT_OR,
    OP_BIT_XOR,
    OP_BIT_NOT,
    OP_EQUAL,
    OP_LESS_SIGNED,
    OP_LESS_UNSIGNED,
    OP_EXT,
    OP_REF8,
    OP_REF16,
    OP_REF32,
    OP_REF64,
    OP_IF_GOTO = 0x20,
    OP_GOTO,
    OP_CONST8,
    OP_CONST16,
    OP_CONST32,
    OP_CONST64,
    OP_REG,
    OP_END,
    OP_DUP,
    OP_POP,
    OP_ZERO_EXT,
    OP_SWAP,
    OP_PICK = 0x32,
    OP_ROT,
    OP_PRINTF,
    NOPS
};

struct machine {
    const uint8_t *code;
    size_t len, pc;
    uint64_t stack[AGENT_MAX_STACK];
    size_t depth;
    const struct agent_env *env;
};

struct op {
    const char *name;
    uint8_t operands;     /* bytes behind it, a format's text not among them */
    uint8_t takes, gives; /* values of the stack; printf takes more */
    int (*run)(struct machine *m, uint8_t op, struct err *err);
};

static int refuse_at(size_t pc, const char *why, struct err *err)
{
    return err_set(err, ERR_USAGE, "have GDB evaluate it: set breakpoint condition-evaluation host",
                   "agent expression, byte %zu: %s", pc, why);
}

static uint64_t be_number(const uint8_t *p, size_t n)
{
    uint64_t value = 0;
    for (size_t i = 0; i < n; i++)
        value = value << 8 | p[i];
    return value;
}

static uint64_t take_operand(struct machine *m, size_t bytes)
{
    uint64_t value = be_number(m->code + m->pc, bytes);
    m->pc += bytes;
    return value;
}

static uint64_t pop_value(struct machine *m) { return m->stack[--m->depth]; }
static void push_value(struct machine *m, uint64_t value) { m->stack[m->depth++] = value; }

/* ---- arithmetic: 64 bits, that wrap ---- */

/* Bits above the highest are those of the sign, or none. */
static uint64_t shift_bits(uint8_t op, uint64_t a, uint64_t by)
{
    bool negative = op == OP_RSH_SIGNED && a >> 63;
    uint64_t fill = 0;
    if (negative)
        fill = ~UINT64_C(0);
    if (by > 63)
        return fill;
    if (op == OP_LSH)
        return a << by;
    if (by == 0)
        return a;
    return a >> by | fill << (64 - by);
}

static uint64_t magnitude_of(uint64_t a)
{
    if (a >> 63)
        return -a;
    return a;
}

/* Towards zero, as C has it; the one quotient that does not fit wraps. */
static uint64_t divide_values(uint8_t op, uint64_t a, uint64_t b)
{
    uint64_t quotient = magnitude_of(a) / magnitude_of(b), rest = magnitude_of(a) % magnitude_of(b);
    switch (op) {
    case OP_DIV_UNSIGNED: return a / b;
    case OP_REM_UNSIGNED: return a % b;
    case OP_DIV_SIGNED:
        if ((a ^ b) >> 63)
            return -quotient;
        return quotient;
    default:
        if (a >> 63)
            return -rest;
        return rest;
    }
}

static uint64_t combine_values(uint8_t op, uint64_t a, uint64_t b)
{
    switch (op) {
    case OP_ADD: return a + b;
    case OP_SUB: return a - b;
    case OP_MUL: return a * b;
    case OP_BIT_AND: return a & b;
    case OP_BIT_OR: return a | b;
    case OP_BIT_XOR: return a ^ b;
    case OP_EQUAL: return a == b;
    case OP_LESS_SIGNED: return (int64_t)a < (int64_t)b;
    case OP_LESS_UNSIGNED: return a < b;
    case OP_LSH:
    case OP_RSH_SIGNED:
    case OP_RSH_UNSIGNED: return shift_bits(op, a, b);
    default: return divide_values(op, a, b);
    }
}

static int run_binary(struct machine *m, uint8_t op, struct err *err)
{
    uint64_t b = pop_value(m), a = pop_value(m);
    if (b == 0 && op >= OP_DIV_SIGNED && op <= OP_REM_UNSIGNED)
        return refuse_at(m->pc - 1, "division by zero", err);
    push_value(m, combine_values(op, a, b));
    return 0;
}

static int run_not(struct machine *m, uint8_t op, struct err *err)
{
    uint64_t a = pop_value(m);
    (void)err;
    push_value(m, op == OP_LOG_NOT ? a == 0 : ~a);
    return 0;
}

static int run_extend(struct machine *m, uint8_t op, struct err *err)
{
    uint64_t bits = take_operand(m, 1), a = pop_value(m);
    if (bits == 0 || bits > 64)
        return refuse_at(m->pc - 1, "a value of no bits, or of more than 64", err);
    if (bits < 64) {
        uint64_t mask = (UINT64_C(1) << bits) - 1;
        bool negative = op == OP_EXT && a >> (bits - 1) & 1;
        a &= mask;
        if (negative)
            a |= ~mask;
    }
    push_value(m, a);
    return 0;
}

/* ---- the target ---- */

static int run_ref(struct machine *m, uint8_t op, struct err *err)
{
    uint8_t buf[8];
    size_t bytes = (size_t)1 << (op - OP_REF8);
    uint64_t value = 0;
    int ret = m->env->read_mem(m->env->ctx, pop_value(m), buf, bytes, err);
    if (ret < 0)
        return ret;
    if (m->env->big_endian)
        value = be_number(buf, bytes);
    else
        for (size_t i = bytes; i-- > 0;)
            value = value << 8 | buf[i];
    push_value(m, value);
    return 0;
}

static int run_reg(struct machine *m, uint8_t op, struct err *err)
{
    uint64_t value;
    (void)op;
    int ret = m->env->read_reg(m->env->ctx, (unsigned)take_operand(m, 2), &value, err);
    if (ret < 0)
        return ret;
    push_value(m, value);
    return 0;
}

/* ---- stack and flow ---- */

static int run_const(struct machine *m, uint8_t op, struct err *err)
{
    (void)err;
    push_value(m, take_operand(m, (size_t)1 << (op - OP_CONST8)));
    return 0;
}

static int run_goto(struct machine *m, uint8_t op, struct err *err)
{
    size_t to = (size_t)take_operand(m, 2);
    bool jumps = op == OP_GOTO || pop_value(m) != 0;
    if (to >= m->len)
        return refuse_at(m->pc - 2, "a jump out of it", err);
    if (jumps)
        m->pc = to;
    return 0;
}

static int run_pick(struct machine *m, uint8_t op, struct err *err)
{
    uint64_t n = take_operand(m, 1);
    (void)op;
    if (n >= m->depth)
        return refuse_at(m->pc - 1, "the stack is not that deep", err);
    push_value(m, m->stack[m->depth - 1 - n]);
    return 0;
}

static int run_stack(struct machine *m, uint8_t op, struct err *err)
{
    uint64_t *top = m->stack + m->depth - 1, value = *top;
    (void)err;
    switch (op) {
    case OP_DUP: push_value(m, value); break;
    case OP_POP: m->depth--; break;
    case OP_SWAP:
        top[0] = top[-1];
        top[-1] = value;
        break;
    default: /* rot: a b c becomes c a b */
        top[0] = top[-1];
        top[-1] = top[-2];
        top[-2] = value;
    }
    return 0;
}

/* Where the format stands that belongs to a printf whose first operand is at pc; NULL: it is not
 * whole. */
static const char *find_format(const uint8_t *code, size_t len, size_t pc, size_t *bytes)
{
    if (len - pc < 3)
        return NULL;
    *bytes = be16(code + pc + 1);
    if (*bytes == 0 || *bytes > len - pc - 3 || code[pc + 3 + *bytes - 1] != 0)
        return NULL;
    return (const char *)code + pc + 3;
}

/* Its function and channel, which mean something to GDB only, are on top of the arguments. */
static int run_printf(struct machine *m, uint8_t op, struct err *err)
{
    size_t bytes;
    uint64_t args[AGENT_MAX_STACK];
    unsigned nargs = m->code[m->pc];
    const char *fmt = find_format(m->code, m->len, m->pc, &bytes);
    (void)op;
    if (!fmt || m->depth < nargs + 2u)
        return refuse_at(m->pc, "printf without its format or arguments", err);
    int ret = agent_format_check(fmt, nargs, err);
    if (ret < 0)
        return ret;
    m->depth -= 2;
    for (unsigned i = 0; i < nargs; i++)
        args[i] = pop_value(m);
    m->pc += 3 + bytes;
    return agent_format_print(fmt, args, m->env, err);
}

/* clang-format off */
static const struct op ops[NOPS] = {
    [OP_ADD] = { "add", 0, 2, 1, run_binary },
    [OP_SUB] = { "sub", 0, 2, 1, run_binary },
    [OP_MUL] = { "mul", 0, 2, 1, run_binary },
    [OP_DIV_SIGNED] = { "div_signed", 0, 2, 1, run_binary },
    [OP_DIV_UNSIGNED] = { "div_unsigned", 0, 2, 1, run_binary },
    [OP_REM_SIGNED] = { "rem_signed", 0, 2, 1, run_binary },
    [OP_REM_UNSIGNED] = { "rem_unsigned", 0, 2, 1, run_binary },
    [OP_LSH] = { "lsh", 0, 2, 1, run_binary },
    [OP_RSH_SIGNED] = { "rsh_signed", 0, 2, 1, run_binary },
    [OP_RSH_UNSIGNED] = { "rsh_unsigned", 0, 2, 1, run_binary },
    [OP_LOG_NOT] = { "log_not", 0, 1, 1, run_not },
    [OP_BIT_AND] = { "bit_and", 0, 2, 1, run_binary },
    [OP_BIT_OR] = { "bit_or", 0, 2, 1, run_binary },
    [OP_BIT_XOR] = { "bit_xor", 0, 2, 1, run_binary },
    [OP_BIT_NOT] = { "bit_not", 0, 1, 1, run_not },
    [OP_EQUAL] = { "equal", 0, 2, 1, run_binary },
    [OP_LESS_SIGNED] = { "less_signed", 0, 2, 1, run_binary },
    [OP_LESS_UNSIGNED] = { "less_unsigned", 0, 2, 1, run_binary },
    [OP_EXT] = { "ext", 1, 1, 1, run_extend },
    [OP_REF8] = { "ref8", 0, 1, 1, run_ref },
    [OP_REF16] = { "ref16", 0, 1, 1, run_ref },
    [OP_REF32] = { "ref32", 0, 1, 1, run_ref },
    [OP_REF64] = { "ref64", 0, 1, 1, run_ref },
    [OP_IF_GOTO] = { "if_goto", 2, 1, 0, run_goto },
    [OP_GOTO] = { "goto", 2, 0, 0, run_goto },
    [OP_CONST8] = { "const8", 1, 0, 1, run_const },
    [OP_CONST16] = { "const16", 2, 0, 1, run_const },
    [OP_CONST32] = { "const32", 4, 0, 1, run_const },
    [OP_CONST64] = { "const64", 8, 0, 1, run_const },
    [OP_REG] = { "reg", 2, 0, 1, run_reg },
    [OP_END] = { "end", 0, 0, 0, NULL },
    [OP_DUP] = { "dup", 0, 1, 2, run_stack },
    [OP_POP] = { "pop", 0, 1, 0, run_stack },
    [OP_ZERO_EXT] = { "zero_ext", 1, 1, 1, run_extend },
    [OP_SWAP] = { "swap", 0, 2, 2, run_stack },
    [OP_PICK] = { "pick", 1, 1, 2, run_pick },
    [OP_ROT] = { "rot", 0, 3, 3, run_stack },
    [OP_PRINTF] = { "printf", 3, 2, 0, run_printf },
};
/* clang-format on */

/* ---- all of it ---- */

/* The bytecode at pc, whole with its operands; NULL with *err. */
static const struct op *find_op(const uint8_t *code, size_t len, size_t pc, struct err *err)
{
    const struct op *op = NULL;
    if (code[pc] < NOPS && ops[code[pc]].name)
        op = &ops[code[pc]];
    if (!op)
        err_set(err, ERR_USAGE,
                "trace variables, tracing and floating point are not evaluated here",
                "agent expression, byte %zu: bytecode %02x", pc, code[pc]);
    else if (len - pc - 1 < op->operands)
        refuse_at(pc, "it ends within a bytecode", err);
    else
        return op;
    return NULL;
}

/* The length of the bytecode at pc, or a failure. */
static int check_one(const uint8_t *code, size_t len, size_t pc, struct err *err)
{
    size_t bytes = 0;
    const struct op *op = find_op(code, len, pc, err);
    if (!op)
        return -(int)ERR_USAGE;
    if (code[pc] == OP_PRINTF) {
        const char *fmt = find_format(code, len, pc + 1, &bytes);
        if (!fmt)
            return refuse_at(pc, "printf without a format", err);
        if (code[pc + 1] > AGENT_MAX_STACK - 2)
            return refuse_at(pc, "printf of too many values", err);
        int ret = agent_format_check(fmt, code[pc + 1], err);
        if (ret < 0)
            return ret;
    }
    if ((code[pc] == OP_EXT || code[pc] == OP_ZERO_EXT) && (code[pc + 1] == 0 || code[pc + 1] > 64))
        return refuse_at(pc, "a value of no bits, or of more than 64", err);
    return (int)(1 + op->operands + bytes);
}

int agent_check(const uint8_t *code, size_t len, struct err *err)
{
    uint8_t begins[AGENT_MAX_BYTES] = { 0 };
    if (len == 0 || len > AGENT_MAX_BYTES)
        return err_set(err, ERR_USAGE, "", "an agent expression of %zu bytes; at most %u", len,
                       (unsigned)AGENT_MAX_BYTES);
    for (size_t pc = 0; pc < len;) {
        int bytes = check_one(code, len, pc, err);
        if (bytes < 0)
            return bytes;
        begins[pc] = code[pc];
        pc += (size_t)bytes;
    }
    for (size_t pc = 0; pc < len; pc++) {
        if (begins[pc] != OP_GOTO && begins[pc] != OP_IF_GOTO)
            continue;
        size_t to = be16(code + pc + 1);
        if (to >= len || !begins[to])
            return refuse_at(pc, "a jump to what is no bytecode", err);
    }
    return 0;
}

static int run_one(struct machine *m, struct err *err)
{
    const struct op *op = find_op(m->code, m->len, m->pc, err);
    if (!op)
        return -(int)ERR_USAGE;
    if (m->depth < op->takes)
        return refuse_at(m->pc, "its stack is empty", err);
    if (m->depth - op->takes + op->gives > AGENT_MAX_STACK)
        return refuse_at(m->pc, "its stack is full", err);
    return op->run(m, m->code[m->pc++], err);
}

int agent_run(const uint8_t *code, size_t len, const struct agent_env *env, uint64_t *value,
              struct err *err)
{
    struct machine m = { .code = code, .len = len, .env = env };
    for (unsigned i = 0; i < AGENT_MAX_STEPS; i++) {
        if (m.pc >= len)
            return refuse_at(m.pc, "it has no end", err);
        if (code[m.pc] == OP_END) {
            if (value && m.depth == 0)
                return refuse_at(m.pc, "it leaves no value", err);
            if (value)
                *value = m.stack[m.depth - 1];
            return 0;
        }
        int ret = run_one(&m, err);
        if (ret < 0)
            return ret;
    }
    return refuse_at(m.pc, "it does not come to its end", err);
}
