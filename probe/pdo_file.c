#include "probe/pdo_file.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <sys/stat.h>
#include <unistd.h>

#include "probe/base/bytes.h"
#include "probe/base/choice.h"
#include "probe/base/options.h"
#include "probe/base/util.h"
#include "probe/pdo_samples.h"
#include "probe/pdo_sr.h"
#include "probe/pdo_vcd.h"
#include "probe/probe.h"

extern const struct probe_driver file_driver;
enum { CHUNK = 1 << 16, EDGE_BYTES = 8 };
static const char *const forms[] = {
    [PDO_FORM_SR] = "sr", [PDO_FORM_VCD] = "vcd", [PDO_FORM_RAW] = "raw", [PDO_FORM_EDGES] = "edges"
};

struct pdo_file {
    enum pdo_form form;
    char path[256]; /* for messages */
    int fd;         /* -1: .sr */
    bool pipe, ended, eof;
    struct pdo_sr *sr;
    struct pdo_samples samples;
    struct pdo_vcd vcd;
    uint64_t tick_hz, sample_hz, seen, bytes, edges;
    uint8_t chunk[CHUNK];
    size_t at, n; /* of chunk */
};

int pdo_form_parse(const char *text, enum pdo_form *out, struct err *err)
{
    for (unsigned k = PDO_FORM_SR; k < ARRAY_LEN(forms); k++)
        if (!strcmp(text, forms[k])) {
            *out = (enum pdo_form)k;
            return 0;
        }
    return err_set(err, ERR_USAGE, "sr, vcd, raw or edges", "form: '%s' is none", text);
}

/* ---- opening ---- */

static enum pdo_form by_name(const char *path)
{
    static const struct {
        const char *end;
        enum pdo_form form;
    } rows[] = { { ".sr", PDO_FORM_SR },
                 { ".vcd", PDO_FORM_VCD },
                 { ".raw", PDO_FORM_RAW },
                 { ".bin", PDO_FORM_RAW },
                 { ".edges", PDO_FORM_EDGES } };
    const char *dot = strrchr(path, '.');
    for (size_t k = 0; dot && k < ARRAY_LEN(rows); k++)
        if (!strcasecmp(dot, rows[k].end))
            return rows[k].form;
    return PDO_FORM_AUTO;
}

static int open_fd(struct pdo_file *f, const struct pdo_file_config *cfg, struct err *err)
{
    struct stat st;
    f->fd = open(cfg->path, O_RDONLY | O_CLOEXEC | bits_if(!cfg->wait, O_NONBLOCK));
    if (f->fd < 0 || fstat(f->fd, &st) < 0)
        return err_set(err, ERR_NOT_FOUND, "check the path", "%s", strerror(errno));
    if (S_ISDIR(st.st_mode))
        return err_set(err, ERR_NOT_FOUND, "name a file", "it is a folder");
    f->pipe = !S_ISREG(st.st_mode);
    return 0;
}

static enum pdo_form by_first_bytes(const uint8_t head[2])
{
    if (!memcmp(head, "PK", 2))
        return PDO_FORM_SR;
    if (head[0] == '$')
        return PDO_FORM_VCD;
    return PDO_FORM_AUTO;
}

static int find_form(struct pdo_file *f, const struct pdo_file_config *cfg, struct err *err)
{
    uint8_t head[2] = { 0 };
    f->form = EITHER(cfg->form, by_name(cfg->path));
    if (f->form == PDO_FORM_AUTO && !f->pipe && pread(f->fd, head, sizeof head, 0) > 0)
        f->form = by_first_bytes(head);
    if (f->form)
        return 0;
    return err_set(err, ERR_USAGE, "form=sr, vcd, raw or edges",
                   "its name and its first bytes do not say what form it has");
}

static int bit_number(const char *text, unsigned fallback, unsigned bits, struct err *err)
{
    uint64_t v;
    if (!text)
        return (int)fallback;
    const char *digits = text + (*text == 'D' || *text == 'd');
    if (!options_number(&digits, 10, &v) || *digits || v >= bits)
        return err_set(err, ERR_NOT_FOUND,
                       "--signals CLOCK,DATA, or pdoclk= and pdo= behind --pdo: numbers of bits; "
                       "unit= bytes a sample",
                       "no signal '%s' in raw samples of %u bits: they have bits 0 to %u", text,
                       bits, bits - 1);
    return (int)v;
}

