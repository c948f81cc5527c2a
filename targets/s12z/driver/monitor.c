/* `monitor` words of the S12Z driver. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "probe/base/choice.h"
#include "probe/base/options.h"
#include "probe/base/util.h"
#include "targets/s12z/driver/driver.h"

#define CONFIRM "ERASE-EVERYTHING"
enum { ERASE_LIMIT_MS = 5000, ERASE_LOOK_NS = 10000000 };
#define CSR_BIT(f) REG_MASK(S12Z_BDCCSR_##f)

static const struct reg_field bdccsr[] = REG_FIELDS(S12Z_BDCCSR), c1[] = REG_FIELDS(S12Z_DBGC1),
                              c2[] = REG_FIELDS(S12Z_DBGC2), tcrh[] = REG_FIELDS(S12Z_DBGTCRH),
                              tcrl[] = REG_FIELDS(S12Z_DBGTCRL), scr[] = REG_FIELDS(S12Z_DBGSCR),
                              efr[] = REG_FIELDS(S12Z_DBGEFR), sr[] = REG_FIELDS(S12Z_DBGSR),
                              xctl[] = REG_FIELDS(S12Z_DBGXCTL);
static const struct {
    const char *name;
    uint16_t addr;
    const struct reg_field *fields;
    size_t n;
} registers[] = {
/* clang-format off */
#define R(n, a, f) { n, a, f, ARRAY_LEN(f) }
    /* clang-format on */
    R("DBGC1", S12Z_DBGC1, c1),       R("DBGC2", S12Z_DBGC2, c2),
    R("DBGTCRH", S12Z_DBGTCRH, tcrh), R("DBGTCRL", S12Z_DBGTCRL, tcrl),
    R("DBGSCR1", S12Z_DBGSCR1, scr),  R("DBGSCR2", S12Z_DBGSCR2, scr),
    R("DBGSCR3", S12Z_DBGSCR3, scr),  R("DBGEFR", S12Z_DBGEFR, efr),
    R("DBGSR", S12Z_DBGSR, sr),       R("DBGACTL", 0x110, xctl),
    R("DBGBCTL", 0x120, xctl),        R("DBGCCTL", 0x130, xctl),
    R("DBGDCTL", 0x140, xctl),
#undef R
};

static bool on_off(int argc, char **argv, int at, bool *on)
{
    *on = at < argc && !strcmp(argv[at], "on");
    return at < argc && (*on || !strcmp(argv[at], "off"));
}

static int usage_error(struct err *err, const char *hint, const char *word)
{
    return err_set(err, ERR_USAGE, hint, "%s: unknown arguments", word);
}

/* ---- registers ---- */

static int show_cpu(struct s12z_target *t, const struct text_sink *out, const char *only,
                    bool *found, struct err *err)
{
    for (unsigned n = 0; n < S12Z_NREGS; n++) {
        uint32_t v;
        const struct target_reg *r = &s12z_target_regs[n];
        if (only && strcasecmp(only, r->name))
            continue;
        *found = true;
        int ret = s12z_get_reg(t, n, &v, err);
        if (ret < 0)
            return ret;
        bool last = only || n == S12Z_NREGS - 1;
        sink_printf(out, "%s=%0*x%c", r->name, 2 * r->bytes, v, last ? '\n' : ' ');
    }
    return 0;
}

static int show_register(struct s12z_target *t, size_t k, const struct text_sink *out,
                         struct err *err)
{
    uint8_t v;
    char text[200];
    int ret = s12z_peek8(t, registers[k].addr, &v, err);
    if (ret == 0)
        sink_printf(out, "%s=%s\n", registers[k].name,
                    reg_text(registers[k].fields, registers[k].n, v, 2, text, sizeof text));
    return ret;
}

static int cmd_reg(void *ctx, int argc, char **argv, const struct text_sink *out, struct err *err)
{
    struct s12z_target *t = ctx;
    bool found = false;
    int ret = 0;
    if (argc == 1)
        ret = show_cpu(t, out, NULL, &found, err);
    for (int i = 1; ret == 0 && i < argc; i++) {
        found = false;
        ret = show_cpu(t, out, argv[i], &found, err);
        for (size_t k = 0; ret == 0 && k < ARRAY_LEN(registers); k++)
            if (!strcasecmp(registers[k].name, argv[i])) {
                found = true;
                ret = show_register(t, k, out, err);
            }
        if (ret == 0 && !found)
            return err_set(err, ERR_NOT_FOUND,
                           "CPU registers and those of the DBG module: DBGC1, DBGSCR1, DBGACTL ...",
                           "no register %s", argv[i]);
    }
    return ret;
}

