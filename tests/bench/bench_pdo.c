/* What turns a logic analyser's samples into edges: MB of samples a second of CPU time, for lines
 * that stand, that are at work at a bus of 50 MHz, and at the limit of four samples a bit; then
 * into lines. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "probe/base/util.h"
#include "probe/pdo_samples.h"
#include "targets/s12z/trace/edges.h"
#include "targets/s12z/trace/line.h"

enum { BYTES = 64 << 20, ROOM = 1 << 14 };

static double now_s(void)
{
    struct timespec t;
    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t);
    return (double)t.tv_sec + (double)t.tv_nsec * 1e-9;
}

/* Lines of 64 bits with a pause behind each: per_bit samples a bit, `idle` of 256 bit times still.
 */
static void fill_samples(uint8_t *p, size_t samples, unsigned unit, unsigned per_bit, unsigned idle)
{
    unsigned clk = 0, data = 0;
    uint64_t seed = 1;
    memset(p, 0, samples * unit);
    for (size_t k = 0; k < samples; k++) {
        size_t bit = k / per_bit % 256;
        if (k % per_bit == 0 && bit >= idle && bit % 68 < 64) {
            seed = seed * 6364136223846793005u + 1442695040888963407u;
            clk ^= 1;
            /* a PTIB without branches, with any address */
            data = bit % 68 < 8 ? bit % 68 == 0 : bit % 68 < 40 ? 0 : seed >> 63;
        }
        p[k * unit] = (uint8_t)(clk << 1 | data);
    }
}

static int count_line(void *ctx, const struct s12z_item *i)
{
    *(uint64_t *)ctx += i->kind == S12Z_ITEM_LINE;
    return 0;
}

static void measure_samples(const char *name, const uint8_t *p, unsigned unit, bool decode)
{
    static pdo_edge out[ROOM];
    struct pdo_samples s;
    struct s12z_stream stream;
    struct s12z_edges edges;
    struct s12z_settings settings = s12z_settings_default();
    uint64_t lines = 0, all = 0;
    size_t samples = BYTES / unit;
    s12z_stream_init(&stream, S12Z_FORM_WIRE, &settings, count_line, &lines);
    s12z_edges_init(&edges, &settings, &stream);
    pdo_samples_init(&s, unit, 1, 0);
    double begun = now_s();
    for (size_t at = 0, taken; at < samples; at += taken) {
        size_t n = pdo_samples_feed(&s, p + at * unit, samples - at, out, ROOM, &taken);
        all += n;
        if (decode)
            s12z_edges_feed(&edges, out, n);
    }
    double took = now_s() - begun;
    printf("%-44s %8.0f MB/s %8.0f M samples/s %7.1f M edges/s%s", name, BYTES / took / 1e6,
           (double)samples / took / 1e6, (double)all / took / 1e6, decode ? "" : "\n");
    if (decode)
        printf(" %llu lines, %llu bad\n", (unsigned long long)stream.lines,
               (unsigned long long)stream.bad);
}

int main(void)
{
    uint8_t *p = malloc(BYTES);
    if (!p)
        return 1;
    fill_samples(p, BYTES, 1, 4, 256);
    measure_samples("8 channels, nothing moves", p, 1, false);
    fill_samples(p, BYTES, 1, 8, 128);
    measure_samples("8 channels, half idle, 8 samples a bit", p, 1, false);
    fill_samples(p, BYTES, 1, 4, 0);
    measure_samples("8 channels, no pause, 4 samples a bit", p, 1, false);
    measure_samples("  the same, and decoded", p, 1, true);
    fill_samples(p, BYTES / 2, 2, 4, 0);
    measure_samples("16 channels, no pause, 4 samples a bit", p, 2, false);
    fill_samples(p, BYTES / 3, 3, 4, 0);
    measure_samples("24 channels, no pause, 4 samples a bit", p, 3, false);
    free(p);
    return 0;
}
