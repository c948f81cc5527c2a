/* Round trips and bytes per second over the remote protocol: our server on the simulated board and
 * on plain memory, QEMU's stub (r2d board) and gdbserver (a process of this machine), with the same
 * client.
 *
 * usage: bench_rsp [MILLISECONDS PER ROW] [ROWS]     ROWS: letters out of "gmLWXsZ", one a row in
 * the order below The peers take turns within each row, in slices of a ROUNDS'th of the time, so
 * that what else the machine does meets all of them alike. Printed are the median of the slices
 * and, behind a slash, the best one: on a busy machine slices come in two sorts, with and without a
 * wait for a core. "wire" is the share of the time spent in scans of the simulated wire (with the
 * board behind it), "target" that in calls of the target, wire included; beside them the TCK clocks
 * of an operation. */
#include <arpa/inet.h>
#include <errno.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>
#include <uv.h>

#include "gdbstub/rsp.h"
#include "probe/base/util.h"
#include "profiler/cli/boards.h"
#include "profiler/bridge/gdb_server.h"
#include "profiler/cli/parts.h"
#include "profiler/bridge/worker.h"
#include "tests/gdbstub/ram_target.h"

enum { BUF = 1 << 20, TEXT_BYTES = 65536, ROUNDS = 31 };
enum row { ROW_G, ROW_M4, ROW_M, ROW_MW, ROW_X, ROW_STEP, ROW_BP, NROWS };
enum column { OURS, OURS_RAM, QEMU, GDBSERVER, NCOLUMNS };

static const char *const row_names[NROWS] = { "g, round trips/s", "m of 4 bytes, /s",
                                              "m largest, MB/s",  "M largest, MB/s",
                                              "X largest, MB/s",  "steps/s",
                                              "Z0 + z0, pairs/s" };
static const char row_letters[NROWS + 1] = "gmLWXsZ"; /* to choose rows by */
static const char *const column_names[NCOLUMNS] = { "probeprof sim:sh7750", "probeprof RAM",
                                                    "qemu-system-sh4", "gdbserver" };

/* What the server's process tells the client's; in shared memory. */
struct shared {
    atomic_uint port;
    atomic_ullong target_ns, wire_ns, tck_clocks;
};

/* One slice of a row. */
struct sample {
    double value, target_share, wire_share, clocks;
};

struct result {
    unsigned nsamples[NROWS];
    struct sample samples[NROWS][ROUNDS];
    size_t bytes[NROWS];
};

static uint64_t now_ns(void)
{
    struct timespec ts;
    clock_gettime(CLOCK_MONOTONIC, &ts);
    return (uint64_t)ts.tv_sec * 1000000000u + (uint64_t)ts.tv_nsec;
}

/* ================= our server, in a process of its own ================= */

/* Every timed call adds to shared->target_ns; calls do not nest. */
static struct shared *timed_into;
static const struct target_ops *timed_inner;

#define TIMED(name, params, args)                                   \
    static int timed_##name params                                  \
    {                                                               \
        uint64_t start = now_ns();                                  \
        int ret = timed_inner->name args;                           \
        atomic_fetch_add(&timed_into->target_ns, now_ns() - start); \
        return ret;                                                 \
    }
TIMED(resume, (struct target * t, const struct resume *how, struct err *err), (t, how, err))
TIMED(poll, (struct target * t, uint64_t ns, struct target_stop *stop, struct err *err),
      (t, ns, stop, err))
TIMED(read_reg, (struct target * t, unsigned n, uint8_t *buf, struct err *err), (t, n, buf, err))
TIMED(write_reg, (struct target * t, unsigned n, const uint8_t *buf, struct err *err),
      (t, n, buf, err))
TIMED(read_mem, (struct target * t, uint64_t a, unsigned w, uint8_t *b, size_t n, struct err *err),
      (t, a, w, b, n, err))
