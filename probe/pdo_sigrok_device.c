/* Finding an analyser and setting it up. Source: libsigrok 0.5.2, its API documentation. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "probe/base/choice.h"
#include "probe/base/log.h"
#include "probe/base/nearest.h"
#include "probe/base/options.h"
#include "probe/base/util.h"
#include "probe/pdo_sigrok.h"

enum { CLK, DATA };
#define FORM "sigrok:fx2lafw,pdo=D0,pdoclk=D1,rate=24M"

/* ---- the spec ---- */

static int take_place(struct sigrok_spec *s, const char *text, struct err *err)
{
    const char *colon = strchr(text, ':');
    size_t n = strcspn(text, ":");
    if (!n || n >= sizeof s->driver)
        return err_set(err, ERR_USAGE, FORM, "sigrok: no driver named");
    memcpy(s->driver, text, n);
    s->driver[n] = 0;
    if (colon)
        return options_text(s->conn, sizeof s->conn, colon + 1, err);
    return 0;
}

static int take_setting(struct sigrok_spec *s, const char *name, const char *value, struct err *err)
{
    if (s->nset == SIGROK_SETTINGS)
        return err_set(err, ERR_USAGE, "leave some out", "sigrok: more than %d settings",
                       SIGROK_SETTINGS);
    int ret = options_text(s->set[s->nset].name, sizeof s->set[0].name, name, err);
    if (ret == 0)
        ret = options_text(s->set[s->nset].value, sizeof s->set[0].value, value, err);
    s->nset += ret == 0;
    return ret;
}

static int take_option(void *ctx, const char *name, const char *value, struct err *err)
{
    struct sigrok_spec *s = ctx;
    if (!*s->driver && *value)
        return err_set(err, ERR_USAGE, FORM, "sigrok: no driver named before %s=", name);
    if (!*s->driver)
        return take_place(s, name, err);
    if (!strcmp(name, "pdo"))
        return options_text(s->data, sizeof s->data, value, err);
    if (!strcmp(name, "pdoclk"))
        return options_text(s->clk, sizeof s->clk, value, err);
    if (!strcmp(name, "rate"))
        return options_hz(name, value, 1, 10000000000, &s->rate_hz, err);
    return take_setting(s, name, value, err);
}

int sigrok_spec_parse(const char *text, struct sigrok_spec *out, struct err *err)
{
    struct sigrok_spec s = { .clk = "PDOCLK", .data = "PDO" };
    int ret = options_each(text, take_option, &s, err);
    if (ret == 0 && !*s.driver)
        ret = err_set(err, ERR_USAGE, FORM, "sigrok: no driver named");
    if (ret == 0)
        *out = s;
    return ret;
}

/* ---- finding ---- */

static struct sr_dev_driver *find_driver(const struct sigrok_api *a, struct sr_context *ctx,
                                         const char *name, struct nearest *near)
{
    struct sr_dev_driver **all = a->sr_driver_list(ctx);
    for (size_t k = 0; all && all[k]; k++) {
        if (!strcmp(all[k]->name, name))
            return all[k];
        nearest_offer(near, all[k]->name);
    }
    return NULL;
}

static GSList *scan_driver(const struct sigrok_api *a, struct sr_dev_driver *driver,
                           const char *conn)
{
    struct sr_config by_conn = { .key = SR_CONF_CONN };
    GSList *options = NULL;
    if (*conn) {
        by_conn.data = a->g_variant_ref_sink(a->g_variant_new_string(conn));
        options = a->g_slist_append(NULL, &by_conn);
    }
    GSList *found = a->sr_driver_scan(driver, options);
    a->g_slist_free(options);
    if (by_conn.data)
        a->g_variant_unref(by_conn.data);
    return found;
}

static const char *or_empty(const char *text) { return text_or(text, ""); }

static void describe_device(const struct sigrok_api *a, const struct sr_dev_inst *d, char *out,
                            size_t cap)
{
    const char *part[] = { or_empty(a->sr_dev_inst_vendor_get(d)),
                           or_empty(a->sr_dev_inst_model_get(d)),
                           or_empty(a->sr_dev_inst_version_get(d)) };
    size_t at = 0;
    *out = 0;
    for (size_t k = 0; k < ARRAY_LEN(part); k++)
        if (*part[k] && at < cap)
            at += (size_t)snprintf(out + at, cap - at, "%s%s", text_if(at, " "), part[k]);
}

