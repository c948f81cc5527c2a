#include "profiler/views/hot.h"

#include <stdio.h>
#include <string.h>

#include "probe/base/choice.h"
#include "probe/base/util.h"

static const char *option_of(const struct hot_condition *c)
{
    if (c->fails)
        return "--fail-if-any";
    return "--hot";
}

static int parse_condition(struct hot_condition *c, const char *text, struct err *err)
{
    const char *option = option_of(c);
    size_t n = strcspn(text, "<>=");
    if (!text[n] || strlen(text) >= sizeof c->text)
        return err_set(err, ERR_USAGE, "write for example 'c1>=10%' or 'hits>100'",
                       "%s: \"%.60s\" is no column with a threshold", option, text);
    snprintf(c->text, sizeof c->text, "%s", text);
    size_t name = n;
    while (name && text[name - 1] == ' ')
        name--;
    int ret = cell_find(option, text, name, &c->column, err);
    if (ret == 0)
        ret = threshold_parse(text + n, &c->is, err);
    if (ret == 0 && c->is.percent && !cell_has_share(c->column))
        return err_set(err, ERR_USAGE, "leave the % out", "%s: %s: there is no sum of %s", option,
                       c->text, cell_name(c->column));
    return ret;
}

int hot_add(struct hot_list *l, const char *option, const char *text, bool fails, struct err *err)
{
    struct hot_condition c = { .fails = fails };
    if (l->n == HOT_MOST)
        return err_set(err, ERR_USAGE, "leave some out", "%s: more than %d conditions", option,
                       HOT_MOST);
    int ret = parse_condition(&c, text, err);
    if (ret == 0)
        l->of[l->n++] = c;
    return ret;
}

int hot_check(const struct hot_list *l, const struct profile *p, enum cell_table table,
              struct err *err)
{
    int ret = 0;
    for (size_t i = 0; ret == 0 && i < l->n; i++)
        ret = cell_check(p, table, l->of[i].column, option_of(&l->of[i]), err);
    return ret;
}

bool hot_met(const struct hot_list *l, const struct cell_row *r)
{
    for (size_t i = 0; i < l->n; i++)
        if (cell_meets(r, l->of[i].column, &l->of[i].is))
            return true;
    return false;
}

bool hot_fails(const struct hot_list *l, const struct cell_row *r, struct hot_failures *out)
{
    bool fails = false;
    for (size_t i = 0; i < l->n && !fails; i++)
        fails = l->of[i].fails && cell_meets(r, l->of[i].column, &l->of[i].is);
    if (!fails || !out)
        return fails;
    size_t used = strlen(out->names);
    if (out->n++ < HOT_NAMED)
        snprintf(out->names + used, sizeof out->names - used, "%s%.40s", text_if(used, ", "),
                 profile_shown_name(r->function));
    return true;
}

char *hot_text(const struct hot_list *l, bool failing, char *buf, size_t cap)
{
    size_t used = 0;
    *buf = 0;
    for (size_t i = 0; i < l->n; i++) {
        if (failing && !l->of[i].fails)
            continue;
        int n = snprintf(buf + used, cap - used, "%s%s", text_if(used, ", "), l->of[i].text);
        used = MIN(used + (size_t)n, cap - 1);
    }
    return buf;
}
