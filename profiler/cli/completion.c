#include "profiler/cli/completion.h"

#include <ctype.h>
#include <string.h>

#include "probe/base/choice.h"
#include "probe/base/util.h"
#include "profiler/cli/parts.h"
#include "profiler/cli/setting_row.h"
#include "profiler/views/exporters.h"
#include "profiler/views/importers.h"

static void add_word(char *words, const char *before, const char *name, const char *after)
{
    size_t at = strlen(words);
    snprintf(words + at, COMPLETION_TEXT - at, "%s%s%s%s", text_if(at, " "), before, name, after);
}

/* ---- what only the tables of drivers and parts know ---- */

static void add_probes(const struct completion *c, char *words)
{
    for (const struct sim_board_type *const *b = c->boards; *b; b++)
        add_word(words, "sim:", (*b)->name, "");
    for (const struct probe_driver *const *d = probe_drivers(); *d; d++)
        if (strcmp((*d)->name, "sim") && !(*d)->pdo)
            add_word(words, "", (*d)->name, "");
}

static void add_targets(const struct completion *c, char *words)
{
    (void)c;
    for (const struct part *p = parts(); p->name; p++)
        add_word(words, "", p->name, "");
}

/* A word of a list that has spaces between them. */
static bool has_word(const char *words, const char *name)
{
    size_t n = strlen(name);
    for (const char *at = strstr(words, name); at; at = strstr(at + 1, name))
        if ((at == words || at[-1] == ' ') && (!at[n] || at[n] == ' '))
            return true;
    return false;
}

static void add_events(const struct completion *c, char *words)
{
    (void)c;
    for (const struct part *p = parts(); p->name; p++)
        for (const struct counter_event *e = p->ops()->events; e && e->name; e++)
            if (!has_word(words, e->name))
                add_word(words, "", e->name, "");
}

static void add_formats(char *words)
{
    size_t n;
    const struct exporter *x = exporters(&n);
    for (size_t i = 0; i < n; i++)
        add_word(words, "", x[i].name, "");
}

static void add_readers(char *words)
{
    size_t n;
    const struct importer *x = importers(&n);
    for (size_t i = 0; i < n; i++)
        add_word(words, "", x[i].name, "");
}

/* By the option's name: the same in every command. A test gives each word to the program. */
static void words_of(const struct completion *c, const struct opt *o, char *words)
{
    const char *name = o->name;
    static void (*const more[])(const struct completion *c, char *words) = {
        [OFFER_PROBES] = add_probes, [OFFER_PARTS] = add_targets, [OFFER_EVENTS] = add_events
    };
    const struct setting_row *row = setting_named(name);
    bool of_order = o->arg && !strcmp(o->arg, "ORDER"); /* of optimize; else of decode */
    if (!strcmp(name, "format") && of_order)
        strcpy(words, "ld ld-insert ld-order lld gold lor");
    else if (!strcmp(name, "format"))
        strcpy(words, "lines pdo-bytes dbgtb edges vcd sr raw");
    if (!strcmp(name, "algorithm"))
        strcpy(words, "cpho ph c3");
    if (!strcmp(name, "value")) /* of convert */
        strcpy(words, "hits c1 c2");
    if (!strcmp(name, "to"))
        add_formats(words);
    if (!strcmp(name, "from"))
        add_readers(words);
    if (row && row->words)
        strcpy(words, row->words);
    if (row && row->offers != OFFER_WORDS)
        more[row->offers](c, words);
}

enum completion_kind completion_value(const struct completion *c, const struct opt *o, char *words)
{
    *words = 0;
    if (!opt_takes_value(o))
        return COMPLETION_NONE;
    words_of(c, o, words);
    if (*words)
        return COMPLETION_WORDS;
    bool file = !strcmp(o->arg, "F") || !strncmp(o->arg, "F.", 2) || !strcmp(o->arg, "E") ||
                !strcmp(o->arg, "FILE");
    if (file)
        return COMPLETION_FILE;
    return COMPLETION_FREE;
}

/* Whether an option, or what stands for them, is next in a command's usage. */
static bool is_option_usage(const char *text)
{
    static const char all[] = "[OPTIONS]";
    if (*text == '[')
        return text[1] == '-' || !strncmp(text, all, strlen(all));
    return *text == '-';
}

enum completion_kind completion_argument(const struct completion *c, const struct command *k,
                                         char *words)
{
    const char *text = strchr(k->usage, ' ');
    *words = 0;
    while (text && is_option_usage(text + 1))
        text = strchr(text + 1, ' ');
    if (!text)
        return COMPLETION_NONE;
    text += strspn(text, " [");
    if (!strncmp(text, "COMMAND", 7)) {
        for (size_t i = 0; i < c->n; i++)
            add_word(words, "", c->command[i]->name, "");
        return COMPLETION_WORDS;
    }
    if (isupper((unsigned char)*text))
        return COMPLETION_FILE;
    snprintf(words, COMPLETION_TEXT, "%.*s", (int)strcspn(text, " ]"), text);
    for (char *bar = strchr(words, '|'); bar; bar = strchr(bar, '|'))
        *bar = ' ';
    return COMPLETION_WORDS;
}

bool completion_again(const struct opt *o)
{
    return opt_takes_value(o) && strstr(o->help, "may be given");
}

int completion_print(const struct completion *c, const char *shell, struct err *err)
{
    static const struct {
        const char *name;
        void (*print)(const struct completion *c);
    } shells[] = {
        { "bash", completion_bash },
        { "zsh", completion_zsh },
        { "fish", completion_fish },
    };
    for (size_t i = 0; i < ARRAY_LEN(shells); i++)
        if (!strcmp(shells[i].name, shell)) {
            shells[i].print(c);
            return 0;
        }
    if (!*shell)
        return err_set(err, ERR_USAGE, "probeprof completion bash|zsh|fish",
                       "completion needs the name of a shell");
    return err_set(err, ERR_USAGE, "probeprof completion bash|zsh|fish",
                   "completion: no words for the shell '%s'", shell);
}
