/* Byte stream adapters against pseudo terminals and sockets of this machine, and sysfs trees of the
 * test's own. */
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <netdb.h>
#include <netinet/in.h>
#include <semaphore.h>
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <time.h>
#include <unistd.h>

#include <cmocka.h>

#include "probe/base/util.h"
#include "probe/probe.h"
#include "probe/tcp.h"
#include "probe/tty.h"

#define MS 1000000u

static int open_named(const char *name, struct probe **p, struct err *err)
{
    return probe_open(name, &(struct probe_config){ .spec = "" }, p, err);
}

/* ---- pseudo terminals ---- */

struct pty {
    int master;
    char node[64];
};

static struct pty new_pty(void)
{
    struct pty t = { .master = posix_openpt(O_RDWR | O_NOCTTY) };
    assert_true(t.master >= 0 && grantpt(t.master) == 0 && unlockpt(t.master) == 0);
    assert_int_equal(ptsname_r(t.master, t.node, sizeof t.node), 0);
    return t;
}

/* A port whose name is its own: a terminal's may be somebody else's as soon as that one is gone. */
struct port {
    struct pty t;
    char dir[24], link[32];
};

static struct port lay_port(void)
{
    struct port p = { .t = new_pty(), .dir = "/tmp/pp-stream-XXXXXX" };
    assert_non_null(mkdtemp(p.dir));
    snprintf(p.link, sizeof p.link, "%s/tty", p.dir);
    assert_int_equal(symlink(p.t.node, p.link), 0);
    return p;
}

static void pull_port(struct port *p)
{
    unlink(p->link);
    close(p->t.master);
}

static void serial__bytes_of_any_value__pass_unchanged_both_ways(void **state)
{
    struct pty t = new_pty();
    struct probe *p = NULL;
    char name[100];
    uint8_t all[256], got[256];
    uint64_t sent = 0, received = 0;
    (void)state;
    for (size_t i = 0; i < sizeof all; i++)
        all[i] = (uint8_t)i;
    snprintf(name, sizeof name, "serial:%s,baud=1500000", t.node);
    assert_int_equal(open_named(name, &p, NULL), 0);
    const struct stream_ops *s = p->driver->stream;
    assert_int_equal(s->traits(p), 0);
    assert_int_equal(s->write(p, all, sizeof all, 1000 * MS, NULL), 0);
    for (size_t n = 0; n < sizeof got;) {
        ssize_t r = read(t.master, got + n, sizeof got - n);
        assert_true(r > 0);
        n += (size_t)r;
    }
    assert_memory_equal(all, got, sizeof all);
    memset(got, 0, sizeof got);
    assert_int_equal(write(t.master, all, sizeof all), sizeof all);
    for (size_t n = 0; n < sizeof got;) {
        int r = s->read(p, got + n, sizeof got - n, 1000 * MS, NULL);
        assert_true(r > 0);
        n += (size_t)r;
    }
    assert_memory_equal(all, got, sizeof all);
    s->stats(p, &sent, &received, NULL);
    assert_int_equal(sent, 256);
    assert_int_equal(received, 256);
    probe_close(p);
    close(t.master);
}

static void serial__silent_flushed_or_rate_changed__says_so(void **state)
{
    struct pty t = new_pty();
    struct probe *p = NULL;
    char name[100];
    uint8_t b[4];
    uint32_t got = 0;
    (void)state;
    snprintf(name, sizeof name, "serial:%s", t.node);
    assert_int_equal(open_named(name, &p, NULL), 0);
    const struct stream_ops *s = p->driver->stream;
    uint64_t before = s->now_ns(p);
    assert_int_equal(s->read(p, b, sizeof b, 20 * MS, NULL), 0);
    assert_true(s->now_ns(p) - before >= 20 * MS);
    assert_int_equal(write(t.master, "old", 3), 3);
    assert_int_equal(s->read(p, b, 1, 1000 * MS, NULL), 1);
    assert_int_equal(s->flush(p, NULL), 0);
    assert_int_equal(s->read(p, b, sizeof b, 0, NULL), 0);
    assert_int_equal(s->set_baud(p, 781250, &got, NULL), 0);
    assert_int_equal(got, 781250);
    probe_close(p);
    close(t.master);
}

