/* A profile back from the document that report_json() writes, of this program or of a running
 * bridge. What the document does not hold stays unknown. */
#ifndef PROFILER_VIEWS_JSON_READ_H
#define PROFILER_VIEWS_JSON_READ_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "probe/base/err.h"
#include "profiler/profile/profile.h"

/* json_is_profile - whether a file that begins so is such a document: its schema is named there. */
bool json_is_profile(const uint8_t *head, size_t n);

/* json_to_profile - text to model, as struct importer has it. Returns 0; -ERR_FORMAT, with the line
 * of what is no JSON, or the member that is wrong: also a document of another schema; -ERR_NOMEM.
 */
int json_to_profile(const uint8_t *text, size_t len, struct profile **out, struct err *err);

#endif