static int find_device(struct sigrok_probe *p, struct err *err)
{
    struct nearest near = { .wanted = p->spec.driver };
    char hint[NEAREST_TEXT];
    struct sr_dev_driver *driver = find_driver(&p->api, p->context, p->spec.driver, &near);
    if (!driver)
        return err_set(
            err, ERR_USAGE,
            nearest_text(&near, "`sigrok-cli -L` lists libsigrok's drivers", hint, sizeof hint),
            "sigrok: libsigrok has no driver '%s'", p->spec.driver);
    if (p->api.sr_driver_init(p->context, driver) != SR_OK)
        return err_set(err, ERR_IO, "try sigrok-cli with the same driver",
                       "sigrok: its driver '%s' does not start", p->spec.driver);
    GSList *found = scan_driver(&p->api, driver, p->spec.conn);
    unsigned n = p->api.g_slist_length(found);
    p->device = NULL;
    if (n)
        p->device = found->data;
    p->api.g_slist_free(found);
    if (!n)
        return err_set(err, ERR_NOT_FOUND,
                       "is it plugged in, its firmware and libsigrok's udev rules installed? "
                       "`sigrok-cli --scan`; a port goes behind a colon",
                       "sigrok: no analyser for %s%s%s", p->spec.driver,
                       text_if(*p->spec.conn, " at "), p->spec.conn);
    if (n > 1)
        return err_set(
            err, ERR_USAGE,
            "name one, sigrok:DRIVER:CONN; `probeprof list --analysers` shows what to write",
            "sigrok: %u analysers for %s", n, p->spec.driver);
    return 0;
}

static bool is_analyser(const struct sigrok_api *a, struct sr_dev_driver *driver)
{
    bool yes = false;
    GArray *keys = a->sr_dev_options(driver, NULL, NULL);
    for (guint k = 0; keys && k < keys->len; k++)
        yes |= g_array_index(keys, uint32_t, k) == SR_CONF_LOGIC_ANALYZER;
    if (keys)
        a->g_array_free(keys, TRUE);
    return yes;
}

static int add_row(const struct probe_driver *ours, const struct sigrok_api *api,
                   const struct sr_dev_driver *driver, struct sr_dev_inst *d,
                   struct adapter_list *out, struct err *err)
{
    struct adapter a = { .driver = ours, .can = ADAPTER_PDO };
    const char *conn = api->sr_dev_inst_connid_get(d);
    snprintf(a.bus_path, sizeof a.bus_path, "%.14s%s%.15s", driver->name, text_if(conn, ":"),
             or_empty(conn));
    describe_device(api, d, a.product, sizeof a.product);
    snprintf(a.note, sizeof a.note, "for --pdo");
    return adapter_list_add(out, &a, err);
}

static int scan_all(const struct probe_driver *ours, const struct sigrok_api *api,
                    struct adapter_list *out, struct err *err)
{
    struct sr_context *ctx = NULL;
    int ret = 0;
    api->sr_log_loglevel_set(SR_LOG_NONE);
    if (api->sr_init(&ctx) != SR_OK)
        return err_set(err, ERR_IO, "try `sigrok-cli --scan`", "libsigrok does not start");
    struct sr_dev_driver **all = api->sr_driver_list(ctx);
    for (size_t k = 0; all && all[k] && ret == 0; k++) {
        if (!is_analyser(api, all[k]) || api->sr_driver_init(ctx, all[k]) != SR_OK)
            continue;
        GSList *found = scan_driver(api, all[k], "");
        for (GSList *d = found; d && ret == 0; d = d->next)
            ret = add_row(ours, api, all[k], d->data, out, err);
        api->g_slist_free(found);
    }
    api->sr_exit(ctx);
    return ret;
}

int sigrok_scan(const struct probe_driver *ours, struct adapter_list *out, struct err *err)
{
    struct sigrok_api api;
    int ret = sigrok_load(&api, err);
    if (ret < 0)
        return ret;
    return scan_all(ours, &api, out, err);
}

/* ---- setting up ---- */

