/* Counted twice, lines and branches: by gcov on the host, and by probeprof on an S12Z board, for
 * which cover.s is this by hand: no free compiler makes S12Z code. A line here is a .loc there. */
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
    Odd--;
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