/* ---- the DBG module in words ---- */

static const char *access_text(uint8_t ctl)
{
    if (!REG_GET(ctl, S12Z_DBGXCTL_RWE))
        return "access";
    if (REG_GET(ctl, S12Z_DBGXCTL_RW))
        return "read";
    return "write";
}

static int show_comparator(struct s12z_target *t, unsigned n, const struct text_sink *out,
                           struct err *err)
{
    uint8_t r[S12Z_COMPARATOR_STEP];
    int ret = s12z_read_raw(t, S12Z_DBGACTL + n * S12Z_COMPARATOR_STEP, 1, r, sizeof r, err);
    if (ret < 0)
        return ret;
    uint32_t addr = (uint32_t)r[S12Z_COMPARATOR_ADDRESS] << 16 |
                    (uint32_t)r[S12Z_COMPARATOR_ADDRESS + 1] << 8 | r[S12Z_COMPARATOR_ADDRESS + 2];
    sink_printf(out, "  %c: ", (char)('A' + n));
    if (!REG_GET(r[0], S12Z_DBGXCTL_COMPE)) {
        sink_printf(out, "off\n");
        return 0;
    }
    if (REG_GET(r[0], S12Z_DBGXCTL_INST))
        sink_printf(out, "before the instruction at %06X", addr);
    else
        sink_printf(out, "%s of %06X", access_text(r[0]), addr);
    const uint8_t *d = r + S12Z_COMPARATOR_DATA, *m = r + S12Z_COMPARATOR_MASK;
    const char *relation = REG_GET(r[0], S12Z_DBGXCTL_NDB) ? "not" : "equal";
    bool has_data = n % 2 == 0, is_masked = m[0] | m[1] | m[2] | m[3];
    if (has_data && is_masked)
        sink_printf(out, ", lanes %02X %02X %02X %02X %s %02X %02X %02X %02X", m[0], m[1], m[2],
                    m[3], relation, d[0], d[1], d[2], d[3]);
    bool profiles = s12z_profile_comparators(t) >> n & 1;
    sink_printf(out, "%s\n", text_if(profiles, " (the profile's)"));
    return 0;
}

/* Which trace: the range counts in Detail alone. */
static const char *trace_text(uint8_t tcrh)
{
    static const char *const modes[4] = { [S12Z_TRCMOD_NORMAL] = "traces changes of flow (Normal)",
                                          [S12Z_TRCMOD_LOOP1] = "traces changes of flow (Loop1)",
                                          [S12Z_TRCMOD_PURE_PC] = "traces every PC" };
    static const char *const ranges[4] = { [S12Z_TRANGE_ALL] = "traces accesses (Detail)",
                                           [S12Z_TRANGE_TO_D] = "traces accesses up to D (Detail)",
                                           [S12Z_TRANGE_FROM_C] =
                                               "traces accesses from C on (Detail)",
                                           [S12Z_TRANGE_C_TO_D] =
                                               "traces accesses from C to D (Detail)" };
    const char *mode = modes[REG_GET(tcrh, S12Z_DBGTCRH_TRCMOD)];
    if (mode)
        return mode;
    return ranges[REG_GET(tcrh, S12Z_DBGTCRH_TRANGE)];
}

/* What a match does; c1: DBGC1. */
static const char *match_text(const struct s12z_target *t, uint8_t c1)
{
    if (!REG_GET(c1, S12Z_DBGC1_ARM))
        return text_if(s12z_dbg_wanted(t), ", armed when the program goes on");
    if (!REG_GET(c1, S12Z_DBGC1_BRKCPU))
        return "; a match does not break";
    if (REG_GET(c1, S12Z_DBGC1_BDMBP))
        return "; a match halts";
    return "; a match causes an SWI";
}

