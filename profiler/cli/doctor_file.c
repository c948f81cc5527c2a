#include "profiler/cli/doctor_file.h"

#include <limits.h>
#include <pwd.h>
#include <stdlib.h>
#include <string.h>
#include <sys/utsname.h>
#include <unistd.h>

#include "probe/base/choice.h"
#include "probe/base/util.h"
#include "probe/host_time.h"
#include "profiler/core/file_atomic.h"

enum { PART_BYTES = 192 * 1024, SHORTEST = 3, NAMES = 8, HEX_LEAST = 4 };

struct doctor_file {
    uint64_t begun_ns;
    char head[PART_BYTES], tail[PART_BYTES]; /* of whole lines; the tail is a ring */
    size_t head_len, tail_at, tail_len;      /* tail_at: where the next byte goes */
    uint64_t left_out;                       /* bytes */
};

struct doctor_file *doctor_file_new(void)
{
    struct doctor_file *f = calloc(1, sizeof *f);
    if (f)
        f->begun_ns = host_ns();
    return f;
}

void doctor_file_free(struct doctor_file *f) { free(f); }

static void put_tail(struct doctor_file *f, const char *text, size_t n)
{
    for (size_t i = 0; i < n; i++) {
        f->tail[f->tail_at] = text[i];
        f->tail_at = (f->tail_at + 1) % PART_BYTES;
    }
    size_t room = PART_BYTES - f->tail_len;
    f->left_out += EXCESS(n, room);
    f->tail_len = MIN(f->tail_len + n, (size_t)PART_BYTES);
}

void doctor_file_log(void *ctx, enum log_subject subject, const char *line)
{
    struct doctor_file *f = ctx;
    char text[640];
    int n = snprintf(text, sizeof text, "%10.3f ms %s: %s\n",
                     (double)(host_ns() - f->begun_ns) / 1e6, log_subject_name(subject), line);
    size_t len = MIN((size_t)MAX(n, 0), sizeof text - 1);
    if (!f->tail_len && f->head_len + len <= PART_BYTES) {
        memcpy(f->head + f->head_len, text, len);
        f->head_len += len;
        return;
    }
    put_tail(f, text, len);
}

/* ---- without what is private ---- */

/* Bytes " 4a 4c" at text that are those of `bytes`; how many characters of text they take if they
 * are at least HEX_LEAST, else 0. step 2: each has a 00 behind it, as in UTF-16. A line that is cut
 * may end before they do. */
static size_t hex_run(const char *text, const uint8_t *bytes, size_t n, unsigned step)
{
    size_t at = 0, done = 0;
    char want[8];
    for (; done < n; done++) {
        int len =
            snprintf(want, sizeof want, step == 2 && text[at] ? " %02x 00" : " %02x", bytes[done]);
        if (strncasecmp(text + at, want, (size_t)len))
            break;
        at += (size_t)len;
    }
    if (done >= MIN(n, (size_t)HEX_LEAST))
        return at;
    return 0;
}

/* How much of the text's beginning is the name: its length, or 0. */
static size_t run_of(const char *text, const char *name)
{
    size_t n = strlen(name);
    return number_if(strncmp(text, name, n) == 0, n);
}

/* A serial number: as it is, its characters or its value in hexadecimal. */
static size_t serial_run(const char *text, const char *serial)
{
    size_t n = strlen(serial), run = run_of(text, serial);
    const uint8_t *bytes = (const uint8_t *)serial;
    char *end;
    unsigned long v = strtoul(serial, &end, 10);
    const uint8_t low[4] = { (uint8_t)v, (uint8_t)(v >> 8), (uint8_t)(v >> 16),
                             (uint8_t)(v >> 24) },
                  high[4] = { low[3], low[2], low[1], low[0] };
    run = EITHER(run, hex_run(text, bytes, n, 1));
    run = EITHER(run, hex_run(text, bytes, n, 2));
    if (run || *end || v <= 0xFFFF || v > UINT32_MAX)
        return run;
    run = hex_run(text, low, sizeof low, 1);
    return EITHER(run, hex_run(text, high, sizeof high, 1));
}

char *doctor_file_scrub(const char *text, const char *const *serials, const char *const *names)
{
    char *out = NULL;
    size_t len;
    FILE *f = open_memstream(&out, &len);
    if (!f)
        return NULL;
    while (*text) {
        size_t run = 0;
        for (size_t i = 0; !run && serials[i]; i++)
            if (strlen(serials[i]) >= SHORTEST)
                run = serial_run(text, serials[i]);
        bool serial = run > 0;
        for (size_t i = 0; !run && names[i]; i++)
            if (strlen(names[i]) >= SHORTEST)
                run = run_of(text, names[i]);
        if (run)
            fprintf(f, "%s%s", text_if(serial && *text == ' ', " "),
                    serial ? "[serial]" : "[private]");
        else
            fputc(*text, f);
        text += EITHER(run, (size_t)1);
    }
    if (fclose(f) != 0) {
        free(out);
        return NULL;
    }
    return out;
}

