/* Errors: one struct that says what failed and what the user can do next.
 *
 * Every fallible function returns int: 0 or a count on success, -ERR_* on failure, and fills a
 * caller's struct err. err stays untouched on success; NULL is accepted everywhere. */
#ifndef PROBE_BASE_ERR_H
#define PROBE_BASE_ERR_H

enum err_code {
    ERR_OK,
    ERR_USB,         /* adapter or its transport failed */
    ERR_TIMEOUT,     /* a deadline passed */
    ERR_NO_TARGET,   /* nothing, or not the expected part, answers on the wire */
    ERR_SECURED,     /* the part refuses debugging */
    ERR_PROTOCOL,    /* an answer that makes no sense */
    ERR_NOMEM,       /* memory, or a bounded table, is full */
    ERR_USAGE,       /* the caller (user) asked for something malformed */
    ERR_NOT_FOUND,   /* file, symbol, event, adapter does not exist */
    ERR_IO,          /* host file or socket */
    ERR_FORMAT,      /* damaged or foreign file */
    ERR_UNSUPPORTED, /* this adapter, part or state cannot do it */
    ERR_STATE,       /* wrong state: running where halted is needed, and so on */
    ERR_FAULT,       /* target memory access refused by the target */
    ERR_RESOURCE,    /* breakpoints or comparators used up */
    ERR_CANCELLED,   /* given up on request */
    ERR_NCODES
};

struct err {
    enum err_code code;
    char what[256]; /* the operation and its values, built outwards */
    char hint[256]; /* the user's next step */
};

/* err_set - fill *err; the hint is an argument, so omitting one shows ("" if there is none)
 * err   may be NULL
 * Returns -code, so that `return err_set(...)` reads well. */
int err_set(struct err *err, enum err_code code, const char *hint, const char *fmt, ...)
    __attribute__((format(printf, 4, 5)));

/* err_prefix - put "context: " before err->what; returns ret unchanged. err may be NULL. */
int err_prefix(struct err *err, int ret, const char *context);

/* err_code_name - short lower-case name of a code ("timeout"); never NULL, static lifetime. */
const char *err_code_name(enum err_code code);

#endif