static int open_raw(struct pdo_file *f, const struct pdo_file_config *cfg, struct err *err)
{
    unsigned unit = EITHER(cfg->unit, 1);
    if (unit > PDO_UNIT_MAX)
        return err_set(err, ERR_USAGE, "1 to 16", "unit: %u bytes a sample are too many", unit);
    int clk = bit_number(cfg->clk, 1, 8 * unit, err);
    if (clk < 0)
        return clk;
    int data = bit_number(cfg->data, 0, 8 * unit, err);
    if (data < 0)
        return data;
    pdo_samples_init(&f->samples, unit, (unsigned)clk, (unsigned)data);
    f->tick_hz = f->sample_hz = cfg->rate_hz;
    return 0;
}

static int open_sr(struct pdo_file *f, const struct pdo_file_config *cfg, struct err *err)
{
    struct pdo_sr_meta *meta = malloc(sizeof *meta);
    int ret;
    if (meta)
        ret = pdo_sr_open(cfg->path, &f->sr, meta, err);
    else
        ret = err_set(err, ERR_NOMEM, "close other programs", "out of memory");
    int clk = ret;
    if (ret >= 0)
        clk = pdo_sr_signal(meta, text_or(cfg->clk, "PDOCLK"), err);
    int data = clk;
    if (clk >= 0)
        data = pdo_sr_signal(meta, text_or(cfg->data, "PDO"), err);
    if (data >= 0) {
        pdo_samples_init(&f->samples, meta->unit, (unsigned)clk, (unsigned)data);
        f->tick_hz = f->sample_hz = EITHER(meta->rate_hz, cfg->rate_hz);
    }
    free(meta);
    return MIN(data, 0);
}

/* The file's head, read by itself: the clock, and whether it has the signals. */
static int look_at_vcd(struct pdo_file *f, struct err *err)
{
    enum { PIECE = 4096 };
    char text[PIECE];
    pdo_edge none[PIECE / 2 + 1];
    struct pdo_vcd head = f->vcd;
    ssize_t n = 1;
    int ret = 0;
    for (off_t at = 0; ret >= 0 && n > 0 && !head.body; at += n) {
        n = pread(f->fd, text, sizeof text, at);
        if (n > 0)
            ret = pdo_vcd_feed(&head, text, (size_t)n, none, err);
        else
            ret = pdo_vcd_end(&head, none, err);
    }
    if (head.tick_hz)
        f->tick_hz = head.tick_hz;
    return MIN(ret, 0);
}

static const char *last_part(const char *path)
{
    const char *slash = strrchr(path, '/');
    if (slash && slash[1])
        return slash + 1;
    return path;
}

static int open_form(struct pdo_file *f, const struct pdo_file_config *cfg, struct err *err)
{
    int ret = open_fd(f, cfg, err);
    if (ret == 0)
        ret = find_form(f, cfg, err);
    if (ret < 0)
        return ret;
    switch (f->form) {
    case PDO_FORM_SR:
        if (f->pipe)
            return err_set(err, ERR_UNSUPPORTED, "write it to a file",
                           "a sigrok session cannot be read from a pipe");
        return open_sr(f, cfg, err);
    case PDO_FORM_RAW: return open_raw(f, cfg, err);
    default: break;
    }
    f->tick_hz = cfg->rate_hz;
    pdo_vcd_init(&f->vcd, cfg->clk, cfg->data);
    if (f->form == PDO_FORM_VCD && !f->pipe)
        return look_at_vcd(f, err);
    return 0;
}

int pdo_file_open(const struct pdo_file_config *cfg, struct pdo_file **out, struct err *err)
{
    struct pdo_file *f = calloc(1, sizeof *f);
    if (!f)
        return err_set(err, ERR_NOMEM, "close other programs", "%s: out of memory", cfg->path);
    f->fd = -1;
    snprintf(f->path, sizeof f->path, "%.120s",
             strlen(cfg->path) > 100 ? last_part(cfg->path) : cfg->path);
    int ret = err_prefix(err, open_form(f, cfg, err), f->path);
    if (ret < 0) {
        pdo_file_close(f);
        return ret;
    }
    *out = f;
    return 0;
}

void pdo_file_close(struct pdo_file *f)
{
    if (!f)
        return;
    pdo_sr_close(f->sr);
    if (f->fd >= 0)
        close(f->fd);
    free(f);
}

/* ---- reading ---- */