static void serial__port_taken_or_gone_or_no_port__is_an_error_with_a_hint(void **state)
{
    struct port port = lay_port();
    struct probe *p = NULL, *second = NULL;
    struct err err = { .code = ERR_OK };
    char name[100];
    uint8_t b;
    (void)state;
    snprintf(name, sizeof name, "serial:%s", port.link);
    assert_int_equal(open_named(name, &p, &err), 0);
    assert_int_equal(open_named(name, &second, &err), -ERR_USB);
    assert_non_null(strstr(err.what, "in use"));
    pull_port(&port);
    assert_int_equal(p->driver->stream->read(p, &b, 1, 1000 * MS, &err), -ERR_USB);
    assert_string_not_equal(err.hint, "");
    assert_int_equal(p->driver->stream->write(p, &b, 1, 1000 * MS, &err), -ERR_USB);
    assert_int_equal(probe_reopen(p, &err), -ERR_USB);
    probe_close(p);
    rmdir(port.dir);
    static const struct {
        const char *name;
        int ret;
    } rows[] = {
        { "serial:/dev/null", -ERR_USB },
        { "serial:/dev/no-such-port", -ERR_USB },
        { "serial:", -ERR_USAGE },
        { "serial:NOSUCHSERIAL", -ERR_NOT_FOUND },
        { "serial:@9-9", -ERR_NOT_FOUND },
        { "serial:/dev/null,baud=12", -ERR_USAGE },
        { "serial:/dev/null,speed=1", -ERR_USAGE },
        { "serial:/dev/null,timeout=1", -ERR_USAGE },
        { "rsp:", -ERR_USAGE },
        { "rsp:localhost", -ERR_USAGE },
        { "rsp:::1:1234", -ERR_USAGE },
        { "rsp:/dev/null", -ERR_USB },
        { "rsp:localhost:1,nonsense", -ERR_USAGE },
    };
    for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
        print_message("  %s\n", rows[i].name);
        err = (struct err){ .code = ERR_OK };
        assert_int_equal(open_named(rows[i].name, &p, &err), rows[i].ret);
        assert_string_not_equal(err.hint, "");
    }
}

static void serial__pulled_and_back__reopens_with_its_rate(void **state)
{
    struct port port = lay_port();
    struct probe *p = NULL;
    char name[100];
    uint8_t b[4];
    (void)state;
    snprintf(name, sizeof name, "serial:%s,baud=250000,timeout=7500", port.link);
    assert_int_equal(open_named(name, &p, NULL), 0);
    assert_int_equal(p->driver->stream->timeout_ms(p), 7500);
    struct pty again = new_pty(); /* before the first is let go, so that it has another name */
    pull_port(&port);
    assert_int_equal(p->driver->stream->read(p, b, sizeof b, 1000 * MS, NULL), -ERR_USB);
    assert_int_equal(probe_reopen(p, NULL), -ERR_USB);
    assert_int_equal(symlink(again.node, port.link), 0);
    assert_int_equal(probe_reopen(p, NULL), 0);
    assert_int_equal(write(again.master, "x", 1), 1);
    assert_int_equal(p->driver->stream->read(p, b, sizeof b, 1000 * MS, NULL), 1);
    probe_close(p);
    close(again.master);
    unlink(port.link);
    rmdir(port.dir);
}

/* ---- sockets ---- */

static int listen_on(int family, uint16_t *port)
{
    struct sockaddr_storage a = { .ss_family = (sa_family_t)family };
    socklen_t len = sizeof a;
    int fd = socket(family, SOCK_STREAM | SOCK_CLOEXEC, 0);
    if (family == AF_INET)
        ((struct sockaddr_in *)&a)->sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    else
        ((struct sockaddr_in6 *)&a)->sin6_addr = in6addr_loopback;
    if (fd < 0 || bind(fd, (struct sockaddr *)&a, sizeof(struct sockaddr_in6)) < 0 ||
        listen(fd, 4) < 0 || getsockname(fd, (struct sockaddr *)&a, &len) < 0) {
        if (fd >= 0)
            close(fd);
        return -1;
    }
    *port = ntohs(family == AF_INET ? ((struct sockaddr_in *)&a)->sin_port
                                    : ((struct sockaddr_in6 *)&a)->sin6_port);
    return fd;
}

