/* Connecting to a socket: TCP or UDP by name or address, or a Unix socket. For drivers in probe/
 * only. */
#ifndef PROBE_TCP_H
#define PROBE_TCP_H

#include <stdint.h>

#include "probe/base/err.h"

enum { TCP_HOST_MAX = 128, TCP_PORT_MAX = 32 };

/* tcp_parse - "HOST:PORT", "[2001:db8::1]:PORT", ":PORT" (this machine); PORT a number or a
 * service's name. Pure. host, port   TCP_HOST_MAX and TCP_PORT_MAX bytes; untouched on failure:
 * -ERR_USAGE */
int tcp_parse(const char *text, char *host, char *port, struct err *err);

/* tcp_connect - to the first of the host's addresses, IPv6 and IPv4, that answers
 * max_ns   for all addresses together; looking the name up is not part of it
 * Returns a non-blocking descriptor with keep-alive, so that a far end whose machine vanished is
 * noticed within half a minute; -ERR_USB: nobody listens, or nobody answers; -ERR_NOT_FOUND: there
 * is no such host. */
int tcp_connect(const char *host, const char *port, uint64_t max_ns, struct err *err);

/* tcp_acknowledge - at once what has come: a stub that sends its '+' and its answer apart has the
 * second held back until then (Nagle), 40 ms a question. To be said after each read; other sockets
 * ignore it. */
void tcp_acknowledge(int fd);

/* An IPv4 address and a UDP port, as on the wire. */
struct udp_address {
    uint32_t address;
    uint16_t port;
};

/* udp_find - the host's first IPv4 address
 * Returns 0; -ERR_NOT_FOUND: there is no such host, or it has none. Nothing is sent but what finds
 * the name. */
int udp_find(const char *host, const char *port, uint64_t max_ns, struct udp_address *out,
             struct err *err);

/* udp_connect - a non-blocking descriptor with a local port of its own that receives from `to`
 * alone: read() and write() move a datagram each; -ERR_USB if the system gives none */
int udp_connect(const struct udp_address *to, struct err *err);

/* unix_connect - to a Unix socket. As tcp_connect(). */
int unix_connect(const char *path, struct err *err);

#endif
