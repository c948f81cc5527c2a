/* Sentences for a terminal of 80 columns. */
#ifndef PROFILER_CLI_FOLD_H
#define PROFILER_CLI_FOLD_H

#include <stdio.h>

/* fold - text in lines of at most 79 columns, broken at blanks and indented; nothing for "". A word that fits no line stays whole. */
void fold(FILE *out, int indent, const char *text);

#endif
