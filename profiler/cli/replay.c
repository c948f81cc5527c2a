#include "profiler/cli/replay.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "probe/base/hex.h"
#include "probe/base/choice.h"
#include "probe/base/util.h"
#include "profiler/cli/parts.h"
#include "profiler/cli/rotation.h"

/* ---- which files ---- */

/* Those that were named, or the numbered ones of `base`. */
struct files {
    const char *const *path;
    const char *base;
    unsigned *number;
    size_t n;
    char name[ROTATION_PATH + 8];
};

/* One that is being written has its name with .part. Lives until the next call. */
static const char *file_name(struct files *f, size_t i)
{
    if (f->path)
        return f->path[i];
    rotation_name(f->base, f->number[i], f->name);
    if (access(f->name, F_OK) < 0)
        strcat(f->name, ".part");
    return f->name;
}

static bool of_run(struct files *f, size_t i, uint64_t run_id)
{
    struct recording *r;
    if (recording_open(file_name(f, i), &r, NULL) < 0)
        return false;
    bool same = recording_header(r)->run_id == run_id;
    recording_close(r);
    return same;
}

/* Of the numbered files those of the last run. */
static int find_last_run(struct files *f, struct err *err)
{
    struct recording *r;
    int ret = recording_open(file_name(f, f->n - 1), &r, err);
    if (ret < 0)
        return ret;
    uint64_t run_id = recording_header(r)->run_id;
    recording_close(r);
    size_t from = f->n - 1;
    while (from && of_run(f, from - 1, run_id))
        from--;
    f->n -= from;
    memmove(f->number, f->number + from, f->n * sizeof *f->number);
    return 0;
}

static int find_files(struct files *f, const char *const *path, size_t n, struct err *err)
{
    *f = (struct files){ .path = path, .n = n };
    if (n != 1 || access(path[0], F_OK) == 0)
        return 0;
    int numbers = rotation_numbers(path[0], &f->number, err);
    if (numbers <= 0)
        return numbers;
    f->path = NULL;
    f->base = path[0];
    f->n = (size_t)numbers;
    return find_last_run(f, err);
}

/* ---- the program ---- */

/* By build id, else by code. 1 yes, 0 no, -1 if neither tells: no build id in one of the two, and
 * an older recording. */
static int is_same(const struct recording_header *h, const struct image *im)
{
    if (h->build_id_len && im->build_id_len)
        return h->build_id_len == im->build_id_len &&
               memcmp(im->build_id, h->build_id, h->build_id_len) == 0;
    if (h->code_sum)
        return h->code_sum == recording_code_sum(im);
    return -1;
}

/* What tells a build, for people. */
static void build_name(const uint8_t *id, size_t len, uint64_t sum, char *buf, size_t cap)
{
    snprintf(buf, cap, "code %016llx", (unsigned long long)sum);
    if (len)
        hex_string(buf, id, MIN(len, (cap - 1) / 2));
}

/* Names and bounds of functions decide how calls are counted, so another build gives other numbers.
 * 0; 1 if that cannot be decided. */
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

/* The recording's own ELF is a convenience: its path may be stale, and it may have been rebuilt
 * since. An ELF that the user names has to be the right one. */
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
                 "may count otherwise%s; --elf FILE helps",
                 miss.what, h->nblocks ? ", and blocks are in their functions" : "");
        return 0;
    }
    if (ret > 0)
        snprintf(warn, cap,
                 "whether %s is the build that was recorded cannot be told: without build ids (ld "
                 "--build-id) names may be wrong",
                 path);
    ret = part_prepare_symbols(*syms, h->target, err);
    size_t bad;
    if (ret >= 0 && h->nblocks)
        ret = err_prefix(err, symbols_set_blocks(*syms, h->blocks, h->nblocks, &bad, err),
                         "the recording's blocks do not fit the ELF");
    return ret;
}

/* ---- the events ---- */

/* The counters before the first event: it is what the program has done since. */
static void feed_start(struct capture *c, const struct event *e, size_t n)
{
    struct event start = { .kind = EVENT_START };
    for (size_t i = 0; i < n && !start.flags; i++) {
        start.flags = e[i].flags & (EVENT_HAS_C1 | EVENT_HAS_C2 | EVENT_HAS_TIME);
        start.c1 = e[i].c1;
        start.c2 = e[i].c2;
        start.time_cycles = e[i].time_cycles;
        start.host_ns = e[i].host_ns;
    }
    capture_feed(c, &start, 1, NULL);
}

/* What was said when it was recorded, and what is to be said of the file now. */
struct said {
    struct profile_remark row[RECORDING_MAX_REMARKS + 3];
    size_t n;
    char elf[512], file[512], begin[512];
};

struct replaying {
    struct recording *first, *last; /* one and the same at first */
    struct capture *capture;
    struct said said;
    const struct replay_tap *tap; /* NULL: nobody wants the events */
};

static int replay_events(struct recording *r, struct replaying *p, bool resumed, struct err *err)
{
    struct capture *c = p->capture;
    struct event batch[256];
    for (;; resumed = false) {
        int n = recording_read(r, batch, ARRAY_LEN(batch), err);
        if (n <= 0)
            return n;
        if (p->tap)
            p->tap->events(p->tap->ctx, batch, (size_t)n);
        if (resumed)
            feed_start(c, batch, (size_t)n);
        capture_feed(c, batch, (size_t)n, NULL); /* nothing is recorded here */
    }
}

