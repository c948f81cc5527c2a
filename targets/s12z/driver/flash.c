/* Flash and EEPROM through the part's own controller, FTMRZ, over BDC; the CPU stays halted, unless
 * there is so much that a loader in RAM pays (s12z/driver/loader.c). Source: ZVHL p.152, ZVM
 * p.127-163, HDR; registers from the derivative header (mc9s12zvml128.h); command codes and word
 * counts as open boot loaders for these parts use them.
 *
 * The security byte lies in the sector of the vectors, so every load that has vectors erases it,
 * and an erased one means "secured". That sector is therefore erased last, and its security byte is
 * programmed at once; if that fails, it is tried again at once and before every reset. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "probe/base/log.h"
#include "probe/base/util.h"
#include "targets/s12z/driver/driver.h"

enum { FCLKDIV = 0x380, FPROT = 0x388, DFPROT = 0x389 };
enum { FCLKDIV_LCK = 0x40 };
enum { CMD_ERASE = 0x0A, CMD_PROGRAM_EEPROM = 0x11, CMD_ERASE_EEPROM = 0x12 };
enum { EEPROM_UNIT = 4, CONFIG_SECTOR = 0xFFFE00, UNSECURED = 0xFE };
enum { FCLK_HZ = 1000000, MAX_BUS_MHZ = 64, VERIFY_CHUNK = 2048, WORTH_A_LOADER = 32 };

/* One of the two memories. */
struct area {
    uint32_t start, bytes, sector, unit; /* unit: what is programmed at once */
    uint8_t erase, program;              /* command codes */
    /* what is to be there, and which bytes of it were given (1) */
    uint8_t *data, *set;
    uint8_t *erased, *done; /* per sector; per unit: programmed */
};

struct s12z_flash {
    struct area area[2]; /* flash, EEPROM */
    bool ready;          /* the divider is set */
    bool was_fast;
    bool config_erased; /* the sector of vectors and security byte was, or may have been */
    uint64_t programmed, shown;
};

static int make_area(struct area *a, uint32_t start, uint32_t bytes, uint32_t sector, uint32_t unit)
{
    *a = (struct area){ .start = start, .bytes = bytes, .sector = sector, .unit = unit };
    a->data = malloc(bytes);
    a->set = calloc(1, bytes);
    a->erased = calloc(1, bytes / sector);
    a->done = calloc(1, bytes / unit);
    if (!a->data || !a->set || !a->erased || !a->done)
        return -ERR_NOMEM;
    memset(a->data, 0xFF, bytes);
    return 0;
}

void s12z_flash_close(struct s12z_target *t)
{
    for (size_t k = 0; t->download.flash && k < ARRAY_LEN(t->download.flash->area); k++) {
        struct area *a = &t->download.flash->area[k];
        free(a->data);
        free(a->set);
        free(a->erased);
        free(a->done);
    }
    free(t->download.flash);
    t->download.flash = NULL;
    free(t->download.loader);
    t->download.loader = NULL;
}

/* ---- the controller ---- */

/* FCLK is to be 1 MHz. A program that has set the divider knows its bus clock; else BDCFCLK tells
 * it, whose SYNC also makes the link fast, if the adapter is: with the CPU halted nothing changes
 * the PLL. */
static int set_divider(struct s12z_target *t, struct err *err)
{
    uint8_t div;
    bool slow = t->bdc->max_hz;
    t->download.flash->was_fast =
        slow || REG_GET(t->link.control, S12Z_BDCCSR_CLKSW); /* nothing to put back */
    int ret;
    if (slow)
        ret = s12z_measure_fast(t, err);
    else
        ret = s12z_clock_source(t, true, err);
    if (ret == 0)
        ret = s12z_peek8(t, FCLKDIV, &div, err);
    if (ret < 0)
        return ret;
    uint32_t mhz = (t->link.fast_hz / S12Z_BDCFCLK_PER_BUS + FCLK_HZ / 2) / FCLK_HZ;
    if (mhz < 1 || mhz > MAX_BUS_MHZ)
        return err_set(
            err, ERR_PROTOCOL, "monitor reset halt brings the clocks back to their start",
            "flash: a bus clock of %u Hz does not give the flash its 1 MHz", t->link.fast_hz);
    if (!(div & FCLKDIV_LCK))
        ret = s12z_poke8(t, FCLKDIV, (uint8_t)(mhz - 1), err);
    /* what the program protects can be opened in special mode only; elsewhere the writes do nothing
     */
    if (ret == 0)
        ret = s12z_poke8(t, FPROT, 0xFF, err);
    if (ret < 0)
        return ret;
    return s12z_poke8(t, DFPROT, 0xFF, err);
}