static int choose_signals(struct sigrok_probe *p, struct err *err)
{
    const char *want[2] = { p->spec.clk, p->spec.data };
    char all[160] = "";
    bool have[2] = { false, false };
    for (GSList *l = p->api.sr_dev_inst_channels_get(p->device); l; l = l->next) {
        struct sr_channel *c = l->data;
        bool use = false;
        for (unsigned k = 0; k < 2 && c->type == SR_CHANNEL_LOGIC; k++)
            if (!strcasecmp(c->name, want[k])) {
                use = have[k] = true;
                p->bit[k] = (unsigned)c->index;
            }
        size_t used = strlen(all);
        if (c->type == SR_CHANNEL_LOGIC)
            snprintf(all + used, sizeof all - used, "%s%s", text_if(used, ", "), c->name);
        /* of one that cannot be switched off the samples are ignored */
        p->api.sr_dev_channel_enable(c, use);
    }
    for (unsigned k = 0; k < 2; k++)
        if (!have[k])
            return err_set(err, ERR_NOT_FOUND,
                           "pdo= and pdoclk= name the channels that the pins are wired to",
                           "%s: no channel '%s'; it has %s", p->probe.name, want[k], all);
    return 0;
}

/* The rates of the device, or their range, for a hint. */
static void rates_text(struct sigrok_probe *p, char *out, size_t cap)
{
    enum { MOST_RATES = 12 }; /* the highest of them */
    /* as G_VARIANT_TYPE, whose check would have to be linked */
    const GVariantType *rates = (const GVariantType *)"at";
    GVariant *dict = NULL, *list;
    gsize n = 0;
    *out = 0;
    if (p->api.sr_config_list(p->api.sr_dev_inst_driver_get(p->device), p->device, NULL,
                              SR_CONF_SAMPLERATE, &dict) != SR_OK ||
        !dict)
        return;
    bool range = false;
    list = p->api.g_variant_lookup_value(dict, "samplerates", rates);
    if (!list) {
        list = p->api.g_variant_lookup_value(dict, "samplerate-steps", rates);
        range = true;
    }
    const uint64_t *hz = NULL;
    if (list)
        hz = p->api.g_variant_get_fixed_array(list, &n, sizeof *hz);
    size_t at = 0;
    gsize first = EXCESS(n, (gsize)MOST_RATES), end = n;
    const char *between = ", ";
    if (range) {
        first = 0;
        end = MIN(n, 2u);
        between = " to ";
    }
    for (gsize k = first; k < end && at < cap; k++)
        at += (size_t)snprintf(out + at, cap - at, "%s%gM", text_if(at, between),
                               (double)hz[k] / 1e6);
    if (list)
        p->api.g_variant_unref(list);
    p->api.g_variant_unref(dict);
}

static int bad_rate(struct sigrok_probe *p, const char *what, struct err *err)
{
    char rates[140], hint[200];
    rates_text(p, rates, sizeof rates);
    snprintf(hint, sizeof hint, "samples a second, at least twice the bus clock; it has %s",
             text_or(text_given(rates), "no list of them"));
    return err_set(err, ERR_USAGE, hint, "%s: %s", p->probe.name, what);
}

static int set_rate(struct sigrok_probe *p, struct err *err)
{
    GVariant *now = NULL;
    char what[64];
    if (!p->spec.rate_hz)
        return bad_rate(p, "add rate=", err);
    int ret = p->api.sr_config_set(p->device, NULL, SR_CONF_SAMPLERATE,
                                   p->api.g_variant_new_uint64(p->spec.rate_hz));
    if (ret == SR_OK && p->api.sr_config_get(p->api.sr_dev_inst_driver_get(p->device), p->device,
                                             NULL, SR_CONF_SAMPLERATE, &now) == SR_OK) {
        p->rate_hz = p->api.g_variant_get_uint64(now);
        p->api.g_variant_unref(now);
    }
    if (ret == SR_OK && p->rate_hz == p->spec.rate_hz)
        return 0;
    snprintf(what, sizeof what, "it does not do rate=%gM", (double)p->spec.rate_hz / 1e6);
    return bad_rate(p, what, err);
}

