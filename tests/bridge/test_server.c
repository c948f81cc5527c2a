/* The server over real sockets, on a target made of RAM: who gets in, how many, what a bad peer
 * does. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <arpa/inet.h>
#include <errno.h>
#include <fcntl.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <time.h>
#include <unistd.h>
#include <uv.h>

#include <cmocka.h>

#include "gdbstub/rsp.h"
#include "probe/base/util.h"
#include "profiler/bridge/gdb_server.h"
#include "profiler/bridge/net.h"
#include "tests/gdbstub/ram_target.h"

struct fixture {
    struct ram_target ram;
    uv_loop_t loop;
    struct worker *w;
    struct gdb_server *server;
    char text[70000];
    char reported[400];
};

static void collect_report(void *ctx, const char *what)
{
    char *text = ctx;
    snprintf(text + strlen(text), sizeof((struct fixture *)0)->reported - strlen(text), "%s\n",
             what);
}

static int start_server(void **state)
{
    struct fixture *fx = calloc(1, sizeof *fx);
    struct err err;
    ram_target_init(&fx->ram);
    uv_loop_init(&fx->loop);
    struct worker_config wcfg = { .target = &fx->ram.target, .loop = &fx->loop };
    if (worker_start(&wcfg, &fx->w, &err) < 0)
        return -1;
    struct gdb_server_config cfg = { .worker = fx->w,
                                     .loop = &fx->loop,
                                     .version = "test",
                                     .max_connections = 3,
                                     .tell = collect_report,
                                     .tell_ctx = fx->reported };
    if (gdb_server_start(&cfg, &fx->server, &err) < 0 ||
        gdb_server_listen(fx->server, ":0", &err) < 0)
        return -1;
    *state = fx;
    return 0;
}

static int stop_server(void **state)
{
    struct fixture *fx = *state;
    assert_int_equal(worker_stop(fx->w, 600000, NULL), 0);
    assert_int_equal(gdb_server_stop(fx->server, 600000, NULL), 0);
    uv_run(&fx->loop, UV_RUN_DEFAULT);
    assert_int_equal(uv_loop_close(&fx->loop), 0);
    free(fx);
    return 0;
}

static int dial_server(struct fixture *fx, bool v6)
{
    struct sockaddr_in a4 = { .sin_family = AF_INET,
                              .sin_port = htons((uint16_t)gdb_server_port(fx->server)) };
    struct sockaddr_in6 a6 = { .sin6_family = AF_INET6,
                               .sin6_port = a4.sin_port,
                               .sin6_addr = in6addr_loopback };
    a4.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    int fd = socket(v6 ? AF_INET6 : AF_INET, SOCK_STREAM, 0);
    if (fd < 0 || connect(fd, v6 ? (void *)&a6 : (void *)&a4, v6 ? sizeof a6 : sizeof a4) < 0) {
        if (fd >= 0)
            close(fd);
        return -1;
    }
    fcntl(fd, F_SETFL, O_NONBLOCK);
    return fd;
}

/* Receives until `want` bytes are there, the peer closed (returns what came, *closed) or two
 * minutes passed. */
static size_t receive_text(struct fixture *fx, int fd, size_t want, bool *closed)
{
    size_t n = 0;
    *closed = false;
    for (int i = 0; i < 120000 && n < want && !*closed; i++) {
        uv_run(&fx->loop, UV_RUN_NOWAIT);
        ssize_t got = recv(fd, fx->text + n, MIN(want - n, sizeof fx->text - 1 - n), 0);
        if (got > 0)
            n += (size_t)got;
        else if (got == 0 || errno == ECONNRESET)
            *closed = true;
        else
            poll(&(struct pollfd){ .fd = fd, .events = POLLIN }, 1, 1);
    }
    fx->text[n] = 0;
    return n;
}

static void expect_reply(struct fixture *fx, int fd, const char *send_text, const char *want)
{
    bool closed;
    assert_int_equal(send(fd, send_text, strlen(send_text), 0), strlen(send_text));
    receive_text(fx, fd, strlen(want), &closed);
    assert_string_equal(fx->text, want);
}

static void wait_for_sessions(struct fixture *fx, unsigned sessions)
{
    for (int i = 0; i < 600000 && gdb_server_sessions(fx->server) != sessions; i++) {
        uv_run(&fx->loop, UV_RUN_NOWAIT);
        usleep(1000);
    }
    assert_int_equal(gdb_server_sessions(fx->server), sessions);
}

