#include "probe/base/nearest.h"

#include <ctype.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>

#include "probe/base/util.h"

enum { DISTANCE_MAX_LEN = 64 };

static bool same_letter(char a, char b)
{
    return tolower((unsigned char)a) == tolower((unsigned char)b);
}

unsigned edit_distance(const char *a, const char *b)
{
    size_t na = strnlen(a, DISTANCE_MAX_LEN), nb = strnlen(b, DISTANCE_MAX_LEN);
    unsigned row[3][DISTANCE_MAX_LEN + 1];
    unsigned *before = row[0], *prev = row[1], *cur = row[2];
    for (size_t j = 0; j <= nb; j++)
        prev[j] = (unsigned)j;
    for (size_t i = 1; i <= na; i++) {
        cur[0] = (unsigned)i;
        for (size_t j = 1; j <= nb; j++) {
            unsigned best = prev[j - 1] + !same_letter(a[i - 1], b[j - 1]);
            best = MIN(best, prev[j] + 1);
            best = MIN(best, cur[j - 1] + 1);
            if (i > 1 && j > 1 && same_letter(a[i - 1], b[j - 2]) &&
                same_letter(a[i - 2], b[j - 1]))
                best = MIN(best, before[j - 2] + 1);
            cur[j] = best;
        }
        unsigned *spare = before;
        before = prev;
        prev = cur;
        cur = spare;
    }
    return prev[nb];
}

static bool text_contains(const char *text, const char *part)
{
    return strlen(part) >= 3 && strcasestr(text, part);
}

void nearest_offer(struct nearest *n, const char *candidate)
{
    unsigned d = edit_distance(n->wanted, candidate);
    size_t longer = MAX(strlen(n->wanted), strlen(candidate));
    if (text_contains(candidate, n->wanted) || text_contains(n->wanted, candidate))
        d = MIN(d, 1u);
    if (d > longer / 3 + 1 || d >= longer)
        return;
    for (size_t i = 0; i < n->n; i++)
        if (!strcmp(n->name[i], candidate))
            return;
    size_t at = n->n;
    while (at > 0 && d < n->distance[at - 1])
        at--;
    if (at == NEAREST_MAX)
        return;
    if (n->n < NEAREST_MAX)
        n->n++;
    for (size_t i = n->n - 1; i > at; i--) {
        n->name[i] = n->name[i - 1];
        n->distance[i] = n->distance[i - 1];
    }
    n->name[at] = candidate;
    n->distance[at] = d;
}

char *nearest_text(const struct nearest *n, const char *fallback, char *buf, size_t cap)
{
    if (n->n == 0)
        snprintf(buf, cap, "%s", fallback);
    else if (n->n == 1)
        snprintf(buf, cap, "did you mean %s?", n->name[0]);
    else if (n->n == 2)
        snprintf(buf, cap, "did you mean %s or %s?", n->name[0], n->name[1]);
    else
        snprintf(buf, cap, "did you mean %s, %s or %s?", n->name[0], n->name[1], n->name[2]);
    return buf;
}
