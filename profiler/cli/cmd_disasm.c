/* `probeprof disasm`: the code of an ELF as instructions, for both CPUs. */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "probe/base/bytes.h"
#include "probe/base/choice.h"
#include "probe/base/text.h"
#include "probe/base/util.h"
#include "profiler/cli/command.h"
#include "profiler/cli/parts.h"
#include "profiler/cli/view.h"
#include "profiler/views/json_writer.h"
#include "profiler/core/symbols.h"

enum { DISASM_JSON, DISASM_HELP };
static const struct opt disasm_opts[] = {
    { "json", 0, NULL, "print one JSON document", DISASM_JSON },
    { "help", 'h', NULL, "this text", DISASM_HELP },
    { NULL, 0, NULL, NULL, 0 },
};

struct disasm {
    bool json;
    const char *name[2]; /* ELF, WHERE */
    struct symbols *syms;
    const struct part *part;
    uint64_t low, high; /* [low, high); both 0: all code */
    FILE *out;
    struct text_sink sink;
    struct json_writer writer;
    uint64_t shown;
};

static int take_option(void *ctx, int id, const char *value, struct err *err)
{
    struct disasm *d = ctx;
    (void)value;
    (void)err;
    d->json |= id == DISASM_JSON;
    return 0;
}

/* ---- where ---- */

/* A place alone means the function that begins there, or the rest of the function it is in;
 * without a symbol, some instructions. */
static void whole_function(struct disasm *d)
{
    enum { SOME_BYTES = 32 };
    long f = symbols_find(d->syms, d->low);
    d->high = d->low + SOME_BYTES;
    if (f >= 0)
        d->high = symbols_function(d->syms, (size_t)f)->high;
}

/* "LOW:HIGH", where neither is a file's name. */
static int parse_range(struct disasm *d, const char *where, struct err *err)
{
    char low[256];
    const char *colon = strrchr(where, ':');
    snprintf(low, sizeof low, "%.*s", (int)(colon - where), where);
    int ret = symbols_parse(d->syms, low, &d->low, err);
    if (ret >= 0)
        ret = symbols_parse(d->syms, colon + 1, &d->high, err);
    if (ret >= 0 && d->high <= d->low)
        ret = err_set(err, ERR_USAGE, "give the lower address first",
                      "%s: nothing lies between these", where);
    return MIN(ret, 0);
}

static int parse_where(struct disasm *d, const char *where, struct err *err)
{
    struct err first = { .code = ERR_OK };
    if (symbols_parse(d->syms, where, &d->low, &first) >= 0) {
        whole_function(d);
        return 0;
    }
    if (strrchr(where, ':') && parse_range(d, where, NULL) == 0)
        return 0;
    return err_set(err, first.code, first.hint, "%s", first.what);
}

/* ---- one line ---- */

static void bytes_text(const uint8_t *code, size_t n, char *buf, size_t cap)
{
    buf[0] = '\0';
    for (size_t i = 0; i < n && 2 * i + 2 < cap; i++)
        snprintf(buf + 2 * i, cap - 2 * i, "%02x", code[i]);
}

static bool literal_text(const struct image_section *s, const struct insn *i, bool big,
                         uint64_t *value)
{
    uint64_t off = i->data - s->addr;
    if (!i->has_data || !i->data_bytes || i->data < s->addr || off + i->data_bytes > s->size)
        return false;
    if (i->data_bytes == 2)
        *value = get16(s->data + off, big);
    else
        *value = get32(s->data + off, big);
    return true;
}

static bool has_symbol(const struct disasm *d, uint64_t address)
{
    return symbols_find(d->syms, address) >= 0;
}

static void value_remark(const struct disasm *d, const struct insn *i, uint64_t value, char *buf,
                         size_t cap)
{
    char where[160];
    const int digits = (int)(2 * i->data_bytes);
    if (has_symbol(d, value))
        snprintf(buf, cap, "0x%0*" PRIx64 " %s", digits, value,
                 symbols_describe(d->syms, value, where, sizeof where));
    else
        snprintf(buf, cap, "0x%0*" PRIx64, digits, value);
}

/* Behind the instruction: where it leads, or what it reads. */
static void remark_of(const struct disasm *d, const struct image_section *s, const struct insn *i,
                      char *buf, size_t cap)
{
    char where[160];
    uint64_t value;
    buf[0] = '\0';
    if (i->has_target)
        snprintf(buf, cap, "%s", symbols_describe(d->syms, i->target, where, sizeof where));
    else if (literal_text(s, i, symbols_image(d->syms)->big_endian, &value))
        value_remark(d, i, value, buf, cap);
    else if (i->has_data)
        snprintf(buf, cap, "0x%08" PRIx64, i->data);
}

static void line_text(struct disasm *d, uint64_t pc, const char *bytes, const struct insn *i,
                      const char *rem)
{
    char text[128], name[1024];
    long f = symbols_find(d->syms, pc);
    if (f >= 0 && symbols_function(d->syms, (size_t)f)->low == pc)
        text_print(d->out, "%s%08" PRIx64 " <%s>:\n", text_if(d->shown, "\n"), pc,
                   symbols_describe(d->syms, pc, name, sizeof name));
    insn_columns(i, text, sizeof text);
    if (*rem)
        text_print(d->out, "%08" PRIx64 "  %-10s  %-28s ! %s\n", pc, bytes, text, rem);
    else
        text_print(d->out, "%08" PRIx64 "  %-10s  %s\n", pc, bytes, text);
}