static void server__both_loopback_families__one_port(void **state)
{
    struct fixture *fx = *state;
    for (int v6 = 0; v6 < 2; v6++) {
        int fd = dial_server(fx, v6);
        if (fd < 0 && v6) {
            print_message("  no IPv6 here\n");
            break;
        }
        assert_true(fd >= 0);
        expect_reply(fx, fd, "+$p5#a5", "+$00100000#81");
        close(fd);
    }
    wait_for_sessions(fx, 0);
}

static void server__what_is_said_first__decides(void **state)
{
    static const struct {
        const char *name, *bytes;
        bool stays;
    } rows[] = {
        { "ack", "+$p5#a5", true },
        { "packet", "$p5#a5", true },
        { "nak", "-$p5#a5", true },
        { "interrupt", "\003$p5#a5", true },
        { "HTTP", "GET / HTTP/1.1\r\nHost: localhost\r\n\r\n", false },
        { "TLS", "\026\003\001", false },
        { "text", "hello\n", false },
        { "HTTP POST with a packet inside", "POST / HTTP/1.1\r\n\r\n$p5#a5", false },
        { "not of text", "$X0,1:\001#10", false },
        { "cut off", "$p5$p5#a5", false },
    };
    struct fixture *fx = *state;
    for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
        bool closed;
        int fd = dial_server(fx, false);
        print_message("  %s\n", rows[i].name);
        assert_true(send(fd, rows[i].bytes, strlen(rows[i].bytes), 0) > 0);
        size_t n = receive_text(fx, fd, 13, &closed);
        assert_int_equal(closed, !rows[i].stays);
        assert_int_equal(n, rows[i].stays ? 13 : 0);
        close(fd);
        wait_for_sessions(fx, 0);
    }
}

/* fetch(url, {method: '+', body: '$M...'}): methods are tokens, of letters, digits and these (RFC
 * 9110, 5.6.2). Behind a name that has been bound to 127.0.0.1 the same comes without a question
 * beforehand. */
static void server__http_of_any_method__nothing_acts(void **state)
{
    static const char signs[] = "!#$%&'*+-.^_`|~";
    static const char *const long_ones[] = {
        "GET", "OPTIONS", "$g#67", "+$k#6b", "$P5#", "-$c#63+", "$G", "$", "++", "$q#71$D#44"
    };
    struct fixture *fx = *state;
    for (int i = 0; i < 128 + (int)ARRAY_LEN(long_ones); i++) {
        char text[200], method[2] = { (char)i };
        bool closed;
        if (i < 128 && !(i >= '0' && i <= '9') && !(i >= 'A' && i <= 'Z') &&
            !(i >= 'a' && i <= 'z') && !(i && strchr(signs, i)))
            continue;
        int n = snprintf(text, sizeof text,
                         "%s /$p5#a5 HTTP/1.1\r\nHost: 127.0.0.1\r\n\r\n+$M2000,1:55#10",
                         i < 128 ? method : long_ones[i - 128]);
        int fd = dial_server(fx, false);
        assert_int_equal(send(fd, text, (size_t)n, 0), n);
        assert_int_equal(receive_text(fx, fd, 1, &closed), 0);
        assert_true(closed);
        close(fd);
    }
    wait_for_sessions(fx, 0);
    assert_int_equal(fx->ram.mem[0x2000], 0);
    assert_int_equal(fx->ram.attaches + fx->ram.detaches + fx->ram.resumes + fx->ram.resets, 0);
}

/* ... and whole packets that are its first bytes only because the rest is late do not act before it
 * came. */
static void server__first_packet__waits_for_what_is_behind(void **state)
{
    struct fixture *fx = *state;
    bool closed;
    int fd = dial_server(fx, false);
    assert_int_equal(send(fd, "$M2000,1:55#10", 14, 0), 14);
    for (int i = 0; i < 100000 && gdb_server_sessions(fx->server) == 0; i++)
        uv_run(&fx->loop, UV_RUN_NOWAIT);
    uv_run(&fx->loop, UV_RUN_NOWAIT);
    assert_int_equal(send(fd, " HTTP/1.1", 9, 0), 9);
    (void)receive_text(fx, fd, 20, &closed);
    assert_true(closed);
    close(fd);
    wait_for_sessions(fx, 0);
}