static int open_flash(struct s12z_target *t, struct err *err)
{
    const struct s12z_chip *c = t->chip;
    int ret = s12z_need_halted(t, err, "flash");
    if (ret < 0)
        return ret;
    if (t->download.flash)
        return 0;
    t->download.flash = calloc(1, sizeof *t->download.flash);
    if (!t->download.flash ||
        make_area(&t->download.flash->area[0], c->flash_start, S12Z_ADDRESS + 1 - c->flash_start,
                  S12Z_FLASH_SECTOR, S12Z_PHRASE) < 0 ||
        make_area(&t->download.flash->area[1], S12Z_EEPROM_START,
                  c->eeprom_end + 1 - S12Z_EEPROM_START, S12Z_EEPROM_SECTOR, EEPROM_UNIT) < 0) {
        s12z_flash_close(t);
        return err_set(err, ERR_NOMEM, "close other programs", "flash: no memory");
    }
    t->download.flash->area[0].erase = CMD_ERASE;
    t->download.flash->area[0].program = S12Z_CMD_PROGRAM;
    t->download.flash->area[1].erase = CMD_ERASE_EEPROM;
    t->download.flash->area[1].program = CMD_PROGRAM_EEPROM;
    return 0;
}

/* ---- areas ---- */

static struct area *area_of(struct s12z_target *t, uint64_t addr, uint64_t len, struct err *err)
{
    for (size_t k = 0; k < ARRAY_LEN(t->download.flash->area); k++) {
        struct area *a = &t->download.flash->area[k];
        if (addr >= a->start && addr - a->start < a->bytes && len <= a->bytes - (addr - a->start))
            return a;
    }
    err_set(err, ERR_FAULT, "see info mem", "%llu bytes at %06llX are not flash or EEPROM of a %s",
            (unsigned long long)len, (unsigned long long)addr, t->chip->name);
    return NULL;
}

static bool is_all_ones(const uint8_t *data, uint32_t n)
{
    while (n > 0 && data[n - 1] == 0xFF)
        n--;
    return n == 0;
}

static bool read_sector(struct s12z_target *t, const struct area *a, uint32_t sector,
                        uint8_t got[S12Z_FLASH_SECTOR])
{
    return s12z_read_raw(t, a->start + sector * a->sector, 0, got, a->sector, NULL) == 0;
}

static bool sector_is_blank(struct s12z_target *t, const struct area *a, uint32_t sector)
{
    uint8_t got[S12Z_FLASH_SECTOR];
    return read_sector(t, a, sector, got) && is_all_ones(got, a->sector);
}

/* What an earlier download that was broken off had for this sector counts no more. */
static void renew_sector(struct area *a, uint32_t sector)
{
    a->erased[sector] = 1;
    memset(a->data + sector * a->sector, 0xFF, a->sector);
    memset(a->set + sector * a->sector, 0, a->sector);
    memset(a->done + sector * a->sector / a->unit, 0, MAX(a->sector / a->unit, 1u));
}

static int erase_sector(struct s12z_target *t, struct area *a, uint32_t sector, struct err *err)
{
    uint32_t addr = a->start + sector * a->sector;
    if (sector_is_blank(t, a, sector))
        return 0;
    return s12z_ftmrz_run(t, a->erase, addr, NULL, 0, "erase", err);
}

/* The same by the loader. */
static int by_loader(int ret, const struct s12z_loader_refusal *refusal, struct err *err)
{
    if (ret < 0)
        return err_prefix(err, ret, "program");
    if (ret)
        return s12z_ftmrz_refusal(refusal->fstat, "program", refusal->addr, err);
    return 0;
}

