/* The token that clients on other machines have to send. */
#ifndef PROFILER_CLI_SERVE_TOKEN_H
#define PROFILER_CLI_SERVE_TOKEN_H

#include "probe/base/err.h"
#include "profiler/feed/http_api.h"

/* token_read - the first line of a file that only its owner may read
 * token   HTTP_TOKEN_TEXT bytes
 * Returns 0; -ERR_USAGE: others may read it, or it is no token (letters, digits and -._~+/=, 22
 * or more); -ERR_NOT_FOUND. */
int token_read(const char *path, char *token, struct err *err);

/* token_make - a new one of 128 random bits; -ERR_IO: the system has none. */
int token_make(char *token, struct err *err);

#endif
