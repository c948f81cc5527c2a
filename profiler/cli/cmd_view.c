/* `probeprof view`: recordings and other files with profiles, served as a running profile is. */
#include <stdlib.h>
#include <string.h>

#include <uv.h>

#include "probe/base/util.h"
#include "profiler/cli/input.h"
#include "profiler/cli/command.h"
#include "profiler/cli/serve.h"
#include "profiler/cli/serve_state.h"
#include "profiler/cli/view_feed.h"
#include "profiler/profile/slowdown.h"

enum { MAX_FILES = 16 };
enum { VIEW_ELF, VIEW_FROM, VIEW_MARKS, VIEW_HTTP, VIEW_PAGE, VIEW_HELP };

static const struct opt view_opts[] = {
    { "elf", 'e', "E", "ELF to name the functions with", VIEW_ELF },
    { "from", 0, "FORMAT", "what files that are no recordings are: `help convert`", VIEW_FROM },
    { "marks", 0, "F",
      "tags, names and groups of functions; default: probeprof.marks beside the ELF", VIEW_MARKS },
    { "http", 0, "ADDR", "where it is served: PORT, or a /path of a socket; default 3334",
      VIEW_HTTP },
    { "page", 0, "DIR", "serve the page from this folder, while working on it", VIEW_PAGE },
    { "help", 'h', NULL, "this text", VIEW_HELP },
    { NULL, 0, NULL, NULL, 0 },
};

struct view {
    struct cli *cli;
    const char *elf, *from, *marks, *http, *page;
    const char *names[MAX_FILES];
    struct view_file file[MAX_FILES];
    size_t nfiles, shown;
    uint64_t changes; /* grows with each file that is shown */
    uv_loop_t loop;
    uv_signal_t interrupted, terminated;
    struct serve serve;
};

static int take_option(void *ctx, int id, const char *value, struct err *err)
{
    struct view *v = ctx;
    (void)err;
    if (id == VIEW_ELF)
        v->elf = value;
    if (id == VIEW_FROM)
        v->from = value;
    if (id == VIEW_MARKS)
        v->marks = value;
    if (id == VIEW_HTTP)
        v->http = value;
    if (id == VIEW_PAGE)
        v->page = value;
    return 0;
}

static struct view_file *file_shown(struct view *v) { return &v->file[v->shown]; }

/* ---- what the feed asks ---- */

static void file_source(void *ctx, struct feed *feed, struct feed_source *from,
                        struct feed_moment *moment)
{
    struct view *v = ctx;
    view_feed_state(file_shown(v), v->names, v->nfiles, feed);
    view_feed_source(file_shown(v), v->changes, from, moment);
}

static void file_facts(void *ctx, struct http_facts *out)
{
    const struct view_file *f = file_shown(ctx);
    const struct profile_info *i = &f->profile->info;
    static const struct calltree_stats unknown;
    bool has_events = f->capture.tree != NULL;
    const struct calltree_stats *s = has_events ? calltree_stats(f->capture.tree) : &unknown;
    *out = (struct http_facts){
        .phase = "file",
        .sums_only = !has_events,
        .events = f->capture.seen,
        .lost = s->lost,
        .lost_is_bound = s->lost_is_bound,
        .gaps = (unsigned)s->link_gaps,
        .slow_down = slowdown_of(&i->time).times,
        .board_ns = i->time.board_ns,
        .host_ns = i->time.host_ns,
        .target = i->target,
        .probe = i->probe,
        .elf = i->elf,
        .counter = { i->counter[0].name, i->counter[1].name },
        .record = f->path,
    };
}

static struct view_file *file_of(struct view *v, const char *path, struct err *err)
{
    for (size_t i = 0; i < v->nfiles; i++)
        if (strcmp(v->file[i].path, path) == 0)
            return &v->file[i];
    err_set(err, ERR_NOT_FOUND, "run.files has those that are served", "no file %s", path);
    return NULL;
}

static int snapshot_of_file(void *ctx, const char *file, bool marked, const struct snapshot **out,
                            struct err *err)
{
    struct view *v = ctx;
    struct view_file *f = *file ? file_of(v, file, err) : file_shown(v);
    if (!f)
        return -ERR_NOT_FOUND;
    *out = view_file_snapshot(f, marked);
    return 0;
}

static int show_file(struct view *v, const char *path, struct err *err)
{
    const struct view_file *f = file_of(v, path, err);
    if (!f)
        return -ERR_NOT_FOUND;
    v->shown = (size_t)(f - v->file);
    v->changes++;
    view_feed_about(file_shown(v), serve_feed(&v->serve), NULL);
    serve_restart(&v->serve);
    view_file_events(f, serve_feed(&v->serve));
    return 0;
}

static int mark_file(struct view *v, const char *name, struct err *err)
{
    struct feed_source from;
    struct feed_moment moment = { uv_hrtime(), serve_wall_ms(), 0 };
    file_source(v, serve_feed(&v->serve), &from, &moment);
    return feed_mark(serve_feed(&v->serve), name, &from, &moment, err);
}

