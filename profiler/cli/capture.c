#include "profiler/cli/capture.h"

#include <stdio.h>
#include <string.h>

#include "probe/base/hex.h"
#include "probe/base/util.h"
#include "profiler/cli/parts.h"

int capture_open(struct capture *c, const struct symbols *symbols, const struct recording_header *h,
                 const char *record, struct err *err)
{
    calltree_resolve *resolve = symbols ? symbols_range : NULL;
    c->symbols = symbols;
    filter_init(&c->filter, &(struct filter_config){
                                .max_passes = h->max_passes,
                                .exclude_interrupts = h->irq_filter == IRQ_FILTER_AUTO,
                            });
    int ret = calltree_new(
        &(struct calltree_config){ .resolve = resolve, .resolve_ctx = (void *)symbols }, &c->tree,
        err);
    if (ret == 0)
        ret = snapshots_new(&c->snapshots, err);
    if (ret == 0 && record)
        ret = recording_create(record, h, &c->recording, err);
    if (ret < 0)
        capture_close(c);
    return ret;
}

static int add_block(struct capture *c, const struct event *e)
{
    return c->filter.done || c->blocks_mixed ? 0 : blocks_add(&c->blocks, e);
}

/* The call tree clears itself when it meets the event. */
static bool clear_counts(struct capture *c, const struct event *e, struct event *out)
{
    if (c->filter.done)
        return false;
    blocks_clear(&c->blocks);
    c->blocks_mixed = c->filter.active;
    *out = *e;
    return true;
}

int capture_feed(struct capture *c, struct event *events, size_t n, struct err *err)
{
    int ret = 0;
    c->seen += n;
    if (n) {
        c->last_ns = events[n - 1].host_ns;
        snapshots_changed(c->snapshots);
    }
    if (c->recording && n)
        ret = recording_write(c->recording, events, n, err);
    if (ret < 0) {
        recording_finish(c->recording, &(struct recording_end){ .events = c->seen - n }, NULL);
        c->recording = NULL;
    }
    int counted = 0;
    size_t kept = 0;
    for (size_t i = 0; i < n; i++) {
        sampling_feed(&c->sampling, &events[i]);
        switch (events[i].kind) {
        case EVENT_BLOCK:
        case EVENT_BRANCH: /* sums so far: those of the last pass come before its end */
            counted = counted < 0 ? counted : add_block(c, &events[i]);
            break;
        case EVENT_RATE: /* the last set is the best, for all passes */
            counted = counted < 0 ? counted : rates_add(&c->rates, &events[i]);
            break;
        case EVENT_UNTRACED:
            counted = counted < 0 ? counted : untraced_add(&c->untraced, &events[i]);
            break;
        case EVENT_LINE:
            if (c->line)
                c->line(c->line_ctx, events[i].line_bytes);
            break;
        case EVENT_TASK:
            counted = counted < 0 ? counted : task_names_add(&c->tasks, &events[i]);
            kept += filter_event(&c->filter, &events[i], &events[kept]);
            break;
        case EVENT_CLEAR: kept += clear_counts(c, &events[i], &events[kept]); break;
        case EVENT_STOP: c->blocks_mixed = false; /* fallthrough */
        default: kept += filter_event(&c->filter, &events[i], &events[kept]); break;
        }
    }
    calltree_feed(c->tree, events, kept);
    return ret < 0 || counted == 0 ? ret
                                   : err_set(err, (enum err_code) - counted, "close other programs",
                                             "counts: out of memory");
}

int capture_clear(struct capture *c, struct err *err)
{
    return capture_feed(c, &(struct event){ .kind = EVENT_CLEAR, .host_ns = c->last_ns }, 1, err);
}

bool capture_done(const struct capture *c) { return c->filter.done; }

int capture_finish_recording(struct capture *c, const struct recording_end *end, struct err *err)
{
    struct recording_writer *w = c->recording;
    struct recording_end e = *end;
    e.events = c->seen;
    c->recording = NULL;
    return w ? recording_finish(w, &e, err) : 0;
}

