/* A profile as it stood at one moment, for readers that must not wait for the thread that owns the
 * profile, nor be waited for.
 *
 * The owner says when something has changed, and takes a snapshot when somebody wants one: only
 * that costs anything. It is a whole profile, made by the function that makes the report's, so its
 * figures are the report's. Nobody changes it any more; any thread may read it, keep it as long as
 * it wants, and hand it on. When the last one who has it gives it back, its memory is free. */
#ifndef PROFILER_PROFILE_SNAPSHOT_H
#define PROFILER_PROFILE_SNAPSHOT_H

#include <stdbool.h>
#include <stdint.h>

#include "probe/base/err.h"
#include "profiler/profile/profile.h"

struct snapshot;  /* private to snapshot.c */
struct snapshots; /* of one profile, private too */

/* Makes the profile as it is now; 0 or an error. */
typedef int snapshot_build(void *ctx, struct profile **out, struct err *err);

/* snapshots_new - of a profile of version 0. Returns 0 or -ERR_NOMEM. */
int snapshots_new(struct snapshots **out, struct err *err);

/* snapshots_free - the owner is done; snapshots that are still held stay. NULL is fine. */
void snapshots_free(struct snapshots *s);

/* snapshots_changed - the profile is another one: its version grows. The owner's thread. */
void snapshots_changed(struct snapshots *s);

/* snapshots_take - the profile of now, given back by snapshot_release(). While it has not changed
 * since the last one, and somebody still has that, it is that; else build(ctx) makes it, on this
 * thread, the owner's. Returns 0 or what build() does. */
int snapshots_take(struct snapshots *s, snapshot_build *build, void *ctx,
                   const struct snapshot **out, struct err *err);

/* snapshots_last - the one taken last, given back by snapshot_release(); NULL if nobody has it any
 * more. Any thread, while s is there. */
const struct snapshot *snapshots_last(struct snapshots *s);

/* snapshot_profile, snapshot_version - the profile, and its number: it grows with each change, so
 * two of one number are the same. Borrowed as long as the snapshot is held. Any thread. */
const struct profile *snapshot_profile(const struct snapshot *n);
uint64_t snapshot_version(const struct snapshot *n);

/* snapshot_keep - one more has it; returns n. snapshot_release - one less; true if that was the
 * last, and its memory is free. NULL is fine, false. Any thread. */
const struct snapshot *snapshot_keep(const struct snapshot *n);
bool snapshot_release(const struct snapshot *n);

#endif
