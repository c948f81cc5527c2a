/* Keys of top: as in htop where it has them, then as in perf top. */
#include <stdlib.h>
#include <string.h>

#include "probe/base/util.h"
#include "profiler/cli/top_view_priv.h"

enum { LEAST_MS = 50, MOST_MS = 10000 };

static void show_page(struct top_view *v, enum top_page page)
{
    bool aside = v->page == TOP_ONE || v->page == TOP_HELP || v->page == TOP_COLUMNS;
    if (v->page == page || page == TOP_FUNCTIONS) {
        v->page = TOP_FUNCTIONS;
        if (aside)
            v->page = v->page_before;
        return;
    }
    if (v->page == TOP_FUNCTIONS || v->page == TOP_TREE)
        v->page_before = v->page;
    v->page = page;
    if (page == TOP_TREE || page == TOP_FUNCTIONS)
        v->cursor = v->first = 0;
}

/* On the page of columns it is the column. */
static void move_column(struct top_view *v, long step)
{
    long last = 0, to = (long)v->column + step;
    while (top_column_name((unsigned)last + 1))
        last++;
    v->column = (unsigned)MAX(MIN(to, last), 0L);
}

static void move_cursor(struct top_view *v, long step)
{
    if (v->page == TOP_COLUMNS) {
        move_column(v, step);
        return;
    }
    long last = MAX((long)v->nrows - 1, 0L), to = (long)v->cursor + step;
    v->cursor = (size_t)MAX(MIN(to, last), 0L);
    if (v->cursor < v->nrows)
        v->chosen = v->rows[v->cursor].id;
}

static void sort_by(struct top_view *v, int step)
{
    unsigned n = 0;
    while (top_sort_name(n))
        n++;
    v->sort = (v->sort + n + (unsigned)step) % n;
}

static void set_mark(struct top_view *v)
{
    for (size_t i = 0; i < v->npast; i++)
        v->past[i].mark = v->past[i].now;
    v->total_mark = v->total;
    v->mark_ms = v->now_ms;
    v->has_mark = true;
    v->mode = TOP_SINCE_MARK;
}

static void toggle_total(struct top_view *v)
{
    if (v->mode == TOP_BY_INTERVAL)
        v->mode = TOP_TOTAL;
    else
        v->mode = TOP_BY_INTERVAL;
}

static void next_mode(struct top_view *v)
{
    v->mode = (v->mode + 1) % TOP_NMODES;
    if (v->mode == TOP_SINCE_MARK && !v->has_mark)
        v->mode = TOP_BY_INTERVAL;
}

/* Function under the cursor; false: none. */
static bool chosen_function(const struct top_view *v, uint32_t *out)
{
    if (v->cursor >= v->nrows)
        return false;
    *out = v->rows[v->cursor].function;
    return true;
}

static void toggle_tag(struct top_view *v)
{
    uint32_t f;
    if (chosen_function(v, &f) && f < v->npast)
        v->past[f].tagged = !v->past[f].tagged;
    move_cursor(v, 1);
}

static void clear_tags(struct top_view *v)
{
    for (size_t i = 0; i < v->npast; i++)
        v->past[i].tagged = false;
}

static void open_one(struct top_view *v)
{
    if ((v->page == TOP_FUNCTIONS || v->page == TOP_TREE) && chosen_function(v, &v->one))
        show_page(v, TOP_ONE);
}

/* The next row below the cursor whose name has the text, round the end. */
static void find_next_match(struct top_view *v, const struct follow *w)
{
    size_t n;
    const struct follow_function *f = follow_functions(w, &n);
    for (size_t k = 1; k <= v->nrows && *v->search; k++) {
        size_t i = (v->cursor + k) % v->nrows;
        uint32_t id = v->rows[i].function;
        if (id < n && f[id].name && strcasestr(f[id].name, v->search)) {
            v->cursor = i;
            v->chosen = v->rows[i].id;
            return;
        }
    }
}

/* ---- what is typed ---- */

static void begin_input(struct top_view *v, enum top_input what)
{
    v->input = what;
    v->text[0] = 0;
}

static enum top_act take_input(struct top_view *v, const struct follow *w)
{
    enum top_input what = v->input;
    double value = strtod(v->text, NULL);
    v->input = TOP_NO_INPUT;
    switch (what) {
    case TOP_FILTERING: strcpy(v->filter, v->text); break;
    case TOP_SEARCHING:
        strcpy(v->search, v->text);
        find_next_match(v, w);
        break;
    case TOP_ENTRIES:
        v->entries = 0;
        if (value > 0 && value < 1e6)
            v->entries = (unsigned)value;
        break;
    case TOP_LEAST: v->least = MAX(value, 0.0); break;
    case TOP_DELAY:
        if (value * 1000 < LEAST_MS)
            break;
        v->interval_ms = MOST_MS;
        if (value * 1000 < MOST_MS)
            v->interval_ms = (unsigned)(value * 1000);
        return TOP_INTERVAL;
    default: break;
    }
    return TOP_STAY;
}

