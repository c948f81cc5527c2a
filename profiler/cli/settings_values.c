/* The table's rows, and how their values are read. */
#include <assert.h>
#include <ctype.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include "probe/base/log.h"
#include "probe/base/options.h"
#include "probe/base/util.h"
#include "profiler/bridge/sampler.h"
#include "profiler/cli/setting_row.h"

static int copy_text(char *to, size_t cap, const char *name, const char *text, struct err *err)
{
    if (!*text)
        return err_set(err, ERR_USAGE, "give it a value", "%s: empty", name);
    if (strlen(text) >= cap)
        return err_set(err, ERR_USAGE, "shorten it", "%s: longer than %zu characters", name,
                       cap - 1);
    strcpy(to, text);
    return 0;
}

/* ---- for any row that says where the value goes ---- */

static void *member_of(const struct setting_value *v) { return (char *)v->s + v->row->at; }

static int read_text(const struct setting_value *v, struct err *err)
{
    return copy_text(member_of(v), v->row->size, v->row->name, v->text, err);
}

static int read_flag(const struct setting_value *v, struct err *err)
{
    int at = 1;
    int ret = 0;
    if (v->text)
        ret = opt_word(v->row->name, v->text, "no yes off on 0 1 false true", &at, err);
    if (ret == 0)
        *(bool *)member_of(v) = at & 1;
    return ret;
}

static int read_count(const struct setting_value *v, struct err *err)
{
    return opt_count(v->row->name, v->text, v->row->least, v->row->most, member_of(v), err);
}

static int read_time(const struct setting_value *v, struct err *err)
{
    return opt_ns(v->row->name, v->text, member_of(v), err);
}

/* The words stand in the order of the member's enum. */
static int read_word(const struct setting_value *v, struct err *err)
{
    int at, ret = opt_word(v->row->name, v->text, v->row->words, &at, err);
    assert(v->row->size == sizeof at);
    if (ret == 0)
        memcpy(member_of(v), &at, sizeof at);
    return ret;
}

/* A list: what has more to say than those that are there replaces them. */
static int read_ranges(const struct setting_value *v, struct err *err)
{
    struct settings_ranges *r = member_of(v);
    if (v->s->origin[setting_id(v->row)] < v->origin)
        r->n = 0;
    if (r->n == TRACE_MAX_RANGES)
        return err_set(err, ERR_USAGE, "name larger ranges", "%s: more than %d ranges",
                       v->row->name, TRACE_MAX_RANGES);
    int ret = copy_text(r->text[r->n], sizeof r->text[0], v->row->name, v->text, err);
    r->n += ret == 0;
    return ret;
}

/* ---- for one row each ---- */

static int read_tree(const struct setting_value *v, struct err *err)
{
    int at = 1;
    int ret = 0;
    if (v->text)
        ret = opt_word("tree", v->text, "no yes off on 0 1 false true up", &at, err);
    if (ret < 0)
        return ret;
    v->s->tree_up = at == 8;
    v->s->tree = v->s->tree_up || at & 1;
    return 0;
}

static int read_start(const struct setting_value *v, struct err *err)
{
    struct settings *s = v->s;
    if (s->origin[SET_START] == v->origin)
        return err_set(err, ERR_USAGE, "one start point, as many stop points as you like",
                       "start: given twice, %s and %s", s->start, v->text);
    return copy_text(s->start, sizeof s->start, "start", v->text, err);
}

static int read_stop(const struct setting_value *v, struct err *err)
{
    struct settings *s = v->s;
    if (s->origin[SET_STOP] < v->origin)
        s->nstops = 0;
    if (s->nstops == TRACE_MAX_STOPS)
        return err_set(err, ERR_USAGE, "use fewer", "stop: more than %d stop points",
                       TRACE_MAX_STOPS);
    int ret = copy_text(s->stop[s->nstops], sizeof s->stop[0], "stop", v->text, err);
    s->nstops += ret == 0;
    return ret;
}

static int read_irq_filter(const struct setting_value *v, struct err *err)
{
    struct settings *s = v->s;
    int at;
    if (!strncmp(v->text, "shinobi:", 8)) {
        s->irq_filter = IRQ_FILTER_SHINOBI;
        return copy_text(s->shinobi_routine, sizeof s->shinobi_routine, "irq-filter shinobi",
                         v->text + 8, err);
    }
    int ret = opt_word("irq-filter", v->text, v->row->words, &at, err);
    if (ret == 0)
        s->irq_filter = (enum irq_filter)at;
    return ret;
}

