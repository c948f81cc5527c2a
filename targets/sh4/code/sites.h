/* Site search: finds where a program calls, returns, jumps away and touches VBR, by following
 * control flow in its image, and which of those places may be patched with a TRAPA. Pure: no
 * target, no I/O.
 *
 * A TRAPA executed while SR.BL=1 resets the CPU. So every place that could run that way is found by
 * abstract interpretation, and left alone. Literal pools and tables are never taken for code: only
 * what control flow from function starts reaches counts, and a run that goes into data is dropped.
 */
#ifndef TARGETS_SH4_CODE_SITES_H
#define TARGETS_SH4_CODE_SITES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "probe/base/err.h"
#include "targets/image.h"

enum sh4_site_kind {
    SH4_SITE_JSR,
    SH4_SITE_BSR,
    SH4_SITE_BSRF,
    SH4_SITE_RTS,
    SH4_SITE_JMP,      /* register jump: tail-call candidate */
    SH4_SITE_BRA,      /* BRA out of its function */
    SH4_SITE_BRAF,     /* BRAF out of its function, or with an unknown target */
    SH4_SITE_RTE,      /* never patched: runs with BL=1 */
    SH4_SITE_LDC_VBR,  /* ldc Rm,VBR */
    SH4_SITE_LDCL_VBR, /* ldc.l @Rm+,VBR */
    SH4_SITE_STC_VBR,  /* stc VBR,Rn */
    SH4_SITE_STCL_VBR, /* stc.l VBR,@-Rn */
    SH4_SITE_DBR,      /* the program uses DBR itself */
    SH4_SITE_LDC_SR,   /* ldc Rm,SR; this and the next three only where the agent has to do it */
    SH4_SITE_LDCL_SR,  /* ldc.l @R15+,SR */
    SH4_SITE_STC_SR,   /* stc SR,Rn */
    SH4_SITE_STCL_SR,  /* stc.l SR,@-Rn */
    SH4_SITE_NKINDS
};

enum sh4_untraced {
    SH4_TRACED,            /* may be patched */
    SH4_UNTRACED_BL,       /* may run with SR.BL=1 */
    SH4_UNTRACED_SLOT,     /* a branch leads to its delay slot */
    SH4_UNTRACED_BAD_SLOT, /* its slot holds no instruction that may stand there */
    SH4_UNTRACED_STUB,     /* cannot be executed elsewhere (see stubs.h) */
    SH4_UNTRACED_ROM,      /* not writable memory, and outside what is stepped */
    SH4_UNTRACED_MMU,      /* address translated by the MMU */
    SH4_UNTRACED_OTHER,    /* kind that needs no patch (RTE) */
    /* the agent's table does not reach it (plan.h), or too much is stepped */
    SH4_UNTRACED_LIMIT,
    SH4_UNTRACED_ASKED,   /* left alone on request, or of the agent in the program */
    SH4_UNTRACED_CHANGED, /* the program has replaced the code there since it was armed */
    SH4_UNTRACED_COPIED,  /* the program has copied it elsewhere, and traps would be copied with it
                           */
    SH4_UNTRACED_NREASONS
};

struct sh4_site {
    uint32_t addr;
    uint32_t target; /* static target, if has_target */
    uint16_t opcode, slot;
    uint8_t kind; /* enum sh4_site_kind */
    uint8_t reg;  /* Rn of the register forms, Rm or Rn of the VBR forms */
    uint8_t why;  /* enum sh4_untraced */
    bool has_target;
    /* in memory that takes no patch: traced by user breaks (rom.h), if at all */
    bool stepped;
    bool asks; /* of a return: the agent waits there until the host has looked at the code */
    uint32_t function; /* index into functions */
};

/* SR.BL: clear; set; as at function entry. MEANT: clear, while the program means it to be set or
 * clear, behind an SR load that the agent did. */
enum { SH4_BL_0 = 1, SH4_BL_1 = 2, SH4_BL_ENTRY = 4, SH4_BL_MEANT = 8 };
enum { SH4_NO_FUNCTION = 0xFFFFFFFF };

struct sh4_function {
    uint32_t low, high; /* high: 0 if no symbol gives it */
    const char *name;   /* NULL without a symbol; borrowed from the image */
    bool maybe_blocked; /* may be entered with SR.BL=1 */
    bool maybe_clear;   /* may be entered with SR.BL=0, or it is not known how it is entered */
    bool maybe_meant;   /* may be entered while the program means BL to be set, and it is not */
    bool address_taken;
    /* some way out of it gives no event; filled in by the caller that knows what is traced */
    bool blind;
    bool shown; /* only its running showed it */
    /* no control flow was found that leads there, but a pointer does, and it reads as code */
    bool guessed;
    bool uses_spc;   /* has an RTE or loads SPC or SSR: a trap in between would change them */
    uint8_t exit_bl; /* SH4_BL_* mask at return */
    uint32_t
        blocked_by; /* the function whose call makes it maybe_blocked; SH4_NO_FUNCTION for a root */
    uint32_t unexplored; /* bytes of the symbol's range no control flow reaches */
};

