#include "profiler/profile/recording_format.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "probe/base/bytes.h"
#include "probe/base/options.h"

/* ---- checksum ---- */

uint32_t recording_crc(uint32_t crc, const uint8_t *p, size_t n)
{
    /* By half bytes: 16 entries instead of 256; blocks are compressed, so speed is no matter here.
     */
    static const uint32_t table[16] = { 0x00000000, 0x1DB71064, 0x3B6E20C8, 0x26D930AC,
                                        0x76DC4190, 0x6B6B51F4, 0x4DB26158, 0x5005713C,
                                        0xEDB88320, 0xF00F9344, 0xD6D6A3E8, 0xCB61B38C,
                                        0x9B64C2B0, 0x86D3D2D4, 0xA00AE278, 0xBDBDF21C };
    crc = ~crc;
    for (size_t i = 0; i < n; i++) {
        crc = table[(crc ^ p[i]) & 15] ^ crc >> 4;
        crc = table[(crc ^ p[i] >> 4) & 15] ^ crc >> 4;
    }
    return ~crc;
}

/* ---- events ---- */

/* Fields in the order of their bits in an event's "differs" mask. */
/* clang-format off */
enum field {
    F_C1, F_C2, F_TIME, F_HOST, F_PC, F_TARGET, F_SP, /* differences */
    F_FLAGS, F_VECTOR, F_CAUSE, F_CONTEXT, F_AMOUNT,  /* whole */
    F_COUNT,
    F_FIRST_WHOLE = F_FLAGS
};
/* clang-format on */

static void fields_of(const struct event *e, uint64_t f[F_COUNT])
{
    f[F_C1] = e->c1;
    f[F_C2] = e->c2;
    f[F_TIME] = e->time_cycles;
    f[F_HOST] = e->host_ns;
    f[F_PC] = e->pc;
    f[F_TARGET] = e->target;
    f[F_SP] = e->sp;
    f[F_FLAGS] = e->flags;
    f[F_VECTOR] = e->vector;
    f[F_CAUSE] = e->cause;
    f[F_CONTEXT] = e->context;
    f[F_AMOUNT] = e->amount;
}

/* False if a value does not fit its field. */
static bool fields_to(const uint64_t f[F_COUNT], uint8_t kind, struct event *e)
{
    if (f[F_SP] > UINT32_MAX || f[F_FLAGS] > UINT32_MAX || f[F_VECTOR] > UINT16_MAX ||
        f[F_CAUSE] > UINT8_MAX || f[F_CONTEXT] > UINT32_MAX)
        return false;
    *e = (struct event){
        .c1 = f[F_C1],
        .c2 = f[F_C2],
        .time_cycles = f[F_TIME],
        .host_ns = f[F_HOST],
        .pc = f[F_PC],
        .target = f[F_TARGET],
        .sp = (uint32_t)f[F_SP],
        .flags = (uint32_t)f[F_FLAGS],
        .vector = (uint16_t)f[F_VECTOR],
        .cause = (uint8_t)f[F_CAUSE],
        .context = (uint32_t)f[F_CONTEXT],
        .amount = f[F_AMOUNT],
        .kind = kind,
    };
    return true;
}

static uint8_t *put_varint(uint8_t *p, uint64_t v)
{
    while (v >= 0x80) {
        *p++ = (uint8_t)(v | 0x80);
        v >>= 7;
    }
    *p++ = (uint8_t)v;
    return p;
}

static const uint8_t *get_varint(const uint8_t *p, const uint8_t *end, uint64_t *v)
{
    uint64_t x = 0;
    for (unsigned shift = 0; shift < 64 && p < end; shift += 7) {
        uint8_t b = *p++;
        x |= (uint64_t)(b & 0x7F) << shift;
        if (!(b & 0x80)) {
            *v = x;
            return p;
        }
    }
    return NULL;
}

static uint64_t zigzag_encode(uint64_t d) { return d << 1 ^ (0 - (d >> 63)); }

static uint64_t zigzag_decode(uint64_t z) { return z >> 1 ^ (0 - (z & 1)); }

size_t recording_encode(const struct event *e, size_t n, uint8_t *out)
{
    uint64_t last[F_COUNT] = { 0 }, now[F_COUNT];
    uint8_t *p = out;
    for (size_t i = 0; i < n; i++) {
        unsigned mask = 0;
        fields_of(&e[i], now);
        for (int f = 0; f < F_COUNT; f++)
            mask |= (unsigned)(now[f] != last[f]) << f;
        *p++ = e[i].kind;
        p = put_varint(p, mask);
        for (int f = 0; f < F_COUNT; f++)
            if (mask >> f & 1)
                p = put_varint(p, f < F_FIRST_WHOLE ? zigzag_encode(now[f] - last[f]) : now[f]);
        memcpy(last, now, sizeof last);
    }
    return (size_t)(p - out);
}

