/* The result: functions and the call-path tree with their counts, ready for every view and export.
 * Built from a call tree, or read from a file (profiler/views/importers.h). */
#ifndef PROFILER_PROFILE_PROFILE_H
#define PROFILER_PROFILE_PROFILE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "probe/base/err.h"
#include "profiler/core/arena.h"
#include "profiler/core/blocks.h"
#include "profiler/core/calltree.h"
#include "profiler/core/rates.h"
#include "profiler/core/sampling.h"
#include "profiler/core/symbols.h"
#include "profiler/core/task_names.h"
#include "profiler/profile/untraced.h"
#include "targets/run_time.h"

#define PROFILE_NO_PARENT UINT32_MAX
enum { PROFILE_NOT_CACHED = 0xFFFF };

enum profile_type { PROFILE_STATISTICAL = 1, PROFILE_TRACE = 2 }; /* numbers of the .prf */

/* What a function is; numbers of the .prf, appendix B "Function Description". */
enum profile_description {
    PROFILE_UNKNOWN,
    PROFILE_FUNCTION,
    PROFILE_VECTOR,        /* interrupt or exception, unknown offset from VBR */
    PROFILE_EXCEPTION_100, /* exception, VBR + 0x100 */
    PROFILE_EXCEPTION_400, /* TLB miss, VBR + 0x400 */
    PROFILE_INTERRUPT_600, /* interrupt, VBR + 0x600 */
    PROFILE_EXCEPTION_DBR,
    PROFILE_USER_BLOCK
};

/* Strings belong to the profile. Counters of a statistical profile are 0. */
struct profile_function {
    const char *name;      /* for people: demangled, or "0x0c010120" */
    const char *linkage;   /* linker's name; "" if none */
    const char *qualified; /* differs from namesakes: "list.c:walk"; "" if the name is unique */
    const char *file;      /* NULL if unknown */
    int line;              /* 0 if unknown */
    uint64_t low, high;    /* [low, high); equal for what has no address */
    uint64_t hits;
    uint64_t c1, c1_children; /* self; with everything called (recursion counted once) */
    uint64_t c2, c2_children;
    /* this is no function but a task, by its context; 0: a function. Its c1_children are what it
     * took */
    uint32_t task;
    /* the section's name of the overlay that it is in, and its number for symbols (overlay.h); NULL
     * and 0: in none, or it is not known in which. With `either` its name is that of all functions
     * that may have run there, and it is doubtful */
    const char *overlay;
    uint32_t overlay_number;
    bool either;
    uint16_t cache_line; /* (low >> 5) & 255, or PROFILE_NOT_CACHED */
    uint8_t description; /* enum profile_description */
    bool doubtful, tagged;
    bool group;        /* marks have made it of several (marks.h): it has no address of its own */
    bool hits_unknown; /* nothing in the file called it: hits are 0 and mean nothing */
    /* estimated C1: with 95 % probability the true one is within +- this; 0 unknown */
    uint64_t c1_spread;
    uint64_t c1_children_spread; /* the same of c1_children, at most */
    /* with losses, if info.stretches says so: its shares of what was seen of hits and counter 1 are
     * right within +- this, 0 to 1, with 95 % probability; of what marks made one, at most */
    double hits_half, c1_half;
    /* measurements it is the sum of, and how many of them are doubtful; 0, 0 unknown */
    uint64_t steps, doubts;
    uint64_t
        sampled; /* looks that found it running in another run, which was sampled (sampled.h) */
};

/* An interrupt or exception handler, in units of counter 1. */
struct profile_handler {
    uint32_t function; /* index into functions */
    uint16_t vector;
    bool exception;
    uint64_t count;
    uint64_t c1; /* with everything it called, nested handlers left out */
    /* from entry to its return, nested handlers included; 0, 0 if none was seen whole */
    uint64_t longest, shortest;
};

/* A task of the program. */
struct profile_task {
    /* index into functions: what stands for it there, and at the root of its calls */
    uint32_t function;
    int64_t number;     /* its system's; -1 unknown */
    const char *name;   /* as the program has it, foreign text; NULL: none */
    uint64_t low, high; /* its stack */
    uint64_t c1, c2;    /* without interrupts that came meanwhile */
};

