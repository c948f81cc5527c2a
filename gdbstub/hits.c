#include "gdbstub/hits.h"

#include <stdio.h>
#include <string.h>

#include "gdbstub/reply.h"
#include "gdbstub/stub.h"

/* The text of commands goes to GDB in few packets. */
struct hit {
    struct stub *stub;
    char text[1024];
    size_t len;
};

static int read_reg_number(void *ctx, unsigned n, uint64_t *value, struct err *err)
{
    struct stub *stub = ((struct hit *)ctx)->stub;
    int ret = stub_read_reg(stub, n, err);
    if (ret < 0)
        return ret;
    if (stub->reg_state[n] != REG_VALID)
        return err_set(err, ERR_NOT_FOUND, "", "register %u does not exist", n);
    *value = stub_reg_number(stub, n);
    return 0;
}

static int read_target(void *ctx, uint64_t addr, uint8_t *buf, size_t len, struct err *err)
{
    const struct stub *stub = ((struct hit *)ctx)->stub;
    return stub->ops->read_mem(stub->t, addr, 0, buf, len, err);
}

void hits_tell(struct stub *stub)
{
    struct buffer *b = &stub->kept_text;
    if (!stub->controller || !session_hears(stub->controller))
        return;
    console_write(stub->controller, b->data, b->size);
    if (b->failed)
        console_print(stub->controller, "(more text of commands was lost)\n");
    b->size = 0;
    b->failed = false;
}

static void send_text(struct hit *hit)
{
    buffer_add(&hit->stub->kept_text, hit->text, hit->len);
    hit->len = 0;
    hits_tell(hit->stub);
}

static void collect_text(void *ctx, const char *text, size_t len)
{
    struct hit *hit = ctx;
    while (len > 0) {
        size_t n = MIN(len, sizeof hit->text - hit->len);
        memcpy(hit->text + hit->len, text, n);
        hit->len += n;
        text += n;
        len -= n;
        if (hit->len == sizeof hit->text)
            send_text(hit);
    }
}

static bool is_here(const struct stub *stub, const struct breakpoint *b, uint64_t pc)
{
    return b->kind <= BP_HARD && !b->leaving &&
           stub->ops->canonical(b->addr) == stub->ops->canonical(pc);
}

static void say_failure(struct stub *stub, const struct breakpoint *b, const struct err *why)
{
    char text[sizeof why->what + 64];
    if (b->actions.commands) {
        snprintf(text, sizeof text, "Commands at 0x%llx: %s\n", (unsigned long long)b->addr,
                 why->what);
        if (stub->controller)
            session_say(stub->controller, text);
    } else {
        snprintf(stub->last_stop.text, sizeof stub->last_stop.text, "its condition: %.75s",
                 why->what);
    }
}

static bool is_wanted(struct stub *stub, const struct breakpoint *b)
{
    struct hit hit = { .stub = stub };
    const struct agent_env env = { .read_reg = read_reg_number,
                                   .read_mem = read_target,
                                   .print = collect_text,
                                   .ctx = &hit,
                                   .big_endian = stub->t->big_endian };
    struct err err;
    int ret = actions_stop(&b->actions, &env, &err);
    send_text(&hit);
    if (ret >= 0)
        return ret > 0;
    say_failure(stub, b, &err);
    return b->actions.commands == 0;
}

static bool any_is_wanted(struct stub *stub, uint64_t pc)
{
    bool wanted = false, met = false;
    for (size_t i = 0; i < stub->nbps; i++) {
        if (!is_here(stub, &stub->bps[i], pc))
            continue;
        met = true;
        if (is_wanted(stub, &stub->bps[i]))
            wanted = true;
    }
    return wanted || !met;
}

/* GDB takes breakpoints away before it steps over one, so a breakpoint where the program is to go
 * on has to stop it at once (a `jump` to it). Drivers step over it instead, which is what everybody
 * else wants. */
bool hits_at_once(struct stub *stub, const struct resume *how)
{
    uint64_t pc = how->pc;
    const struct breakpoint *hit = NULL;
    if (stub->nbps == 0 || (!how->set_pc && !stub_read_pc(stub, &pc)))
        return false;
    for (size_t i = 0; i < stub->nbps && !hit; i++)
        if (is_here(stub, &stub->bps[i], pc))
            hit = &stub->bps[i];
    if (!hit || (how->set_pc && stub_write_pc(stub, pc, NULL) < 0))
        return false;
    stub->last_stop = (struct target_stop){
        .reason = hit->kind == BP_SOFT ? STOP_SWBREAK : STOP_HWBREAK, .pc = pc, .signal = 5
    };
    return any_is_wanted(stub, pc);
}

int hits_go_on(struct stub *stub, struct err *err)
{
    struct resume how = stub->last_resume;
    if (hits_at_once(stub, &how))
        return 0;
    int ret = stub_resume(stub, &how, err);
    if (ret >= 0 && stub->purpose == HALT_SNAPSHOT) /* the stop was another one */
        ret = stub->ops->halt(stub->t, err);
    if (ret < 0)
        return ret;
    return 1;
}

/* What the target was told to do is done where it stands. */
static bool step_is_over(const struct stub *stub, uint64_t pc)
{
    const struct resume *how = &stub->last_resume;
    return how->kind == RESUME_STEP ||
           (how->kind == RESUME_RANGE && !(how->range_lo <= pc && pc < how->range_hi));
}

static int go_on_from_hit(struct stub *stub, struct err *err)
{
    struct resume how = stub->last_resume;
    int ret = stub_resume(stub, &how, err);
    if (ret >= 0 && stub->purpose != HALT_NONE) /* the stop was another one */
        ret = stub->ops->halt(stub->t, err);
    return ret;
}

bool hits_pass(struct stub *stub)
{
    struct target_stop stop = stub->last_stop;
    struct err err;
    if ((stop.reason != STOP_SWBREAK && stop.reason != STOP_HWBREAK) ||
        any_is_wanted(stub, stop.pc))
        return false;
    if (stub->purpose == HALT_USER) {
        stub->last_stop =
            (struct target_stop){ .reason = STOP_REQUEST, .pc = stop.pc, .signal = 2 };
        return false;
    }
    if (step_is_over(stub, stop.pc)) {
        stub->last_stop = (struct target_stop){ .reason = STOP_STEP, .pc = stop.pc, .signal = 5 };
        return false;
    }
    if (go_on_from_hit(stub, &err) >= 0)
        return true;
    log_msg(stub->cfg.log, LOG_RSP, "resume from a breakpoint: %s", err.what);
    stub->last_stop = stop;
    return false;
}
