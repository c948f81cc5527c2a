#include "tests/sim_sh4/asm.h"

#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "probe/base/bytes.h"
#include "probe/base/util.h"
#include "targets/sh4/isa/isa.h"

struct match {
    struct asm_prog *p;
    const struct sh4_insn *row;
    uint32_t pc;
    uint32_t op;
    bool undefined; /* a label not known yet was used */
};

static void die_at(const char *why, const char *line)
{
    fprintf(stderr, "asm: %s: %s\n", why, line);
    abort();
}

static const struct asm_label *find_label(const struct asm_prog *p, const char *name, size_t len)
{
    for (size_t i = 0; i < p->nlabels; i++)
        if (strlen(p->labels[i].name) == len && strncmp(p->labels[i].name, name, len) == 0)
            return &p->labels[i];
    return NULL;
}

void asm_define(struct asm_prog *p, const char *name, uint32_t value)
{
    struct asm_label *l = (struct asm_label *)find_label(p, name, strlen(name));
    if (!l) {
        if (p->nlabels == ARRAY_LEN(p->labels))
            die_at("too many labels", name);
        l = &p->labels[p->nlabels++];
        snprintf(l->name, sizeof l->name, "%s", name);
    }
    l->value = value;
}

uint32_t asm_label(const struct asm_prog *p, const char *name)
{
    const struct asm_label *l = find_label(p, name, strlen(name));
    if (!l)
        die_at("no such label", name);
    return l->value;
}

/* Sum of signed terms; stops at ',' ')' or the end. NULL if it is no expression. */
static const char *parse_expression(struct match *m, const char *t, uint32_t *value)
{
    uint32_t sum = 0;
    bool minus = false, any = false;
    for (;;) {
        if (*t == '-' || *t == '+') {
            minus = *t++ == '-';
        } else if (any) {
            break;
        }
        uint32_t term = 0;
        if (isdigit((unsigned char)*t)) {
            char *end;
            term = (uint32_t)strtoul(t, &end, 0);
            t = end;
        } else if (isalpha((unsigned char)*t) || *t == '_' || *t == '.') {
            size_t n = 0;
            while (isalnum((unsigned char)t[n]) || t[n] == '_' || t[n] == '.')
                n++;
            const struct asm_label *l = find_label(m->p, t, n);
            m->undefined |= !l;
            term = l ? l->value : m->pc;
            t += n;
        } else {
            return NULL;
        }
        sum += minus ? -term : term;
        minus = false;
        any = true;
    }
    *value = sum;
    return t;
}

static void put_field(struct match *m, char letter, unsigned v)
{
    bool two = !(m->row->mask & 0x0E00) && !(m->row->mask & 0x00E0);
    bool low = (two && letter == 'm') || (m->row->mask & 0x0F00) == 0x0F00;
    m->op |= v << (low ? 4 : 8);
}

static const char *parse_number(const char *t, unsigned limit, unsigned *v)
{
    char *end;
    if (!isdigit((unsigned char)*t))
        return NULL;
    *v = (unsigned)strtoul(t, &end, 10);
    return *v < limit ? end : NULL;
}

static const char *match_reg(struct match *m, const char *w, size_t len, const char *t,
                             bool *is_reg)
{
    static const struct {
        const char *prefix, *text;
    } kinds[] = {
        { "FR", "fr" }, { "DR", "dr" }, { "XD", "xd" }, { "FV", "fv" }, { "R", "r" },
    };
    char letter = w[len - 1];
    unsigned v;
    *is_reg = true;
    if (len == 7 && strncmp(w + 2, "_BANK", 5) == 0) {
        if (*t != 'r' || !(t = parse_number(t + 1, 8, &v)) || strncmp(t, "_bank", 5) != 0)
            return NULL;
        m->op |= v << 4;
        return t + 5;
    }
    for (size_t i = 0; i < ARRAY_LEN(kinds); i++) {
        size_t n = strlen(kinds[i].prefix);
        if (len != n + 1 || strncmp(w, kinds[i].prefix, n) != 0 || (letter != 'm' && letter != 'n'))
            continue;
        if (strncmp(t, kinds[i].text, n) != 0 || !(t = parse_number(t + n, 16, &v)) || *t == '_')
            return NULL;
        if (w[0] == 'F' && w[1] == 'V') /* two-bit fields share bits 11-8 */
            m->op |= letter == 'n' ? v / 4 << 10 : v / 4 << 8;
        else
            put_field(m, letter, (w[0] == 'D' || w[0] == 'X') ? v & ~1u : v);
        return t;
    }
    *is_reg = false;
    return t;
}

