#include <stdlib.h>
#include <string.h>
#include <sys/random.h>
#include <time.h>
#include <unistd.h>

#include "probe/base/choice.h"
#include "probe/base/text.h"
#include "probe/base/util.h"
#include "profiler/cli/marks_file.h"
#include "profiler/cli/outputs.h"
#include "profiler/cli/run.h"
#include "profiler/cli/useless.h"
#include "profiler/core/svd.h"
#include "targets/os/tasks.h"

static bool was_asked(const struct run *r, enum setting id)
{
    return r->set.origin[id] != ORIGIN_NONE;
}

static int decide_profile(struct run *r, struct err *err)
{
    r->profile = *r->set.elf && !r->set.no_profile;
    if (r->set.no_profile && !strcmp(r->set.gdb, "off"))
        return err_set(err, ERR_USAGE, "leave one of them out",
                       "--no-profile is a bridge for GDB, and --gdb off lets none connect: there "
                       "is nothing to do");
    if (!*r->set.elf && r->set.load)
        return err_set(err, ERR_USAGE, "add --elf FILE, or elf = FILE in probeprof.conf",
                       "--load needs the program");
    int ret = useless_run(&r->set, err);
    if (ret < 0)
        return ret;
    r->set.rate_hz = EITHER(r->set.rate_hz, (unsigned)SAMPLE_RATE_DEFAULT);
    if (was_asked(r, SET_PASSES) && !r->set.sample && (!*r->set.start || r->set.nstops == 0) &&
        r->profile)
        return err_set(err, ERR_USAGE, "add --start A and --stop B",
                       "--passes counts rounds from a start to a stop point");
    return 0;
}

/* A trace measures blocks; samples have the function that they are in. */
static int open_marks(struct run *r, struct err *err)
{
    char said[MARKS_FILE_SAID];
    if (!r->profile)
        return 0;
    int ret = settings_blame(
        &r->set, SET_MARKS,
        marks_file_open(r->set.elf, r->set.marks, !r->set.sample, r->symbols, said, &r->marks, err),
        err);
    if (ret == 0 && *said)
        run_note(r, "%s", said);
    if (ret == 0 && r->marks && r->set.all)
        ret = marks_file_check_all(r->marks, err);
    if (ret == 0 && r->marks)
        ret = marks_matcher_new(r->marks, &r->matcher, err);
    return ret;
}

static int open_symbols(struct run *r, struct err *err)
{
    if (*r->set.svd) {
        int svd = settings_blame(&r->set, SET_SVD, svd_open(r->set.svd, &r->svd, err), err);
        if (svd < 0)
            return svd;
    }
    if (!*r->set.elf)
        return 0;
    int ret = settings_blame(&r->set, SET_ELF, symbols_open(r->set.elf, &r->symbols, err), err);
    if (ret < 0)
        return ret;
    if (symbols_machine(r->symbols) != r->part->elf_machine)
        return err_set(err, ERR_USAGE, "name the ELF that runs on this board",
                       "%s is not a program for the %s", r->set.elf, r->part->name);
    char *real = realpath(r->set.elf, NULL);
    snprintf(r->elf_path, sizeof r->elf_path, "%s", text_or(real, r->set.elf));
    free(real);
    ret = part_prepare_symbols(r->symbols, r->part->name, err);
    if (ret >= 0)
        ret = tasks_new(symbols_image(r->symbols), 1, &r->gdb_tasks, err);
    if (ret < 0)
        return ret;
    return open_marks(r, err);
}

static int resolve_point(struct run *r, const char *option, const char *text, uint64_t *addr,
                         struct err *err)
{
    return err_prefix(err, symbols_parse(r->symbols, text, addr, err), option);
}

/* "LOW:HIGH", both as points are written. */
static int resolve_range(struct run *r, const char *option, const char *text,
                         struct trace_range *out, struct err *err)
{
    char low[128];
    for (const char *colon = strchr(text, ':'); colon; colon = strchr(colon + 1, ':')) {
        snprintf(low, sizeof low, "%.*s", (int)(colon - text), text);
        if (symbols_parse(r->symbols, low, &out->low, NULL) < 0 ||
            symbols_parse(r->symbols, colon + 1, &out->high, NULL) < 0)
            continue;
        if (out->low >= out->high)
            return err_set(err, ERR_USAGE, "the lower address first", "%s: %s is an empty range",
                           option, text);
        return 0;
    }
    const char *colon = strchr(text, ':');
    if (colon && colon[1] != ':') { /* which of the two is it? */
        snprintf(low, sizeof low, "%.*s", (int)(colon - text), text);
        int ret = symbols_parse(r->symbols, low, &out->low, err);
        if (ret == 0)
            ret = symbols_parse(r->symbols, colon + 1, &out->high, err);
        if (ret == -ERR_NOT_FOUND)
            return err_prefix(err, ret, option);
    }
    return err_set(err, ERR_USAGE, "write LOW:HIGH, addresses or symbols: 0x8C012000:0x8C012400",
                   "%s: %s is no range of this program", option, text);
}

