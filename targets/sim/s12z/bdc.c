/* Background debug controller: what the commands do. Source: ZVHL p.143-208; ZVM p.151-166. */
#include <stdlib.h>
#include <string.h>

#include "probe/base/choice.h"
#include "probe/base/util.h"
#include "targets/sim/s12z/bdc_priv.h"

enum {
    FILLER = 0xEE,
    ERASE_MS = 100,
    SWITCH_CYCLES = 150,
    PATIENCE = 512 /* core clocks that an access waits for a free bus cycle */
};

/* Register numbers of READ_Rn and WRITE_Rn; number 12 is CCR. Source: ZVM p.165; GDB,
 * gdb/s12z-tdep.c. */
static const uint8_t registers[] = { S12Z_D0, S12Z_D1, S12Z_D2, S12Z_D3, S12Z_D4, S12Z_D5, S12Z_D6,
                                     S12Z_D7, S12Z_X,  S12Z_Y,  S12Z_S,  S12Z_P,  S12Z_CCW };

static void put_answer(struct s12z_bdc *b, uint32_t v, unsigned bytes)
{
    for (unsigned k = bytes; k-- > 0; v >>= 8)
        b->out[k + b->shape.status] = (uint8_t)v;
}

static uint32_t get_argument(const struct s12z_bdc *b, unsigned at, unsigned bytes)
{
    uint32_t v = 0;
    for (unsigned k = 0; k < bytes; k++)
        v = v << 8 | b->in[at + k];
    return v;
}

/* ---- memory ---- */

/* An access to flash or EEPROM that is busy with a command counts as illegal (ZVM p.127). */
static void memory_failed(struct s12z_bdc *b, enum bus_result r, bool write)
{
    if (r == BUS_OK)
        return;
    if (r == BUS_ECC) {
        b->csr |= write ? CSR_RAMWF : CSR_RDINV;
        return;
    }
    b->csr |= CSR_ILLACC;
    b->sequence_broken = true;
}

/* Long accesses are aligned to four bytes, and words are moved to stay inside of four bytes.
 * Source: ZVHL p.163. */
static uint32_t aligned_address(uint32_t addr, unsigned bytes)
{
    if (bytes == 4)
        return addr & ~3u;
    if (bytes == 2 && (addr & 3) == 3)
        return addr - 1;
    return addr;
}

/* Does the instruction at pc leave the BDC a free bus cycle? Assumed, like the cycles themselves:
 * code is fetched at four bytes a core clock, a memory operand takes one more, and a change of flow
 * fetches again. */
static bool leaves_cycle(struct s12z_bdc *b, uint32_t pc)
{
    uint8_t code[S12Z_MAX_LENGTH];
    struct s12z_insn i;
    uint32_t v;
    size_t n = 0;
    for (; n < sizeof code &&
           bus_read(&b->board->bus, (pc + (uint32_t)n) & 0xFFFFFF, 1, BUS_CPU_FETCH, &v) == BUS_OK;
         n++)
        code[n] = (uint8_t)v;
    if (!s12z_decode(code, n, pc, &i))
        return true;
    bool address_only = i.op == S12Z_OP_LEA || i.op == S12Z_OP_JMP || i.op == S12Z_OP_JSR;
    unsigned quarters = i.length;
    if (i.flow != S12Z_FLOW_NEXT)
        quarters += 4;
    for (unsigned k = 0; k < i.nopr; k++) {
        bool in_memory = i.opr[k].kind == S12Z_OPR_MEM;
        if (in_memory && i.opr[k].indirect)
            quarters += 4;
        if (in_memory && !address_only)
            quarters += 4;
    }
    return quarters < 4 * s12z_cycles(&i);
}

/* Waits for a bus cycle. With ACK on and STEAL off that is one which the program leaves free;
 * false: there was none in PATIENCE core clocks. Otherwise the access takes a cycle from the
 * program. */
static bool get_bus(struct s12z_bdc *b)
{
    struct s12z_cpu *c = bdc_cpu(b);
    if (c->state != CPU_RUN)
        return true;
    if (!b->ack_on || b->csr & CSR_STEAL) {
        c->cycles += 2; /* one bus cycle */
        return true;
    }
    for (uint64_t limit = c->cycles + PATIENCE;
         c->state == CPU_RUN && !leaves_cycle(b, c->r[S12Z_P]);) {
        if (c->cycles >= limit)
            return false;
        board_run_to(b->board, c->cycles + 1);
    }
    return true;
}