int recording_decode(const uint8_t *p, size_t len, struct event *out, size_t n)
{
    uint64_t fields[F_COUNT] = { 0 }, v;
    const uint8_t *end = p + len;
    for (size_t i = 0; i < n; i++) {
        if (p == end || *p >= EVENT_NKINDS)
            return -1;
        uint8_t kind = *p++;
        uint64_t mask;
        if (!(p = get_varint(p, end, &mask)) || mask >> F_COUNT)
            return -1;
        for (int f = 0; f < F_COUNT; f++) {
            if (!(mask >> f & 1))
                continue;
            if (!(p = get_varint(p, end, &v)))
                return -1;
            fields[f] = f < F_FIRST_WHOLE ? fields[f] + zigzag_decode(v) : v;
        }
        if (!fields_to(fields, kind, &out[i]))
            return -1;
    }
    if (p == end)
        return 0;
    return -1;
}

/* ---- header and end text ---- */

/* Values on one line each: line feeds and backslashes are escaped. */
static void put_text(FILE *f, const char *key, const char *value)
{
    if (!value)
        return;
    fprintf(f, "%s=", key);
    for (; *value; value++) {
        if (*value == '\n')
            fputs("\\n", f);
        else if (*value == '\\')
            fputs("\\\\", f);
        else
            fputc(*value, f);
    }
    fputc('\n', f);
}

static void put_number(FILE *f, const char *key, uint64_t value)
{
    fprintf(f, "%s=%" PRIu64 "\n", key, value);
}

static void unescape_text(char *s)
{
    char *to = s;
    for (; *s; s++) {
        if (*s == '\\' && s[1]) {
            s++;
            *to++ = *s == 'n' ? '\n' : *s;
        } else {
            *to++ = *s;
        }
    }
    *to = '\0';
}

static void put_counter(FILE *f, const char *key, const struct profile_counter *c)
{
    char value[160];
    if (!c->code)
        return;
    snprintf(value, sizeof value, "%u %s %s", c->code, c->unit ? c->unit : "count",
             c->name ? c->name : "");
    put_text(f, key, value);
}

static void put_block(FILE *f, const struct symbol_block *b)
{
    char value[SYMBOL_BLOCK_NAME + 48];
    snprintf(value, sizeof value, "%" PRIu64 " %" PRIu64 " %s", b->low, b->high, b->name);
    put_text(f, "block", value);
}

static void put_header_lines(FILE *f, const struct recording_header *h)
{
    put_text(f, "program", h->program);
    put_text(f, "target", h->target);
    put_text(f, "probe", h->probe);
    put_text(f, "elf", h->elf);
    if (h->build_id_len) {
        fputs("build_id=", f);
        for (size_t i = 0; i < h->build_id_len && i < sizeof h->build_id; i++)
            fprintf(f, "%02x", h->build_id[i]);
        fputc('\n', f);
    }
    if (h->code_sum)
        put_number(f, "code_sum", h->code_sum);
    put_counter(f, "counter1", &h->counter[0]);
    put_counter(f, "counter2", &h->counter[1]);
    fprintf(f, "when=%" PRId64 "\n", h->when);
    if (h->has_start)
        put_number(f, "start", h->start);
    for (size_t i = 0; i < h->nstops && i < RECORDING_MAX_STOPS; i++)
        put_number(f, "stop", h->stops[i]);
    put_number(f, "irq_filter", h->irq_filter);
    put_number(f, "max_passes", h->max_passes);
    for (size_t i = 0; i < h->nblocks && i < SYMBOL_BLOCKS_MOST; i++)
        put_block(f, &h->blocks[i]);
    put_number(f, "address_cached", h->address_cached);
    put_number(f, "canonical_mask", h->canonical_mask);
    if (h->part) {
        put_number(f, "run_id", h->run_id);
        put_number(f, "part", h->part);
    }
    if (h->resumed)
        put_number(f, "resumed", 1);
}

uint64_t recording_code_sum(const struct image *im)
{
    uint64_t bytes = 0;
    uint32_t crc = 0;
    for (size_t i = 0; i < im->nsections; i++) {
        const struct image_section *s = &im->sections[i];
        uint8_t where[16];
        if (!s->code || !s->data)
            continue;
        put_le64(where, s->addr);
        put_le64(where + 8, s->size);
        crc = recording_crc(recording_crc(crc, where, sizeof where), s->data, s->size);
        bytes += s->size;
    }
    return bytes << 32 | (bytes ? crc : 0);
}

