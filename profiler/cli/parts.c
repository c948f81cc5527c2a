#include "profiler/cli/parts.h"

#include <elf.h>
#include <stdio.h>
#include <string.h>

#include "probe/base/nearest.h"
#include "probe/base/options.h"
#include "targets/s12z/s12z.h"
#include "targets/sh4/isa/regs.h"
#include "targets/sh4/rsp/rsp.h"
#include "targets/sh4/sh4.h"

static int open_sh4(const struct part *part, struct probe *probe, const struct part_options *opt,
                    struct target **out, struct err *err)
{
    const char *other = NULL;
    if (opt->allow_security)
        other = "allow-security";
    if (opt->pdo)
        other = "pdo";
    if (opt->bdc_fast)
        other = "bdc-fast";
    if (other)
        return err_set(err, ERR_USAGE, "leave it out", "%s is for S12Z parts, not for a %s", other,
                       part->name);
    struct sh4_options o = { .variant = part->name,
                             .big_endian = opt->big_endian,
                             .allow_private = opt->allow_private,
                             .tck_hz = opt->found_hz,
                             .tck_auto = opt->found_hz != 0 };
    const struct stream_ops *s = probe->driver->stream;
    if (s && s->traits(probe) & STREAM_RSP)
        return sh4_rsp_open(probe, &o, out, err);
    return sh4_open(probe, &o, out, err);
}

/* Parts without a byte order pin and without private commands. */
static int open_s12z(const struct part *part, struct probe *probe, const struct part_options *opt,
                     struct target **out, struct err *err)
{
    struct s12z_options o = { .chip = part->name,
                              .fast_clock = opt->bdc_fast,
                              .pdo = opt->pdo,
                              .allow_security_byte = opt->allow_security };
    return s12z_open(probe, &o, out, err);
}

/* not read in a document: docs/unverified.md. --speed HZ may exceed it */
enum { SH4_MOST_TCK_HZ = 20000000 };
enum { EM_OF_S12Z = 249 }; /* EM_S12Z; the C library's elf.h does not have it */
#define S12Z(name, help)                                                                 \
    {                                                                                    \
        name, help, s12z_target_ops, EM_OF_S12Z, false, 0xFFFFFF, open_s12z, 0, 0, false \
    }
#define S12Z_UNTRACED(name, help)                                                                 \
    {                                                                                             \
        name, help ", without trace", s12z_target_ops, EM_OF_S12Z, false, 0xFFFFFF, open_s12z, 0, \
            0, true                                                                               \
    }

const struct part *parts(void)
{
    static const struct part all[] = {
        { "sh7750", "SH-4, Hitachi/Renesas SH7750", sh4_target_ops, EM_SH, true, SH4_PHYS, open_sh4,
          SH4_IR_BITS, SH4_MOST_TCK_HZ, false },
        { "sh7091", "SH-4 of the Dreamcast", sh4_target_ops, EM_SH, true, SH4_PHYS, open_sh4,
          SH4_IR_BITS, SH4_MOST_TCK_HZ, false },
        /* as s12z_chips(); a test compares */
        S12Z("s12zvml128", "S12Z, MC9S12ZVML128, motor control, with trace"),
        S12Z("s12zvmc256", "S12Z, MC9S12ZVMC256, motor control, with trace"),
        S12Z_UNTRACED("s12zvl128", "S12Z, MC9S12ZVL128"),
        S12Z("s12zvmc128", "S12Z, MC9S12ZVMC128"),
        S12Z("s12zvml64", "S12Z, MC9S12ZVML64"),
        S12Z("s12zvmc64", "S12Z, MC9S12ZVMC64"),
        S12Z("s12zvml32", "S12Z, MC9S12ZVML32"),
        S12Z_UNTRACED("s12zvml31", "S12Z, MC9S12ZVML31"),
        S12Z_UNTRACED("s12zvm32", "S12Z, MC9S12ZVM32"),
        S12Z_UNTRACED("s12zvm16", "S12Z, MC9S12ZVM16"),
        S12Z_UNTRACED("s12zvmba64", "S12Z, MC9S12ZVMBA64"),
        S12Z_UNTRACED("s12zvmal32", "S12Z, MC9S12ZVMAL32"),
        { NULL, NULL, NULL, 0, false, 0, NULL, 0, 0, false },
    };
    return all;
}

static const struct part *find_part(const char *name, size_t len)
{
    for (const struct part *p = parts(); p->name; p++)
        if (strlen(p->name) == len && !strncmp(p->name, name, len))
            return p;
    return NULL;
}

