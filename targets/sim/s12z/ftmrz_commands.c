/* Flash controller FTMRZ: what each command checks and does. Source of codes, word counts and
 * parameters of 03, 06, 0A and 10-13: USBDM-FW, S12Z-FTMRZ-flash-scripts.tcl, for a part with the
 * same controller. The other commands and all times are remembered, not read. */
#include <string.h>

#include "probe/base/util.h"
#include "targets/sim/s12z/ftmrz_priv.h"

/* ---- places ---- */

static uint8_t *flash_at(const struct s12z_ftmrz *f, uint32_t addr)
{
    return f->board->flash + (addr - f->board->part->flash_start);
}
static uint8_t *flash_bad_at(const struct s12z_ftmrz *f, uint32_t addr)
{
    return f->board->flash_bad + (addr - f->board->part->flash_start) / PHRASE;
}
static uint8_t *eeprom_at(const struct s12z_ftmrz *f, uint32_t addr)
{
    return f->board->eeprom + (addr - EEPROM_START);
}
static uint8_t *eeprom_bad_at(const struct s12z_ftmrz *f, uint32_t addr)
{
    return f->board->eeprom_bad + (addr - EEPROM_START) / EEPROM_WORD;
}

static bool in_flash(const struct s12z_ftmrz *f, uint32_t addr, uint32_t n)
{
    return addr >= f->board->part->flash_start && addr + n <= 0x1000000;
}
static bool in_eeprom(const struct s12z_ftmrz *f, uint32_t addr, uint32_t n)
{
    return addr >= EEPROM_START && addr + n <= f->board->part->eeprom_end + 1;
}

static bool all_ones(const uint8_t *p, size_t n)
{
    while (n-- > 0)
        if (p[n] != 0xFF)
            return false;
    return true;
}
static bool all_zero(const uint8_t *p, size_t n)
{
    while (n-- > 0)
        if (p[n])
            return false;
    return true;
}
static bool flash_erased(const struct s12z_ftmrz *f, uint32_t addr, uint32_t n)
{
    return all_ones(flash_at(f, addr), n) && all_zero(flash_bad_at(f, addr), n / PHRASE);
}
static bool eeprom_erased(const struct s12z_ftmrz *f, uint32_t addr, uint32_t n)
{
    return all_ones(eeprom_at(f, addr), n) && all_zero(eeprom_bad_at(f, addr), n / EEPROM_WORD);
}

/* ---- protection ---- */

/* FPHS protects 2 to 16 KB below 0x1000000, FPLS 1 to 8 KB from 0xFF8000 on. With FPOPEN=0 these
 * are the ranges that are not protected. */
static bool flash_protected(uint8_t fprot, uint32_t addr)
{
    uint32_t high = 0x1000000 - (0x800u << (fprot >> 3 & 3)),
             low_end = 0xFF8000 + (0x400u << (fprot & 3));
    bool in_range = (!(fprot & FPROT_HDIS) && addr >= high) ||
                    (!(fprot & FPROT_LDIS) && addr >= 0xFF8000 && addr < low_end);
    if (fprot & FPROT_OPEN)
        return in_range;
    return !in_range;
}
static bool eeprom_protected(uint8_t dfprot, uint32_t addr)
{
    return !(dfprot & DFPROT_OPEN) && addr < EEPROM_START + 32 * ((dfprot & DFPROT_SIZE) + 1u);
}
static bool any_flash_protected(const struct s12z_ftmrz *f)
{
    for (uint32_t a = f->board->part->flash_start; a < 0x1000000; a += SECTOR)
        if (flash_protected(f->fprot, a))
            return true;
    return false;
}
static bool any_eeprom_protected(const struct s12z_ftmrz *f)
{
    return eeprom_protected(f->dfprot, EEPROM_START);
}