static void set_address(struct s12z_bdc *b, uint8_t base, unsigned bytes)
{
    if (base == BDC_READ_MEM || base == BDC_WRITE_MEM) {
        b->addr = get_argument(b, 1, 3);
        b->sequence_broken = false;
    } else if (base != BDC_READ_SAME) {
        b->addr = b->next_addr;
    }
    b->next_addr = (b->addr + bytes) & 0xFFFFFF;
}

static void act_on_memory(struct s12z_bdc *b, uint8_t base, unsigned bytes)
{
    uint32_t v = 0;
    set_address(b, base, bytes);
    if (!get_bus(b)) {
        b->csr |= CSR_NORESP;
        return;
    }
    uint32_t addr = aligned_address(b->addr, bytes);
    if (base == BDC_WRITE_MEM || base == BDC_FILL_MEM) {
        v = get_argument(b, 1 + b->shape.address_bytes, bytes);
        memory_failed(b, bus_write(&b->board->bus, addr, bytes, BUS_BDC, v), true);
    } else {
        memory_failed(b, bus_read(&b->board->bus, addr, bytes, BUS_BDC, &v), false);
        put_answer(b, v, bytes);
    }
}

static bool of_family(uint8_t opcode, uint8_t base) { return (opcode & 0xF2) == (base & 0xF2); }

/* DUMP_MEM, FILL_MEM and READ_SAME go on where READ_MEM or WRITE_MEM began. NOP and SYNC may stand
 * between. The manual says so of READ_SAME (ZVM p.166); of the others it is assumed. */
static bool in_sequence(const struct s12z_bdc *b, uint8_t base)
{
    uint8_t first = BDC_READ_MEM;
    if (base == BDC_FILL_MEM)
        first = BDC_WRITE_MEM;
    if (base != BDC_DUMP_MEM && base != BDC_FILL_MEM && base != BDC_READ_SAME)
        return true;
    if (base != BDC_DUMP_MEM && b->sequence_broken)
        return false;
    return b->last == BDC_NOP || of_family(b->last, first) || of_family(b->last, base);
}

/* ---- registers and execution ---- */

static void read_register(struct s12z_bdc *b, unsigned n)
{
    if (n >= ARRAY_LEN(registers)) {
        b->csr |= CSR_ILLACC;
        put_answer(b, 0xEEEEEEEE, 4);
        return;
    }
    put_answer(b, registers[n] == S12Z_CCW ? cpu_ccw(bdc_cpu(b)) : bdc_cpu(b)->r[registers[n]], 4);
}

static void write_register(struct s12z_bdc *b, unsigned n, uint32_t v)
{
    if (n >= ARRAY_LEN(registers))
        b->csr |= CSR_ILLACC;
    else if (registers[n] == S12Z_CCW)
        cpu_set_ccw(bdc_cpu(b), (uint16_t)v);
    else
        bdc_cpu(b)->r[registers[n]] = v & (0xFFFFFFFFu >> (32 - 8 * s12z_reg_bytes(registers[n])));
}

static void act_background(struct s12z_bdc *b)
{
    struct s12z_cpu *c = bdc_cpu(b);
    if (bdc_halted(b))
        return;
    c->halt_request = c->attention = true;
    if (c->state == CPU_WAIT || c->state == CPU_STOP) {
        b->halt_pending = true; /* until WAI or STOP ends by itself */
        c->halt_request = false;
        if (c->state == CPU_WAIT)
            b->csr |= CSR_NORESP;
        return;
    }
    board_run_to(b->board, c->cycles + 1);
}

static void act_go(struct s12z_bdc *b)
{
    b->halt_pending = false;
    bdc_cpu(b)->state = CPU_RUN;
    bdc_cpu(b)->attention = true;
}

static void act_step(struct s12z_bdc *b)
{
    cpu_step(bdc_cpu(b));
    bdc_cpu(b)->halt_request = bdc_cpu(b)->swi_request =
        /* Breakpoints do not count during STEP1. */
        false;
    if (bdc_cpu(b)->state == CPU_WAIT || bdc_cpu(b)->state == CPU_STOP)
        b->step_waits = b->halt_pending = true;
}

