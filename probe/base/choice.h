/* Choices that stand in many expressions, by the names they have in a sentence. */
#ifndef PROBE_BASE_CHOICE_H
#define PROBE_BASE_CHOICE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct err;

/* text_if - `text`, or "" if it is not to be shown: for printf's %s. */
static inline const char *text_if(bool shown, const char *text) { return shown ? text : ""; }

/* text_or - `text`, or `otherwise` if it is NULL. An empty text is a text. */
static inline const char *text_or(const char *text, const char *otherwise)
{
    return text ? text : otherwise;
}

/* text_given - `text`, or NULL if it is empty or NULL: for what takes NULL for nothing. */
static inline const char *text_given(const char *text) { return text && *text ? text : NULL; }

/* plural_s - what follows a noun that is counted: "" behind 1, else "s". */
static inline const char *plural_s(uint64_t n) { return n == 1 ? "" : "s"; }

/* true_or_false - JSON's word for `b`. */
static inline const char *true_or_false(bool b) { return b ? "true" : "false"; }

/* on_or_off - a switch's word for `b`. */
static inline const char *on_or_off(bool b) { return b ? "on" : "off"; }

/* bits_if - `bits`, or 0 if they are not set: for registers and flags that are put together. */
static inline uint32_t bits_if(bool set, uint32_t bits) { return set ? bits : 0; }

/* number_if - `n`, or 0 if there is none. `n` is evaluated all the same. */
static inline uint64_t number_if(bool is_there, uint64_t n) { return is_there ? n : 0; }

/* ratio_or_0 - `part` divided by `whole`, in whatever unit both have; 0 if `whole` is 0. */
static inline double ratio_or_0(double part, double whole) { return whole != 0 ? part / whole : 0; }

/* with_bits - `v` with `bits` set, or cleared. */
static inline uint32_t with_bits(uint32_t v, uint32_t bits, bool set)
{
    return set ? v | bits : v & ~bits;
}

/* err_unless - where a step's failure goes that is done though another may have failed: `err`, or
 * NULL if one `failed` before, whose words stay. */
static inline struct err *err_unless(bool failed, struct err *err) { return failed ? NULL : err; }

/* -1, 0 or 1 as `a` is below, equal to or above `b`: what qsort asks. Each is evaluated once. */
#define COMPARE(a, b)                                             \
    ({                                                            \
        __typeof__((a) + (b)) compare_a_ = (a), compare_b_ = (b); \
        (compare_a_ > compare_b_) - (compare_a_ < compare_b_);    \
    })

/* What is given, or `otherwise` if that is 0 or NULL. Each is evaluated once at most. */
#define EITHER(given, otherwise)                     \
    ({                                               \
        __typeof__(given) either_given_ = (given);   \
        either_given_ ? either_given_ : (otherwise); \
    })

/* By how much `a` exceeds `b`: 0 if it does not. Each is evaluated once. */
#define EXCESS(a, b)                                            \
    ({                                                          \
        __typeof__((a) + (b)) excess_a_ = (a), excess_b_ = (b); \
        excess_a_ > excess_b_ ? excess_a_ - excess_b_ : 0;      \
    })

#endif
