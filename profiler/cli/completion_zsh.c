#include <string.h>

#include "probe/base/choice.h"
#include "profiler/cli/completion.h"

/* Text within '...' of an argument of _arguments or _describe, where ':', '[' and ']' mean
 * something. */
static void print_quoted(const char *text, FILE *out)
{
    for (; *text; text++) {
        if (*text == '\'')
            fputs("'\\''", out);
        else
            fprintf(out, "%s%c", text_if(strchr(":[]\\", *text), "\\"), *text);
    }
}

static void print_action(enum completion_kind kind, const char *words, FILE *out)
{
    if (kind == COMPLETION_FILE)
        fputs("_files", out);
    else if (kind == COMPLETION_WORDS) {
        fputc('(', out);
        print_quoted(words, out);
        fputc(')', out);
    } else
        fputc(' ', out);
}

/* '(-p --probe)--probe=[adapter]:P:(...)', for one spelling of the option. */
static void print_spec(const struct completion *c, const struct opt *o, const char *spelling,
                       const char *joint)
{
    char words[COMPLETION_TEXT];
    enum completion_kind kind = completion_value(c, o, words);
    fprintf(c->out, " \\\n            '");
    if (completion_again(o))
        fputc('*', c->out);
    else if (o->letter)
        fprintf(c->out, "(-%c --%s)", o->letter, o->name);
    fprintf(c->out, "%s%s[", spelling, text_if(opt_takes_value(o), joint));
    print_quoted(o->help, c->out);
    fputc(']', c->out);
    if (opt_takes_value(o)) {
        fputc(':', c->out);
        print_quoted(o->arg, c->out);
        fputc(':', c->out);
        print_action(kind, words, c->out);
    }
    fputc('\'', c->out);
}

static void print_rows(const struct completion *c, const struct command *k)
{
    char words[COMPLETION_TEXT], name[64];
    fprintf(c->out, "    %s)\n        _arguments -s", k->name);
    for (const struct opt *o = k->opts; o->name; o++) {
        if (o->letter) {
            snprintf(name, sizeof name, "-%c", o->letter);
            print_spec(c, o, name, "+");
        }
        snprintf(name, sizeof name, "--%s", o->name);
        print_spec(c, o, name, "=");
    }
    enum completion_kind kind = completion_argument(c, k, words);
    if (kind != COMPLETION_NONE) {
        fprintf(c->out, " \\\n            '%s:argument:", kind == COMPLETION_FILE ? "*" : "1");
        print_action(kind, words, c->out);
        fprintf(c->out, "'%s",
                text_if(kind == COMPLETION_WORDS && strcmp(k->name, "help"),
                        " \\\n            '*:file:_files'"));
    }
    fprintf(c->out, "\n        ;;\n");
}

void completion_zsh(const struct completion *c)
{
    fprintf(c->out, "#compdef probeprof\n# zsh completion of probeprof's command line, made by "
                    "`probeprof completion zsh`\n\n_probeprof()\n{\n"
                    "    local command=run\n    local -a commands\n    commands=(\n");
    for (size_t i = 0; i < c->n; i++) {
        fprintf(c->out, "        '%s:", c->command[i]->name);
        print_quoted(c->command[i]->summary, c->out);
        fprintf(c->out, "'\n");
    }
    fprintf(c->out, "    )\n"
                    "    if (( CURRENT == 2 )) && [[ $words[2] != -* ]]; then\n"
                    "        _describe command commands\n"
                    "        return\n"
                    "    fi\n"
                    "    if [[ $words[2] != -* ]]; then\n"
                    "        command=$words[2]\n"
                    "        shift words\n"
                    "        (( CURRENT-- ))\n"
                    "    fi\n"
                    "    case $command in\n");
    for (size_t i = 0; i < c->n; i++)
        print_rows(c, c->command[i]);
    fprintf(c->out, "    esac\n}\n\n"
                    "if [[ $zsh_eval_context[-1] == loadautofunc ]]; then _probeprof \"$@\"; else "
                    "compdef _probeprof probeprof; fi\n");
}
