#include "targets/sim/sh4/ubc.h"

#include <stddef.h>

#include "targets/sh4/isa/regs.h"

enum { ID_INSN = 1, ID_OPERAND = 2, RW_READ = 1, RW_WRITE = 2 };

void sh4_ubc_reset(struct sh4_ubc *ubc) { *ubc = (struct sh4_ubc){ 0 }; }

static uint32_t ignored_bits(uint8_t bamr)
{
    switch (REG_GET(bamr, SH4_BAMR_BAM2) << 2 | REG_GET(bamr, SH4_BAMR_BAM)) {
    case 0: return 0;
    case 1: return 0x3FF;
    case 2: return 0xFFF;
    case 3: return 0xFFFFFFFF;
    case 4: return 0xFFFF;
    case 5: return 0xFFFFF;
    default: /* reserved by the manual */ return 0;
    }
}

static bool asid_matches(const struct sh4_ubc_channel *c, uint8_t asid)
{
    return REG_GET(c->bamr, SH4_BAMR_BASM) || c->basr == asid;
}

/* The size of access that the channel matches, in bytes; 0: any. */
static unsigned wanted_size(const struct sh4_ubc_channel *c)
{
    static const uint8_t bytes[8] = { 0, 1, 2, 4, 8, 0, 0, 0 };
    return bytes[REG_GET(c->bbr, SH4_BBR_SZ2) << 2 | REG_GET(c->bbr, SH4_BBR_SZ)];
}

static bool insn_matches(const struct sh4_ubc_channel *c, uint32_t pc, uint8_t asid)
{
    unsigned size = wanted_size(c);
    if (!(REG_GET(c->bbr, SH4_BBR_ID) & ID_INSN) || !(REG_GET(c->bbr, SH4_BBR_RW) & RW_READ))
        return false;
    return (size == 0 || size == 2) && ((pc ^ c->bar) & ~ignored_bits(c->bamr)) == 0 &&
           asid_matches(c, asid);
}

unsigned sh4_ubc_match_insn(const struct sh4_ubc *ubc, uint32_t pc, uint8_t asid)
{
    unsigned match = 0;
    if (insn_matches(&ubc->ch[0], pc, asid))
        match |= REG_GET(ubc->brcr, SH4_BRCR_PCBA) ? SH4_UBC_A << 4 : SH4_UBC_A;
    if (insn_matches(&ubc->ch[1], pc, asid))
        match |= REG_GET(ubc->brcr, SH4_BRCR_PCBB) ? SH4_UBC_B << 4 : SH4_UBC_B;
    return match;
}

static bool operand_matches(const struct sh4_ubc_channel *c, uint32_t vaddr, unsigned size,
                            bool write, uint8_t asid)
{
    unsigned wanted = wanted_size(c);
    if (!(REG_GET(c->bbr, SH4_BBR_ID) & ID_OPERAND) ||
        !(REG_GET(c->bbr, SH4_BBR_RW) & (write ? RW_WRITE : RW_READ)))
        return false;
    uint32_t ignored = ignored_bits(c->bamr) | (size - 1);
    return (wanted == 0 || wanted == size) && ((vaddr ^ c->bar) & ~ignored) == 0 &&
           asid_matches(c, asid);
}

/* BDRB has byte data in bits 15-8 and in bits 7-0. Bits 31-16 count for long and quad accesses
 * only. */
static bool data_matches(const struct sh4_ubc *ubc, unsigned size, uint64_t value)
{
    uint32_t care = ~ubc->bdmrb, low = (uint32_t)value;
    switch (size) {
    case 1: low = (low & 0xFF) | (low & 0xFF) << 8; return ((low ^ ubc->bdrb) & care & 0xFFFF) == 0;
    case 2: return ((low ^ ubc->bdrb) & care & 0xFFFF) == 0;
    case 4: return ((low ^ ubc->bdrb) & care) == 0;
    default:
        return ((low ^ ubc->bdrb) & care) == 0 ||
               (((uint32_t)(value >> 32) ^ ubc->bdrb) & care) == 0;
    }
}

