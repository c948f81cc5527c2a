/* Sentences for a terminal of 80 columns. */
#ifndef PROFILER_CLI_FOLD_H
#define PROFILER_CLI_FOLD_H

#include <stdio.h>

/* fold - text in lines of at most 79 columns, broken at blanks; nothing for "". A word that fits no
 * line stays whole. head   stands before the first line, blanks as wide before the others */
void fold(FILE *out, const char *head, const char *text);

#endif
