/* The profile of a running bridge, by its address. */
#ifndef PROFILER_CLI_INPUT_URL_H
#define PROFILER_CLI_INPUT_URL_H

#include <stdbool.h>

#include "profiler/profile/profile.h"

/* input_is_url - whether a name is the address of a bridge: "http://..." */
bool input_is_url(const char *name);

/* input_read_url - what the bridge there, or `probeprof view`, has counted so far (docs/feed.md,
 * /profile.json), without its marks: who shows it has its own
 * url   as the bridge tells it, or http://HOST:PORT/; with #t=TOKEN where it asks for one
 * Returns 0; -ERR_USAGE: that is no address; -ERR_IO: it does not answer, or refuses; what
 * json_to_profile() does. */
int input_read_url(const char *url, struct profile **out, struct err *err);

#endif
