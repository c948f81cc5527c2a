/* Source lines and instructions beside what was measured on each of them. */
#ifndef PROFILER_CLI_ANNOTATE_H
#define PROFILER_CLI_ANNOTATE_H

#include "probe/base/sink.h"
#include "profiler/feed/listing.h"

enum annotate_way { ANNOTATE_BOTH, ANNOTATE_SOURCE, ANNOTATE_ASM };

/* The files of sources that were read, each once. Zero-initialise. */
struct annotate_sources {
    struct annotate_file *file;
    size_t n, cap;
};

/* What is shown, and of what; all borrowed. Where calls were made is known if profile->watched. */
struct annotate {
    enum annotate_way way;
    /* sources whose names begin with the one are in the other, a whole path; NULL: none are */
    const char *source_old, *source_new;
    const struct profile *profile;
    const struct symbols *symbols; /* NULL: there is no code to show */
    struct annotate_sources *sources;
    /* told once of each of them that something is to be said of; NULL is fine */
    void (*note)(void *ctx, const char *file, const char *note);
    void *note_ctx;
    struct program_code code;
};

/* annotate_code - the program that was profiled, and its counts by address: for annotate.code;
 * borrows both. */
struct program_code annotate_code(const struct profile *p, const struct symbols *syms);

/* annotate_function - one function of the profile as text, in 80 columns. annotate_function_json -
 * as one object. Return 0 or -ERR_NOMEM. */
int annotate_function(const struct annotate *a, size_t function, const struct text_sink *out,
                      struct err *err);
struct json_writer;
int annotate_function_json(const struct annotate *a, size_t function, struct json_writer *j,
                           struct err *err);

/* annotate_sources_fini - frees; a zeroed struct is fine. */
void annotate_sources_fini(struct annotate_sources *s);

#endif