/* One connection, bytes both ways, the far end hangs up, comes back, is reopened. */
static void talk_to_peer(int server, const char *name)
{
    struct probe *p = NULL;
    struct err err = { .code = ERR_OK };
    uint8_t b[8];
    assert_int_equal(open_named(name, &p, NULL), 0);
    const struct stream_ops *s = p->driver->stream;
    assert_int_equal(s->traits(p), STREAM_RSP | STREAM_LOSSLESS);
    assert_int_equal(s->timeout_ms(p), 0);
    for (int round = 0; round < 2; round++) {
        int peer = accept(server, NULL, NULL);
        assert_true(peer >= 0);
        assert_int_equal(s->write(p, (const uint8_t *)"$?#3f", 5, 1000 * MS, NULL), 0);
        assert_int_equal(read(peer, b, sizeof b), 5);
        assert_int_equal(s->read(p, b, sizeof b, 10 * MS, NULL), 0);
        assert_int_equal(write(peer, "+", 1), 1);
        assert_int_equal(s->read(p, b, sizeof b, 1000 * MS, NULL), 1);
        assert_int_equal(s->set_baud(p, 57600, NULL, &err), -ERR_UNSUPPORTED);
        close(peer);
        assert_int_equal(s->read(p, b, sizeof b, 1000 * MS, &err), -ERR_USB);
        assert_string_not_equal(err.hint, "");
        assert_int_equal(probe_reopen(p, NULL), 0);
    }
    close(server);
    probe_reopen(p, NULL);
    assert_int_equal(probe_reopen(p, &err), -ERR_USB);
    probe_close(p);
}

static void rsp__far_end_hangs_up__error_and_reopened(void **state)
{
    uint16_t port = 0;
    char name[64], dir[] = "/tmp/pp-stream-XXXXXX";
    (void)state;
    int fd = listen_on(AF_INET, &port);
    assert_true(fd >= 0);
    /* ::1 refuses first, where there is IPv6 */
    snprintf(name, sizeof name, "rsp:localhost:%u", port);
    talk_to_peer(fd, name);
    fd = listen_on(AF_INET6, &port);
    snprintf(name, sizeof name, "rsp:[::1]:%u", port);
    if (fd >= 0)
        talk_to_peer(fd, name);
    else
        print_message("  no IPv6 on this machine\n");
    struct sockaddr_un a = { .sun_family = AF_UNIX };
    assert_non_null(mkdtemp(dir));
    snprintf(a.sun_path, sizeof a.sun_path, "%s/stub", dir);
    fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
    assert_true(bind(fd, (struct sockaddr *)&a, sizeof a) == 0 && listen(fd, 4) == 0);
    snprintf(name, sizeof name, "rsp:%.50s", a.sun_path);
    talk_to_peer(fd, name);
    unlink(a.sun_path);
    rmdir(dir);
}

static void rsp__far_end_takes_nothing__write_ends_at_its_deadline(void **state)
{
    enum { MUCH = 32 << 20 };
    uint16_t port = 0;
    struct probe *p = NULL;
    char name[64];
    uint8_t *much = calloc(1, MUCH);
    (void)state;
    int fd = listen_on(AF_INET, &port);
    assert_true(fd >= 0 && much);
    snprintf(name, sizeof name, "rsp:127.0.0.1:%u", port);
    assert_int_equal(open_named(name, &p, NULL), 0);
    assert_int_equal(p->driver->stream->write(p, much, MUCH, 100 * MS, NULL), -ERR_TIMEOUT);
    probe_close(p);
    close(fd);
    free(much);
}

