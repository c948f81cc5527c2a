#include "targets/s12z/trace/line.h"
#include "probe/base/choice.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

enum {
    INFO_ZERO = 0x80,
    INFO_TSOVF = 0x40,
    INFO_TBOVF = 0x20,
    INFO_TERM = 0x10,
    INFO_FORMAT = 0x0F
};

struct s12z_settings s12z_settings_default(void)
{
    return (struct s12z_settings){ .edge_rule = S12Z_EDGES_BOTH,
                                   .first_edge_is_clock = true,
                                   .pthf_bytes = 6,
                                   .software_exceptions_traced = true,
                                   .bit_branches_traced = true,
                                   .loop_branches_traced = true,
                                   .stamp_from_line = true,
                                   .low_byte_first = true };
}

const char *s12z_line_name(unsigned format)
{
    static const char *const names[16] = { [S12Z_PTS] = "PTS",
                                           [S12Z_PTIB] = "PTIB",
                                           [S12Z_PTHF] = "PTHF",
                                           [S12Z_PTVB] = "PTVB",
                                           [S12Z_PTW] = "PTW" };
    if (format < 16 && names[format])
        return names[format];
    return "?";
}

unsigned s12z_line_bytes(uint8_t info, const struct s12z_settings *s)
{
    if (info & INFO_ZERO)
        return 0;
    switch (info & INFO_FORMAT) {
    case S12Z_PTS:
        if (info & (INFO_TBOVF | INFO_TERM | INFO_TSOVF))
            return 0;
        return 4;
    case S12Z_PTHF: return s->pthf_bytes;
    case S12Z_PTIB:
    case S12Z_PTVB:
    case S12Z_PTW: return 8;
    default: return 0;
    }
}

/* Where the k-th byte of a field of n goes, in bits. */
static unsigned byte_shift(const struct s12z_settings *s, unsigned k, unsigned n)
{
    return 8 * (s->low_byte_first ? k : n - 1 - k);
}

/* n bytes of the line from byte `at` on, in the order of the setting. */
static uint32_t get_field(uint64_t raw, unsigned at, unsigned n, const struct s12z_settings *s)
{
    uint32_t v = 0;
    for (unsigned k = 0; k < n; k++)
        v |= (uint32_t)(raw >> (8 * (at + k)) & 0xFF) << byte_shift(s, k, n);
    return v;
}

static uint64_t put_field(uint32_t v, unsigned at, unsigned n, const struct s12z_settings *s)
{
    uint64_t raw = 0;
    for (unsigned k = 0; k < n; k++)
        raw |= (uint64_t)(v >> byte_shift(s, k, n) & 0xFF) << (8 * (at + k));
    return raw;
}

static int refuse_line(uint64_t raw, const char *why, struct err *err)
{
    return err_set(err, ERR_FORMAT,
                   "a lost or corrupted line before this one; try --explain for other encodings",
                   "line %016llX: %s", (unsigned long long)raw, why);
}

static int check_bytes(uint64_t raw, const struct s12z_line *l, struct err *err)
{
    if ((l->format == S12Z_PTS && raw >> 32) || (l->format == S12Z_PTHF && raw >> 40))
        return refuse_line(raw, "bytes that must be 0 are not", err);
    if (l->format == S12Z_PTW && (raw >> 40 & 0xFF))
        return refuse_line(raw, "byte 5 of a PTW is not 0", err);
    if (l->format == S12Z_PTVB && l->vector & 1)
        return refuse_line(raw, "odd vector byte", err);
    if (l->format == S12Z_PTHF && l->nbranches != 31 && !l->overflow && !l->end)
        return refuse_line(raw, "a PTHF with less than 31 branches", err);
    return 0;
}

/* The usual lines: a destination behind branches, 31 branches. Member by member: a struct put
 * together elsewhere and copied costs a processor a dozen cycles, as its wide loads wait for the
 * narrow stores. */
static bool decode_usual(uint64_t raw, const struct s12z_settings *s, struct s12z_line *out)
{
    uint32_t direct = raw >> 8 & 0xFFFFFFFF;
    uint8_t info = raw & 0xFF;
    bool full = info == S12Z_PTHF && raw >> 39 == 1; /* 31 branches, nothing behind them */
    if (!full && (info != S12Z_PTIB || !direct || !s->low_byte_first))
        return false;
    unsigned n = 31 - (unsigned)__builtin_clz(direct);
    out->format = info;
    out->stamp_overflow = out->overflow = out->end = false;
    out->nbranches = (uint8_t)n;
    out->branches = direct ^ 1u << n;
    out->address = (uint32_t)(raw >> 40); /* 0 of a PTHF */
    out->vector = 0;
    out->stamp = 0;
    return true;
}