static void server__silent_ones__give_way(void **state)
{
    struct fixture *fx = *state;
    int spoke = dial_server(fx, false), silent[8];
    expect_reply(fx, spoke, "$p5#a5", "+$00100000#81");
    for (int i = 0; i < 8; i++) {
        silent[i] = dial_server(fx, false);
        if (i % 2)
            assert_int_equal(send(silent[i], "+", 1, 0), 1);
    }
    int fd = dial_server(fx, false);
    expect_reply(fx, fd, "$p5#a5", "+$00100000#81");
    expect_reply(fx, spoke, "$p5#a5", "+$00100000#81");
    for (int i = 0; i < 8; i++)
        close(silent[i]);
    close(fd);
    close(spoke);
    wait_for_sessions(fx, 0);
    assert_string_equal(fx->reported,
                        "GDB connections that have asked nothing are closed for newer "
                        "ones: there are more than are served at a time\n");
}

static void server__no_descriptor__waits_and_serves_later(void **state)
{
    struct fixture *fx = *state;
    struct rlimit was, none;
    uint64_t turns = 0;
    assert_int_equal(getrlimit(RLIMIT_NOFILE, &was), 0);
    int client = dial_server(fx, false); /* in the backlog */
    none = was;
    none.rlim_cur = 0;
    assert_int_equal(setrlimit(RLIMIT_NOFILE, &none), 0);
    for (int i = 0; i < 50 && !fx->reported[0]; i++)
        uv_run(&fx->loop, UV_RUN_ONCE);
    assert_non_null(strstr(fx->reported, "no descriptor is free"));
    while (uv_run(&fx->loop, UV_RUN_NOWAIT) && turns++ < 1000)
        ;
    assert_null(strstr(strchr(fx->reported, '\n') + 1, "no descriptor")); /* said once */
    assert_int_equal(setrlimit(RLIMIT_NOFILE, &was), 0);
    expect_reply(fx, client, "$p5#a5", "+$00100000#81");
    close(client);
    wait_for_sessions(fx, 0);
}

/* Over four gigabytes, which take minutes. */
static void server__long_packet__others_are_served_and_it_ends_with_its_connection(void **state)
{
    struct fixture *fx = *state;
    fx->ram.endless = true;
    int busy = dial_server(fx, false), fd = dial_server(fx, false);
    expect_reply(fx, busy, "$p5#a5", "+$00100000#81");
    assert_int_equal(send(busy, "$qCRC:0,ffffffff#0f", 19, 0), 19);
    expect_reply(fx, busy, "", "+");
    expect_reply(fx, fd, "$p5#a5", "+$00100000#81");
    assert_int_equal(send(busy, "\003", 1, 0), 1);
    expect_reply(fx, busy, "", "$E01#a6");
    assert_int_equal(send(busy, "$qSearch:memory:0;ffffffff;x#22", 31, 0), 31);
    expect_reply(fx, fd, "$p5#a5", "+$00100000#81");
    close(busy);
    wait_for_sessions(fx, 1);
    int last = dial_server(fx, false);
    assert_int_equal(send(last, "$qCRC:0,ffffffff#0f", 19, 0), 19);
    expect_reply(fx, last, "", "+");
    close(fd);
    wait_for_sessions(fx, 1);
    stop_server(state); /* in the middle of it */
    close(last);
    assert_int_equal(start_server(state), 0);
}

static void server__too_many__closed_at_once(void **state)
{
    struct fixture *fx = *state;
    int fd[4];
    bool closed;
    for (int i = 0; i < 3; i++) {
        fd[i] = dial_server(fx, false);
        expect_reply(fx, fd[i], "$p5#a5", "+$00100000#81");
    }
    fd[3] = dial_server(fx, false);
    receive_text(fx, fd[3], 1, &closed);
    assert_true(closed);
    close(fd[0]);
    wait_for_sessions(fx, 2);
    int again = dial_server(fx, false);
    expect_reply(fx, again, "$p5#a5", "+$00100000#81");
    for (int i = 1; i < 4; i++)
        close(fd[i]);
    close(again);
    wait_for_sessions(fx, 0);
}

