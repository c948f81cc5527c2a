/* Shared by the terminal reports. */
#ifndef PROFILER_VIEWS_REPORT_PRIV_H
#define PROFILER_VIEWS_REPORT_PRIV_H

#include "profiler/views/report.h"

enum { REPORT_WIDTH = 80, REPORT_WIDTH_MIN = 76, REPORT_LINE_BYTES = 1024, REPORT_LABEL = 10 };
/* A name behind its two marks, in the fewest columns that tell any two apart (report_names.h). */
enum { REPORT_NAME_LEAST = 15 };

/* One line being put together; text beyond its capacity is dropped, never overrun. */
struct report_line {
    char text[REPORT_LINE_BYTES];
    size_t bytes;
    unsigned columns; /* as shown: escape sequences count nothing, a UTF-8 sequence one */
};

/* line_add - text that shows; line_escape - text that does not; line_number - a count,
 * right-aligned in `columns`, with a blank before it unless it is first; line_percent - "12.3" of
 * total, the same way; line_doubt - " ?", or as many blanks where nothing is doubtful. */
void line_add(struct report_line *l, const char *text);
void line_escape(struct report_line *l, const char *text);
void line_doubt(struct report_line *l, bool is_doubtful);
void line_cell(struct report_line *l, const char *text, unsigned columns);
void line_number(struct report_line *l, unsigned long long value, unsigned columns);
void line_percent(struct report_line *l, unsigned long long value, unsigned long long total,
                  unsigned columns);

/* line_end - trailing blanks off, line feed, out, ready for the next. */
void line_end(struct report_line *l, const struct text_sink *out);

/* The table that is asked for, and its columns: o's, or those that it has by itself. */
enum cell_table report_table(const struct report_options *o, bool tree);
void report_columns_of(const struct profile *p, const struct report_options *o,
                       enum cell_table table, struct cell_list *out);

/* Columns that a text takes: a UTF-8 sequence is one. */
unsigned report_columns(const char *text);

/* Columns of the report, within what lines can hold. */
unsigned report_width(const struct report_options *o);
/* The counter's unit, "" where its name says it already (bus-cycles), or its file did not. */
const char *report_unit(const struct profile_counter *c);

/* "C1 elapsed-time (cycles), C2 icache-miss (count)"; nothing for a statistical profile. */
void report_legend(const struct profile *p, const struct text_sink *out);

/* "label     text", broken between words; what does not fit goes below it. */
void report_wrapped(const char *label, const char *text, unsigned width,
                    const struct text_sink *out);

/* What each task took, in a table; nothing if none is known. */
void report_tasks(const struct profile *p, const struct report_options *o,
                  const struct text_sink *out);

/* The exception that was never returned from; nothing if there is none. */
void report_unfinished(const struct profile *p, const struct report_options *o,
                       const struct text_sink *out);

/* The places that gave no events, by cause; nothing if there are none. */
void report_untraced(const struct profile *p, const struct report_options *o,
                     const struct text_sink *out);

/* What a doubtful or hot row is begun with on a terminal; whether it was, and has to be ended by
 * REPORT_PLAIN. */
bool report_color(const struct report_options *o, bool doubtful, bool hot, struct report_line *l);

/* The two columns in front of a name. */
void report_gutter(bool doubtful, bool hot, struct report_line *l);

/* How many rows ("function") meet o's thresholds; nothing if there are none. */
void report_hot_rows(const struct report_options *o, size_t n, const char *rows,
                     const struct text_sink *out);

#define REPORT_RED     "\033[31m"
#define REPORT_HOT     "\033[1;33m" /* bold yellow */
#define REPORT_HOT_RED "\033[1;31m" /* the same, and doubtful */
#define REPORT_PLAIN   "\033[0m"

#endif
