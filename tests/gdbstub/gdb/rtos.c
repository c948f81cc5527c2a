/* Tasks as FreeRTOS has them, written anew from the facts (tasks.c and include/list.h there): control blocks in lists by state. Nothing is scheduled:
 * main() says who runs, and calls what that one does. Built with -O0 and committed as rtos.elf; see Makefile. */
typedef unsigned u32;

struct xLIST_ITEM {
    u32 xItemValue;
    struct xLIST_ITEM *pxNext, *pxPrevious;
    void *pvOwner;
    struct xLIST *pxContainer;
};
struct xMINI_LIST_ITEM {
    u32 xItemValue;
    struct xLIST_ITEM *pxNext, *pxPrevious;
};
struct xLIST {
    u32 uxNumberOfItems;
    struct xLIST_ITEM *pxIndex;
    struct xMINI_LIST_ITEM xListEnd;
};
struct tskTaskControlBlock {
    u32 *pxTopOfStack;
    struct xLIST_ITEM xStateListItem, xEventListItem;
    u32 uxPriority, *pxStack;
    char pcTaskName[16];
    u32 *pxEndOfStack, uxTCBNumber;
};

static struct xLIST pxReadyTasksLists[5], xDelayedTaskList1, xDelayedTaskList2, xPendingReadyList, xSuspendedTaskList, xTasksWaitingTermination;
struct tskTaskControlBlock *volatile pxCurrentTCB;
static volatile u32 uxCurrentNumberOfTasks, uxTaskNumber;
static volatile int xSchedulerRunning;
static struct tskTaskControlBlock blocks[4];
static u32 stacks[4][64];

extern void _exit(int status) __attribute__((noreturn));

void exit(int status)
{
    _exit(status);
}

static void initialise(struct xLIST *l)
{
    struct xLIST_ITEM *end = (struct xLIST_ITEM *)&l->xListEnd;
    l->uxNumberOfItems = 0;
    l->pxIndex = end;
    end->xItemValue = 0xFFFFFFFF;
    end->pxNext = end->pxPrevious = end;
}

void insert(struct xLIST *l, struct tskTaskControlBlock *t)
{
    struct xLIST_ITEM *end = (struct xLIST_ITEM *)&l->xListEnd, *item = &t->xStateListItem;
    item->pxNext = end;
    item->pxPrevious = end->pxPrevious;
    end->pxPrevious->pxNext = item;
    end->pxPrevious = item;
    item->pxContainer = l;
    l->uxNumberOfItems++;
}

void take_out(struct tskTaskControlBlock *t)
{
    struct xLIST_ITEM *item = &t->xStateListItem;
    item->pxNext->pxPrevious = item->pxPrevious;
    item->pxPrevious->pxNext = item->pxNext;
    item->pxContainer->uxNumberOfItems--;
    item->pxContainer = 0;
}

static void create(int n, const char *name, u32 priority)
{
    struct tskTaskControlBlock *t = &blocks[n];
    for (int i = 0; i < 15 && name[i]; i++)
        t->pcTaskName[i] = name[i];
    t->uxPriority = priority;
    t->pxStack = stacks[n];
    t->pxEndOfStack = &stacks[n][63];
    t->uxTCBNumber = ++uxTaskNumber;
    t->xStateListItem.pvOwner = t->xEventListItem.pvOwner = t;
    insert(&pxReadyTasksLists[priority], t);
    uxCurrentNumberOfTasks++;
    if (!pxCurrentTCB)
        pxCurrentTCB = t;
}

void blink(int round)
{
    stacks[1][0] = round;
}

void listen(int round)
{
    stacks[2][0] = round;
}

int main(void)
{
    for (int i = 0; i < 5; i++)
        initialise(&pxReadyTasksLists[i]);
    initialise(&xDelayedTaskList1);
    initialise(&xDelayedTaskList2);
    initialise(&xPendingReadyList);
    initialise(&xSuspendedTaskList);
    initialise(&xTasksWaitingTermination);
    create(0, "IDLE", 0);
    create(1, "blink", 2);
    create(2, "net <&> \"x\"", 3);
    create(3, "", 4);
    xSchedulerRunning = 1;
    take_out(&blocks[3]);
    insert(&xSuspendedTaskList, &blocks[3]);
    pxCurrentTCB = &blocks[2];
    listen(1);
    take_out(&blocks[2]);
    insert(&xDelayedTaskList2, &blocks[2]);
    pxCurrentTCB = &blocks[1];
    blink(2);
    return 0;
}
