#include "profiler/bridge/net.h"
#include "probe/base/choice.h"

#include <arpa/inet.h>
#include <ctype.h>
#include <dirent.h>
#include <errno.h>
#include <limits.h>
#include <netdb.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

/* Readers of the feed may come all at once. */
enum { BACKLOG = 256, PORT_TRIES = 20 };

/* ---- who has a port ---- */

/* The inode of the socket that listens on port, from one of /proc/net's tables, tcp and tcp6; 0 if
 * none. Columns: sl local_address rem_address st ... inode; state 0A is LISTEN. Source: proc(5). */
static unsigned long listening_inode(const char *proc, const char *table, unsigned port)
{
    char path[PATH_MAX], line[512];
    unsigned long found = 0;
    snprintf(path, sizeof path, "%s/net/%s", proc, table);
    FILE *f = fopen(path, "r");
    while (f && !found && fgets(line, sizeof line, f)) {
        unsigned local, state;
        unsigned long inode;
        if (sscanf(line, " %*d: %*[0-9A-Fa-f]:%x %*[0-9A-Fa-f]:%*x %x %*s %*s %*s %*s %*s %lu",
                   &local, &state, &inode) == 3 &&
            local == port && state == 0x0A)
            found = inode;
    }
    if (f)
        fclose(f);
    return found;
}

static bool process_has(const char *proc, const char *pid, const char *link)
{
    char dir[PATH_MAX], target[64];
    bool has = false;
    snprintf(dir, sizeof dir, "%s/%.16s/fd", proc, pid);
    DIR *d = opendir(dir);
    for (struct dirent *e; d && !has && (e = readdir(d));) {
        ssize_t n = readlinkat(dirfd(d), e->d_name, target, sizeof target - 1);
        if (n > 0) {
            target[n] = 0;
            has = strcmp(target, link) == 0;
        }
    }
    if (d)
        closedir(d);
    return has;
}

static void process_name(const char *proc, const char *pid, char *buf, size_t cap)
{
    char path[PATH_MAX], name[64] = "?";
    snprintf(path, sizeof path, "%s/%.16s/comm", proc, pid);
    FILE *f = fopen(path, "r");
    if (f) {
        if (fgets(name, sizeof name, f))
            name[strcspn(name, "\n")] = 0;
        fclose(f);
    }
    snprintf(buf, cap, "%s (process %.16s)", name, pid);
}

const char *net_port_owner(const char *proc, unsigned port, char *buf, size_t cap)
{
    char link[48];
    buf[0] = 0;
    unsigned long inode = listening_inode(proc, "tcp", port);
    if (!inode)
        inode = listening_inode(proc, "tcp6", port);
    if (!inode)
        return buf;
    snprintf(link, sizeof link, "socket:[%lu]", inode);
    DIR *d = opendir(proc);
    for (struct dirent *e; d && !buf[0] && (e = readdir(d));)
        if (isdigit((unsigned char)e->d_name[0]) && process_has(proc, e->d_name, link))
            process_name(proc, e->d_name, buf, cap);
    if (d)
        closedir(d);
    return buf;
}

/* ---- TCP ---- */

static bool parse_port(const char *text, unsigned *port)
{
    char *end;
    if (!isdigit((unsigned char)text[0]))
        return false;
    unsigned long v = strtoul(text, &end, 10);
    *port = (unsigned)v;
    return !*end && v <= 65535;
}

static int parse_path(const char *path, struct net_address *a, struct err *err)
{
    if (strlen(path) >= sizeof a->path)
        return err_set(err, ERR_USAGE, "use a shorter path",
                       "%s: longer than a socket's name may be", path);
    strcpy(a->path, path);
    return 0;
}

