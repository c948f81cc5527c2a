/* As much of a C library as GDB's test programs call, for a board without one. Build with -O0: the
 * packaged SH-4 compiler drops comparisons at higher levels. */
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

typedef struct file {
    int fd;
} FILE;
static FILE files[3] = { { 0 }, { 1 }, { 2 } };
FILE *stdin = &files[0], *stdout = &files[1], *stderr = &files[2];
int errno_value;
int *__errno_location(void) { return &errno_value; }

extern void _exit(int status) __attribute__((noreturn));
/* What a program prints is not tested (gdb,noinferiorio), and would stand between GDB's own lines.
 */
static int sys_write(int fd, const void *buf, size_t len)
{
    (void)fd;
    (void)buf;
    return (int)len;
}

/* ---- memory and strings ---- */
void *memcpy(void *d, const void *s, size_t n)
{
    char *a = d;
    const char *b = s;
    while (n--)
        *a++ = *b++;
    return d;
}
void *memmove(void *d, const void *s, size_t n)
{
    char *a = d;
    const char *b = s;
    if (a < b)
        return memcpy(d, s, n);
    while (n--)
        a[n] = b[n];
    return d;
}
void *memset(void *d, int c, size_t n)
{
    char *a = d;
    while (n--)
        *a++ = (char)c;
    return d;
}
int memcmp(const void *x, const void *y, size_t n)
{
    const unsigned char *a = x, *b = y;
    for (; n--; a++, b++)
        if (*a != *b)
            return *a - *b;
    return 0;
}
size_t strlen(const char *s)
{
    const char *p = s;
    while (*p)
        p++;
    return (size_t)(p - s);
}
char *strcpy(char *d, const char *s)
{
    char *r = d;
    while ((*d++ = *s++))
        ;
    return r;
}
char *strncpy(char *d, const char *s, size_t n)
{
    size_t i = 0;
    for (; i < n && s[i]; i++)
        d[i] = s[i];
    for (; i < n; i++)
        d[i] = 0;
    return d;
}
char *strcat(char *d, const char *s)
{
    strcpy(d + strlen(d), s);
    return d;
}
int strcmp(const char *a, const char *b)
{
    while (*a && *a == *b)
        a++, b++;
    return (unsigned char)*a - (unsigned char)*b;
}
int strncmp(const char *a, const char *b, size_t n)
{
    while (n && *a && *a == *b)
        a++, b++, n--;
    return n ? (unsigned char)*a - (unsigned char)*b : 0;
}
char *strchr(const char *s, int c)
{
    for (; *s != (char)c; s++)
        if (!*s)
            return NULL;
    return (char *)s;
}
int isatty(int fd) { return fd < 3; }
int abs(int v) { return v < 0 ? -v : v; }
int atoi(const char *s)
{
    int v = 0, minus = *s == '-';
    for (s += minus; *s >= '0' && *s <= '9'; s++)
        v = v * 10 + (*s - '0');
    return minus ? -v : v;
}

/* ---- heap: never given back ---- */
extern char _end[];
static char *brk_now;
void *malloc(size_t n)
{
    if (!brk_now)
        brk_now = _end + (-(uintptr_t)_end & 15);
    char *p = brk_now;
    *(size_t *)p = n;
    brk_now += 16 + ((n + 15) & ~(size_t)15);
    return p + 16;
}
void free(void *p) { (void)p; }
void *calloc(size_t n, size_t m) { return memset(malloc(n * m), 0, n * m); }
void *realloc(void *p, size_t n)
{
    void *q = malloc(n);
    if (p)
        memcpy(q, p, *(size_t *)((char *)p - 16) < n ? *(size_t *)((char *)p - 16) : n);
    return q;
}

