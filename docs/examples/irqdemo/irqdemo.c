/* Per round of main's loop, whatever interrupts do:
 *   Round        1 call
 *   Fibonacci    177 calls, recursive: C(n) = 1 + C(n-1) + C(n-2), C(10) = 177
 *   TailCaller   1 call; TailTarget 1, entered by a jump
 *   Catch        1 call; SetJump 1, Deep 4 (recursive), Throw 1, LongJump 1: five frames left at once
 *   Yield        2 calls, one in each task; WorkB 1, on the other task's stack
 *   CallBlocked  1 call; Blocked 1, with SR.BL=1
 * Compiled with -O0 only, for the reason in ../profexam/README.md. */
#define PROBEPROF_DEFINE
#include "probeprof_target.h"
#include "irqdemo.h"

volatile unsigned Mode = MODE_TIMER;
volatile unsigned Rounds, Ticks, StormTicks, BlockedTicks, BlockedCalls, Switches, Caught;
unsigned StackB[512];
unsigned *OtherStack; /* stack pointer of the task that is not running */

static unsigned Save[16];

/* TMU: TSTR, and TCOR, TCNT, TCR of channels 0 and 1. INTC: IPRA. */
#define TSTR (*(volatile unsigned char *)0xFFD80004)
#define TCOR(n) (*(volatile unsigned *)(0xFFD80008 + 12 * (n)))
#define TCNT(n) (*(volatile unsigned *)(0xFFD8000C + 12 * (n)))
#define TCR(n) (*(volatile unsigned short *)(0xFFD80010 + 12 * (n)))
#define IPRA (*(volatile unsigned short *)0xFFD00004)
#define INTEVT (*(volatile unsigned *)0xFF000028)
enum { TCR_UNF = 0x100, TCR_UNIE = 0x20 }; /* underflow flag, its interrupt; prescaler 0: P clock / 4 */
enum { INTEVT_TMU0 = 0x400, INTEVT_TMU1 = 0x420 };
enum { TIMER_PERIOD = 6250, STORM_PERIOD = 60 }; /* in units of 4 P clocks */

static void StartTimer(int channel, unsigned period)
{
    TCR(channel) = TCR_UNIE;
    TCOR(channel) = period - 1;
    TCNT(channel) = period - 1;
    TSTR |= 1 << channel;
}

static void AcknowledgeTimer(int channel)
{
    TCR(channel) = TCR_UNIE;
}

void BlockedTick(void)
{
    BlockedTicks++;
}

void ProfileOff(void)
{
    probeprof_off();
}

void ProfileOn(void)
{
    probeprof_on();
}

static void CountTick(void)
{
    Ticks++;
}

static void CountStormTick(void)
{
    StormTicks++;
}

void Tick(void)
{
    if (INTEVT == INTEVT_TMU1) {
        AcknowledgeTimer(1);
        CountStormTick();
    } else {
        AcknowledgeTimer(0);
        CountTick();
    }
}

static int Fibonacci(int n)
{
    return n < 2 ? n : Fibonacci(n - 1) + Fibonacci(n - 2);
}

int TailTarget(int value)
{
    return value + 1;
}

static void Throw(void)
{
    LongJump(Save);
}

static void Deep(int depth)
{
    if (depth > 1)
        Deep(depth - 1);
    else
        Throw();
}

static void Catch(void)
{
    if (SetJump(Save) == 0)
        Deep(4);
    else
        Caught++;
}

static void WorkB(void)
{
    Switches++;
}

void TaskB(void)
{
    for (;;) {
        WorkB();
        Yield();
    }
}

void Blocked(void)
{
    BlockedCalls++;
}

static void Crash(void)
{
    *(volatile unsigned *)(0x0C010000 + 1); /* address error on read: EXPEVT 0x0E0 */
}

static void Round(void)
{
    Fibonacci(10);
    TailCaller(41);
    Catch();
    Yield();
    CallBlocked();
    Rounds++;
    if ((Mode & MODE_CRASH) && Rounds == 3)
        Crash();
}

static void PrepareTaskB(void)
{
    unsigned *sp = StackB + 512;
    int i;

    *--sp = (unsigned)TaskB; /* PR */
    for (i = 8; i <= 14; i++)
        *--sp = 0;           /* R8 to R14 */
    OtherStack = sp;
}

int main(void)
{
    PrepareTaskB();
    IPRA = 0x8900; /* TMU0 level 8, TMU1 level 9 */
    if (Mode & MODE_TIMER)
        StartTimer(0, TIMER_PERIOD);
    if (Mode & MODE_STORM)
        StartTimer(1, STORM_PERIOD);
    for (;;)
        Round();
}
