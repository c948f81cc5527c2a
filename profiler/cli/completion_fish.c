#include "probe/base/choice.h"
#include "profiler/cli/completion.h"

/* Text within '...'. */
static void print_quoted(const char *text, FILE *out)
{
    fputc('\'', out);
    for (; *text; text++)
        fprintf(out, "%s%c", text_if(*text == '\'' || *text == '\\', "\\"), *text);
    fputc('\'', out);
}

static void print_value(enum completion_kind kind, const char *words, FILE *out)
{
    if (kind == COMPLETION_FILE)
        fputs(" -r -F", out);
    else if (kind != COMPLETION_NONE)
        fputs(" -x", out);
    if (kind == COMPLETION_WORDS) {
        fputs(" -a ", out);
        print_quoted(words, out);
    }
}

static void print_rows(const struct completion *c, const struct command *k)
{
    char words[COMPLETION_TEXT];
    for (const struct opt *o = k->opts; o->name; o++) {
        fprintf(c->out, "complete -c probeprof -n '__probeprof_command %s' -l %s", k->name,
                o->name);
        if (o->letter)
            fprintf(c->out, " -s %c", o->letter);
        print_value(completion_value(c, o, words), words, c->out);
        fputs(" -d ", c->out);
        print_quoted(o->help, c->out);
        fputc('\n', c->out);
    }
    enum completion_kind kind = completion_argument(c, k, words);
    if (kind != COMPLETION_NONE) {
        fprintf(c->out, "complete -c probeprof -n '__probeprof_command %s'%s", k->name,
                kind == COMPLETION_FILE ? " -F" : " -a ");
        if (kind == COMPLETION_WORDS)
            print_quoted(words, c->out);
        fputc('\n', c->out);
    }
}

void completion_fish(const struct completion *c)
{
    fprintf(c->out,
            "# fish completion of probeprof's command line, made by `probeprof completion fish`\n\n"
            "# The command of the line so far is that one: the default has no name.\n"
            "function __probeprof_command\n"
            "    set -l typed (commandline -opc)\n"
            "    set -l command run\n"
            "    if test (count $typed) -ge 2; and not string match -q -- '-*' $typed[2]\n"
            "        set command $typed[2]\n"
            "    end\n"
            "    test $command = $argv[1]\n"
            "end\n\n"
            "complete -c probeprof -f\n");
    for (size_t i = 0; i < c->n; i++) {
        fprintf(c->out,
                "complete -c probeprof -n 'test (count (commandline -opc)) -eq 1' -a %s -d ",
                c->command[i]->name);
        print_quoted(c->command[i]->summary, c->out);
        fputc('\n', c->out);
    }
    for (size_t i = 0; i < c->n; i++)
        print_rows(c, c->command[i]);
}
