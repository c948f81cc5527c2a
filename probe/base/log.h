/* Logging: a sink passed in by whoever builds the parts; no global state.
 * Layers below main log at debug level only, by subject, and name the object. */
#ifndef PROBE_BASE_LOG_H
#define PROBE_BASE_LOG_H

enum log_subject { LOG_USB, LOG_WIRE, LOG_TARGET, LOG_RSP, LOG_PROF, LOG_NSUBJECTS };

/* One sink, borrowed by every part it is given to; write() is called from the thread that logs. */
struct log {
    unsigned enabled; /* bit per log_subject */
    void (*write)(void *ctx, enum log_subject subject, const char *line);
    void *ctx;
};

/* log_subject_name - "usb", "wire", ...: as --log takes it. */
const char *log_subject_name(enum log_subject subject);

/* log_msg - one line, if log is not NULL and the subject is enabled. */
void log_msg(const struct log *log, enum log_subject subject, const char *fmt, ...)
    __attribute__((format(printf, 3, 4)));

#endif
