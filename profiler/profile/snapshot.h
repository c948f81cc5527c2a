/* A profile as it was at one moment, for readers that must neither wait for the thread that owns
 * the profile nor make it wait.
 *
 * The owner marks changes, and takes a snapshot when a reader asks for one: only that has a cost.
 * A snapshot is a whole profile, made by the function that makes the report's, so its figures are
 * the report's. It never changes; any thread may read it, keep it, and pass it on. Its memory is
 * freed when the last reference is given back. */
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

/* snapshots_free - frees the owner's part; snapshots that are still held stay. NULL is fine. */
void snapshots_free(struct snapshots *s);

/* snapshots_changed - the profile has changed: its version grows. The owner's thread. */
void snapshots_changed(struct snapshots *s);

/* snapshots_take - the profile of now, given back by snapshot_release(). If the profile has not
 * changed since the last snapshot, and that is still held, it is the same one; else build(ctx)
 * makes it, on this thread, the owner's. Returns 0 or what build() does. */
int snapshots_take(struct snapshots *s, snapshot_build *build, void *ctx,
                   const struct snapshot **out, struct err *err);

/* snapshots_last - the one taken last, given back by snapshot_release(); NULL if it is not held
 * any more. Any thread, while s is there. */
const struct snapshot *snapshots_last(struct snapshots *s);

/* snapshot_profile, snapshot_version - the profile, and its number: it grows with each change, so
 * two of one number are the same. Borrowed as long as the snapshot is held. Any thread. */
const struct profile *snapshot_profile(const struct snapshot *n);
uint64_t snapshot_version(const struct snapshot *n);

/* snapshot_keep - takes one more reference; returns n. snapshot_release - gives one back; true if
 * it was the last, and the memory is freed. NULL is fine, false. Any thread. */
const struct snapshot *snapshot_keep(const struct snapshot *n);
bool snapshot_release(const struct snapshot *n);

#endif
