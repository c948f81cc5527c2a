/* Every format a profile can be written in, one row each. */
#ifndef PROFILER_VIEWS_EXPORTERS_H
#define PROFILER_VIEWS_EXPORTERS_H

#include "probe/base/err.h"
#include "probe/base/sink.h"
#include "profiler/core/calltree_watch.h"
#include "profiler/profile/profile.h"
#include "profiler/views/report.h"

enum exporter_needs {
    EXPORT_NEEDS_FILE = 1 << 0,      /* it writes bytes, nothing for a terminal */
    EXPORT_NEEDS_SYMBOLS = 1 << 1,   /* its rows are the program's lines: report_options.symbols */
    EXPORT_HAS_BUCKETS = 1 << 2,     /* it knows what to do with report_options.buckets */
    EXPORT_NEEDS_FOLDER = 1 << 4,    /* it is a folder of files: exporter_files() */
    EXPORT_NEEDS_RECORDING = 1 << 3, /* it has when what ran: report_options.recording */
    EXPORT_BY_ADDRESS =
        1 << 5 /* its rows are addresses or lines of code: marks have no use there */
};

/* The recording that a profile was made of, once more. */
struct export_recording {
    /* Plays all of it; watch is told, of the end, too. Its nodes are those of the profile's
     * function_of_node, as long as the file has not changed. Returns 0 or the failure. */
    int (*play)(void *ctx, const struct calltree_watch *watch, struct err *err);
    void *ctx;
    bool timed; /* its events have the target's time */
};

enum { EXPORT_FILES = 2 /* at most */ };

struct exporter {
    const char *name;   /* "json" */
    const char *suffix; /* of its files, without the dot */
    unsigned needs;     /* enum exporter_needs */
    /* The whole profile to `out`. o: how text looks; other formats ignore it. Returns 0;
     * -ERR_NOMEM, -ERR_FORMAT: what came until then is to be thrown away; -ERR_USAGE: what it
     * needs is missing. */
    int (*write)(const struct profile *p, const struct report_options *o,
                 const struct text_sink *out, struct err *err);
};

/* exporter_files - the files of a format that is a folder of EXPORT_FILES files: write() has so
 * many sinks at `out`. NULL: it is one file. */
const char *const *exporter_files(const struct exporter *x);

/* exporters - the table, *n rows. */
const struct exporter *exporters(size_t *n);

/* exporter_find - by name; -ERR_USAGE, with all names in the hint. */
int exporter_find(const char *name, const struct exporter **out, struct err *err);

/* exporter_save - profile to file, as it is made, and atomically: a temporary file next to it,
 * fsync, rename. On failure (disk full, no permission) an older file of that name is untouched and
 * no temporary one stays. Returns 0, what write() does, -ERR_IO. */
/* A format that is a folder: the same of it, but what is there already is not replaced. */
int exporter_save(const struct exporter *x, const struct profile *p, const struct report_options *o,
                  const char *path, struct err *err);

#endif
