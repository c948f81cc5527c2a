/* q and Q packets, H, T, qXfer */
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "gdbstub/commands.h"
#include "gdbstub/reply.h"
#include "gdbstub/stub.h"
#include "gdbstub/threads.h"
#include "probe/base/choice.h"

static bool has_feature(const char *list, const char *name)
{
    size_t n = strlen(name);
    for (const char *p = list; p; p = strchr(p, ';')) {
        p += *p == ';' || *p == ':';
        if (strncmp(p, name, n) == 0 && p[n] == '+')
            return true;
    }
    return false;
}

void cmd_supported(struct session *s, char *args, size_t len)
{
    (void)len;
    s->says_swbreak = has_feature(args, "swbreak");
    s->says_hwbreak = has_feature(args, "hwbreak");
    s->error_text = has_feature(args, "error-message");
    reply_begin(s);
    reply_printf(
        s,
        "PacketSize=%x;QStartNoAckMode+;QNonStop+;vContSupported+;swbreak+;hwbreak+;error-message+;"
        "binary-upload+;ConditionalBreakpoints+;BreakpointCommands+;qXfer:features:read+",
        (unsigned)GDBSTUB_PACKET_SIZE);
    if (s->stub->ops->memory_map)
        reply_printf(s, ";qXfer:memory-map:read+");
    if (s->stub->cfg.exec_file)
        reply_printf(s, ";qXfer:exec-file:read+");
    if (s->stub->cfg.tasks)
        reply_printf(s, ";qXfer:threads:read+");
    reply_end(s);
}

void cmd_no_ack(struct session *s, char *args, size_t len)
{
    (void)args;
    (void)len;
    s->acks_off_next = true;
    reply_ok(s);
}

void cmd_non_stop(struct session *s, char *args, size_t len)
{
    if (len != 1 || (args[0] != '0' && args[0] != '1')) {
        reply_usage(s, "QNonStop:0 or :1 expected");
        return;
    }
    s->non_stop = args[0] == '1';
    session_event(s, SESSION_ON_MODE_SET);
    reply_ok(s);
}

void cmd_attached(struct session *s, char *args, size_t len)
{
    (void)args;
    (void)len;
    reply_text(s, s->created ? "0" : "1");
}

/* ---- threads ---- */

void cmd_current_thread(struct session *s, char *args, size_t len)
{
    char text[16];
    (void)args;
    (void)len;
    snprintf(text, sizeof text, "QC%x", session_has_program(s) ? threads_running(s) : 0);
    reply_text(s, text);
}

void cmd_thread_info(struct session *s, char *args, size_t len)
{
    const struct task *task;
    (void)args;
    (void)len;
    if (!session_has_program(s)) {
        reply_text(s, "l");
        return;
    }
    size_t n = threads_count(s);
    reply_begin(s);
    for (size_t i = 0; i < n; i++) {
        reply_put(s, i ? "," : "m", 1);
        reply_printf(s, "%x", threads_at(s, i, &task));
    }
    reply_end(s);
}

void cmd_thread_info_more(struct session *s, char *args, size_t len)
{
    (void)args;
    (void)len;
    reply_text(s, "l");
}

static const char *state_word(const struct stub *stub)
{
    if (stub->gone)
        return "lost";
    if (stub_running(stub))
        return "running";
    return "halted";
}

/* What is said of a thread beside its name. */
static void describe_thread(const struct session *s, unsigned number, const struct task *task,
                            char *text, size_t cap)
{
    if (!task)
        snprintf(text, cap, "%s, %s%s", s->stub->ops->name, state_word(s->stub),
                 text_if(s->non_stop && s->stub->cfg.tasks,
                         "; its threads are shown without non-stop mode only"));
    else if (number == threads_running(s))
        snprintf(text, cap, "running");
    else
        snprintf(text, cap, "%s%s", text_or(task->state, "not running"),
                 text_if(!tasks_save_known(s->stub->cfg.tasks), ", registers: port not known"));
}

static const struct task *task_of(const struct session *s, uint64_t number)
{
    const struct task *task = NULL;
    size_t n = threads_count(s);
    for (size_t i = 0; i < n; i++)
        if (threads_at(s, i, &task) == number)
            return task;
    return NULL;
}