/* One call path. Parents come before children. */
struct profile_node {
    uint32_t parent;   /* index, or PROFILE_NO_PARENT */
    uint32_t function; /* index into functions */
    uint64_t hits;
    uint64_t c1, c1_children;
    uint64_t c2, c2_children;
    bool doubtful;
};

/* Calls of one function by another, where call paths are not known. */
struct profile_call {
    uint32_t caller; /* index into functions; PROFILE_NO_PARENT: nobody that is known */
    uint32_t callee;
    uint64_t hits;
    uint64_t c1_children, c2_children; /* what the callee took then, with what it called */
};

/* 0 = counter not used, or, with a name, one of another program. Names are borrowed from whoever
 * filled them: static tables, or the profile's arena. */
struct profile_counter {
    uint16_t code;
    const char *name; /* "elapsed-time" */
    const char *unit; /* "cycles" or "count"; NULL: a file does not say */
};

/* What a file may leave unsaid; a run of ours knows all of it but counters that it did not use. */
enum profile_part {
    PROFILE_HITS = 1 << 0,      /* how often a function was entered: hits are 0 and mean nothing */
    PROFILE_PATHS = 1 << 1,     /* call paths: there are no nodes, at most calls (profile_call) */
    PROFILE_ADDRESSES = 1 << 2, /* where functions are: low and high are 0 and mean nothing */
    /* what functions took with all they called: c1_children and c2_children are 0 and mean nothing
     */
    PROFILE_CHILDREN = 1 << 3,
    /* what counter 1, and what counter 2, counted: c1 and c2 are 0 and mean nothing. Neither is in
     * info.unknown: the counters that info names and the type say it, see profile_unknown() */
    PROFILE_C1 = 1 << 4,
    PROFILE_C2 = 1 << 5
};

/* What counter 1 rests on where it is estimated. */
struct profile_estimate {
    bool is;
    uint64_t measurements; /* it was corrected by; 0: none, spreads are unknown */
    unsigned sources;      /* enum event_source */
    double factor;         /* corrected by estimated, over all */
};

/* Something that is missing from a profile, or makes it doubtful, beyond what the counts of losses
 * and the doubtful marks say. */
struct profile_remark {
    const char *kind; /* "bad-bytes" */
    const char *text; /* for people */
    uint64_t count;   /* of what the text says; 0: no number */
};

/* About the run. profile_build() copies the strings; NULL where not known. */
struct profile_info {
    const char *target, *probe, *elf;
    uint8_t build_id[20];
    size_t build_id_len;
    struct profile_counter counter[2];
    struct run_time time;
    int64_t when;              /* seconds since 1970 UTC of the start; 0 unknown */
    uint64_t events, doubtful; /* that came; what did not is in profile_coverage() */
    /* read from a file with sums: nothing is known of coverage, passes and how it ended */
    bool sums_only;
    unsigned unknown; /* enum profile_part: what the file did not tell either */
    bool unnamed;     /* the program's ELF names no functions */
    uint64_t passes;  /* start/stop pairs completed */
    uint32_t nesting; /* most handlers open at once */
    /* between losses, that intervals of shares rest on (stretches.h); 0: there are none */
    uint64_t stretches;
    uint64_t stretches_joined; /* each is so many neighbours together */
    struct profile_estimate estimate;
    struct profile_sampling sampling; /* of a statistical profile; zero if read from a .prf */
    bool icache_enabled;              /* of the target, when profiled */
    /* profile_build(): cache lines by the SH-4 address map; false: nothing is cached */
    bool cache_by_address;
    const char *note;  /* what the user should know (trace_status.note) */
    const char *marks; /* the file whose marks have been applied (marks.h); NULL: none */
    const struct profile_remark *remarks;
    size_t nremarks;
};

/* An address that was sampled. */
struct profile_address {
    uint64_t address, hits;
    uint32_t function; /* index into functions */
};

/* Something that was not seen, and whose it is. */
struct profile_coverage {
    struct coverage_row at;
    /* of the function that holds the place, as people see it; NULL without a symbol, of a loss */
    const char *name;
    const char *by; /* of the function whose calls are the reason; NULL if there is none */
};

