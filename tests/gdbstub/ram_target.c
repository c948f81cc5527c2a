#include "tests/gdbstub/ram_target.h"

#include <string.h>

#include "probe/base/bytes.h"
#include "probe/base/util.h"

static struct ram_target *ram_of(struct target *t)
{
    return CONTAINER_OF(t, struct ram_target, target);
}

static int set_absent(struct err *err)
{
    return err_set(err, ERR_NO_TARGET, "plug it in again", "the board is unplugged");
}

static int ram_attach(struct target *t, struct err *err)
{
    if (ram_of(t)->gone)
        return set_absent(err);
    if (ram_of(t)->secured)
        return err_set(err, ERR_SECURED, "erase it", "it is secured");
    ram_of(t)->attaches++;
    if (ram_of(t)->state != TARGET_HALTED)
        ram_of(t)->state = TARGET_RUNNING;
    return 0;
}

static int ram_detach(struct target *t, struct err *err)
{
    (void)err;
    ram_of(t)->detaches++;
    ram_of(t)->nbps = 0;
    ram_of(t)->state = TARGET_DETACHED;
    return 0;
}

static enum target_state ram_state(struct target *t)
{
    return ram_of(t)->gone ? TARGET_GONE : ram_of(t)->state;
}

static int ram_halt(struct target *t, struct err *err)
{
    if (ram_of(t)->gone)
        return set_absent(err);
    if (ram_of(t)->state == TARGET_RUNNING)
        ram_of(t)->halt_asked = true;
    return 0;
}

static int ram_resume(struct target *t, const struct resume *how, struct err *err)
{
    struct ram_target *r = ram_of(t);
    if (r->gone)
        return set_absent(err);
    if (r->state != TARGET_HALTED)
        return err_set(err, ERR_STATE, "", "it is not halted");
    r->how = *how;
    if (how->set_pc)
        r->reg[RAM_PC] = (uint32_t)how->pc;
    r->resumes++;
    r->state = TARGET_RUNNING;
    return 0;
}

static bool bp_hits(const struct ram_target *r, enum bp_kind lo, enum bp_kind hi, uint64_t addr,
                    enum bp_kind *kind)
{
    for (unsigned i = 0; i < r->nbps; i++) {
        if (r->bp[i].kind >= lo && r->bp[i].kind <= hi && addr - r->bp[i].addr < r->bp[i].len) {
            *kind = r->bp[i].kind;
            return true;
        }
    }
    return false;
}

static struct target_stop stop_at(const struct ram_target *r, enum stop_reason reason, int signal)
{
    return (struct target_stop){ .reason = reason, .signal = signal, .pc = r->reg[RAM_PC] };
}

static bool access_hits(struct ram_target *r, bool write, struct target_stop *stop)
{
    enum bp_kind kind;
    uint32_t addr = r->reg[RAM_R1];
    if (!bp_hits(r, BP_WATCH_WRITE, BP_WATCH_ACCESS, addr, &kind))
        return false;
    if (kind == (write ? BP_WATCH_READ : BP_WATCH_WRITE))
        return false;
    *stop = stop_at(r, STOP_WATCH, 5);
    stop->watch_addr = addr;
    stop->watch_kind = kind;
    return true;
}

/* One word; true if the program stops behind it (or at it, for exits, calls and crashes). */
static bool step_word(struct ram_target *r, struct target_stop *stop)
{
    uint32_t pc = r->reg[RAM_PC] % RAM_BYTES & ~1u;
    uint16_t word = le16(r->mem + pc);
    if (word == RAM_CRASH) {
        *stop = stop_at(r, STOP_SIGNAL, 11);
        strcpy(stop->text, "fault at the crash word");
        return true;
    }
    if (r->semihosting && word == RAM_EXIT) {
        *stop = stop_at(r, STOP_EXIT, 0);
        stop->exit_status = (int)r->reg[RAM_R0];
        return true;
    }
    if (r->semihosting && word == RAM_SYSCALL) {
        *stop = stop_at(r, STOP_SYSCALL, 0);
        stop->syscall.number = r->reg[RAM_R0];
        memcpy(stop->syscall.arg, &r->reg[RAM_R1], 12);
        return true;
    }
    r->reg[RAM_PC] += 2;
    if (word == RAM_STORE)
        r->mem[r->reg[RAM_R1] % RAM_BYTES] = (uint8_t)r->reg[RAM_R0];
    return (word == RAM_STORE || word == RAM_LOAD) && access_hits(r, word == RAM_STORE, stop);
}

static bool step_is_over(const struct ram_target *r)
{
    uint32_t pc = r->reg[RAM_PC];
    return r->how.kind == RESUME_STEP ||
           (r->how.kind == RESUME_RANGE && (pc < r->how.range_lo || pc >= r->how.range_hi));
}

