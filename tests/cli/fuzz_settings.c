/* Any command line: each line of the input is a word of it, the first is PROBEPROF_PROBE. What is
 * refused says what is wrong and what to write; what is taken is within its bounds, ended, and
 * taken again when it is written out. Behind it, every line as a number of each kind. */
#include <ctype.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "probe/base/log.h"
#include "probe/base/util.h"
#include "profiler/bridge/sampler.h"
#include "profiler/cli/settings.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

enum { WORDS = 96 };

static void must_hold(bool holds)
{
    if (!holds)
        abort();
}

static void must_be_refused(int ret, const struct err *err)
{
    must_hold(ret == -ERR_USAGE && err->code == ERR_USAGE && *err->what && *err->hint);
}

static bool is_ended(const char *text, size_t cap) { return memchr(text, 0, cap) != NULL; }

static bool all_ended(const struct settings *s)
{
    bool ok = is_ended(s->probe, sizeof s->probe) && is_ended(s->target, sizeof s->target) &&
              is_ended(s->chain, sizeof s->chain) && is_ended(s->elf, sizeof s->elf) &&
              is_ended(s->start, sizeof s->start) &&
              is_ended(s->shinobi_routine, sizeof s->shinobi_routine) &&
              is_ended(s->pdo, sizeof s->pdo) && is_ended(s->output, sizeof s->output) &&
              is_ended(s->record, sizeof s->record) && is_ended(s->gdb, sizeof s->gdb) &&
              is_ended(s->report, sizeof s->report) && is_ended(s->slice, sizeof s->slice);
    for (size_t i = 0; i < s->nstops; i++)
        ok = ok && *s->stop[i] && is_ended(s->stop[i], sizeof s->stop[i]);
    for (size_t i = 0; i < s->no_patch.n; i++)
        ok =
            ok && *s->no_patch.text[i] && is_ended(s->no_patch.text[i], sizeof s->no_patch.text[i]);
    for (size_t i = 0; i < s->stack.n; i++)
        ok = ok && *s->stack.text[i] && is_ended(s->stack.text[i], sizeof s->stack.text[i]);
    return ok;
}

/* Written out, it is taken for the same again. */
static void set_written_again(struct settings *to, enum setting id, const char *fmt,
                              unsigned long long a, unsigned long long b)
{
    char text[80];
    snprintf(text, sizeof text, fmt, a, b);
    to->origin[id] = ORIGIN_NONE;
    must_hold(settings_set(to, id, ORIGIN_FLAG, text, NULL) == 0);
}

static void numbers_again(const struct settings *s)
{
    static struct settings t; /* to spare the stack: made anew each time */
    t = *s;
    if (s->speed_hz)
        set_written_again(&t, SET_SPEED, "%lluHz", s->speed_hz, 0);
    if (s->voltage_mv)
        set_written_again(&t, SET_VOLTAGE, "%llu.%03llu", s->voltage_mv / 1000,
                          s->voltage_mv % 1000);
    if (s->passes)
        set_written_again(&t, SET_PASSES, "%llu", s->passes, 0);
    if (s->for_ns)
        set_written_again(&t, SET_FOR, "%lluns", s->for_ns, 0);
    if (s->rate_hz)
        set_written_again(&t, SET_RATE, "%llu", s->rate_hz, 0);
    if (s->ram_bytes)
        set_written_again(&t, SET_AGENT_RAM, "%#llx:%llu", s->ram_base, s->ram_bytes);
    if (s->rotate_bytes)
        set_written_again(&t, SET_ROTATE, "%lluk", s->rotate_bytes / 1000, 0);
    if (s->rotate_ns)
        set_written_again(&t, SET_ROTATE, "%lluns", s->rotate_ns, 0);
    if (s->save_ns)
        set_written_again(&t, SET_SAVE_EVERY, "%lluns", s->save_ns, 0);
    must_hold(t.rotate_bytes == s->rotate_bytes && t.rotate_ns == s->rotate_ns &&
              t.save_ns == s->save_ns && !(s->rotate_bytes && s->rotate_ns) && s->slice_on < 16);
    must_hold(t.speed_hz == s->speed_hz && t.voltage_mv == s->voltage_mv && t.passes == s->passes &&
              t.for_ns == s->for_ns && t.rate_hz == s->rate_hz && t.ram_base == s->ram_base &&
              t.ram_bytes == s->ram_bytes);
}