/* The host is n bytes, an IPv6 address among them in brackets. */
static int parse_host(const char *text, const char *host, size_t n, struct net_address *a,
                      struct err *err)
{
    const char *hint = "write HOST:PORT, [V6ADDRESS]:PORT, :PORT or a path with a '/'";
    bool bracketed = n >= 2 && host[0] == '[' && host[n - 1] == ']';
    if (bracketed != (n && memchr(host, ':', n)))
        return err_set(err, ERR_USAGE, hint,
                       "address %s: an IPv6 address, and nothing else, goes in brackets", text);
    if (bracketed) {
        host++;
        n -= 2;
    }
    if (n >= sizeof a->host)
        return err_set(err, ERR_USAGE, hint, "address too long");
    memcpy(a->host, host, n);
    a->host[n] = 0;
    if (strcmp(a->host, "localhost") == 0)
        a->host[0] = 0;
    return 0;
}

int net_parse(const char *text, unsigned default_port, struct net_address *out, struct err *err)
{
    const char *hint = "write HOST:PORT, [V6ADDRESS]:PORT, :PORT or a path with a '/'";
    struct net_address a = { .port = default_port };
    const char *colon = strrchr(text, ':');
    int ret;
    if (strchr(text, '/'))
        ret = parse_path(text, &a, err);
    else if (!colon && !isdigit((unsigned char)text[0]) && text[0])
        ret = err_set(err, ERR_USAGE, hint, "address %s has no port", text);
    else if (text[0] && !parse_port(colon ? colon + 1 : text, &a.port))
        ret = err_set(err, ERR_USAGE, hint, "address %s: not a port", text);
    else
        ret = parse_host(text, text, colon ? (size_t)(colon - text) : 0, &a, err);
    if (ret == 0)
        *out = a;
    return ret;
}

static bool is_loopback(const struct sockaddr *sa)
{
    if (sa->sa_family == AF_INET)
        return ntohl(((const struct sockaddr_in *)(const void *)sa)->sin_addr.s_addr) >> 24 == 127;
    return IN6_IS_ADDR_LOOPBACK(&((const struct sockaddr_in6 *)(const void *)sa)->sin6_addr);
}

static void set_port(struct sockaddr *sa, unsigned port)
{
    if (sa->sa_family == AF_INET)
        ((struct sockaddr_in *)(void *)sa)->sin_port = htons((uint16_t)port);
    else
        ((struct sockaddr_in6 *)(void *)sa)->sin6_port = htons((uint16_t)port);
}

static void describe_address(const struct sockaddr *sa, socklen_t len, char *buf, size_t cap)
{
    char host[64] = "?", port[8] = "?";
    if (sa->sa_family == AF_UNIX) {
        snprintf(buf, cap, "unix socket");
        return;
    }
    getnameinfo(sa, len, host, sizeof host, port, sizeof port, NI_NUMERICHOST | NI_NUMERICSERV);
    snprintf(buf, cap, sa->sa_family == AF_INET6 ? "[%s]:%s" : "%s:%s", host, port);
}

/* Binds and listens; returns 0 or -errno. */
static int bind_one(const struct sockaddr *sa, socklen_t len, struct net_listener *l)
{
    struct sockaddr_storage got;
    socklen_t gotlen = sizeof got;
    int one = 1;
    int fd = socket(sa->sa_family, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);
    if (fd < 0)
        return -errno;
    if (sa->sa_family != AF_UNIX)
        setsockopt(fd, SOL_SOCKET, SO_REUSEADDR, &one, sizeof one);
    if (sa->sa_family == AF_INET6)
        setsockopt(fd, IPPROTO_IPV6, IPV6_V6ONLY, &one, sizeof one);
    if (bind(fd, sa, len) < 0 || (sa->sa_family == AF_UNIX && chmod(l->path, 0600) < 0) ||
        listen(fd, BACKLOG) < 0 || getsockname(fd, (struct sockaddr *)&got, &gotlen) < 0) {
        int e = errno;
        close(fd);
        return -e;
    }
    l->fd = fd;
    if (sa->sa_family == AF_UNIX)
        return 0;
    l->loopback = is_loopback(sa);
    l->port = ntohs(got.ss_family == AF_INET ? ((struct sockaddr_in *)(void *)&got)->sin_port
                                             : ((struct sockaddr_in6 *)(void *)&got)->sin6_port);
    describe_address((struct sockaddr *)&got, gotlen, l->name, sizeof l->name);
    return 0;
}

