/* CMSIS-DAP v1: one HID report each way, through hidapi and the kernel's hidraw. The kernel keeps
 * up to 64 reports that nobody has read yet, so answers of several requests may wait; the probe
 * drops a request that finds its buffers full, without an error, so the caller counts how many are
 * outstanding. */
#include "probe/cmsis_dap.h"

#include <errno.h>
#include <hidapi/hidapi.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "probe/base/choice.h"
#include "probe/base/util.h"
#include "probe/holder.h"

enum { QUIET_MS = 20, DRAIN_READS = 64, MAX_DESCRIPTOR = 4096 };

struct hid_link {
    struct dap_link link;
    hid_device *hid;
    const struct log *log;
    char where[32];
    uint64_t transfers, bytes;
};

static struct hid_link *hid_of(struct dap_link *l)
{
    return CONTAINER_OF(l, struct hid_link, link);
}

/* "/dev/hidraw3" -> "hidraw3" */
static const char *node_name(const char *path)
{
    const char *slash = strrchr(path, '/');
    if (slash)
        return slash + 1;
    return path;
}

/* The directory of a node's HID device in sysfs goes through its place on the bus:
 * .../1-2.3/1-2.3:1.0/0003:.../ */
static bool at_place(const char *path, const struct usb_info *dev)
{
    char link[96], real[PATH_MAX], part[48];
    snprintf(link, sizeof link, "/sys/class/hidraw/%s/device", node_name(path));
    if (!realpath(link, real))
        return true; /* no sysfs: ids, serial number and interface have to do */
    snprintf(part, sizeof part, "/%s:", dev->bus_path);
    return strstr(real, part) != NULL;
}

static bool same_serial(const wchar_t *wide, const char *serial)
{
    char text[4 * sizeof((struct usb_info *)0)->serial];
    if (!wide || !serial[0])
        return true;
    size_t n = wcstombs(text, wide, sizeof text - 1);
    if (n == (size_t)-1)
        return true;
    text[n] = 0;
    return strcmp(text, serial) == 0;
}

/* Better ones have higher ranks; 0: not this interface. */
static int rank_device(const struct hid_device_info *i, const struct usb_info *dev,
                       uint8_t interface)
{
    if (!at_place(i->path, dev) || !same_serial(i->serial_number, dev->serial))
        return 0;
    if (dap_quirks(dev)->usage_ff00 && i->usage_page == 0xFF00)
        return 3;
    if (i->interface_number == interface)
        return 2;
    if (i->interface_number < 0)
        return 1;
    return 0; /* the kernel does not report it */
}

static bool find_node(const struct usb_info *dev, uint8_t interface, char *path, size_t cap)
{
    struct hid_device_info *all = hid_enumerate(dev->vid, dev->pid), *best = NULL;
    int best_rank = 0;
    for (struct hid_device_info *i = all; i; i = i->next)
        if (rank_device(i, dev, interface) > best_rank) {
            best_rank = rank_device(i, dev, interface);
            best = i;
        }
    if (best)
        snprintf(path, cap, "%s", best->path);
    hid_free_enumeration(all);
    return best != NULL;
}

/* The report descriptor is what says how long reports are; hidapi 0.13 has no call for it. */
static size_t report_size(const char *path, const struct usb_info *dev)
{
    uint8_t d[MAX_DESCRIPTOR];
    char name[96];
    size_t n = 0;
    snprintf(name, sizeof name, "/sys/class/hidraw/%s/device/report_descriptor", node_name(path));
    FILE *f = fopen(name, "rb");
    if (f) {
        n = fread(d, 1, sizeof d, f);
        fclose(f);
    }
    n = dap_report_bytes(d, n);
    if (n == 0)
        n = dap_quirks(dev)->report;
    if (n)
        return n;
    return DAP_MIN_PACKET;
}

static void hid_link_close(struct dap_link *l)
{
    if (!l)
        return;
    if (hid_of(l)->hid)
        hid_close(hid_of(l)->hid);
    free(hid_of(l));
}

static int no_node(const struct usb_info *dev, uint8_t interface, struct err *err)
{
    return err_set(
        err, ERR_USB,
        "is the kernel's hidraw there (/dev/hidraw*)? has another program detached its driver?",
        "HID %s: no hidraw node for interface %u", dev->bus_path, interface);
}

static int no_access(const char *path, const struct usb_info *dev, struct err *err)
{
    return err_set(err, ERR_USB,
                   "install the udev rules (60-probeprof.rules), plug the adapter in again",
                   "HID %s: %s cannot be opened (%s)", dev->bus_path, path, strerror(errno));
}

/* The kernel lets any number of programs open the node, and each then gets all answers. */
static int hid_link_check(const struct usb_info *dev, uint8_t interface, struct err *err)
{
    char path[96], who[80];
    if (!find_node(dev, interface, path, sizeof path))
        return no_node(dev, interface, err);
    if (access(path, R_OK | W_OK) != 0)
        return no_access(path, dev, err);
    if (holder_find("/proc", path, who, sizeof who))
        return err_set(err, ERR_USB, "end that program: two on one HID get each other's answers",
                       "HID %s: %s is held by %s", dev->bus_path, path, who);
    return 0;
}

