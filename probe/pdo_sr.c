#include "probe/pdo_sr.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include <zip.h>

#include "probe/base/choice.h"
#include "probe/base/options.h"
#include "probe/base/util.h"
#include "probe/pdo_samples.h"

enum { METADATA_MAX = 1 << 16, LINE_MAX_BYTES = 256 };

/* ---- metadata: an INI file ---- */

struct parse {
    struct pdo_sr_meta *meta;
    bool device, found; /* in a section [device ...]; in one with samples */
};

/* "24 MHz", "12.5 MHz", "1 GHz"; 0: no rate */
static uint64_t rate_of(const char *text)
{
    static const struct {
        const char *unit;
        double hz;
    } units[] = { { "Hz", 1 }, { "kHz", 1e3 }, { "MHz", 1e6 }, { "GHz", 1e9 } };
    char *end;
    double v = strtod(text, &end);
    end += strspn(end, " ");
    for (size_t k = 0; k < ARRAY_LEN(units); k++)
        if (!strcmp(end, units[k].unit) && v > 0 && v * units[k].hz < 1e12)
            return (uint64_t)(v * units[k].hz + 0.5);
    return 0;
}

static void add_signal(struct pdo_sr_meta *m, const char *number, const char *name)
{
    uint64_t n;
    if (!options_number(&number, 10, &n) || *number || !n || n > 8 * PDO_UNIT_MAX ||
        m->nsignals == PDO_SR_SIGNALS)
        return;
    snprintf(m->signal[m->nsignals].name, PDO_SR_NAME, "%.31s", name);
    m->signal[m->nsignals++].bit = (unsigned)n - 1;
}

/* 0: no number of bytes that a sample can have. */
static unsigned unit_of(const char *value)
{
    uint64_t n;
    if (!options_number(&value, 10, &n) || *value || n > PDO_UNIT_MAX)
        return 0;
    return (unsigned)n;
}

static void take_key(struct parse *p, const char *key, const char *value)
{
    struct pdo_sr_meta *m = p->meta;
    if (!p->device)
        return;
    if (!strcmp(key, "capturefile")) {
        snprintf(m->capture, sizeof m->capture, "%.63s", value);
        p->found = true;
    } else if (!strcmp(key, "samplerate")) {
        m->rate_hz = rate_of(value);
    } else if (!strcmp(key, "unitsize")) {
        m->unit = unit_of(value);
    } else if (!strncmp(key, "probe", 5)) {
        add_signal(m, key + 5, value);
    }
}

static void take_line(struct parse *p, char *line)
{
    char *value = strchr(line, '=');
    if (*line == '[') {
        if (p->found) { /* the first device with samples is the one */
            p->device = false;
            return;
        }
        p->device = !strncmp(line, "[device", 7);
        *p->meta = (struct pdo_sr_meta){ .unit = 1 };
    } else if (value) {
        *value++ = 0;
        take_key(p, line, value);
    }
}

int pdo_sr_parse(const char *text, size_t len, struct pdo_sr_meta *out, struct err *err)
{
    struct pdo_sr_meta meta = { .unit = 1 };
    struct parse p = { .meta = &meta };
    char line[LINE_MAX_BYTES];
    for (size_t at = 0; at < len;) {
        const char *nl = memchr(text + at, '\n', len - at);
        size_t n = (nl ? (size_t)(nl - text) : len) - at;
        snprintf(line, sizeof line, "%.*s", (int)MIN(n, sizeof line - 1), text + at);
        line[strcspn(line, "\r")] = 0;
        take_line(&p, line);
        at += n + 1;
    }
    if (!p.found || !*meta.capture)
        return err_set(err, ERR_FORMAT, "a capture of logic signals is needed",
                       "its metadata names no device with logic samples");
    if (!meta.unit || meta.unit > PDO_UNIT_MAX)
        return err_set(err, ERR_FORMAT, "is the file damaged?",
                       "its metadata does not say how many bytes a sample has, 1 to %d",
                       PDO_UNIT_MAX);
    *out = meta;
    return 0;
}

int pdo_sr_signal(const struct pdo_sr_meta *m, const char *name, struct err *err)
{
    char all[160] = "";
    for (unsigned k = 0; k < m->nsignals; k++) {
        if (!strcasecmp(m->signal[k].name, name) && m->signal[k].bit < 8 * m->unit)
            return (int)m->signal[k].bit;
        size_t used = strlen(all);
        snprintf(all + used, sizeof all - used, "%s%s", text_if(used, ", "), m->signal[k].name);
    }
    return err_set(
        err, ERR_NOT_FOUND,
        "name them as the file does: --signals CLOCK,DATA; pdoclk= and pdo= behind --pdo",
        "no signal '%s' in the capture; it has %s", name, *all ? all : "none");
}

/* ---- the zip ---- */

