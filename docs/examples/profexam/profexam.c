/* The tutorial program: a singly linked list of the numbers 1 to 1000 in ascending order, built by
 * walking to its end for every new node, then thrown away and built again, for ever.
 *
 * The walk is the point: it makes GetLastNode the hot spot. In each pass of main's loop
 *   Initialise   1 call
 *   BuildList    1 call
 *   GetNewNode   1000 calls, each calling MallocNode once
 *   GetLastNode  999 calls: the first node goes into an empty list
 *   InsertNode   1000 calls
 * so 4001 calls and 4001 returns. Compiled with -O0 only: see README.md. */

enum { NODES = 1000 };

struct node {
    int number;
    struct node *next;
};

struct node Pool[NODES];
int Used;            /* nodes of Pool that are in the list */
struct node *First;  /* 0: the list is empty */
unsigned Passes;     /* times the list has been begun */

void Initialise(void);
void BuildList(void);

/* Linked first, right behind head.S: main is at 0x0C01001C, its endless loop goes from main+8 to the
 * BRA at 0x0C010030. */
__attribute__((section(".text.main"))) int main(void)
{
    int unused[1]; /* its stack slot is the prologue's fourth instruction */

    (void)unused;
    for (;;) { Initialise(); BuildList(); } /* on one line: so neither call is followed by a NOP */
}

void Initialise(void)
{
    First = 0;
    Used = 0;
    Passes++;
}

/* 8 KB behind GetNewNode: its second half and GetNewNode's first instructions share a line of the
 * instruction cache (direct mapped, 8 KB), so each call of either throws the other's line out. */
__attribute__((section(".text.far"))) static struct node *MallocNode(void)
{
    if (Used == NODES)
        return 0;
    return &Pool[Used++];
}

static struct node *GetNewNode(int number)
{
    struct node *node = MallocNode();

    node->number = number;
    node->next = 0;
    return node;
}

static struct node *GetLastNode(void)
{
    struct node *node = First;

    while (node->next)
        node = node->next;
    return node;
}

static void InsertNode(struct node *last, struct node *node)
{
    if (last)
        last->next = node;
    else
        First = node;
}

void BuildList(void)
{
    int number;

    for (number = 1; number <= NODES; number++) {
        struct node *node = GetNewNode(number);
        struct node *last = First ? GetLastNode() : 0;

        InsertNode(last, node);
    }
}
