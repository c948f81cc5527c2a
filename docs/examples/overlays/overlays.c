/* Three overlays that take turns at one address: each is copied there when it is wanted. Their first
 * functions, Scroll, Punch and Menu, have the same address; who knows addresses only takes them for
 * one. The tables and names are those that GDB knows (its manual, "Automatic Overlay Debugging").
 * Per round of main's loop, in an order that a generator of pseudorandom numbers makes:
 *   LoadOverlay      300 calls by Play, and two more for each of Punch's third blows
 *   Scroll or Punch  1 to 4 calls after each of these
 *   Row, Bruise      3 calls by each Scroll, 1 by each Punch
 *   Menu             1 call by each third Punch, whose own overlay is out then and comes back
 * Compiled with -O0 only, for the reason in ../profexam/README.md. */

enum { LEVEL, FIGHT, MENU, OVERLAYS, TURNS = 300, ROWS = 3 };

#define IN(overlay) __attribute__((section("." #overlay), noinline))
#define UNCACHED(p) ((unsigned long)(p) | 0xA0000000)

extern unsigned long overlay_area[];
extern unsigned long __load_start_level[], __load_stop_level[];
extern unsigned long __load_start_fight[], __load_stop_fight[];
extern unsigned long __load_start_menu[], __load_stop_menu[];
void forget_code(void);

/* For each overlay where it runs, its size, where it is loaded, and whether it is there now. */
struct overlay {
    unsigned long vma, size, lma, mapped;
} _ovly_table[OVERLAYS];
unsigned long _novlys = OVERLAYS;

/* What the program counts itself. */
volatile unsigned Loads, Scrolls, Rows, Punches, Bruises, Menus;
static unsigned Seed;

/* Does nothing: who wants to know of a new overlay watches it. */
void _ovly_debug_event(void) {}

static void Describe(struct overlay *o, const unsigned long *from, const unsigned long *to)
{
    o->vma = (unsigned long)overlay_area;
    o->lma = (unsigned long)from;
    o->size = (unsigned long)to - (unsigned long)from;
    o->mapped = 0;
}

void LoadOverlay(int k)
{
    const unsigned long *from = (const unsigned long *)_ovly_table[k].lma;
    unsigned long *to = (unsigned long *)UNCACHED(_ovly_table[k].vma), n;
    int i;

    for (i = 0; i < OVERLAYS; i++)
        _ovly_table[i].mapped = 0;
    for (n = 0; n < _ovly_table[k].size; n += sizeof *to)
        *to++ = *from++;
    ((void (*)(void))UNCACHED(forget_code))();
    _ovly_table[k].mapped = 1;
    Loads++;
    _ovly_debug_event();
}

IN(menu) void Menu(void) { Menus++; }

IN(level) void Scroll(void)
{
    int i;
    extern void Row(void);

    for (i = 0; i < ROWS; i++)
        Row();
    Scrolls++;
}

IN(level) void Row(void) { Rows++; }

/* Not in an overlay: whoever calls it is not there while it is open. */
void OpenMenu(int caller)
{
    LoadOverlay(MENU);
    Menu();
    LoadOverlay(caller);
}

IN(fight) void Punch(void)
{
    extern void Bruise(void);
    static unsigned blows;

    Bruise();
    Punches++;
    if (++blows == 3) {
        blows = 0;
        OpenMenu(FIGHT);
    }
}

IN(fight) void Bruise(void) { Bruises++; }

static unsigned Random(void)
{
    Seed = Seed * 1103515245 + 12345;
    return Seed >> 16;
}

void Play(void)
{
    int turn;
    unsigned times;

    for (turn = 0; turn < TURNS; turn++) {
        int fight = Random() & 1;

        LoadOverlay(fight ? FIGHT : LEVEL);
        for (times = 1 + (Random() & 3); times; times--)
            if (fight)
                Punch();
            else
                Scroll();
    }
}

void PlayEnds(void) {}

int main(void)
{
    Describe(&_ovly_table[LEVEL], __load_start_level, __load_stop_level);
    Describe(&_ovly_table[FIGHT], __load_start_fight, __load_stop_fight);
    Describe(&_ovly_table[MENU], __load_start_menu, __load_stop_menu);
    for (;;) {
        Play();
        PlayEnds();
    }
}
