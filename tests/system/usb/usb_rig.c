/* usb_rig - runs a program with USB devices that are models (tests/system/usb/model.h), served to
 * the unmodified libusb, libftdi1 and hidapi: /sys and uevents by umockdev, nodes under /dev by
 * files.h. HACKING.md says how tests use it; `usb_rig --help` what it takes. */
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/signalfd.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <sys/wait.h>
#include <unistd.h>

#include "probe/base/util.h"
#include "tests/system/usb/files_wire.h"
#include "tests/system/usb/rig.h"
#include "tests/system/usb/rig_setup.h"

static const char usage[] =
    "usage: usb_rig [OPTION...] [--board SPEC [--chain TAP]... [--wires FAULT]] MODEL[,option...] "
    "[...] -- COMMAND...\n"
    "       usb_rig --tell SOCKET COMMAND    unplug [N] | plug [N] | power on|off [N] | transfers "
    "[N] | ahead [N] | pins [N] | ask N WHAT |\n"
    "                                        strike KIND M [N] (the M-th transfer from now)\n"
    "                                        calm [N] (no strike that has not hit yet)\n"
    "       usb_rig --list\n"
    "Runs COMMAND where each MODEL is plugged in; its exit status is ours.\n"
    "  --board sim:NAME,...   board at the pins of the next MODEL, as after --probe\n"
    "  --chain TAP            another TAP on its chain: idcode=HEX,ir=BITS[,op=HEX]; after:... for "
    "one between board and TDO,\n"
    "                         instead:... where the board's own is not on it\n"
    "  --wires FAULT          JTAG wires that are wrong: "
    "tdi-high|tdi-low|tms-high|tms-low|tck-open|tdo-high|tdo-low|\n"
    "                         tdi-tdo-swapped|tms-tdi-swapped|tdi-tdo-shorted\n"
    "  --time real|virtual    real: the board's time is the host's. virtual: transfers cost "
    "frames, nobody waits for them\n"
    "  --stats FILE           what was transferred, as JSON\n"
    "  --transfers FILE       a line for every transfer that faults can strike: endpoint, length, "
    "first bytes\n"
    "  --control SOCKET       takes commands there (SOCKET is in USB_RIG_CONTROL for COMMAND)\n"
    "options of every model:\n"
    "  path=1-2.3  serial=TEXT  kernel-driver=NAME (bound until detached)  seed=N  replug=MS "
    "(comes back after unplugging)\n"
    "  hid-limit=MS (a HID report not taken fails then, instead of after the kernel's 5 s)\n"
    "  fault=unplug|stall|timeout|short|short-answer|stale|wrong-id|garbage|hang@N (the N-th "
    "transfer, or from there on: @N+; counted without\n"
    "  standard requests and empty answers)\n";

enum { IDLE_POLL_US = 20, IDLE_DUE_POLLS = 50, TICK_MS = 250, LINE = 200 };

struct launch {
    struct rig rig;
    const char *stats, *control;
    struct rig_next next;
    char **command;
    int signals, listener;
    pid_t child;
    int exit_status;
    bool over;
};

const char *__asan_default_options(void);
const char *__asan_default_options(void)
{
    return "detect_leaks=0";
} /* GLib and umockdev keep theirs */

/* ---- bus calls us ---- */

static void wake_rig(struct bus *b)
{
    struct rig *rig = b->host;
    char c = 0;
    uint64_t due = b->virtual_time ? 0 : bus_due_ns(b);
    if (due != UINT64_MAX && bus_host_ns() + due < rig->sleeps_until_ns &&
        write(rig->wake[1], &c, 1) < 0)
        return; /* full: awake already */
}

static void device_gone(struct bus_dev *d)
{
    struct node *n = d->host;
    n->gone = true;
    hidraw_gone(n);
    usbfs_gone(n);
    d->host = NULL;
    sysfs_tell(n->rig, n, false);
    sysfs_remove(n->rig, n);
    wake_rig(d->bus);
}