/* ---- output ---- */
struct sink {
    char *buf;
    size_t cap, n;
    int fd;
};
static void put_char(struct sink *s, char c)
{
    if (s->fd > 0)
        sys_write(s->fd, &c, 1);
    else if (s->n + 1 < s->cap)
        s->buf[s->n] = c;
    s->n++;
}
static void put_number(struct sink *s, unsigned long v, unsigned base, int minus, int width,
                       char pad)
{
    char digits[36];
    int n = 0;
    do
        digits[n++] = "0123456789abcdef"[v % base];
    while (v /= base);
    if (minus)
        digits[n++] = '-';
    for (int i = n; i < width; i++)
        put_char(s, pad);
    while (n)
        put_char(s, digits[--n]);
}
static void put_text(struct sink *s, const char *t, int width)
{
    t = t ? t : "(null)";
    for (int i = (int)strlen(t); i < width; i++)
        put_char(s, ' ');
    while (*t)
        put_char(s, *t++);
}
static void format_text(struct sink *s, const char *f, va_list ap)
{
    for (; *f; f++) {
        if (*f != '%') {
            put_char(s, *f);
            continue;
        }
        f++;
        char pad = *f == '0' ? '0' : ' ';
        int width = 0;
        while (*f == '-' || *f == '#' || *f == '.' || (*f >= '0' && *f <= '9')) {
            if (*f >= '0' && *f <= '9')
                width = width * 10 + (*f - '0');
            f++;
        }
        int longlong = f[0] == 'l' && f[1] == 'l';
        while (*f == 'l' || *f == 'h' || *f == 'z')
            f++;
        if (*f == 'd' || *f == 'i') {
            long v = longlong ? (long)va_arg(ap, long long) : va_arg(ap, int);
            put_number(s, v < 0 ? -(unsigned long)v : (unsigned long)v, 10, v < 0, width, pad);
        } else if (*f == 'u' || *f == 'x' || *f == 'X' || *f == 'o' || *f == 'p') {
            unsigned long v =
                longlong ? (unsigned long)va_arg(ap, unsigned long long) : va_arg(ap, unsigned);
            put_number(s, v, *f == 'u' ? 10 : *f == 'o' ? 8 : 16, 0, width, pad);
        } else if (*f == 's') {
            put_text(s, va_arg(ap, const char *), width);
        } else if (*f == 'c') {
            put_char(s, (char)va_arg(ap, int));
        } else if (*f == 'f' || *f == 'g' || *f == 'e') {
            double v = va_arg(ap, double);
            put_number(s, (unsigned long)(v < 0 ? -v : v), 10, v < 0, width, pad);
        } else {
            put_char(s, *f);
        }
    }
}
int vfprintf(FILE *f, const char *fmt, va_list ap)
{
    struct sink s = { .fd = f->fd };
    format_text(&s, fmt, ap);
    return (int)s.n;
}
int vprintf(const char *fmt, va_list ap) { return vfprintf(stdout, fmt, ap); }
int fprintf(FILE *f, const char *fmt, ...)
{
    va_list ap;
    va_start(ap, fmt);
    int n = vfprintf(f, fmt, ap);
    va_end(ap);
    return n;
}
int printf(const char *fmt, ...)
{
    va_list ap;
    va_start(ap, fmt);
    int n = vfprintf(stdout, fmt, ap);
    va_end(ap);
    return n;
}
int vsnprintf(char *b, size_t cap, const char *fmt, va_list ap)
{
    struct sink s = { .buf = b, .cap = cap };
    format_text(&s, fmt, ap);
    if (cap)
        b[s.n < cap ? s.n : cap - 1] = 0;
    return (int)s.n;
}
int snprintf(char *b, size_t cap, const char *fmt, ...)
{
    va_list ap;
    va_start(ap, fmt);
    int n = vsnprintf(b, cap, fmt, ap);
    va_end(ap);
    return n;
}
int sprintf(char *b, const char *fmt, ...)
{
    va_list ap;
    va_start(ap, fmt);
    int n = vsnprintf(b, 1 << 20, fmt, ap);
    va_end(ap);
    return n;
}
int puts(const char *t)
{
    sys_write(1, t, strlen(t));
    sys_write(1, "\n", 1);
    return 0;
}
int putchar(int c)
{
    char b = (char)c;
    sys_write(1, &b, 1);
    return c;
}
int fputs(const char *t, FILE *f)
{
    sys_write(f->fd, t, strlen(t));
    return 0;
}
int fflush(FILE *f)
{
    (void)f;
    return 0;
}
int setvbuf(FILE *f, char *b, int m, size_t n)
{
    (void)f;
    (void)b;
    (void)m;
    (void)n;
    return 0;
}
int write(int fd, const void *p, size_t n) { return sys_write(fd, p, n); }

