/* Asks every driver for its adapters, and finds the one that --probe means. */
#include "probe/adapter.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "probe/base/choice.h"
#include "probe/base/util.h"
#include "probe/probe.h"

enum { MAX_NAMED = 4 };

/* ---- the list ---- */

/* Rows of one driver: "1-2" before "1-10", channels as they are. */
static int by_place(const void *a, const void *b)
{
    const struct adapter *x = a, *y = b;
    int order = strverscmp(x->bus_path, y->bus_path);
    if (order)
        return order;
    return strcmp(x->channel, y->channel);
}

int adapters_find(bool open, struct adapter_list *out, struct err *err)
{
    *out = (struct adapter_list){ 0 };
    for (const struct probe_driver *const *d = probe_drivers(); *d; d++) {
        struct adapter trouble = { .driver = *d };
        size_t before = out->n;
        int ret = 0;
        if ((*d)->list)
            ret = (*d)->list(open, out, &trouble.problem);
        if (out->n > before + 1)
            qsort(out->row + before, out->n - before, sizeof *out->row, by_place);
        if (ret < 0)
            ret = adapter_list_add(out, &trouble, err);
        if (ret < 0) {
            adapter_list_free(out);
            return ret;
        }
    }
    return (int)out->n;
}

int adapters_scan(struct adapter_list *list, struct err *err)
{
    for (const struct probe_driver *const *d = probe_drivers(); *d; d++) {
        struct adapter trouble = { .driver = *d };
        int ret = 0;
        if ((*d)->scan)
            ret = (*d)->scan(list, &trouble.problem);
        if (ret < 0)
            ret = adapter_list_add(list, &trouble, err);
        if (ret < 0)
            return ret;
    }
    return (int)list->n;
}

/* ---- specs ---- */

static int put_part(const char *part, char *to, size_t cap, const char *from, size_t n,
                    struct err *err)
{
    if (n >= cap)
        return err_set(err, ERR_USAGE, "`probeprof list` shows what to write",
                       "--probe: the %s is too long: '%.40s...'", part, from);
    memcpy(to, from, n);
    to[n] = 0;
    return 0;
}

/* SERIAL, @BUS-PATH or nothing, then :CHANNEL. */
static int parse_place(const char *text, size_t n, struct adapter_spec *s, struct err *err)
{
    const char *colon = memchr(text, ':', n);
    size_t first = n;
    int ret;
    if (colon)
        first = (size_t)(colon - text);
    bool path = first && text[0] == '@';
    if (path)
        ret = put_part("bus path", s->bus_path, sizeof s->bus_path, text + 1, first - 1, err);
    else
        ret = put_part("serial number", s->serial, sizeof s->serial, text, first, err);
    if (path && first == 1)
        return err_set(err, ERR_USAGE, "for example @1-2.3; `probeprof list` shows it",
                       "--probe: nothing after '@'");
    if (ret == 0 && colon)
        ret = put_part("channel", s->channel, sizeof s->channel, colon + 1, n - first - 1, err);
    return ret;
}

int adapter_spec_parse(const char *spec, struct adapter_spec *out, struct err *err)
{
    struct adapter_spec s = { 0 };
    size_t head = strcspn(spec, ",");
    const char *rest = spec + head;
    int ret = 0;
    if (*rest)
        rest++; /* behind the comma */
    if (memchr(spec, '=', head))
        rest = spec;
    else
        ret = parse_place(spec, head, &s, err);
    if (ret == 0)
        ret = put_part("options", s.options, sizeof s.options, rest, strlen(rest), err);
    if (ret == 0)
        *out = s;
    return ret;
}

/* ---- choosing ---- */

/* A driver that failed instead of listing. */
static bool is_trouble(const struct adapter *a) { return !*a->serial && !*a->bus_path; }

static bool same_device(const struct adapter *a, const struct adapter *b)
{
    return a->driver == b->driver && !strcmp(a->serial, b->serial) &&
           !strcmp(a->bus_path, b->bus_path);
}

/* J-Links print their number without the zeros it has on USB. */
static bool same_serial(const char *a, const char *b)
{
    return !strcmp(a + strspn(a, "0"), b + strspn(b, "0"));
}

static bool is_named(const struct adapter_spec *s) { return *s->serial || *s->bus_path; }

/* Whether the row is of the driver that was named. If none was, it has to be of one that finds
 * its adapters by itself. */
static bool is_of_driver(const struct adapter *a, const char *driver)
{
    if (driver)
        return !strcmp(driver, a->driver->name);
    return !a->driver->own_spec;
}

