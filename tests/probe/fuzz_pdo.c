/* Any bytes as samples of any width, in any pieces: the edges of one sample after the other. The
 * same bytes as a sigrok session's metadata. */
#include <stdlib.h>
#include <string.h>

#include "probe/base/util.h"
#include "probe/pdo_samples.h"
#include "probe/pdo_sr.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void parse_metadata(const uint8_t *data, size_t size)
{
    struct pdo_sr_meta *m = malloc(sizeof *m);
    struct err err = { .code = ERR_OK };
    int ret = m ? pdo_sr_parse((const char *)data, size, m, &err) : -ERR_NOMEM;
    if ((ret < 0) != (err.code != ERR_OK))
        abort();
    for (unsigned k = 0; ret == 0 && k < m->nsignals; k++) {
        int bit = pdo_sr_signal(m, m->signal[k].name, NULL);
        if (bit >= (int)(8 * m->unit))
            abort();
    }
    free(m);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    parse_metadata(data, size);
    if (size < 4)
        return 0;
    unsigned unit = 1 + data[0] % PDO_UNIT_MAX, clk = data[1] % (8 * unit),
             bit = data[2] % (8 * unit), step = 1 + data[3];
    size_t n = (size - 4) / unit, edges = 0, at = 0;
    const uint8_t *p = data + 4;
    pdo_edge out[256], last = 0;
    struct pdo_samples s;
    pdo_samples_init(&s, unit, clk, bit);
    while (at < n) {
        size_t taken, m = pdo_samples_feed(&s, p + at * unit, MIN(step, n - at), out,
                                           8 + data[3] % 248, &taken);
        for (size_t k = 0; k < m; k++, edges++) {
            const uint8_t *q = p + PDO_TICK(out[k]) * unit;
            if (PDO_TICK(out[k]) >= n || PDO_CLK(out[k]) != (q[clk / 8] >> clk % 8 & 1u) ||
                PDO_DATA(out[k]) != (q[bit / 8] >> bit % 8 & 1u))
                abort();
            if (edges ? PDO_TICK(out[k]) <= PDO_TICK(last) || (out[k] & 3) == (last & 3)
                      : PDO_TICK(out[k]) != 0)
                abort();
            last = out[k];
        }
        at += taken;
        if (!taken && !m)
            abort();
    }
    return 0;
}
