#include "profiler/cli/run_monitor_reg.h"

#include <string.h>

#include "probe/base/bytes.h"
#include "probe/base/choice.h"
#include "probe/base/options.h"
#include "probe/base/util.h"
#include "profiler/core/svd.h"

#define USAGE "reg PERIPHERAL.REGISTER[.FIELD] [VALUE] [anyway]"

/* What one command is about. */
struct look {
    struct run *r;
    const struct svd *svd;
    struct svd_register reg;
    struct svd_field field;
    bool has_field, anyway;
    uint32_t value; /* of the register */
    const struct text_sink *out;
};

/* ---- the wire ---- */

static int read_value(struct look *k, struct err *err)
{
    uint8_t b[4] = { 0 };
    struct target *t = k->r->target;
    unsigned bytes = k->reg.bits / 8;
    int ret = t->ops->read_mem(t, k->reg.addr, bytes, b, bytes, err);
    if (ret < 0)
        return err_prefix(err, ret, k->reg.name);
    k->value = b[0];
    if (bytes == 2)
        k->value = get16(b, t->big_endian);
    else if (bytes == 4)
        k->value = get32(b, t->big_endian);
    return 0;
}

static int write_value(struct look *k, uint32_t value, struct err *err)
{
    uint8_t b[4] = { (uint8_t)value };
    struct target *t = k->r->target;
    unsigned bytes = k->reg.bits / 8;
    if (bytes == 4)
        put32(b, value, t->big_endian);
    else if (bytes == 2)
        put16(b, (uint16_t)value, t->big_endian);
    return err_prefix(err, t->ops->write_mem(t, k->reg.addr, bytes, b, bytes, err), k->reg.name);
}

/* ---- reading ---- */

static uint32_t field_mask(const struct svd_field *f)
{
    return (uint32_t)(((uint64_t)1 << f->width) - 1) << f->lsb;
}

static int note_changing(void *ctx, const struct svd_field *f, struct err *err)
{
    (void)err;
    *(bool *)ctx |= f->access.read_changes;
    return 0;
}

/* A field that changes by being read is read with the whole register. */
static bool read_changes(const struct look *k)
{
    bool changes = k->reg.access.read_changes;
    struct err err;
    svd_each_field(k->svd, &k->reg, note_changing, &changes, &err);
    return changes;
}

static int may_read(const struct look *k, struct err *err)
{
    bool readable = k->reg.access.read && (!k->has_field || k->field.access.read);
    if (!readable)
        return err_set(err, ERR_UNSUPPORTED, "give a value to write the whole register",
                       "%s is write-only", k->reg.name);
    if (read_changes(k) && !k->anyway)
        return err_set(err, ERR_STATE, "anyway behind it reads all the same",
                       "%s changes when it is read", k->reg.name);
    return 0;
}

static int print_field(void *ctx, const struct svd_field *f, struct err *err)
{
    const struct look *k = ctx;
    uint32_t v = (k->value & field_mask(f)) >> f->lsb;
    const char *name = svd_value_name(k->svd, f, v);
    (void)err;
    if (f->access.read)
        sink_printf(k->out, " %s=%x%s%s%s", f->name, v, text_if(name, "("), text_or(name, ""),
                    text_if(name, ")"));
    return 0;
}

static int show_value(struct look *k, struct err *err)
{
    int ret = may_read(k, err);
    if (ret == 0)
        ret = read_value(k, err);
    if (ret < 0)
        return ret;
    sink_printf(k->out, "%s=", k->reg.name);
    if (!k->has_field) {
        sink_printf(k->out, "%0*x", (int)k->reg.bits / 4, k->value);
        ret = svd_each_field(k->svd, &k->reg, print_field, k, err);
    } else {
        uint32_t v = (k->value & field_mask(&k->field)) >> k->field.lsb;
        const char *name = svd_value_name(k->svd, &k->field, v);
        sink_printf(k->out, "%0*x .%s=%x%s%s%s", (int)k->reg.bits / 4, k->value, k->field.name, v,
                    text_if(name, "("), text_or(name, ""), text_if(name, ")"));
    }
    sink_printf(k->out, "\n");
    return ret;
}

/* ---- writing ---- */

static int parse_value(const struct look *k, const char *text, uint32_t *value, struct err *err)
{
    const char *p = text;
    unsigned bits = k->has_field ? k->field.width : k->reg.bits;
    uint64_t v;
    if (k->has_field && svd_value_named(k->svd, &k->field, text, value))
        return 0;
    if (!options_number(&p, 0, &v) || *p)
        return err_set(err, ERR_USAGE, "a number as in C, or a name that the SVD file has for it",
                       "reg: %s is no value", text);
    if (v >> bits)
        return err_set(err, ERR_USAGE, "give a number that fits", "%s%s%s has %u bits: %s",
                       k->reg.name, text_if(k->has_field, "."),
                       text_if(k->has_field, k->field.name), bits, text);
    *value = (uint32_t)v;
    return 0;
}

