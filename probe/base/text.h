/* Text that nobody here wrote: names in files, USB strings, what a program prints. On its way to a
 * terminal or a log nothing in it may be a command. */
#ifndef PROBE_BASE_TEXT_H
#define PROBE_BASE_TEXT_H

#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

/* text_clean - in place, each byte of what a terminal could take for a command becomes '?': control
 * characters (C0, DEL, C1), the marks that turn the direction of writing round, and bytes that are
 * no UTF-8. Line feeds, too. Returns text. */
char *text_clean(char *text);

/* text_clean_lines - the same but for line feeds and tabs, of n bytes: text that is made here, with
 * names in it. */
void text_clean_lines(char *text, size_t n);

/* text_character - the bytes of the character at s, 1 to 4; 0: what begins there is no UTF-8, or a
 * command to terminals, line feed and tab among them. s ends with a 0. */
size_t text_character(const char *s);

/* text_code - the bytes of the character at s and its code, whatever it is; 0: no UTF-8. */
size_t text_code(const char *s, uint32_t *code);

/* text_print - as fprintf(), cleaned by text_clean_lines(): the way to print text that may hold
 * foreign text. */
void text_print(FILE *out, const char *fmt, ...) __attribute__((format(printf, 2, 3)));

/* text_line - head, then the text, cleaned by text_clean(), as one line. */
void text_line(FILE *out, const char *head, const char *fmt, va_list ap)
    __attribute__((format(printf, 3, 0)));

#endif
