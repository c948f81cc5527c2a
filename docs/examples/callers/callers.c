/* Two callers of one function, with as many calls each but not as much work. A profiler that spreads
 * a function's time over its callers by the number of calls is wrong about both (QProf, section 2.2,
 * of gprof). Per round of main's loop
 *   CallHard     1 call: asks for the factorials of 0 to 99
 *   CallEasy     1 call: asks for the factorial of 4, a hundred times
 *   Factorial    200 calls, 100 of each: 4851 turns of its loop for CallHard, 300 for CallEasy
 * Compiled with -O0 only, for the reason in ../profexam/README.md. */

enum { CALLS = 100 };

volatile double Result; /* 99! is 9.3e155, which a double holds */

static double Factorial(int n)
{
    double product = 1;

    while (n > 1)
        product *= n--;
    return product;
}

static void CallHard(void)
{
    int n;

    for (n = 0; n < CALLS; n++)
        Result = Factorial(n);
}

static void CallEasy(void)
{
    int k;

    for (k = 0; k < CALLS; k++)
        Result = Factorial(4);
}

void Round(void)
{
    CallHard();
    CallEasy();
}

void RoundEnds(void) {}

int main(void)
{
    for (;;) {
        Round();
        RoundEnds();
    }
}