int capture_profile(const struct capture *c, const struct profile_info *info, struct profile **out,
                    struct err *err)
{
    struct profile_info with = *info;
    with.unnamed = c->symbols && symbols_nfunctions(c->symbols) == 0;
    int ret = profile_build(c->tree, c->symbols, &with, out, err);
    if (ret < 0)
        return ret;
    if (c->sampling.sum.rate_asked) { /* statistical even if nothing was met */
        (*out)->type = PROFILE_STATISTICAL;
        (*out)->info.sampling = sampling_result(&c->sampling);
    }
    if (c->blocks.used)
        ret = profile_take_blocks(*out, &c->blocks, err);
    if (ret == 0)
        ret = profile_take_rates(*out, &c->rates, err);
    if (ret == 0)
        ret = profile_take_tasks(*out, &c->tasks, err);
    if (ret == 0)
        ret = profile_take_untraced(*out, &c->untraced, c->symbols, err);
    const char *exception =
        part_exception(info->target, calltree_stats(c->tree)->unfinished.vector);
    if (ret == 0)
        ret = profile_take_unfinished(*out, c->tree, exception, c->symbols, err);
    if (ret < 0) {
        profile_free(*out);
        *out = NULL;
    }
    return ret;
}

struct capture_now {
    const struct capture *c;
    const struct profile_info *info;
};

static int build_now(void *ctx, struct profile **out, struct err *err)
{
    const struct capture_now *now = ctx;
    return capture_profile(now->c, now->info, out, err);
}

int capture_snapshot(const struct capture *c, const struct profile_info *info,
                     const struct snapshot **out, struct err *err)
{
    return snapshots_take(c->snapshots, build_now, &(struct capture_now){ c, info }, out, err);
}

void capture_close(struct capture *c)
{
    snapshots_free(c->snapshots);
    calltree_free(c->tree);
    blocks_fini(&c->blocks);
    rates_fini(&c->rates);
    untraced_fini(&c->untraced);
    task_names_fini(&c->tasks);
    if (c->recording)
        recording_finish(c->recording, &(struct recording_end){ .events = c->seen }, NULL);
    *c = (struct capture){ 0 };
}

/* ---- replay ---- */

/* By build id, else by code. 1 yes, 0 no, -1 if neither tells: no build id in one of the two, and
 * an older recording. */
static int is_same(const struct recording_header *h, const struct image *im)
{
    if (h->build_id_len && im->build_id_len)
        return h->build_id_len == im->build_id_len &&
               memcmp(im->build_id, h->build_id, h->build_id_len) == 0;
    return h->code_sum ? h->code_sum == recording_code_sum(im) : -1;
}

/* What tells a build, for people. */
static void build_name(const uint8_t *id, size_t len, uint64_t sum, char *buf, size_t cap)
{
    snprintf(buf, cap, "code %016llx", (unsigned long long)sum);
    if (len)
        hex_string(buf, id, MIN(len, (cap - 1) / 2));
}

/* Names and bounds of functions decide how calls are counted, so another build gives other numbers.
 * 0; 1 if that cannot be told. */
static int same_build(const struct recording_header *h, const char *path, const struct image *im,
                      struct err *err)
{
    enum { SHOWN = 8 };
    char is[2 * SHOWN + 6], was[2 * SHOWN + 6];
    int same = is_same(h, im);
    if (same)
        return same < 0;
    bool by_id = h->build_id_len && im->build_id_len;
    build_name(im->build_id, by_id ? im->build_id_len : 0, recording_code_sum(im), is, sizeof is);
    build_name(h->build_id, by_id ? h->build_id_len : 0, h->code_sum, was, sizeof was);
    return err_set(err, ERR_FORMAT, "give --elf the build that ran, or record again",
                   "%s is another build (%s) than the one recorded (%s): its functions would be "
                   "counted wrongly",
                   path, is, was);
}

/* The recording's ELF is a convenience: its path may be stale, and it may have been rebuilt since.
 * What is named by hand has to be right. */
