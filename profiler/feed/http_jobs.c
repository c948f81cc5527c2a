#include "profiler/feed/http_jobs.h"

#include <stdlib.h>
#include <string.h>

#include "probe/base/list.h"
#include "probe/base/util.h"
#include "profiler/feed/gzip.h"

struct job {
    struct http_work work; /* first: the owner knows this part only */
    struct job *next, **at;
    struct http_api *api; /* NULL: the service is gone, and the request with it */
    struct http_ticket *ticket;
    struct http_answer answer;
    /* a document is to be written; NULL: the body is there */
    const struct exporter *as;
    const struct snapshot *from;
    bool gzip;
    int ret;
    struct err err;
};

struct jobs {
    struct job *first;
    unsigned n;
};

/* ---- on any thread ---- */

static void write_document(struct job *j)
{
    struct text_sink out = http_bytes_sink(j->answer.body);
    static const struct report_options all;
    j->ret = j->as->write(snapshot_profile(j->from), &all, &out, &j->err);
}

static void compress_body(struct job *j)
{
    struct http_bytes *small = gzip_bytes(j->answer.body);
    if (!small)
        return; /* as it is, then */
    http_bytes_release(j->answer.body);
    j->answer.body = small;
    j->answer.gzipped = true;
}

static void run_job(struct http_work *w)
{
    struct job *j = (struct job *)w;
    if (j->as)
        write_document(j);
    if (j->ret == 0 && j->gzip && !j->answer.body->bytes.failed &&
        j->answer.body->bytes.size >= JOBS_LEAST_BYTES)
        compress_body(j);
}

/* ---- on the loop's ---- */

/* What was compressed is another representation: it has a tag of its own. */
static void mark_tag(struct http_answer *a)
{
    size_t n = strlen(a->etag);
    if (a->gzipped && n > 1 && n + strlen(CALL_GZIP_TAG) < sizeof a->etag) {
        a->etag[n - 1] = 0;
        strcat(a->etag, CALL_GZIP_TAG "\"");
    }
}

static void free_job(struct job *j)
{
    http_bytes_release(j->answer.body);
    snapshot_release(j->from);
    free(j);
}

static void leave_list(struct job *j)
{
    LIST_REMOVE(j);
    j->api->jobs->n--;
}

static void end_job(struct http_work *w)
{
    struct job *j = (struct job *)w;
    struct http_api *api = j->api;
    if (!api) {
        free_job(j);
        return;
    }
    leave_list(j);
    if (j->ret < 0)
        call_fail(&j->answer, &j->err);
    mark_tag(&j->answer);
    http_answer(j->ticket, &j->answer); /* takes the body over */
    free_job(j);
    http_run(api->http, api->cfg.owner.now_ns(api->cfg.owner.ctx));
}

/* The answer comes later; false: it is one already that says why not. */
static bool begin_job(const struct call *c, struct job *j)
{
    struct jobs *all = c->api->jobs;
    const struct http_owner *o = &c->api->cfg.owner;
    j->work = (struct http_work){ run_job, end_job };
    j->api = c->api;
    j->ticket = c->r->ticket;
    j->gzip = c->r->gzip;
    if (all->n >= JOBS_MOST || o->work(o->ctx, &j->work) < 0) {
        c->a->retry_s = 1;
        http_fail(c->a, 503, "busy", "many large answers are being made", "ask again in a second");
        return false;
    }
    LIST_ADD(&all->first, j);
    all->n++;
    return true;
}

void jobs_export(const struct call *c, const struct exporter *as, const struct snapshot *from)
{
    struct job *j = calloc(1, sizeof *j);
    if (!j) {
        snapshot_release(from);
        http_fail(c->a, 503, "memory", "the feed is out of memory", "close other programs");
        return;
    }
    j->answer = *c->a;
    j->as = as;
    j->from = from;
    if (begin_job(c, j)) {
        *c->a = (struct http_answer){ .later = true };
        return;
    }
    j->answer.body = NULL; /* http_fail() has released it */
    free_job(j);
}

void jobs_gzip(const struct call *c)
{
    struct http_answer *a = c->a;
    if (a->later || a->stream || !a->body || a->body->bytes.failed ||
        a->body->bytes.size < JOBS_LEAST_BYTES)
        return;
    a->varies = true;
    struct job *j = NULL;
    if (c->r->gzip)
        j = calloc(1, sizeof *j);
    if (!j)
        return;
    j->answer = *a;
    if (c->api->jobs->n < JOBS_MOST && begin_job(c, j)) {
        *a = (struct http_answer){ .later = true };
        return;
    }
    j->answer.body = NULL;
    free_job(j);
}

int jobs_new(struct jobs **out, struct err *err)
{
    *out = calloc(1, sizeof **out);
    if (*out)
        return 0;
    return err_set(err, ERR_NOMEM, "close other programs", "feed: out of memory");
}

void jobs_free(struct jobs *j)
{
    for (struct job *one = j ? j->first : NULL; one; one = one->next)
        one->api = NULL;
    free(j);
}
