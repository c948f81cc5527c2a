/* Logic analysers through libsigrok, private to pdo_sigrok*.c. Every libsigrok call is made from
 * here.
 *
 * libsigrok brings twenty libraries with it, so it is loaded when an analyser is first wanted
 * (pdo_sigrok_load.c) and called through a table.
 *
 * A probe opens a device and keeps it; a capture is a session of libsigrok's in a thread of its
 * own, which turns samples into edges and puts them into a bounded queue. libsigrok's drivers keep
 * what they know of their devices per process: two probes open at once must be of two drivers of
 * its. */
#ifndef PROBE_PDO_SIGROK_H
#define PROBE_PDO_SIGROK_H

#include <pthread.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <glib.h>
#include <libsigrok/libsigrok.h>

#include "probe/pdo_queue.h"
#include "probe/pdo_samples.h"
#include "probe/probe.h"

/* Every function of libsigrok and of the GLib it uses that is called. */
/* clang-format off */
#define SIGROK_CALLS(F)                                                                          \
    F(sr_init) F(sr_exit) F(sr_log_loglevel_set) F(sr_strerror) F(sr_driver_list)                \
    F(sr_driver_init) F(sr_driver_scan) F(sr_dev_options) F(sr_dev_has_option) F(sr_dev_open)    \
    F(sr_dev_close) F(sr_dev_channel_enable) F(sr_dev_inst_driver_get) F(sr_dev_inst_vendor_get) \
    F(sr_dev_inst_model_get) F(sr_dev_inst_version_get) F(sr_dev_inst_connid_get)                \
    F(sr_dev_inst_channels_get) F(sr_dev_inst_channel_groups_get) F(sr_config_get)               \
    F(sr_config_set) F(sr_config_list) F(sr_key_info_name_get) F(sr_parse_boolstring)            \
    F(sr_parse_sizestring) F(sr_session_new) F(sr_session_destroy) F(sr_session_dev_add)         \
    F(sr_session_datafeed_callback_add) F(sr_session_start) F(sr_session_run) F(sr_session_stop) \
    F(g_main_context_new) F(g_main_context_push_thread_default)                                  \
    F(g_main_context_pop_thread_default) F(g_main_context_unref) F(g_slist_append)               \
    F(g_slist_free) F(g_slist_length) F(g_array_free) F(g_variant_new) F(g_variant_new_string)   \
    F(g_variant_new_boolean) F(g_variant_new_uint64) F(g_variant_new_int32)                      \
    F(g_variant_new_double) F(g_variant_get_uint64) F(g_variant_get_fixed_array)                 \
    F(g_variant_lookup_value) F(g_variant_ref_sink) F(g_variant_unref)
/* clang-format on */
#define SIGROK_MEMBER(name) __typeof__(&name) name;
struct sigrok_api {
    SIGROK_CALLS(SIGROK_MEMBER)
};

/* sigrok_load - the libsigrok this program was compiled for, found as the system finds its
 * libraries. It stays loaded: what GLib has begun does not end. Returns 0; -ERR_UNSUPPORTED where
 * it is not installed, or is not that one: the hint names the package. */
int sigrok_load(struct sigrok_api *out, struct err *err);

enum { SIGROK_SETTINGS = 8, SIGROK_BATCH = 4096, SIGROK_QUEUE = 1 << 21 };

/* What --pdo sigrok:DRIVER[:CONN],pdo=,pdoclk=,rate=,NAME=VALUE... says. */
struct sigrok_spec {
    char driver[32], conn[80];
    char clk[32], data[32];
    uint64_t rate_hz;
    /* of the device, by libsigrok's names */
    struct {
        char name[32], value[64];
    } set[SIGROK_SETTINGS];
    size_t nset;
};
/* sigrok_spec_parse - -ERR_USAGE shows the form. Pure. */
int sigrok_spec_parse(const char *text, struct sigrok_spec *out, struct err *err);

enum sigrok_phase { SIGROK_IDLE, SIGROK_STARTING, SIGROK_STREAMING, SIGROK_ENDED };

struct sigrok_probe {
    struct probe probe;
    struct sigrok_spec spec;
    struct sigrok_api api;
    struct sr_context *context;
    struct sr_dev_inst *device;
    unsigned bit[2];  /* of a sample: clock, data */
    uint64_t rate_hz; /* what the device took */

    struct sr_session *session; /* while a capture goes on */
    pthread_t thread;
    bool has_thread, hung;      /* hung: the thread did not end, and keeps this struct */
    struct pdo_samples samples; /* the thread's */
    pdo_edge batch[SIGROK_BATCH];

    pthread_mutex_t lock; /* for what follows */
    pthread_cond_t changed;
    enum sigrok_phase phase;
    int result;                 /* of the session: SR_OK, or why it did not begin or ended */
    bool too_narrow;            /* samples without the bits we need */
    uint64_t tick, seen;        /* samples that came; up to which read() has given edges */
    uint64_t packet_ns, gap_ns; /* host time of the last packet; the longest time between two */
    struct pdo_queue queue;
};

/* sigrok_open_device - finds and opens the device that the spec means, and sets it up; what was
 * open before is closed. */
int sigrok_open_device(struct sigrok_probe *p, struct err *err);
void sigrok_close_device(struct sigrok_probe *p);

/* sigrok_scan - probe_driver.scan of the driver `ours`: every analyser libsigrok finds. */
int sigrok_scan(const struct probe_driver *ours, struct adapter_list *out, struct err *err);

extern const struct pdo_ops sigrok_pdo;
extern const struct probe_driver sigrok_driver;

#endif