static enum top_act input_key(struct top_view *v, const struct follow *w, unsigned key)
{
    size_t n = strlen(v->text);
    if (key == TOP_KEY_ENTER)
        return take_input(v, w);
    if (key == TOP_KEY_ESCAPE)
        v->input = TOP_NO_INPUT;
    else if (key == TOP_KEY_BACK && n)
        v->text[n - 1] = 0;
    else if (key >= ' ' && key < 0x7F && n + 1 < sizeof v->text) {
        v->text[n] = (char)key;
        v->text[n + 1] = 0;
    }
    return TOP_STAY;
}

/* ---- keys ---- */

static bool cursor_key(struct top_view *v, unsigned key)
{
    long page = (long)MAX(v->shown, (size_t)1);
    switch (key) {
    case TOP_KEY_UP:
    case 'k': move_cursor(v, -1); return true;
    case TOP_KEY_DOWN:
    case 'j': move_cursor(v, 1); return true;
    case TOP_KEY_LEFT: /* where nothing folds */
    case TOP_KEY_PAGE_UP: move_cursor(v, -page); return true;
    case TOP_KEY_RIGHT:
    case TOP_KEY_PAGE_DOWN: move_cursor(v, page); return true;
    case TOP_KEY_HOME: move_cursor(v, -(long)v->nrows); return true;
    case TOP_KEY_END: move_cursor(v, (long)v->nrows); return true;
    default: return false;
    }
}

static bool page_key(struct top_view *v, unsigned key)
{
    switch (key) {
    case TOP_KEY_F1:
    case 'h':
    case '?': show_page(v, TOP_HELP); return true;
    case TOP_KEY_F1 + 1: show_page(v, TOP_COLUMNS); return true;
    case TOP_KEY_F1 + 4:
    case 't': show_page(v, TOP_TREE); return true;
    case 'g': show_page(v, TOP_LOG); return true;
    case TOP_KEY_ENTER:
    case 's': open_one(v); return true;
    case TOP_KEY_BACK:
    case TOP_KEY_ESCAPE: show_page(v, TOP_FUNCTIONS); return true;
    default: return false;
    }
}

/* What calls the node under the cursor: the row above it that is less deep. */
static void move_to_caller(struct top_view *v)
{
    size_t i = v->cursor;
    if (i >= v->nrows || v->rows[i].depth == 0)
        return;
    unsigned depth = v->rows[i].depth;
    while (i > 0 && v->rows[i].depth >= depth)
        i--;
    move_cursor(v, (long)i - (long)v->cursor);
}

static void fold_chosen(struct top_view *v, bool fold)
{
    const struct top_row *r = NULL;
    if (v->cursor < v->nrows)
        r = &v->rows[v->cursor];
    if (r && r->kids && r->folded != fold)
        top_rows_fold(v, r->id, fold);
    else if (fold)
        move_to_caller(v);
}

static bool fold_key(struct top_view *v, unsigned key)
{
    if (v->page != TOP_TREE)
        return false;
    switch (key) {
    case TOP_KEY_RIGHT:
    case 'l':
    case '+': fold_chosen(v, false); return true;
    case TOP_KEY_LEFT:
    case '-': fold_chosen(v, true); return true;
    case '*': top_rows_fold_all(v); return true;
    default: return false;
    }
}

static bool column_key(struct top_view *v, unsigned key)
{
    if (v->page != TOP_COLUMNS || (key != ' ' && key != TOP_KEY_ENTER))
        return false;
    v->hidden ^= 1U << v->column;
    return true;
}

static bool input_begins(struct top_view *v, unsigned key)
{
    switch (key) {
    case TOP_KEY_F1 + 2:
    case '/': begin_input(v, TOP_SEARCHING); return true;
    case TOP_KEY_F1 + 3:
    case '\\': begin_input(v, TOP_FILTERING); return true;
    case 'd': begin_input(v, TOP_DELAY); return true;
    case 'e': begin_input(v, TOP_ENTRIES); return true;
    case 'f': begin_input(v, TOP_LEAST); return true;
    default: return false;
    }
}

enum top_act top_view_key(struct top_view *v, const struct follow *w, unsigned key)
{
    if (v->input)
        return input_key(v, w, key);
    if (fold_key(v, key) || column_key(v, key) || cursor_key(v, key) || page_key(v, key) ||
        input_begins(v, key))
        return TOP_STAY;
    switch (key) {
    case 'q':
    case TOP_KEY_F10: return TOP_QUIT;
    case TOP_KEY_F1 + 5:
    case '>': sort_by(v, 1); break;
    case '<': sort_by(v, -1); break;
    case 'I': v->invert = !v->invert; break;
    case TOP_KEY_F1 + 6:
    case 'i': next_mode(v); break;
    case 'z': toggle_total(v); break;
    case TOP_KEY_F1 + 7:
    case 'm': set_mark(v); break;
    case TOP_KEY_F1 + 8:
    case 'c': v->second = !v->second; break;
    case 'H': v->handlers = !v->handlers; break;
    case 'p': v->paused = !v->paused; break;
    case 'n': find_next_match(v, w); break;
    case ' ': toggle_tag(v); break;
    case 'U': clear_tags(v); break;
    default: break;
    }
    return TOP_STAY;
}