static void sync_pc(struct s12z_bdc *b)
{
    struct s12z_cpu *c = bdc_cpu(b);
    bool asleep = c->state == CPU_WAIT || (c->state == CPU_STOP && !(b->csr & CSR_BDCCIS));
    if (asleep)
        b->csr |= CSR_NORESP;
    uint32_t pc = c->r[S12Z_P];
    if (c->state == CPU_RUN && b->pc_at == b->board->ns)
        pc = b->pc;
    if (asleep)
        pc = 0xEEEEEE;
    put_answer(b, pc, 3);
}

static void write_csr(struct s12z_bdc *b, uint16_t v)
{
    /* Only SYNC clears OVRUN, and WAIT stays while the CPU waits. */
    unsigned keep = CSR_OVRUN | bits_if(bdc_cpu(b)->state == CPU_WAIT, CSR_WAIT);
    b->csr = (uint16_t)((b->csr & 0xFF & ~(v & 0xFF & ~keep)) | (v & CSR_CONTROL));
    bdc_cpu(b)->enbdc = b->csr & CSR_ENBDC;
    if (b->fast != ((b->csr & CSR_CLKSW) != 0))
        b->switch_at = b->board->ns + bdc_cycles_ns(b, SWITCH_CYCLES);
}

/* ---- mass erase ---- */

static void erase_flash(struct s12z_bdc *b)
{
    uint64_t now = b->board->ns;
    if (b->last == BDC_ERASE_FLASH && b->erase_armed &&
        now - b->erase_armed_at < bdc_cycles_ns(b, BDC_TIMEOUT_CYCLES)) {
        b->erase_armed = false;
        if (b->board->bus_hz != b->board->opt.bus_hz)
            /* The command needs the bus clock that reset sets (ZVM p.163). Nothing is erased at
             * another one. */
            return;
        b->erase_done_at = bdc_cpu(b)->cycles + board_ns_to_cycles(b->board, ERASE_MS * 1000000ull);
        bus_flash_busy(&b->board->bus, true);
        b->board->eeprom_busy = true;
        return;
    }
    b->erase_armed = true;
    b->erase_armed_at = now;
}

static uint64_t erase_next(void *ctx)
{
    struct s12z_bdc *b = ctx;
    if (b->erase_done_at)
        return b->erase_done_at;
    return UINT64_MAX;
}

static void erase_advance(void *ctx, uint64_t now)
{
    struct s12z_bdc *b = ctx;
    struct s12z_board *d = b->board;
    if (!b->erase_done_at || now < b->erase_done_at)
        return;
    b->erase_done_at = 0;
    bus_flash_busy(&d->bus, d->eeprom_busy = false);
    board_erase_flash(d);
    board_erase_eeprom(d);
    /* assumed: a mass erase leaves the part unsecured */
    d->fsec = d->flash[SECURITY_BYTE - d->part->flash_start] = 0xFE;
}

/* ---- dispatch ---- */

static void act_on_command(struct s12z_bdc *b, uint8_t opcode)
{
    switch (opcode) {
    case BDC_NOP: return;
    case BDC_SYNC_PC: sync_pc(b); return;
    case BDC_ACK_ENABLE: b->ack_on = true; return;
    case BDC_ACK_DISABLE: b->ack_on = false; return;
    case BDC_BACKGROUND: act_background(b); return;
    case BDC_READ_DBGTB: put_answer(b, (uint32_t)dbg_readout_long(b->board->dbg), 4); return;
    case BDC_GO: act_go(b); return;
    case BDC_STEP1: act_step(b); return;
    case BDC_GO_UNTIL:
        act_go(b);
        b->go_until = b->ack_on;
        return;
    case BDC_WRITE_BDCCSR: write_csr(b, (uint16_t)get_argument(b, 1, 2)); return;
    case BDC_READ_BDCCSR: put_answer(b, bdc_csr(b), 2); return;
    case BDC_ERASE_FLASH: erase_flash(b); return;
    }
    if ((opcode & 0xF0) == BDC_READ_REG)
        read_register(b, opcode & 15);
    else if ((opcode & 0xF0) == BDC_WRITE_REG)
        write_register(b, opcode & 15, get_argument(b, 1, 4));
    else
        act_on_memory(b, opcode & 0xF2, 1u << (opcode >> 2 & 3));
}

/* The flag for a command that needs active BDM and finds the CPU running. Accesses to CPU registers
 * give NORESP while a BACKGROUND is pending in WAI; everything else gives ILLCMD. */
static unsigned not_halted(const struct s12z_bdc *b, uint8_t opcode)
{
    bool reg = (opcode & 0xF0) == BDC_READ_REG || (opcode & 0xF0) == BDC_WRITE_REG;
    if (reg && bdc_cpu(b)->state == CPU_WAIT && b->halt_pending)
        return CSR_NORESP;
    return CSR_ILLCMD;
}

