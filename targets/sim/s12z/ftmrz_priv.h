/* The inside of the flash controller FTMRZ. ftmrz.c has registers and time, ftmrz_commands.c what
 * commands check and do. */
#ifndef TARGETS_SIM_S12Z_FTMRZ_PRIV_H
#define TARGETS_SIM_S12Z_FTMRZ_PRIV_H

#include "targets/sim/s12z/board_priv.h"

/* Register bits. Source: HDR, mc9s12zvml128.h. */
/* clang-format off */
enum {
    FCLKDIV_LD = 0x80, FCLKDIV_LCK = 0x40, FCLKDIV_FDIV = 0x3F, FSTAT_CCIF = 0x80,
    FSTAT_ACCERR = 0x20, FSTAT_FPVIOL = 0x10, FSTAT_MGBUSY = 0x08, FSTAT_MGSTAT = 0x03,
    FCNFG_CCIE = 0x80, FCNFG_ERSAREQ = 0x20, FERCNFG_SFDIE = 0x01, FERSTAT_DFDF = 0x02,
    FERSTAT_SFDIF = 0x01, FPSTAT_OVERRIDE = 0x80, FPROT_OPEN = 0x80, FPROT_HDIS = 0x20,
    FPROT_LDIS = 0x04, DFPROT_OPEN = 0x80, DFPROT_SIZE = 0x0F, FSEC_KEYEN = 0xC0,
    FSEC_KEYEN_ON = 0x80
};
/* clang-format on */
enum {
    PHRASE = 8,
    SECTOR = 512,
    EEPROM_WORD = 2,
    EEPROM_SECTOR = 4,
    FCCOB_WORDS = 6,
    ONCE_PHRASES = 8,
    CONFIG_KEY = 0xFFFE00,
    CONFIG_OVERRIDE_KEY = 0xFFFE08,
    CONFIG_FPROT = 0xFFFE0C,
    CONFIG_DFPROT = 0xFFFE0D,
    CONFIG_FOPT = 0xFFFE0E
};

struct s12z_ftmrz {
    struct s12z_board *board;
    uint8_t fclkdiv, fccobix, fpstat, fcnfg, fercnfg, fstat, ferstat, fprot, dfprot, fopt;
    uint16_t fccob[FCCOB_WORDS];
    /* a wrong key was given: no other is accepted before a reset */
    bool backdoor_spent;
    uint8_t once[ONCE_PHRASES][PHRASE]; /* the program-once field */
    const struct ftmrz_command *running;
    uint64_t done_at; /* core cycle; UINT64_MAX: idle */
    uint64_t changes; /* how often something was programmed or erased, for fault=flash@N */
};

/* A command. ix_min and ix_max: the FCCOBIX that it takes. */
struct ftmrz_command {
    uint8_t code, ix_min, ix_max;
    bool uses_flash, uses_eeprom; /* these memories cannot be read meanwhile */
    bool changes;                 /* programs or erases */
    /* Called before it begins. Returns ACCERR or FPVIOL of FSTAT, or 0: it may begin. */
    uint8_t (*check)(struct s12z_ftmrz *f);
    /* Called at its end, and does what the command does. Returns MGSTAT. */
    uint8_t (*finish)(struct s12z_ftmrz *f);
    uint32_t (*fclk)(const struct s12z_ftmrz *f); /* how long it takes, in cycles of FCLK */
};
/* The command of this code; NULL: there is none. Static lifetime. */
const struct ftmrz_command *ftmrz_command_find(uint8_t code);
/* For fault=flash-weak: makes a bit of the phrase just programmed read as set. */
void ftmrz_weaken(struct s12z_ftmrz *f);

/* A reset aborted the running command: what it worked on has ECC faults afterwards. */
void ftmrz_cut_short(struct s12z_ftmrz *f);
/* Does the pair (fprot, dfprot) protect every byte that the registers protect now? */
bool ftmrz_at_least_as_protected(const struct s12z_ftmrz *f, uint8_t fprot, uint8_t dfprot);

/* The global address in FCCOB0 and FCCOB1. */
static inline uint32_t ftmrz_address(const struct s12z_ftmrz *f)
{
    return (uint32_t)(f->fccob[0] & 0xFF) << 16 | f->fccob[1];
}
static inline bool ftmrz_special_mode(const struct s12z_ftmrz *f)
{
    return !(f->board->mode & 0x80);
}

#endif
