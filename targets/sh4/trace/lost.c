/* Lost sessions: what each session leaves in the agent's RAM so that the next can undo it, and how
 * it is undone. At whatever moment the wire was cut, the program runs on exactly where it was, with
 * its own code, vectors and registers. */
#include <stdlib.h>
#include <string.h>

#include "probe/base/util.h"
#include "targets/sh4/agent/trace_blob.h"
#include "targets/sh4/isa/isa.h"
#include "targets/sh4/isa/regs.h"
#include "targets/sh4/trace/trace.h"

enum { NOTE_BYTES = 32 };
#define LARGER_NOTE ((SH4_TRACE_RAM_TOP - NOTE_BYTES) | 0x80000000u)

/* ---- where notes are ---- */

static uint32_t note_in(const struct sh4_target *t, uint32_t at, uint32_t bytes)
{
    sh4_trace_usable_ram(t, &at, &bytes);
    return (at + NOTE_BYTES - 1) & ~(uint32_t)(NOTE_BYTES - 1);
}

uint32_t sh4_trace_note_at(const struct sh4_trace *tr)
{
    const struct sh4_target *t = tr->t;
    if (tr->request.larger)
        return LARGER_NOTE;
    if (tr->cfg.ram_bytes)
        return note_in(t, (uint32_t)tr->cfg.ram_base, tr->cfg.ram_bytes);
    return note_in(t, t->opt.agent_ram, t->opt.agent_ram_bytes);
}

int sh4_trace_leave_note(struct sh4_trace *tr, bool on, struct err *err)
{
    uint32_t at = sh4_trace_note_at(tr);
    if (tr->plan.base == at)
        return 0; /* the agent itself is there */
    int ret = sh4_agent_poke(tr->t, at + 4, 4, tr->plan.base, err);
    if (ret == 0) /* each store whole or not at all, this one last */
        ret = sh4_agent_poke(tr->t, at, 4, on ? SH4_TRACE_ELSEWHERE : 0, err);
    if (ret < 0)
        return ret;
    return sh4_agent_sync_caches(tr->t, at, NOTE_BYTES, err);
}

/* ---- patches and vectors ---- */

/* The TRAPA, or the twin of an instruction that reads or writes VBR. */
static bool is_ours(uint32_t insn, uint16_t orig)
{
    return insn == SH4_TRACE_TRAP || (insn && insn == sh4_dbr_twin(orig));
}

/* Undoes pairs of an address and (what stands there << 16 | original), as many as are readable.
 * Only what is still ours is put back: what the program has written since is its own. */
static int undo_pairs(struct sh4_target *t, const uint32_t *pair, size_t n, uint32_t *lo,
                      uint32_t *hi, struct err *err)
{
    struct sh4_trace_half *half = calloc(n, sizeof *half);
    size_t k = 0;
    if (!half)
        return err_set(err, ERR_NOMEM, "close other programs",
                       "patches of a lost session: out of memory");
    for (size_t i = 0; i < n; i++) {
        uint32_t addr = pair[2 * i];
        if (!is_ours(pair[2 * i + 1] >> 16, (uint16_t)pair[2 * i + 1]) || addr & 1)
            continue;
        *lo = MIN(*lo, addr & ~31u);
        *hi = MAX(*hi, addr + 2);
        half[k++] = (struct sh4_trace_half){ .addr = addr, .value = (uint16_t)pair[2 * i + 1] };
    }
    int ret = 0;
    if (*lo < *hi)
        ret = sh4_agent_sync_caches(t, *lo, *hi - *lo, err);
    if (ret == 0)
        ret = sh4_trace_read_halves(t, half, k, err);
    size_t still = 0;
    for (size_t i = 0; ret == 0 && i < k; i++)
        if (half[i].readable && is_ours(half[i].there, half[i].value))
            half[still++] = half[i];
    if (ret == 0)
        ret = sh4_trace_write_halves(t, half, still, err);
    free(half);
    return ret;
}