/* More bytes behind those that are left. 0: none now, or the end (eof). */
static int refill_buffer(struct pdo_file *f, struct err *err)
{
    memmove(f->chunk, f->chunk + f->at, f->n - f->at);
    f->n -= f->at;
    f->at = 0;
    if (f->eof)
        return 0;
    ssize_t got;
    if (f->sr)
        got = pdo_sr_read(f->sr, f->chunk + f->n, sizeof f->chunk - f->n, err);
    else
        do
            got = read(f->fd, f->chunk + f->n, sizeof f->chunk - f->n);
        while (got < 0 && errno == EINTR);
    if (got < 0 && !f->sr && errno == EAGAIN)
        return 0;
    if (got < 0 && f->sr)
        return (int)got;
    if (got < 0)
        return err_set(err, ERR_IO, "give a file or a pipe", "%s", strerror(errno));
    /* a pipe that nobody has written to yet reads as ended */
    f->eof = !got && (!f->pipe || f->bytes);
    f->n += (size_t)got;
    f->bytes += (size_t)got;
    return (int)got;
}

static int from_samples(struct pdo_file *f, pdo_edge *out, size_t cap)
{
    size_t whole = (f->n - f->at) / f->samples.unit, taken;
    size_t n = pdo_samples_feed(&f->samples, f->chunk + f->at, whole, out, cap, &taken);
    f->at += taken * f->samples.unit;
    f->seen = f->samples.tick;
    return (int)n;
}

static int from_text(struct pdo_file *f, pdo_edge *out, size_t cap, struct err *err)
{
    size_t n = MIN(f->n - f->at, 2 * (cap - 2));
    int ret = pdo_vcd_feed(&f->vcd, (const char *)f->chunk + f->at, n, out, err);
    f->at += n;
    f->seen = f->vcd.time;
    f->tick_hz = EITHER(f->vcd.tick_hz, f->tick_hz);
    return ret;
}

static int from_edges(struct pdo_file *f, pdo_edge *out, size_t cap, struct err *err)
{
    size_t k = 0;
    for (; k < cap && f->n - f->at >= EDGE_BYTES; k++, f->at += EDGE_BYTES) {
        out[k] = le64(f->chunk + f->at);
        if (PDO_TICK(out[k]) < f->seen)
            return err_set(err, ERR_FORMAT,
                           "8 bytes an edge, little-endian: time << 2 | PDOCLK << 1 | PDO",
                           "edge %llu: time goes back", (unsigned long long)f->edges + k + 1);
        f->seen = PDO_TICK(out[k]);
    }
    f->edges += k;
    return (int)k;
}

static int from_chunk(struct pdo_file *f, pdo_edge *out, size_t cap, struct err *err)
{
    switch (f->form) {
    case PDO_FORM_VCD: return from_text(f, out, cap, err);
    case PDO_FORM_EDGES: return from_edges(f, out, cap, err);
    default: return from_samples(f, out, cap);
    }
}

static int at_end(struct pdo_file *f, pdo_edge *out, struct err *err)
{
    f->ended = true;
    if (f->form == PDO_FORM_VCD)
        return pdo_vcd_end(&f->vcd, out, err);
    return 0;
}

int pdo_file_read(struct pdo_file *f, pdo_edge *out, size_t cap, struct err *err)
{
    int ret = 0;
    while (!f->ended && ret == 0) {
        ret = from_chunk(f, out, cap, err);
        if (ret)
            break;
        ret = refill_buffer(f, err);
        if (ret == 0 && !f->eof)
            return 0;
        if (ret == 0)
            ret = at_end(f, out, err);
        else
            ret = MIN(ret, 0);
    }
    return err_prefix(err, ret, f->path);
}

uint64_t pdo_file_seen(const struct pdo_file *f)
{
    if (f->ended)
        return UINT64_MAX;
    return f->seen;
}
uint64_t pdo_file_bytes(const struct pdo_file *f) { return f->bytes; }

/* ---- as a probe: --pdo file:PATH[,form=,pdo=,pdoclk=,rate=,unit=] ---- */

struct file_probe {
    struct probe probe;
    struct pdo_file_config cfg;
    char path[1024], clk[64], data[64];
    struct pdo_file *file;
    bool begun; /* its beginning has been read */
};

static struct file_probe *file_of(struct probe *p) { return (struct file_probe *)p; }