/* An exception that was never returned from, if the profile ended so. */
struct profile_unfinished {
    /* "address error on read"; NULL: there is none, or the exception is normal */
    const char *what;
    const char *where; /* "f+0x12", as people see it */
    uint16_t vector;
    uint64_t c1; /* counter 1 since then, until the reset */
    bool reset;  /* the part was reset then */
};

/* A run that was sampled, beside one that was traced. */
struct profile_sampled {
    uint64_t total; /* samples in functions that the trace has; 0: nothing was sampled beside it */
    uint64_t elsewhere; /* all others */
    const char *most;   /* the function with most of those; NULL: it is not known */
    uint64_t most_hits;
};

/* Between which points it was counted, in the end; none of a run without, and where the file does
 * not tell. */
struct profile_points {
    bool has_start;
    uint64_t start;
    const uint64_t *stop;
    size_t nstops;
};

struct profile_watched;

struct profile {
    enum profile_type type;
    struct profile_info info;
    struct profile_function *functions; /* sorted by low, at one address by overlay */
    size_t nfunctions;
    bool overlays;              /* some of them are in overlays */
    struct profile_node *nodes; /* empty for a statistical profile */
    size_t nnodes;
    /* by node of the call tree it was built from, for those who replay its events; none if it was
     * read from a .prf, or merged */
    const uint32_t *function_of_node;
    size_t nfunction_of_node;
    struct profile_call *calls; /* by caller, then callee; none where there are nodes */
    size_t ncalls;
    struct profile_handler *handlers; /* roots that were entered by interrupts and exceptions */
    size_t nhandlers;
    struct profile_task *tasks; /* by C1; none if the target does not report tasks */
    size_t ntasks;
    struct profile_points points;
    const struct profile_watched *watched; /* of single calls (watched.h); NULL: nobody watched */
    struct block_count *blocks;            /* ascending; none if the target does not count them */
    struct branch_count *branches;
    size_t nblocks, nbranches;
    /* where samples were taken: by function, then address. None of a trace, or of a .prf */
    struct profile_address *addresses;
    size_t naddresses;
    uint64_t addresses_dropped;     /* hits whose address found no room in there */
    struct profile_sampled sampled; /* of a trace: what sampled_take() has put beside it */
    /* profile_coverage() */
    struct profile_coverage *coverage;
    size_t ncoverage;
    /* of functions that hold such places: so many calls they may concern, of total_hits */
    uint64_t untraced_hits;
    struct profile_unfinished unfinished;
    uint64_t total_hits, total_c1, total_c2;
    struct arena arena; /* owns all of the above */
};

/* profile_build - resolve a call tree into a profile
 * t      any state; not changed
 * syms   names and ranges; NULL: functions are named by address
 * info   copied; its events, doubtful and passes are taken from the tree's stats unless set
 * out    caller frees with profile_free() A function's range without symbols runs to the
 * next known entry or the end of its section. Returns 0 or -ERR_NOMEM. */
int profile_build(const struct calltree *t, const struct symbols *syms,
                  const struct profile_info *info, struct profile **out, struct err *err);

/* profile_take_blocks - adds exact counts of blocks and branches; 0 or -ERR_NOMEM. */
int profile_take_blocks(struct profile *p, const struct blocks *b, struct err *err);

/* profile_take_rates - counter 1 is an estimate: corrects it by function, in functions, tree,
 * handlers and totals alike, and fills the spreads. Nothing happens unless r->given. What was lost
 * in gaps was measured and stays. Returns 0 or -ERR_NOMEM. */
int profile_take_rates(struct profile *p, const struct rates *r, struct err *err);

/* profile_coverage - what was not seen, *n rows: places that gave no events, by cause, then
 * address; behind them what was lost, by kind, then cause. None if everything was seen; of a .prf
 * it is not known (info.sums_only). Borrowed from p. */
const struct profile_coverage *profile_coverage(const struct profile *p, size_t *n);

/* profile_coverage_sum - amount and c1 over all rows of a kind; bound if one of them is. */
struct coverage_row profile_coverage_sum(const struct profile *p, enum coverage_kind kind);

/* profile_away - the amount of COVERAGE_AWAY with that cause: EVENT_CAUSE_LINK or _RESET. */
uint64_t profile_away(const struct profile *p, enum event_cause cause);