static GVariant *setting_value(const struct sigrok_api *a, const struct sr_key_info *key,
                               const char *text)
{
    char *end;
    double low = strtod(text, &end), high = low;
    if (*end == '-')
        high = strtod(end + 1, &end);
    bool number = end != text && !*end;
    uint64_t size;
    switch (key->datatype) {
    case SR_T_STRING: return a->g_variant_new_string(text);
    case SR_T_BOOL: return a->g_variant_new_boolean(a->sr_parse_boolstring(text));
    case SR_T_UINT64:
        if (a->sr_parse_sizestring(text, &size) == SR_OK)
            return a->g_variant_new_uint64(size);
        return NULL;
    case SR_T_INT32:
        if (number && low >= INT32_MIN && low <= INT32_MAX)
            return a->g_variant_new_int32((int32_t)low);
        return NULL;
    case SR_T_FLOAT:
        if (!number)
            return NULL;
        return a->g_variant_new_double(low);
    case SR_T_DOUBLE_RANGE:
        if (!number)
            return NULL;
        return a->g_variant_new("(dd)", low, high);
    default: return NULL;
    }
}

/* Some settings are the device's, some of the group of channels that ours belong to. */
static int set_one(struct sigrok_probe *p, const char *name, const char *text, struct err *err)
{
    const struct sr_key_info *key = p->api.sr_key_info_name_get(SR_KEY_CONFIG, name);
    static const char hint[] =
        "pdo=, pdoclk=, rate=, or settings of the device as `sigrok-cli --show` names them";
    if (!key)
        return err_set(err, ERR_USAGE, hint, "%s: libsigrok knows no setting %s", p->probe.name,
                       name);
    GVariant *v = setting_value(&p->api, key, text);
    if (!v)
        return err_set(err, ERR_USAGE, hint, "%s: %s=%s is no value for it", p->probe.name, name,
                       text);
    p->api.g_variant_ref_sink(v);
    int ret = p->api.sr_config_set(p->device, NULL, key->key, v);
    for (GSList *l = p->api.sr_dev_inst_channel_groups_get(p->device); l && ret != SR_OK;
         l = l->next) {
        struct sr_channel_group *group = l->data;
        for (GSList *c = group->channels; c && ret != SR_OK; c = c->next)
            if (((struct sr_channel *)c->data)->type == SR_CHANNEL_LOGIC &&
                ((struct sr_channel *)c->data)->enabled)
                ret = p->api.sr_config_set(p->device, group, key->key, v);
    }
    p->api.g_variant_unref(v);
    if (ret == SR_OK)
        return 0;
    return err_set(err, ERR_USAGE, "`sigrok-cli --show` lists what it takes", "%s: %s=%s: %s",
                   p->probe.name, name, text, p->api.sr_strerror(ret));
}

static int set_up(struct sigrok_probe *p, struct err *err)
{
    if (!p->api.sr_dev_has_option(p->device, SR_CONF_CONTINUOUS))
        return err_set(err, ERR_UNSUPPORTED,
                       "capture into a file with sigrok-cli or PulseView, then `probeprof decode`",
                       "%s: it fills its buffer and stops, which is no continuous capture",
                       p->probe.name);
    /* those that have a choice */
    p->api.sr_config_set(p->device, NULL, SR_CONF_CONTINUOUS, p->api.g_variant_new_boolean(TRUE));
    int ret = choose_signals(p, err);
    for (size_t k = 0; k < p->spec.nset && ret == 0; k++)
        ret = set_one(p, p->spec.set[k].name, p->spec.set[k].value, err);
    if (ret != 0)
        return ret;
    return set_rate(p, err);
}

int sigrok_open_device(struct sigrok_probe *p, struct err *err)
{
    sigrok_close_device(p);
    int level = SR_LOG_NONE; /* libsigrok writes to stderr by itself */
    if (p->probe.log && p->probe.log->enabled >> LOG_USB & 1)
        level = SR_LOG_DBG;
    p->api.sr_log_loglevel_set(level);
    if (p->api.sr_init(&p->context) != SR_OK) {
        p->context = NULL;
        return err_set(err, ERR_IO, "try `sigrok-cli --scan`", "sigrok: libsigrok does not start");
    }
    int ret = find_device(p, err);
    if (ret < 0)
        return ret;
    int opened = p->api.sr_dev_open(p->device);
    if (opened != SR_OK) {
        p->device = NULL;
        return err_set(err, ERR_USB,
                       "does another program use it? libsigrok's udev rules give permission "
                       "(package libsigrok4)",
                       "%s: it cannot be opened: %s", p->probe.name, p->api.sr_strerror(opened));
    }
    return set_up(p, err);
}

void sigrok_close_device(struct sigrok_probe *p)
{
    if (p->device)
        p->api.sr_dev_close(p->device);
    p->device = NULL;
    if (p->context)
        p->api.sr_exit(p->context);
    p->context = NULL;
}