bool ftmrz_at_least_as_protected(const struct s12z_ftmrz *f, uint8_t fprot, uint8_t dfprot)
{
    for (uint32_t a = f->board->part->flash_start; a < 0x1000000; a += SECTOR)
        if (flash_protected(f->fprot, a) && !flash_protected(fprot, a))
            return false;
    for (uint32_t a = EEPROM_START; a <= f->board->part->eeprom_end; a += EEPROM_SECTOR)
        if (eeprom_protected(f->dfprot, a) && !eeprom_protected(dfprot, a))
            return false;
    return true;
}

/* ---- checks ---- */

static uint8_t check_nothing(struct s12z_ftmrz *f)
{
    (void)f;
    return 0;
}
static uint8_t check_unprotected(struct s12z_ftmrz *f)
{
    if (any_flash_protected(f) || any_eeprom_protected(f))
        return FSTAT_FPVIOL;
    return 0;
}

static uint8_t check_block(struct s12z_ftmrz *f)
{
    if (in_flash(f, ftmrz_address(f), 1) || in_eeprom(f, ftmrz_address(f), 1))
        return 0;
    return FSTAT_ACCERR;
}
static uint8_t check_erase_block(struct s12z_ftmrz *f)
{
    bool flash = in_flash(f, ftmrz_address(f), 1);
    if (check_block(f))
        return FSTAT_ACCERR;
    if (flash && any_flash_protected(f))
        return FSTAT_FPVIOL;
    if (!flash && any_eeprom_protected(f))
        return FSTAT_FPVIOL;
    return 0;
}
static uint8_t check_section(struct s12z_ftmrz *f)
{
    uint32_t a = ftmrz_address(f), n = f->fccob[2];
    if (a % PHRASE == 0 && n && in_flash(f, a, n * PHRASE))
        return 0;
    return FSTAT_ACCERR;
}
static uint8_t check_eeprom_section(struct s12z_ftmrz *f)
{
    uint32_t a = ftmrz_address(f), n = f->fccob[2];
    if (a % EEPROM_WORD == 0 && n && in_eeprom(f, a, n * EEPROM_WORD))
        return 0;
    return FSTAT_ACCERR;
}
/* Checks a phrase to be programmed, or a sector to be erased, which any of its phrases stands
 * for. */
static uint8_t check_phrase(struct s12z_ftmrz *f)
{
    uint32_t a = ftmrz_address(f);
    if (a % PHRASE || !in_flash(f, a, PHRASE))
        return FSTAT_ACCERR;
    if (flash_protected(f->fprot, a))
        return FSTAT_FPVIOL;
    return 0;
}
static uint8_t check_eeprom_write(struct s12z_ftmrz *f)
{
    uint32_t a = ftmrz_address(f),
             n = f->fccobix > 1 ? (f->fccobix - 1u) * EEPROM_WORD : EEPROM_WORD;
    if (a % EEPROM_WORD || !in_eeprom(f, a, n))
        return FSTAT_ACCERR;
    if (eeprom_protected(f->dfprot, a))
        return FSTAT_FPVIOL;
    return 0;
}
static uint8_t check_margin(struct s12z_ftmrz *f)
{
    if (check_block(f) || f->fccob[2] > 2)
        return FSTAT_ACCERR;
    return 0;
}
static uint8_t check_field_margin(struct s12z_ftmrz *f)
{
    if (!ftmrz_special_mode(f) || check_block(f) || f->fccob[2] > 4)
        return FSTAT_ACCERR;
    return 0;
}
static uint8_t check_once(struct s12z_ftmrz *f)
{
    if (f->fccob[1] < ONCE_PHRASES)
        return 0;
    return FSTAT_ACCERR;
}
static uint8_t check_once_blank(struct s12z_ftmrz *f)
{
    if (check_once(f) || !all_ones(f->once[f->fccob[1]], PHRASE))
        return FSTAT_ACCERR;
    return 0;
}

/* Compares four words with the key at 0xFFFE00. 0000 and FFFF are not allowed in a key. After a
 * wrong key all are refused until a reset. */
