#include <jansson.h>
#include <string.h>

#include "probe/base/choice.h"
#include "probe/base/util.h"
#include "profiler/feed/http_api.h"

/* Members each command takes, beside "do". */
static const struct {
    const char *name, *members;
} commands[HTTP_NDO] = {
    [HTTP_START] = { "start", "" },
    [HTTP_STOP] = { "stop", "" },
    [HTTP_CLEAR] = { "clear", "" },
    [HTTP_MARK] = { "mark", "name" },
    [HTTP_UNMARK] = { "unmark", "name" },
    [HTTP_SAVE] = { "save", "" },
    [HTTP_COUNTERS] = { "counters", "c1 c2" },
    [HTTP_POINTS] = { "points", "start stop" },
    [HTTP_SHOW] = { "show", "name" },
};

static int find_command(const json_t *root, enum http_do *out, struct err *err)
{
    const char *name = json_string_value(json_object_get(root, "do"));
    for (int i = 0; name && i < HTTP_NDO; i++)
        if (strcmp(name, commands[i].name) == 0) {
            *out = (enum http_do)i;
            return 0;
        }
    return err_set(err, ERR_USAGE,
                   "start, stop, clear, mark, unmark, save, counters, points or show",
                   name ? "do: there is no command '%.40s'" : "do: it is missing%.0s", name);
}

static bool takes_member(enum http_do what, const char *key)
{
    const char *at = commands[what].members;
    size_t n = strlen(key);
    for (; *at; at += strspn(at, " ")) {
        size_t len = strcspn(at, " ");
        if (len == n && memcmp(at, key, n) == 0)
            return true;
        at += len;
    }
    return false;
}

static int take_text(const json_t *value, const char *key, char out[HTTP_COMMAND_TEXT],
                     struct err *err)
{
    const char *text = json_string_value(value);
    size_t n = json_string_length(value);
    if (!text || n >= HTTP_COMMAND_TEXT || strlen(text) != n)
        return err_set(err, ERR_USAGE, "a text of less than 128 bytes", "%s: that is none", key);
    memcpy(out, text, n + 1);
    return 0;
}

static int take_texts(const json_t *value, const char *key, size_t most,
                      char out[][HTTP_COMMAND_TEXT], size_t *n, struct err *err)
{
    int ret = 0;
    *n = 0;
    if (json_is_null(value))
        return 0;
    if (!json_is_array(value)) {
        ret = take_text(value, key, out[0], err);
        *n = ret == 0 && *out[0];
        return ret;
    }
    if (json_array_size(value) > most)
        return err_set(err, ERR_USAGE, "use fewer", "%s: more than %zu point%s", key, most,
                       plural_s(most));
    for (size_t i = 0; ret == 0 && i < json_array_size(value); i++)
        ret = take_text(json_array_get(value, i), key, out[(*n)++], err);
    return ret;
}

static int take_start(const json_t *value, struct http_command *c, struct err *err)
{
    char one[1][HTTP_COMMAND_TEXT] = { "" };
    size_t n;
    int ret = take_texts(value, "start", 1, one, &n, err);
    c->has_start = ret == 0;
    memcpy(c->start, one[0], sizeof c->start);
    return ret;
}

static int take_stops(const json_t *value, struct http_command *c, struct err *err)
{
    c->has_stop = true;
    return take_texts(value, "stop", HTTP_COMMAND_STOPS, c->stop, &c->nstops, err);
}

static int take_member(const char *key, const json_t *value, struct http_command *c,
                       struct err *err)
{
    if (strcmp(key, "do") == 0)
        return 0;
    if (!takes_member(c->what, key))
        return err_set(err, ERR_USAGE, "leave it out", "%s takes no member '%.40s'",
                       commands[c->what].name, key);
    if (strcmp(key, "name") == 0)
        return take_text(value, key, c->name, err);
    if (strcmp(key, "start") == 0)
        return take_start(value, c, err);
    if (strcmp(key, "stop") == 0)
        return take_stops(value, c, err);
    return take_text(value, key, c->counter[key[1] - '1'], err);
}

int http_command_parse(const char *body, size_t len, struct http_command *out, struct err *err)
{
    json_error_t why;
    struct http_command c = { 0 };
    json_t *root = json_loadb(body, len, JSON_REJECT_DUPLICATES, &why);
    if (!json_is_object(root)) {
        json_decref(root);
        return err_set(err, ERR_USAGE, "{\"do\":\"mark\",\"name\":\"boot\"}",
                       "the body is no JSON object%s%s", text_if(!root, ": "),
                       root ? "" : why.text);
    }
    int ret = find_command(root, &c.what, err);
    const char *key;
    json_t *value;
    json_object_foreach(root, key, value) if (ret == 0) ret = take_member(key, value, &c, err);
    json_decref(root);
    if (ret == 0)
        *out = c;
    return ret;
}