/* ADDRESS:SIZE, both numbers, size with k or M. */
static int read_agent_ram(const struct setting_value *v, struct err *err)
{
    const char *at = v->text;
    uint64_t base, size;
    if (options_number(&at, 0, &base) && *at++ == ':' && options_number(&at, 0, &size)) {
        unsigned shift = 0;
        if (*at == 'k' || *at == 'K')
            shift = 10;
        if (*at == 'M')
            shift = 20;
        at += shift != 0;
        if (!*at && size && size << shift >> shift == size && size << shift <= 1u << 30 &&
            base <= (1ull << 32) - (size << shift)) {
            v->s->ram_base = base;
            v->s->ram_bytes = (uint32_t)(size << shift);
            return 0;
        }
    }
    return err_set(err, ERR_USAGE, "for example 0x8CF00000:64k",
                   "agent-ram: '%s' is not ADDRESS:SIZE", v->text);
}

/* Elsewhere a wire clock is said in kHz: so low a number without a unit is a mistake. */
enum { SPEED_BARE_LEAST_HZ = 100000 };

static int read_speed(const struct setting_value *v, struct err *err)
{
    unsigned hz = 0;
    char hint[64];
    bool bare = strspn(v->text, "0123456789") == strlen(v->text);
    v->s->speed_auto = !strcmp(v->text, "auto");
    int ret = 0;
    if (!v->s->speed_auto)
        ret = opt_hz("speed", v->text, &hz, err);
    if (ret == -ERR_USAGE && err)
        snprintf(err->hint, sizeof err->hint,
                 "10M, 500k, 1000000 (hertz), or auto: as fast as the wires allow");
    if (ret == 0 && bare && !v->s->speed_auto && hz < SPEED_BARE_LEAST_HZ) {
        snprintf(hint, sizeof hint, "write %sk for kilohertz, %sHz if that is meant", v->text,
                 v->text);
        return err_set(err, ERR_USAGE, hint,
                       "speed: %s without a unit is hertz, which is very slow", v->text);
    }
    if (ret == 0)
        v->s->speed_hz = hz;
    return ret;
}

/* Volts: "3.3", "5V"; the supplies of parts are between 1 and 6. */
static int read_voltage(const struct setting_value *v, struct err *err)
{
    char *end;
    double volts = strtod(v->text, &end);
    if ((!isdigit((unsigned char)*v->text) && *v->text != '.') || end == v->text ||
        (*end && strcmp(end, "V") && strcmp(end, "v")) || !(volts >= 1 && volts <= 6))
        return err_set(err, ERR_USAGE, "volts, for example 3.3",
                       "voltage: '%s' is not a number between 1 and 6", v->text);
    v->s->voltage_mv = (unsigned)(volts * 1000 + 0.5);
    return 0;
}

static int read_rate(const struct setting_value *v, struct err *err)
{
    unsigned hz = 0;
    bool is_0 = strtod(v->text, NULL) == 0 && strspn(v->text, "0.");
    if (is_0)
        return err_set(err, ERR_USAGE, "1 to 1M looks a second; 1k if not given",
                       "rate: %s: that would never look", v->text);
    int ret = opt_hz("rate", v->text, &hz, err);
    if (ret == 0 && hz > SAMPLE_RATE_MAX)
        return err_set(err, ERR_USAGE, "1M is the most", "rate: '%s' is more than any wire can do",
                       v->text);
    if (ret == 0)
        v->s->rate_hz = hz;
    return ret;
}

/* A size, or what opt_ns() takes: 'm' are minutes, 'M' is a million bytes. */
static int read_rotate(const struct setting_value *v, struct err *err)
{
    static const struct {
        const char *unit;
        uint64_t bytes;
    } units[] = { { "k", 1000 }, { "K", 1000 }, { "M", 1000000 }, { "G", 1000000000 } };
    const char *at = v->text;
    uint64_t n, least = 10000, most = 1000000000000;
    unsigned long long ns = 0;
    v->s->rotate_bytes = v->s->rotate_ns = 0;
    if (options_number(&at, 10, &n))
        for (size_t i = 0; i < ARRAY_LEN(units); i++)
            if (!strcmp(at, units[i].unit) && n <= most / units[i].bytes &&
                n * units[i].bytes >= least) {
                v->s->rotate_bytes = n * units[i].bytes;
                return 0;
            }
    if (opt_ns("rotate", v->text, &ns, NULL) == 0 && ns >= 1000000000) {
        v->s->rotate_ns = ns;
        return 0;
    }
    return err_set(err, ERR_USAGE, "a size from 10k on, or a time from 1s on: 100M, 1G, 10m, 1h",
                   "rotate: '%s' is neither", v->text);
}

