#include "profiler/cli/view_feed.h"

#include "probe/base/hex.h"
#include "profiler/cli/serve_state.h"

int view_feed_about(const struct view_file *f, struct feed *feed, struct err *err)
{
    const struct profile_info *i = &f->profile->info;
    char id[2 * sizeof i->build_id + 1] = "";
    hex_string(id, i->build_id, i->build_id_len);
    return feed_about(feed,
                      &(struct feed_about){
                          .version = PROBEPROF_VERSION,
                          .target = i->target,
                          .probe = i->probe,
                          .elf = i->elf,
                          .build_id = *id ? id : NULL,
                          .counter = { i->counter[0].name, i->counter[1].name },
                          .unit = { i->counter[0].unit, i->counter[1].unit },
                      },
                      err);
}

void view_feed_state(const struct view_file *f, const char *const *files, size_t nfiles,
                     struct feed *feed)
{
    struct state_object o;
    struct json_writer *j = state_begin(&o);
    state_text(j, "phase", "file");
    state_text(j, "record", f->path);
    state_text(j, "note", f->profile->info.note);
    json_write_key(j, "files");
    json_write_array(j, true);
    for (size_t i = 0; i < nfiles; i++)
        json_write_string(j, files[i]);
    json_write_end(j);
    state_end(&o, feed, FEED_RUN);
    j = state_begin(&o);
    state_text(j, "name", f->profile->info.target);
    state_text(j, "state", "file");
    state_end(&o, feed, FEED_TARGET);
}

void view_feed_source(const struct view_file *f, uint64_t changes, struct feed_source *from,
                      struct feed_moment *moment)
{
    moment->board_ns = f->profile->info.time.board_ns;
    if (!f->capture.tree) {
        *from = (struct feed_source){ .profile = f->profile, .changes = changes };
        return;
    }
    *from = (struct feed_source){
        .tree = f->capture.tree,
        .symbols = f->symbols,
        .rates = &f->capture.rates,
        .tasks = &f->capture.tasks,
        .marks = f->matcher,
        .stretches = &f->capture.stretches,
        .samples = f->profile->type == PROFILE_STATISTICAL,
        .changes = changes,
    };
}
