// What a profile of C++ has to tell apart: instances of a template, virtual functions, overloads, operators, a lambda, and
// functions of one name in two files. README.md says how often each is called per round. Compiled with -O0 only, for the
// reason in ../profexam/README.md.
#include "stage.h"

extern "C" void __cxa_pure_virtual() // what the tables of abstract classes point to
{
    for (;;)
        ;
}

struct Point {
    int x, y;
};

static Point operator+(const Point &a, const Point &b)
{
    return Point{ a.x + b.x, a.y + b.y };
}

static int mix(int a, int b)
{
    return a ^ b;
}

static float mix(float a, float b)
{
    return a * 0.5f + b;
}

template <typename F>
static int sum_of(int n, F f)
{
    int sum = 0;
    for (int i = 0; i < n; i++)
        sum += f(i);
    return sum;
}

int Gain::step(int x)
{
    return x << shift;
}

int Offset::step(int x)
{
    return x + by;
}

int Pair::step(int x)
{
    return second->step(first->step(x));
}

static int run(Stage *stage, int x)
{
    for (; stage; stage = stage->next)
        x = stage->step(x);
    return x;
}

volatile int Result;

extern "C" void RoundEnds()
{
}

extern "C" void Round(Stage *stages)
{
    int sum = 0;
    float real = 0;
    Point p = { 0, 0 };
    for (int i = 0; i < 20; i++)
        sum = mix(sum, left::sample(i));
    for (int i = 0; i < 12; i++)
        real = mix(real, right::sample(i));
    for (int i = 0; i < 10; i++)
        p = p + Point{ run(stages, i), i };
    sum += sum_of(5, [p](int i) { return p.x * i; });
    Result = sum + static_cast<int>(real) + p.y;
    RoundEnds();
}

extern "C" int main()
{
    Gain gain(2), twice(1);
    Offset offset(7);
    Pair pair(&twice, &offset);
    gain.next = &pair;
    for (;;)
        Round(&gain);
}
