#include <stdio.h>
#include <string.h>

/* The program; commands land as their layers do. */
int main(int argc, char **argv)
{
    if (argc > 1 && !strcmp(argv[1], "version")) {
        printf("probeprof 0.1.0\n");
        return 0;
    }
    fprintf(stderr, "probeprof: no such command\n  try: probeprof version\n");
    return 2;
}