void cmd_thread_extra(struct session *s, char *args, size_t len)
{
    char more[128], text[TASKS_NAME + 2 + sizeof more];
    const char *p = args;
    uint64_t number;
    (void)len;
    if (!rsp_number(&p, &number) || *p || !threads_has(s, (int64_t)number)) {
        reply_usage(s, "a thread this target has not");
        return;
    }
    const struct task *task = task_of(s, number);
    describe_thread(s, (unsigned)number, task, more, sizeof more);
    if (task)
        snprintf(text, sizeof text, "%s, %s", task->name, more);
    else
        snprintf(text, sizeof text, "%s", more);
    reply_begin(s);
    reply_hex(s, (const uint8_t *)text, strlen(text));
    reply_end(s);
}

/* "-1", "0", or a number. */
static bool read_thread(const char *p, int64_t *number)
{
    uint64_t n;
    *number = -1;
    if (strcmp(p, "-1") == 0)
        return true;
    if (!rsp_number(&p, &n) || *p || n > INT32_MAX)
        return false;
    *number = (int64_t)n;
    return true;
}

void cmd_set_thread(struct session *s, char *args, size_t len)
{
    int64_t number;
    (void)len;
    if ((args[0] != 'g' && args[0] != 'c') || !read_thread(args + 1, &number) ||
        !threads_has(s, number)) {
        reply_usage(s, "H of a thread this target has not");
        return;
    }
    if (args[0] == 'g')
        s->thread = (unsigned)MAX(number, 0);
    reply_ok(s);
}

void cmd_thread_alive(struct session *s, char *args, size_t len)
{
    int64_t number;
    (void)len;
    if (read_thread(args, &number) && session_has_program(s) && threads_has(s, number))
        reply_ok(s);
    else
        reply_usage(s, "T of a thread this target has not");
}

/* ---- qXfer ---- */

/* Sends the part "OFFSET,LENGTH" of a document. */
static void send_part_of(struct session *s, const char *p, const char *doc, size_t size)
{
    uint64_t offset, len;
    if (!rsp_number(&p, &offset) || *p++ != ',' || !rsp_number(&p, &len) || *p || offset > size) {
        reply_usage(s, "offset,length expected");
        return;
    }
    size_t n = (size_t)MIN(len, size - offset);
    n = MIN(n, (GDBSTUB_PACKET_SIZE - 1) / 2);
    reply_begin(s);
    reply_put(s, offset + n < size ? "m" : "l", 1);
    uint8_t *room = reply_room(s, 2 * n);
    if (room)
        reply_take(s, rsp_binary_encode(room, (const uint8_t *)doc + offset, n));
    reply_end(s);
}

/* Only the architecture: GDB's SH port refuses registers from a description, and knows its own. */
void cmd_xfer_features(struct session *s, char *args, size_t len)
{
    char doc[256];
    (void)len;
    if (strncmp(args, "target.xml:", 11) != 0) {
        reply_text(s, "E00");
        return;
    }
    int n = snprintf(doc, sizeof doc,
                     "<?xml version=\"1.0\"?><!DOCTYPE target SYSTEM \"gdb-target.dtd\">"
                     "<target version=\"1.0\"><architecture>%s</architecture></target>",
                     s->stub->ops->gdb_arch);
    send_part_of(s, args + 11, doc, (size_t)n);
}

struct doc {
    char *text;
    size_t cap, len;
};

__attribute__((format(printf, 2, 3))) static void doc_add(struct doc *d, const char *fmt, ...)
{
    va_list ap;
    va_start(ap, fmt);
    int n = 0;
    if (d->len < d->cap)
        n = vsnprintf(d->text + d->len, d->cap - d->len, fmt, ap);
    va_end(ap);
    if (n > 0)
        d->len += (size_t)n; /* at or beyond cap: it did not fit */
}

static void add_region(struct doc *d, const char *type, uint64_t start, uint64_t length,
                       uint32_t block)
{
    doc_add(d, "<memory type=\"%s\" start=\"0x%llx\" length=\"0x%llx\"", type,
            (unsigned long long)start, (unsigned long long)length);
    if (block)
        doc_add(d, "><property name=\"blocksize\">0x%x</property></memory>", block);
    else
        doc_add(d, "/>");
}

/* GDB takes every address outside the map for inaccessible. A bus has registers and aliases
 * everywhere, so the gaps are given as RAM up to 32 bits and the target decides. Regions come in
 * rising order; one that begins inside its predecessor is left out. */