static void line_json(struct disasm *d, uint64_t pc, const char *bytes, const struct insn *i,
                      const char *rem)
{
    static const char *const flows[] = { "next",   "branch",         "jump",
                                         "call",   "jump-indirect",  "call-indirect",
                                         "return", "handler-return", "trap",
                                         "none" };
    struct json_writer *j = &d->writer;
    char where[160];
    const char *symbol = NULL;
    if (has_symbol(d, pc))
        symbol = symbols_describe(d->syms, pc, where, sizeof where);
    json_write_object(j, true);
    json_member_uint(j, "address", pc);
    json_member_string(j, "symbol", symbol);
    json_member_string(j, "bytes", bytes);
    json_member_string(j, "text", i->text);
    json_member_string(j, "flow", flows[i->flow]);
    json_member_uint_if(j, "target", i->has_target, i->target);
    json_member_text(j, "remark", rem);
    json_write_end(j);
}

/* ---- all of them ---- */

/* The literals that instructions of the section read from it: for each byte the size of the
 * literal that begins there, or 0. NULL: out of memory. */
static uint8_t *find_literals(const struct disasm *d, const struct image_section *s)
{
    const struct target_ops *ops = d->part->ops();
    uint8_t *found = calloc(s->size + 1, 1);
    struct insn i;
    for (uint64_t off = 0, n; found && off < s->size &&
                              (n = ops->insn(s->data + off, s->size - off, s->addr + off,
                                             symbols_image(d->syms)->big_endian, &i)) > 0;
         off += n)
        if (!found[off] && i.has_data && i.data_bytes &&
            i.data - s->addr + i.data_bytes <= s->size && i.data > s->addr + off)
            found[i.data - s->addr] = (uint8_t)i.data_bytes;
    return found;
}

static size_t literal_insn(const struct disasm *d, const uint8_t *code, unsigned bytes,
                           struct insn *out)
{
    bool big = symbols_image(d->syms)->big_endian;
    *out = (struct insn){ .bytes = bytes, .flow = INSN_NONE };
    if (bytes == 2)
        snprintf(out->text, sizeof out->text, ".word\t0x%04x", get16(code, big));
    else
        snprintf(out->text, sizeof out->text, ".long\t0x%08" PRIx32, get32(code, big));
    return bytes;
}

static void show_section(struct disasm *d, const struct image_section *s, uint64_t low,
                         uint64_t high)
{
    const struct target_ops *ops = d->part->ops();
    uint64_t from = MAX(low, s->addr), to = MIN(high, s->addr + s->size);
    uint8_t *literals = NULL;
    if (from < to)
        literals = find_literals(d, s);
    for (uint64_t pc = from, n; pc < to; pc += n) {
        char bytes[40], rem[256];
        struct insn i;
        const uint8_t *code = s->data + (pc - s->addr);
        unsigned data = 0;
        if (literals)
            data = literals[pc - s->addr];
        if (data)
            n = literal_insn(d, code, data, &i);
        else
            n = ops->insn(code, (size_t)(s->addr + s->size - pc), pc,
                          symbols_image(d->syms)->big_endian, &i);
        if (!n) { /* cut off by the section's end */
            n = s->addr + s->size - pc;
            i = (struct insn){ .text = "(cut off)", .bytes = (unsigned)n, .flow = INSN_NONE };
        }
        bytes_text(s->data + (pc - s->addr), (size_t)n, bytes, sizeof bytes);
        remark_of(d, s, &i, rem, sizeof rem);
        if (d->json)
            line_json(d, pc, bytes, &i, rem);
        else
            line_text(d, pc, bytes, &i, rem);
        d->shown++;
    }
    free(literals);
}

static int show_range(struct disasm *d, struct err *err)
{
    const struct image *im = symbols_image(d->syms);
    d->sink = file_sink(d->out);
    d->writer = (struct json_writer){ .out = &d->sink };
    if (d->json) {
        json_write_object(&d->writer, false);
        json_member_string(&d->writer, "schema", "probeprof.disasm/1");
        json_write_key(&d->writer, "instructions");
        json_write_array(&d->writer, false);
    }
    for (size_t i = 0; i < im->nsections; i++)
        if (im->sections[i].code && im->sections[i].data)
            show_section(d, &im->sections[i], d->low, EITHER(d->high, UINT64_MAX));
    if (d->json) {
        json_write_end(&d->writer);
        json_write_end(&d->writer);
        fputc('\n', d->out);
    }
    if (!d->shown)
        return err_set(err, ERR_NOT_FOUND, "give an address inside of a code section",
                       "%s: no code there", text_or(d->name[1], d->name[0]));
    return 0;
}

static int run_disasm(struct cli *cli, int argc, char **argv, struct err *err)
{
    struct disasm d = { .out = cli->out };
    int ret = opts_parse(disasm_opts, argc, argv, take_option, &d, d.name, 2, err);
    if (ret < 0)
        return ret;
    if (ret == 0)
        return err_set(err, ERR_USAGE, "probeprof disasm game.elf main", "disasm needs an ELF");
    ret = part_open_code(d.name[0], &d.syms, &d.part, err);
    if (ret == 0 && d.name[1])
        ret = parse_where(&d, d.name[1], err);
    if (ret == 0)
        ret = show_range(&d, err);
    symbols_close(d.syms);
    return ret;
}

const struct command command_disasm = {
    "disasm",
    "disasm ELF [WHERE] [--json]",
    "show the code of a program as instructions",
    disasm_opts,
    "WHERE is a function, an address (0x..., symbol+off, file.c:line) from which its\n"
    "function is shown, or LOW:HIGH; without it all code is.\n"
    "Example:\n  probeprof disasm game.elf main\n  probeprof disasm game.elf "
    "0x0c010000:0x0c010040\n",
    run_disasm,
};
