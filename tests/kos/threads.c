/* Threads as KallistiOS has them, written anew from the facts (kernel/thread/thread.c and include/kos/thread.h there): control blocks and stacks from
 * a heap, a list of all threads with the newest first, an idle thread and one that buries the dead, preemption by a timer, blocking through
 * thd_block_now(). What the threads do is known to the last call, whoever interrupts whom: threads.py holds the profile against it.
 * LAYOUT 200: struct kthread as in 2.0.0; 220: as in 2.2; 0: as in none, so that only debug information tells. */
typedef unsigned char u8;
typedef unsigned short u16;
typedef unsigned int u32;
typedef unsigned long long u64;
#ifndef LAYOUT
#define LAYOUT 220
#endif
enum { STACK = 4096, HEAP = 256 << 10, ALIGN = 32, TICK = 20000, STEPS = 40, BURSTS = 6 };
enum state { STATE_ZOMBIE, STATE_RUNNING, STATE_READY, STATE_WAIT, STATE_FINISHED };
enum { THD_DETACHED = 4, PRIO_DEFAULT = 10, PRIO_MAX = 4096 };

typedef struct irq_context {
    u32 pc, pr, gbr, vbr, mach, macl, sr, fpul, fr[16], frbank[16], r[16], fpscr;
} irq_context_t;

typedef struct kthread {
#if LAYOUT == 0
    u32 new_member[5];
#endif
#if LAYOUT != 200
    irq_context_t context;
#endif
    struct { struct kthread *le_next, **le_prev; } t_list;
    struct { struct kthread *tqe_next, **tqe_prev; } thdq, timerq;
    int tid, prio;
#if LAYOUT != 200
    int real_prio;
#endif
    u32 flags;
    enum state state;
    void *wait_obj;
    const char *wait_msg;
    void (*wait_callback)(void *);
    u64 wait_timeout;
#if LAYOUT != 200
    u64 scheduled, total;
#endif
    char label[256], pwd[256];
#if LAYOUT == 200
    irq_context_t context;
#endif
    void *stack;
    u32 stack_size;
    void *rv;
} kthread_t;

/* The names that KallistiOS has, static where they are there. */
static struct { kthread_t *lh_first; } thd_list;
static int tid_highest;
kthread_t *thd_current;
static kthread_t *thd_idle_thd;
volatile u32 jiffies;
static u32 zombies;
u32 done_steps[3], done_bursts;
static u8 heap[HEAP] __attribute__((aligned(ALIGN)));
static struct block { struct block *next; u32 bytes; } *free_blocks;
static u32 heap_used;
extern irq_context_t *irq_srt_addr;
extern u32 arch_mem_top __asm__("__arch_mem_top");
void thd_block_now(irq_context_t *mine);
void spin(u32 n);

#define REG32(a) (*(volatile u32 *)(a))
#define REG16(a) (*(volatile u16 *)(a))
#define REG8(a) (*(volatile u8 *)(a))
/* In registers, as an optimiser leaves it: what it does to SR.BL can be seen. */
static inline __attribute__((always_inline)) u32 irq_disable(void)
{
    u32 sr, off;
    __asm__ volatile("stc sr,%0\n\tmov %0,%1\n\tand %2,%1\n\tor %3,%1\n\tldc %1,sr" : "=&r"(sr), "=&r"(off) : "r"(0xEFFFFF0F), "r"(0xF0));
    return sr;
}
static inline __attribute__((always_inline)) void irq_restore(u32 sr) { __asm__ volatile("ldc %0,sr" : : "r"(sr)); }

/* ---- heap: what is freed is given again first ---- */

static void *allocate(u32 bytes)
{
    struct block **at, *b;
    for (at = &free_blocks; *at; at = &(*at)->next)
        if ((*at)->bytes == bytes) {
            b = *at;
            *at = b->next;
            return b;
        }
    b = (struct block *)(heap + heap_used);
    heap_used += (bytes + ALIGN - 1) & ~(u32)(ALIGN - 1);
    return b;
}

static void release(void *p, u32 bytes)
{
    struct block *b = p;
    b->next = free_blocks;
    b->bytes = bytes;
    free_blocks = b;
}

/* ---- threads ---- */

void thd_exit(void *rv)
{
    irq_disable();
    thd_current->rv = rv;
    thd_current->state = STATE_FINISHED;
    if (thd_current->flags & THD_DETACHED) {
        thd_current->state = STATE_ZOMBIE;
        zombies++;
    }
    thd_block_now(&thd_current->context);
}

static void thd_birth(void *(*routine)(void *), void *param) { thd_exit(routine(param)); }

static void put_label(kthread_t *t, const char *label)
{
    u32 n;
    for (n = 0; n < 255 && label[n]; n++)
        t->label[n] = label[n];
    t->label[n] = 0;
}

kthread_t *thd_create(u32 flags, const char *label, void *stack, u32 bytes, void *(*routine)(void *), void *param)
{
    u32 was = irq_disable(), n;
    kthread_t *t = allocate(sizeof *t);
    for (n = 0; n < sizeof *t / 4; n++)
        ((u32 *)t)[n] = 0;
    t->stack = stack ? stack : allocate(bytes);
    t->stack_size = bytes;
    t->context.pc = (u32)thd_birth;
    t->context.sr = 0x40000000;
    t->context.fpscr = 0x00040001;
    t->context.r[15] = (u32)t->stack + bytes;
    t->context.r[14] = 0xFFFFFFFF;
    t->context.r[4] = (u32)routine;
    t->context.r[5] = (u32)param;
    t->tid = tid_highest++;
    t->prio = PRIO_DEFAULT;
    t->flags = flags;
    t->state = STATE_READY;
    put_label(t, label);
    t->t_list.le_next = thd_list.lh_first;
    if (t->t_list.le_next)
        t->t_list.le_next->t_list.le_prev = &t->t_list.le_next;
    t->t_list.le_prev = &thd_list.lh_first;
    thd_list.lh_first = t;
    irq_restore(was);
    return t;
}

