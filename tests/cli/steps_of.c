/* Adds up the steps and activations of recordings and holds them against what the call tree and the
 * profile have.
 *
 * usage: steps_of RECORDING...      the files of one recording. Prints what there was, as JSON;
 * exit 1 and a line on stderr if sums differ */
#include <stdio.h>

#include "profiler/cli/replay.h"
#include "tests/profiler/watch_sums.h"

static void print_sums(const struct watch_sums *w, const struct calltree_stats *s)
{
    printf("{\"steps\": %llu, \"c1\": %llu, \"c2\": %llu, \"cycles\": %llu, \"active\": %llu,\n",
           (unsigned long long)w->total.steps, (unsigned long long)w->total.c1,
           (unsigned long long)w->total.c2, (unsigned long long)w->cycles,
           (unsigned long long)s->active_cycles);
    printf(" \"handler\": %llu, \"gap\": %llu, \"doubtful\": %llu, \"activations\": %llu, "
           "\"whole\": %llu}\n",
           (unsigned long long)w->handler_steps, (unsigned long long)w->gap_steps,
           (unsigned long long)w->doubtful_steps, (unsigned long long)w->left,
           (unsigned long long)w->whole);
}

int main(int argc, char **argv)
{
    struct watch_sums w;
    struct capture c = { .watch = &w.watch };
    struct profile *p;
    struct symbols *syms;
    struct err err = { .code = ERR_OK };
    watch_sums_init(&w);
    if (argc < 2 || replay_watched((const char *const *)argv + 1, (size_t)argc - 1, NULL, &c, &p,
                                   &syms, &err) < 0) {
        fprintf(stderr, "steps_of: %s\n", argc < 2 ? "no recording" : err.what);
        return 2;
    }
    const char *wrong = watch_sums_check(&w, c.tree, c.tasks.n > 0);
    if (wrong)
        fprintf(stderr, "steps_of: %s\n", wrong);
    print_sums(&w, calltree_stats(c.tree));
    watch_sums_fini(&w);
    profile_free(p);
    capture_close(&c);
    symbols_close(syms);
    return wrong != NULL;
}