/* profile_c1_seen - which share of counter 1 was counted outside of losses: 0 to 1; negative if it
 * is not known: of a file of sums, without counter 1, or while the board was away or reset. */
double profile_c1_seen(const struct profile *p);

/* profile_is_lost - whether f stands for what was counted while events were lost. */
bool profile_is_lost(const struct profile_function *f);

/* profile_seen_c1 - counter 1 without what was counted in losses. */
uint64_t profile_seen_c1(const struct profile *p);

/* profile_add_coverage - a copy of n rows of losses, behind those there are. profile_build() does
 * it with the tree's. Returns 0 or -ERR_NOMEM. */
int profile_add_coverage(struct profile *p, const struct coverage_row *row, size_t n,
                         struct err *err);

/* profile_take_untraced - adds the places that gave no events; syms names their functions and may
 * be NULL. Returns 0 or -ERR_NOMEM. */
int profile_take_untraced(struct profile *p, const struct untraced *u, const struct symbols *syms,
                          struct err *err);

/* profile_take_tasks - names the tasks that the call tree has roots of, and sums up what each took;
 * after profile_take_rates(). Returns 0 or -ERR_NOMEM. */
int profile_take_tasks(struct profile *p, const struct task_names *names, struct err *err);

/* profile_add_remark - one more, behind those there are
 * kind, text   copied
 * Returns 0 or -ERR_NOMEM. */
int profile_add_remark(struct profile *p, const char *kind, const char *text, struct err *err);

/* profile_take_unfinished - names the exception the call tree found never returned from, if what
 * (of its vector, static text) says there is one. Returns 0 or -ERR_NOMEM. */
int profile_take_unfinished(struct profile *p, const struct calltree *t, const char *what,
                            const struct symbols *syms, struct err *err);

/* profile_knows - false if the file that it was read from did not tell, or the counter was not
 * used. profile_unknown - all of enum profile_part that are not known. */
bool profile_knows(const struct profile *p, enum profile_part part);
unsigned profile_unknown(const struct profile *p);

/* profile_has_counter - profile_knows() of counter i, 0 or 1: it has a number or a name, or a total
 * from a file without them. Never in a statistical profile. profile_counter_is_used - the same by
 * hand, for what has no profile yet. */
bool profile_counter_is_used(bool samples, bool is_named, uint64_t total);
bool profile_has_counter(const struct profile *p, unsigned i);

/* profile_function_at - index of the function that holds addr, which may have an overlay's number
 * (overlay.h); or nfunctions. */
size_t profile_function_at(const struct profile *p, uint64_t addr);

/* profile_addresses_of - the sampled addresses of a function, ascending; *n of them. Their hits add
 * up to the function's, but for addresses_dropped of all. Borrowed from p; NULL with *n 0. */
const struct profile_address *profile_addresses_of(const struct profile *p, size_t function,
                                                   size_t *n);

/* profile_new - an empty profile for readers of files; 0 or -ERR_NOMEM. */
int profile_new(struct profile **out, struct err *err);

/* profile_description_name - one word for machines ("exception-100"), of an enum
 * profile_description; "unknown" for another number. Static text. */
const char *profile_description_name(unsigned description);

/* profile_place - where the function is, as symbols want it: with its overlay. */
uint64_t profile_place(const struct profile_function *f);

/* profile_shown_name - the name people see: qualified where others have the same. */
const char *profile_shown_name(const struct profile_function *f);

/* profile_free - NULL is fine. */
void profile_free(struct profile *p);

/* profile_first_child, profile_next_sibling - walk the tree without allocation: nodes are stored in
 * pre-order, so the children of i are found by skipping subtrees. Return nnodes when there is none.
 */
size_t profile_first_child(const struct profile *p, size_t i);
size_t profile_next_sibling(const struct profile *p, size_t i);

/* profile_doubt_share - which share of a function's measurements is doubtful, at most: 0 to 1;
 * negative if unknown */
double profile_doubt_share(const struct profile_function *f);

/* profile_subtree_end - index just behind node i's last descendant. O(subtree). */
size_t profile_subtree_end(const struct profile *p, size_t i);

#endif