static int cmd_dbg(void *ctx, int argc, char **argv, const struct text_sink *out, struct err *err)
{
    static const char *const states[] = { "disarmed",    "State1", "State2", "State3",
                                          "Final State", "?",      "?",      "?" };
    static const char *const modes[4] = { [S12Z_RANGE_SEPARATE] = "separate",
                                          [S12Z_RANGE_INSIDE] = "inside their range",
                                          [S12Z_RANGE_OUTSIDE] = "outside their range",
                                          "?" };
    static const char *const aligns[4] = { [S12Z_TALIGN_END] = "from arming (End)",
                                           [S12Z_TALIGN_BEGIN] = "from Final State on (Begin)",
                                           [S12Z_TALIGN_MID] = "Mid",
                                           "?" };
    static const char *const events[4] = { [S12Z_EEVE_ENTRY] = "forces trace entries",
                                           [S12Z_EEVE_STATE] = "takes D's place in the sequencer",
                                           [S12Z_EEVE_GATE] = "gates trace entries" };
    struct s12z_target *t = ctx;
    uint8_t r[12];
    (void)argc;
    (void)argv;
    int ret = s12z_read_raw(t, S12Z_DBGC1, 1, r, sizeof r, err);
    if (ret < 0)
        return ret;
    uint8_t h = r[S12Z_DBGTCRH - S12Z_DBGC1], l = r[S12Z_DBGTCRL - S12Z_DBGC1],
            e = r[S12Z_DBGEFR - S12Z_DBGC1], s = r[S12Z_DBGSR - S12Z_DBGC1];
    sink_printf(out, "DBG module %s: %s%s\n", s12z_trace_ability(t),
                states[REG_GET(s, S12Z_DBGSR_SSF)], match_text(t, r[0]));
    for (unsigned n = 0; ret == 0 && n < S12Z_COMPARATORS; n++)
        if (n != 2 || t->part.full_dbg)
            ret = show_comparator(t, n, out, err);
    sink_printf(out, "  A and B %s, C and D %s\n", modes[REG_GET(r[1], S12Z_DBGC2_ABCM)],
                modes[REG_GET(r[1], S12Z_DBGC2_CDCM)]);
    if (events[REG_GET(r[0], S12Z_DBGC1_EEVE)])
        sink_printf(out, "  the external event pin %s\n", events[REG_GET(r[0], S12Z_DBGC1_EEVE)]);
    if (REG_GET(h, S12Z_DBGTCRH_TSOURCE))
        sink_printf(out, "  %s %s%s%s\n",
                    REG_GET(l, S12Z_DBGTCRL_PROFILE) ? "profiles" : trace_text(h),
                    aligns[REG_GET(h, S12Z_DBGTCRH_TALIGN)],
                    text_if(REG_GET(l, S12Z_DBGTCRL_PDOE), ", PDO pins on"),
                    text_if(REG_GET(s, S12Z_DBGSR_PTACT), ", lines are being sent"));
    char names[16];
    if (e & 0x0F)
        sink_printf(out, "  matched since arming: %s\n", s12z_comparator_names(e & 15u, names));
    if (REG_GET(e, S12Z_DBGEFR_PTBOVF))
        sink_printf(out, "  the profile's buffer overflowed\n");
    return ret;
}

/* ---- BDC ---- */

/* What GDB's `maintenance info bdccsr` asks for; one line. */
static int cmd_bdccsr(void *ctx, int argc, char **argv, const struct text_sink *out,
                      struct err *err)
{
    struct s12z_target *t = ctx;
    char text[200];
    (void)argc;
    (void)argv;
    int ret = s12z_read_csr(t, err);
    if (ret == 0)
        sink_printf(out, "BDCCSR=%s\n",
                    reg_text(bdccsr, ARRAY_LEN(bdccsr), t->link.csr, 4, text, sizeof text));
    return ret;
}

static int set_bit(struct s12z_target *t, uint16_t bit, bool on, struct err *err)
{
    t->link.control = (uint16_t)with_bits(t->link.control, bit, on);
    return s12z_write_csr(t, err);
}