/* The same; else a point, for the function around it. */
static int resolve_code(struct run *r, const char *text, struct trace_range *out, struct err *err)
{
    uint64_t at;
    struct err own = { .code = ERR_OK };
    int ret = symbols_parse(r->symbols, text, &at, &own);
    long f = -1;
    if (ret >= 0)
        f = symbols_find(r->symbols, at);
    if (f >= 0) {
        const struct symbol_function *fn = symbols_function(r->symbols, (size_t)f);
        *out = (struct trace_range){ fn->low, fn->high };
        return 0;
    }
    if (ret == 0)
        return err_set(err, ERR_USAGE, "name a function, or LOW:HIGH",
                       "no-patch: %s is in no function", text);
    if (!strchr(text, ':'))
        return err_set(err, own.code, own.hint, "no-patch: %s", own.what);
    return resolve_range(r, "no-patch", text, out, err);
}

/* Addresses and events from text. */
/* For the trace, which tells tasks by their stacks. */
static int find_tasks_by_stack(struct run *r, const struct trace_config *t, struct err *err)
{
    int ret = tasks_new(t->image, (uint32_t)t->nstacks + 1, &r->tasks, err);
    if (ret >= 0 && r->tasks && !tasks_have_stacks(r->tasks)) {
        tasks_free(r->tasks);
        r->tasks = NULL;
    }
    return ret;
}

static int resolve_settings(struct run *r, struct trace_config *t, struct err *err)
{
    static const struct {
        enum setting id;
        const char *name;
    } option[] = { { SET_C1, "c1" }, { SET_C2, "c2" } };
    int ret = 0;
    r->counter[0] = r->part->ops()->default_events[0];
    r->counter[1] = r->part->ops()->default_events[1];
    for (int i = 0; ret == 0 && i < 2; i++) {
        if (!*r->set.counter[i])
            continue;
        ret = part_event(r->part, option[i].name, r->set.counter[i], &r->counter[i], err);
        ret = settings_blame(&r->set, option[i].id, ret, err);
    }
    if (ret == 0)
        ret = useless_ratio(&r->set, r->part, r->counter, err);
    if (r->set.sample) { /* what the conf file says of traces does not hold */
        *t = (struct trace_config){ .image = run_image(r) };
        return ret;
    }
    *t = (struct trace_config){
        .image = run_image(r),
        .has_start = *r->set.start != 0,
        .nstops = r->set.nstops,
        .counter = { r->counter[0], r->counter[1] },
        .counter_ratio = r->set.ratio,
        .policy = r->set.policy,
        .irq_filter = r->set.irq_filter,
        .capture = r->set.capture,
        .lines = r->set.trace_lines,
        .shinobi_routine = text_given(r->set.shinobi_routine),
        .ram_base = r->set.ram_base,
        .ram_bytes = r->set.ram_bytes,
    };
    if (ret == 0 && t->has_start)
        ret = settings_blame(&r->set, SET_START,
                             resolve_point(r, "start", r->set.start, &t->start, err), err);
    uint64_t routine; /* the driver looks it up again: its image has no names */
    if (ret >= 0 && t->shinobi_routine && r->symbols)
        ret = settings_blame(
            &r->set, SET_IRQ_FILTER,
            resolve_point(r, "irq-filter shinobi", t->shinobi_routine, &routine, err), err);
    for (size_t i = 0; ret >= 0 && i < r->set.nstops; i++)
        ret = settings_blame(&r->set, SET_STOP,
                             resolve_point(r, "stop", r->set.stop[i], &t->stops[i], err), err);
    t->nno_patch = r->set.no_patch.n;
    for (size_t i = 0; ret >= 0 && i < t->nno_patch; i++)
        ret = settings_blame(&r->set, SET_NO_PATCH,
                             resolve_code(r, r->set.no_patch.text[i], &t->no_patch[i], err), err);
    t->nstacks = r->set.stack.n;
    for (size_t i = 0; ret >= 0 && i < t->nstacks; i++)
        ret =
            settings_blame(&r->set, SET_STACK,
                           resolve_range(r, "stack", r->set.stack.text[i], &t->stack[i], err), err);
    if (ret >= 0 && t->image)
        ret = find_tasks_by_stack(r, t, err);
    t->tasks = r->tasks;
    return MIN(ret, 0);
}

