/* Portable C whose lines and branches are counted twice: by gcov, compiled for the host, and by probeprof on an S12Z board, compiled
 * by hand in cover.s, because no free compiler makes S12Z code. A line here is a .loc there. */
unsigned short Total, Odd, Even, Never;

unsigned short greatest_divisor(unsigned short a, unsigned short b)
{
    while (b != 0) {
        unsigned short rest = a % b;

        a = b;
        b = rest;
    }
    return a;
}

void classify(unsigned short n)
{
    if (n & 1)
        Odd++;
    else
        Even++;
    if (n > 1000)
        Never++;
}

void nobody_calls_it(void)
{
    Never++;
}

int cover(void)
{
    unsigned short i;

    for (i = 1; i <= 30; i++) {
        Total += greatest_divisor(i, 12);
        classify(i);
    }
    return 0;
}
