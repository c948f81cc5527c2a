/* A formatter: %d %u %x %c %s with widths, through function pointers into a sink; division by ten is in printf_fast.S. */
#include "program.h"
const u32 expected = 0x1faeec83;
static u32 sum, length;
u32 divide10_fast(u32 v, u32 *rest);
typedef void (*sink)(char c);
static void sum_sink(char c)
{
    sum = sum * 31 + (u8)c;
    length++;
}
static void upper_sink(char c) { sum_sink(c >= 'a' && c <= 'z' ? c - 32 : c); }
static void pad(sink out, s32 n, char c)
{
    while (n-- > 0)
        out(c);
}
static void put_text(sink out, const char *s, s32 width)
{
    s32 n = 0;
    while (s[n])
        n++;
    pad(out, width - n, ' ');
    while (*s)
        out(*s++);
}
static void put_decimal(sink out, u32 v, u32 negative, s32 width)
{
    char buf[16];
    u32 k = 15, rest;
    buf[15] = 0;
    do {
        v = divide10_fast(v, &rest);
        buf[--k] = '0' + rest;
    } while (v);
    if (negative)
        buf[--k] = '-';
    put_text(out, buf + k, width);
}
static void put_hex(sink out, u32 v, s32 width)
{
    if (v >> 4)
        put_hex(out, v >> 4, width - 1);
    else
        pad(out, width - 1, '0');
    out("0123456789abcdef"[v & 15]);
}
static void one(sink out, char kind, u32 v, s32 width)
{
    switch (kind) {
    case 'd': put_decimal(out, (s32)v < 0 ? 0 - v : v, (s32)v < 0, width); break;
    case 'u': put_decimal(out, v, 0, width); break;
    case 'x': put_hex(out, v, width); break;
    case 'c': out(v); break;
    case 's': put_text(out, (const char *)v, width); break;
    default: out(kind);
    }
}
static void print(sink out, const char *format, ...)
{
    __builtin_va_list ap;
    __builtin_va_start(ap, format);
    for (; *format; format++) {
        s32 width = 0;
        if (*format != '%') {
            out(*format);
            continue;
        }
        while (*++format >= '0' && *format <= '9')
            width = width * 10 + *format - '0';
        one(out, *format, *format == '%' ? 0 : __builtin_va_arg(ap, u32), width);
    }
    __builtin_va_end(ap);
}
u32 program(void)
{
    print(sum_sink, "%d apples, %5d pears\n", -42, 1234);
    print(upper_sink, "%8x %x %c%c %10s|\n", 0xBEEF, 0, 'o', 'k', "text");
    print(sum_sink, "%u%% of %u\n", 99, 4294967295u);
    return sum + length;
}
