/* The finder of tasks on memory that is anything: no read leaves what may be read, lists are
 * bounded, and what is shown of tasks can be shown. Input: a byte that chooses the system, and
 * memory from 0x8C000000 on. */
#include <stdlib.h>
#include <string.h>

#include "probe/base/util.h"
#include "targets/os/tasks.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

enum { BASE = 0x8C000000, MOST = 1 << 16 };

struct memory {
    const uint8_t *bytes;
    size_t size;
    bool freertos;
    unsigned reads;
};

static int read_words(void *ctx, uint32_t addr, uint32_t *w, size_t n, struct err *err)
{
    struct memory *m = ctx;
    if (addr % 4 || n == 0 || n > 64 || ++m->reads > 100000)
        abort();
    if (addr < BASE || addr - BASE >= MOST || addr - BASE + 4 * n > m->size)
        return err_set(err, ERR_FAULT, "", "no memory at %08x", addr);
    memcpy(w, m->bytes + (addr - BASE), 4 * n);
    return 0;
}

/* The symbols, from the beginning of memory on. */
static bool look_up_symbol(const struct image *im, const char *name, uint64_t *addr)
{
    static const struct {
        const char *name;
        uint32_t at;
        bool freertos;
    } symbols[] = { { "thd_list", 0, false },          { "thd_current", 4, false },
                    { "tid_highest", 8, false },       { "pxCurrentTCB", 0, true },
                    { "xSchedulerRunning", 4, true },  { "uxTaskNumber", 8, true },
                    { "pxReadyTasksLists", 12, true }, { "xDelayedTaskList1", 52, true },
                    { "xSuspendedTaskList", 72, true } };
    const struct memory *m = im->priv;
    for (size_t i = 0; i < ARRAY_LEN(symbols); i++)
        if (!strcmp(name, symbols[i].name) && symbols[i].freertos == m->freertos) {
            *addr = BASE + symbols[i].at;
            return true;
        }
    return false;
}

static void show_tasks(struct tasks *t, const struct tasks_memory *m)
{
    static const char *const registers[] = { "pc", "r0", "r15", "fr3", "fpscr", "nothing" };
    size_t n;
    struct err err;
    const struct task *k = tasks_list(t, &n);
    if (n > TASKS_MOST)
        abort();
    for (size_t i = 0; i < n; i++) {
        if (strlen(k[i].name) >= TASKS_NAME || !k[i].context)
            abort();
        for (const char *p = k[i].name; *p; p++)
            if ((unsigned char)*p < ' ' || *p == 0x7F)
                abort();
        for (size_t r = 0; i < 4 && r < ARRAY_LEN(registers); r++) {
            uint32_t value;
            if (tasks_saved(t, m, &k[i], registers[r], &value, &err) > 0 && k[i].current)
                abort();
        }
    }
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct tasks *t;
    struct err err;
    if (size < 2)
        return 0;
    struct memory memory = { data + 1, MIN(size - 1, (size_t)MOST), data[0] & 1, 0 };
    const struct image image = { .lookup = look_up_symbol,
                                 .priv = &memory,
                                 .big_endian = data[0] & 2 };
    const struct tasks_memory m = { read_words, &memory };
    if (tasks_new(&image, 1, &t, &err) || !t)
        abort();
    for (int i = 0; i < 2; i++) {
        memory.reads = 0;
        if (tasks_look(t, &m, true, &err) < 0 || tasks_now(t, &m, &err) < 0)
            abort(); /* the wire does not fail */
        show_tasks(t, &m);
    }
    tasks_free(t);
    return 0;
}