/* The header of the first file, the end of the last. */
static void info_from_recording(const struct recording *r, const struct recording *last,
                                const struct symbols *syms, struct profile_info *info)
{
    const struct recording_header *h = recording_header(r);
    const struct recording_end *end = recording_end_info(last);
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
        info->note = NULL;
        if (*end->note)
            info->note = end->note;
        info->remarks = end->remark;
        info->nremarks = end->nremarks;
    }
}

static void add_remark(struct said *s, const char *kind, const char *text)
{
    if (*text)
        s->row[s->n++] = (struct profile_remark){ kind, text, 0 };
}

/* What is missing in the middle of a recording is a gap. */
static void note_damage(struct replaying *p, const char *path, bool in_the_middle)
{
    const char *damage = recording_damage(p->last);
    if (!damage)
        return;
    if (!*p->said.file)
        snprintf(p->said.file, sizeof p->said.file, "%s: %s", path, damage);
    if (in_the_middle)
        capture_feed(p->capture,
                     &(struct event){ .kind = EVENT_LOST, .cause = EVENT_CAUSE_CORRUPT }, 1, NULL);
}

static int open_next(struct replaying *p, const char *path, struct err *err)
{
    struct recording *next;
    const struct recording_header *before = recording_header(p->last);
    int ret = recording_open(path, &next, err);
    if (ret < 0)
        return ret;
    const struct recording_header *h = recording_header(next);
    if (!h->part || h->run_id != before->run_id || h->part != before->part + 1) {
        recording_close(next);
        return err_set(err, ERR_USAGE, "name the files of one run, all and in their order",
                       "%s is not what follows the one before it", path);
    }
    if (p->last != p->first)
        recording_close(p->last);
    p->last = next;
    return 0;
}

static int replay_each(struct replaying *p, struct files *f, struct err *err)
{
    const struct recording_header *h = recording_header(p->first);
    if (h->resumed || h->part > 1)
        snprintf(p->said.begin, sizeof p->said.begin,
                 "%s begins within a run: what was before is not in these numbers",
                 file_name(f, 0));
    int ret = replay_events(p->first, p, h->resumed, err);
    note_damage(p, file_name(f, 0), f->n > 1);
    for (size_t i = 1; ret == 0 && i < f->n; i++) {
        ret = open_next(p, file_name(f, i), err);
        if (ret == 0)
            ret = replay_events(p->last, p, false, err);
        if (ret == 0)
            note_damage(p, file_name(f, i), i + 1 < f->n);
    }
    return ret;
}

static int build_profile(struct replaying *p, const struct symbols *syms, struct profile **out,
                         struct err *err)
{
    struct profile_info info;
    info_from_recording(p->first, p->last, syms, &info);
    p->said.n = info.nremarks;
    if (info.nremarks)
        memcpy(p->said.row, info.remarks, info.nremarks * sizeof p->said.row[0]);
    add_remark(&p->said, "elf", p->said.elf);
    add_remark(&p->said, "file", p->said.begin);
    add_remark(&p->said, "file", p->said.file);
    info.remarks = p->said.row;
    info.nremarks = p->said.n;
    return capture_profile(p->capture, &info, out, err);
}

/* keep: the capture that is used, and stays open on success. NULL: nothing is kept. */
static int replay_all(struct files *f, const char *elf, const struct replay_tap *tap,
                      struct capture *keep, struct profile **out, struct symbols **syms,
                      struct err *err)
{
    struct capture own = { .tree = NULL };
    struct replaying p = { .tap = tap, .capture = EITHER(keep, &own) };
    int ret = recording_open(file_name(f, 0), &p.first, err);
    p.last = p.first;
    if (ret < 0)
        return ret;
    ret = open_symbols(recording_header(p.first), elf, syms, p.said.elf, sizeof p.said.elf, err);
    if (ret == 0)
        ret = capture_open(p.capture, *syms, recording_header(p.first), NULL, err);
    if (ret == 0)
        ret = replay_each(&p, f, err);
    if (ret == 0)
        ret = build_profile(&p, *syms, out, err);
    if (ret < 0 || !keep)
        capture_close(p.capture);
    if (p.last != p.first)
        recording_close(p.last);
    recording_close(p.first);
    if (ret < 0) {
        symbols_close(*syms);
        *syms = NULL;
    }
    return ret;
}

static int replay_paths(const char *const *path, size_t n, const char *elf,
                        const struct replay_tap *tap, struct capture *keep, struct profile **out,
                        struct symbols **syms, struct err *err)
{
    struct files f;
    *syms = NULL;
    int ret = find_files(&f, path, n, err);
    if (ret == 0)
        ret = replay_all(&f, elf, tap, keep, out, syms, err);
    free(f.number);
    return ret;
}

int replay_files(const char *const *path, size_t n, const char *elf, struct profile **out,
                 struct symbols **syms, struct err *err)
{
    return replay_paths(path, n, elf, NULL, NULL, out, syms, err);
}

int replay_watched(const char *const *path, size_t n, const char *elf, struct capture *c,
                   struct profile **out, struct symbols **syms, struct err *err)
{
    return replay_paths(path, n, elf, NULL, c, out, syms, err);
}

int replay_keep(const char *path, const char *elf, const struct replay_tap *tap, struct capture *c,
                struct profile **out, struct symbols **syms, struct err *err)
{
    return replay_paths(&path, 1, elf, tap, c, out, syms, err);
}

int replay_file(const char *path, const char *elf, struct profile **out, struct symbols **syms,
                struct err *err)
{
    return replay_files(&path, 1, elf, out, syms, err);
}
