#include "profiler/cli/report_marks.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "probe/base/choice.h"
#include "profiler/cli/marks_file.h"
#include "profiler/core/file_atomic.h"
#include "profiler/profile/marks.h"

int report_marks_edit(struct report_edits *edits, enum marks_change change, const char *name,
                      struct err *err)
{
    if (edits->n == REPORT_MARKS_EDITS)
        return err_set(err, ERR_USAGE, "write them into the file of --marks: tag NAME",
                       "more than %d tags to change", REPORT_MARKS_EDITS);
    edits->of[edits->n++] = (struct marks_edit){ change, name };
    return 0;
}

/* A file that is to be changed may not be there yet. */
static int read_text(const char *path, struct buffer *text, struct err *err)
{
    uint8_t *data;
    size_t len;
    if (access(path, F_OK) < 0)
        return 0;
    int ret = file_read_all(path, MARKS_FILE_BYTES + 1, &data, &len, err);
    if (ret < 0)
        return ret;
    buffer_add(text, data, len);
    free(data);
    if (text->failed)
        return err_set(err, ERR_NOMEM, "close other programs", "marks: out of memory");
    return 0;
}

static int write_text(struct cli *cli, const char *path, const struct buffer *text,
                      const struct marks_edited *done, struct err *err)
{
    int ret = 0;
    if (done->tagged || done->untagged)
        ret = file_write_atomic(path, (const uint8_t *)text_or(text->data, ""), text->size, err);
    if (ret == 0)
        cli_warn(cli, "%s: %zu tag%s added, %zu taken off", path, done->tagged,
                 plural_s(done->tagged), done->untagged);
    return ret;
}

static int change_and_apply(struct cli *cli, const struct settings *s, const char *path,
                            const struct report_edits *edits, struct profile *p,
                            const struct symbols *syms, struct err *err)
{
    struct buffer text = { .size = 0 };
    struct marks_edited done = { .tagged = 0 };
    struct marks *m = NULL;
    int ret = read_text(path, &text, err);
    for (size_t i = 0; ret == 0 && i < edits->n; i++)
        ret = marks_edit(&text, path, &edits->of[i], p, &done, err);
    if (ret == 0)
        ret = marks_parse(text_or(text.data, ""), text.size, path, &m, err);
    if (ret == 0 && s->all)
        ret = marks_file_check_all(m, err);
    if (ret == 0)
        ret = profile_apply_marks(p, m, syms, err);
    if (ret == 0)
        ret = write_text(cli, path, &text, &done, err);
    marks_free(m);
    buffer_fini(&text);
    return ret;
}

typedef int marks_apply(struct profile *p, const struct marks *m, const struct symbols *syms,
                        struct err *err);

/* s: NULL where there is no --all; kept: NULL where nobody goes on with the marks */
static int apply_marks(const struct settings *s, marks_apply *apply, const char *path,
                       struct profile *p, const struct symbols *syms, struct marks **kept,
                       struct err *err)
{
    struct marks *m = NULL;
    int ret = marks_read(path, &m, err);
    if (ret == 0 && s && s->all)
        ret = marks_file_check_all(m, err);
    if (ret == 0)
        ret = apply(p, m, syms, err);
    if (ret == 0 && kept)
        *kept = m;
    else
        marks_free(m);
    return ret;
}

static void say_marks(struct cli *cli, const char *path)
{
    cli_warn(cli, "names, tags and groups are those of %s (--marks off: none)", path);
}

/* A document that says so has them already. */
static bool wants_marks(const char *elf, const char *file, const struct profile *p,
                        char path[MARKS_FILE_PATH])
{
    return marks_file_path(elf, file, path) && (file || !p->info.marks);
}

static int use_marks(struct cli *cli, const struct settings *s, marks_apply *apply, const char *elf,
                     const char *file, struct profile *p, const struct symbols *syms,
                     struct err *err)
{
    char path[MARKS_FILE_PATH];
    if (!wants_marks(elf, file, p, path))
        return 0;
    int ret = apply_marks(s, apply, path, p, syms, NULL, err);
    if (ret == 0 && !file)
        say_marks(cli, path);
    return ret;
}

int report_marks_kept(struct cli *cli, const char *elf, const char *file, struct profile *p,
                      const struct symbols *syms, struct marks **out, struct err *err)
{
    char path[MARKS_FILE_PATH];
    *out = NULL;
    if (!wants_marks(text_or(text_given(elf), p->info.elf), file, p, path))
        return 0;
    int ret = apply_marks(NULL, profile_apply_marks, path, p, syms, out, err);
    if (ret == 0 && !file)
        say_marks(cli, path);
    return ret;
}

int report_marks_partly(struct cli *cli, const char *file, struct profile *p,
                        const struct symbols *syms, struct err *err)
{
    return use_marks(cli, NULL, profile_apply_marks_partly, p->info.elf, file, p, syms, err);
}

/* The one that is named, if one is, or the profile's. */
static const char *elf_of(const char *named, const struct profile *p)
{
    return text_or(text_given(named), p->info.elf);
}

int report_marks_names(struct cli *cli, const char *elf, const char *file, struct profile *p,
                       const struct symbols *syms, struct err *err)
{
    elf = elf_of(elf, p);
    return use_marks(cli, NULL, profile_apply_names, elf, file, p, syms, err);
}

int report_marks_of(struct cli *cli, const char *elf, const char *file, struct profile *p,
                    const struct symbols *syms, struct err *err)
{
    elf = elf_of(elf, p);
    return use_marks(cli, NULL, profile_apply_marks, elf, file, p, syms, err);
}

int report_marks(struct cli *cli, const struct settings *s, const char *file,
                 const struct report_edits *edits, struct profile *p, const struct symbols *syms,
                 struct err *err)
{
    char path[MARKS_FILE_PATH];
    const char *elf = elf_of(s->elf, p);
    if (!edits->n)
        return use_marks(cli, s, profile_apply_marks, elf, file, p, syms, err);
    marks_file_path(elf, file, path);
    if (!*path)
        return err_set(err, ERR_USAGE, "add --marks F",
                       "--tag, --untag, --untag-all: the file does not say of which program it "
                       "is, so no probeprof.marks is beside it");
    return change_and_apply(cli, s, path, edits, p, syms, err);
}