static int program_unit(struct s12z_target *t, struct area *a, uint32_t unit, bool loader,
                        struct err *err)
{
    const uint8_t *data = a->data + unit * a->unit;
    uint32_t addr = a->start + unit * a->unit;
    struct s12z_loader_refusal refusal;
    a->done[unit] = 1;
    if (is_all_ones(data, a->unit))
        return 0;
    int ret;
    if (loader)
        ret =
            by_loader(s12z_loader_program(t, a->program, addr, data, &refusal, err), &refusal, err);
    else
        ret = s12z_ftmrz_run(t, a->program, addr, data, a->unit, "program", err);
    t->download.flash->programmed += a->unit;
    if (ret == 0 && t->download.flash->programmed - t->download.flash->shown >= 4096) {
        t->download.flash->shown = t->download.flash->programmed;
        log_msg(t->probe->log, LOG_TARGET, "%s: %llu bytes programmed", t->probe->name,
                (unsigned long long)t->download.flash->programmed);
    }
    return ret;
}

static bool is_config(const struct area *a, uint32_t sector)
{
    return a->start + sector * a->sector == CONFIG_SECTOR;
}

/* Wholly given; with `rest` given in part, too. Not in the configuration sector: it comes last. */
static bool is_due(const struct area *a, uint32_t u, bool rest)
{
    uint32_t given = 0;
    for (uint32_t k = 0; k < a->unit; k++)
        given += a->set[u * a->unit + k];
    bool wanted = given == a->unit || (rest && given);
    return wanted && !a->done[u] && (rest || !is_config(a, u * a->unit / a->sector));
}

static bool many_due(const struct area *a, uint32_t from, uint32_t to, bool rest)
{
    unsigned n = 0;
    for (uint32_t u = from / a->unit; u * a->unit < to && n < WORTH_A_LOADER; u++)
        n += is_due(a, u, rest) && !is_all_ones(a->data + u * a->unit, a->unit);
    return n == WORTH_A_LOADER;
}

/* Units of [from, to) (offsets). */
static int program_range(struct s12z_target *t, struct area *a, uint32_t from, uint32_t to,
                         bool rest, struct err *err)
{
    int ret = 0;
    struct s12z_loader_refusal refusal;
    bool loader = a->unit == S12Z_PHRASE && (t->download.loader || many_due(a, from, to, rest)) &&
                  s12z_loader_come(t);
    for (uint32_t u = from / a->unit; ret == 0 && u * a->unit < to; u++)
        if (is_due(a, u, rest))
            ret = program_unit(t, a, u, loader, err);
    if (loader && ret == 0)
        return by_loader(s12z_loader_rest(t, &refusal, err), &refusal, err);
    return ret;
}

/* ---- how it ends ---- */

/* What has become of vectors and security byte. */
static const char *describe_security(const struct s12z_target *t)
{
    if (t->download.locks)
        return "IS ERASED: the part is secured at its next reset";
    if (t->download.flash->config_erased)
        return "is programmed";
    return "and vectors are as before";
}

/* What a failed download leaves, for people. */
static void describe_rest(struct s12z_target *t)
{
    unsigned sectors = 0;
    for (size_t k = 0; k < ARRAY_LEN(t->download.flash->area); k++)
        for (uint32_t s = 0;
             s < t->download.flash->area[k].bytes / t->download.flash->area[k].sector; s++)
            sectors += t->download.flash->area[k].erased[s];
    snprintf(t->download.left, sizeof t->download.left,
             "%u sectors were given up for it, %llu bytes of them are programmed, nothing is "
             "verified; security byte %s",
             sectors, (unsigned long long)t->download.flash->programmed, describe_security(t));
}

static int end_download(struct s12z_target *t, int ret, struct err *err)
{
    struct err own = { .code = ERR_OK };
    bool slow = t->download.flash && !t->download.flash->was_fast && !t->opt.fast_clock;
    t->download.left[0] = 0;
    if (ret < 0)
        s12z_ftmrz_unlock(t);
    if (ret < 0 && t->download.flash)
        describe_rest(t);
    int away = s12z_loader_leave(t, ret < 0 ? &own : err);
    if (ret >= 0)
        ret = away;
    s12z_flash_close(t);
    int back = 0;
    if (slow && s12z_state(t) == TARGET_HALTED)
        back = s12z_clock_source(t, false, ret < 0 ? &own : err);
    if (ret < 0 && err) {
        t->download.failure = *err;
        log_msg(t->probe->log, LOG_TARGET, "%s: %s", t->probe->name, err->what);
    }
    if (ret < 0)
        return s12z_lost(t, ret);
    return back;
}