static int open_symbols(const struct recording_header *h, const char *elf, struct symbols **syms,
                        char *warn, size_t cap, struct err *err)
{
    const char *path = elf ? elf : h->elf;
    struct err miss = { .code = ERR_OK };
    if (!path)
        return 0;
    int ret = symbols_open(path, syms, &miss);
    if (ret == 0 && (ret = same_build(h, path, symbols_image(*syms), &miss)) < 0) {
        symbols_close(*syms);
        *syms = NULL;
    }
    if (ret < 0 && elf)
        return err_set(err, miss.code, miss.hint, "%s", miss.what);
    if (ret < 0) {
        snprintf(warn, cap,
                 "%s: functions are named by address and their bounds are not known, so some calls "
                 "may count otherwise; --elf FILE helps",
                 miss.what);
        return 0;
    }
    if (ret > 0)
        snprintf(warn, cap,
                 "whether %s is the build that was recorded cannot be told: without build ids (ld "
                 "--build-id) names may be wrong",
                 path);
    return part_prepare_symbols(*syms, h->target, err);
}

static int replay_events(struct recording *r, struct capture *c, struct err *err)
{
    struct event batch[256];
    for (;;) {
        int n = recording_read(r, batch, ARRAY_LEN(batch), err);
        if (n <= 0)
            return n;
        capture_feed(c, batch, (size_t)n, NULL); /* nothing is recorded here */
    }
}

static void info_from_recording(const struct recording *r, const struct symbols *syms,
                                struct profile_info *info)
{
    const struct recording_header *h = recording_header(r);
    const struct recording_end *end = recording_end_info(r);
    *info = (struct profile_info){
        .target = h->target,
        .probe = h->probe,
        .elf = h->elf,
        .counter = { h->counter[0], h->counter[1] },
        .when = h->when,
        .cache_by_address = h->address_cached,
        .build_id_len = h->build_id_len,
    };
    memcpy(info->build_id, h->build_id, h->build_id_len);
    if (!info->elf && syms)
        info->elf = symbols_image(syms)->path;
    if (end) {
        info->time = end->time;
        info->icache_enabled = end->icache_enabled;
        info->note = *end->note ? end->note : NULL;
        info->remarks = end->remark;
        info->nremarks = end->nremarks;
    }
}

/* What was said when it was recorded, and what is to be said of the file now. */
struct said {
    struct profile_remark row[RECORDING_MAX_REMARKS + 2];
    size_t n;
    char elf[512], file[512];
};

static void say(struct said *s, const char *kind, const char *text)
{
    if (*text)
        s->row[s->n++] = (struct profile_remark){ kind, text, 0 };
}

static void collect(struct said *s, const struct recording *r, const char *path,
                    struct profile_info *info)
{
    s->n = info->nremarks;
    if (s->n)
        memcpy(s->row, info->remarks, s->n * sizeof s->row[0]);
    if (recording_damage(r))
        snprintf(s->file, sizeof s->file, "%s: %s", path, recording_damage(r));
    say(s, "elf", s->elf);
    say(s, "file", s->file);
    info->remarks = s->row;
    info->nremarks = s->n;
}

int capture_replay(const char *path, const char *elf, struct profile **out, struct symbols **syms,
                   struct err *err)
{
    struct recording *r = NULL;
    struct capture c = { 0 };
    struct profile_info info;
    struct said said = { .n = 0 };
    *syms = NULL;
    int ret = recording_open(path, &r, err);
    if (ret < 0)
        return ret;
    ret = open_symbols(recording_header(r), elf, syms, said.elf, sizeof said.elf, err);
    if (ret == 0)
        ret = capture_open(&c, *syms, recording_header(r), NULL, err);
    if (ret == 0)
        ret = replay_events(r, &c, err);
    if (ret == 0) {
        info_from_recording(r, *syms, &info);
        collect(&said, r, path, &info);
        ret = capture_profile(&c, &info, out, err);
    }
    capture_close(&c);
    recording_close(r);
    if (ret < 0) {
        symbols_close(*syms);
        *syms = NULL;
    }
    return ret;
}