/* What the other bits are to be written as, so that nothing happens to them. */
struct others {
    uint32_t mask, zeros, ones;
    bool any;
};

static int note_other(void *ctx, const struct svd_field *f, struct err *err)
{
    struct others *o = ctx;
    uint32_t m = field_mask(f) & ~o->mask;
    (void)err;
    if (f->writes == SVD_WRITE_ONE_ACTS)
        o->zeros |= m;
    else if (f->writes == SVD_WRITE_ZERO_ACTS)
        o->ones |= m;
    o->any |= f->writes == SVD_WRITE_ANY_ACTS && m;
    return 0;
}

static int write_field(struct look *k, uint32_t v, struct err *err)
{
    struct others o = { .mask = field_mask(&k->field) };
    int ret = svd_each_field(k->svd, &k->reg, note_other, &o, err);
    if (ret == 0)
        ret = may_read(k, err);
    if (ret < 0)
        return ret;
    if (o.any)
        return err_set(err, ERR_UNSUPPORTED, "write the whole register",
                       "%s has other fields that any write changes", k->reg.name);
    if ((ret = read_value(k, err)) < 0)
        return ret;
    uint32_t rest = (k->value & ~o.mask & ~o.zeros) | o.ones;
    return write_value(k, rest | v << k->field.lsb, err);
}

static int set_value(struct look *k, const char *text, struct err *err)
{
    uint32_t v;
    bool writable = k->reg.access.write && (!k->has_field || k->field.access.write);
    int ret = parse_value(k, text, &v, err);
    if (ret < 0)
        return ret;
    if (!writable)
        return err_set(err, ERR_UNSUPPORTED, "", "%s%s%s is read-only", k->reg.name,
                       text_if(k->has_field, "."), text_if(k->has_field, k->field.name));
    if (k->has_field)
        ret = write_field(k, v, err);
    else
        ret = write_value(k, v, err);
    if (ret < 0)
        return ret;
    if (may_read(k, &(struct err){ 0 }) == 0)
        return show_value(k, err);
    sink_printf(k->out, "%s was written\n", k->reg.name);
    return 0;
}

/* ---- lists ---- */

static int list_register(void *ctx, const struct svd_register *r, struct err *err)
{
    static const char *const words[2][2] = { { "none", "write-only" }, { "read-only", "" } };
    const struct text_sink *out = ctx;
    (void)err;
    sink_printf(out, "%-24s %08llx %2u %s%s %.*s\n", r->name, (unsigned long long)r->addr, r->bits,
                words[r->access.read][r->access.write],
                text_if(r->access.read_changes, " changes when read"),
                (int)strcspn(r->text, "\r\n"), r->text);
    return 0;
}

/* ---- the command ---- */

static const struct monitor_command *own_reg(const struct run *r)
{
    const struct monitor_command *c = r->target->ops->monitor;
    while (c && c->name && strcmp(c->name, "reg"))
        c++;
    if (c && c->name)
        return c;
    return NULL;
}

static int run_svd(struct run *r, int argc, char **argv, const struct text_sink *out,
                   struct err *err)
{
    struct look k = { .r = r, .svd = r->svd, .out = out };
    k.anyway = argc > 2 && !strcmp(argv[argc - 1], "anyway");
    argc -= k.anyway;
    if (argc > 3)
        return err_set(err, ERR_USAGE, USAGE, "reg: too many words");
    int ret = svd_find(r->svd, argv[1], &k.reg, &k.field, &k.has_field, err);
    if (ret < 0)
        return ret;
    if (argc == 3)
        return set_value(&k, argv[2], err);
    return show_value(&k, err);
}

int run_monitor_reg(void *ctx, int argc, char **argv, const struct text_sink *out, struct err *err)
{
    struct run *r = ctx;
    const struct monitor_command *own = own_reg(r);
    if (argc > 1 && strchr(argv[1], '.')) {
        if (r->svd)
            return run_svd(r, argc, argv, out, err);
        return err_set(err, ERR_STATE, "start probeprof with --svd FILE, a CMSIS-SVD file",
                       "%s: registers of peripherals are not known", argv[1]);
    }
    int ret = -ERR_NOT_FOUND;
    if (own)
        ret = own->run(r->target, argc, argv, out, err);
    else
        err_set(err, ERR_NOT_FOUND, USAGE, "reg: this target names no registers");
    if (ret != -ERR_NOT_FOUND || argc != 2 || !r->svd || !svd_has_peripheral(r->svd, argv[1]))
        return ret;
    return svd_each_register(r->svd, argv[1], list_register, (void *)(uintptr_t)out, err);
}