static int cmd_bdc(void *ctx, int argc, char **argv, const struct text_sink *out, struct err *err)
{
    struct s12z_target *t = ctx;
    uint64_t cycles = 0;
    bool on = false;
    int ret = 0;
    if (argc > 1 && (argc != 3 || !on_off(argc, argv, 2, &on)))
        return usage_error(err, "bdc [fast|steal|clocks on|off]", "bdc");
    if (argc > 1 && !strcmp(argv[1], "fast"))
        ret = s12z_clock_source(t, t->opt.fast_clock = on, err);
    else if (argc > 1 && !strcmp(argv[1], "steal"))
        ret = set_bit(t, CSR_BIT(STEAL), on, err);
    else if (argc > 1 && !strcmp(argv[1], "clocks"))
        ret = set_bit(t, CSR_BIT(BDCCIS), t->opt.keep_clocks = on, err);
    else if (argc > 1)
        return usage_error(err, "bdc [fast|steal|clocks on|off]", "bdc");
    if (ret == 0)
        ret = cmd_bdccsr(t, 1, argv, out, err);
    if (ret < 0)
        return ret;
    if (t->bdc->stats)
        t->bdc->stats(t->probe, &cycles, NULL, NULL);
    const char *source = "BDCCLK";
    if (t->link.control & CSR_BIT(CLKSW))
        source = "BDCFCLK, follows the program's clock";
    sink_printf(
        out,
        "BDC clock %u Hz (%s); %llu cycles, %llu SYNCs, %llu repeats, %llu resets of the part\n",
        t->link.hz, source, (unsigned long long)cycles, (unsigned long long)t->link.syncs,
        (unsigned long long)t->link.retries, (unsigned long long)t->link.resets);
    if (t->part.known)
        sink_printf(out, "PARTID %08X, DBG %s\n", t->part.id, s12z_trace_ability(t));
    return 0;
}

/* ---- flash ---- */

static int cmd_flash(void *ctx, int argc, char **argv, const struct text_sink *out, struct err *err)
{
    struct s12z_target *t = ctx;
    bool on = true;
    if (argc > 1 && (strcmp(argv[1], "allow-security") || argc > 3 ||
                     (argc == 3 && !on_off(argc, argv, 2, &on))))
        return usage_error(err, "flash [allow-security [on|off]]", "flash");
    if (argc > 1)
        t->opt.allow_security_byte = on;
    sink_printf(out,
                "flash %06X-FFFFFF in sectors of 512, EEPROM 100000-%06X in sectors of 4; `load` "
                "writes both\n",
                t->chip->flash_start, t->chip->eeprom_end);
    sink_printf(out, "a program that would lock the part (security byte FFFE0F) is %s\n",
                t->opt.allow_security_byte ? "WRITTEN" : "refused");
    if (t->download.flash)
        sink_printf(out,
                    "a download is under way: `load` starts it again, letting the program run or "
                    "a reset ends it as it is\n");
    if (t->download.failure.code != ERR_OK)
        sink_printf(out, "the last download failed: %s\n  %s\n%s%s", t->download.failure.what,
                    t->download.failure.hint, t->download.left, text_if(t->download.left[0], "\n"));
    return 0;
}

/* ---- mass erase: the way into a secured part ---- */

static int erase_twice(struct s12z_target *t, struct err *err)
{
    struct bdc_op op[2] = { { .kind = BDC_COMMAND, .opcode = BDC_ERASE_FLASH },
                            { .kind = BDC_COMMAND, .opcode = BDC_ERASE_FLASH } };
    if (!t->bdc->can(t->probe, BDC_COMMAND, BDC_ERASE_FLASH))
        return err_set(err, ERR_UNSUPPORTED, "use an adapter that has it",
                       "unsecure: %s cannot send ERASE_FLASH", t->probe->name);
    int ret = t->bdc->execute(t->probe, op, 2, false, err);
    return MIN(ret, 0);
}

static int wait_erased(struct s12z_target *t, struct err *err)
{
    uint64_t since = s12z_now(t);
    for (unsigned looks = 1;; looks++) {
        int ret = s12z_read_csr(t, err);
        if (ret < 0 || !(t->link.csr & CSR_BIT(ERASE)))
            return ret;
        if (s12z_overdue(t, since, ERASE_LIMIT_MS * 1000000ull, looks))
            return err_set(err, ERR_TIMEOUT, "power-cycle the board and try again",
                           "unsecure: the erase does not end (BDCCSR %04X)", t->link.csr);
        if ((ret = s12z_wait(t, ERASE_LOOK_NS, err)) < 0)
            return ret;
    }
}