static void thd_destroy(kthread_t *t)
{
    u32 was = irq_disable();
    *t->t_list.le_prev = t->t_list.le_next;
    if (t->t_list.le_next)
        t->t_list.le_next->t_list.le_prev = t->t_list.le_prev;
    release(t->stack, t->stack_size);
    release(t, sizeof *t);
    irq_restore(was);
}

/* The next ready one in the list behind the running one, the idle thread if there is none. */
static void thd_schedule(void)
{
    kthread_t *t = thd_current;
    if (t->state == STATE_RUNNING)
        t->state = STATE_READY;
    do {
        t = t->t_list.le_next ? t->t_list.le_next : thd_list.lh_first;
        if (t->state == STATE_WAIT && t->wait_timeout && jiffies >= (u32)t->wait_timeout)
            t->state = STATE_READY;
        if (t->state == STATE_READY && t != thd_idle_thd)
            break;
    } while (t != thd_current);
    if (t->state != STATE_READY)
        t = thd_idle_thd;
    thd_current = t;
    t->state = STATE_RUNNING;
    irq_srt_addr = &t->context;
}

irq_context_t *thd_choose_new(void)
{
    thd_schedule();
    return &thd_current->context;
}

void irq_handle_exception(int code)
{
    if (code == 3 && REG32(0xFF000028) == 0x400) {
        REG16(0xFFD80010) = 0x20;
        jiffies++;
        thd_schedule();
    }
}

void thd_pass(void) { thd_block_now(&thd_current->context); }

void thd_sleep(u32 ticks)
{
    u32 was = irq_disable();
    thd_current->state = STATE_WAIT;
    thd_current->wait_timeout = jiffies + ticks;
    thd_block_now(&thd_current->context);
    irq_restore(was);
}

void thd_join(kthread_t *t)
{
    while (t->state != STATE_FINISHED)
        thd_sleep(1);
    thd_destroy(t);
}

static void *thd_idle_task(void *param)
{
    (void)param;
    for (;;)
        spin(20);
}

static void *thd_reaper(void *param)
{
    kthread_t *t;
    (void)param;
    for (;;) {
        while (!zombies)
            thd_sleep(1);
        for (t = thd_list.lh_first; t->state != STATE_ZOMBIE; t = t->t_list.le_next)
            ;
        thd_destroy(t);
        zombies--;
    }
}

static void thd_init(void)
{
#if LAYOUT == 200 /* the stack of the first thread is one that it does not run on */
    kthread_t *kern = thd_create(0, "[kernel]", 0, STACK, 0, 0);
#else
    kthread_t *kern = thd_create(0, "[kernel]", (void *)(arch_mem_top - 65536), 65536, 0, 0);
#endif
    kern->state = STATE_RUNNING;
    thd_current = kern;
    irq_srt_addr = &kern->context;
    thd_idle_thd = thd_create(0, "[idle]", 0, STACK, thd_idle_task, 0);
    thd_create(0, "[reaper]", 0, STACK, thd_reaper, 0);
    REG16(0xFFD00004) = 0x8000;
    REG32(0xFFD80008) = TICK;
    REG32(0xFFD8000C) = TICK;
    REG16(0xFFD80010) = 0x20;
    REG8(0xFFD80004) = 1;
}

/* ---- the program ---- */

/* 100 times spin(which + 1 hundreds), and gives way in three ways. */
static void step(u32 which)
{
    u32 n;
    for (n = 0; n < 10; n++)
        spin(100 * (which + 1));
    done_steps[which]++;
}

/* Three threads run this same function. */
static void *work(void *param)
{
    u32 which = (u32)param, n;
    for (n = 0; n < STEPS; n++) {
        step(which);
        if (n % 4 == which)
            thd_pass();
        if (n % 16 == which)
            thd_sleep(2);
    }
    return 0;
}

static void burst(void)
{
    spin(700);
    done_bursts++;
}

/* One after the other, each on the stack of the one before. */
static void *short_lived(void *param)
{
    u32 n;
    for (n = 0; n <= (u32)param; n++)
        burst();
    return 0;
}

static void settle(void) { spin(50); }

void good(void) { }
void bad(void) { }
void done(void)
{
    for (;;)
        ;
}

int main(void)
{
    static const char *const names[] = { "worker 0", "sound", "worker 2" };
    kthread_t *t[3], *b;
    char label[8] = "burst 0";
    u32 n, steps = 0;
    for (n = 0; n < 3; n++)
        t[n] = thd_create(0, names[n], 0, STACK, work, (void *)n);
    for (n = 0; n < BURSTS; n++) {
        label[6] = '0' + n;
        b = thd_create(n & 1 ? THD_DETACHED : 0, label, 0, STACK, short_lived, (void *)n);
        if (!(n & 1))
            thd_join(b);
        thd_sleep(3);
        settle();
    }
    for (n = 0; n < 3; n++)
        thd_join(t[n]);
    for (n = 0; n < 3; n++)
        steps += done_steps[n];
    if (steps == 3 * STEPS && done_bursts == BURSTS * (BURSTS + 1) / 2)
        good();
    else
        bad();
    return 0;
}

void arch_main(void)
{
    u32 *p;
    extern u32 bss_start[], bss_end[];
    REG32(0xFF00001C) = 0x0909; /* caches on, emptied */
    for (p = bss_start; p < bss_end; p++)
        *p = 0;
    irq_disable(); /* exceptions from here on */
    tid_highest = 1;
    thd_init();
    irq_restore(0x40000000);
    main();
    done();
}
