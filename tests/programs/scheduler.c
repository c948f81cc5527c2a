/* Three tasks that take turns, on stacks of 1 KB side by side, and messages between them; the switch is in scheduler_fast.S. */
#include "program.h"
const u32 expected = 0x2fbf9f62;
enum { TASKS = 3, STACK_WORDS = 256, TURNS = 12 };
static u32 stacks[TASKS][STACK_WORDS];
static u32 saved[TASKS + 1], now; /* number TASKS is program() */
static u32 box, produced, consumed, idle;
void switch_fast(u32 *save, const u32 *load);
static void yield(void)
{
    u32 before = now;
    now = now == TASKS ? 0 : now + 1;
    switch_fast(&saved[before], &saved[now]);
}
static void put_message(u32 v)
{
    while (box)
        yield();
    box = v;
}
static u32 take_message(void)
{
    u32 v;
    while (!box)
        yield();
    v = box;
    box = 0;
    return v;
}
static void producer(void)
{
    for (u32 n = 1;; n++) {
        put_message(n * n);
        produced++;
    }
}
static void consumer(void)
{
    for (;;)
        consumed = consumed * 5 + take_message();
}
static void idler(void)
{
    for (;;) {
        idle++;
        yield();
    }
}
static void create(u32 k, void (*entry)(void))
{
    u32 *sp = stacks[k] + STACK_WORDS;
    *--sp = (u32)entry;
    for (u32 n = 0; n < 7; n++)
        *--sp = 0;
    saved[k] = (u32)sp;
}
u32 program(void)
{
    create(0, producer);
    create(1, consumer);
    create(2, idler);
    now = TASKS;
    for (u32 n = 0; n < TURNS; n++)
        yield();
    return consumed * 7 + produced * 100 + idle;
}
