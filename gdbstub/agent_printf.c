#include "gdbstub/agent_printf.h"

#include <stdio.h>
#include <string.h>

#include "probe/base/choice.h"
#include "probe/base/util.h"

/* "%-+ #0WIDTH.PRECISIONlzhjtCONVERSION" */
struct directive {
    bool left, plus, blank, alternative, zeros;
    unsigned width;
    bool has_precision;
    unsigned precision;
    unsigned bits; /* of the value: 8, 16, 32, 64 */
    char conversion;
};

static int refuse_format(const char *what, char c, struct err *err)
{
    char text[2] = { c, 0 };
    return err_set(err, ERR_USAGE, "GDB prints it itself with: set dprintf-style gdb",
                   "printf in an agent expression: %s%s", what, text);
}

static bool take_flag(struct directive *d, char c)
{
    switch (c) {
    case '-': d->left = true; return true;
    case '+': d->plus = true; return true;
    case ' ': d->blank = true; return true;
    case '#': d->alternative = true; return true;
    case '0': d->zeros = true; return true;
    default: return false;
    }
}

static const char *take_number(const char *p, unsigned *n)
{
    for (*n = 0; *p >= '0' && *p <= '9'; p++)
        *n = MIN(*n * 10u + (unsigned)(*p - '0'), AGENT_MAX_WIDTH + 1u);
    return p;
}

/* GDB converts values as the host's C does, whose long has 64 bits. */
static const char *take_size(const char *p, unsigned *bits)
{
    *bits = 32;
    for (; *p && strchr("hlzjt", *p); p++) {
        if (*p != 'h')
            *bits = 64;
        else if (*bits == 32)
            *bits = 16;
        else
            *bits = 8;
    }
    return p;
}

/* Reads the directive behind a '%'. Returns what is behind it, or NULL with *err. */
static const char *parse_directive(const char *p, struct directive *d, struct err *err)
{
    *d = (struct directive){ 0 };
    while (take_flag(d, *p))
        p++;
    p = take_number(p, &d->width);
    if (*p == '.') {
        d->has_precision = true;
        p = take_number(p + 1, &d->precision);
    }
    p = take_size(p, &d->bits);
    d->conversion = *p;
    if (*p == 'p')
        d->bits = 64;
    if (d->width > AGENT_MAX_WIDTH || d->precision > AGENT_MAX_WIDTH)
        refuse_format("a width above 512", 0, err);
    else if (!*p || !strchr("diouxXcsp%", *p))
        refuse_format("directive %", *p, err);
    else if (strchr("cs", *p) && d->bits == 64)
        refuse_format("wide characters: %l", *p, err);
    else
        return p + 1;
    return NULL;
}

static char escaped_char(char c)
{
    enum { ESCAPE = 27 };
    static const char names[] = "\\abefnrtv\"'";
    static const char values[] = {
        '\\', '\a', '\b', ESCAPE, '\f', '\n', '\r', '\t', '\v', '"', '\''
    };
    const char *at = memchr(names, c, sizeof names - 1);
    if (!at)
        return 0;
    return values[at - names];
}

int agent_format_check(const char *fmt, unsigned nargs, struct err *err)
{
    struct directive d;
    unsigned wanted = 0;
    while (*fmt) {
        if (*fmt == '\\') {
            if (!escaped_char(fmt[1]))
                return refuse_format("escape \\", fmt[1], err);
            fmt += 2;
        } else if (*fmt++ == '%') {
            fmt = parse_directive(fmt, &d, err);
            if (!fmt)
                return -(int)ERR_USAGE;
            wanted += d.conversion != '%';
        }
    }
    if (wanted != nargs)
        return refuse_format("a format that does not fit its values", 0, err);
    return 0;
}

/* ---- printing ---- */

static void print_text(const struct agent_env *env, const char *text, size_t len)
{
    if (len)
        env->print(env->ctx, text, len);
}

static void print_fill(const struct agent_env *env, char c, size_t n)
{
    char fill[AGENT_MAX_WIDTH + 1];
    n = MIN(n, sizeof fill);
    memset(fill, c, n);
    print_text(env, fill, n);
}

static bool is_negative(const struct directive *d, uint64_t value)
{
    return strchr("di", d->conversion) && value >> (d->bits - 1) & 1;
}