TIMED(write_mem,
      (struct target * t, uint64_t a, unsigned w, const uint8_t *b, size_t n, struct err *err),
      (t, a, w, b, n, err))
TIMED(insert_bp, (struct target * t, enum bp_kind k, uint64_t a, unsigned n, struct err *err),
      (t, k, a, n, err))
TIMED(remove_bp, (struct target * t, enum bp_kind k, uint64_t a, unsigned n, struct err *err),
      (t, k, a, n, err))

static void time_target(struct target *t, struct target_ops *wrapped, struct shared *shared)
{
    timed_into = shared;
    timed_inner = t->ops;
    *wrapped = *t->ops;
    wrapped->resume = timed_resume;
    wrapped->poll = timed_poll;
    wrapped->read_reg = timed_read_reg;
    wrapped->write_reg = timed_write_reg;
    wrapped->read_mem = timed_read_mem;
    wrapped->write_mem = timed_write_mem;
    wrapped->insert_bp = timed_insert_bp;
    wrapped->remove_bp = timed_remove_bp;
    t->ops = wrapped;
}

/* The same for the wire below. */
static const struct jtag_ops *timed_jtag;

static int timed_execute(struct probe *p, const struct jtag_op *ops, size_t n, struct err *err)
{
    uint64_t start = now_ns(), clocks;
    int ret = timed_jtag->execute(p, ops, n, err);
    atomic_fetch_add(&timed_into->wire_ns, now_ns() - start);
    timed_jtag->stats(p, &clocks, NULL, NULL);
    atomic_store(&timed_into->tck_clocks, clocks);
    return ret;
}

static int timed_wait(struct probe *p, uint64_t ns, struct err *err)
{
    uint64_t start = now_ns();
    int ret = timed_jtag->wait(p, ns, err);
    atomic_fetch_add(&timed_into->wire_ns, now_ns() - start);
    return ret;
}

static void time_wire(struct probe *p)
{
    static struct probe_driver driver;
    static struct jtag_ops ops;
    timed_jtag = p->driver->jtag;
    ops = *timed_jtag;
    ops.execute = timed_execute;
    ops.wait = timed_wait;
    driver = *p->driver;
    driver.jtag = &ops;
    p->driver = &driver;
}

static void fail_with(const char *what, const struct err *err)
{
    fprintf(stderr, "bench_rsp: %s: %s\n", what, err->what);
    exit(1);
}

static struct target *open_board(struct shared *shared)
{
    const struct probe_config cfg = { .boards = boards() };
    const struct part_options opt = { .allow_private = true };
    const struct part *part = NULL;
    struct probe *probe;
    struct target *t = NULL;
    struct err err;
    timed_into = shared;
    if (probe_open("sim:sh7750", &cfg, &probe, &err) < 0 ||
        part_choose("", "sim:sh7750", &part, &err) < 0)
        fail_with("board", &err);
    time_wire(probe);
    if (part->open(part, probe, &opt, &t, &err) < 0)
        fail_with("board", &err);
    return t;
}

static void serve_target(struct target *t, struct shared *shared)
{
    static struct target_ops wrapped;
    uv_loop_t loop;
    struct worker *w;
    struct gdb_server *server;
    struct err err;
    time_target(t, &wrapped, shared);
    uv_loop_init(&loop);
    if (worker_start(&(struct worker_config){ .target = t, .loop = &loop }, &w, &err) < 0 ||
        gdb_server_start(&(struct gdb_server_config){ .worker = w, .loop = &loop }, &server, &err) <
            0 ||
        gdb_server_listen(server, "127.0.0.1:0", &err) < 0)
        fail_with("server", &err);
    atomic_store(&shared->port, gdb_server_port(server));
    uv_run(&loop, UV_RUN_DEFAULT);
}