static int device_came(struct bus_dev *d, struct err *err)
{
    struct rig *rig = d->bus->host;
    struct node *n = calloc(1, sizeof *n);
    if (!n)
        return err_set(err, ERR_NOMEM, "", "out of memory");
    n->rig = rig;
    n->dev = d;
    n->master = n->slave = -1;
    n->next = rig->nodes;
    rig->nodes = n;
    d->host = n;
    int ret = sysfs_add(rig, n, err);
    if (ret == 0)
        ret = usbfs_attach(n, err);
    if (ret == 0 && d->model->id.hid_report)
        ret = hidraw_attach(n, err);
    if (ret == 0)
        sysfs_tell(rig, n, true);
    return ret;
}

/* ---- commands from outside ---- */

static void serve_command(struct launch *l)
{
    char line[LINE], answer[64] = "", out[LINE + 300];
    struct err err = { .code = ERR_OK };
    int fd = accept4(l->listener, NULL, NULL, SOCK_CLOEXEC);
    ssize_t n = fd < 0 ? -1 : read(fd, line, sizeof line - 1);
    if (n > 0) {
        line[n] = 0;
        line[strcspn(line, "\n")] = 0;
        pthread_mutex_lock(&l->rig.lock);
        int ret = rig_command(&l->rig.bus, l->rig.wiring, line, answer, sizeof answer, &err);
        pthread_mutex_unlock(&l->rig.lock);
        int m = ret < 0 ? snprintf(out, sizeof out, "error: %s\n", err.what)
                        : snprintf(out, sizeof out, "ok%s\n", answer);
        if (write(fd, out, (size_t)m) < 0)
            perror("usb_rig: control");
    }
    if (fd >= 0)
        close(fd);
}

static int control_address(const char *path, struct sockaddr_un *a)
{
    *a = (struct sockaddr_un){ .sun_family = AF_UNIX };
    if (strlen(path) >= sizeof a->sun_path)
        return -1;
    strcpy(a->sun_path, path);
    return socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
}

static int listen_at(const char *path)
{
    struct sockaddr_un a;
    int fd = control_address(path, &a);
    unlink(path);
    if (fd < 0 || bind(fd, (struct sockaddr *)&a, sizeof a) < 0 || listen(fd, 4) < 0) {
        fprintf(stderr, "usb_rig: %s: %s\n", path, strerror(errno));
        return -1;
    }
    return fd;
}

static int tell_rig(const char *path, char **words)
{
    struct sockaddr_un a;
    char line[LINE] = "", answer[LINE + 300];
    int fd = control_address(path, &a);
    for (; *words; words++)
        snprintf(line + strlen(line), sizeof line - strlen(line), "%s ", *words);
    if (fd < 0 || connect(fd, (struct sockaddr *)&a, sizeof a) < 0 ||
        write(fd, line, strlen(line)) < 0) {
        fprintf(stderr, "usb_rig: %s: %s\n", path, strerror(errno));
        return 1;
    }
    ssize_t n = read(fd, answer, sizeof answer - 1);
    close(fd);
    if (n <= 0)
        return 1;
    fwrite(answer, 1, (size_t)n, stdout);
    return strncmp(answer, "ok", 2) == 0 ? 0 : 1;
}

/* ---- virtual time ---- */

/* Whether every thread of the client waits for something. */
static bool client_sleeps(pid_t pid)
{
    char path[64];
    bool all = true;
    snprintf(path, sizeof path, "/proc/%d/task", (int)pid);
    GDir *dir = g_dir_open(path, 0, NULL);
    for (const char *name; all && dir && (name = g_dir_read_name(dir));) {
        char stat[96], text[256] = "";
        snprintf(stat, sizeof stat, "/proc/%d/task/%s/stat", (int)pid, name);
        FILE *f = fopen(stat, "r");
        const char *end = f && fgets(text, sizeof text, f) ? strrchr(text, ')') : NULL;
        all = end && (end[2] == 'S' || end[2] == 'Z');
        if (f)
            fclose(f);
    }
    if (dir)
        g_dir_close(dir);
    return all;
}

