/* Showing a profile: what --json, --tree, --hits, --all and --sort ask for. */
#ifndef PROFILER_CLI_VIEW_H
#define PROFILER_CLI_VIEW_H

#include <stdio.h>

#include "profiler/cli/settings.h"
#include "profiler/profile/profile.h"
#include "profiler/views/exporters.h"
#include "profiler/views/report.h"

/* view_show - the profile on `out` as the settings ask: JSON document, or table or tree with the
 * summary. syms   for functions never hit (--all); may be NULL Returns 0, -ERR_NOMEM. */
int view_show(const struct settings *s, const struct profile *p, const struct symbols *syms,
              FILE *out, struct err *err);

/* view_options - how what is written to `out` looks: its width and colours, and what the settings
 * ask for. syms   as of view_show(); borrowed. */
struct report_options view_options(const struct settings *s, const struct symbols *syms, FILE *out);

/* view_exporter - the row of views/exporters.h that view_show() uses: functions, tree or json. */
const struct exporter *view_exporter(const struct settings *s);

/* view_save - what --output writes: JSON if the name ends in .json, else CodeScape's format; as
 * exporter_save(). */
int view_save(const char *path, const struct profile *p, struct err *err);

/* view_columns - width of the terminal behind out, 0 if it is none or, by TERM, knows no escape
 * sequences. */
unsigned view_columns(FILE *out);

/* view_clear_line - on a terminal: what is in the line goes, the next text begins it. */
void view_clear_line(FILE *out);

/* file_sink - a text sink that writes to a FILE. */
struct text_sink file_sink(FILE *out);

#endif