static void check_taken(const struct settings *s)
{
    must_hold(all_ended(s));
    must_hold(s->nstops <= TRACE_MAX_STOPS && s->no_patch.n <= TRACE_MAX_RANGES &&
              s->stack.n <= TRACE_MAX_RANGES);
    must_hold(!s->origin[SET_SPEED] || s->speed_auto || s->speed_hz);
    must_hold(!s->origin[SET_VOLTAGE] || (s->voltage_mv >= 1000 && s->voltage_mv <= 6000));
    must_hold(!s->origin[SET_PASSES] || (s->passes && s->passes <= 1000000000));
    must_hold(!s->origin[SET_FOR] || (s->for_ns && s->for_ns < 9000000000000000000ull));
    must_hold(!s->origin[SET_RATE] || (s->rate_hz && s->rate_hz <= SAMPLE_RATE_MAX));
    must_hold(!s->origin[SET_AGENT_RAM] ||
              (s->ram_bytes && s->ram_base + s->ram_bytes <= 1ull << 32));
    must_hold(s->log < 1u << LOG_NSUBJECTS && (unsigned)s->irq_filter <= IRQ_FILTER_SHINOBI &&
              (unsigned)s->policy <= TRACE_LIVE);
    numbers_again(s);
}

/* A number has neither a blank nor a sign in front. */
static void try_number(const char *word)
{
    struct settings s = { .log = 0 };
    struct err err = { .code = ERR_OK };
    static const enum setting ids[] = { SET_SPEED,  SET_VOLTAGE,    SET_PASSES,
                                        SET_FOR,    SET_RATE,       SET_AGENT_RAM,
                                        SET_ROTATE, SET_SAVE_EVERY, SET_HITS };
    for (size_t i = 0; i < ARRAY_LEN(ids); i++) {
        int ret = settings_set(&s, ids[i], ORIGIN_FLAG, word, &err);
        if (ret < 0)
            must_be_refused(ret, &err);
        else if (ids[i] != SET_HITS && strcmp(word, "auto"))
            must_hold((isdigit((unsigned char)*word) || *word == '.') &&
                      !strpbrk(word, "- \t\n\v\f\r"));
    }
    check_taken(&s);
}

/* The file of settings has a fuzzer of its own; here none is to be read. */
static bool names_a_file(int argc, char **argv)
{
    for (int i = 2; i < argc; i++)
        if (!strncmp(argv[i], "--conf", 6))
            return true;
    return false;
}

static void free_words(char **word, int n)
{
    while (n > 0)
        free(word[--n]);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static struct settings s;
    char *argv[WORDS + 1] = { strdup("probeprof"), strdup("--conf=off") }, *env = NULL;
    int argc = 2;
    for (const uint8_t *at = data, *end = data + size; at < end && argc < WORDS;) {
        const uint8_t *feed = memchr(at, '\n', (size_t)(end - at));
        /* of exact size, so that a read beyond it is seen */
        char *word = strndup((const char *)at, (size_t)((feed ? feed : end) - at));
        at = feed ? feed + 1 : end;
        try_number(word);
        if (env)
            argv[argc++] = word;
        else
            env = word;
    }
    struct err err = { .code = ERR_OK };
    if (!names_a_file(argc, argv)) {
        int ret = settings_read(&s, settings_opts, argc, argv, env, &err);
        if (ret < 0)
            must_be_refused(ret, &err);
        else
            check_taken(&s);
    }
    free(env);
    free_words(argv, argc);
    return 0;
}
