/* usage: capture_edges PROBE FILE - writes the edges of the pins as `probeprof decode --format
 * edges` reads them (times in ps). */
#include <stdio.h>

#include "tests/cli/capture_rig.h"

int main(int argc, char **argv)
{
    struct fixture x = { 0 };
    if (argc != 3)
        return 2;
    FILE *f = fopen(argv[2], "wb");
    if (!f)
        return 1;
    capture_from(&x, argv[1]);
    for (size_t k = 0; k < x.n; k++)
        for (unsigned b = 0; b < 8; b++)
            fputc((int)(x.edge[k] >> (8 * b) & 0xFF), f);
    fixture_drop(&x);
    return fclose(f) != 0;
}