/* The client waits: time goes on to what happens next. Returns whether something does. */
static bool time_goes_on(struct rig *rig, bool long_idle)
{
    uint64_t next = UINT64_MAX;
    for (struct node *n = rig->nodes; n; n = n->next)
        next = MIN(next, MIN(usbfs_next_ns(n), hidraw_next_ns(n)));
    if (next == UINT64_MAX && long_idle) {
        uint64_t due = bus_due_ns(&rig->bus);
        if (due == UINT64_MAX)
            return false;
        rig->bus.now_ns += due;
        for (unsigned i = 0; i < rig->bus.ndevs; i++)
            if (rig->dev[i].plugged)
                bus_device_works(&rig->dev[i], rig->bus.now_ns);
        bus_tick(&rig->bus);
        return true;
    }
    if (next == UINT64_MAX)
        return false;
    rig->bus.now_ns = next;
    for (struct node *n = rig->nodes; n; n = n->next) {
        usbfs_update(n);
        hidraw_update(n);
    }
    return true;
}

static void virtual_loop(struct launch *l)
{
    uint64_t seen = 0;
    unsigned idle = 0;
    pthread_mutex_lock(&l->rig.lock);
    bool waiting = true;
    while (waiting && !l->over) {
        pthread_mutex_unlock(&l->rig.lock);
        usleep(IDLE_POLL_US);
        bool sleeps = client_sleeps(l->child);
        pthread_mutex_lock(&l->rig.lock);
        idle = sleeps && seen == l->rig.files.calls ? idle + 1 : 0;
        seen = l->rig.files.calls;
        waiting =
            idle == 0 || time_goes_on(&l->rig, idle > IDLE_DUE_POLLS) || idle <= IDLE_DUE_POLLS;
        int status;
        if (idle > IDLE_DUE_POLLS && waitpid(l->child, &status, WNOHANG | WNOWAIT) != 0)
            break;
    }
    pthread_mutex_unlock(&l->rig.lock);
}

/* ---- the loop ---- */

static void on_signal(struct launch *l)
{
    struct signalfd_siginfo s;
    if (read(l->signals, &s, sizeof s) != sizeof s)
        return;
    if (s.ssi_signo != SIGCHLD) {
        if (s.ssi_code <= 0) /* from a process: the terminal tells the child itself */
            kill(l->child, (int)s.ssi_signo);
        return;
    }
    int status;
    if (waitpid(l->child, &status, WNOHANG) == l->child) {
        l->over = true;
        l->exit_status = WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
    }
}

static int timeout_ms(struct rig *rig)
{
    pthread_mutex_lock(&rig->lock);
    uint64_t due = bus_due_ns(&rig->bus);
    bool hid = rig->nhidraw > 0, to_reap = false;
    for (struct node *n = rig->nodes; n && rig->bus.virtual_time; n = n->next)
        to_reap = to_reap || n->done || hidraw_next_ns(n) != UINT64_MAX;
    int ms = due != UINT64_MAX ? (int)MIN((due + 999999) / 1000000, TICK_MS) : hid ? TICK_MS : -1;
    if (to_reap) /* reaping wakes nobody, but what is behind it may then be the next to come */
        ms = 1;
    rig->sleeps_until_ns = ms < 0 ? UINT64_MAX : bus_host_ns() + (uint64_t)ms * 1000000;
    pthread_mutex_unlock(&rig->lock);
    return ms;
}

static void run_loop(struct launch *l)
{
    struct rig *rig = &l->rig;
    while (!l->over) {
        struct pollfd fds[] = { { l->signals, POLLIN, 0 },
                                { rig->wake[0], POLLIN, 0 },
                                { l->listener, POLLIN, 0 } };
        char drop[256];
        int wait = timeout_ms(rig);
        poll(fds, ARRAY_LEN(fds), wait);
        if (fds[1].revents && read(rig->wake[0], drop, sizeof drop) < 0)
            return;
        if (fds[0].revents)
            on_signal(l);
        if (fds[2].revents)
            serve_command(l);
        if (rig->bus.virtual_time)
            virtual_loop(l);
        pthread_mutex_lock(&rig->lock);
        if (!rig->bus.virtual_time && bus_due_ns(&rig->bus) == 0)
            bus_tick(&rig->bus);
        else if (!rig->bus.virtual_time && wait >= 0 && !fds[1].revents)
            bus_tick(&rig->bus);
        for (struct node *n = rig->nodes; n; n = n->next)
            hidraw_tick(n);
        pthread_mutex_unlock(&rig->lock);
    }
}

/* ---- results ---- */

