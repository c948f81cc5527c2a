/* Runs a libFuzzer entry point without libFuzzer: every file of the corpus folder given as
 * argument, truncations of each, and a fixed, seeded number of byte mutations.
 *
 * usage: NAME FOLDER [N]      N mutations a file, 500 if it is not given, and half as many
 * truncations */
#include <dirent.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static uint64_t rng_next(uint64_t *s)
{
    *s ^= *s << 13;
    *s ^= *s >> 7;
    *s ^= *s << 17;
    return *s;
}

static void feed_input(const uint8_t *data, size_t n)
{
    uint8_t *copy = calloc(1, n ? n : 1); /* exact size, so that ASan sees reads past the end */
    if (!copy)
        abort();
    if (n)
        memcpy(copy, data, n);
    LLVMFuzzerTestOneInput(copy, n);
    free(copy);
}

static void one_file(const char *path, size_t each, uint64_t *rng)
{
    static uint8_t buf[1 << 16], work[1 << 16];
    FILE *f = fopen(path, "rb");
    if (!f)
        return;
    size_t n = fread(buf, 1, sizeof buf, f);
    fclose(f);
    feed_input(buf, n);
    size_t stride = n / (each / 2 + 1) + 1;
    for (size_t len = 0; len < n; len += stride)
        feed_input(buf, len);
    for (size_t i = 0; i < each && n; i++) {
        memcpy(work, buf, n);
        int edits = 1 + (int)(rng_next(rng) % 4);
        while (edits--)
            work[rng_next(rng) % n] = (uint8_t)rng_next(rng);
        feed_input(work, n);
    }
}

int main(int argc, char **argv)
{
    uint64_t rng = 0x9E3779B97F4A7C15u;
    unsigned files = 0;
    size_t each = argc > 2 ? strtoul(argv[2], NULL, 10) : 500;
    feed_input((const uint8_t *)"", 0);
    DIR *d = argc > 1 ? opendir(argv[1]) : NULL;
    for (struct dirent *e; d && (e = readdir(d));) {
        char path[4096];
        if (e->d_name[0] == '.')
            continue;
        snprintf(path, sizeof path, "%s/%s", argv[1], e->d_name);
        one_file(path, each, &rng);
        files++;
    }
    if (d)
        closedir(d);
    if (!files) {
        fprintf(stderr, "no corpus in %s\n", argc > 1 ? argv[1] : "(no folder given)");
        return 1;
    }
    printf("replayed %u corpus files with truncations and mutations\n", files);
    return 0;
}
