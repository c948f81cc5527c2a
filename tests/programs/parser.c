/* Expressions by recursive descent, into a stack machine's code, which is run; the scanner's character classes are in parser_fast.S. */
#include "program.h"
const u32 expected = 0x00716d12;
enum { PUSH, ADD, SUB, MUL, NEG, MAX };
static const char *at;
static s32 code[128];
static u32 ncode;
s32 class_fast(u32 c); /* 0 other, 1 digit, 2 blank, 3 operator */
static void expression(void);
static void emit(s32 v) { code[ncode++] = v; }
static void blanks(void)
{
    while (class_fast((u8)*at) == 2)
        at++;
}
static s32 number(void)
{
    s32 v = 0;
    while (class_fast((u8)*at) == 1)
        v = v * 10 + *at++ - '0';
    return v;
}
static void primary(void)
{
    blanks();
    switch (*at) {
    case '(':
        at++;
        expression();
        at++;
        break;
    case '-':
        at++;
        primary();
        emit(NEG);
        break;
    default:
        emit(PUSH);
        emit(number());
    }
    blanks();
}
static void term(void)
{
    primary();
    while (*at == '*') {
        at++;
        primary();
        emit(MUL);
    }
}
static void expression(void)
{
    term();
    while (*at == '+' || *at == '-' || *at == '>') {
        char op = *at++;
        term();
        emit(op == '+' ? ADD : op == '-' ? SUB : MAX);
    }
}
static s32 apply(s32 op, s32 x, s32 y)
{
    switch (op) {
    case ADD: return x + y;
    case SUB: return x - y;
    case MUL: return x * y;
    case MAX: return x > y ? x : y;
    default: return 0;
    }
}
static s32 evaluate(void)
{
    s32 stack[32];
    u32 n = 0;
    for (u32 k = 0; k < ncode; k++) {
        if (code[k] == PUSH) {
            stack[n++] = code[++k];
        } else if (code[k] == NEG) {
            stack[n - 1] = -stack[n - 1];
        } else {
            n--;
            stack[n - 1] = apply(code[k], stack[n - 1], stack[n]);
        }
    }
    return stack[0];
}
static s32 value(const char *text)
{
    at = text;
    ncode = 0;
    expression();
    return evaluate();
}
u32 program(void)
{
    s32 sum = value("1 + 2*3 - 4");
    sum = sum * 101 + value("((7)) * (2 - -3) * ( 10 > 3*4 )");
    sum = sum * 101 + value(" -(1+(2+(3+(4+(5+(6*7)))))) * 11");
    sum = sum * 101 + value("123456 - 654 * 3 > 7 * 9 * (8 + 1)");
    return (u32)sum;
}
