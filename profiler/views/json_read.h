/* A profile back from the document that report_json() writes, of this program or of a running
 * bridge. What the document does not hold stays unknown: the addresses of samples. */
#ifndef PROFILER_VIEWS_JSON_READ_H
#define PROFILER_VIEWS_JSON_READ_H

#include <stdbool.h>
#include <stddef.h>

#include "probe/base/err.h"
#include "profiler/profile/profile.h"

/* json_is_profile - whether a file that begins so may be such a document: it is JSON. */
bool json_is_profile(const void *head, size_t n);

/* json_to_profile - text to model
 * name    of the file, for errors
 * out     caller frees with profile_free()
 * Returns 0; -ERR_FORMAT, with the line of what is no JSON, or the member that is wrong: also a
 * document of another schema; -ERR_NOMEM. */
int json_to_profile(const char *text, size_t len, const char *name, struct profile **out,
                    struct err *err);

/* json_read_profile - the same of a file; -ERR_NOT_FOUND, -ERR_IO besides. */
int json_read_profile(const char *path, struct profile **out, struct err *err);

#endif