static const char *match_disp(struct match *m, const char *t)
{
    const char *name = m->row->text;
    unsigned scale = strncmp(name + 3, ".l", 2) == 0 ? 4 : strncmp(name + 3, ".w", 2) == 0 ? 2 : 1;
    unsigned limit =
        (m->row->match >> 12) == 1 || (m->row->match >> 12) == 5 || (m->row->match >> 12) == 8
            ? 16
            : 256;
    uint32_t v;
    if (!(t = parse_expression(m, t, &v)) || v % scale || v / scale >= limit)
        return NULL;
    m->op |= v / scale;
    return t;
}

static const char *match_label(struct match *m, const char *t)
{
    bool short_form = m->row->mask == 0xFF00;
    uint32_t v;
    if (!(t = parse_expression(m, t, &v)))
        return NULL;
    int32_t d = (int32_t)(v - m->pc - 4) / 2, max = short_form ? 0x80 : 0x800;
    if (m->p->last_pass && (d < -max || d >= max))
        die_at("branch out of range", m->row->text);
    m->op |= (uint32_t)d & (short_form ? 0xFFu : 0xFFFu);
    return t;
}

static const char *match_word(struct match *m, const char *w, size_t len, const char *t)
{
    uint32_t v;
    bool is_reg;
    const char *after = match_reg(m, w, len, t, &is_reg);
    if (is_reg)
        return after;
    if (len == 4 && strncmp(w, "#imm", 4) == 0) {
        if (*t != '#' || !(t = parse_expression(m, t + 1, &v)))
            return NULL;
        m->op |= v & 0xFF;
        return t;
    }
    if (len == 4 && strncmp(w, "disp", 4) == 0)
        return match_disp(m, t);
    if (len == 5 && strncmp(w, "label", 5) == 0)
        return match_label(m, t);
    for (size_t i = 0; i < len; i++)
        if (tolower((unsigned char)w[i]) != t[i])
            return NULL;
    return isalnum((unsigned char)t[len]) || t[len] == '_' ? NULL : t + len;
}

/* "mov.l lit,r1", "mov.w lit,r1", "mova lit,r0": the address of the datum instead of @(disp,PC). */
static const char *match_literal(struct match *m, const char *t)
{
    uint32_t v, base = m->row->match == 0x9000 ? m->pc + 4 : (m->pc & ~3u) + 4,
                scale = m->row->match == 0x9000 ? 2 : 4;
    unsigned reg;
    if (*t == '@' || !(t = parse_expression(m, t, &v)) || *t++ != ',' || *t++ != 'r' ||
        !(t = parse_number(t, 16, &reg)))
        return NULL;
    if (m->p->last_pass && (v < base || (v - base) % scale || (v - base) / scale > 255))
        die_at("literal out of range or misaligned", m->row->text);
    m->op |= (v - base) / scale & 0xFF;
    if (m->row->match != 0xC700)
        m->op |= reg << 8;
    return t;
}

static bool match_row(struct match *m, const char *text)
{
    const char *p = m->row->text, *t = text;
    size_t name = strcspn(p, " ");
    if (strncmp(t, p, name) != 0 || (t[name] != ' ' && t[name] != 0))
        return false;
    m->op = m->row->match;
    p += name + (p[name] == ' ');
    t += name + (t[name] == ' ');
    if (strstr(m->row->text, "(disp,PC)")) {
        const char *end = match_literal(m, t);
        if (end)
            return *end == 0;
    }
    while (*p) {
        size_t len = strcspn(p, "@(),+-");
        if (len == 0) {
            if (*p++ != *t++)
                return false;
            continue;
        }
        if (!(t = match_word(m, p, len, t)))
            return false;
        p += len;
    }
    return *t == 0;
}

/* objdump's fmov for a 32-bit memory operand is the table's fmov.s. */
static bool is_fmov_s(const char *text)
{
    return strncmp(text, "fmov ", 5) == 0 && strchr(text, '@') && !strstr(text, "dr") &&
           !strstr(text, "xd");
}

