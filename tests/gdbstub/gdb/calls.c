/* The program GDB debugs in test_gdb.py. Built with -O0 and committed as calls.elf; see Makefile. */
volatile int counter;         /* watched */
volatile int asked;           /* what GDB writes */
volatile float ratio = 0.5f;
struct point { int x, y; } place = { 3, 4 };
char text[16] = "unchanged";

extern int slots(void);       /* delay slots, in slots.S */
extern void exit(int status) __attribute__((noreturn));
extern void _exit(int status) __attribute__((noreturn));

int add(int a, int b)
{
    int sum = a + b;
    return sum;
}

int factorial(int n)
{
    if (n < 2)
        return 1;
    return n * factorial(n - 1);
}

float scale(float v)
{
    return v * ratio;
}

int sum_point(struct point p)
{
    return p.x + p.y;
}

void bump(void)
{
    counter = counter + 1;
}

void spin(void)
{
    for (;;)
        bump();
}

void exit(int status)
{
    _exit(status);
}

int main(void)
{
    int first = add(2, 3);
    int second = factorial(5);
    int third = slots();
    bump();
    bump();
    if (asked == 1)
        spin();
    if (asked == 2)
        exit(first + 38);
    place.x = first + second + third;
    spin();
    return 0;
}