struct pdo_sr {
    zip_t *zip;
    zip_file_t *piece;
    char capture[64], name[96];
    unsigned n; /* of the piece; 0: one alone without a number */
    uint64_t pieces, done;
};

static int zip_failed(const char *what, const char *why, struct err *err)
{
    return err_set(err, ERR_FORMAT, "save or copy it again", "%s: %s", what, why);
}

/* How many entries hold samples: a piece that is missing would shift all later ones. */
static uint64_t count_pieces(struct pdo_sr *sr)
{
    uint64_t n = 0;
    size_t len = strlen(sr->capture);
    zip_int64_t all = zip_get_num_entries(sr->zip, 0);
    for (zip_int64_t k = 0; k < all; k++) {
        const char *name = zip_get_name(sr->zip, (zip_uint64_t)k, 0);
        n += name && !strncmp(name, sr->capture, len) && (!name[len] || name[len] == '-');
    }
    return n;
}

static int read_metadata(struct pdo_sr *sr, struct pdo_sr_meta *meta, struct err *err)
{
    char *text = malloc(METADATA_MAX);
    zip_file_t *f = zip_fopen(sr->zip, "metadata", 0);
    zip_int64_t n = -1;
    if (f && text)
        n = zip_fread(f, text, METADATA_MAX);
    int ret;
    if (!text)
        ret = err_set(err, ERR_NOMEM, "close other programs", "out of memory");
    else if (n < 0)
        ret = err_set(err, ERR_FORMAT, "save it with sigrok-cli or PulseView",
                      "it is a zip, but no sigrok session: no readable 'metadata'");
    else
        ret = pdo_sr_parse(text, (size_t)n, meta, err);
    if (f)
        zip_fclose(f);
    free(text);
    return ret;
}

static int open_zip(const char *path, struct pdo_sr *sr, struct err *err)
{
    int code = 0;
    sr->zip = zip_open(path, ZIP_RDONLY, &code);
    if (sr->zip)
        return 0;
    if (code == ZIP_ER_NOENT || code == ZIP_ER_OPEN)
        return err_set(err, ERR_NOT_FOUND, "check the path", "it cannot be opened");
    return err_set(err, ERR_FORMAT, "save or copy it again; check the form",
                   "no sigrok session: cut short, damaged, or another kind of file");
}

int pdo_sr_open(const char *path, struct pdo_sr **out, struct pdo_sr_meta *meta, struct err *err)
{
    struct pdo_sr *sr = calloc(1, sizeof *sr);
    int ret;
    if (sr)
        ret = open_zip(path, sr, err);
    else
        ret = err_set(err, ERR_NOMEM, "close other programs", "out of memory");
    if (ret == 0)
        ret = read_metadata(sr, meta, err);
    if (ret == 0) {
        memcpy(sr->capture, meta->capture, sizeof sr->capture);
        sr->pieces = count_pieces(sr);
        sr->n = zip_name_locate(sr->zip, sr->capture, 0) < 0; /* alone, or numbered from 1 */
        if (!sr->pieces)
            ret = err_set(err, ERR_FORMAT, "save it again", "its samples '%s' are missing",
                          sr->capture);
    }
    if (ret < 0) {
        pdo_sr_close(sr);
        return ret;
    }
    *out = sr;
    return 0;
}

/* 1: the next piece is open; 0: there is none. */
static int next_piece(struct pdo_sr *sr, struct err *err)
{
    if (sr->done == sr->pieces)
        return 0;
    snprintf(sr->name, sizeof sr->name, sr->n ? "%s-%u" : "%s", sr->capture, sr->n);
    sr->piece = zip_fopen(sr->zip, sr->name, 0);
    if (!sr->piece && zip_error_code_zip(zip_get_error(sr->zip)) == ZIP_ER_NOENT)
        return err_set(err, ERR_FORMAT, "save it again: what follows cannot be placed in time",
                       "the piece %s of the samples is missing", sr->name);
    if (!sr->piece)
        return zip_failed(sr->name, zip_strerror(sr->zip), err);
    sr->n++;
    sr->done++;
    return 1;
}

int pdo_sr_read(struct pdo_sr *sr, uint8_t *buf, size_t cap, struct err *err)
{
    for (;;) {
        int ret = 1;
        if (!sr->piece)
            ret = next_piece(sr, err);
        if (ret <= 0)
            return ret;
        zip_int64_t n = zip_fread(sr->piece, buf, MIN(cap, (size_t)1 << 24));
        if (n < 0)
            return zip_failed(sr->name, zip_file_strerror(sr->piece), err);
        if (n > 0)
            return (int)n;
        zip_fclose(sr->piece);
        sr->piece = NULL;
    }
}

void pdo_sr_close(struct pdo_sr *sr)
{
    if (!sr)
        return;
    if (sr->piece)
        zip_fclose(sr->piece);
    if (sr->zip)
        zip_discard(sr->zip);
    free(sr);
}
