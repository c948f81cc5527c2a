/* Compares sets of numbers as `probeprof diff` does, for the test that does it again by itself.
 *
 * usage: diff_of < SETS    a line is a comparison: numbers, |, numbers; an empty line ends those
 * that are judged together. Prints for each: verdict, chance, spread ("nan" if not known). */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "profiler/profile/diff.h"
#include "profiler/views/report_diff.h"

enum { MOST = 64, LINE = 1 << 16 };

static struct diff_result compare_line(char *line)
{
    struct moments of[2] = { { .n = 0 } };
    struct diff_result r;
    int side = 0;
    for (char *word = strtok(line, " \n"); word; word = strtok(NULL, " \n"))
        if (strcmp(word, "|") == 0)
            side = 1;
        else
            moments_add(&of[side], strtod(word, NULL));
    diff_compare(&of[0], &of[1], &r);
    return r;
}

static int judge_family(struct diff_result *r, size_t n)
{
    struct diff_result *all[MOST] = { NULL };
    struct err err = { .code = ERR_OK };
    for (size_t i = 0; i < n; i++)
        all[i] = &r[i];
    if (diff_judge(all, n, &err) < 0)
        return 1;
    for (size_t i = 0; i < n; i++)
        printf("%s %.17g %.17g\n", report_diff_verdict(r[i].verdict), r[i].chance, r[i].spread);
    return 0;
}

int main(void)
{
    static char line[LINE];
    struct diff_result r[MOST];
    size_t n = 0;
    while (fgets(line, sizeof line, stdin)) {
        if (*line != '\n' && n < MOST) {
            r[n++] = compare_line(line);
            continue;
        }
        if (judge_family(r, n))
            return 1;
        n = 0;
    }
    return n ? judge_family(r, n) : 0;
}