unsigned sh4_ubc_match_operand(const struct sh4_ubc *ubc, uint32_t vaddr, unsigned size, bool write,
                               uint64_t value, uint8_t asid)
{
    unsigned match = 0;
    if (operand_matches(&ubc->ch[0], vaddr, size, write, asid))
        match |= SH4_UBC_A;
    if (operand_matches(&ubc->ch[1], vaddr, size, write, asid) &&
        (!REG_GET(ubc->brcr, SH4_BRCR_DBEB) || data_matches(ubc, size, value)))
        match |= SH4_UBC_B;
    return match;
}

bool sh4_ubc_hit(struct sh4_ubc *ubc, unsigned channels)
{
    if (!REG_GET(ubc->brcr, SH4_BRCR_SEQ)) {
        if (channels & SH4_UBC_A)
            ubc->brcr |= REG_MASK(SH4_BRCR_CMFA);
        if (channels & SH4_UBC_B)
            ubc->brcr |= REG_MASK(SH4_BRCR_CMFB);
        return channels != 0;
    }
    /* A match of A by this instruction does not enable B for the same instruction. */
    if ((channels & SH4_UBC_B) && ubc->a_matched) {
        ubc->a_matched = false;
        ubc->brcr |= REG_MASK(SH4_BRCR_CMFB);
        return true;
    }
    if (channels & SH4_UBC_A)
        ubc->a_matched = true;
    return false;
}

bool sh4_ubc_breaks_to_dbr(const struct sh4_ubc *ubc) { return REG_GET(ubc->brcr, SH4_BRCR_UBDE); }

static void note_armed(struct sh4_ubc *ubc)
{
    ubc->armed_insn = ubc->armed_operand = false;
    for (int i = 0; i < 2; i++) {
        unsigned id = REG_GET(ubc->ch[i].bbr, SH4_BBR_ID), rw = REG_GET(ubc->ch[i].bbr, SH4_BBR_RW);
        ubc->armed_insn |= (id & ID_INSN) && (rw & RW_READ);
        ubc->armed_operand |= (id & ID_OPERAND) && rw != 0;
    }
    ubc->armed = ubc->armed_insn || ubc->armed_operand;
    if (!REG_GET(ubc->brcr, SH4_BRCR_SEQ))
        ubc->a_matched = false;
}

bool sh4_ubc_read(const struct sh4_ubc *ubc, uint32_t addr, uint32_t *value)
{
    switch (addr) {
    case SH4_BARA:
    case SH4_BARB: *value = ubc->ch[addr == SH4_BARB].bar; return true;
    case SH4_BAMRA:
    case SH4_BAMRB: *value = ubc->ch[addr == SH4_BAMRB].bamr; return true;
    case SH4_BBRA:
    case SH4_BBRB: *value = ubc->ch[addr == SH4_BBRB].bbr; return true;
    case SH4_BASRA:
    case SH4_BASRB: *value = ubc->ch[addr == SH4_BASRB].basr; return true;
    case SH4_BDRB: *value = ubc->bdrb; return true;
    case SH4_BDMRB: *value = ubc->bdmrb; return true;
    case SH4_BRCR: *value = ubc->brcr; return true;
    default: return false;
    }
}

static bool write_register(struct sh4_ubc *ubc, uint32_t addr, uint32_t value)
{
    switch (addr) {
    case SH4_BARA:
    case SH4_BARB: ubc->ch[addr == SH4_BARB].bar = value; return true;
    case SH4_BAMRA:
    case SH4_BAMRB:
        ubc->ch[addr == SH4_BAMRB].bamr = (uint8_t)value & SH4_BAMR_ALL_FIELDS;
        return true;
    case SH4_BBRA:
    case SH4_BBRB:
        ubc->ch[addr == SH4_BBRB].bbr = (uint16_t)value & SH4_BBR_ALL_FIELDS;
        return true;
    case SH4_BASRA:
    case SH4_BASRB: ubc->ch[addr == SH4_BASRB].basr = (uint8_t)value; return true;
    case SH4_BDRB: ubc->bdrb = value; return true;
    case SH4_BDMRB: ubc->bdmrb = value; return true;
    case SH4_BRCR: ubc->brcr = (uint16_t)value & SH4_BRCR_ALL_FIELDS; return true;
    default: return false;
    }
}

bool sh4_ubc_write(struct sh4_ubc *ubc, uint32_t addr, uint32_t value)
{
    bool known = write_register(ubc, addr, value);
    note_armed(ubc);
    return known;
}