static int bind_failed(const char *address, unsigned port, int e, struct err *err)
{
    char owner[96], hint[192] = "choose another port, or end the program that has this one";
    if (e == EADDRINUSE && net_port_owner("/proc", port, owner, sizeof owner)[0])
        return err_set(err, ERR_IO, hint, "listen on %s: port %u is taken by %s", address, port,
                       owner);
    if (e == EADDRINUSE)
        return err_set(err, ERR_IO, hint, "listen on %s: port %u is taken", address, port);
    if (e == EACCES)
        snprintf(hint, sizeof hint, "ports below 1024 need privileges; choose a higher one");
    else if (e == EMFILE || e == ENFILE)
        snprintf(hint, sizeof hint, "raise the limit on open files (ulimit -n)");
    else
        snprintf(hint, sizeof hint, "check the address");
    return err_set(err, ERR_IO, hint, "listen on %s: %s", address, strerror(e));
}

/* Binds every address of the list; *e is the last error. A free port chosen by the first is used
 * for all. */
static int bind_all(const struct addrinfo *list, unsigned port, struct net_listener *out, int *e)
{
    int n = 0;
    for (const struct addrinfo *ai = list; ai && n < NET_MAX_LISTENERS; ai = ai->ai_next) {
        out[n] = (struct net_listener){ .fd = -1 };
        set_port(ai->ai_addr, port);
        int ret = bind_one(ai->ai_addr, ai->ai_addrlen, &out[n]);
        if (ret == -EAFNOSUPPORT || ret == -EADDRNOTAVAIL) { /* a machine without this family */
            *e = -ret;
            continue;
        }
        if (ret < 0) {
            *e = -ret;
            while (n > 0)
                net_close(&out[--n]);
            return -1;
        }
        port = out[n++].port;
    }
    return n;
}

static int resolve_host(const struct net_address *a, struct addrinfo **list, struct err *err)
{
    char port[8];
    bool any = strcmp(a->host, "*") == 0;
    const struct addrinfo hints = { .ai_family = AF_UNSPEC,
                                    .ai_socktype = SOCK_STREAM,
                                    .ai_flags = (int)bits_if(any, AI_PASSIVE) };
    snprintf(port, sizeof port, "%u", a->port);
    /* NULL: loopback, or any if passive */
    const char *host = any ? NULL : text_given(a->host);
    int e = getaddrinfo(host, port, &hints, list);
    if (e)
        return err_set(err, ERR_USAGE, "check the host's name", "address %s: %s", a->host,
                       gai_strerror(e));
    return 0;
}

static int listen_tcp(const char *text, const struct net_address *a, struct net_listener *out,
                      struct err *err)
{
    struct addrinfo *list;
    int ret = resolve_host(a, &list, err);
    if (ret < 0)
        return ret;
    int n = 0, e = 0;
    /* a free port may be free in one family only */
    for (int i = 0; i < (a->port ? 1 : PORT_TRIES); i++) {
        n = bind_all(list, a->port, out, &e);
        if (n >= 0)
            break;
    }
    freeaddrinfo(list);
    if (n <= 0)
        return bind_failed(text_or(text_given(text), "loopback"), a->port, e, err);
    return n;
}

/* ---- Unix sockets ---- */

enum place { PLACE_FREE, PLACE_LEFT_OVER, PLACE_TAKEN, PLACE_OTHER };

/* Examines what is at the path now. A socket without a listener was left by a program that died.
 * who   the listener's process, 0 if not known */
static enum place look_at(const struct sockaddr_un *sa, pid_t *who)
{
    struct stat st;
    struct ucred peer;
    socklen_t len = sizeof peer;
    *who = 0;
    if (stat(sa->sun_path, &st) < 0)
        return PLACE_FREE; /* or out of reach: binding says why */
    if (!S_ISSOCK(st.st_mode))
        return PLACE_OTHER;
    int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
    if (fd < 0)
        return PLACE_OTHER;
    bool left_over =
        connect(fd, (const struct sockaddr *)sa, sizeof *sa) < 0 && errno == ECONNREFUSED;
    if (getsockopt(fd, SOL_SOCKET, SO_PEERCRED, &peer, &len) == 0)
        *who = peer.pid;
    close(fd);
    if (left_over)
        return PLACE_LEFT_OVER;
    return PLACE_TAKEN;
}

