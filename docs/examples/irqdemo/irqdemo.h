/* irqdemo: the paths a profiler gets wrong. Which of them run is chosen by Mode. */
#ifndef IRQDEMO_H
#define IRQDEMO_H

enum mode {
    MODE_TIMER = 1,  /* TMU0 interrupts, about 2000 a second */
    MODE_STORM = 2,  /* TMU1 interrupts so fast that a traced handler is always late */
    MODE_CALLS = 4,  /* the handler switches profiling off and on itself (--irq-filter calls) */
    MODE_CRASH = 8   /* the third round reads a misaligned address */
};

extern volatile unsigned Mode; /* .data: change it before the program starts, or in between */
extern volatile unsigned Rounds, Ticks, StormTicks, BlockedTicks, BlockedCalls, Switches, Caught;

/* paths.S */
int TailCaller(int value);           /* ends in JMP to TailTarget: one return serves both */
int SetJump(unsigned *save);         /* 0, and once more with 1 when LongJump is called */
void LongJump(unsigned *save) __attribute__((noreturn));
void Yield(void);                    /* to the other task, on its own stack */
void CallBlocked(void);              /* calls Blocked with SR.BL=1 */

/* irqdemo.c, called from paths.S */
int TailTarget(int value);
void BlockedTick(void); /* SR.BL=1 */
void Blocked(void);     /* SR.BL=1 */
void Tick(void);        /* SR.BL=0, bank 1 */
void TaskB(void);
void ProfileOff(void);  /* SR.BL=1: probeprof_target.h */
void ProfileOn(void);

#endif