static void make_map(const struct memory_region *r, size_t count, struct doc *d)
{
    static const char *const types[] = {
        [MEMORY_RAM] = "ram", [MEMORY_ROM] = "rom", [MEMORY_FLASH] = "flash"
    };
    const uint64_t space = (uint64_t)1 << 32;
    uint64_t next = 0;
    doc_add(d, "<?xml version=\"1.0\"?><!DOCTYPE memory-map PUBLIC \"+//IDN gnu.org//DTD GDB "
               "Memory Map V1.0//EN\" "
               "\"http://sourceware.org/gdb/gdb-memory-map.dtd\"><memory-map>");
    for (size_t i = 0; i < count; i++) {
        if (r[i].start < next)
            continue;
        if (r[i].start > next)
            add_region(d, "ram", next, r[i].start - next, 0);
        add_region(d, types[r[i].kind], r[i].start, r[i].length,
                   r[i].kind == MEMORY_FLASH ? r[i].flash_block : 0);
        next = r[i].start + r[i].length;
    }
    if (next < space)
        add_region(d, "ram", next, space - next, 0);
    doc_add(d, "</memory-map>");
}

void cmd_xfer_memory_map(struct session *s, char *args, size_t len)
{
    const struct memory_region *regions;
    (void)len;
    if (!s->stub->ops->memory_map || args[0] != ':') {
        reply_text(s, "E00");
        return;
    }
    size_t count = s->stub->ops->memory_map(s->stub->t, &regions);
    struct doc doc = { .text = (char *)s->scratch, .cap = GDBSTUB_PACKET_SIZE };
    make_map(regions, count, &doc);
    if (doc.len >= doc.cap)
        reply_text(s, "E01");
    else
        send_part_of(s, args + 1, doc.text, doc.len);
}

/* "PID:OFFSET,LENGTH": there is one program, whatever the process is called. GDB opens the file by
 * itself: with `set sysroot target:`, its default, it takes the stub's files for its own as long as
 * the stub refuses vFile:open (remote.c of 13.1, filesystem_is_local()). */
void cmd_xfer_exec_file(struct session *s, char *args, size_t len)
{
    const char *file = s->stub->cfg.exec_file, *behind = strchr(args, ':');
    (void)len;
    if (file && behind)
        send_part_of(s, behind + 1, file, strlen(file));
    else
        reply_text(s, "E00");
}

/* The program's own text: GDB's reader of XML takes no other bytes. */
static void add_clean(struct doc *d, const char *text)
{
    for (; *text; text++) {
        unsigned char c = (unsigned char)*text;
        if (c < ' ' || c > '~')
            doc_add(d, "?");
        else if (strchr("&<>\"'", c))
            doc_add(d, "&#%u;", c);
        else
            doc_add(d, "%c", c);
    }
}

static void add_thread(struct doc *d, const struct session *s, size_t i)
{
    const struct task *task;
    char more[128];
    unsigned number = threads_at(s, i, &task);
    describe_thread(s, number, task, more, sizeof more);
    doc_add(d, "<thread id=\"%x\"", number);
    if (task && task->name[0]) {
        doc_add(d, " name=\"");
        add_clean(d, task->name);
        doc_add(d, "\"");
    }
    doc_add(d, ">");
    add_clean(d, more);
    doc_add(d, "</thread>");
}

void cmd_xfer_threads(struct session *s, char *args, size_t len)
{
    struct doc doc = { .text = (char *)s->scratch, .cap = GDBSTUB_PACKET_SIZE };
    (void)len;
    if (!s->stub->cfg.tasks || args[0] != ':') {
        reply_text(s, "E00");
        return;
    }
    size_t n = 0;
    if (session_has_program(s))
        n = threads_count(s);
    doc_add(&doc, "<?xml version=\"1.0\"?><threads>");
    for (size_t i = 0; i < n; i++)
        add_thread(&doc, s, i);
    doc_add(&doc, "</threads>");
    if (doc.len >= doc.cap)
        reply_text(s, "E01");
    else
        send_part_of(s, args + 1, doc.text, doc.len);
}

void cmd_empty(struct session *s, char *args, size_t len)
{
    (void)args;
    (void)len;
    reply_empty(s);
}