static void write_stats(struct launch *l)
{
    FILE *f = fopen(l->stats, "w");
    if (!f) {
        fprintf(stderr, "usb_rig: %s: %s\n", l->stats, strerror(errno));
        return;
    }
    fprintf(f, "{\"virtual_ns\": %llu, \"devices\": [", (unsigned long long)l->rig.bus.now_ns);
    for (unsigned i = 0; i < l->rig.bus.ndevs; i++) {
        const struct bus_dev *d = &l->rig.dev[i];
        fprintf(f,
                "%s{\"model\": \"%s\", \"transfers\": %llu, \"in\": %llu, \"out\": %llu, "
                "\"control\": %llu, \"idle\": %llu, ",
                i ? ", " : "", d->type->name, (unsigned long long)d->transfers,
                (unsigned long long)d->ins, (unsigned long long)d->outs,
                (unsigned long long)d->controls, (unsigned long long)d->idles);
        fprintf(f, "\"bytes_in\": %llu, \"bytes_out\": %llu, \"faults\": %llu, \"tck\": %llu}",
                (unsigned long long)d->bytes_in, (unsigned long long)d->bytes_out,
                (unsigned long long)d->faults_fired,
                (unsigned long long)l->rig.wiring[i].tck_clocks);
    }
    fprintf(f, "]}\n");
    fclose(f);
}

/* ---- starting ---- */

static int fail_with(const struct err *err)
{
    fprintf(stderr, "usb_rig: %s%s%s\n", err->what, err->hint[0] ? "; " : "", err->hint);
    return -1;
}

static int add_device(struct launch *l, const char *text)
{
    struct err err = { .code = ERR_OK };
    return rig_add(&l->rig.bus, l->rig.wiring, &l->next, text, &err) < 0 ? fail_with(&err) : 0;
}

static int list_models(void)
{
    for (const struct usb_model_type *const *t = usb_models(); *t; t++)
        printf("%-16s %s\n", (*t)->name, (*t)->help);
    return 0;
}

/* Returns 0, or -1 after saying what is wrong. */
static int parse_arguments(struct launch *l, char **argv)
{
    for (; *argv && strcmp(*argv, "--") != 0; argv++) {
        const char *a = *argv;
        if (strncmp(a, "--", 2) != 0) {
            if (add_device(l, a) < 0)
                return -1;
            continue;
        }
        const char *value = argv[1];
        if (!value)
            break;
        argv++;
        if (strcmp(a, "--board") == 0)
            l->next.board = value;
        else if (strcmp(a, "--chain") == 0 && l->next.nchain < ARRAY_LEN(l->next.chain))
            l->next.chain[l->next.nchain++] = value;
        else if (strcmp(a, "--wires") == 0)
            l->next.wires = value;
        else if (strcmp(a, "--time") == 0)
            l->rig.bus.virtual_time = strcmp(value, "virtual") == 0;
        else if (strcmp(a, "--stats") == 0)
            l->stats = value;
        else if (strcmp(a, "--control") == 0)
            l->control = value;
        else if (strcmp(a, "--transfers") == 0 && !l->rig.bus.notes)
            l->rig.bus.notes = fopen(value, "we");
        else
            return fprintf(stderr, "usb_rig: unknown option %s\n%s", a, usage), -1;
    }
    if (!*argv || !argv[1])
        return fprintf(stderr, "usb_rig: no command\n%s", usage), -1;
    l->command = argv + 1;
    return 0;
}

/* umockdev sends uevents only from a process that its library is loaded into, and clients need it,
 * too; and ours in front of it (files.h), which stands beside this program. Sanitized ones would
 * refuse a library in front of theirs. */
static void need_preload(char **argv)
{
    const char *have = getenv("LD_PRELOAD"), *asan = getenv("ASAN_OPTIONS");
    char here[400] = "", text[1024];
    if (have && strstr(have, FILES_LIBRARY))
        return;
    ssize_t n = readlink("/proc/self/exe", here, sizeof here - 1);
    here[MAX(n, 0)] = 0;
    snprintf(text, sizeof text, "%.*s/" FILES_LIBRARY ":libumockdev-preload.so.0%s%s",
             (int)(strrchr(here, '/') - here), here, have ? ":" : "", have ? have : "");
    setenv("LD_PRELOAD", text, 1);
    snprintf(text, sizeof text, "%s%sverify_asan_link_order=0", asan ? asan : "", asan ? ":" : "");
    setenv("ASAN_OPTIONS", text, 1);
    execv("/proc/self/exe", argv);
    perror("usb_rig: exec");
    exit(1);
}

