/* `doctor --report FILE`: a file to send to somebody who helps: the steps, the settings, this
 * machine's system, and all traffic of the adapter, without private data: serial numbers, names of
 * people, machines and folders. */
#ifndef PROFILER_CLI_DOCTOR_FILE_H
#define PROFILER_CLI_DOCTOR_FILE_H

#include "probe/base/log.h"
#include "profiler/cli/doctor.h"

#define DOCTOR_FILE_HEAD "probeprof " /* how each begins */

/* Keeps what is logged: the beginning and the end, of a bounded size. */
struct doctor_file;

/* doctor_file_new - Returns NULL: out of memory. */
struct doctor_file *doctor_file_new(void);
void doctor_file_free(struct doctor_file *f);

/* doctor_file_log - for `write` of a struct log, ctx the doctor_file. */
void doctor_file_log(void *ctx, enum log_subject subject, const char *line);

/* doctor_file_write - the report, atomically
 * text   the steps as people see them
 * Returns 0, -ERR_IO, -ERR_NOMEM. */
int doctor_file_write(const struct doctor_file *f, const char *path, const struct settings *set,
                      const struct doctor_report *report, const char *text, struct err *err);

/* doctor_file_scrub - text without what is private, for tests
 * serials   NULL-terminated; found as they are, and as bytes in hexadecimal, also as UTF-16 and as
 * a number Returns malloc()ed text; NULL: out of memory. */
char *doctor_file_scrub(const char *text, const char *const *serials, const char *const *names);

#endif