/* The erase wants the clocks as after reset, and a program of a secured part may have changed them:
 * the part is reset first. */
static int cmd_unsecure(void *ctx, int argc, char **argv, const struct text_sink *out,
                        struct err *err)
{
    struct s12z_target *t = ctx;
    if (argc != 2 || strcmp(argv[1], CONFIRM)) {
        sink_printf(out, "This erases flash and EEPROM of the part, whatever is in them. If that "
                         "is wanted:\n  monitor unsecure " CONFIRM "\n");
        if (argc == 1)
            return 0;
        return usage_error(err, "unsecure " CONFIRM, "unsecure");
    }
    if (s12z_state(t) == TARGET_GONE)
        return err_set(err, ERR_NO_TARGET, "check power and cable; it is being looked for",
                       "unsecure: the target is gone");
    int ret = s12z_mass_erase_begin(t, err);
    if (ret == 0)
        ret = erase_twice(t, err);
    if (ret == 0)
        ret = wait_erased(t, err);
    if (ret == 0 && !(t->link.csr & CSR_BIT(UNSEC)))
        ret = err_set(err, ERR_SECURED, "try again; the erase wants the clocks as after reset",
                      "unsecure: the part stays secured (BDCCSR %04X)", t->link.csr);
    if (ret == 0)
        ret = s12z_mass_erase_end(t, err);
    if (ret < 0)
        return ret;
    bool attached = t->base.ops->state(&t->base) == TARGET_HALTED;
    sink_printf(out, "Flash and EEPROM are erased, the part is open and halted at reset.%s\n",
                text_if(!attached, " Attach again."));
    return 0;
}

/* ---- values of watchpoints ---- */

static int cmd_watchdata(void *ctx, int argc, char **argv, const struct text_sink *out,
                         struct err *err)
{
    struct s12z_target *t = ctx;
    const struct s12z_hard *h;
    uint32_t v[2] = { 0, 0xFFFFFFFF };
    bool off = argc == 2 && !strcmp(argv[1], "off");
    if (argc < 2 || argc > 3)
        return usage_error(err, "watchdata VALUE [MASK] | off", "watchdata");
    for (int i = 1; i < argc && !off; i++) {
        const char *end = argv[i];
        uint64_t number;
        if (!options_number(&end, 0, &number) || *end || number > UINT32_MAX)
            return err_set(err, ERR_USAGE, "numbers as in C, of 32 bits: 0x1234",
                           "watchdata: %s is no number", argv[i]);
        v[i - 1] = (uint32_t)number;
    }
    int ret = s12z_watch_data(t, !off, v[0], v[1], &h, err);
    if (ret < 0)
        return ret;
    if (off)
        sink_printf(out, "watchpoints stop at any value\n");
    else
        sink_printf(out,
                    "the %s watchpoint of at most 4 bytes stops at accesses of its own size whose "
                    "value & %X is %X\n",
                    h ? "present" : "next", v[1], v[0] & v[1]);
    if (!off && !h)
        sink_printf(out, "of one that lies across a multiple of four only the part behind it is "
                         "compared\n");
    else if (!off && s12z_watch_split(h->addr, h->len))
        sink_printf(out,
                    "it lies across a multiple of four: only the part behind it is compared\n");
    return 0;
}

const struct monitor_command s12z_monitor[] = {
    { "reg", "reg [NAME...]", "CPU registers, or those of the DBG module with their fields",
      cmd_reg },
    { "dbg", "dbg", "the DBG module in words: comparators, sequencer, trace", cmd_dbg },
    { "bdc", "bdc [fast|steal|clocks on|off]",
      "BDC status and clock; what it may do to the program", cmd_bdc },
    { "bdccsr", "bdccsr", "BDCCSR with its flags", cmd_bdccsr },
    { "flash", "flash [allow-security [on|off]]",
      "what load does to flash, and how the last one ended", cmd_flash },
    { "unsecure", "unsecure [" CONFIRM "]", "erase flash and EEPROM, which opens a secured part",
      cmd_unsecure },
    { "watchdata", "watchdata VALUE [MASK] | off", "the first watchpoint stops only at this value",
      cmd_watchdata },
    { NULL, NULL, NULL, NULL },
};