static uint8_t check_backdoor(struct s12z_ftmrz *f)
{
    const uint8_t *key = flash_at(f, CONFIG_KEY);
    if (f->backdoor_spent || (f->board->fsec & FSEC_KEYEN) != FSEC_KEYEN_ON)
        return FSTAT_ACCERR;
    for (unsigned k = 0; k < 4; k++) {
        unsigned want = (unsigned)key[2 * k] << 8 | key[2 * k + 1];
        if (f->fccob[k + 1] != want || want == 0 || want == 0xFFFF)
            f->backdoor_spent = true;
    }
    if (f->backdoor_spent)
        return FSTAT_ACCERR;
    return 0;
}
static uint8_t check_override(struct s12z_ftmrz *f)
{
    const uint8_t *key = flash_at(f, CONFIG_OVERRIDE_KEY);
    unsigned want = (unsigned)key[0] << 8 | key[1], which = f->fccob[0] & 0xFF;
    if (want == 0xFFFF || f->fccob[1] != want || which < 1 || which > 3)
        return FSTAT_ACCERR;
    return 0;
}

/* ---- effects ---- */

static void take_words(const struct s12z_ftmrz *f, unsigned first, uint8_t *to, unsigned words)
{
    for (unsigned k = 0; k < words; k++) {
        to[2 * k] = (uint8_t)(f->fccob[first + k] >> 8);
        to[2 * k + 1] = (uint8_t)f->fccob[first + k];
    }
}

/* Programming only clears bits. Where not all bits were ones before, the ECC no longer belongs to
 * the data. */
static void program_bytes(uint8_t *at, uint8_t *bad, const uint8_t *data, size_t n)
{
    if (!all_ones(at, n) && !all_ones(data, n) && memcmp(at, data, n) != 0)
        *bad = 1;
    for (size_t k = 0; k < n; k++)
        at[k] &= data[k];
}

static uint8_t finish_program(struct s12z_ftmrz *f)
{
    uint32_t a = ftmrz_address(f);
    uint8_t data[PHRASE];
    take_words(f, 2, data, PHRASE / 2);
    program_bytes(flash_at(f, a), flash_bad_at(f, a), data, PHRASE);
    bus_flash_changed(&f->board->bus, a, PHRASE);
    if (memcmp(flash_at(f, a), data, PHRASE) || *flash_bad_at(f, a))
        return FSTAT_MGSTAT;
    return 0;
}
/* The lowest bit that is cleared in the first byte reads as set. The model does not correct it by
 * ECC, as silicon would a single bit. */
void ftmrz_weaken(struct s12z_ftmrz *f)
{
    uint32_t a = ftmrz_address(f);
    if (in_flash(f, a, 1)) {
        *flash_at(f, a) |= (uint8_t)(~*flash_at(f, a) & -(unsigned)~*flash_at(f, a));
        bus_flash_changed(&f->board->bus, a, 1);
    }
}
static uint8_t finish_erase_sector(struct s12z_ftmrz *f)
{
    uint32_t a = ftmrz_address(f) & ~(SECTOR - 1u);
    memset(flash_at(f, a), 0xFF, SECTOR);
    memset(flash_bad_at(f, a), 0, SECTOR / PHRASE);
    bus_flash_changed(&f->board->bus, a, SECTOR);
    return 0;
}
static uint8_t finish_program_eeprom(struct s12z_ftmrz *f)
{
    uint8_t data[8], wrong = 0;
    unsigned words = f->fccobix - 1u;
    uint32_t a = ftmrz_address(f);
    take_words(f, 2, data, words);
    for (unsigned k = 0; k < words; k++, a += EEPROM_WORD) {
        program_bytes(eeprom_at(f, a), eeprom_bad_at(f, a), data + 2 * k, EEPROM_WORD);
        if (memcmp(eeprom_at(f, a), data + 2 * k, EEPROM_WORD) || *eeprom_bad_at(f, a))
            wrong = FSTAT_MGSTAT;
    }
    return wrong;
}
static uint8_t finish_erase_eeprom(struct s12z_ftmrz *f)
{
    uint32_t a = ftmrz_address(f) & ~(EEPROM_SECTOR - 1u);
    memset(eeprom_at(f, a), 0xFF, EEPROM_SECTOR);
    memset(eeprom_bad_at(f, a), 0, EEPROM_SECTOR / EEPROM_WORD);
    return 0;
}
static uint8_t finish_erase_all(struct s12z_ftmrz *f)
{
    board_erase_flash(f->board);
    board_erase_eeprom(f->board);
    /* All of it is erased, so the part is no longer secured. */
    f->board->fsec = (uint8_t)((f->board->fsec & ~3) | 2);
    return 0;
}
static uint8_t finish_erase_block(struct s12z_ftmrz *f)
{
    if (in_flash(f, ftmrz_address(f), 1))
        board_erase_flash(f->board);
    else
        board_erase_eeprom(f->board);
    return 0;
}

