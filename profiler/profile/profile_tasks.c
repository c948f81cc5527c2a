/* Tasks in a profile: their names, and what each of them took. */
#include <stdlib.h>

#include "profiler/profile/profile.h"

static int by_c1(const void *a, const void *b)
{
    const struct profile_task *x = a, *y = b;
    if (x->c1 != y->c1)
        return x->c1 > y->c1 ? -1 : 1;
    if (x->c2 != y->c2)
        return x->c2 > y->c2 ? -1 : 1;
    return (x->number > y->number) - (x->number < y->number);
}

static bool name_task(struct profile *p, struct profile_function *f, const struct task_row *row)
{
    char text[sizeof row->name + 32];
    f->name = arena_str(&p->arena, task_names_text(row, f->task, text, sizeof text));
    f->qualified = "";
    return f->name != NULL;
}

int profile_take_tasks(struct profile *p, const struct task_names *names, struct err *err)
{
    size_t n = 0;
    for (size_t i = 0; i < p->nfunctions; i++)
        n += p->functions[i].task != 0;
    p->tasks = arena_alloc(&p->arena, (n + 1) * sizeof *p->tasks);
    bool ok = p->tasks != NULL;
    for (size_t i = 0; ok && i < p->nfunctions; i++) {
        struct profile_function *f = &p->functions[i];
        const struct task_row *row = NULL;
        if (f->task)
            row = task_names_find(names, f->task);
        if (!f->task)
            continue;
        ok = name_task(p, f, row);
        struct profile_task *k = &p->tasks[p->ntasks++];
        *k = (struct profile_task){ .function = (uint32_t)i,
                                    .number = row ? row->number : -1,
                                    .c1 = f->c1_children,
                                    .c2 = f->c2_children };
        k->name = NULL;
        if (ok && row && *row->name)
            k->name = arena_str(&p->arena, row->name);
        ok = ok && (k->name || !row || !*row->name);
        k->low = 0;
        if (row)
            k->low = row->low;
        k->high = 0;
        if (row)
            k->high = row->high;
    }
    if (!ok)
        return err_set(err, ERR_NOMEM, "close other programs",
                       "profile: out of memory for %zu tasks", n);
    qsort(p->tasks, p->ntasks, sizeof *p->tasks, by_c1);
    return 0;
}
