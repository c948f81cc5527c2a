#include "profiler/cli/input.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "probe/base/choice.h"
#include "probe/base/util.h"
#include "profiler/cli/input_url.h"
#include "profiler/cli/replay.h"
#include "profiler/cli/rotation.h"
#include "profiler/profile/merge.h"
#include "profiler/profile/sampled.h"

static int read_head(const char *path, uint8_t *head, size_t *n, struct err *err)
{
    FILE *in = fopen(path, "rb");
    if (!in)
        return err_set(err, ERR_NOT_FOUND, "check the path", "%s: %s", path, strerror(errno));
    *n = fread(head, 1, IMPORT_HEAD_BYTES, in);
    bool failed = ferror(in);
    int error = errno;
    fclose(in);
    if (failed)
        return err_set(err, ERR_IO, "give a recording, or a file with a profile", "%s: %s", path,
                       strerror(error));
    return 0;
}

static int what_is(const char *path, const struct importer **out, struct err *err)
{
    uint8_t head[IMPORT_HEAD_BYTES];
    size_t n = 0;
    int ret = read_head(path, head, &n, err);
    if (ret < 0)
        return ret;
    *out = NULL;
    if (recording_is(head, n))
        return 0;
    *out = importer_of(head, n);
    if (*out)
        return 0;
    return err_set(err, ERR_FORMAT,
                   "give a recording, or what `probeprof help convert` says is read; --from NAME "
                   "where that cannot be seen",
                   "%s is neither a recording nor a profile that is read", path);
}

/* A recording in numbered files has none of the name itself. */
int input_kind(const char *path, const char *from, const struct importer **out, struct err *err)
{
    unsigned *number = NULL;
    if (!from && input_is_url(path))
        from = "json";
    if (from)
        return importer_find(from, out, err);
    int ret = 0;
    if (access(path, F_OK) < 0)
        ret = rotation_numbers(path, &number, err);
    free(number);
    *out = NULL;
    if (ret == 0)
        ret = what_is(path, out, err);
    return MIN(ret, 0);
}

/* What tells what it is surely: --from would only have it misread. One that cannot be read is said
 * to be so. */
static bool says_what_it_is(const char *path)
{
    uint8_t head[IMPORT_HEAD_BYTES];
    size_t n = 0;
    if (input_is_url(path) || access(path, F_OK) < 0)
        return true;
    return read_head(path, head, &n, NULL) < 0 || recording_is(head, n);
}

int input_kinds(const char *const *path, size_t n, const char *from, const struct importer **out,
                struct err *err)
{
    bool helped = false;
    for (size_t i = 0; i < n; i++) {
        const char *format = NULL;
        if (from && !says_what_it_is(path[i])) {
            format = from;
            helped = true;
        }
        int ret = input_kind(path[i], format, &out[i], err);
        if (ret < 0)
            return ret;
    }
    if (!from || helped)
        return 0;
    const char *who = "all of these tell it themselves";
    if (n == 1)
        who = "this one tells it itself";
    return err_set(err, ERR_USAGE, "leave it out", "--from says of what format a file is, and %s",
                   who);
}

static int kind_of_all(const char *const *path, size_t n, const char *from,
                       const struct importer **out, struct err *err)
{
    int ret;
    *out = NULL;
    if (n == 1 || from)
        ret = input_kind(path[0], from, out, err);
    else
        ret = what_is(path[0], out, err);
    if (ret == 0 && *out && n > 1)
        return err_set(err, ERR_USAGE, "name one such file, or recordings",
                       "%s (%s) does not say of which build it is: it cannot be added to others",
                       path[0], (*out)->name);
    return ret;
}

/* ---- recordings of several runs ---- */

/* One run's files, and its profile. */
struct run_input {
    const char *const *path;
    size_t n;
    uint64_t run_id; /* 0: it is all in one file */
    uint64_t code_sum;
    struct profile *profile;
    struct symbols *syms;
};

/* What follows in the same run belongs to the one before it. */
static int sort_into_runs(const char *const *path, size_t n, struct run_input *run, size_t *nruns,
                          struct err *err)
{
    *nruns = 0;
    for (size_t i = 0; i < n; i++) {
        struct recording *r;
        const struct importer *other = NULL;
        int ret = 0;
        if (i)
            ret = what_is(path[i], &other, err);
        if (ret == 0 && other)
            ret = err_set(err, ERR_USAGE, "name recordings only",
                          "%s (%s) does not say of which build it is", path[i], other->name);
        if (ret == 0)
            ret = recording_open(path[i], &r, err);
        if (ret < 0)
            return ret;
        const struct recording_header *h = recording_header(r);
        struct run_input *last = NULL;
        if (*nruns)
            last = &run[*nruns - 1];
        if (last && h->part && last->run_id == h->run_id)
            last->n++;
        else
            run[(*nruns)++] = (struct run_input){ .path = &path[i],
                                                  .n = 1,
                                                  .run_id = number_if(h->part, h->run_id),
                                                  .code_sum = h->code_sum };
        recording_close(r);
    }
    return 0;
}

/* The sum of the runs of one kind, traces or samples; NULL: there is none. One alone is taken out
 * of its run, since a merged profile knows less.
 * first   name and build of the first of them */
static int merge_runs(struct run_input *run, size_t n, enum profile_type type, struct profile **sum,
                      struct merge_input *first, struct err *err)
{
    struct merge_input *in = calloc(n, sizeof *in);
    struct profile **only = NULL;
    size_t found = 0;
    int ret = 0;
    *sum = NULL;
    if (!in)
        return err_set(err, ERR_NOMEM, "close other programs", "merge: out of memory");
    for (size_t i = 0; i < n; i++)
        if (run[i].profile && run[i].profile->type == type) {
            in[found++] = (struct merge_input){ run[i].profile, run[i].path[0], run[i].code_sum };
            only = &run[i].profile;
        }
    *first = in[0];
    if (found > 1) {
        ret = profile_merge(in, found, sum, err);
    } else if (found) {
        *sum = *only;
        *only = NULL;
    }
    first->profile = *sum;
    free(in);
    return ret;
}