static int take_unit(struct file_probe *p, const char *value, struct err *err)
{
    const char *end = value;
    uint64_t v;
    if (!options_number(&end, 10, &v) || *end || !v || v > PDO_UNIT_MAX)
        return err_set(err, ERR_USAGE, "bytes a sample, 1 to 16",
                       "unit: '%s' is no number of bytes", value);
    p->cfg.unit = (unsigned)v;
    return 0;
}

static int take_option(void *ctx, const char *name, const char *value, struct err *err)
{
    struct file_probe *p = ctx;
    if (!*p->path && *value)
        return err_set(err, ERR_USAGE, "file:capture.sr,pdo=D0,pdoclk=D1",
                       "no file named before %s=", name);
    if (!*p->path)
        return options_text(p->path, sizeof p->path, name, err);
    if (!strcmp(name, "form"))
        return pdo_form_parse(value, &p->cfg.form, err);
    if (!strcmp(name, "pdo")) {
        p->cfg.data = p->data;
        return options_text(p->data, sizeof p->data, value, err);
    }
    if (!strcmp(name, "pdoclk")) {
        p->cfg.clk = p->clk;
        return options_text(p->clk, sizeof p->clk, value, err);
    }
    if (!strcmp(name, "rate"))
        return options_hz(name, value, 1, 1000000000000, &p->cfg.rate_hz, err);
    if (!strcmp(name, "unit"))
        return take_unit(p, value, err);
    return err_set(err, ERR_USAGE, "form=, pdo=, pdoclk=, rate= or unit=", "file: no option '%s'",
                   name);
}

static int file_open(struct file_probe *p, struct err *err)
{
    pdo_file_close(p->file);
    p->file = NULL;
    p->begun = false;
    return pdo_file_open(&p->cfg, &p->file, err);
}

static void file_close(struct probe *probe)
{
    if (!probe)
        return;
    pdo_file_close(file_of(probe)->file);
    free(probe);
}

static int file_probe_open(const struct probe_config *cfg, struct probe **out, struct err *err)
{
    struct file_probe *p = calloc(1, sizeof *p);
    if (!p)
        return err_set(err, ERR_NOMEM, "close other programs", "file: out of memory");
    p->probe.driver = &file_driver;
    p->probe.log = cfg->log;
    p->cfg.path = p->path;
    int ret = options_each(cfg->spec, take_option, p, err);
    if (ret == 0 && !*p->path)
        ret = err_set(err, ERR_USAGE, "file:capture.sr,pdo=D0,pdoclk=D1", "file: no file named");
    if (ret == 0)
        ret = file_open(p, err);
    if (ret == 0 && !p->file->tick_hz)
        ret = err_set(err, ERR_USAGE, "add rate=, samples a second: rate=24M",
                      "%s does not say how fast its clock was", p->file->path);
    if (ret < 0) {
        file_close(&p->probe);
        return ret;
    }
    snprintf(p->probe.name, sizeof p->probe.name, "file:%.50s", last_part(p->path));
    *out = &p->probe;
    return 0;
}

/* A capture always begins at the file's beginning; a pipe goes on. */
static int file_start(struct probe *probe, uint64_t *tick_hz, struct err *err)
{
    struct file_probe *p = file_of(probe);
    int ret = 0;
    if (p->begun && !p->file->pipe)
        ret = file_open(p, err);
    if (ret < 0)
        return ret;
    p->begun = true;
    *tick_hz = p->file->tick_hz;
    return 0;
}

static int file_read(struct probe *probe, pdo_edge *out, size_t cap, uint64_t *lost,
                     struct err *err)
{
    *lost = 0;
    return pdo_file_read(file_of(probe)->file, out, cap, err);
}

static int file_stop(struct probe *probe, struct err *err)
{
    (void)probe;
    (void)err;
    return 0;
}

static uint64_t file_sample_hz(struct probe *probe) { return file_of(probe)->file->sample_hz; }
static uint64_t file_seen(struct probe *probe) { return pdo_file_seen(file_of(probe)->file); }

static const struct pdo_ops file_pdo = { .start = file_start,
                                         .read = file_read,
                                         .stop = file_stop,
                                         .sample_hz = file_sample_hz,
                                         .seen = file_seen };

const struct probe_driver file_driver = {
    .name = "file",
    .help = "--pdo: a capture of S12Z's PDO and PDOCLK: file:capture.sr,pdo=D0,pdoclk=D1; .vcd, "
            "raw samples, a pipe",
    .own_spec = true,
    .open = file_probe_open,
    .close = file_close,
    .pdo = &file_pdo,
};
