/* Tags put on functions and taken off in the text of a file of marks (marks.h). What else is in it
 * stays, byte for byte: comments, the order, other marks. */
#ifndef PROFILER_PROFILE_MARKS_EDIT_H
#define PROFILER_PROFILE_MARKS_EDIT_H

#include "probe/base/buffer.h"
#include "profiler/profile/marks.h"

enum marks_change { MARKS_TAG, MARKS_UNTAG, MARKS_UNTAG_ALL };

struct marks_edit {
    enum marks_change change;
    /* WHICH of marks.h, or a name that a line of the file gives; NULL of MARKS_UNTAG_ALL */
    const char *name;
};

/* Lines added and taken away; untagged also counts tags that were the profile's own, of a .prf. */
struct marks_edited {
    size_t tagged, untagged;
};

/* marks_edit - one change
 * text   the file's; as it was on failure
 * file   its name, for messages
 * p      tells which functions a name means, before marks are applied to it; a tag of its own goes
 *        when it is taken off
 * done   is added to
 * A tag that is there already is not added. Whether a name means anything profile_apply_marks()
 * says. Returns 0; -ERR_FORMAT: the file cannot be read, -ERR_USAGE: no name, -ERR_NOT_FOUND: what
 * is to be untagged has no tag, or one by an expression, -ERR_NOMEM. */
int marks_edit(struct buffer *text, const char *file, const struct marks_edit *e, struct profile *p,
               struct marks_edited *done, struct err *err);

#endif