/* The flag that refuses a command in the present state; 0: it is executed. */
static unsigned refusal_of(const struct s12z_bdc *b, uint8_t opcode)
{
    bool asleep = bdc_cpu(b)->state == CPU_STOP && !(b->csr & CSR_BDCCIS);
    if (!b->known)
        return CSR_ILLCMD;
    if (b->shape.cls == BDC_ALWAYS)
        return 0;
    if (bdc_secured(b) || !(b->csr & CSR_ENBDC) || bdc_erasing(b))
        return CSR_ILLCMD;
    if (b->csr & CSR_OVRUN)
        return CSR_OVRUN;
    if (b->step_waits)
        return CSR_NORESP;
    if (opcode == BDC_NOP || opcode == BDC_BACKGROUND)
        return 0;
    if (b->shape.cls == BDC_HALTED && bdc_halted(b))
        return 0;
    if (b->shape.cls == BDC_HALTED)
        return not_halted(b, opcode);
    if (asleep)
        return CSR_NORESP;
    if (in_sequence(b, opcode & 0xF2))
        return 0;
    return CSR_ILLCMD;
}

/* BACKGROUND and STEP1 in a state that does not take them are ignored without a flag (ZVHL
 * p.155-173, ZVM p.163-166). */
static bool is_ignored(const struct s12z_bdc *b, uint8_t opcode)
{
    return (opcode == BDC_BACKGROUND && !(b->csr & CSR_ENBDC)) ||
           (opcode == BDC_STEP1 && b->csr & CSR_ENBDC && !bdc_halted(b) && !bdc_secured(b));
}

/* Ends the command on the wire: with an ACK pulse, or by noting when an access without one is
 * complete. */
static void end_command(struct s12z_bdc *b, uint8_t opcode)
{
    bool internal =
        b->known && b->shape.cls != BDC_ALWAYS && (b->shape.rx_bytes || b->shape.tx_bytes);
    if (b->known && b->shape.acks && b->ack_on) {
        if (opcode == BDC_GO_UNTIL && b->go_until) {
            bdc_await_ack(b);
            return;
        }
        bdc_acknowledge(b, b->csr & CSR_REFUSALS || b->long_ack_next);
        b->long_ack_next = false;
    } else if (internal) {
        uint64_t done = board_cycles_to_ps(b->board, bdc_cpu(b)->cycles) / 1000;
        b->ready_at = MAX(done, b->board->ns + bdc_cycles_ns(b, BDC_DELAY_CYCLES));
    }
}

void bdc_command(struct s12z_bdc *b)
{
    uint8_t opcode = b->in[0];
    unsigned refused = refusal_of(b, opcode);
    memset(b->out, FILLER, sizeof b->out);
    if (opcode != BDC_ERASE_FLASH)
        b->erase_armed = false;
    if (!refused)
        act_on_command(b, opcode);
    else if (refused != CSR_ILLCMD || !b->known || !is_ignored(b, opcode))
        b->csr |= (uint16_t)refused;
    if (b->known && b->shape.status)
        b->out[0] = b->csr & 0xFF;
    b->last = 0xFF;
    if (b->known)
        b->last = opcode;
    end_command(b, opcode);
}

void bdc_sync(struct s12z_bdc *b)
{
    b->csr &= (uint16_t)~CSR_OVRUN;
    b->go_until = b->erase_armed = false;
    b->last = BDC_NOP; /* since READ_SAME may follow SYNC */
    /* SYNC aborts a mass erase. The contents are then undefined; here they stay as they were. */
    if (b->erase_done_at) {
        b->erase_done_at = 0;
        bus_flash_busy(&b->board->bus, b->board->eeprom_busy = false);
    }
}

int bdc_new(struct s12z_board *board, struct s12z_bdc **out)
{
    struct s12z_bdc *b = calloc(1, sizeof *b);
    if (!b)
        return -ERR_NOMEM;
    b->board = board;
    b->sample_at = UINT64_MAX;
    b->noise = 1;
    bdc_set_clock(b);
    *out = b;
    /* It has no registers, but an event of its own: the end of a mass erase. */
    return board_add_device(
        board, &(struct s12z_device){ 1, 0, NULL, NULL, b, erase_next, erase_advance, NULL });
}

void bdc_free(struct s12z_bdc *b) { free(b); }