/* Traces are added up, and so are samples. Where there are both, the samples are put beside the
 * trace. */
static int sum_runs(struct run_input *run, size_t n, struct profile **p, struct err *err)
{
    struct profile *trace = NULL, *samples = NULL;
    struct merge_input of_trace, of_samples;
    int ret = merge_runs(run, n, PROFILE_TRACE, &trace, &of_trace, err);
    if (ret == 0)
        ret = merge_runs(run, n, PROFILE_STATISTICAL, &samples, &of_samples, err);
    if (ret == 0 && trace && samples)
        ret = sampled_take(trace, &of_trace, &of_samples, err);
    if (ret == 0 && trace) {
        *p = trace;
        trace = NULL;
    } else if (ret == 0) {
        *p = samples;
        samples = NULL;
    }
    profile_free(trace);
    profile_free(samples);
    return ret;
}

/* The symbols of the first run are those of all: they are of one build. */
static int replay_runs(struct run_input *run, size_t n, const char *elf, struct profile **p,
                       struct symbols **syms, struct err *err)
{
    int ret = 0;
    for (size_t i = 0; ret == 0 && i < n; i++)
        ret = replay_files(run[i].path, run[i].n, elf, &run[i].profile, &run[i].syms, err);
    if (ret == 0)
        ret = sum_runs(run, n, p, err);
    if (ret == 0) {
        *syms = run[0].syms;
        run[0].syms = NULL;
    }
    for (size_t i = 0; i < n; i++) {
        profile_free(run[i].profile);
        symbols_close(run[i].syms);
    }
    return ret;
}

static int replay_all_runs(const char *const *path, size_t n, const char *elf, struct profile **p,
                           struct symbols **syms, struct err *err)
{
    size_t nruns;
    if (n == 1)
        return replay_files(path, n, elf, p, syms, err);
    struct run_input *run = calloc(n, sizeof *run);
    if (!run)
        return err_set(err, ERR_NOMEM, "close other programs", "merge: out of memory");
    int ret = sort_into_runs(path, n, run, &nruns, err);
    if (ret == 0)
        ret = replay_runs(run, nruns, elf, p, syms, err);
    free(run);
    return ret;
}

/* What a bridge has counted is one profile, with its names. */
static int read_url(struct cli *cli, const char *const *path, size_t n, const char *from,
                    const char *elf, struct profile **p, struct err *err)
{
    const char *other = NULL;
    if (n > 1)
        other = path[1];
    else if (text_given(elf))
        other = "--elf";
    else if (from && strcmp(from, "json") != 0)
        other = "--from";
    if (other)
        return err_set(err, ERR_USAGE, "leave one of them out",
                       "%s is a bridge, whose profile is alone and whole: it has no use for %s",
                       path[0], other);
    int ret = input_read_url(path[0], p, err);
    if (ret == 0)
        input_remarks(cli, *p);
    return ret;
}

int input_profiles(struct cli *cli, const char *const *path, size_t n, const char *from,
                   const char *elf, struct profile **p, struct symbols **syms, struct err *err)
{
    const struct importer *is;
    *syms = NULL;
    if (input_is_url(path[0]))
        return read_url(cli, path, n, from, elf, p, err);
    int ret = kind_of_all(path, n, from, &is, err);
    if (ret < 0)
        return ret;
    if (is)
        ret = importer_read(is, path[0], elf, p, syms, err);
    else
        ret = replay_all_runs(path, n, text_given(elf), p, syms, err);
    if (ret == 0)
        input_remarks(cli, *p);
    return ret;
}

int input_profile(struct cli *cli, const char *path, const char *from, const char *elf,
                  struct profile **p, struct symbols **syms, struct err *err)
{
    return input_profiles(cli, &path, 1, from, elf, p, syms, err);
}

int input_watched(struct cli *cli, const char *const *path, size_t n, const char *elf,
                  struct capture *c, struct profile **p, struct symbols **syms, struct err *err)
{
    int ret = replay_watched(path, n, elf, c, p, syms, err);
    if (ret < 0)
        return ret;
    input_remarks(cli, *p);
    calltree_watch_end(c->tree);
    return 0;
}

static int watch_recording(struct cli *cli, const char *const *path, size_t n, const char *elf,
                           struct profile **p, struct symbols **syms, struct err *err)
{
    struct capture c = { .watches = true };
    int ret = replay_watched(path, n, elf, &c, p, syms, err);
    if (ret == 0)
        input_remarks(cli, *p);
    capture_close(&c); /* the profile has all of it */
    return ret;
}

int input_profile_watched(struct cli *cli, const char *const *path, size_t n, const char *elf,
                          struct profile **p, struct symbols **syms, struct err *err)
{
    int ret;
    if (input_is_url(path[0]))
        ret = read_url(cli, path, n, NULL, elf, p, err);
    else
        ret = watch_recording(cli, path, n, text_given(elf), p, syms, err);
    if (ret == 0 && (*p)->watched && (*p)->watched->dropped)
        cli_warn(cli, "%s: %llu calls and stretches found no room, and are in no row", path[0],
                 (unsigned long long)(*p)->watched->dropped);
    return ret;
}

void input_remarks(struct cli *cli, const struct profile *p)
{
    for (size_t i = 0; i < p->info.nremarks; i++)
        cli_warn(cli, "%s", p->info.remarks[i].text);
}