static bool is_meant(const struct adapter *a, const char *driver, const struct adapter_spec *s)
{
    if (is_trouble(a) || !is_of_driver(a, driver))
        return false;
    if (!driver && a->doubtful)
        return false;
    if (!driver && s->need && !(a->can & s->need))
        return false;
    return (a->can || is_named(s)) && (!*s->serial || same_serial(s->serial, a->serial)) &&
           (!*s->bus_path || !strcmp(s->bus_path, a->bus_path)) &&
           (!*s->channel || !strcasecmp(s->channel, a->channel));
}

static bool ambiguous_serial(const struct adapter_list *list, size_t row)
{
    const struct adapter *a = &list->row[row];
    for (size_t i = 0; i < list->n; i++)
        if (a->driver == list->row[i].driver && same_serial(a->serial, list->row[i].serial) &&
            !same_device(a, &list->row[i]))
            return true;
    return !*a->serial || *a->serial == '@' || strpbrk(a->serial, ":,=") != NULL;
}

void adapter_name(const struct adapter_list *list, size_t row, char *out, size_t cap)
{
    const struct adapter *a = &list->row[row];
    bool place = ambiguous_serial(list, row), at = place && !a->driver->own_spec;
    snprintf(out, cap, "%s:%s%s%s%s", a->driver->name, text_if(at, "@"),
             place ? a->bus_path : a->serial, text_if(*a->channel, ":"), a->channel);
}

/* "ftdi:FT1ABC:A, jlink:123 and 2 more": the rows that `want` has, one for a device. */
static size_t list_names(const struct adapter_list *list, const bool *want, char *out, size_t cap)
{
    size_t n = 0, at = 0;
    for (size_t i = 0; i < list->n; i++) {
        char name[160];
        if (!want[i])
            continue;
        adapter_name(list, i, name, sizeof name);
        if (n++ < MAX_NAMED && at + 1 < cap)
            at += (size_t)snprintf(out + at, cap - at, "%s%s", text_if(n > 1, ", "), name);
    }
    if (n > MAX_NAMED && at + 1 < cap)
        snprintf(out + at, cap - at, " and %zu more", n - MAX_NAMED);
    return n;
}

/* Whether the row at j is taken before that at i, another channel of its device: one that can
 * serve before one that cannot, then the first. */
static bool is_taken_before(const struct adapter_list *list, size_t j, size_t i)
{
    bool can_j = list->row[j].can != 0, can_i = list->row[i].can != 0;
    if (can_j != can_i)
        return can_j;
    return j < i;
}

/* Whether the row at i is hidden by another channel of its device. */
static bool is_hidden(const struct adapter_list *list, size_t i, const char *driver,
                      const struct adapter_spec *spec)
{
    const struct adapter *a = &list->row[i];
    for (size_t j = 0; j < list->n; j++) {
        const struct adapter *b = &list->row[j];
        if (j != i && same_device(a, b) && is_meant(b, driver, spec) && is_taken_before(list, j, i))
            return true;
    }
    return false;
}

/* One row for each device that is meant; *first is the first of them. */
static size_t find_candidates(const struct adapter_list *list, const char *driver,
                              const struct adapter_spec *spec, bool *want, size_t *first)
{
    size_t n = 0;
    for (size_t i = 0; i < list->n; i++) {
        want[i] = is_meant(&list->row[i], driver, spec) && !is_hidden(list, i, driver, spec);
        if (want[i] && !n++)
            *first = i;
    }
    return n;
}

int adapter_meant_by(const struct adapter_list *list, const char *text)
{
    const char *place = text + (*text == '@');
    for (size_t i = 0; *text && i < list->n; i++)
        if ((*list->row[i].serial && same_serial(text, list->row[i].serial)) ||
            !strcmp(place, list->row[i].bus_path))
            return (int)i;
    return -1;
}

/* Guesses what the user meant by a place without its '@', a serial number without its driver, or a
 * channel that the device does not have. -1: no guess. */