static int hid_link_open(const struct usb_info *dev, uint8_t interface, const struct log *log,
                         struct dap_link **out, struct err *err)
{
    char path[96];
    int ret = hid_link_check(dev, interface, err);
    if (ret < 0)
        return ret;
    struct hid_link *h = calloc(1, sizeof *h);
    if (!h)
        return err_set(err, ERR_NOMEM, "", "CMSIS-DAP: out of memory");
    bool there = find_node(dev, interface, path, sizeof path);
    if (there)
        h->hid = hid_open_path(path);
    else
        h->hid = NULL;
    if (!h->hid) {
        free(h);
        if (there)
            return no_access(path, dev, err);
        return no_node(dev, interface, err);
    }
    h->log = log;
    snprintf(h->where, sizeof h->where, "%s", dev->bus_path);
    h->link = (struct dap_link){ &dap_v1, report_size(path, dev), 0, false, 0 };
    log_msg(log, LOG_USB, "%s %s: reports of %zu bytes", h->where, path, h->link.packet);
    *out = &h->link;
    return 0;
}

static void log_report(const struct hid_link *h, char way, const uint8_t *data, size_t n)
{
    char hex[3 * 24 + 1] = "";
    if (!h->log || !(h->log->enabled >> LOG_USB & 1))
        return;
    for (size_t i = 0; i < MIN(n, (size_t)24); i++)
        snprintf(hex + 3 * i, 4, " %02x", data[i]);
    log_msg(h->log, LOG_USB, "%s %c HID:%s%s", h->where, way, hex, text_if(n > 24, " ..."));
}

static int report_failed(const struct hid_link *h, const char *doing, struct err *err)
{
    return err_set(err, ERR_USB, "plug it in again", "HID %s: %s failed: unplugged?", h->where,
                   doing);
}

static int hid_link_write(struct dap_link *l, uint8_t *data, size_t len, unsigned timeout_ms,
                          struct err *err)
{
    struct hid_link *h = hid_of(l);
    (void)timeout_ms; /* the kernel's, 5 s */
    data[0] = 0;      /* reports have no number */
    memset(data + 1 + len, 0, l->packet - len);
    log_report(h, '>', data + 1, len);
    if (hid_write(h->hid, data, 1 + l->packet) < 0)
        return report_failed(h, "writing", err);
    h->transfers++;
    h->bytes += l->packet;
    return 0;
}

static int hid_link_read(struct dap_link *l, uint8_t *buf, unsigned timeout_ms, struct err *err)
{
    struct hid_link *h = hid_of(l);
    int n = hid_read_timeout(h->hid, buf, l->packet, (int)MIN(timeout_ms, (unsigned)INT_MAX));
    if (n < 0)
        return report_failed(h, "reading", err);
    if (n == 0)
        return err_set(err, ERR_TIMEOUT, "unplug the adapter if this stays",
                       "HID %s: no answer in time", h->where);
    log_report(h, '<', buf, (size_t)n);
    h->transfers++;
    h->bytes += (size_t)n;
    return n;
}

static int hid_link_send(struct dap_link *l, unsigned slot, struct dap_packet *p, struct err *err)
{
    (void)slot;
    return hid_link_write(l, p->out, p->len, 0, err);
}

static int hid_link_receive(struct dap_link *l, unsigned slot, struct dap_packet *p,
                            unsigned timeout_ms, struct err *err)
{
    (void)slot;
    return hid_link_read(l, p->in, timeout_ms, err);
}

static void hid_link_cancel(struct dap_link *l) { (void)l; }

static int hid_link_drain(struct dap_link *l, struct err *err)
{
    struct hid_link *h = hid_of(l);
    uint8_t waste[DAP_MAX_PACKET];
    int dropped = 0;
    for (unsigned i = 0; i < DRAIN_READS; i++) {
        int n = hid_read_timeout(h->hid, waste, l->packet, QUIET_MS);
        if (n < 0)
            return report_failed(h, "reading", err);
        if (n == 0)
            break;
        dropped += n;
    }
    return dropped;
}

/* The kernel's HID driver gives the interface up for that, and takes it back; the node may have
 * another number afterwards. */
static int hid_link_revive(const struct usb_info *dev, uint8_t interface, struct err *err)
{
    struct usb *u;
    int ret = usb_open(dev, interface, NULL, &u, err);
    if (ret < 0)
        return ret;
    ret = usb_reset(u, err);
    usb_close(u);
    return ret;
}

static void hid_link_stats(const struct dap_link *l, uint64_t *transfers, uint64_t *bytes)
{
    const struct hid_link *h = CONTAINER_OF(l, struct hid_link, link);
    if (transfers)
        *transfers = h->transfers;
    if (bytes)
        *bytes = h->bytes;
}

const struct dap_transport dap_v1 = {
    .name = "HID",
    .reports = true,
    .check = hid_link_check,
    .open = hid_link_open,
    .close = hid_link_close,
    .write = hid_link_write,
    .read = hid_link_read,
    .send = hid_link_send,
    .receive = hid_link_receive,
    .cancel = hid_link_cancel,
    .drain = hid_link_drain,
    .revive = hid_link_revive,
    .stats = hid_link_stats,
};
