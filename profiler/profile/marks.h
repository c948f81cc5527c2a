/* What somebody has written down of a program's functions, for every view of its profiles: the file
 * probeprof.marks. One mark a line:
 *
 *   # comment
 *   tag      WHICH              its row begins with a star, in a .prf it is tagged
 *   rename   WHICH = NEW NAME   shown by that name; linkage names stay
 *   exclude  WHICH              not wanted as a row: all of them are one, "(excluded)"
 *   group    NAME = WHICH       those of a group are one function of that name
 *   block    NAME = LOW..HIGH   a part of a function, measured by itself; HIGH is the first address
 *                               behind it
 *
 * WHICH is a function's name as a report has it, also the linker's or the qualified one; an address
 * (0x...) in it; or a regular expression (POSIX, extended) between slashes. The file is input only:
 * it names functions, and can neither run nor write anything. */
#ifndef PROFILER_PROFILE_MARKS_H
#define PROFILER_PROFILE_MARKS_H

#include "profiler/core/symbols.h"
#include "profiler/profile/profile.h"

enum {
    MARKS_FILE_BYTES = 1 << 20, /* a larger file is refused */
    MARKS_MOST = 4096
};

enum mark_kind { MARK_TAG, MARK_RENAME, MARK_EXCLUDE, MARK_GROUP, MARK_BLOCK, MARK_NKINDS };

/* One line. Strings belong to the marks. */
struct mark {
    enum mark_kind kind;
    int line;
    const char *which; /* as written, a regular expression without its slashes; "" of a block */
    bool is_regex;
    const char *name;            /* of RENAME, GROUP, BLOCK; "" else */
    const char *low, *high;      /* of a BLOCK, as written; "" else */
    int low_column, high_column; /* of a BLOCK: where those stand in the line, from 1 */
};

struct marks; /* private to marks.c */

/* marks_parse - the text of a file
 * text, len   need not end in a line end, may hold anything
 * file        for messages: they begin with FILE:LINE
 * out         freed with marks_free()
 * Returns 0, -ERR_FORMAT, -ERR_NOMEM. */
int marks_parse(const char *text, size_t len, const char *file, struct marks **out,
                struct err *err);

/* marks_read - the same of a file; also -ERR_NOT_FOUND, -ERR_IO. */
int marks_read(const char *path, struct marks **out, struct err *err);

/* marks_free - NULL is fine. */
void marks_free(struct marks *m);

/* marks_list - all of them, in the order of the file; borrowed until marks_free(). */
const struct mark *marks_list(const struct marks *m, size_t *n);

/* marks_file - the name they were read by; borrowed. */
const char *marks_file(const struct marks *m);

/* marks_blocks - measures the blocks of m from now on: symbols_set_blocks()
 * n   how many there are
 * Addresses may have any form that symbols_parse() takes. Returns 0; what symbols_parse() and
 * symbols_set_blocks() do, with file, line and column, and -ERR_FORMAT for their -ERR_USAGE. */
int marks_blocks(const struct marks *m, struct symbols *syms, size_t *n, struct err *err);

/* mark_means - whether a mark's WHICH is this function, by the name it has before marks. */
bool mark_means(const struct mark *k, const struct profile_function *f);

/* profile_apply_marks - names, tags and rows of p become what they say; sums of the whole stay
 * syms   tells a function that has not run from a name that nothing has; NULL: unknown, so a name
 *        that p has not is an error
 * Several functions that are one now have the sum of their hits and counters; what they called is
 * counted once where one calls the other. Refused, with file and line: a name that matches nothing,
 * one to rename that several have, a function in two groups, and a block that was not measured.
 * Returns 0, -ERR_NOT_FOUND, -ERR_USAGE, -ERR_UNSUPPORTED, -ERR_NOMEM; p is unchanged but for
 * memory then. */
int profile_apply_marks(struct profile *p, const struct marks *m, const struct symbols *syms,
                        struct err *err);

/* profile_apply_names - the same without groups and exclusions, for what is shown of each function
 * by itself: names and tags. */
int profile_apply_names(struct profile *p, const struct marks *m, const struct symbols *syms,
                        struct err *err);

/* profile_apply_marks_partly - as profile_apply_marks(), for one of several builds: a name that
 * this one has not is not refused, since another may have it. */
int profile_apply_marks_partly(struct profile *p, const struct marks *m, const struct symbols *syms,
                               struct err *err);

#endif