static uint8_t verdict_flags(bool erased)
{
    if (erased)
        return 0;
    return FSTAT_MGSTAT;
}
static bool flash_all_erased(const struct s12z_ftmrz *f)
{
    return flash_erased(f, f->board->part->flash_start, part_flash_bytes(f->board->part));
}
static bool eeprom_all_erased(const struct s12z_ftmrz *f)
{
    return eeprom_erased(f, EEPROM_START, part_eeprom_bytes(f->board->part));
}
static uint8_t finish_verify_all(struct s12z_ftmrz *f)
{
    return verdict_flags(flash_all_erased(f) && eeprom_all_erased(f));
}
static uint8_t finish_verify_block(struct s12z_ftmrz *f)
{
    if (in_flash(f, ftmrz_address(f), 1))
        return verdict_flags(flash_all_erased(f));
    return verdict_flags(eeprom_all_erased(f));
}
static uint8_t finish_verify_section(struct s12z_ftmrz *f)
{
    return verdict_flags(flash_erased(f, ftmrz_address(f), f->fccob[2] * (uint32_t)PHRASE));
}
static uint8_t finish_verify_eeprom(struct s12z_ftmrz *f)
{
    return verdict_flags(eeprom_erased(f, ftmrz_address(f), f->fccob[2] * (uint32_t)EEPROM_WORD));
}
static uint8_t finish_nothing(struct s12z_ftmrz *f)
{
    (void)f;
    return 0;
}
static uint8_t finish_read_once(struct s12z_ftmrz *f)
{
    const uint8_t *p = f->once[f->fccob[1]];
    for (unsigned k = 0; k < PHRASE / 2; k++)
        f->fccob[2 + k] = (uint16_t)(p[2 * k] << 8 | p[2 * k + 1]);
    return 0;
}
static uint8_t finish_program_once(struct s12z_ftmrz *f)
{
    take_words(f, 2, f->once[f->fccob[1]], PHRASE / 2);
    return 0;
}
static uint8_t finish_backdoor(struct s12z_ftmrz *f)
{
    f->board->fsec = (uint8_t)((f->board->fsec & ~3) | 2);
    return 0;
}
static uint8_t finish_override(struct s12z_ftmrz *f)
{
    if (f->fccob[0] & 1)
        f->fprot = f->fccob[2] & 0xFF;
    if (f->fccob[0] & 2)
        f->dfprot = f->fccob[3] & (DFPROT_OPEN | DFPROT_SIZE);
    f->fpstat |= FPSTAT_OVERRIDE;
    return 0;
}