bool asm_insn(struct asm_prog *p, uint32_t pc, const char *src, uint16_t *opcode)
{
    char text[128], name[136];
    size_t n = 0;
    bool gap = false;
    for (; *src && n + 1 < sizeof text; src++) { /* one blank after the mnemonic, none elsewhere */
        if (isspace((unsigned char)*src)) {
            if (n && !gap)
                text[n++] = ' ';
            gap = gap || n;
        } else {
            text[n++] = (char)tolower((unsigned char)*src);
        }
    }
    while (n && text[n - 1] == ' ')
        n--;
    text[n] = 0;
    if (text[0] == 'b' && strncmp(text + 2, ".s ", 3) == 0)
        text[2] = '/';
    if (is_fmov_s(text))
        snprintf(name, sizeof name, "fmov.s %s", text + 5);
    else
        snprintf(name, sizeof name, "%s", text);
    for (unsigned i = 1; i < SH4_NINSNS; i++) {
        struct match m = { .p = p, .row = &sh4_insns[i], .pc = pc };
        if (!match_row(&m, name))
            continue;
        *opcode = (uint16_t)m.op;
        return true;
    }
    return false;
}

static void emit_bytes(struct asm_prog *p, uint32_t v, unsigned bytes, const char *line)
{
    if (p->len + bytes > sizeof p->code)
        die_at("program too long", line);
    if (bytes == 2)
        put16(p->code + p->len, (uint16_t)v, p->big);
    else
        put32(p->code + p->len, v, p->big);
    p->len += bytes;
}

static uint32_t value_of(struct asm_prog *p, const char *t, bool final, const char *line)
{
    struct match m = { .p = p, .pc = p->origin + (uint32_t)p->len };
    uint32_t v = 0;
    if (!parse_expression(&m, t, &v))
        die_at("bad expression", line);
    if (final && m.undefined)
        die_at("undefined label", line);
    return v;
}

static bool do_directive(struct asm_prog *p, const char *s, bool final)
{
    uint32_t pc = p->origin + (uint32_t)p->len, until;
    if (strncmp(s, ".long ", 6) == 0)
        return emit_bytes(p, value_of(p, s + 6, final, s), 4, s), true;
    if (strncmp(s, ".word ", 6) == 0)
        return emit_bytes(p, value_of(p, s + 6, final, s), 2, s), true;
    if (strncmp(s, ".align ", 7) == 0)
        until = (pc + (1u << value_of(p, s + 7, true, s)) - 1) &
                ~((1u << value_of(p, s + 7, true, s)) - 1);
    else if (strncmp(s, ".space ", 7) == 0)
        until = pc + value_of(p, s + 7, true, s);
    else if (strncmp(s, ".org ", 5) == 0)
        until = value_of(p, s + 5, true, s);
    else
        return false;
    if (until < pc)
        die_at(".org goes back", s);
    while (p->origin + p->len < until)
        emit_bytes(p, 0x0009, 2, s);
    return true;
}

static void do_statement(struct asm_prog *p, char *s, bool final)
{
    uint16_t op = 0;
    char *colon = strchr(s, ':');
    uint32_t pc = p->origin + (uint32_t)p->len;
    s += strspn(s, " \t");
    if (colon) {
        *colon = 0;
        asm_define(p, s, pc);
        s = colon + 1 + strspn(colon + 1, " \t");
    }
    if (!*s || do_directive(p, s, final))
        return;
    if (!asm_insn(p, pc, s, &op))
        die_at("not an instruction", s);
    if (final) { /* labels are known now: one left over is a misspelling */
        const char *arg = strpbrk(s, " \t");
        if (arg &&
            (sh4_flow(op, 0).kind == SH4_FLOW_BRANCH || sh4_flow(op, 0).kind == SH4_FLOW_BRA))
            value_of(p, arg + strspn(arg, " \t"), true, s);
    }
    emit_bytes(p, op, 2, s);
}

static void run_pass(struct asm_prog *p, const char *src, bool final)
{
    p->len = 0;
    while (*src) {
        char line[160];
        size_t n = strcspn(src, "\n;"), k = MIN(n, sizeof line - 1);
        memcpy(line, src, k);
        line[k] = 0;
        line[strcspn(line, "!")] = 0;
        for (size_t e = strlen(line); e && isspace((unsigned char)line[e - 1]); e--)
            line[e - 1] = 0;
        do_statement(p, line, final);
        src += n + (src[n] != 0);
    }
}

void asm_text(struct asm_prog *p, uint32_t origin, const char *src)
{
    p->origin = origin;
    p->last_pass = false;
    run_pass(p, src, false);
    p->last_pass = true;
    run_pass(p, src, true);
    p->last_pass = false;
}