/* Digits without a sign; none for a zero of precision 0. */
static size_t put_digits(const struct directive *d, uint64_t value, char *out, size_t cap)
{
    int n = 0;
    if (value == 0 && d->has_precision && d->precision == 0)
        return 0;
    switch (d->conversion) {
    case 'o': n = snprintf(out, cap, "%llo", (unsigned long long)value); break;
    case 'X': n = snprintf(out, cap, "%llX", (unsigned long long)value); break;
    case 'x':
    case 'p': n = snprintf(out, cap, "%llx", (unsigned long long)value); break;
    default: n = snprintf(out, cap, "%llu", (unsigned long long)value); break;
    }
    return (size_t)n;
}

static const char *sign_text(const struct directive *d, bool negative, uint64_t value)
{
    bool is_signed = strchr("di", d->conversion);
    if (negative)
        return "-";
    if (is_signed && d->plus)
        return "+";
    if (is_signed && d->blank)
        return " ";
    if (d->conversion == 'p' || (d->conversion == 'x' && d->alternative && value))
        return "0x";
    if (d->conversion == 'X' && d->alternative && value)
        return "0X";
    return "";
}

static void print_number(const struct directive *d, uint64_t value, const struct agent_env *env)
{
    char digits[32];
    bool negative = is_negative(d, value);
    if (negative)
        value = -value;
    if (d->bits < 64)
        value &= (UINT64_C(1) << d->bits) - 1;
    size_t n = put_digits(d, value, digits, sizeof digits);
    const char *sign = sign_text(d, negative, value);
    size_t zeros = EXCESS(d->precision, n);
    if (d->conversion == 'o' && d->alternative && zeros == 0 && (n == 0 || digits[0] != '0'))
        zeros = 1;
    if (d->zeros && !d->left && !d->has_precision)
        zeros = MAX(zeros, EXCESS(d->width, strlen(sign) + n));
    size_t blanks = EXCESS(d->width, strlen(sign) + zeros + n);
    if (!d->left)
        print_fill(env, ' ', blanks);
    print_text(env, sign, strlen(sign));
    print_fill(env, '0', zeros);
    print_text(env, digits, n);
    if (d->left)
        print_fill(env, ' ', blanks);
}

static void print_padded(const struct directive *d, const char *text, size_t len,
                         const struct agent_env *env)
{
    size_t blanks = EXCESS(d->width, len);
    if (!d->left)
        print_fill(env, ' ', blanks);
    print_text(env, text, len);
    if (d->left)
        print_fill(env, ' ', blanks);
}

/* Up to its NUL, in pieces that do not reach into a block of 64 bytes behind it: what is there may
 * not be readable. */
static int print_string(const struct directive *d, uint64_t addr, const struct agent_env *env,
                        struct err *err)
{
    char text[AGENT_MAX_STRING];
    size_t len = 0, most = sizeof text;
    if (d->has_precision)
        most = d->precision;
    while (len < most) {
        size_t n = MIN(64 - (size_t)((addr + len) % 64), most - len);
        int ret = env->read_mem(env->ctx, addr + len, (uint8_t *)text + len, n, err);
        if (ret < 0)
            return ret;
        const char *end = memchr(text + len, 0, n);
        if (end)
            most = (size_t)(end - text);
        len += n;
    }
    print_padded(d, text, most, env);
    return 0;
}

static int print_directive(const struct directive *d, uint64_t value, const struct agent_env *env,
                           struct err *err)
{
    char c = (char)value;
    switch (d->conversion) {
    case 's': return print_string(d, value, env, err);
    case 'c': print_padded(d, &c, 1, env); return 0;
    case 'p':
        if (value == 0) { /* as GDB */
            print_padded(d, "(nil)", 5, env);
            return 0;
        }
        break;
    default: break;
    }
    print_number(d, value, env);
    return 0;
}

int agent_format_print(const char *fmt, const uint64_t *args, const struct agent_env *env,
                       struct err *err)
{
    struct directive d;
    while (*fmt) {
        size_t plain = strcspn(fmt, "%\\");
        print_text(env, fmt, plain);
        fmt += plain;
        if (*fmt == '\\') {
            char c = escaped_char(fmt[1]);
            print_text(env, &c, 1);
            fmt += 2;
        } else if (*fmt == '%') {
            fmt = parse_directive(fmt + 1, &d, err);
            if (!fmt)
                return -(int)ERR_USAGE;
            if (d.conversion == '%') {
                print_text(env, "%", 1);
                continue;
            }
            int ret = print_directive(&d, *args++, env, err);
            if (ret < 0)
                return ret;
        }
    }
    return 0;
}
