/* Which functions the lines of a file of marks (marks.h) mean, ready to be asked of one function
 * after another: of a profile that is complete, and of one that grows. What a line means of a
 * function depends on that function alone, so the answer is the same in both. */
#ifndef PROFILER_PROFILE_MARKS_MATCH_H
#define PROFILER_PROFILE_MARKS_MATCH_H

#include "profiler/profile/marks.h"

struct marks_matcher; /* private to marks_match.c */

/* marks_matcher_new - all lines of m, which is borrowed until marks_matcher_free(). Returns 0 or
 * -ERR_NOMEM. */
int marks_matcher_new(const struct marks *m, struct marks_matcher **out, struct err *err);

/* marks_matcher_free - NULL is fine. */
void marks_matcher_free(struct marks_matcher *x);

/* marks_matcher_means - whether line k of marks_list() means f, by the name it has before marks. A
 * block's never does. */
bool marks_matcher_means(const struct marks_matcher *x, size_t k, const struct profile_function *f);

/* marks_matcher_in_program - whether line k means a function of the program, be it one that never
 * ran; syms NULL: false. *n (NULL is fine): how many. */
bool marks_matcher_in_program(const struct marks_matcher *x, size_t k, const struct symbols *syms,
                              size_t *n);

/* What all lines together make of a function. Borrowed from the marks. */
struct mark_effect {
    const char *rename;      /* its new name; NULL: none */
    const struct mark *to;   /* the group or exclusion that it is in; NULL: none */
    const struct mark *also; /* another one that it is in, which is a mistake; NULL: none */
    bool tag;
};

/* marks_effect - of one function; of two names the last holds, of two groups the first. x NULL: no
 * effect. */
struct mark_effect marks_effect(const struct marks_matcher *x, const struct profile_function *f);

/* marks_group_row - what stands for a group or an exclusion in a table, its sums 0. Its name is
 * borrowed from the mark. */
struct profile_function marks_group_row(const struct mark *to);

/* marks_same_group - whether two lines lead into one row. */
bool marks_same_group(const struct mark *a, const struct mark *b);

/* marks_check - before a profile is taken: what of the marks cannot hold for this program, whatever
 * runs
 * syms   of the program
 * Refused, with file and line: a name that nothing in it has, one to rename that several have, a
 * function in two groups. Names of what is no function (tasks, losses, vectors) and addresses are
 * let pass. Returns 0, -ERR_NOT_FOUND, -ERR_USAGE, -ERR_NOMEM. */
int marks_check(const struct marks *m, const struct symbols *syms, struct err *err);

#endif