bool s12z_flash_broken_off(struct s12z_target *t, const char *by)
{
    struct err why = { .code = ERR_OK };
    bool fast_left = t->download.flash && s12z_state(t) != TARGET_HALTED &&
                     !t->download.flash->was_fast && !t->opt.fast_clock;
    s12z_ftmrz_unlock(t);
    if (t->download.flash)
        end_download(t, err_set(&why, ERR_CANCELLED, "load again", "it was broken off by %s", by),
                     &why);
    return fast_left;
}

static int begin_download(struct s12z_target *t, struct err *err)
{
    int ret = open_flash(t, err);
    if (ret == 0 && !t->download.flash->ready) {
        t->download.failure.code = ERR_OK;
        ret = set_divider(t, err);
        if (ret < 0)
            return end_download(t, ret, err);
        t->download.flash->ready = true;
    }
    return ret;
}

/* All sectors from addr on but the configuration's, which is erased at the end. */
static int erase_range(struct s12z_target *t, uint64_t addr, uint64_t len, struct err *err)
{
    struct area *a = area_of(t, addr, len, err);
    if (!a)
        return -(int)err->code;
    if ((addr - a->start) % a->sector || len % a->sector)
        return err_set(err, ERR_USAGE, "see info mem",
                       "erase: %06llX, %llu bytes are not whole sectors of %u",
                       (unsigned long long)addr, (unsigned long long)len, a->sector);
    uint32_t first = (uint32_t)((addr - a->start) / a->sector), n = (uint32_t)(len / a->sector);
    int ret = 0;
    for (uint32_t s = first; ret == 0 && s < first + n; s++) {
        renew_sector(a, s);
        if (!is_config(a, s))
            ret = erase_sector(t, a, s, err);
    }
    return ret;
}

int s12z_flash_erase(struct target *target, uint64_t addr, uint64_t len, struct err *err)
{
    struct s12z_target *t = s12z_of(target);
    struct err why = { .code = ERR_OK };
    int ret = begin_download(t, &why);
    if (ret == 0) {
        ret = erase_range(t, addr, len, &why);
        if (ret < 0)
            ret = end_download(t, ret, &why);
    }
    if (ret < 0 && err)
        *err = why;
    return ret;
}

static int check_security(struct s12z_target *t, uint64_t addr, const uint8_t *buf, size_t len,
                          struct err *err)
{
    if (t->opt.allow_security_byte || addr > S12Z_SECURITY_BYTE || S12Z_SECURITY_BYTE - addr >= len)
        return 0;
    uint8_t v = buf[S12Z_SECURITY_BYTE - addr];
    if (s12z_unsecured(v))
        return 0;
    return err_set(err, ERR_SECURED,
                   "leave it out of the program or make it FE; --allow-security, or monitor flash "
                   "allow-security, writes it all the same",
                   "the program has %02X as security byte at %06X: it would lock the part", v,
                   S12Z_SECURITY_BYTE);
}

/* GDB 13.1 does not erase the last block of a section of which only the first byte is written (its
 * blocks_to_erase rounds the last byte's address up): one time in four for EEPROM. */
static int erase_forgotten(struct s12z_target *t, struct area *a, uint32_t at, size_t len,
                           struct err *err)
{
    uint32_t last = at + (uint32_t)len - 1, sector = last / a->sector;
    if (!len || last % a->sector || a->erased[sector] || sector == 0 || !a->erased[sector - 1])
        return 0;
    renew_sector(a, sector);
    if (is_config(a, sector))
        return 0;
    return erase_sector(t, a, sector, err);
}

int s12z_flash_write(struct target *target, uint64_t addr, const uint8_t *buf, size_t len,
                     struct err *err)
{
    struct s12z_target *t = s12z_of(target);
    struct err why = { .code = ERR_OK };
    if (!t->download.flash)
        return err_set(err, ERR_STATE, "load does it", "flash: %06llX was not erased before",
                       (unsigned long long)addr);
    struct area *a = area_of(t, addr, len, &why);
    int ret = -(int)why.code;
    if (a)
        ret = check_security(t, addr, buf, len, &why);
    uint32_t at = 0;
    if (a)
        at = (uint32_t)addr - a->start;
    if (ret == 0)
        ret = erase_forgotten(t, a, at, len, &why);
    for (uint32_t k = 0; ret == 0 && k < len; k++) {
        if (!a->erased[(at + k) / a->sector] ||
            (a->done[(at + k) / a->unit] && a->data[at + k] != buf[k]))
            ret = err_set(&why, ERR_STATE, "load erases first",
                          "flash: %06X is not erased, or written twice", (uint32_t)addr + k);
        a->data[at + k] = buf[k];
        a->set[at + k] = 1;
    }
    if (ret == 0)
        ret = program_range(t, a, at, at + (uint32_t)len, false, &why);
    if (ret < 0) {
        ret = end_download(t, ret, &why);
        if (err)
            *err = why;
    }
    return ret;
}

