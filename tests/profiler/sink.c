#include "tests/profiler/sink.h"

#include <dirent.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static void append_text(void *ctx, const char *text, size_t len)
{
    struct memory_sink *m = ctx;
    if (m->len + len + 1 > m->cap) {
        m->cap = 2 * (m->len + len + 1);
        m->text = realloc(m->text, m->cap);
        assert_non_null(m->text);
    }
    memcpy(m->text + m->len, text, len);
    m->len += len;
    m->text[m->len] = '\0';
}

const struct text_sink *sink_to(struct memory_sink *m)
{
    m->sink = (struct text_sink){ append_text, m };
    return &m->sink;
}

const char *sink_text(const struct memory_sink *m) { return m->text ? m->text : ""; }

void sink_free(struct memory_sink *m)
{
    free(m->text);
    *m = (struct memory_sink){ 0 };
}

char *temp_folder(void)
{
    const char *base = getenv("TMPDIR");
    char *folder = NULL;
    assert_true(asprintf(&folder, "%s/probeprof-test-XXXXXX", base ? base : "/tmp") > 0);
    assert_non_null(mkdtemp(folder));
    return folder;
}

char *temp_path(const char *folder, const char *name)
{
    char *path = NULL;
    assert_true(asprintf(&path, "%s/%s", folder, name) > 0);
    return path;
}

void temp_remove(char *folder)
{
    DIR *d = opendir(folder);
    for (struct dirent *e; d && (e = readdir(d));) {
        char *path = temp_path(folder, e->d_name);
        unlink(path);
        free(path);
    }
    if (d)
        closedir(d);
    rmdir(folder);
    free(folder);
}

uint8_t *load_file(const char *path, size_t *len)
{
    FILE *f = fopen(path, "rb");
    if (!f)
        fail_msg("cannot open %s", path);
    fseek(f, 0, SEEK_END);
    long n = ftell(f);
    rewind(f);
    uint8_t *data = malloc((size_t)n + 1);
    assert_non_null(data);
    assert_int_equal(fread(data, 1, (size_t)n, f), n);
    fclose(f);
    *len = (size_t)n;
    return data;
}

void store_file(const char *path, const void *data, size_t len)
{
    FILE *f = fopen(path, "wb");
    assert_non_null(f);
    assert_int_equal(fwrite(data, 1, len, f), len);
    assert_int_equal(fclose(f), 0);
}

uint64_t random_next(uint64_t *s)
{
    *s ^= *s << 13;
    *s ^= *s >> 7;
    *s ^= *s << 17;
    return *s * 0x2545F4914F6CDD1Du;
}

uint32_t random_below(uint64_t *s, uint32_t n) { return (uint32_t)((random_next(s) >> 32) % n); }
