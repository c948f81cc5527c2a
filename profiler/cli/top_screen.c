#define NCURSES_WIDECHAR 1
#include <curses.h>

#include <langinfo.h>
#include <locale.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include "profiler/cli/top_screen.h"

enum { PAIR_WARN = 1, PAIR_DOUBT, PAIR_HEAD };

struct top_screen {
    SCREEN *screen;
    bool colours, utf8;
};

bool top_screen_utf8(void)
{
    setlocale(LC_CTYPE, "");
    return strcmp(nl_langinfo(CODESET), "UTF-8") == 0;
}

static void begin_colours(struct top_screen *s)
{
    const char *no = getenv("NO_COLOR");
    if ((no && *no) || !has_colors() || start_color() == ERR)
        return;
    use_default_colors();
    init_pair(PAIR_WARN, COLOR_RED, -1);
    init_pair(PAIR_DOUBT, COLOR_YELLOW, -1);
    init_pair(PAIR_HEAD, COLOR_CYAN, -1);
    s->colours = true;
}

int top_screen_open(struct top_screen **out, struct err *err)
{
    struct top_screen *s = calloc(1, sizeof *s);
    if (!s)
        return err_set(err, ERR_NOMEM, "close other programs", "top: out of memory");
    s->utf8 = top_screen_utf8();
    const char *term = getenv("TERM");
    bool dumb = !term || !*term || strcmp(term, "dumb") == 0;
    s->screen = dumb ? NULL : newterm(NULL, stdout, stdin);
    if (!s->screen) {
        free(s);
        return err_set(err, ERR_UNSUPPORTED,
                       "set TERM to what it is, or pipe the output: then plain tables come",
                       "this terminal cannot place text");
    }
    begin_colours(s);
    cbreak();
    noecho();
    keypad(stdscr, TRUE);
    nodelay(stdscr, TRUE);
    set_escdelay(50);
    curs_set(0);
    *out = s;
    return 0;
}

void top_screen_close(struct top_screen *s)
{
    if (!s)
        return;
    endwin();
    delscreen(s->screen);
    free(s);
}

void top_screen_resize(struct top_screen *s)
{
    struct winsize w;
    (void)s;
    if (ioctl(STDOUT_FILENO, TIOCGWINSZ, &w) == 0 && w.ws_row && w.ws_col)
        resizeterm(w.ws_row, w.ws_col);
    clear();
}

/* What is said by colour is said by bold, reverse or letters, too. */
static attr_t attributes_of(const struct top_screen *s, enum top_style style)
{
    switch (style) {
    case TOP_HEAD: return A_BOLD;
    case TOP_WARN: return A_BOLD | (s->colours ? COLOR_PAIR(PAIR_WARN) : A_STANDOUT);
    case TOP_TITLE: return A_REVERSE;
    case TOP_DOUBT:
        if (s->colours)
            return COLOR_PAIR(PAIR_DOUBT);
        return A_NORMAL;
    case TOP_CHOSEN: return A_REVERSE | A_BOLD;
    case TOP_FOOT:
        if (s->colours)
            return COLOR_PAIR(PAIR_HEAD);
        return A_DIM;
    default: return A_NORMAL;
    }
}

static void draw_line(void *ctx, size_t row, const struct top_line *l)
{
    const struct top_screen *s = ctx;
    attr_t a = attributes_of(s, l->style);
    move((int)row, 0);
    attrset((int)a);
    addstr(l->text);
    /* bars go to the edge */
    for (int x = getcurx(stdscr); l->style == TOP_TITLE || l->style == TOP_CHOSEN; x++) {
        if (x >= COLS || getcury(stdscr) != (int)row)
            break;
        addch(' ');
    }
    attrset(A_NORMAL);
    if (getcury(stdscr) == (int)row && getcurx(stdscr) < COLS)
        clrtoeol();
}

void top_screen_draw(struct top_screen *s, struct top_view *v, const struct follow *w)
{
    const struct top_size size = { (size_t)LINES, (size_t)COLS, s->utf8 };
    erase();
    top_view_lines(v, w, &size, draw_line, s);
    refresh();
}

bool top_screen_key(struct top_screen *s, unsigned *key)
{
    static const struct {
        int curses;
        unsigned ours;
    } keys[] = {
        { KEY_UP, TOP_KEY_UP },         { KEY_DOWN, TOP_KEY_DOWN },
        { KEY_LEFT, TOP_KEY_LEFT },     { KEY_RIGHT, TOP_KEY_RIGHT },
        { KEY_PPAGE, TOP_KEY_PAGE_UP }, { KEY_NPAGE, TOP_KEY_PAGE_DOWN },
        { KEY_HOME, TOP_KEY_HOME },     { KEY_END, TOP_KEY_END },
        { KEY_ENTER, TOP_KEY_ENTER },   { '\n', TOP_KEY_ENTER },
        { '\r', TOP_KEY_ENTER },        { KEY_BACKSPACE, TOP_KEY_BACK },
        { 0x7F, TOP_KEY_BACK },         { '\b', TOP_KEY_BACK },
        { 0x1B, TOP_KEY_ESCAPE },
    };
    int c = getch();
    (void)s;
    if (c == ERR)
        return false;
    *key = (unsigned)c;
    for (size_t i = 0; i < sizeof keys / sizeof keys[0]; i++)
        if (keys[i].curses == c)
            *key = keys[i].ours;
    if (c >= KEY_F(1) && c <= KEY_F(10))
        *key = TOP_KEY_F1 + (unsigned)(c - KEY_F(1));
    return true;
}