char *recording_header_text(const struct recording_header *h)
{
    char *text = NULL;
    size_t n;
    FILE *f = open_memstream(&text, &n);
    if (!f)
        return NULL;
    put_header_lines(f, h);
    if (fclose(f) != 0) {
        free(text);
        return NULL;
    }
    return text;
}

static void put_remark(FILE *f, const struct profile_remark *r)
{
    char value[600];
    snprintf(value, sizeof value, "%" PRIu64 " %s %s", r->count, r->kind, r->text);
    put_text(f, "remark", value);
}

char *recording_end_text(const struct recording_end *e)
{
    char *text = NULL;
    size_t n;
    FILE *f = open_memstream(&text, &n);
    if (!f)
        return NULL;
    put_number(f, "events", e->events);
    put_number(f, "target_cycles", e->time.target_cycles);
    put_number(f, "agent_cycles", e->time.agent_cycles);
    put_number(f, "host_ns", e->time.host_ns);
    put_number(f, "board_ns", e->time.board_ns);
    put_number(f, "held_ns", e->time.held_ns);
    put_number(f, "lost", e->lost);
    put_number(f, "icache_enabled", e->icache_enabled);
    put_text(f, "note", e->note);
    for (size_t i = 0; i < e->nremarks && i < RECORDING_MAX_REMARKS; i++)
        put_remark(f, &e->remark[i]);
    if (fclose(f) != 0) {
        free(text);
        return NULL;
    }
    return text;
}

/* One "key=value" line off the text; false at its end. A line without '=' has value NULL. */
static bool next_line(char **text, char **key, char **value)
{
    if (!**text)
        return false;
    *key = *text;
    char *end = strchr(*text, '\n');
    *text = end ? end + 1 : *text + strlen(*text);
    if (end)
        *end = '\0';
    char *equals = strchr(*key, '=');
    *value = equals ? equals + 1 : NULL;
    if (equals) {
        *equals = '\0';
        unescape_text(*value);
    }
    return true;
}

static bool to_u64(const char *text, uint64_t *out)
{
    uint64_t v;
    if (!options_number(&text, 10, &v) || *text)
        return false;
    *out = v;
    return true;
}

static bool to_hex(const char *text, uint8_t *out, size_t cap, size_t *len)
{
    size_t n = strlen(text);
    if (n % 2 || n / 2 > cap)
        return false;
    for (size_t i = 0; i < n / 2; i++) {
        char digits[3] = { text[2 * i], text[2 * i + 1], 0 }, *end;
        out[i] = (uint8_t)strtoul(digits, &end, 16);
        if (*end || digits[0] == '-' || digits[0] == '+' || digits[0] == ' ')
            return false;
    }
    *len = n / 2;
    return true;
}

/* "35 cycles elapsed-time" */
static bool to_counter(char *text, struct arena *a, struct profile_counter *c)
{
    char *unit = strchr(text, ' '), *name = unit ? strchr(unit + 1, ' ') : NULL;
    uint64_t code;
    if (!name)
        return false;
    *unit++ = *name++ = '\0';
    if (!to_u64(text, &code) || code > UINT16_MAX)
        return false;
    c->code = (uint16_t)code;
    c->unit = "count";
    if (!strcmp(unit, "cycles"))
        c->unit = "cycles";
    c->name = arena_str(a, name);
    return c->name != NULL;
}

static bool header_string(const char *key, const char *value, struct arena *a,
                          struct recording_header *h, bool *known)
{
    const struct {
        const char *key;
        const char **to;
    } strings[] = { { "program", &h->program },
                    { "target", &h->target },
                    { "probe", &h->probe },
                    { "elf", &h->elf } };
    for (size_t i = 0; i < sizeof strings / sizeof *strings; i++)
        if (!strcmp(key, strings[i].key)) {
            *known = true;
            *strings[i].to = arena_str(a, value);
            return *strings[i].to != NULL;
        }
    return true;
}

static bool header_flag(const char *value, bool *out)
{
    uint64_t v;
    if (!to_u64(value, &v) || v > 1)
        return false;
    *out = v;
    return true;
}

static bool header_start(const char *value, struct recording_header *h)
{
    h->has_start = true;
    return to_u64(value, &h->start);
}

static bool header_stop(const char *value, struct recording_header *h)
{
    return h->nstops < RECORDING_MAX_STOPS && to_u64(value, &h->stops[h->nstops++]);
}

static bool header_filter(const char *value, struct recording_header *h)
{
    uint64_t v;
    if (!to_u64(value, &v) || v > IRQ_FILTER_SHINOBI)
        return false;
    h->irq_filter = (enum irq_filter)v;
    return true;
}