static pid_t start_ours(bool ram, struct shared *shared, unsigned *port)
{
    atomic_store(&shared->port, 0);
    fflush(stdout);
    pid_t pid = fork();
    if (pid == 0) {
        static struct ram_target r;
        prctl(PR_SET_PDEATHSIG, SIGKILL);
        ram_target_init(&r);
        serve_target(ram ? &r.target : open_board(shared), shared);
        _exit(0);
    }
    for (int i = 0; i < 5000 && !atomic_load(&shared->port); i++)
        usleep(1000);
    *port = atomic_load(&shared->port);
    return pid;
}

/* ================= the others ================= */

static unsigned free_port(void)
{
    struct sockaddr_in a = { .sin_family = AF_INET };
    socklen_t len = sizeof a;
    int fd = socket(AF_INET, SOCK_STREAM, 0);
    a.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    if (bind(fd, (void *)&a, sizeof a) < 0 || getsockname(fd, (void *)&a, &len) < 0)
        exit(1);
    close(fd);
    return ntohs(a.sin_port);
}

static pid_t start_program(const char *const *argv)
{
    fflush(stdout);
    pid_t pid = fork();
    if (pid == 0) {
        prctl(PR_SET_PDEATHSIG, SIGKILL);
        if (!freopen("/dev/null", "w", stdout) || !freopen("/dev/null", "w", stderr))
            _exit(126);
        execvp(argv[0], (char *const *)argv);
        _exit(127);
    }
    return pid;
}

static pid_t start_other(enum column column, unsigned *port)
{
    char address[32];
    *port = free_port();
    snprintf(address, sizeof address, column == QEMU ? "tcp:127.0.0.1:%u" : "127.0.0.1:%u", *port);
    const char *const qemu[] = {
        "qemu-system-sh4", "-M",   "r2d", "-display", "none",  "-serial", "null",
        "-monitor",        "none", "-S",  "-gdb",     address, NULL
    };
    const char *const gdbserver[] = { "gdbserver", address, "/bin/sleep", "1000", NULL };
    return start_program(column == QEMU ? qemu : gdbserver);
}

/* ================= the client ================= */

struct client {
    int fd;
    bool acks;
    size_t packet_size;
    char *out, *in;
    size_t in_len;
    const char *reply; /* payload of the last answer */
    size_t reply_len;
    uint64_t text, pc; /* writable memory, a program */
    size_t text_bytes;
    unsigned bp_kind;
};

static int dial_server(unsigned port)
{
    struct sockaddr_in a = { .sin_family = AF_INET, .sin_port = htons((uint16_t)port) };
    int one = 1;
    a.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    for (int i = 0; i < 100; i++) {
        int fd = socket(AF_INET, SOCK_STREAM, 0);
        if (connect(fd, (void *)&a, sizeof a) == 0) {
            setsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &one, sizeof one);
            return fd;
        }
        close(fd);
        usleep(50000);
    }
    return -1;
}

static bool send_all(int fd, const char *p, size_t n)
{
    while (n > 0) {
        ssize_t k = send(fd, p, n, MSG_NOSIGNAL);
        if (k <= 0)
            return false;
        p += k;
        n -= (size_t)k;
    }
    return true;
}

/* Waits for one packet, drops acks before it. */
static bool receive_packet(struct client *c)
{
    size_t skip = 0, scanned = 0;
    c->in_len = 0;
    for (;;) {
        while (skip < c->in_len && c->in[skip] != '$')
            scanned = ++skip;
        char *hash = scanned < c->in_len ? memchr(c->in + scanned, '#', c->in_len - scanned) : NULL;
        if (hash && (size_t)(hash - c->in) + 3 <= c->in_len) {
            c->reply = c->in + skip + 1;
            c->reply_len = (size_t)(hash - c->reply);
            return true;
        }
        scanned = hash ? (size_t)(hash - c->in) : c->in_len;
        ssize_t n = recv(c->fd, c->in + c->in_len, BUF - c->in_len, 0);
        if (n <= 0)
            return false;
        c->in_len += (size_t)n;
    }
}