static int spawn_program(struct launch *l, const sigset_t *old)
{
    l->child = fork();
    if (l->child < 0)
        return perror("usb_rig: fork"), -1;
    if (l->child > 0)
        return 0;
    prctl(PR_SET_PDEATHSIG, SIGKILL);
    sigprocmask(SIG_SETMASK, old, NULL);
    if (l->control)
        setenv("USB_RIG_CONTROL", l->control, 1);
    setenv(FILES_SOCKET, l->rig.files.path, 1);
    execvp(l->command[0], l->command);
    fprintf(stderr, "usb_rig: %s: %s\n", l->command[0], strerror(errno));
    _exit(127);
}

static int plug_all(struct launch *l)
{
    struct err err = { .code = ERR_OK };
    struct rig *rig = &l->rig;
    char *root = umockdev_testbed_get_root_dir(rig->bed);
    int ret = files_start(&rig->files, root, &rig->lock, &err);
    g_free(root);
    if (ret == 0)
        ret = sysfs_root(rig, &err);
    for (unsigned i = 0; i < rig->bus.ndevs && ret == 0; i++)
        ret = bus_plug(&rig->dev[i], &err);
    return ret < 0 ? fail_with(&err) : 0;
}

static int run_rig(struct launch *l)
{
    struct rig *rig = &l->rig;
    sigset_t mask, old;
    sigemptyset(&mask);
    sigaddset(&mask, SIGCHLD);
    sigaddset(&mask, SIGINT);
    sigaddset(&mask, SIGTERM);
    sigaddset(&mask, SIGHUP);
    sigprocmask(SIG_BLOCK, &mask, &old);
    l->signals = signalfd(-1, &mask, SFD_CLOEXEC);
    l->listener = l->control ? listen_at(l->control) : -1;
    if (pipe2(rig->wake, O_CLOEXEC | O_NONBLOCK) < 0 || (l->control && l->listener < 0))
        return 1;
    rig->bed = umockdev_testbed_new();
    pthread_mutex_lock(&rig->lock);
    int ret = plug_all(l);
    rig->bus.host_ns = rig->bus.idle_since_ns = bus_host_ns();
    pthread_mutex_unlock(&rig->lock);
    if (ret < 0 || spawn_program(l, &old) < 0)
        return 1;
    run_loop(l);
    pthread_mutex_lock(&rig->lock);
    if (l->stats)
        write_stats(l);
    for (unsigned i = 0; i < rig->bus.ndevs; i++)
        bus_remove(&rig->dev[i]);
    for (unsigned i = 0; i < rig->bus.ndevs; i++)
        wiring_close(&rig->wiring[i]);
    pthread_mutex_unlock(&rig->lock);
    if (rig->bus.notes)
        fclose(rig->bus.notes);
    files_stop(&rig->files);
    g_object_unref(rig->bed); /* takes its folder away */
    if (l->control)
        unlink(l->control);
    return l->exit_status;
}

int main(int argc, char **argv)
{
    pthread_mutexattr_t attr;
    if (argc < 2 || strcmp(argv[1], "--help") == 0)
        return fputs(usage, argc < 2 ? stderr : stdout), argc < 2 ? 2 : 0;
    if (strcmp(argv[1], "--list") == 0)
        return list_models();
    if (strcmp(argv[1], "--tell") == 0 && argc > 3)
        return tell_rig(argv[2], argv + 3);
    need_preload(argv);
    struct launch *l = calloc(1, sizeof *l);
    if (!l)
        return 1;
    pthread_mutexattr_init(&attr);
    pthread_mutexattr_settype(&attr, PTHREAD_MUTEX_RECURSIVE);
    pthread_mutex_init(&l->rig.lock, &attr);
    l->rig.bus = (struct bus){ .dev = l->rig.dev,
                               .gone = device_gone,
                               .came = device_came,
                               .work = wake_rig,
                               .host = &l->rig };
    l->rig.next_address = RIG_FIRST_ADDRESS;
    /* *l is never freed: threads of files that an outliving program holds open use it to the end */
    return parse_arguments(l, argv + 1) < 0 ? 2 : run_rig(l);
}