static void server__ctrl_c__halts_a_running_target(void **state)
{
    struct fixture *fx = *state;
    bool closed;
    int fd = dial_server(fx, false);
    fx->ram.words_per_poll = 5;
    expect_reply(fx, fd, "$QStartNoAckMode#b0", "+$OK#9a");
    assert_int_equal(send(fd, "$c#63", 5, 0), 5);
    usleep(20000);
    assert_int_equal(send(fd, "\003", 1, 0), 1);
    receive_text(fx, fd, 8, &closed);
    assert_memory_equal(fx->text, "$T0205:", 7);
    close(fd);
    wait_for_sessions(fx, 0);
}

static void server__peer_that_never_reads__others_are_served(void **state)
{
    struct fixture *fx = *state;
    char burst[11 * 1000 + 1] = "";
    int slow = dial_server(fx, false), fd = dial_server(fx, false);
    bool closed;
    size_t total = 0;
    for (int i = 0; i < 1000; i++)
        strcat(burst + 11 * i, "$m0,7fff#32");
    expect_reply(fx, slow, "$QStartNoAckMode#b0", "+$OK#9a");
    /* Until nothing has been taken for a while: back-pressure has reached the peer. The bound is
     * far above what both sides' queues and sockets hold, so a server that buffers without end
     * fails here. */
    const size_t bound = 64u << 20;
    for (int refused = 0; refused < 200 && total < bound;) {
        ssize_t n = send(slow, burst, sizeof burst - 1, 0);
        total += n > 0 ? (size_t)n : 0;
        refused = n > 0 ? 0 : refused + 1;
        uv_run(&fx->loop, UV_RUN_NOWAIT);
        if (n < 0)
            usleep(500);
    }
    assert_in_range(total, 1, bound - 1);
    expect_reply(fx, fd, "$p5#a5", "+$00100000#81");
    (void)receive_text(fx, slow, 60000, &closed); /* it wakes up, and is served on */
    assert_false(closed);
    assert_memory_equal(fx->text, "$0000", 5);
    close(slow);
    close(fd);
    wait_for_sessions(fx, 0);
}

static void server__unix_socket__private_and_stale_ones_replaced(void **state)
{
    struct fixture *fx = *state;
    struct sockaddr_un sa = { .sun_family = AF_UNIX };
    struct stat st;
    char dir[] = "/tmp/gdbserver-test-XXXXXX";
    assert_non_null(mkdtemp(dir));
    snprintf(sa.sun_path, sizeof sa.sun_path, "%s/s", dir);
    int stale = socket(AF_UNIX, SOCK_STREAM, 0);
    assert_int_equal(bind(stale, (void *)&sa, sizeof sa), 0);
    close(stale);
    assert_int_equal(gdb_server_listen(fx->server, sa.sun_path, NULL), 0);
    assert_int_equal(stat(sa.sun_path, &st), 0);
    assert_int_equal(st.st_mode & 0777, 0600);
    struct err err = { .code = ERR_OK };
    /* alive: not replaced */
    assert_int_equal(gdb_server_listen(fx->server, sa.sun_path, &err), -ERR_IO);
    int fd = socket(AF_UNIX, SOCK_STREAM, 0);
    assert_int_equal(connect(fd, (void *)&sa, sizeof sa), 0);
    fcntl(fd, F_SETFL, O_NONBLOCK);
    expect_reply(fx, fd, "+$p5#a5", "+$00100000#81");
    close(fd);
    wait_for_sessions(fx, 0);
    stop_server(state);
    assert_int_equal(stat(sa.sun_path, &st), -1);
    assert_int_equal(rmdir(dir), 0);
    assert_int_equal(start_server(state), 0);
}

static void server__port_taken__said_by_whom(void **state)
{
    struct fixture *fx = *state;
    struct err err = { .code = ERR_OK };
    char address[16], me[32];
    snprintf(address, sizeof address, ":%u", gdb_server_port(fx->server));
    snprintf(me, sizeof me, "(process %d)", getpid());
    assert_int_equal(gdb_server_listen(fx->server, address, &err), -ERR_IO);
    assert_non_null(strstr(err.what, me));
    assert_string_not_equal(err.hint, "");
}

static void net_listen__malformed__usage_error_with_hint(void **state)
{
    static const char *const rows[] = { "host",     "1.2.3.4:", ":port",           ":65536",
                                        "::1:3333", "[::1",     "localhost:-1",    ":3333x",
                                        "[]:3333",  "[*]:3333", "[127.0.0.1]:3333" };
    (void)state;
    for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
        struct net_listener l[NET_MAX_LISTENERS];
        struct err err = { .code = ERR_OK };
        print_message("  %s\n", rows[i]);
        assert_int_equal(net_listen(rows[i], 3333, l, &err), -ERR_USAGE);
        assert_string_not_equal(err.hint, "");
    }
}

