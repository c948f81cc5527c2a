/* For bash, without the package bash-completion's functions: that one only finds the file. */
#include "probe/base/choice.h"
#include "profiler/cli/completion.h"

static void print_options(const struct command *k, FILE *out)
{
    for (const struct opt *o = k->opts; o->name; o++)
        fprintf(out, " --%s%s", o->name, text_if(opt_takes_value(o), "="));
}

/* A pattern for `case`: command:option, in both forms. */
static void print_pattern(const struct command *k, const struct opt *o, FILE *out)
{
    fprintf(out, "    %s:--%s", k->name, o->name);
    if (o->letter)
        fprintf(out, "|%s:-%c", k->name, o->letter);
    fprintf(out, ") ");
}

static void print_row(enum completion_kind kind, const char *words, FILE *out)
{
    if (kind == COMPLETION_WORDS)
        fprintf(out, "words='%s' ;;\n", words);
    else
        fprintf(out, "%s ;;\n", kind == COMPLETION_FILE ? "files=1" : "words=''");
}

static void print_rows(const struct completion *c, const struct command *k)
{
    char words[COMPLETION_TEXT];
    fprintf(c->out, "    %s:) options='", k->name);
    print_options(k, c->out);
    fprintf(c->out, "'; ");
    print_row(completion_argument(c, k, words), words, c->out);
    for (const struct opt *o = k->opts; o->name; o++) {
        enum completion_kind kind = completion_value(c, o, words);
        if (kind == COMPLETION_NONE)
            continue;
        print_pattern(k, o, c->out);
        print_row(kind, words, c->out);
    }
}

static void print_table(const struct completion *c)
{
    fprintf(c->out,
            "# What may follow COMMAND:OPTION, or COMMAND: alone. Sets options, words, files.\n"
            "_probeprof_table()\n{\n    options='' words='' files=''\n    case $1 in\n");
    for (size_t i = 0; i < c->n; i++)
        print_rows(c, c->command[i]);
    fprintf(c->out, "    *) return 1 ;;\n    esac\n}\n\n");
}

/* bash cuts words at ':' and '=' and replaces only what is behind the last one: the line is cut at
 * spaces here, and what bash keeps is taken off the answers. */
static const char code[] =
    "_probeprof()\n{\n"
    "    local line=${COMP_LINE:0:COMP_POINT} command=run cur prev keep options words files "
    "first=1\n"
    "    local -a typed\n"
    "    read -ra typed <<<\"$line\"\n"
    "    [[ $line == *[[:space:]] ]] && typed+=('')\n"
    "    cur=${typed[-1]} prev=${typed[-2]}\n"
    "    if [[ ${#typed[@]} -gt 2 && ${typed[1]} != -* ]] && _probeprof_table \"${typed[1]}:\"; "
    "then command=${typed[1]} first=; fi\n"
    "    [[ ${#typed[@]} -gt 2 ]] && first=\n"
    "    COMPREPLY=()\n"
    "    if [[ $cur == --*=* ]]; then prev=${cur%%=*} keep=$prev= cur=${cur#*=}; fi\n"
    "    if [[ $prev == -* ]] && _probeprof_table \"$command:$prev\"; then\n"
    "        :\n"
    "    elif [[ $cur == -* ]]; then\n"
    "        _probeprof_table \"$command:\"; words=$options files=\n"
    "    else\n"
    "        _probeprof_table \"$command:\"\n"
    "        [[ $first ]] && words=\"$words $_probeprof_commands\"\n"
    "    fi\n"
    "    local IFS=$' \\t\\n'\n"
    "    COMPREPLY=($(compgen -W \"$words\" -- \"$cur\"))\n"
    "    if [[ $files ]]; then\n"
    "        compopt -o filenames\n"
    "        local name\n"
    "        while IFS= read -r name; do COMPREPLY+=(\"$name\"); done < <(compgen -f -- \"$cur\")\n"
    "        return\n"
    "    fi\n"
    "    [[ ${#COMPREPLY[@]} -eq 1 && ${COMPREPLY[0]} == *= ]] && compopt -o nospace\n"
    "    keep=${cur%\"${cur##*[:=]}\"}\n"
    "    [[ $COMP_WORDBREAKS == *:* ]] && COMPREPLY=(\"${COMPREPLY[@]#\"$keep\"}\")\n"
    "}\n"
    "complete -F _probeprof probeprof\n";

void completion_bash(const struct completion *c)
{
    fprintf(c->out, "# bash completion of probeprof's command line, made by `probeprof completion "
                    "bash`\n\n_probeprof_commands='");
    for (size_t i = 0; i < c->n; i++)
        fprintf(c->out, "%s%s", text_if(i, " "), c->command[i]->name);
    fprintf(c->out, "'\n\n");
    print_table(c);
    fputs(code, c->out);
}