/* ---- the file ---- */

/* The longest first: a folder before the name of its owner. */
struct private
{
    char text[NAMES][PATH_MAX];
    const char *list[NAMES + 1];
    size_t n;
};

static void add_private(struct private *p, const char *text)
{
    if (!text || !*text || !strcmp(text, "/") || p->n == NAMES)
        return;
    snprintf(p->text[p->n], sizeof p->text[0], "%s", text);
    p->list[p->n] = p->text[p->n];
    p->n++;
}

static int by_length(const void *a, const void *b)
{
    size_t x = strlen(*(const char *const *)a), y = strlen(*(const char *const *)b);
    return (x < y) - (x > y);
}

/* The folder that a file is in. */
static void add_folder(struct private *p, const char *file)
{
    char path[PATH_MAX];
    if (!*file || !realpath(file, path))
        return;
    char *slash = strrchr(path, '/');
    if (!slash)
        return;
    *slash = 0;
    add_private(p, path);
}

static void find_private(struct private *p, const struct settings *set)
{
    char path[PATH_MAX], host[256] = "";
    const struct passwd *pw = getpwuid(getuid());
    add_private(p, getcwd(path, sizeof path));
    add_private(p, getenv("HOME"));
    add_folder(p, set->elf);
    add_folder(p, set->conf_path);
    if (pw)
        add_private(p, pw->pw_dir);
    if (pw && pw->pw_uid)
        add_private(p, pw->pw_name);
    if (gethostname(host, sizeof host - 1) == 0)
        add_private(p, host);
    qsort(p->list, p->n, sizeof p->list[0], by_length);
}

static void put_log(const struct doctor_file *f, FILE *out)
{
    fwrite(f->head, 1, f->head_len, out);
    if (f->left_out)
        fprintf(out, "... %llu bytes of the log are left out ...\n",
                (unsigned long long)f->left_out);
    size_t first = (f->tail_at + PART_BYTES - f->tail_len) % PART_BYTES,
           rest = MIN(f->tail_len, PART_BYTES - first);
    fwrite(f->tail + first, 1, rest, out);
    fwrite(f->tail, 1, f->tail_len - rest, out);
}

static void put_all(const struct doctor_file *f, const struct settings *set,
                    const struct doctor_report *report, const char *text, FILE *out)
{
    struct utsname os;
    fprintf(out, DOCTOR_FILE_HEAD PROBEPROF_VERSION ", doctor's report\n");
    if (uname(&os) == 0)
        fprintf(out, "system: %s %s %s\n", os.sysname, os.release, os.machine);
    const char *private_flag = " --no-private";
    if (set->allow_private)
        private_flag = " --private";
    if (set->origin[SET_PRIVATE] == ORIGIN_NONE)
        private_flag = "";
    fprintf(out, "asked for: --probe %s --target %s%s%s%s%s%s%s\n",
            text_or(text_given(report->probe), "(none)"),
            text_or(text_given(set->target), "(none)"), text_if(set->speed_auto, " --speed auto"),
            private_flag, text_if(set->halt, " --halt"), text_if(*set->chain, " --chain "),
            set->chain, text_if(*set->elf, " --elf ..."));
    fprintf(out, "\n%s\nlog:\n", text);
    put_log(f, out);
}

int doctor_file_write(const struct doctor_file *f, const char *path, const struct settings *set,
                      const struct doctor_report *report, const char *text, struct err *err)
{
    const char *serials[DOCTOR_SERIALS + 1] = { NULL };
    struct private *names = calloc(1, sizeof *names);
    char *all = NULL, *clean = NULL;
    size_t len = 0;
    FILE *out = NULL;
    if (names)
        out = open_memstream(&all, &len);
    for (size_t i = 0; i < report->nserials; i++)
        serials[i] = report->serial[i];
    if (out) {
        find_private(names, set);
        put_all(f, set, report, text, out);
        if (fclose(out) == 0)
            clean = doctor_file_scrub(all, serials, names->list);
    }
    int ret;
    if (clean)
        ret = file_write_atomic(path, (const uint8_t *)clean, strlen(clean), err);
    else
        ret = err_set(err, ERR_NOMEM, "close other programs", "out of memory");
    free(all);
    free(clean);
    free(names);
    return ret;
}