/* The part of that name; NULL if there is none, or no name. */
static const struct part *part_named(const char *name)
{
    if (!name)
        return NULL;
    return find_part(name, strlen(name));
}

/* A part that the adapter could be wired to. */
static const char *example_for(const char *probe)
{
    size_t len = strcspn(probe, ":,");
    for (const struct probe_driver *const *d = probe_drivers(); *d; d++)
        if (strlen((*d)->name) == len && !strncmp((*d)->name, probe, len) && (*d)->bdc &&
            !(*d)->jtag)
            return "--target s12zvml128 (probeprof list shows them)";
    return "--target sh7750 (probeprof list shows them)";
}

int part_choose(const char *name, const char *probe, const struct part **out, struct err *err)
{
    struct nearest near = { .wanted = name };
    char hint[NEAREST_TEXT];
    const char *board = strncmp(probe, "sim:", 4) ? "" : probe + 4;
    const struct part *p = part_named(name);
    if (!*name)
        p = find_part(board, strcspn(board, ","));
    if (p) {
        *out = p;
        return 0;
    }
    if (!*name && !*board)
        return err_set(err, ERR_USAGE, example_for(probe),
                       "this adapter does not say which part is behind it");
    if (!*name)
        near.wanted = board;
    for (p = parts(); p->name; p++)
        nearest_offer(&near, p->name);
    return err_set(err, ERR_USAGE,
                   nearest_text(&near, "probeprof list shows them", hint, sizeof hint),
                   "unknown part '%s'", near.wanted);
}

unsigned part_needs(const char *name)
{
    const struct part *p = part_named(name);
    if (!p)
        return 0;
    if (p->ir_bits)
        return ADAPTER_JTAG;
    return ADAPTER_BDC;
}

int part_prepare_symbols(struct symbols *s, const char *name, struct err *err)
{
    const struct part *p = part_named(name);
    if (!p || !s)
        return 0;
    return symbols_set_canonical(s, p->ops()->canonical, err);
}

const char *part_exception(const char *name, uint16_t code)
{
    const struct part *p = part_named(name);
    if (!p || !p->ops()->exception_text)
        return NULL;
    return p->ops()->exception_text(code);
}

const struct part *part_of_machine(unsigned machine)
{
    for (const struct part *p = parts(); p->name; p++)
        if (p->elf_machine == machine)
            return p;
    return NULL;
}

int part_open_code(const char *path, struct symbols **syms, const struct part **part,
                   struct err *err)
{
    *syms = NULL;
    int ret = symbols_open(path, syms, err);
    if (ret < 0)
        return ret;
    *part = part_of_machine(symbols_machine(*syms));
    if (!*part || !(*part)->ops()->insn || !(*part)->ops()->graph)
        return err_set(err, ERR_USAGE, "SH and S12Z programs can be shown",
                       "%s is of another machine", path);
    return part_prepare_symbols(*syms, (*part)->name, err);
}

const struct counter_event *part_counter(const struct part *part, uint16_t code)
{
    for (const struct counter_event *e = part->ops()->events; e && e->name; e++)
        if (e->code == code)
            return e;
    return NULL;
}

struct profile_counter part_profile_counter(const char *name, uint16_t code)
{
    const struct part *p = part_named(name);
    const struct counter_event *e = NULL;
    if (p)
        e = part_counter(p, code);
    if (e)
        return (struct profile_counter){ e->code, e->name, e->unit };
    if (code)
        return (struct profile_counter){ code, "unknown-event", "count" };
    return (struct profile_counter){ 0 };
}

int part_event(const struct part *part, const char *option, const char *text, uint16_t *code,
               struct err *err)
{
    struct nearest near = { .wanted = text };
    char hint[NEAREST_TEXT], list[80];
    const char *end = text;
    uint64_t number = 0;
    bool is_number = options_number(&end, 0, &number) && !*end;
    if (!strcmp(text, "none") || (is_number && number == 0)) {
        *code = 0;
        return 0;
    }
    for (const struct counter_event *e = part->ops()->events; e && e->name; e++) {
        if (!strcmp(e->name, text) || (is_number && e->code == number)) {
            *code = e->code;
            return 0;
        }
        nearest_offer(&near, e->name);
    }
    snprintf(list, sizeof list, "`probeprof events --target %s` lists them", part->name);
    return err_set(err, ERR_USAGE, nearest_text(&near, list, hint, sizeof hint),
                   "%s: %s counts no event '%s'", option, part->name, text);
}