static struct profile_counter counter_of(const struct run *r, int i)
{
    const struct counter_event *e = part_counter(r->part, r->counter[i]);
    if (!e)
        return (struct profile_counter){ 0 };
    return (struct profile_counter){ e->code, e->name, e->unit };
}

static void fill_header(struct run *r, const struct trace_config *t)
{
    struct recording_header *h = &r->header;
    const struct image *im = t->image;
    *h = (struct recording_header){
        .program = "probeprof " PROBEPROF_VERSION,
        .target = r->part->name,
        .probe = r->probe->name,
        .elf = r->elf_path,
        .build_id_len = im->build_id_len,
        .code_sum = recording_code_sum(im),
        .counter = { counter_of(r, 0), counter_of(r, 1) },
        .when = r->when,
        .has_start = t->has_start,
        .start = t->start,
        .nstops = t->nstops,
        .irq_filter = t->irq_filter,
        .max_passes = number_if(!r->set.sample, r->set.passes),
        .address_cached = r->part->cache_by_address,
        .canonical_mask = r->part->canonical_mask,
    };
    if (t->nstops && !t->has_start && !h->max_passes) /* nothing begins another pass */
        h->max_passes = 1;
    h->blocks = symbols_blocks(r->symbols, &h->nblocks);
    memcpy(h->build_id, im->build_id, im->build_id_len);
    memcpy(h->stops, t->stops, t->nstops * sizeof t->stops[0]);
    if (r->set.sample)
        h->counter[0] = h->counter[1] = (struct profile_counter){ 0 };
}

static void write_log(void *ctx, enum log_subject subject, const char *line)
{
    text_print(ctx, "%s: %s\n", log_subject_name(subject), line);
}

static void report_failure(void *ctx, const struct err *why)
{
    struct run *r = ctx;
    worker_failed(r->worker, why);
}

static void set_pace(void *ctx, uint64_t ns)
{
    struct run *r = ctx;
    worker_set_slice(r->worker, ns);
}

/* The profile in JSON has standard output for itself. */
static void print_line(void *ctx, uint64_t raw)
{
    struct run *r = ctx;
    char text[160];
    r->target->ops->trace->line_text(raw, text, sizeof text);
    if (serve_wants_lines(&r->serve))
        serve_line(&r->serve, text);
    live_clear(&r->live);
    FILE *out = r->cli->out;
    if (r->set.json) /* there will be a document */
        out = r->cli->err_out;
    text_print(out, "%s\n", text);
}

static int has_trace(const struct run *r, struct err *err)
{
    const struct target_ops *ops = r->target->ops;
    const char *instead = "--no-profile bridges for GDB";
    if (ops->sample_pc)
        instead = "--sample looks at the PC instead; --no-profile bridges for GDB";
    if (!ops->trace)
        return err_set(err, ERR_UNSUPPORTED, instead, "%s: no function trace on this part over %s",
                       r->part->name, r->probe->name);
    if ((r->set.trace_lines || r->set.capture) && !ops->trace->line_text)
        return err_set(err, ERR_USAGE, "leave --trace-lines and --capture out",
                       "%s: its trace has no lines", r->part->name);
    if (r->set.ratio && ops->trace->line_text)
        return err_set(err, ERR_USAGE, "leave --ratio out",
                       "%s: its trace counts in cycles of the bus clock as it is", r->part->name);
    if ((r->set.no_patch.n || r->set.stack.n) && ops->trace->line_text)
        return err_set(err, ERR_USAGE, "leave --no-patch and --stack out",
                       "%s: its trace patches nothing and tells no stack pointers", r->part->name);
    return 0;
}

