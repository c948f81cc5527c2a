/* What a debugger and a profiler would do with a target whose wire answers anything: for fuzzers of
 * drivers. */
#ifndef TESTS_FUZZ_SESSION_H
#define TESTS_FUZZ_SESSION_H

#include "probe/base/util.h"
#include "targets/target.h"

/* code, data: addresses where the target has them. */
struct fuzz_session {
    enum bp_kind bp;
    uint64_t code, data;
};

static inline void fuzz_flash(struct target *t, uint64_t at)
{
    uint8_t buf[40] = { 0 };
    t->ops->flash_erase(t, at, 512, NULL);
    t->ops->flash_write(t, at, buf, sizeof buf, NULL);
    t->ops->flash_done(t, NULL);
}

static inline void fuzz_session(struct target *t, const struct fuzz_session *s)
{
    uint8_t buf[64] = { 0 }, reg[8] = { 0 };
    struct target_stop stop;
    struct counter_values counters;
    uint64_t pc;
    if (t->ops->attach(t, NULL) < 0)
        return;
    t->ops->halt(t, NULL);
    t->ops->poll(t, 10000000, &stop, NULL);
    for (unsigned n = 0; n < 4; n++)
        t->ops->read_reg(t, n, reg, NULL);
    t->ops->write_reg(t, t->ops->pc_reg, reg, NULL);
    t->ops->read_mem(t, s->data + 1, 0, buf, sizeof buf, NULL);
    t->ops->write_mem(t, s->data + 2, 0, buf, 7, NULL);
    t->ops->insert_bp(t, s->bp, s->code, t->ops->bp_size, NULL);
    t->ops->insert_bp(t, BP_WATCH_WRITE, s->data, 2, NULL);
    t->ops->resume(t, &(struct resume){ .kind = RESUME_STEP }, NULL);
    t->ops->poll(t, 10000000, &stop, NULL);
    if (t->ops->flash_erase)
        fuzz_flash(t, s->code);
    t->ops->resume(t, &(struct resume){ .kind = RESUME_CONTINUE }, NULL);
    if (t->ops->sample_pc)
        t->ops->sample_pc(t, &pc, NULL);
    if (t->ops->counters_read)
        t->ops->counters_read(t, &counters, NULL);
    t->ops->poll(t, 10000000, &stop, NULL);
    t->ops->reset(t, RESET_HALT, NULL);
    t->ops->detach(t, NULL);
}

/* stats() of a probe that counts one thing. */
static inline void fuzz_stats(uint64_t n, uint64_t *a, uint64_t *b, uint64_t *c)
{
    uint64_t *const out[] = { a, b, c };
    for (size_t i = 0; i < ARRAY_LEN(out); i++)
        if (out[i])
            *out[i] = n;
}

#endif
