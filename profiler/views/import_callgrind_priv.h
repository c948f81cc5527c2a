/* Lines of callgrind's files: words, numbers, names. Private to import_callgrind*.c. */
#ifndef PROFILER_VIEWS_IMPORT_CALLGRIND_PRIV_H
#define PROFILER_VIEWS_IMPORT_CALLGRIND_PRIV_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "probe/base/err.h"
#include "profiler/profile/assembly.h"

enum { CALLGRIND_EVENTS = 64 };

/* Part of a line. */
struct span {
    const char *at, *end;
};

/* "(3) name" at the first mention, "(3)" later: each kind has its own numbers. */
enum name_kind { NAME_FILE, NAME_FUNCTION, NAME_OBJECT, NAME_KINDS };

struct name_row {
    uint64_t id;
    struct assembly_text text;
    bool used;
};

/* By id: open addressing, at most half full. */
struct names {
    struct name_row *row;
    size_t n, size;
};

struct callgrind {
    struct assembly *a;
    const char *data, *line, *end; /* the file; where the line begins; where the file ends */
    size_t number;                 /* of the line, from 1 */
    struct names names[NAME_KINDS];
    struct assembly_text object, file, c_object, c_file;
    struct assembly_text event[CALLGRIND_EVENTS], shown[2]; /* shown: long names, n 0: none */
    size_t nevents, npositions;
    uint64_t sum[2], part[2], summary[2], totals[2]; /* of self costs: all, since totals */
    bool has_function, has_summary, has_totals, ours, counted, any_call;
    uint32_t function, callee; /* of the assembly */
    bool has_callee, in_call;  /* in_call: the next line is what calls took */
    bool in_jump;              /* the next line has positions only */
    uint64_t calls;
    struct assembly_text coverage;
    struct assembly_text *doubt; /* names of doubtful functions */
    size_t ndoubts, cap_doubts;
    struct err *err;
};

/* callgrind_bad - the refusal: the line, and the offset of `at`. callgrind_no_memory - that. Both
 * return it. */
int callgrind_bad(const struct callgrind *g, const char *at, const char *what);
int callgrind_no_memory(const struct callgrind *g);

/* callgrind_skip_key - whether s begins with it: then that and blanks behind it are skipped. */
bool callgrind_skip_key(struct span *s, const char *key);

/* callgrind_word - the next word, which is skipped with the blanks around it. */
struct span callgrind_word(struct span *s);

/* callgrind_text - s without blanks at its end; callgrind_is - whether it is that word. */
struct assembly_text callgrind_text(struct span s);
bool callgrind_is(struct assembly_text t, const char *word);

/* callgrind_number - decimal, or 0x and hex digits, of 64 bits; 0 or -ERR_FORMAT. */
int callgrind_number(const struct callgrind *g, struct span word, uint64_t *out);

/* callgrind_name - "(id) name", which is kept, "(id)", which has had a name, or "name"; 0,
 * -ERR_FORMAT or -ERR_NOMEM. */
int callgrind_name(struct callgrind *g, enum name_kind kind, struct span s,
                   struct assembly_text *out);

#endif