static int control_file(void *ctx, const struct http_command *c, struct http_ticket *ticket,
                        struct err *err)
{
    struct view *v = ctx;
    int ret;
    (void)ticket;
    switch (c->what) {
    case HTTP_SHOW: return show_file(v, c->name, err);
    case HTTP_MARK: ret = mark_file(v, c->name, err); break;
    case HTTP_UNMARK: ret = feed_unmark(serve_feed(&v->serve), c->name, err); break;
    default:
        return err_set(err, ERR_STATE, "start a run",
                       "this is a file, which no board goes on with");
    }
    if (ret == 0)
        serve_now(&v->serve);
    return ret;
}

static int file_path(void *ctx, unsigned part, char *path, size_t cap, struct err *err)
{
    if (part)
        return err_set(err, ERR_NOT_FOUND, "", "it is one file");
    const struct view_file *f = file_shown(ctx);
    if (!f->capture.tree)
        return err_set(err, ERR_UNSUPPORTED, "/profile.json has all that is known",
                       "%s is no recording: it has no events", f->path);
    snprintf(path, cap, "%s", f->path);
    return 0;
}

static int refuse_lines(void *ctx, struct err *err)
{
    (void)ctx;
    return err_set(err, ERR_UNSUPPORTED, "start a run with --trace-lines",
                   "this is a file, which gives no lines");
}

static void flush_nothing(void *ctx) { (void)ctx; }

static void file_code(void *ctx, struct program_code *out)
{
    state_code(&file_shown(ctx)->capture, out);
}

/* ---- from files to the page ---- */

static int load_files(struct view *v, struct err *err)
{
    const struct importer *is[MAX_FILES];
    bool any_events = false;
    int ret = input_kinds(v->names, v->nfiles, v->from, is, err);
    if (ret < 0)
        return ret;
    for (size_t i = 0; i < v->nfiles; i++) {
        struct view_file *f = &v->file[i];
        f->path = v->names[i];
        ret = view_file_open(v->cli, f, v->elf, is[i], v->marks, err);
        if (ret < 0)
            return ret;
        input_remarks(v->cli, f->profile);
        any_events |= f->capture.tree || f->symbols;
    }
    if (v->elf && !any_events)
        return err_set(err, ERR_USAGE, "leave --elf out",
                       "--elf names the functions of recordings, and there is none");
    return 0;
}

static void on_signal(uv_signal_t *handle, int number)
{
    (void)number;
    uv_stop(handle->loop);
}

static void close_handle(uv_handle_t *handle, void *arg)
{
    (void)arg;
    if (!uv_is_closing(handle))
        uv_close(handle, NULL);
}

static int serve_files(struct view *v, struct err *err)
{
    if (uv_loop_init(&v->loop) < 0)
        return err_set(err, ERR_NOMEM, "raise the limit on open files (ulimit -n)",
                       "event loop: out of memory or descriptors");
    uv_signal_init(&v->loop, &v->interrupted);
    uv_signal_init(&v->loop, &v->terminated);
    uv_signal_start(&v->interrupted, on_signal, SIGINT);
    uv_signal_start(&v->terminated, on_signal, SIGTERM);
    int ret =
        serve_start(&v->serve,
                    &(struct serve_config){
                        .loop = &v->loop,
                        .source = { v, file_source, file_facts, snapshot_of_file, control_file,
                                    file_path, refuse_lines, NULL, flush_nothing, file_code },
                        .address = v->http,
                        .page = v->page,
                        .version = PROBEPROF_VERSION,
                    },
                    err);
    if (ret == 0) {
        view_feed_about(file_shown(v), serve_feed(&v->serve), NULL);
        view_file_events(file_shown(v), serve_feed(&v->serve));
        cli_warn(v->cli, "feed: %s; Ctrl-C ends it", serve_where(&v->serve));
        uv_run(&v->loop, UV_RUN_DEFAULT);
    }
    serve_stop(&v->serve);
    uv_walk(&v->loop, close_handle, NULL);
    uv_run(&v->loop, UV_RUN_DEFAULT);
    uv_loop_close(&v->loop);
    return ret;
}

static int run_view(struct cli *cli, int argc, char **argv, struct err *err)
{
    struct view *v = calloc(1, sizeof *v);
    if (!v)
        return err_set(err, ERR_NOMEM, "close other programs", "view: out of memory");
    v->cli = cli;
    v->http = "";
    if (cli->http_env && *cli->http_env && strcmp(cli->http_env, "off"))
        v->http = cli->http_env;
    int ret = opts_parse(view_opts, argc, argv, take_option, v, v->names, MAX_FILES, err);
    if (ret == 0)
        ret = err_set(err, ERR_USAGE, "probeprof view run.rec",
                      "view needs a recording, or another file with a profile");
    v->nfiles = 0;
    if (ret > 0)
        v->nfiles = (size_t)ret;
    if (ret > 0)
        ret = load_files(v, err);
    if (ret == 0)
        ret = serve_files(v, err);
    for (size_t i = 0; i < v->nfiles; i++)
        view_file_close(&v->file[i]);
    free(v);
    return ret;
}

const struct command command_view = {
    "view",
    "view FILE... [OPTIONS]",
    "show recordings in a browser, as a running profile is shown",
    view_opts,
    "FILE is a recording, or a profile that convert reads: what such a file does not\n"
    "tell is shown as unknown. Several files can be switched and compared there.\n"
    "Ctrl-C ends it.\n\n"
    "Examples:\n  probeprof view run.rec\n  probeprof view run.prf run.rec\n",
    run_view,
};