/* The agent of a stale session says where its list is. */
static int undo_list(struct sh4_target *t, uint32_t list, uint32_t count, struct err *err)
{
    enum { PART = 4096 };
    uint32_t *pair = malloc(PART * 8), lo = UINT32_MAX, hi = 0;
    int ret = 0;
    if (!pair)
        ret = err_set(err, ERR_NOMEM, "close other programs",
                      "patches of a lost session: out of memory");
    for (uint32_t done = 0, n; ret == 0 && done < count; done += n) {
        n = MIN(count - done, (uint32_t)PART);
        ret = sh4_agent_read(t, list + 8 * done, 4, pair, 2 * (size_t)n, err);
        if (ret == 0)
            ret = undo_pairs(t, pair, n, &lo, &hi, err);
    }
    free(pair);
    /* The session was cut between the stores and the sweep over the caches: the old instructions
     * may be where no fetch sees them. */
    if (ret == 0 && lo < hi)
        return sh4_agent_sync_caches(t, lo, hi - lo, err);
    return ret;
}

/* A list lies behind its agent, and both in the board's RAM. Anything else does not belong to an
 * agent that could still be cleaned up after. */
static bool plausible_list(uint32_t base, uint32_t list, uint32_t count)
{
    /* an area of the bus (SH7750 hardware manual, section 13, Bus State Controller: areas of 64 MB)
     */
    enum { AREA = 64 << 20 };
    uint32_t off = list - base;
    return count == 0 || (off < AREA && off % 4 == 0 && count <= (AREA - off) / 8);
}

static int undo_at(struct sh4_target *t, uint32_t base, struct err *err)
{
    uint32_t head[6], vbr = base, zero = 0;
    int ret = sh4_agent_read(t, base, 4, head, ARRAY_LEN(head), err);
    if (ret < 0)
        return ret;
    if (head[0] != SH4_TRACE_MAGIC || head[1] != SH4_TRACE_VERSION ||
        !plausible_list(base, head[2], head[3]))
        return 0;
    sh4_stale_session_found(t); /* a debugger's breakpoints, too, if it had any */
    ret = undo_list(t, head[2], head[3], err);
    if (ret == 0) /* its list has them, too */
        ret = sh4_image_check(t, err);
    if (ret == 0)
        ret = sh4_trace_slots_leave(t, base, err);
    if (ret == 0 && !t->plug.asked)
        ret = sh4_trace_meant_left(t, base, err);
    /* its vectors are still installed: the program's own are in DBR */
    if (ret == 0 && t->regs.prog_vbr == vbr)
        sh4_program_vbr_is(t, t->regs.save[SH4_SAVE_DBR]);
    /* channel A stepped ROM for the session that was lost */
    sh4_ubc_program_has_none(t);
    /* else a halt's interrupt still pending would reach the program */
    if (ret == 0 && head[5] >> 16 == 1)
        ret = sh4_agent_poke(t, SH4_IPRC, 2, head[5] & 0xFFFF, err);
    if (ret == 0)
        ret = sh4_trace_release_vectors(t, err); /* the next session can no longer tell */
    if (ret == 0)
        ret = sh4_agent_poke(t, base, 4, zero, err);
    if (ret < 0)
        return ret;
    return 1;
}

/* Sets the save area to what it is when the program runs without us. VBR comes before DBR: if the
 * wire is cut in between, VBR is right already. */
int sh4_trace_release_vectors(struct sh4_target *t, struct err *err)
{
    int ret = sh4_saved_store(t, SH4_SAVE_VBR, t->regs.prog_vbr, err);
    if (ret < 0)
        return ret;
    return sh4_saved_store(t, SH4_SAVE_DBR, t->regs.prog_dbr, err);
}

/* Patches may be in memory although VBR is not the agent's: the wire was cut while arming or
 * disarming. */
static int clean_by_note(struct sh4_target *t, uint32_t at, struct err *err)
{
    uint32_t words[3] = { 0, 0, 0 };
    int ret = sh4_agent_try_read(t, at, 4, words, 3, err);
    if (ret <= 0)
        return ret; /* 0: no RAM there */
    if (words[0] == SH4_TRACE_MAGIC)
        return undo_at(t, at, err);
    if (words[0] == SH4_TRACE_PROBE && words[1] >> 29 == 5 && words[1] % 2 == 0 &&
        words[2] >> 16 == 0)
        ret = sh4_agent_poke(t, words[1], 2, words[2], err);
    else if (words[0] == SH4_TRACE_ELSEWHERE && words[1] % NOTE_BYTES == 0 && words[1] >> 30 == 2)
        ret = undo_at(t, words[1], err);
    else
        return 0;
    if (ret < 0)
        return ret;
    return sh4_agent_poke(t, at, 4, 0, err);
}

