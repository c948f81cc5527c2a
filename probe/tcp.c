/* The one file of probe/ that knows sockets: a remote stub is an adapter whose cable is a network.
 */
#include "probe/tcp.h"

#include <errno.h>
#include <fcntl.h>
#include <netdb.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <poll.h>
#include <pthread.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <time.h>
#include <unistd.h>

#include "probe/base/choice.h"
#include "probe/base/util.h"
#include "probe/host_time.h"
#include "probe/stream_fd.h"

enum { IDLE_S = 10, BETWEEN_S = 5, PROBES = 3, LOST_MS = 25000 };
static const char start_it[] = "is the stub or emulator running, and waiting there? "
                               "(qemu-system-sh4 -gdb tcp::1234, dc-tool -g)";

static int refuse_address(const char *text, struct err *err)
{
    return err_set(err, ERR_USAGE, "for example localhost:1234, [::1]:1234, :1234",
                   "'%.60s' is not HOST:PORT", text);
}

int tcp_parse(const char *text, char *host, char *port, struct err *err)
{
    const char *end = strrchr(text, ':'), *from = text;
    if (!end || !end[1] || strlen(end + 1) >= TCP_PORT_MAX)
        return refuse_address(text, err);
    size_t n = (size_t)(end - text);
    if (*from == '[') {
        if (n < 3 || from[n - 1] != ']')
            return refuse_address(text, err);
        from++;
        n -= 2;
    } else if (memchr(from, ':', n)) { /* an IPv6 address whose last part may be a port */
        return refuse_address(text, err);
    }
    if (n >= TCP_HOST_MAX)
        return refuse_address(text, err);
    if (n)
        snprintf(host, TCP_HOST_MAX, "%.*s", (int)n, from);
    else
        strcpy(host, "localhost");
    snprintf(port, TCP_PORT_MAX, "%s", end + 1);
    return 0;
}

/* Waits for connect() to end; 0 or an errno. */
static int wait_connected(int fd, uint64_t until)
{
    struct pollfd p = { .fd = fd, .events = POLLOUT };
    int error = 0, n;
    socklen_t len = sizeof error;
    do {
        uint64_t now = host_ns(), left = EXCESS(until, now);
        n = ppoll(&p, 1,
                  &(struct timespec){ .tv_sec = (time_t)(left / 1000000000u),
                                      .tv_nsec = (long)(left % 1000000000u) },
                  NULL);
    } while (n < 0 && errno == EINTR);
    if (n < 0)
        return errno;
    if (n == 0)
        return ETIMEDOUT;
    if (getsockopt(fd, SOL_SOCKET, SO_ERROR, &error, &len) < 0)
        return errno;
    return error;
}

/* A descriptor, or -errno. */
static int try_address(const struct addrinfo *a, uint64_t until)
{
    int fd = socket(a->ai_family, a->ai_socktype | SOCK_NONBLOCK | SOCK_CLOEXEC, a->ai_protocol),
        error = 0;
    if (fd < 0)
        return -errno;
    if (connect(fd, a->ai_addr, a->ai_addrlen) < 0)
        error = errno;
    if (error == EINPROGRESS)
        error = wait_connected(fd, until);
    if (!error)
        return fd;
    close(fd);
    return -error;
}

/* Packets are small and each is waited for; a silent peer is asked whether it is still there. On a
 * system that lacks one of these options the connection works without it. */
static void set_options(int fd)
{
    const struct {
        int level, name, value;
    } rows[] = {
        { IPPROTO_TCP, TCP_NODELAY, 1 },       { SOL_SOCKET, SO_KEEPALIVE, 1 },
        { IPPROTO_TCP, TCP_KEEPIDLE, IDLE_S }, { IPPROTO_TCP, TCP_KEEPINTVL, BETWEEN_S },
        { IPPROTO_TCP, TCP_KEEPCNT, PROBES },  { IPPROTO_TCP, TCP_USER_TIMEOUT, LOST_MS },
    };
    for (size_t i = 0; i < ARRAY_LEN(rows); i++)
        (void)!setsockopt(fd, rows[i].level, rows[i].name, &rows[i].value, sizeof rows[i].value);
}

void tcp_acknowledge(int fd)
{
    const int on = 1;
    (void)!setsockopt(fd, IPPROTO_TCP, TCP_QUICKACK, &on, sizeof on);
}

/* ---- names ---- */

/* getaddrinfo() knows no deadline: it runs in a thread of its own, which is abandoned when the
 * time is over. */
struct lookup {
    pthread_mutex_t lock;
    pthread_cond_t changed;
    bool done, left;
    int gai;
    struct addrinfo *found;
    char host[TCP_HOST_MAX], port[TCP_PORT_MAX];
};

static const struct addrinfo wanted = { .ai_socktype = SOCK_STREAM };

static void free_lookup(struct lookup *k)
{
    if (k->found)
        freeaddrinfo(k->found);
    pthread_cond_destroy(&k->changed);
    pthread_mutex_destroy(&k->lock);
    free(k);
}

static void *look_up(void *ctx)
{
    struct lookup *k = ctx;
    struct addrinfo *found = NULL;
    int gai = getaddrinfo(k->host, k->port, &wanted, &found);
    pthread_mutex_lock(&k->lock);
    k->gai = gai;
    if (gai == 0)
        k->found = found;
    k->done = true;
    bool left = k->left;
    pthread_cond_signal(&k->changed);
    pthread_mutex_unlock(&k->lock);
    if (left)
        free_lookup(k);
    return NULL;
}