static bool header_when(const char *value, struct recording_header *h)
{
    char *end;
    errno = 0;
    h->when = strtoll(value, &end, 10);
    return end != value && !*end && !errno;
}

/* "LOW HIGH NAME" */
static bool header_block(char *text, struct arena *a, struct recording_header *h)
{
    char *high = strchr(text, ' '), *name = high ? strchr(high + 1, ' ') : NULL;
    struct symbol_block *row = (struct symbol_block *)(uintptr_t)h->blocks;
    if (!name || h->nblocks == SYMBOL_BLOCKS_MOST)
        return false;
    *high++ = *name++ = '\0';
    if (!row)
        row = arena_alloc(a, SYMBOL_BLOCKS_MOST * sizeof *row);
    h->blocks = row;
    if (!row || !to_u64(text, &row[h->nblocks].low) || !to_u64(high, &row[h->nblocks].high))
        return false;
    row[h->nblocks].name = arena_str(a, name);
    return row[h->nblocks++].name != NULL;
}

static bool header_value(const char *key, char *value, struct arena *a, struct recording_header *h)
{
    bool known = false;
    if (!header_string(key, value, a, h, &known))
        return false;
    if (known)
        return true;
    if (!strcmp(key, "build_id"))
        return to_hex(value, h->build_id, sizeof h->build_id, &h->build_id_len);
    if (!strcmp(key, "code_sum"))
        return to_u64(value, &h->code_sum);
    if (!strcmp(key, "counter1") || !strcmp(key, "counter2"))
        return to_counter(value, a, &h->counter[key[7] - '1']);
    if (!strcmp(key, "when"))
        return header_when(value, h);
    if (!strcmp(key, "start"))
        return header_start(value, h);
    if (!strcmp(key, "stop"))
        return header_stop(value, h);
    if (!strcmp(key, "block"))
        return header_block(value, a, h);
    if (!strcmp(key, "irq_filter"))
        return header_filter(value, h);
    if (!strcmp(key, "max_passes"))
        return to_u64(value, &h->max_passes);
    if (!strcmp(key, "address_cached"))
        return header_flag(value, &h->address_cached);
    if (!strcmp(key, "canonical_mask"))
        return to_u64(value, &h->canonical_mask);
    if (!strcmp(key, "run_id"))
        return to_u64(value, &h->run_id);
    if (!strcmp(key, "part"))
        return to_u64(value, &h->part);
    if (!strcmp(key, "resumed"))
        return header_flag(value, &h->resumed);
    return true; /* of a later version */
}

int recording_parse_header(char *text, struct arena *a, struct recording_header *h, struct err *err)
{
    char *key, *value;
    while (next_line(&text, &key, &value))
        if (!value || !header_value(key, value, a, h))
            return err_set(err, ERR_FORMAT, "record again",
                           "recording: header line \"%.60s\" makes no sense", key);
    return 0;
}

/* "COUNT KIND TEXT"; the strings stay where they are. Those beyond what there is room for are of a
 * later version. */
static bool to_remark(char *text, struct recording_end *e)
{
    char *kind = strchr(text, ' '), *words = kind ? strchr(kind + 1, ' ') : NULL;
    uint64_t count;
    if (!words)
        return false;
    *kind++ = *words++ = '\0';
    if (!to_u64(text, &count))
        return false;
    if (e->nremarks < RECORDING_MAX_REMARKS)
        e->remark[e->nremarks++] = (struct profile_remark){ kind, words, count };
    return true;
}

int recording_parse_end(char *text, struct recording_end *e, struct err *err)
{
    char *key, *value;
    const struct {
        const char *key;
        uint64_t *to;
    } numbers[] = { { "events", &e->events },
                    { "target_cycles", &e->time.target_cycles },
                    { "agent_cycles", &e->time.agent_cycles },
                    { "host_ns", &e->time.host_ns },
                    { "board_ns", &e->time.board_ns },
                    { "held_ns", &e->time.held_ns },
                    { "lost", &e->lost } };
    while (next_line(&text, &key, &value)) {
        bool ok = value != NULL;
        for (size_t i = 0; ok && i < sizeof numbers / sizeof *numbers; i++)
            if (!strcmp(key, numbers[i].key))
                ok = to_u64(value, numbers[i].to);
        if (ok && !strcmp(key, "icache_enabled"))
            ok = header_flag(value, &e->icache_enabled);
        if (ok && !strcmp(key, "remark"))
            ok = to_remark(value, e);
        if (ok && !strcmp(key, "note"))
            snprintf(e->note, sizeof e->note, "%s", value);
        if (!ok)
            return err_set(err, ERR_FORMAT, "record again",
                           "recording: end line \"%.60s\" makes no sense", key);
    }
    return 0;
}