static int find_near(const struct adapter_list *list, const char *driver,
                     const struct adapter_spec *spec, char *hint, size_t cap)
{
    char name[160];
    struct adapter_spec without = *spec;
    bool want[ADAPTER_LIST_MAX];
    size_t first;
    int meant = adapter_meant_by(list, *spec->serial ? spec->serial : spec->bus_path);
    *without.channel = 0;
    if (*spec->channel && find_candidates(list, driver, &without, want, &first) == 1) {
        const struct adapter *a = &list->row[first];
        size_t at = (size_t)snprintf(
            hint, cap, *a->channel ? "its channels:" : "it has no channels: leave :%s out",
            spec->channel);
        for (size_t i = 0; *a->channel && i < list->n && at < cap; i++)
            if (same_device(a, &list->row[i]))
                at += (size_t)snprintf(hint + at, cap - at, " %s", list->row[i].channel);
        return 0;
    }
    if (meant < 0)
        return -1;
    adapter_name(list, (size_t)meant, name, sizeof name);
    snprintf(hint, cap, "did you mean %s?", name);
    return 0;
}

/* No adapter was named, and there are only doubtful ones: the hint shows how to name one. */
static int only_doubtful(const struct adapter_list *list, unsigned need, struct err *err)
{
    for (size_t i = 0; i < list->n; i++) {
        char name[160], hint[256];
        if (!list->row[i].doubtful || !list->row[i].can || (need && !(list->row[i].can & need)))
            continue;
        adapter_name(list, i, name, sizeof name);
        snprintf(hint, sizeof hint, "if it is a debug adapter: --probe %s", name);
        return err_set(err, ERR_NOT_FOUND, hint,
                       "no adapter found for certain: %s may be something else, a serial cable",
                       name);
    }
    return 0;
}

/* What is there instead, for the hint. */
static int refuse_none(const struct adapter_list *list, const char *driver,
                       const struct adapter_spec *spec, struct err *err)
{
    bool want[ADAPTER_LIST_MAX];
    size_t first, n;
    char found[180], hint[256] = "is it plugged in? `probeprof list` shows what is there";
    n = find_candidates(list, NULL, &(struct adapter_spec){ 0 }, want, &first);
    /* of the driver that was named the doubtful ones, too */
    for (size_t i = 0; driver && i < list->n; i++)
        if (!want[i] && list->row[i].doubtful && !strcmp(driver, list->row[i].driver->name))
            n += want[i] = true;
    if (find_near(list, driver, spec, hint, sizeof hint) < 0 && n) {
        list_names(list, want, found, sizeof found);
        snprintf(hint, sizeof hint, "there is %s; `probeprof list` tells more", found);
    }
    if (!driver && !n && only_doubtful(list, spec->need, err) < 0)
        return -ERR_NOT_FOUND;
    /* a driver that could not look, or an adapter that cannot serve */
    for (size_t i = 0; i < list->n; i++)
        if (is_of_driver(&list->row[i], driver)) {
            const struct adapter *a = &list->row[i];
            if (is_trouble(a))
                return err_set(err, ERR_NOT_FOUND, a->problem.hint, "%s: %s", a->driver->name,
                               a->problem.what);
            if (!a->can && !n && !is_named(spec))
                return err_set(err, ERR_NOT_FOUND,
                               "it takes an adapter with JTAG for SH-4, with BDC for S12Z; "
                               "`probeprof list` shows what each can do",
                               "%s %s cannot be used: %s", a->driver->name,
                               *a->serial ? a->serial : a->bus_path, a->note);
        }
    const char *kind = "";
    if (!driver && spec->need & ADAPTER_BDC)
        kind = " with BDC";
    else if (!driver && spec->need)
        kind = " with JTAG";
    return err_set(err, ERR_NOT_FOUND, hint, "no%s%s adapter%s found%s%s%s%s%s%s",
                   text_if(driver, " "), text_or(driver, ""), kind,
                   text_if(*spec->serial, " with serial number "), spec->serial,
                   text_if(*spec->bus_path, " at "), spec->bus_path,
                   text_if(*spec->channel, " with channel "), spec->channel);
}

static int refuse_several(const struct adapter_list *list, const bool *want, size_t first,
                          struct err *err)
{
    char all[200], one[160], hint[256];
    size_t n = list_names(list, want, all, sizeof all);
    adapter_name(list, first, one, sizeof one);
    snprintf(hint, sizeof hint, "choose one: --probe %s; `probeprof list` tells more", one);
    return err_set(err, ERR_USAGE, hint, "%zu adapters fit: %s", n, all);
}

int adapter_choose(const struct adapter_list *list, const char *driver,
                   const struct adapter_spec *spec, struct err *err)
{
    bool want[ADAPTER_LIST_MAX];
    size_t first = 0, n = find_candidates(list, driver, spec, want, &first);
    if (n > 1)
        return refuse_several(list, want, first, err);
    if (n)
        return (int)first;
    return refuse_none(list, driver, spec, err);
}