static bool run_words(struct ram_target *r, struct target_stop *stop)
{
    unsigned words = r->words_per_poll ? r->words_per_poll : 1000;
    enum bp_kind kind;
    for (unsigned i = 0; i < words; i++) {
        if (r->halt_asked && !r->mute) {
            *stop = stop_at(r, STOP_REQUEST, 2);
            return true;
        }
        if (step_word(r, stop))
            return true;
        if (bp_hits(r, BP_SOFT, BP_HARD, r->reg[RAM_PC], &kind)) {
            *stop = stop_at(r, kind == BP_SOFT ? STOP_SWBREAK : STOP_HWBREAK, 5);
            return true;
        }
        if (step_is_over(r)) {
            *stop = stop_at(r, STOP_STEP, 5);
            return true;
        }
    }
    return false;
}

static int ram_poll(struct target *t, uint64_t max_ns, struct target_stop *stop, struct err *err)
{
    struct ram_target *r = ram_of(t);
    (void)max_ns;
    if (r->gone)
        return set_absent(err);
    if (r->state != TARGET_RUNNING || !run_words(r, stop))
        return 0;
    r->halt_asked = false;
    r->state = TARGET_HALTED;
    r->last = *stop;
    return 1;
}

static struct target_stop ram_why_halted(struct target *t) { return ram_of(t)->last; }

static int ram_reset(struct target *t, enum reset_mode mode, struct err *err)
{
    struct ram_target *r = ram_of(t);
    if (r->gone)
        return set_absent(err);
    memset(r->reg, 0, sizeof r->reg);
    r->reg[RAM_R0] = r->start_up_call;
    r->resets++;
    r->state = mode == RESET_HALT ? TARGET_HALTED : TARGET_RUNNING;
    r->how.kind = RESUME_CONTINUE;
    return 0;
}

static const struct target_reg regs[];

static int ram_read_reg(struct target *t, unsigned n, uint8_t *buf, struct err *err)
{
    struct ram_target *r = ram_of(t);
    if (r->gone)
        return set_absent(err);
    if (r->state != TARGET_HALTED)
        return err_set(err, ERR_STATE, "halt it", "it runs");
    r->reg_reads++;
    uint32_t v = r->reg[n == RAM_R0BANK ? RAM_R0 : n];
    if (regs[n].bytes == 1)
        buf[0] = (uint8_t)v;
    else
        put32(buf, v, t->big_endian);
    return 0;
}

static int ram_write_reg(struct target *t, unsigned n, const uint8_t *buf, struct err *err)
{
    struct ram_target *r = ram_of(t);
    if (r->gone)
        return set_absent(err);
    r->reg_writes++;
    r->reg[n == RAM_R0BANK ? RAM_R0 : n] = regs[n].bytes == 1 ? buf[0] : get32(buf, t->big_endian);
    return 0;
}

static int check_range(uint64_t addr, size_t len, struct err *err)
{
    if (addr >= RAM_BYTES || len > RAM_BYTES - addr)
        return err_set(err, ERR_FAULT, "", "bus error at 0x%llx", (unsigned long long)addr);
    return 0;
}

static int ram_read_mem(struct target *t, uint64_t addr, unsigned width, uint8_t *buf, size_t len,
                        struct err *err)
{
    (void)width;
    if (ram_of(t)->gone)
        return set_absent(err);
    if (ram_of(t)->endless && addr >= RAM_BYTES) {
        memset(buf, 0, len);
        return 0;
    }
    int ret = check_range(addr, len, err);
    if (ret == 0)
        memcpy(buf, ram_of(t)->mem + addr, len);
    return ret;
}

static int ram_write_mem(struct target *t, uint64_t addr, unsigned width, const uint8_t *buf,
                         size_t len, struct err *err)
{
    (void)width;
    if (ram_of(t)->gone)
        return set_absent(err);
    int ret = check_range(addr, len, err);
    if (ret == 0)
        memcpy(ram_of(t)->mem + addr, buf, len);
    return ret;
}

static int check_flash(uint64_t addr, uint64_t len, struct err *err)
{
    if (addr < RAM_FLASH || addr >= RAM_BYTES || len > RAM_BYTES - addr)
        return err_set(err, ERR_FAULT, "", "0x%llx is no flash", (unsigned long long)addr);
    return 0;
}

static int ram_flash_erase(struct target *t, uint64_t addr, uint64_t len, struct err *err)
{
    int ret = check_flash(addr, len, err);
    if (ret == 0 && (addr % RAM_SECTOR || len % RAM_SECTOR))
        return err_set(err, ERR_USAGE, "", "no whole sectors");
    if (ret == 0)
        memset(ram_of(t)->mem + addr, 0xFF, len);
    return ret;
}

static int ram_flash_write(struct target *t, uint64_t addr, const uint8_t *buf, size_t len,
                           struct err *err)
{
    int ret = check_flash(addr, len, err);
    for (size_t i = 0; ret == 0 && i < len; i++)
        ram_of(t)->mem[addr + i] &= buf[i];
    return ret;
}

static int ram_flash_done(struct target *t, struct err *err)
{
    ram_of(t)->flash_dones++;
    return ram_of(t)->flash_broken ? err_set(err, ERR_FAULT, "load again", "verify: differs") : 0;
}