static int path_taken(const char *path, pid_t who, struct err *err)
{
    char pid[16], name[96] = "another program";
    snprintf(pid, sizeof pid, "%ld", (long)who);
    if (who > 0)
        process_name("/proc", pid, name, sizeof name);
    return err_set(err, ERR_IO, "choose another path, or end that program",
                   "listen on %s: %s listens there", path, name);
}

static int listen_unix(const char *path, struct net_listener *l, struct err *err)
{
    struct sockaddr_un sa = { .sun_family = AF_UNIX };
    pid_t who;
    *l = (struct net_listener){ .fd = -1, .loopback = true };
    _Static_assert(sizeof sa.sun_path == sizeof l->path, "net_parse() has measured it");
    strcpy(sa.sun_path, path);
    switch (look_at(&sa, &who)) {
    case PLACE_TAKEN: return path_taken(path, who, err);
    case PLACE_OTHER:
        return err_set(err, ERR_IO, "choose another path",
                       "listen on %s: what is there is no socket", path);
    case PLACE_LEFT_OVER: unlink(path); break;
    case PLACE_FREE: break;
    }
    strcpy(l->path, path);
    snprintf(l->name, sizeof l->name, "%s", path);
    int ret = bind_one((struct sockaddr *)&sa, sizeof sa, l);
    if (ret == 0)
        return 1;
    l->path[0] = 0;
    return err_set(err, ERR_IO, "check the folder and its permissions", "listen on %s: %s", path,
                   strerror(-ret));
}

int net_listen(const char *address, unsigned default_port,
               struct net_listener out[NET_MAX_LISTENERS], struct err *err)
{
    struct net_address a;
    const char *text = text_or(address, "");
    int ret = net_parse(text, default_port, &a, err);
    if (ret < 0)
        return ret;
    if (*a.path)
        return listen_unix(a.path, out, err);
    return listen_tcp(text, &a, out, err);
}

void net_close(struct net_listener *l)
{
    if (l->fd >= 0)
        close(l->fd);
    if (l->fd >= 0 && l->path[0])
        unlink(l->path);
    l->fd = -1;
}

/* Keep-alive: a peer whose machine lost its power or its network sends nothing any more, not even
 * an end. It is probed after half a minute of silence, and given up a minute later. For a debugger
 * that only waits, its kernel answers the probes. */
static void notice_dead_peer(int fd)
{
    const int on = 1, idle_s = 30, every_s = 10, asks = 6;
    const unsigned unanswered_ms = 90000;
    setsockopt(fd, SOL_SOCKET, SO_KEEPALIVE, &on, sizeof on);
    setsockopt(fd, IPPROTO_TCP, TCP_KEEPIDLE, &idle_s, sizeof idle_s);
    setsockopt(fd, IPPROTO_TCP, TCP_KEEPINTVL, &every_s, sizeof every_s);
    setsockopt(fd, IPPROTO_TCP, TCP_KEEPCNT, &asks, sizeof asks);
    setsockopt(fd, IPPROTO_TCP, TCP_USER_TIMEOUT, &unanswered_ms, sizeof unanswered_ms);
}

int net_accept(const struct net_listener *l, char *peer, size_t cap)
{
    struct sockaddr_storage from;
    socklen_t len = sizeof from;
    int one = 1;
    int fd = accept4(l->fd, (struct sockaddr *)&from, &len, SOCK_NONBLOCK | SOCK_CLOEXEC);
    if (fd < 0)
        return -1;
    if (from.ss_family != AF_UNIX) {
        setsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &one, sizeof one);
        notice_dead_peer(fd);
    }
    describe_address((struct sockaddr *)&from, len, peer, cap);
    return fd;
}

int net_first_byte(int fd)
{
    unsigned char byte;
    ssize_t n = recv(fd, &byte, 1, MSG_PEEK | MSG_DONTWAIT);
    if (n == 1)
        return byte;
    if (n < 0 && (errno == EAGAIN || errno == EINTR))
        return -1;
    return -2;
}