int s12z_line_decode(uint64_t raw, const struct s12z_settings *s, struct s12z_line *out,
                     struct err *err)
{
    if (decode_usual(raw, s, out))
        return 0;
    uint8_t info = raw & 0xFF;
    struct s12z_line l = { .format = info & INFO_FORMAT,
                           .stamp_overflow = info & INFO_TSOVF,
                           .overflow = info & INFO_TBOVF,
                           .end = info & INFO_TERM };
    if (!s12z_line_bytes(info, s))
        return refuse_line(raw, "no line begins with this byte", err);
    if (l.format == S12Z_PTS) {
        l.address = get_field(raw, 1, 3, s);
    } else {
        uint32_t direct = raw >> 8 & 0xFFFFFFFF;
        if (!direct)
            return refuse_line(raw, "no stop bit among the branches", err);
        l.nbranches = (uint8_t)(31 - __builtin_clz(direct));
        l.branches = direct ^ 1u << l.nbranches;
    }
    if (l.format == S12Z_PTIB)
        l.address = get_field(raw, 5, 3, s);
    if (l.format == S12Z_PTVB)
        l.vector = raw >> 40 & 0xFF;
    if (l.format == S12Z_PTVB || l.format == S12Z_PTW)
        l.stamp = (uint16_t)get_field(raw, 6, 2, s);
    int ret = check_bytes(raw, &l, err);
    if (ret == 0)
        *out = l;
    return ret;
}

uint64_t s12z_line_encode(const struct s12z_line *l, const struct s12z_settings *s)
{
    uint64_t raw = l->format | bits_if(l->stamp_overflow, INFO_TSOVF) |
                   bits_if(l->overflow, INFO_TBOVF) | bits_if(l->end, INFO_TERM);
    if (l->format == S12Z_PTS)
        return raw | put_field(l->address, 1, 3, s);
    raw |= (uint64_t)(1u << l->nbranches | l->branches) << 8;
    if (l->format == S12Z_PTIB)
        raw |= put_field(l->address, 5, 3, s);
    if (l->format == S12Z_PTVB)
        raw |= (uint64_t)l->vector << 40;
    if (l->format == S12Z_PTVB || l->format == S12Z_PTW)
        raw |= put_field(l->stamp, 6, 2, s);
    return raw;
}

uint64_t s12z_line_from_dbgtb(const uint8_t b[8])
{
    uint64_t raw = 0;
    for (unsigned k = 0; k < 8; k++)
        raw |= (uint64_t)b[k ^ 1] << (8 * k);
    return raw;
}

uint64_t s12z_line_from_command(const uint8_t b[8])
{
    uint64_t raw = 0;
    for (unsigned k = 0; k < 8; k++)
        raw |= (uint64_t)b[k ^ 3] << (8 * k);
    return raw;
}

static void branch_text(const struct s12z_line *l, char out[33])
{
    for (unsigned k = 0; k < l->nbranches; k++)
        out[k] = l->branches >> (l->nbranches - 1 - k) & 1 ? 'T' : 'n';
    out[l->nbranches] = 0;
}

char *s12z_line_text(uint64_t raw, const struct s12z_settings *s, char *buf, size_t cap)
{
    struct s12z_line l;
    char bits[33], where[24] = "", stamp[12] = "";
    if (s12z_line_decode(raw, s, &l, NULL) < 0) {
        snprintf(buf, cap, "%016" PRIX64 " no line", raw);
        return buf;
    }
    branch_text(&l, bits);
    if (l.format != S12Z_PTS && !*bits)
        strcpy(bits, "-");
    if (l.format == S12Z_PTS || l.format == S12Z_PTIB)
        snprintf(where, sizeof where, " -> %06" PRIX32, l.address & 0xFFFFFF);
    if (l.format == S12Z_PTVB)
        snprintf(where, sizeof where, " vector %u", (0xFEu - l.vector) / 2);
    if (l.format == S12Z_PTVB || l.format == S12Z_PTW)
        snprintf(stamp, sizeof stamp, " +%u", l.stamp);
    snprintf(buf, cap, "%016" PRIX64 " %-4s%s%s%s%s%s%s%s", raw, s12z_line_name(l.format),
             text_if(l.format != S12Z_PTS, " "), text_if(l.format != S12Z_PTS, bits), where, stamp,
             text_if(l.stamp_overflow, " TSOVF"), text_if(l.overflow, " TBOVF"),
             text_if(l.end, " TERM"));
    return buf;
}