static int ram_insert_bp(struct target *t, enum bp_kind kind, uint64_t addr, unsigned len,
                         struct err *err)
{
    struct ram_target *r = ram_of(t);
    if (r->gone)
        return set_absent(err);
    r->bp_calls++;
    if (r->bp_needs_halt && r->state != TARGET_HALTED)
        return err_set(err, ERR_STATE, "halt it", "it runs");
    if (r->nbps == RAM_BPS)
        return err_set(err, ERR_RESOURCE, "delete one", "all %d breakpoints are used", RAM_BPS);
    r->bp[r->nbps].kind = kind;
    r->bp[r->nbps].addr = addr;
    r->bp[r->nbps++].len = len;
    return 0;
}

static int ram_remove_bp(struct target *t, enum bp_kind kind, uint64_t addr, unsigned len,
                         struct err *err)
{
    struct ram_target *r = ram_of(t);
    if (r->gone)
        return set_absent(err);
    r->bp_calls++;
    if (r->bp_needs_halt && r->state != TARGET_HALTED)
        return err_set(err, ERR_STATE, "halt it", "it runs");
    for (unsigned i = 0; i < r->nbps; i++)
        if (r->bp[i].kind == kind && r->bp[i].addr == addr && r->bp[i].len == len)
            r->bp[i--] = r->bp[--r->nbps];
    return 0;
}

static size_t ram_memory_map(struct target *t, const struct memory_region **out)
{
    static const struct memory_region map[] = { { 0, 0x1000, MEMORY_ROM, 0 },
                                                { 0x2000, 0xE000, MEMORY_RAM, 0 } };
    (void)t;
    *out = map;
    return ARRAY_LEN(map);
}

static int ram_semihosting(struct target *t, bool on, struct err *err)
{
    if (ram_of(t)->gone)
        return set_absent(err);
    ram_of(t)->semihosting = on;
    return 0;
}

static int ram_syscall_return(struct target *t, int64_t result, int32_t error, struct err *err)
{
    struct ram_target *r = ram_of(t);
    if (r->gone)
        return set_absent(err);
    r->result = result;
    r->error = error;
    r->reg[RAM_PC] += 2;
    return 0;
}

static uint64_t ram_canonical(uint64_t addr) { return addr; }

static int run_echo(void *ctx, int argc, char **argv, const struct text_sink *out, struct err *err)
{
    (void)ctx;
    (void)err;
    for (int i = 0; i < argc; i++)
        sink_printf(out, "%s%s", i ? "|" : "", argv[i]);
    return 0;
}

static int run_flood(void *ctx, int argc, char **argv, const struct text_sink *out, struct err *err)
{
    (void)ctx;
    (void)argc;
    (void)argv;
    (void)err;
    for (int i = 0; i < 50000; i++)
        sink_printf(out, "line %08d of a long answer\n", i);
    return 0;
}

static int run_fail(void *ctx, int argc, char **argv, const struct text_sink *out, struct err *err)
{
    (void)ctx;
    (void)argc;
    (void)argv;
    (void)out;
    return err_set(err, ERR_UNSUPPORTED, "try something else", "this never works");
}

static const struct monitor_command commands[] = {
    { "echo", "echo WORDS", "its own words", run_echo },
    { "bdccsr", "bdccsr", "a raw word of GDB's", run_echo },
    { "flood", "flood", "more than fits", run_flood },
    { "fail", "fail", "an error", run_fail },
    { NULL, NULL, NULL, NULL },
};

static const struct target_reg regs[] = {
    { "r0", 4, false, false },    { "r1", 4, false, false },   { "r2", 4, false, false },
    { "r3", 4, false, false },    { "", 4, false, false },     { "pc", 4, true, false },
    { "sp", 4, true, false },     { "flag", 1, false, false }, { "r0bank", 4, false, false },
    { "secret", 4, false, true },
};

static const struct target_ops ops = {
    .name = "ram",
    .gdb_arch = "sh4",
    .regs = regs,
    .nregs = ARRAY_LEN(regs),
    .pc_reg = RAM_PC,
    .sp_reg = RAM_SP,
    .bp_size = 2,
    .canonical = ram_canonical,
    .attach = ram_attach,
    .detach = ram_detach,
    .state = ram_state,
    .halt = ram_halt,
    .resume = ram_resume,
    .poll = ram_poll,
    .why_halted = ram_why_halted,
    .reset = ram_reset,
    .read_reg = ram_read_reg,
    .write_reg = ram_write_reg,
    .read_mem = ram_read_mem,
    .write_mem = ram_write_mem,
    .insert_bp = ram_insert_bp,
    .remove_bp = ram_remove_bp,
    .memory_map = ram_memory_map,
    .monitor = commands,
    .semihosting = ram_semihosting,
    .syscall_return = ram_syscall_return,
    .flash_erase = ram_flash_erase,
    .flash_write = ram_flash_write,
    .flash_done = ram_flash_done,
};

void ram_target_init(struct ram_target *r)
{
    memset(r, 0, sizeof *r);
    r->target.ops = &ops;
    r->state = TARGET_HALTED;
    r->reg[RAM_PC] = 0x1000;
    r->reg[RAM_SP] = 0x8000;
}

void ram_put_word(struct ram_target *r, uint32_t addr, uint16_t word)
{
    put_le16(r->mem + addr, word);
}
