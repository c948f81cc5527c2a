#include "profiler/profile/snapshot.h"

#include <pthread.h>
#include <stdlib.h>

struct snapshot {
    struct snapshots *of;
    struct profile *profile;
    uint64_t version;
    unsigned holders; /* under of->lock */
};

struct snapshots {
    uint64_t version; /* the owner's */
    pthread_mutex_t lock;
    /* under lock */
    struct snapshot *last; /* taken last; not held here: NULL when nobody has it */
    unsigned users;        /* the owner, and each snapshot: the last one frees this */
};

int snapshots_new(struct snapshots **out, struct err *err)
{
    struct snapshots *s = calloc(1, sizeof *s);
    if (!s)
        return err_set(err, ERR_NOMEM, "close other programs", "snapshots: out of memory");
    pthread_mutex_init(&s->lock, NULL);
    s->users = 1;
    *out = s;
    return 0;
}

/* Unlocks; s may be gone then. */
static void leave_and_unlock(struct snapshots *s)
{
    bool last = --s->users == 0;
    pthread_mutex_unlock(&s->lock);
    if (!last)
        return;
    pthread_mutex_destroy(&s->lock);
    free(s);
}

void snapshots_free(struct snapshots *s)
{
    if (!s)
        return;
    pthread_mutex_lock(&s->lock);
    leave_and_unlock(s);
}

void snapshots_changed(struct snapshots *s) { s->version++; }

const struct snapshot *snapshots_last(struct snapshots *s)
{
    pthread_mutex_lock(&s->lock);
    struct snapshot *n = s->last;
    if (n)
        n->holders++;
    pthread_mutex_unlock(&s->lock);
    return n;
}

static int make_snapshot(struct snapshots *s, snapshot_build *build, void *ctx,
                         struct snapshot **out, struct err *err)
{
    struct snapshot *n = calloc(1, sizeof *n);
    if (!n)
        return err_set(err, ERR_NOMEM, "close other programs", "snapshot: out of memory");
    int ret = build(ctx, &n->profile, err);
    if (ret < 0) {
        free(n);
        return ret;
    }
    n->of = s;
    n->version = s->version;
    n->holders = 1;
    *out = n;
    return 0;
}

int snapshots_take(struct snapshots *s, snapshot_build *build, void *ctx,
                   const struct snapshot **out, struct err *err)
{
    const struct snapshot *last = snapshots_last(s);
    struct snapshot *n = NULL;
    if (last && last->version == s->version) {
        *out = last;
        return 0;
    }
    snapshot_release(last);
    int ret = make_snapshot(s, build, ctx, &n, err); /* readers do not wait for this */
    if (ret < 0)
        return ret;
    pthread_mutex_lock(&s->lock);
    s->last = n;
    s->users++;
    pthread_mutex_unlock(&s->lock);
    *out = n;
    return 0;
}

const struct profile *snapshot_profile(const struct snapshot *n) { return n->profile; }

uint64_t snapshot_version(const struct snapshot *n) { return n->version; }

/* Readers hold a const one: what is counted here is not the profile's. */
static struct snapshot *own_snapshot(const struct snapshot *n) { return (void *)(uintptr_t)n; }

const struct snapshot *snapshot_keep(const struct snapshot *n)
{
    pthread_mutex_lock(&n->of->lock);
    own_snapshot(n)->holders++;
    pthread_mutex_unlock(&n->of->lock);
    return n;
}

bool snapshot_release(const struct snapshot *given)
{
    struct snapshot *n = own_snapshot(given);
    if (!n)
        return false;
    struct snapshots *s = n->of;
    pthread_mutex_lock(&s->lock);
    if (--n->holders > 0) {
        pthread_mutex_unlock(&s->lock);
        return false;
    }
    if (s->last == n)
        s->last = NULL;
    leave_and_unlock(s);
    profile_free(n->profile);
    free(n);
    return true;
}