/* ---- the end ---- */
static void (*at_exit[32])(void);
static int at_exit_n;
int atexit(void (*f)(void))
{
    if (at_exit_n == 32)
        return -1;
    at_exit[at_exit_n++] = f;
    return 0;
}
void exit(int status)
{
    while (at_exit_n)
        at_exit[--at_exit_n]();
    _exit(status);
}
void abort(void) { _exit(134); }
void __assert_fail(const char *e, const char *f, unsigned l, const char *fn)
{
    (void)f;
    (void)l;
    (void)fn;
    puts(e);
    abort();
}
/* About a second of host time each on the simulated board: tests interrupt a sleeping program. */
unsigned sleep(unsigned s)
{
    for (volatile unsigned i = 0; i < s * 30000000u; i++)
        ;
    return 0;
}
int usleep(unsigned us)
{
    for (volatile unsigned i = 0; i < us / 100; i++)
        ;
    return 0;
}
unsigned alarm(unsigned s)
{
    (void)s;
    return 0;
}
long time(long *t)
{
    if (t)
        *t = 0;
    return 0;
}
int getpid(void) { return 1; }
char *getenv(const char *n)
{
    (void)n;
    return NULL;
}
typedef void handler(int);
handler *signal(int n, handler *h)
{
    (void)n;
    (void)h;
    return NULL;
}
int raise(int n)
{
    (void)n;
    return -1;
}
static unsigned seed = 1;
int rand(void)
{
    seed = seed * 1103515245u + 12345u;
    return (int)(seed >> 16 & 0x7FFF);
}
void srand(unsigned s) { seed = s; }
long strtol(const char *s, char **end, int base)
{
    int minus = *s == '-';
    long v = 0;
    s += minus || *s == '+';
    if ((base == 0 || base == 16) && s[0] == '0' && (s[1] | 32) == 'x')
        s += 2, base = 16;
    for (base = base ? base : 10;; s++) {
        int d = *s >= '0' && *s <= '9'                 ? *s - '0'
                : (*s | 32) >= 'a' && (*s | 32) <= 'z' ? (*s | 32) - 'a' + 10
                                                       : 99;
        if (d >= base)
            break;
        v = v * base + d;
    }
    if (end)
        *end = (char *)s;
    return minus ? -v : v;
}
unsigned long strtoul(const char *s, char **end, int base)
{
    return (unsigned long)strtol(s, end, base);
}
char *strrchr(const char *s, int c)
{
    const char *r = NULL;
    do
        if (*s == (char)c)
            r = s;
    while (*s++);
    return (char *)r;
}
char *strstr(const char *s, const char *t)
{
    size_t n = strlen(t);
    for (; *s; s++)
        if (!strncmp(s, t, n))
            return (char *)s;
    return n ? NULL : (char *)s;
}
void *memchr(const void *p, int c, size_t n)
{
    const char *s = p;
    for (; n--; s++)
        if (*s == (char)c)
            return (void *)s;
    return NULL;
}
char *strdup(const char *s) { return strcpy(malloc(strlen(s) + 1), s); }
int fileno(FILE *f) { return f->fd; }
int read(int fd, void *p, size_t n)
{
    (void)fd;
    (void)p;
    (void)n;
    return 0;
}
int open(const char *p, int f, ...)
{
    (void)p;
    (void)f;
    return -1;
}
int close(int fd)
{
    (void)fd;
    return -1;
}
int fclose(FILE *f)
{
    (void)f;
    return 0;
}
FILE *fopen(const char *p, const char *m)
{
    (void)p;
    (void)m;
    return NULL;
}
int fputc(int c, FILE *f)
{
    char b = (char)c;
    sys_write(f->fd, &b, 1);
    return c;
}
int putc(int c, FILE *f) { return fputc(c, f); }
int getchar(void) { return -1; }
int fgetc(FILE *f)
{
    (void)f;
    return -1;
}
int getc(FILE *f)
{
    (void)f;
    return -1;
}
char *fgets(char *b, int n, FILE *f)
{
    (void)b;
    (void)n;
    (void)f;
    return NULL;
}
size_t fwrite(const void *p, size_t n, size_t m, FILE *f)
{
    sys_write(f->fd, p, n * m);
    return m;
}
int toupper(int c) { return c >= 'a' && c <= 'z' ? c - 32 : c; }
int tolower(int c) { return c >= 'A' && c <= 'Z' ? c + 32 : c; }
int isdigit(int c) { return c >= '0' && c <= '9'; }
int isspace(int c) { return c == ' ' || (c >= 9 && c <= 13); }
void perror(const char *s) { puts(s); }
int sigaction(int n, const void *a, void *o)
{
    (void)n;
    (void)a;
    (void)o;
    return 0;
}
int kill(int p, int n)
{
    (void)p;
    (void)n;
    return -1;
}
int setitimer(int w, const void *a, void *o)
{
    (void)w;
    (void)a;
    (void)o;
    return -1;
}
