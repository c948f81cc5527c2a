/* Any text as a file of marks: what is refused names the file and a line and says what to do; what
 * is taken has the parts its kind needs, and harms no profile: its sums stay. */
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "profiler/profile/marks.h"
#include "profiler/profile/marks_edit.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static struct profile *small_profile(void)
{
    static const char *const name[] = { "main", "memcpy", "memset", "fn_12" };
    struct profile *p;
    if (profile_new(&p, NULL) < 0)
        abort();
    p->type = PROFILE_TRACE;
    p->functions = arena_alloc(&p->arena, 4 * sizeof *p->functions);
    p->nodes = arena_alloc(&p->arena, 4 * sizeof *p->nodes);
    for (uint32_t i = 0; i < 4; i++) {
        p->functions[i] = (struct profile_function){
            .name = name[i], .linkage = "", .qualified = "", .hits = 1, .c1 = 10, .c1_children = 40
        };
        p->functions[i].low = 0x100 * (i + 1);
        p->functions[i].high = p->functions[i].low + 0x100;
        p->nodes[i] = (struct profile_node){ .parent = i ? i - 1 : PROFILE_NO_PARENT,
                                             .function = i,
                                             .hits = 1,
                                             .c1 = 10,
                                             .c1_children = 10 * (4 - i) };
    }
    p->nfunctions = p->nnodes = 4;
    return p;
}

static void check_sums(const struct profile *p)
{
    uint64_t c1 = 0, hits = 0;
    for (size_t i = 0; i < p->nfunctions; i++) {
        c1 += p->functions[i].c1;
        hits += p->functions[i].hits;
        if (!p->functions[i].name || p->functions[i].c1_children > 40)
            abort();
    }
    for (size_t i = 0; i < p->nnodes; i++)
        if (p->nodes[i].function >= p->nfunctions)
            abort();
    if (c1 != 40 || hits != 4)
        abort();
}

static size_t count_kind(const struct buffer *text, enum mark_kind kind)
{
    struct marks *m = NULL;
    size_t n, of = 0;
    if (marks_parse(text->data ? text->data : "", text->size, "f.marks", &m, NULL) < 0)
        abort(); /* what was read before is so behind every change */
    const struct mark *k = marks_list(m, &n);
    for (size_t i = 0; i < n; i++)
        of += k[i].kind == kind;
    marks_free(m);
    return of;
}

/* A tag put on and taken off again, then all of them: other marks stay. */
static void check_edits(const uint8_t *data, size_t size)
{
    static const struct marks_edit edits[] = { { MARKS_TAG, "fn_12" },
                                               { MARKS_UNTAG, "fn_12" },
                                               { MARKS_TAG, "/^mem/" },
                                               { MARKS_UNTAG_ALL, NULL } };
    struct buffer text = { .size = 0 };
    struct marks_edited done = { .tagged = 0 };
    struct profile *p = small_profile();
    buffer_add(&text, data, size);
    size_t excluded = count_kind(&text, MARK_EXCLUDE), renamed = count_kind(&text, MARK_RENAME);
    for (size_t i = 0; i < sizeof edits / sizeof *edits; i++) {
        struct err err = { .code = ERR_OK };
        int ret = marks_edit(&text, "f.marks", &edits[i], p, &done, &err);
        if (ret < 0 && (!*err.hint || ret == -ERR_NOMEM))
            abort();
        if (ret < 0 && text.size < MARKS_FILE_BYTES)
            break; /* a line names another function fn_12, or there were as many as can be */
        if (count_kind(&text, MARK_EXCLUDE) != excluded ||
            count_kind(&text, MARK_RENAME) != renamed)
            abort();
        if (edits[i].change == MARKS_UNTAG_ALL && count_kind(&text, MARK_TAG))
            abort();
    }
    profile_free(p);
    buffer_fini(&text);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct marks *m = NULL;
    struct err err = { .code = ERR_OK };
    size_t n;
    int ret = marks_parse((const char *)data, size, "f.marks", &m, &err);
    if (ret < 0) {
        if (ret != -ERR_FORMAT || !*err.hint || strncmp(err.what, "f.marks", 7) || m)
            abort();
        return 0;
    }
    const struct mark *k = marks_list(m, &n);
    for (size_t i = 0; i < n; i++)
        if (k[i].kind == MARK_BLOCK ? !*k[i].low || !*k[i].high || !*k[i].name : !*k[i].which)
            abort();
    struct profile *p = small_profile();
    ret = profile_apply_marks(p, m, NULL, &err);
    if (ret < 0 && (!*err.hint || strncmp(err.what, "f.marks:", 8)))
        abort();
    check_sums(p);
    profile_free(p);
    marks_free(m);
    if (n < MARKS_MOST - 2 && size < MARKS_FILE_BYTES / 2)
        check_edits(data, size);
    return 0;
}
