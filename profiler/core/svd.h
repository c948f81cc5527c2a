/* Registers of a part's peripherals, by name, as a CMSIS-SVD file has them.
 * Source: Arm, CMSIS System View Description, "/device element" and below
 * (open-cmsis-pack.github.io, svd-spec), version 1.3.10. */
#ifndef PROFILER_CORE_SVD_H
#define PROFILER_CORE_SVD_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "probe/base/err.h"

struct svd;

enum { SVD_NAME = 128, SVD_MOST_BYTES = 64 << 20 };

/* What reading and writing are allowed to do. */
struct svd_access {
    bool read, write;
    bool read_changes; /* reading it changes something (readAction) */
};

/* What a bit does when it is written (modifiedWriteValues). */
enum svd_write {
    SVD_WRITE_VALUE,     /* it becomes that */
    SVD_WRITE_ZERO_ACTS, /* only a 0 does something */
    SVD_WRITE_ONE_ACTS,  /* only a 1 does something */
    SVD_WRITE_ANY_ACTS,  /* any write does something */
};

struct svd_register {
    char name[SVD_NAME]; /* "TMU.TCR0", with clusters between */
    const char *text;    /* description; "" for none; as long as the file is open */
    uint64_t addr;
    unsigned bits; /* 8, 16 or 32 */
    struct svd_access access;
    enum svd_write writes;
    uint32_t node; /* of svd.c */
};

struct svd_field {
    char name[SVD_NAME]; /* "UNF" */
    const char *text;
    unsigned lsb, width;
    struct svd_access access;
    enum svd_write writes;
    uint32_t node;
};

/* svd_open - reads a file. svd_read - the same of bytes; name is for errors.
 * Every register and field is looked at once, so that what is wrong in the file is said here.
 * Returns 0; -ERR_FORMAT with the line; as file_read_all() does. */
int svd_open(const char *path, struct svd **out, struct err *err);
int svd_read(const char *name, const char *xml, size_t len, struct svd **out, struct err *err);

/* svd_close - NULL is fine. */
void svd_close(struct svd *s);

/* svd_find - the register, or the field of one, of that name
 * path    "TMU.TCR0", "TMU.TCR0.UNF"; case is ignored
 * field   set if the path names one; *has_field tells
 * Returns 0; -ERR_NOT_FOUND with what is near in the hint. */
int svd_find(const struct svd *s, const char *path, struct svd_register *reg,
             struct svd_field *field, bool *has_field, struct err *err);

/* svd_has_peripheral - whether there is a peripheral of that name. */
bool svd_has_peripheral(const struct svd *s, const char *name);

/* svd_each_register - calls item for every register of a peripheral, arrays one by one, until it
 * returns something else than 0, which is returned. NULL: of all peripherals. */
int svd_each_register(const struct svd *s, const char *peripheral,
                      int (*item)(void *ctx, const struct svd_register *r, struct err *err),
                      void *ctx, struct err *err);

/* svd_each_field - the same for the fields of a register, in the file's order. */
int svd_each_field(const struct svd *s, const struct svd_register *r,
                   int (*item)(void *ctx, const struct svd_field *f, struct err *err), void *ctx,
                   struct err *err);

/* svd_value_name - the file's name for a value of a field; NULL if it has none.
 * svd_value_named - the value of that name, case ignored; false if there is none. */
const char *svd_value_name(const struct svd *s, const struct svd_field *f, uint32_t value);
bool svd_value_named(const struct svd *s, const struct svd_field *f, const char *name,
                     uint32_t *value);

#endif