static void tcp_parse__texts__host_and_port_or_usage(void **state)
{
    static const struct {
        const char *text, *host, *port;
    } rows[] = {
        { "localhost:1234", "localhost", "1234" },
        { ":1234", "localhost", "1234" },
        { "[::1]:2159", "::1", "2159" },
        { "dc.lan:gdb", "dc.lan", "gdb" },
        { "localhost", NULL, NULL },
        { "localhost:", NULL, NULL },
        { "", NULL, NULL },
        { "::1:1234", NULL, NULL },
        { "[]:1", NULL, NULL },
        { "[::1:1", NULL, NULL },
    };
    (void)state;
    for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
        char host[TCP_HOST_MAX] = "?", port[TCP_PORT_MAX] = "?";
        print_message("  '%s'\n", rows[i].text);
        assert_int_equal(tcp_parse(rows[i].text, host, port, NULL), rows[i].host ? 0 : -ERR_USAGE);
        assert_string_equal(host, rows[i].host ? rows[i].host : "?");
        assert_string_equal(port, rows[i].port ? rows[i].port : "?");
    }
}

/* ---- sysfs ---- */

static void write_file(const char *root, const char *path, const char *text)
{
    char full[300];
    snprintf(full, sizeof full, "%s/%s", root, path);
    for (char *s = full + strlen(root) + 1; (s = strchr(s, '/')); s++) {
        *s = 0;
        mkdir(full, 0755);
        *s = '/';
    }
    FILE *f = fopen(full, "w");
    assert_non_null(f);
    fprintf(f, "%s\n", text);
    fclose(f);
}

static void make_port(const char *root, const char *name, const char *device)
{
    char to[300], link[300];
    snprintf(to, sizeof to, "class/tty/%s/dev", name);
    write_file(root, to, "188:0");
    if (!device)
        return;
    snprintf(to, sizeof to, "%s/%s", root, device);
    snprintf(link, sizeof link, "%s/class/tty/%s/device", root, name);
    assert_int_equal(symlink(to, link), 0);
}

static void make_usb_device(const char *root, const char *path, const char *serial)
{
    static const struct {
        const char *name, *text;
    } rows[] = { { "idVendor", "0403" }, { "idProduct", "6010" }, { "product", "Dual RS232" } };
    char at[200];
    for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
        snprintf(at, sizeof at, "%s/%s", path, rows[i].name);
        write_file(root, at, rows[i].text);
    }
    snprintf(at, sizeof at, "%s/serial", path);
    if (serial)
        write_file(root, at, serial);
}

static void tty_find__sysfs_trees__ports_with_hardware_behind_them(void **state)
{
    char root[] = "/tmp/pp-sysfs-XXXXXX", rm[64];
    struct tty_info t[TTY_MAX], was;
    (void)state;
    assert_non_null(mkdtemp(root));
    assert_int_equal(tty_find(root, t, TTY_MAX), 0);
    make_usb_device(root, "devices/usb1/1-2/1-2.3", "FT1ABC");
    write_file(root, "devices/usb1/1-2/1-2.3/1-2.3:1.0/bInterfaceNumber", "00");
    write_file(root, "devices/usb1/1-2/1-2.3/1-2.3:1.0/ttyUSB0/port_number", "0");
    write_file(root, "devices/usb1/1-2/1-2.3/1-2.3:1.1/bInterfaceNumber", "01");
    write_file(root, "devices/usb1/1-2/1-2.3/1-2.3:1.1/ttyUSB10/port_number", "0");
    make_usb_device(root, "devices/usb1/1-4", NULL);
    write_file(root, "devices/usb1/1-4/1-4:1.0/bInterfaceNumber", "00");
    write_file(root, "devices/platform/serial8250/uevent", "");
    make_port(root, "ttyUSB10", "devices/usb1/1-2/1-2.3/1-2.3:1.1/ttyUSB10");
    make_port(root, "ttyUSB0", "devices/usb1/1-2/1-2.3/1-2.3:1.0/ttyUSB0");
    make_port(root, "ttyACM0", "devices/usb1/1-4/1-4:1.0");
    make_port(root, "ttyS0", "devices/platform/serial8250");
    make_port(root, "ttyS1", "devices/platform/serial8250");
    write_file(root, "class/tty/ttyS0/type", "4");
    write_file(root, "class/tty/ttyS1/type", "0"); /* a place without a UART */
    make_port(root, "tty1", NULL);                 /* a console */
    assert_int_equal(tty_find(root, t, TTY_MAX), 4);
    static const struct {
        const char *node, *serial, *place, *product;
    } want[] = {
        { "/dev/ttyS0", "", "", "" },
        { "/dev/ttyACM0", "", "1-4:1.0", "Dual RS232" },
        { "/dev/ttyUSB0", "FT1ABC", "1-2.3:1.0", "Dual RS232" },
        { "/dev/ttyUSB10", "FT1ABC", "1-2.3:1.1", "Dual RS232" },
    };
    for (size_t i = 0; i < ARRAY_LEN(want); i++) {
        assert_string_equal(t[i].node, want[i].node);
        assert_string_equal(t[i].serial, want[i].serial);
        assert_string_equal(t[i].place, want[i].place);
        assert_string_equal(t[i].product, want[i].product);
        assert_int_equal(t[i].vid, *want[i].place ? 0x0403 : 0);
        assert_int_equal(tty_again(t, 4, &t[i]), (int)i);
    }
    /* plugged in elsewhere: same serial number, same interface, another place and node */
    was = t[3];
    strcpy(was.place, "3-1:1.1");
    strcpy(was.node, "/dev/ttyUSB4");
    assert_int_equal(tty_again(t, 4, &was), 3);
    strcpy(was.serial, "OTHER");
    assert_int_equal(tty_again(t, 4, &was), -1);
    snprintf(rm, sizeof rm, "rm -rf %s", root);
    assert_int_equal(system(rm), 0);
}