/* ---- how long, in FCLK cycles (1 us at 1 MHz): remembered from data sheets of the family ---- */
static uint32_t time_short(const struct s12z_ftmrz *f)
{
    (void)f;
    return 40;
}
static uint32_t time_program(const struct s12z_ftmrz *f)
{
    (void)f;
    return 230;
}
static uint32_t time_program_eeprom(const struct s12z_ftmrz *f)
{
    return 35 + 70 * (f->fccobix - 1u);
}
static uint32_t time_erase_sector(const struct s12z_ftmrz *f)
{
    (void)f;
    return 20000;
}
static uint32_t time_erase_eeprom(const struct s12z_ftmrz *f)
{
    (void)f;
    return 5000;
}
static uint32_t time_erase_all(const struct s12z_ftmrz *f)
{
    (void)f;
    return 100000;
}
static uint32_t time_verify(const struct s12z_ftmrz *f)
{
    (void)f;
    return 700;
}
static uint32_t time_section(const struct s12z_ftmrz *f) { return 40 + f->fccob[2] / 25; }

const struct ftmrz_command *ftmrz_command_find(uint8_t code)
{
    static const struct ftmrz_command table[] = {
        { 0x01, 0, 0, true, true, false, check_nothing, finish_verify_all, time_verify },
        { 0x02, 1, 1, true, true, false, check_block, finish_verify_block, time_verify },
        { 0x03, 2, 2, true, false, false, check_section, finish_verify_section, time_section },
        { 0x04, 1, 1, true, false, false, check_once, finish_read_once, time_short },
        { 0x06, 5, 5, true, false, true, check_phrase, finish_program, time_program },
        { 0x07, 5, 5, true, false, true, check_once_blank, finish_program_once, time_program },
        { 0x08, 0, 0, true, true, true, check_unprotected, finish_erase_all, time_erase_all },
        { 0x09, 1, 1, true, true, true, check_erase_block, finish_erase_block, time_erase_all },
        { 0x0A, 1, 1, true, false, true, check_phrase, finish_erase_sector, time_erase_sector },
        { 0x0B, 0, 0, true, true, true, check_unprotected, finish_erase_all, time_erase_all },
        { 0x0C, 4, 4, true, false, false, check_backdoor, finish_backdoor, time_short },
        { 0x0D, 2, 2, false, false, false, check_margin, finish_nothing, time_short },
        { 0x0E, 2, 2, false, false, false, check_field_margin, finish_nothing, time_short },
        { 0x10, 2, 2, false, true, false, check_eeprom_section, finish_verify_eeprom,
          time_section },
        { 0x11, 2, 5, false, true, true, check_eeprom_write, finish_program_eeprom,
          time_program_eeprom },
        { 0x12, 1, 1, false, true, true, check_eeprom_write, finish_erase_eeprom,
          time_erase_eeprom },
        { 0x13, 3, 3, false, false, false, check_override, finish_override, time_short },
    };
    for (size_t k = 0; k < ARRAY_LEN(table); k++)
        if (table[k].code == code)
            return &table[k];
    return NULL;
}

void ftmrz_cut_short(struct s12z_ftmrz *f)
{
    uint32_t a = ftmrz_address(f);
    switch (f->running->code) {
    case 0x06:
        *flash_bad_at(f, a) = 1;
        bus_flash_changed(&f->board->bus, a, PHRASE);
        break;
    case 0x0A:
        a &= ~(SECTOR - 1u);
        memset(flash_bad_at(f, a), 1, SECTOR / PHRASE);
        bus_flash_changed(&f->board->bus, a, SECTOR);
        break;
    case 0x11: memset(eeprom_bad_at(f, a), 1, f->fccobix - 1u); break;
    case 0x12:
        memset(eeprom_bad_at(f, a & ~(EEPROM_SECTOR - 1u)), 1, EEPROM_SECTOR / EEPROM_WORD);
        break;
    default:
        /* An erase of everything that was aborted leaves all as it was, which no security depends
         * on. */
        break;
    }
}

void ftmrz_invalid_read(struct s12z_ftmrz *f) { f->ferstat |= FERSTAT_DFDF; }