/* Frames what stands at out + 2 (place for '+' and '$') and waits for the answer. */
static bool exchange_packet(struct client *c, size_t len)
{
    char *start = c->out + (c->acks ? 0 : 1);
    c->out[0] = '+';
    c->out[1] = '$';
    snprintf(c->out + 2 + len, 4, "#%02x", rsp_checksum((const uint8_t *)c->out + 2, len));
    return send_all(c->fd, start, (size_t)(c->out + 2 + len + 3 - start)) && receive_packet(c);
}

static bool talk_to_server(struct client *c, const char *payload)
{
    size_t n = strlen(payload);
    memcpy(c->out + 2, payload, n);
    return exchange_packet(c, n);
}

static bool reply_is(const struct client *c, const char *text)
{
    return c->reply_len == strlen(text) && memcmp(c->reply, text, c->reply_len) == 0;
}

/* ---- rows: a prepared packet, sent again and again ---- */

struct job {
    char packet[2][64]; /* sent in turn; [1] empty: only the first */
    size_t body;        /* bytes of filling behind the first packet's text */
    char fill;
};

static bool round_trip(struct client *c, const struct job *j, int which)
{
    size_t n = strlen(j->packet[which]);
    memcpy(c->out + 2, j->packet[which], n);
    memset(c->out + 2 + n, j->fill, which ? 0 : j->body);
    return exchange_packet(c, n + (which ? 0 : j->body)) && c->reply_len > 0 && c->reply[0] != 'E';
}

static size_t prepare_job(const struct client *c, enum row row, struct job *j)
{
    unsigned long long at = c->text, pc = c->pc;
    size_t most = MIN((c->packet_size - 4 - 24) / 2, c->text_bytes);
    size_t most_binary = MIN(c->packet_size - 4 - 24, c->text_bytes);
    memset(j, 0, sizeof *j);
    switch (row) {
    case ROW_G: strcpy(j->packet[0], "g"); return 0;
    case ROW_M4: snprintf(j->packet[0], 64, "m%llx,4", at); return 0;
    case ROW_M: snprintf(j->packet[0], 64, "m%llx,%zx", at, most); return most;
    case ROW_MW:
        snprintf(j->packet[0], 64, "M%llx,%zx:", at, most);
        j->body = 2 * most;
        j->fill = '5';
        return most;
    case ROW_X:
        snprintf(j->packet[0], 64, "X%llx,%zx:", at, most_binary);
        j->body = most_binary;
        j->fill = 'U';
        return most_binary;
    case ROW_STEP: strcpy(j->packet[0], "vCont;s"); return 0;
    default:
        snprintf(j->packet[0], 64, "Z0,%llx,%x", pc, c->bp_kind);
        snprintf(j->packet[1], 64, "z0,%llx,%x", pc, c->bp_kind);
        return 0;
    }
}

static bool one_operation(struct client *c, const struct job *j)
{
    return round_trip(c, j, 0) && (!j->packet[1][0] || round_trip(c, j, 1));
}

static void measure_row(struct client *c, enum row row, uint64_t slice_ns, struct shared *shared,
                        struct result *r)
{
    struct job j;
    size_t bytes = prepare_job(c, row, &j);
    for (int i = 0; i < 10; i++)
        if (!one_operation(c, &j))
            return;
    uint64_t target = atomic_load(&shared->target_ns), wire = atomic_load(&shared->wire_ns),
             clocks = atomic_load(&shared->tck_clocks), start = now_ns(), end = start, trips = 0;
    while (end - start < slice_ns) {
        if (!one_operation(c, &j))
            return;
        trips++;
        end = now_ns();
    }
    double ns = (double)(end - start);
    r->bytes[row] = bytes;
    r->samples[row][r->nsamples[row]++] = (struct sample){
        .value = (double)trips / ns * (bytes ? (double)bytes * 1e3 : 1e9),
        .target_share = (double)(atomic_load(&shared->target_ns) - target) / ns,
        .wire_share = (double)(atomic_load(&shared->wire_ns) - wire) / ns,
        .clocks = (double)(atomic_load(&shared->tck_clocks) - clocks) / (double)trips,
    };
}