int sh4_trace_clean_stale(struct sh4_target *t, bool search, struct err *err)
{
    uint32_t lo = t->opt.agent_ram & ~31u, vbr = t->regs.prog_vbr;
    enum { STEP = 32, SPAN = 16384 };
    uint32_t end = lo + MIN((uint32_t)SPAN, t->opt.agent_ram_bytes), at;
    if (vbr >> 30 == 2 && (vbr & 31) == 0) { /* most likely the session's VBR itself */
        uint32_t magic = 0;
        int ret = sh4_agent_try_read(t, vbr, 4, &magic, 1, err);
        if (ret < 0)
            return ret;
        if (ret > 0 && magic == SH4_TRACE_MAGIC)
            return undo_at(t, vbr, err);
    }
    if (!search) {
        int ret = clean_by_note(t, note_in(t, t->opt.agent_ram, t->opt.agent_ram_bytes), err);
        if (ret)
            return ret;
        return clean_by_note(t, LARGER_NOTE, err);
    }
    int ret = 0;
    while (ret == 0 && lo < end &&
           (ret = sh4_agent_find(t, lo, (end - lo + STEP - 1) / STEP, SH4_TRACE_MAGIC, &at, err)) >
               0) {
        ret = undo_at(t, at, err);
        lo = at + STEP;
    }
    return ret;
}

/* ---- registers ---- */

int sh4_trace_take_over_agent(struct sh4_target *t, struct err *err)
{
    uint32_t base = t->regs.save[SH4_SAVE_VBR], words[16], ext[16];
    uint32_t magic = 0;
    int ret = sh4_agent_peek(t, base, 4, &magic, err);
    if (ret < 0 || magic != SH4_TRACE_MAGIC)
        return ret;
    ret = sh4_agent_read(t, base + sh4_trace_blob.save, 4, words, ARRAY_LEN(words), err);
    if (ret == 0)
        ret = sh4_agent_read(t, base + sh4_trace_blob.ext, 4, ext, ARRAY_LEN(ext), err);
    if (ret < 0)
        return ret;
    for (unsigned i = 0; i < 4; i++) /* the others are as they were */
        sh4_bank_set(t, 1, i, words[SH4_TRACE_S_R0 + i]);
    sh4_interrupted_at(t, ext[SH4_TRACE_X_SPC], ext[SH4_TRACE_X_SPC + 1], ext[SH4_TRACE_X_SPC + 2]);
    sh4_program_vbr_is(t, t->regs.save[SH4_SAVE_DBR]);
    ret = undo_at(t, base, err);
    if (ret < 0)
        return ret;
    return 0;
}

/* The halted program as one record. Calibration runs on the CPU in its place: were the wire cut
 * then, nobody else knew. Behind the registers (driver/for_trace.h): CCR. */
enum { K_CCR = SH4_REC_WORDS, K_WORDS };
_Static_assert(SH4_TRACE_H_KEPT + 4 + 4 * K_WORDS <= 0x100,
               "the record reaches the agent's vector");
_Static_assert((int)K_WORDS == (int)SH4_TRACE_KEPT_WORDS, "the record's size");

static int entry_is(struct sh4_target *t, uint32_t kind, struct err *err)
{
    return sh4_saved_store(t, SH4_SAVE_KIND, kind, err);
}

int sh4_trace_keep(struct sh4_trace *tr, struct err *err)
{
    struct sh4_target *t = tr->t;
    const uint32_t at = tr->plan.base + SH4_TRACE_H_KEPT;
    uint32_t ccr;
    int ret = sh4_agent_peek(t, SH4_CCR, 4, &ccr, err);
    if (ret < 0)
        return ret;
    sh4_regs_to_record(t, tr->aside.words);
    tr->aside.words[K_CCR] = ccr;
    ret = sh4_agent_poke(t, at, 4, 0, err);
    if (ret == 0)
        ret = sh4_agent_write(t, at + 4, 4, tr->aside.words, K_WORDS, err);
    if (ret < 0)
        return ret;
    tr->aside.displaced = true;
    /* valid as long as the kernel says so, or stands where the loop is */
    ret = entry_is(t, SH4_TRACE_KEPT, err);
    if (ret < 0)
        return ret;
    return sh4_agent_poke(t, at, 4, SH4_TRACE_KEPT, err);
}