static int read_save_every(const struct setting_value *v, struct err *err)
{
    unsigned long long ns = 0;
    int ret = opt_ns("save-every", v->text, &ns, err);
    if (ret == 0 && ns < 1000000000)
        return err_set(err, ERR_USAGE, "once a second is the most", "save-every: %s is too often",
                       v->text);
    if (ret == 0)
        v->s->save_ns = ns;
    return ret;
}

/* Words with commas: a bit each, in the order of the row. */
static int read_bits(const struct setting_value *v, unsigned *bits, struct err *err)
{
    char list[128], *rest = NULL;
    int at, ret = copy_text(list, sizeof list, v->row->name, v->text, err);
    unsigned found = 0;
    if (ret < 0)
        return ret;
    for (char *word = strtok_r(list, ",", &rest); word; word = strtok_r(NULL, ",", &rest)) {
        ret = opt_word(v->row->name, word, v->row->words, &at, err);
        if (ret < 0)
            return ret;
        found |= 1u << at;
    }
    if (ret == 0 && !found)
        return err_set(err, ERR_USAGE, v->row->words, "%s: no word", v->row->name);
    if (ret == 0)
        *bits = found;
    return ret;
}

static int read_slice_on(const struct setting_value *v, struct err *err)
{
    return read_bits(v, &v->s->slice_on, err);
}

static int read_log(const struct setting_value *v, struct err *err)
{
    char list[128], *rest = NULL;
    int at, ret = copy_text(list, sizeof list, "log", v->text, err);
    if (ret < 0)
        return ret;
    for (char *word = strtok_r(list, ",", &rest); word; word = strtok_r(NULL, ",", &rest)) {
        ret = opt_word("log", word, v->row->words, &at, err);
        if (ret < 0)
            return ret;
        unsigned subjects = 1u << at;
        if (at == LOG_NSUBJECTS) /* the word behind the last means all of them */
            subjects = (1u << LOG_NSUBJECTS) - 1;
        v->s->log |= subjects;
    }
    return ret;
}

static int read_hits(const struct setting_value *v, struct err *err)
{
    return err_prefix(err, threshold_parse(v->text, &v->s->hits, err), "hits");
}

static int read_sort(const struct setting_value *v, struct err *err)
{
    return err_prefix(err, report_sort_parse(v->text, &v->s->sort, err), "sort");
}

/* ---- the rows ---- */

#define MEMBER(m)             .at = offsetof(struct settings, m), .size = sizeof(((struct settings *)0)->m)
#define FLAG(m)               .read = read_flag, MEMBER(m)
#define TEXT(m)               .read = read_text, MEMBER(m)
#define WORD(m)               .read = read_word, MEMBER(m)
#define TIME(m)               .read = read_time, MEMBER(m)
#define RANGES(m)             .read = read_ranges, MEMBER(m)
#define COUNT(m, first, last) .read = read_count, MEMBER(m), .least = first, .most = last
#define NEGATES(id)           .negates = true, .of = SET_##id

/* clang-format off */
static const struct setting_row rows[] = {
#define SETTING(id, text, letter, arg, members, help, ...) [SET_##id] = { .name = text, __VA_ARGS__ },
#define COMMAND_SETTING SETTING
#include SETTINGS_TABLE
#undef SETTING
#undef COMMAND_SETTING
};
/* clang-format on */

const struct setting_row *setting_row(enum setting id) { return &rows[id]; }

enum setting setting_id(const struct setting_row *row) { return (enum setting)(row - rows); }

const struct setting_row *setting_named(const char *name)
{
    for (size_t i = 0; i < ARRAY_LEN(rows); i++)
        if (!strcmp(rows[i].name, name))
            return &rows[i];
    return NULL;
}

const struct setting_row *setting_negation(enum setting id)
{
    for (size_t i = 0; i < ARRAY_LEN(rows); i++)
        if (rows[i].negates && rows[i].of == id)
            return &rows[i];
    return NULL;
}

bool setting_is_on(const struct settings *s, enum setting id)
{
    return rows[id].read == read_flag && *(const bool *)((const char *)s + rows[id].at);
}