/* ---- setting up ---- */

/* A loop of three instructions in RAM, PC at it; through G where P is unknown (QEMU). */
static bool prepare_sh4(struct client *c)
{
    static const char loop[] = "0170fdaf0900";
    char line[64];
    c->pc = 0x8C010000;
    c->text = 0x8C020000;
    c->text_bytes = TEXT_BYTES;
    c->bp_kind = 2;
    snprintf(line, sizeof line, "M8c010000,6:%s", loop);
    if (!talk_to_server(c, line) || !reply_is(c, "OK") || !talk_to_server(c, "P10=0000018c"))
        return false;
    if (reply_is(c, "OK"))
        return true;
    if (!talk_to_server(c, "g") || c->reply_len < 136)
        return false;
    size_t n = c->reply_len;
    c->out[2] = 'G';
    memcpy(c->out + 3, c->reply, n);
    memcpy(c->out + 3 + 16 * 8, "0000018c", 8);
    return exchange_packet(c, n + 1) && reply_is(c, "OK");
}

static bool prepare_ram(struct client *c)
{
    c->pc = 0x1000;
    c->text = 0x2000;
    c->text_bytes = 0xE000;
    c->bp_kind = 2;
    return true;
}

/* The largest writable mapping of the process under gdbserver is its stack; its PC comes from the
 * table of threads. */
static bool prepare_host(struct client *c, pid_t server)
{
    char path[64], line[512];
    unsigned pid;
    unsigned long long lo, hi;
    snprintf(path, sizeof path, "/proc/%d/task/%d/children", server, server);
    FILE *f = fopen(path, "r");
    if (!f || fscanf(f, "%u", &pid) != 1)
        return false;
    fclose(f);
    snprintf(path, sizeof path, "/proc/%u/maps", pid);
    f = fopen(path, "r");
    while (f && fgets(line, sizeof line, f)) {
        char prot[5];
        if (sscanf(line, "%llx-%llx %4s", &lo, &hi, prot) != 3)
            continue;
        if (strstr(line, "[stack]")) {
            c->text = lo;
            c->text_bytes = (size_t)(hi - lo - 16384);
        } else if (prot[2] == 'x' && !c->pc) {
            c->pc = lo + 0x100;
        }
    }
    if (f)
        fclose(f);
    c->text_bytes = MIN(c->text_bytes, (size_t)TEXT_BYTES);
    c->bp_kind = 1;
    return c->text && c->pc;
}

static bool begin_session(struct client *c)
{
    c->acks = true;
    c->packet_size = 400;
    if (!talk_to_server(c, "qSupported:multiprocess-;vContSupported+;swbreak+;hwbreak+"))
        return false;
    const char *p = memmem(c->reply, c->reply_len, "PacketSize=", 11);
    if (p)
        c->packet_size = strtoul(p + 11, NULL, 16);
    if (!talk_to_server(c, "QStartNoAckMode"))
        return false;
    if (reply_is(c, "OK")) {
        send_all(c->fd, "+", 1);
        c->acks = false;
    }
    return talk_to_server(c, "?") && talk_to_server(c, "Hg0") && talk_to_server(c, "vCont?");
}

/* ---- all of them at once, taking turns ---- */

struct peer {
    struct client client;
    struct shared *shared;
    struct result result;
    pid_t pid;
    bool ok;
};

