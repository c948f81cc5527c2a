/* The threads that GDB is shown: tasks of the program's operating system, if it is one that is
 * known and has begun, else one thread, the CPU.
 *
 * A task keeps its number as long as it is seen. The first that runs gets 1, the number that the
 * CPU had before, as GDB may be in the middle of a `next` then. In non-stop mode there is one
 * thread only: the others would have to be told as stopped each by itself. */
#ifndef GDBSTUB_THREADS_H
#define GDBSTUB_THREADS_H

#include "gdbstub/state.h"

/* threads_go - the program is let go now, by this session
 * steps   for a step
 * alone   number of the only thread that GDB lets go, of which it takes the next stop to be; 0: all
 */
void threads_go(struct session *s, bool steps, unsigned alone);

/* threads_note - what a user has to be told of this stop: that it is another thread's than GDB was
 * told. Returns whether there is something, a line with its end. */
bool threads_note(const struct session *s, char *text, size_t cap);

/* threads_running - the number of the thread that runs, or ran when the target was halted. While a
 * step ends between the system's word that another one runs and the change of stacks, it is still
 * the one that was stepped. */
unsigned threads_running(const struct session *s);

/* threads_count - how many there are, as of now; at least 1. */
size_t threads_count(const struct session *s);

/* threads_at - number of the i-th; *task gets what is known of it, or NULL: it is the CPU.
 * threads_has - whether there is one of that number; 0 and -1 stand for any. */
unsigned threads_at(const struct session *s, size_t i, const struct task **task);
bool threads_has(const struct session *s, int64_t number);

/* threads_selected - the task whose registers `g` and `p` are about, if it is one that does not
 * run; NULL: they are the CPU's. */
const struct task *threads_selected(const struct session *s);

/* threads_saved - register n of a task that does not run, regs[n].bytes bytes in the target's order
 * Returns 1; 0: not known exactly; a failure of reading memory. */
int threads_saved(struct stub *stub, const struct task *task, unsigned n, uint8_t *buf,
                  struct err *err);

#endif