static int option_of(int fd, int level, int name)
{
    int value = 0;
    socklen_t len = sizeof value;
    assert_int_equal(getsockopt(fd, level, name, &value, &len), 0);
    return value;
}

static void net_accept__tcp__notices_a_peer_whose_machine_is_gone(void **state)
{
    (void)state;
    struct net_listener l[NET_MAX_LISTENERS];
    struct sockaddr_in to = { .sin_family = AF_INET, .sin_addr.s_addr = htonl(INADDR_LOOPBACK) };
    char peer[96];
    int n = net_listen("127.0.0.1:0", 0, l, NULL), client = socket(AF_INET, SOCK_STREAM, 0);
    assert_int_equal(n, 1);
    to.sin_port = htons((uint16_t)l[0].port);
    assert_int_equal(connect(client, (struct sockaddr *)&to, sizeof to), 0);
    int fd = net_accept(&l[0], peer, sizeof peer);
    assert_true(fd >= 0);
    assert_int_equal(option_of(fd, SOL_SOCKET, SO_KEEPALIVE), 1);
    int most_s =
        option_of(fd, IPPROTO_TCP, TCP_KEEPIDLE) +
        option_of(fd, IPPROTO_TCP, TCP_KEEPCNT) * option_of(fd, IPPROTO_TCP, TCP_KEEPINTVL);
    assert_in_range(most_s, 30, 120);
    /* with something sent that is not answered */
    assert_in_range(option_of(fd, IPPROTO_TCP, TCP_USER_TIMEOUT), 30000, 120000);
    close(fd);
    close(client);
    net_close(&l[0]);
}

static void net_listen__forms__loopback_unless_said(void **state)
{
    static const struct {
        const char *address;
        bool loopback;
    } rows[] = {
        { ":0", true },          { "0", true },    { "localhost:0", true },
        { "127.0.0.1:0", true }, { "*:0", false }, { "0.0.0.0:0", false },
    };
    (void)state;
    for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
        struct net_listener l[NET_MAX_LISTENERS];
        int n = net_listen(rows[i].address, 3333, l, NULL);
        print_message("  %s\n", rows[i].address);
        assert_true(n >= 1);
        for (int k = 0; k < n; k++) {
            assert_int_equal(l[k].loopback, rows[i].loopback);
            assert_int_equal(l[k].port, l[0].port);
            assert_int_not_equal(l[k].port, 0);
        }
        for (int k = 0; k < n; k++)
            net_close(&l[k]);
    }
}

static void server_stop__worker_goes_on__sessions_end(void **state)
{
    struct fixture *fx = *state;
    bool closed;
    int fd = dial_server(fx, false), mute = dial_server(fx, false);
    expect_reply(fx, fd, "$p5#a5", "+$00100000#81");
    assert_int_equal(gdb_server_stop(fx->server, 600000, NULL), 0);
    fx->server = NULL;
    receive_text(fx, fd, 1, &closed);
    assert_true(closed);
    receive_text(fx, mute, 1, &closed);
    assert_true(closed);
    close(fd);
    close(mute);
}

#define TEST(f) cmocka_unit_test_setup_teardown(f, start_server, stop_server)
int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(server__both_loopback_families__one_port),
        TEST(server__what_is_said_first__decides),
        TEST(server__http_of_any_method__nothing_acts),
        TEST(server__first_packet__waits_for_what_is_behind),
        TEST(server__silent_ones__give_way),
        TEST(server__no_descriptor__waits_and_serves_later),
        TEST(server__long_packet__others_are_served_and_it_ends_with_its_connection),
        TEST(server__too_many__closed_at_once),
        TEST(server__ctrl_c__halts_a_running_target),
        TEST(server__peer_that_never_reads__others_are_served),
        TEST(server__unix_socket__private_and_stale_ones_replaced),
        TEST(server__port_taken__said_by_whom),
        cmocka_unit_test(net_listen__malformed__usage_error_with_hint),
        cmocka_unit_test(net_listen__forms__loopback_unless_said),
        cmocka_unit_test(net_accept__tcp__notices_a_peer_whose_machine_is_gone),
        TEST(server_stop__worker_goes_on__sessions_end),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