static sem_t name_service; /* answers so often */

/* The one probe/tcp.c calls: a name service that takes its time, for one name. */
int getaddrinfo(const char *host, const char *port, const struct addrinfo *hints,
                struct addrinfo **out)
{
    int (*real)(const char *, const char *, const struct addrinfo *, struct addrinfo **) = NULL;
    *(void **)&real = dlsym(RTLD_NEXT, "getaddrinfo");
    if (host && !strcmp(host, "slow.invalid") && !(hints && hints->ai_flags & AI_NUMERICHOST)) {
        sem_wait(&name_service);
        host = "127.0.0.1";
    }
    return real ? real(host, port, hints, out) : EAI_FAIL;
}

static void tcp_connect__name_service_does_not_answer__ends_at_its_deadline(void **state)
{
    struct err err = { .code = ERR_OK };
    (void)state;
    sem_init(&name_service, 0, 0);
    assert_int_equal(tcp_connect("slow.invalid", "1", 200000000, &err), -ERR_NOT_FOUND);
    assert_string_not_equal(err.hint, "");
    /* the thread that was left ends, and frees what is its own */
    sem_post(&name_service);
    nanosleep(&(struct timespec){ .tv_nsec = 500000000 }, NULL);
    /* found in time: nobody listens there */
    sem_post(&name_service);
    assert_int_equal(tcp_connect("slow.invalid", "1", 600000000000, &err), -ERR_USB);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(serial__bytes_of_any_value__pass_unchanged_both_ways),
        cmocka_unit_test(serial__silent_flushed_or_rate_changed__says_so),
        cmocka_unit_test(serial__port_taken_or_gone_or_no_port__is_an_error_with_a_hint),
        cmocka_unit_test(serial__pulled_and_back__reopens_with_its_rate),
        cmocka_unit_test(rsp__far_end_hangs_up__error_and_reopened),
        cmocka_unit_test(rsp__far_end_takes_nothing__write_ends_at_its_deadline),
        cmocka_unit_test(tcp_connect__name_service_does_not_answer__ends_at_its_deadline),
        cmocka_unit_test(tcp_parse__texts__host_and_port_or_usage),
        cmocka_unit_test(tty_find__sysfs_trees__ports_with_hardware_behind_them),
    };
    signal(SIGPIPE, SIG_IGN); /* as probeprof does: an end that left is an error of one write */
    return cmocka_run_group_tests(tests, NULL, NULL);
}
