/* Any bytes from a peer, while the target stops, goes away and comes back: the session stays within
 * its bounds. */
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "gdbstub/packets.h"
#include "tests/gdbstub/ram_target.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void drain_output(struct session *s, size_t most)
{
    const uint8_t *out;
    size_t n = session_pending(s, &out);
    if (n > OUT_MAX)
        abort();
    session_sent(s, MIN(n, most));
}

static void let_target_run(struct stub *stub, struct ram_target *ram, uint8_t hint)
{
    struct target_stop stop;
    struct err err = { .code = ERR_OK };
    if (hint == 0xA5 && !ram->gone) {
        ram->gone = true;
        stub_gone(stub, &(struct err){ .what = "unplugged" });
    } else if (ram->gone) {
        ram->gone = false;
        stub_back(stub);
    }
    if (ram->target.ops->poll(&ram->target, 0, &stop, &err) > 0)
        stub_stopped(stub, &stop);
}

/* The first byte says how the rest is split; the second session only listens. */
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct stub_config cfg = { .version = "fuzz", .has_entry = true, .entry = 0x1000 };
    struct stub *stub;
    struct session *s = NULL, *observer = NULL;
    struct err err;
    struct ram_target *ram = malloc(sizeof *ram);
    if (!ram)
        abort();
    ram_target_init(ram);
    ram->words_per_poll = 50;
    cfg.target = &ram->target;
    if (stub_new(&cfg, &stub, &err) < 0 || session_open(stub, NULL, NULL, &s, &err) < 0 ||
        session_open(stub, NULL, NULL, &observer, &err) < 0)
        abort();
    size_t step = size ? data[0] % 64 + 1u : 1;
    for (size_t pos = size > 0; pos < size && !session_finished(s);) {
        size_t n = MIN(step, size - pos);
        struct session *at = pos % 7 == 6 && !session_finished(observer) ? observer : s;
        int used = session_feed(at, data + pos, n, &err);
        if (used < 0)
            break;
        if ((size_t)used > n)
            abort();
        while (session_work(at))
            ;
        let_target_run(stub, ram, data[pos]);
        session_tick(s, pos * 1000000000u, &err);
        drain_output(s, used == 0 ? OUT_MAX : 100000);
        drain_output(observer, OUT_MAX);
        pos += (size_t)used;
    }
    session_close(s);
    stub_free(stub);
    free(ram);
    return 0;
}
