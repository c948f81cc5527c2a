#include "profiler/cli/conf.h"

#include <ctype.h>
#include <string.h>

static char *trim_blanks(char *text)
{
    while (isspace((unsigned char)*text))
        text++;
    char *end = text + strlen(text);
    while (end > text && isspace((unsigned char)end[-1]))
        *--end = 0;
    return text;
}

/* Cuts a comment that starts the line or follows white space, outside double quotes. */
static void cut_comment(char *line)
{
    int quoted = 0;
    for (char *p = line; *p; p++) {
        if (*p == '"')
            quoted = !quoted;
        if ((*p == ';' || *p == '#') && !quoted && (p == line || isspace((unsigned char)p[-1]))) {
            *p = 0;
            return;
        }
    }
}

static char *strip_quotes(char *value)
{
    size_t len = strlen(value);
    if (len >= 2 && value[0] == '"' && value[len - 1] == '"') {
        value[len - 1] = 0;
        return value + 1;
    }
    return value;
}

static int parse_line(char *line, int number, char *section, size_t cap, conf_take *take, void *ctx,
                      struct err *err)
{
    cut_comment(line);
    line = trim_blanks(line);
    size_t len = strlen(line);
    if (len == 0)
        return 0;
    if (line[0] == '[') {
        if (line[len - 1] != ']' || len - 2 >= cap)
            return err_set(err, ERR_USAGE, "sections look like [probeprof]",
                           "'%.60s' is not a section", line);
        line[len - 1] = 0;
        strcpy(section, trim_blanks(line + 1));
        return 0;
    }
    char *equals = strchr(line, '=');
    if (!equals)
        return err_set(err, ERR_USAGE, "lines look like: elf = program.elf", "'%.60s' has no '='",
                       line);
    *equals = 0;
    return take(ctx, number, section, trim_blanks(line), strip_quotes(trim_blanks(equals + 1)),
                err);
}

int conf_parse(FILE *in, const char *name, conf_take *take, void *ctx, struct err *err)
{
    char line[1024], section[64] = "", place[128];
    for (int number = 1; fgets(line, sizeof line, in); number++) {
        int ret;
        if (!strchr(line, '\n') && !feof(in))
            ret =
                err_set(err, ERR_USAGE, "split or shorten it", "line of more than 1022 characters");
        else
            ret = parse_line(line, number, section, sizeof section, take, ctx, err);
        if (ret < 0) {
            snprintf(place, sizeof place, "%s:%d", name, number);
            return err_prefix(err, ret, place);
        }
    }
    if (ferror(in))
        return err_set(err, ERR_IO, "check the file", "%s: read failed", name);
    return 0;
}
