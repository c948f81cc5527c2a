/* The names of one report, shortened to the columns there are, but never so that two functions
 * look alike. */
#ifndef PROFILER_VIEWS_REPORT_NAMES_H
#define PROFILER_VIEWS_REPORT_NAMES_H

#include <stddef.h>
#include <stdint.h>

struct report_names; /* private to report_names.c */

/* report_names_new - room for n functions. NULL: out of memory. Caller frees with
 * report_names_free(). */
struct report_names *report_names_new(size_t n);

/* report_names_free - NULL is fine. */
void report_names_free(struct report_names *t);

/* report_names_set - function i (less than n) of the report, before the first text is asked for
 * name   as people would see it whole; borrowed until report_names_free()
 * low    its address: which is shown where nothing else distinguishes namesakes */
void report_names_set(struct report_names *t, size_t i, const char *name, uint64_t low);

/* report_names_text - function i's name in at most `columns` (5 at least), printable whatever it
 * holds Template arguments, then parameters, then the front of the scope give way to ".."; a form
 * that another function of the report would have, too, is passed over for one that shows what
 * differs, or for the address. The texts of two functions differ, whatever columns each has, from
 * 12 on. Returns buf (cap bytes: four a column are enough). */
char *report_names_text(struct report_names *t, size_t i, size_t columns, char *buf, size_t cap);

#endif