static void open_peer(struct peer *p, enum column column)
{
    unsigned port;
    p->client = (struct client){ .fd = -1, .out = malloc(BUF), .in = malloc(BUF) };
    p->pid = column <= OURS_RAM ? start_ours(column == OURS_RAM, p->shared, &port)
                                : start_other(column, &port);
    struct client *c = &p->client;
    p->ok = c->out && c->in && port && (c->fd = dial_server(port)) >= 0 && begin_session(c);
    if (p->ok)
        p->ok = column == OURS_RAM    ? prepare_ram(c)
                : column == GDBSERVER ? prepare_host(c, p->pid)
                                      : prepare_sh4(c);
    if (!p->ok)
        fprintf(stderr, "bench_rsp: %s could not be measured (not installed?)\n",
                column_names[column]);
}

static void close_peer(struct peer *p)
{
    if (p->client.fd >= 0)
        close(p->client.fd);
    kill(p->pid, SIGKILL);
    waitpid(p->pid, NULL, 0);
    free(p->client.out);
    free(p->client.in);
}

static int by_value(const void *a, const void *b)
{
    const struct sample *x = a, *y = b;
    return x->value < y->value ? -1 : x->value > y->value;
}

static void print_cell(struct result *r, enum row row, bool board)
{
    char cell[96] = "-";
    unsigned n = r->nsamples[row];
    if (n > 0) {
        qsort(r->samples[row], n, sizeof r->samples[row][0], by_value);
        const struct sample *m = &r->samples[row][n / 2];
        int len = snprintf(cell, sizeof cell, r->bytes[row] ? "%.1f / %.1f" : "%.0f / %.0f",
                           m->value, r->samples[row][n - 1].value);
        if (board)
            snprintf(cell + len, sizeof cell - (size_t)len,
                     " (target %.0f%%, wire %.0f%%, %.0f TCK)", 100 * m->target_share,
                     100 * m->wire_share, m->clocks);
        else if (r->bytes[row])
            snprintf(cell + len, sizeof cell - (size_t)len, " (%zu B)", r->bytes[row]);
    }
    printf(board ? "  %50s" : "  %23s", cell);
}

static void print_table(struct peer *peers, const char *rows)
{
    printf("%-18s", "");
    for (int c = 0; c < NCOLUMNS; c++)
        printf(c == OURS ? "  %50s" : "  %23s", column_names[c]);
    printf("\n");
    for (int row = 0; row < NROWS; row++) {
        if (!strchr(rows, row_letters[row]))
            continue;
        printf("%-18s", row_names[row]);
        for (int c = 0; c < NCOLUMNS; c++)
            print_cell(&peers[c].result, (enum row)row, c == OURS);
        printf("\n");
    }
}

static void take_turns(struct peer *peers, enum row row, uint64_t slice_ns)
{
    for (int round = 0; round < ROUNDS; round++)
        for (int c = 0; c < NCOLUMNS; c++)
            if (peers[c].ok)
                measure_row(&peers[c].client, row, slice_ns, peers[c].shared, &peers[c].result);
}

int main(int argc, char **argv)
{
    unsigned ms = argc > 1 ? (unsigned)atoi(argv[1]) : 1500;
    const char *rows = argc > 2 ? argv[2] : row_letters;
    struct shared *shared = mmap(NULL, NCOLUMNS * sizeof *shared, PROT_READ | PROT_WRITE,
                                 MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    struct peer *peers = calloc(NCOLUMNS, sizeof *peers);
    if (shared == MAP_FAILED || !peers || !ms)
        return 2;
    signal(SIGPIPE, SIG_IGN);
    for (int c = 0; c < NCOLUMNS; c++) {
        peers[c].shared = &shared[c];
        open_peer(&peers[c], (enum column)c);
    }
    for (int row = 0; row < NROWS; row++)
        if (strchr(rows, row_letters[row]))
            take_turns(peers, (enum row)row, (uint64_t)ms * 1000000u / ROUNDS);
    print_table(peers, rows);
    for (int c = 0; c < NCOLUMNS; c++)
        close_peer(&peers[c]);
    free(peers);
    return 0;
}