/* The record holds until the last word is in the save area again. seen: what is there now is known.
 */
static int restore_program(struct sh4_target *t, const uint32_t *k, uint32_t base, bool seen,
                           struct err *err)
{
    int ret = entry_is(t, SH4_TRACE_KEPT, err);
    sh4_regs_from_record(t, k);
    sh4_saved_set(t, SH4_SAVE_KIND, SH4_TRACE_KEPT);
    if (!seen)
        sh4_regs_unseen(t);
    if (ret == 0)
        ret = sh4_regs_store(t, err);
    if (ret == 0)
        ret = sh4_agent_poke(t, base + SH4_TRACE_H_KEPT, 4, 0, err);
    if (ret < 0)
        return ret;
    return entry_is(t, SH4_ENTRY_ASE, err);
}

int sh4_trace_put_back(struct sh4_trace *tr, bool seen, struct err *err)
{
    int ret = restore_program(tr->t, tr->aside.words, tr->plan.base, seen, err);
    tr->aside.displaced = ret < 0;
    return ret;
}

/* The caches as the program had them: switched on for the measurement only, they may hold what
 * memory does not. */
static int restore_caches(struct sh4_target *t, uint32_t base, uint32_t ccr, struct err *err)
{
    enum { SPAN = 64 << 10 };
    uint32_t now;
    int ret = sh4_agent_peek(t, SH4_CCR, 4, &now, err);
    if (ret < 0 || now == ccr)
        return ret;
    ret = sh4_agent_sync_caches(t, base, SPAN, err);
    if (ret < 0)
        return ret;
    return sh4_trace_set_ccr(t, ccr, err);
}

static int restore_at(struct sh4_target *t, uint32_t base, struct err *err)
{
    uint32_t mark[2], k[K_WORDS], at = base + SH4_TRACE_H_KEPT;
    bool ours = t->regs.save[SH4_SAVE_KIND] == SH4_TRACE_KEPT ||
                t->regs.save[SH4_SAVE_SPC] - base < sh4_trace_blob.size;
    int ret = sh4_agent_read(t, base, 4, mark, 2, err);
    if (ret < 0 || mark[0] != SH4_TRACE_MAGIC || mark[1] != SH4_TRACE_VERSION)
        return ret;
    ret = sh4_agent_peek(t, at, 4, &mark[0], err);
    if (ret < 0 || mark[0] != SH4_TRACE_KEPT)
        return ret;
    /* else of a program that is long gone */
    if (ours)
        ret = sh4_agent_read(t, at + 4, 4, k, K_WORDS, err);
    else
        ret = 0;
    if (ret == 0 && ours)
        ret = restore_caches(t, base, k[K_CCR], err);
    if (ret < 0)
        return ret;
    if (ours)
        return restore_program(t, k, base, true, err);
    return sh4_agent_poke(t, at, 4, 0, err);
}

int sh4_trace_restore_kept(struct sh4_target *t, struct err *err)
{
    const uint32_t note[] = { note_in(t, t->opt.agent_ram, t->opt.agent_ram_bytes), LARGER_NOTE };
    uint32_t vbr = t->regs.save[SH4_SAVE_VBR], words[2];
    int ret = 0;
    if (vbr >> 30 == 2 && vbr % NOTE_BYTES == 0)
        ret = sh4_agent_try_read(t, vbr, 4, words, 1, err);
    if (ret > 0 && words[0] == SH4_TRACE_MAGIC)
        return restore_at(t, vbr, err);
    ret = MIN(ret, 0);
    for (size_t i = 0; ret == 0 && i < ARRAY_LEN(note); i++) {
        ret = sh4_agent_try_read(t, note[i], 4, words, 2, err);
        if (ret > 0 && words[0] == SH4_TRACE_MAGIC)
            ret = restore_at(t, note[i], err);
        else if (ret > 0 && words[0] == SH4_TRACE_ELSEWHERE && words[1] % NOTE_BYTES == 0 &&
                 words[1] >> 30 == 2)
            ret = restore_at(t, words[1], err);
        else
            ret = MIN(ret, 0);
    }
    return ret;
}