/* Does the sector hold what is to be there? */
static bool sector_is_right(struct s12z_target *t, const struct area *a, uint32_t sector)
{
    uint8_t got[S12Z_FLASH_SECTOR];
    return read_sector(t, a, sector, got) &&
           memcmp(got, a->data + sector * a->sector, a->sector) == 0;
}

/* Vectors and security byte: erased, and unlocked again before anything else. A part that loses its
 * power between the two is secured, so what is right already stays. */
static int write_config(struct s12z_target *t, struct err *err)
{
    struct area *a = &t->download.flash->area[0];
    uint32_t sector = (CONFIG_SECTOR - a->start) / a->sector, byte = S12Z_SECURITY_BYTE - a->start;
    if (!a->erased[sector])
        return 0;
    if (!a->set[byte]) {
        a->data[byte] = UNSECURED;
        a->set[byte] = 1;
    }
    if (sector_is_right(t, a, sector)) {
        memset(a->done + sector * a->sector / a->unit, 1, a->sector / a->unit);
        return 0;
    }
    memcpy(t->download.config, a->data + S12Z_CONFIG_PHRASE - a->start, S12Z_PHRASE);
    t->download.flash->config_erased = true;
    t->download.locks = s12z_unsecured(a->data[byte]);
    int ret = erase_sector(t, a, sector, err);
    if (ret == 0)
        ret = program_unit(t, a, (S12Z_CONFIG_PHRASE - a->start) / a->unit, false, err);
    if (ret == 0)
        t->download.locks = false;
    return ret;
}

static int verify_area(struct s12z_target *t, const struct area *a, struct err *err)
{
    uint8_t got[VERIFY_CHUNK];
    for (uint32_t at = 0; at < a->bytes; at += VERIFY_CHUNK) {
        uint32_t n = MIN(a->bytes - at, (uint32_t)VERIFY_CHUNK);
        if (!memchr(a->set + at, 1, n))
            continue;
        int ret = s12z_read_raw(t, a->start + at, 0, got, n, err);
        if (ret < 0)
            return err_prefix(err, ret, "verify");
        for (uint32_t k = 0; k < n; k++)
            if (a->set[at + k] && got[k] != a->data[at + k])
                return err_set(
                    err, ERR_FAULT,
                    "load again; if it stays, the flash is worn out or the supply is weak",
                    "verify: %06X reads %02X, %02X was programmed", a->start + at + k, got[k],
                    a->data[at + k]);
    }
    return 0;
}

int s12z_flash_done(struct target *target, struct err *err)
{
    struct s12z_target *t = s12z_of(target);
    struct err why = { .code = ERR_OK };
    if (!t->download.flash && t->download.failure.code == ERR_OK)
        return 0;
    if (!t->download.flash)
        return err_set(err, ERR_STATE, t->download.failure.hint, "flash: %.200s",
                       t->download.failure.what);
    int ret = write_config(t, &why);
    for (size_t k = 0; ret == 0 && k < ARRAY_LEN(t->download.flash->area); k++)
        ret = program_range(t, &t->download.flash->area[k], 0, t->download.flash->area[k].bytes,
                            true, &why);
    for (size_t k = 0; ret == 0 && k < ARRAY_LEN(t->download.flash->area); k++)
        ret = verify_area(t, &t->download.flash->area[k], &why);
    if (ret == 0)
        log_msg(t->probe->log, LOG_TARGET, "%s: %llu bytes programmed and verified", t->probe->name,
                (unsigned long long)t->download.flash->programmed);
    ret = end_download(t, ret, &why);
    if (ret < 0 && err)
        *err = why;
    return ret;
}