enum { SH4_FOUND_WITHIN = 1 /* of an address: no function begins there, as far as is known */ };

struct sh4_sites_config {
    /* SR.BL at the ELF entry point is or may be 1 (after reset it is) */
    bool entry_blocked;
    const uint32_t *handlers; /* entry points that run with BL=1, e.g. VBR+0x600; may be NULL */
    size_t nhandlers;
    /* places where the program was seen to run, whether the image says that they are code or not, |
     * SH4_FOUND_WITHIN; may be NULL */
    const uint32_t *found;
    size_t nfound;
    const struct image *built; /* the image as it was built, if the one searched is what the program
                                  has changed it into. Functions that begin where it has changed are
                                  no longer known. Its sections are the same ones; may be NULL */
    /* the agent may do loads of SR: what they load need not be known then */
    bool sr_traps;
};

struct sh4_sites {
    struct sh4_site *site; /* by address, each address once */
    size_t nsites;
    struct sh4_function *function;
    size_t nfunctions,
        nreached; /* from nreached on they are of sites that were kept, see sh4_sites_keep() */
    size_t discarded_runs; /* instruction runs that ran into data and were not taken for code */
    uint32_t text_low, text_high; /* range that holds every site; 0,0 if none */
    struct sh4_walk *walk;        /* private: the code map behind sh4_sites_code */
};

enum sh4_code_flag {
    SH4_CODE_INSN = 1 << 0,    /* reached by control flow */
    SH4_CODE_SLOT = 1 << 1,    /* executed as a delay slot */
    SH4_CODE_LITERAL = 1 << 2, /* data read PC-relative, or a switch table */
    SH4_CODE_TARGET = 1 << 3,  /* a branch leads here */
    SH4_CODE_START = 1 << 4    /* function or handler start */
};

/* sh4_sites_find - search an image
 * im    borrowed until sh4_sites_fini()
 * cfg   what is known of the board; may not be NULL
 * out   filled on success; release with sh4_sites_fini()
 * Returns 0; -ERR_NOMEM; -ERR_FORMAT if the image has no code section with contents. */
int sh4_sites_find(const struct image *im, const struct sh4_sites_config *cfg,
                   struct sh4_sites *out, struct err *err);

/* sh4_sites_keep - adds a site of another search, and the function it was in, where this one has no
 * site: it is no longer traced. Sites are not in order until sh4_sites_sort(). Returns 0 or
 * -ERR_NOMEM. */
int sh4_sites_keep(struct sh4_sites *s, const struct sh4_site *site, const struct sh4_function *f);
void sh4_sites_sort(struct sh4_sites *s); /* by address */

/* sh4_sites_fini - NULL members are fine; *s is cleared. */
void sh4_sites_fini(struct sh4_sites *s);

/* sh4_sites_code - enum sh4_code_flag bits of the halfword at addr (any alias); 0 outside code. */
unsigned sh4_sites_code(const struct sh4_sites *s, uint32_t addr);

/* sh4_sites_section - the code section around addr: [*low, *high); false outside. */
bool sh4_sites_section(const struct sh4_sites *s, uint32_t addr, uint32_t *low, uint32_t *high);

/* sh4_sites_opcode - the image's halfword at addr (any alias); false outside code sections. */
bool sh4_sites_opcode(const struct sh4_sites *s, uint32_t addr, uint16_t *opcode);

/* sh4_sites_may_block - true if SR.BL may be 1 when the instruction at addr runs, or addr is no
 * instruction the search reached. */
bool sh4_sites_may_block(const struct sh4_sites *s, uint32_t addr);

/* sh4_sites_must_block - true if SR.BL is 1 whenever the instruction at addr runs: a root with BL=1
 * or what only such code calls, or behind a load of SR that sets it. */
bool sh4_sites_must_block(const struct sh4_sites *s, uint32_t addr);

/* sh4_sites_blind - whether code at addr (any alias) may end without an event: the search did not
 * reach it, or its function is `blind`. */
bool sh4_sites_blind(const struct sh4_sites *s, uint32_t addr);

/* sh4_sites_at - the site at addr (any alias), or NULL. Valid until sh4_sites_fini(). */
const struct sh4_site *sh4_sites_at(const struct sh4_sites *s, uint32_t addr);

/* sh4_site_is_sr - whether it is one of SH4_SITE_LDC_SR .. SH4_SITE_STCL_SR. These give no event,
 * but keep other sites from running with BL=1. */
bool sh4_site_is_sr(enum sh4_site_kind kind);

/* sh4_site_kind_name, sh4_untraced_text - static text, never NULL. */
const char *sh4_site_kind_name(enum sh4_site_kind kind);
const char *sh4_untraced_text(enum sh4_untraced why);

#endif