/* The first name of --rotate, and --slice's ring. */
static int open_files(struct run *r, struct err *err)
{
    const struct settings *s = &r->set;
    int ret = 0;
    if (*s->record && (s->rotate_bytes || s->rotate_ns)) {
        if (access(s->record, F_OK) == 0) /* report would read that */
            return err_set(err, ERR_USAGE, "move it away, or choose another name",
                           "--rotate: %s is there, a recording in one file", s->record);
        ret = rotation_begin(&r->rotation, s->record, s->rotate_bytes, s->rotate_ns, err);
        rotation_file_begun(&r->rotation, uv_hrtime());
        r->header.part = 1;
        if (ret == 0 && getrandom(&r->header.run_id, sizeof r->header.run_id, 0) < 0)
            r->header.run_id = uv_hrtime();
    }
    if (ret == 0 && *s->slice)
        ret = slices_open(&r->slices, s->slice, s->slice_on, err);
    return ret;
}

static int open_profile(struct run *r, const struct trace_config *trace, struct err *err)
{
    if (!r->symbols)
        return 0;
    if (r->set.sample && !r->target->ops->sample_pc)
        return err_set(err, ERR_UNSUPPORTED, "leave --sample out", "%s: its PC cannot be sampled",
                       r->part->name);
    if (!r->set.sample && !r->target->ops->trace && !r->profile)
        return 0;
    int ret = 0;
    if (!r->set.sample)
        ret = has_trace(r, err);
    if (ret < 0)
        return ret;
    fill_header(r, trace);
    r->sampler = (struct sampler){ .rate_hz = r->set.rate_hz, .pace = set_pace, .pace_ctx = r };
    const struct pump_source *source = NULL;
    if (r->set.sample)
        source = &sampler_source;
    ret = pump_init(&r->pump,
                    &(struct pump_config){
                        .trace = *trace,
                        .for_ns = r->set.for_ns,
                        .max_passes = r->header.max_passes,
                        .queue_events = RUN_QUEUE_EVENTS,
                        .wake = run_wake,
                        .wake_ctx = r,
                        .failed = report_failure,
                        .failed_ctx = r,
                        .pace = set_pace,
                        .pace_ctx = r,
                        .source = source,
                        .source_ctx = &r->sampler,
                        .log = &r->log,
                    },
                    err);
    if (ret < 0)
        return ret;
    r->has_pump = true;
    ret = open_files(r, err);
    const char *record = r->set.record;
    if (r->rotation.path)
        record = r->rotation.name;
    r->capture.watches = r->set.watch && !r->set.sample;
    if (ret == 0)
        ret = capture_open(&r->capture, r->symbols, &r->header, text_given(record), err);
    r->capture.marks = r->marks;
    if (ret == 0)
        outputs_tell_kept(r->cli, &r->capture);
    if (r->set.trace_lines) {
        r->capture.line = print_line;
        r->capture.line_ctx = r;
    }
    if (ret == 0)
        live_init(&r->live, r->cli->err_out, r->symbols);
    return ret;
}

/* Chooses the adapter's name before anything else is checked: without an adapter nothing else
 * matters. */
static int name_probe(struct run *r, struct err *err)
{
    if (*r->set.probe)
        return settings_blame(&r->set, SET_PROBE, probe_named(r->set.probe, err), err);
    int ret = probe_default(part_needs(r->set.target), r->set.probe, sizeof r->set.probe, err);
    if (ret == 0)
        run_note(r, "using the adapter %s", r->set.probe);
    return ret;
}

static int begin_parts(struct run *r, struct err *err)
{
    r->log = (struct log){ .enabled = r->set.log, .write = write_log, .ctx = r->cli->err_out };
    r->when = time(NULL);
    return name_probe(r, err);
}

static int open_parts(struct run *r, struct trace_config *trace, struct err *err)
{
    int ret = settings_blame(&r->set, SET_TARGET,
                             part_choose(r->set.target, r->set.probe, &r->part, err), err);
    if (ret == 0)
        ret = useless_part(&r->set, r->part, err);
    if (ret == 0)
        ret = open_symbols(r, err);
    if (ret == 0)
        ret = outputs_check(&r->set, NULL, err);
    if (ret == 0)
        ret = resolve_settings(r, trace, err);
    if (ret == 0)
        ret = run_open(r, err);
    return ret;
}

int run_board_parts(struct run *r, struct trace_config *trace, struct err *err)
{
    int ret = begin_parts(r, err);
    if (ret == 0)
        ret = open_parts(r, trace, err);
    return ret;
}

int run_parts(struct run *r, struct err *err)
{
    struct trace_config trace;
    int ret = begin_parts(r, err);
    if (ret == 0)
        ret = decide_profile(r, err);
    if (ret == 0)
        ret = open_parts(r, &trace, err);
    if (ret == 0)
        ret = open_profile(r, &trace, err);
    return ret;
}