static struct lookup *new_lookup(const char *host, const char *port)
{
    struct lookup *k = calloc(1, sizeof *k);
    pthread_condattr_t attr;
    if (!k)
        return NULL;
    snprintf(k->host, sizeof k->host, "%s", host);
    snprintf(k->port, sizeof k->port, "%s", port);
    pthread_mutex_init(&k->lock, NULL);
    pthread_condattr_init(&attr);
    pthread_condattr_setclock(&attr, CLOCK_MONOTONIC);
    pthread_cond_init(&k->changed, &attr);
    pthread_condattr_destroy(&attr);
    return k;
}

/* As getaddrinfo(); EAI_AGAIN at the deadline. */
static int find_host(const char *host, const char *port, uint64_t until, struct addrinfo **out)
{
    const struct timespec end = { .tv_sec = (time_t)(until / 1000000000u),
                                  .tv_nsec = (long)(until % 1000000000u) };
    const struct addrinfo number = { .ai_socktype = SOCK_STREAM, .ai_flags = AI_NUMERICHOST };
    pthread_t thread;
    if (getaddrinfo(host, port, &number, out) == 0)
        return 0;
    struct lookup *k = new_lookup(host, port);
    if (!k || pthread_create(&thread, NULL, look_up, k)) {
        if (k)
            free_lookup(k);
        return EAI_MEMORY;
    }
    pthread_detach(thread);
    pthread_mutex_lock(&k->lock);
    for (int late = 0; !k->done && !late;)
        late = pthread_cond_timedwait(&k->changed, &k->lock, &end);
    bool done = k->done;
    int gai = EAI_AGAIN;
    if (done)
        gai = k->gai;
    k->left = !done;
    *out = k->found;
    k->found = NULL;
    pthread_mutex_unlock(&k->lock);
    if (done)
        free_lookup(k);
    return gai;
}

int tcp_connect(const char *host, const char *port, uint64_t max_ns, struct err *err)
{
    struct addrinfo *all = NULL;
    uint64_t until = host_ns() + max_ns;
    int fd = -ECONNREFUSED, left = 0, gai = find_host(host, port, until, &all);
    if (gai)
        return err_set(err, ERR_NOT_FOUND, "an address as a number works without name service",
                       "%s:%s: %s", host, port, gai_strerror(gai));
    for (struct addrinfo *a = all; a; a = a->ai_next)
        left++;
    /* each its share: a silent one does not cost the others theirs */
    for (struct addrinfo *a = all; a && fd < 0; a = a->ai_next, left--) {
        uint64_t now = host_ns();
        if (now < until)
            fd = try_address(a, now + (until - now) / (uint64_t)left);
        else
            fd = -ETIMEDOUT;
    }
    freeaddrinfo(all);
    if (fd < 0)
        return err_set(err, ERR_USB, start_it, "%s:%s: %s", host, port, strerror(-fd));
    set_options(fd);
    return fd;
}

int udp_find(const char *host, const char *port, uint64_t max_ns, struct udp_address *out,
             struct err *err)
{
    struct addrinfo *all = NULL;
    int gai = find_host(host, port, host_ns() + max_ns, &all);
    if (gai)
        return err_set(err, ERR_NOT_FOUND, "an address as a number works without name service",
                       "%s:%s: %s", host, port, gai_strerror(gai));
    const struct addrinfo *a = all;
    while (a && a->ai_family != AF_INET)
        a = a->ai_next;
    if (a) {
        struct sockaddr_in in;
        memcpy(&in, a->ai_addr, sizeof in);
        *out = (struct udp_address){ in.sin_addr.s_addr, in.sin_port };
    }
    bool have = a;
    freeaddrinfo(all);
    if (have)
        return 0;
    return err_set(err, ERR_NOT_FOUND, "name its IPv4 address", "%s:%s: no IPv4 address", host,
                   port);
}

int udp_connect(const struct udp_address *to, struct err *err)
{
    struct sockaddr_in in = { .sin_family = AF_INET,
                              .sin_addr.s_addr = to->address,
                              .sin_port = to->port };
    int fd = socket(AF_INET, SOCK_DGRAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);
    if (fd >= 0 && connect(fd, (struct sockaddr *)&in, sizeof in) == 0)
        return fd;
    int error = errno;
    if (fd >= 0)
        close(fd);
    return err_set(err, ERR_USB, "is the network up? `ip route get ADDRESS` tells", "UDP: %s",
                   strerror(error));
}

int unix_connect(const char *path, struct err *err)
{
    struct sockaddr_un to = { .sun_family = AF_UNIX };
    if (snprintf(to.sun_path, sizeof to.sun_path, "%s", path) >= (int)sizeof to.sun_path)
        return err_set(err, ERR_USAGE, "give it a shorter name", "%.60s...: too long for a socket",
                       path);
    int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);
    if (fd >= 0 && connect(fd, (struct sockaddr *)&to, sizeof to) == 0)
        return fd;
    int error = errno;
    if (fd >= 0)
        close(fd);
    return err_set(err, ERR_USB, start_it, "%s: %s", path, strerror(error));
}
