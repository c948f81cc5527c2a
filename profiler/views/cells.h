/* Columns of the tables of functions and of call paths: their names, whether a profile has them,
 * and what stands in them. */
#ifndef PROFILER_VIEWS_CELLS_H
#define PROFILER_VIEWS_CELLS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "probe/base/err.h"
#include "profiler/core/filter.h"
#include "profiler/profile/profile.h"

/* In the order of the table of functions. */
enum cell_column {
    CELL_HITS,
    CELL_HITS_SHARE,
    CELL_HITS_SPREAD, /* of samples */
    CELL_HITS_LOSS,   /* of a trace with losses */
    CELL_C1,
    CELL_C1_SHARE,
    CELL_SAMPLED, /* of a trace, beside which another run was sampled */
    CELL_SAMPLED_SPREAD,
    CELL_SEEN_SHARE, /* of counter 1 without losses */
    CELL_SEEN_SPREAD,
    CELL_C1_SPREAD, /* of an estimate */
    CELL_C1_CHILDREN,
    CELL_C1_CHILDREN_SHARE,
    CELL_C2,
    CELL_C2_SHARE,
    CELL_C2_CHILDREN,
    CELL_C2_CHILDREN_SHARE,
    CELL_CACHE,
    CELL_DOUBT,
    CELL_NCOLUMNS
};

/* Each at most once. */
struct cell_list {
    enum cell_column column[CELL_NCOLUMNS];
    size_t n; /* 0: those that the table has when nobody asks for others */
};

enum cell_table { CELL_FUNCTIONS, CELL_TREE, CELL_TREE_UP };

/* A function, or a call path to it. */
struct cell_row {
    const struct profile *profile;
    const struct profile_function *function;
    bool is_path;
    uint64_t hits, c1, c1_children, c2, c2_children;
};

/* cell_row_function, cell_row_path - the row of a function, of a node of the profile's tree. */
struct cell_row cell_row_function(const struct profile *p, const struct profile_function *f);
struct cell_row cell_row_path(const struct profile *p, const struct profile_node *n);

/* cell_name - as the table's head has it: "C1+ch". */
const char *cell_name(enum cell_column c);

/* cell_find - by that name or a sort order's, whatever its case; len bytes of text.
 * option   "--columns", for the message
 * Returns 0; -ERR_USAGE with all names in the hint. */
int cell_find(const char *option, const char *text, size_t len, enum cell_column *out,
              struct err *err);

/* cell_list_parse - names with commas between; "function" may stand at the end, where its column is
 * anyway. Returns 0; -ERR_USAGE: an unknown name, one given twice, none at all. */
int cell_list_parse(const char *text, struct cell_list *out, struct err *err);

/* cell_list_default - the columns of a table of p when nobody asks for others. */
void cell_list_default(const struct profile *p, enum cell_table table, struct cell_list *out);

/* cell_check - whether p has the column, and the table
 * option   for the message: "--columns"
 * Returns 0; -ERR_USAGE with the reason, and in the hint what there is. */
int cell_check(const struct profile *p, enum cell_table table, enum cell_column c,
               const char *option, struct err *err);

/* cell_width - columns of the terminal that it takes, without the blank in front. */
unsigned cell_width(enum cell_column c);

/* cell_has_share - whether there is a sum that a percentage in a threshold could be of. */
bool cell_has_share(enum cell_column c);

/* cell_meets - whether what stands there meets the threshold; what is not known does not. A
 * percentage is of all that was counted; columns of shares are in percent anyway. */
bool cell_meets(const struct cell_row *r, enum cell_column c, const struct threshold *t);

struct report_line;

/* cell_head, cell_add - its name; what stands in it for a row. At the end of l. */
void cell_head(enum cell_column c, struct report_line *l);
void cell_add(const struct cell_row *r, enum cell_column c, struct report_line *l);

#endif
