/* /dev/hidrawN (linux/hidraw.h): what the kernel's usbhid and hidraw drivers make of a HID interface. While a program has the node
 * open, input reports are fetched all the time and kept, 64 at most; one too many is dropped, as the kernel does.
 * The node is a pty of ours: one byte lies in it while a report is kept, so that poll() tells the truth. */
#include <errno.h>
#include <fcntl.h>
#include <linux/hidraw.h>
#include <linux/input.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <termios.h>
#include <unistd.h>

#include "probe/base/bytes.h"
#include "probe/base/util.h"
#include "tests/usb/rig.h"

enum { REPORTS = 64, REPORT_MAX = 1024, SET_REPORT = 9, GET_REPORT = 1, FEATURE = 3 };
#define WRITE_LIMIT_NS 5000000000u /* USB_CTRL_SET_TIMEOUT, which usbhid uses for output reports, too */
#define LATE_NS 1500000000u        /* an answer held back by fault=timeout comes after this */

struct hidraw {
    struct node *node;
    char devnode[24];
    UMockdevIoctlBase *handler;
    int master, slave;
    unsigned opened, interface;
    struct bus_ep *in, *out;
    struct { uint8_t data[REPORT_MAX]; size_t len; uint64_t at_ns; } report[REPORTS]; /* at_ns: virtual, when it is there */
    unsigned first, n;
    bool byte;                       /* lies in the pty */
    UMockdevIoctlClient *reader;     /* blocked in read() */
    struct urb urb;                  /* fetches reports */
    uint8_t buf[REPORT_MAX];
    bool fetching;
    uint64_t dead_since_ns;
    struct urb write;
    uint8_t write_buf[8 + REPORT_MAX];
    UMockdevIoctlClient *writer;     /* its write() or feature ioctl is under way */
    UMockdevIoctlData *writer_data;  /* where a feature report goes */
    uint64_t write_since_ns;
};

/* A call that is answered later: umockdev drops its client after the handler, unless somebody holds it. */
static UMockdevIoctlClient *hold(UMockdevIoctlClient *client) { return g_object_ref(client); }
static void complete(UMockdevIoctlClient *client, glong result, gulong e)
{
    umockdev_ioctl_client_complete(client, result, e);
    g_object_unref(client);
}

/* ---- reading ---- */

static bool there(const struct hidraw *h)
{
    const struct bus *b = &h->node->rig->bus;
    return h->n > 0 && (!b->virtual_time || h->report[h->first].at_ns <= b->now_ns);
}

static void show(struct hidraw *h)
{
    bool want = there(h);
    if (want == h->byte || h->slave < 0)
        return;
    h->byte = want;
    if (!want)
        tcflush(h->slave, TCIFLUSH);
    else if (write(h->master, "r", 1) != 1)
        h->byte = false;
}

static void give(struct hidraw *h, UMockdevIoctlClient *client)
{
    UMockdevIoctlData *arg = umockdev_ioctl_client_get_arg(client);
    size_t len = MIN(h->report[h->first].len, (size_t)arg->data_len);
    umockdev_ioctl_data_update(arg, 0, h->report[h->first].data, (gint)len);
    h->first = (h->first + 1) % REPORTS;
    h->n--;
    show(h);
    umockdev_ioctl_client_complete(client, (glong)len, 0);
}

static void fetch(struct hidraw *h)
{
    if (h->fetching || !h->in || h->node->gone || h->opened == 0)
        return;
    h->fetching = true;
    h->urb.ep = h->in->address;
    h->urb.buf = h->buf;
    h->urb.len = MIN(h->in->mps, REPORT_MAX);
    bus_submit(h->node->dev, &h->urb);
}

/* After a report has come, or virtual time went on. */
void hidraw_update(struct node *n)
{
    struct hidraw *h = n->hid;
    if (h && h->reader && there(h)) {
        UMockdevIoctlClient *client = h->reader;
        h->reader = NULL;
        give(h, client);
        g_object_unref(client);
    }
    if (h)
        show(h);
}

uint64_t hidraw_next_ns(const struct node *n)
{
    const struct hidraw *h = n->hid;
    return h && h->n > 0 && !there(h) ? h->report[h->first].at_ns : UINT64_MAX;
}

static void fetched(struct urb *u)
{
    struct hidraw *h = CONTAINER_OF(u, struct hidraw, urb);
    h->fetching = false;
    h->dead_since_ns = 0;
    if (u->status == -EPIPE)
        bus_clear_halt(h->node->dev, u->ep);
    if (u->status == 0 && u->done > 0 && h->n < REPORTS && h->opened) {
        unsigned at = (h->first + h->n++) % REPORTS;
        memcpy(h->report[at].data, u->buf, u->done);
        h->report[at].len = u->done;
        h->report[at].at_ns = u->at_ns;
        h->node->dev->most_ahead = MAX(h->node->dev->most_ahead, h->n);
    }
    hidraw_update(h->node);
    if (u->status != -ESHUTDOWN)
        fetch(h);
}

static gboolean on_read(UMockdevIoctlBase *handler, UMockdevIoctlClient *client, gpointer ctx)
{
    struct hidraw *h = ctx;
    (void)handler;
    pthread_mutex_lock(&h->node->rig->lock);
    h->node->rig->requests++;
    bus_tick(&h->node->rig->bus);
    if (h->node->gone)
        umockdev_ioctl_client_complete(client, -1, EIO);
    else if (there(h))
        give(h, client);
    else
        h->reader = hold(client);
    pthread_mutex_unlock(&h->node->rig->lock);
    return TRUE;
}

/* ---- writing ---- */

static void written(struct urb *u)
{
    struct hidraw *h = CONTAINER_OF(u, struct hidraw, write);
    UMockdevIoctlClient *client = h->writer;
    long result = (long)(u->ep ? u->done : u->len - 8) + 1; /* the report's number counts */
    h->writer = NULL;
    h->node->rig->bus.now_ns = MAX(h->node->rig->bus.now_ns, u->at_ns);
    if (u->status == 0 && h->writer_data && (u->buf[0] & 0x80)) {
        umockdev_ioctl_data_update(h->writer_data, 1, u->buf + 8, (gint)u->done);
        result = (long)u->done + 1;
    }
    if (h->writer_data)
        umockdev_ioctl_data_unref(h->writer_data);
    h->writer_data = NULL;
    hidraw_update(h->node);
    if (u->status == -EPIPE && u->ep)
        bus_clear_halt(h->node->dev, u->ep);
    if (client)
        complete(client, u->status ? -1 : result, (gulong)(u->status == -ENOENT ? ETIMEDOUT : -u->status));
}

static void control_report(struct hidraw *h, bool get, uint8_t type, uint8_t number, size_t len)
{
    uint8_t *s = h->write_buf;
    s[0] = get ? 0xA1 : 0x21;
    s[1] = get ? GET_REPORT : SET_REPORT;
    s[2] = number;
    s[3] = type;
    put_le16(s + 4, (uint16_t)h->interface);
    put_le16(s + 6, (uint16_t)len);
    h->write.ep = 0;
    h->write.len = 8 + len;
}

static int start_write(struct hidraw *h, UMockdevIoctlClient *client)
{
    if (h->writer || h->node->gone)
        return h->node->gone ? ENODEV : EBUSY;
    h->writer = hold(client);
    h->write.buf = h->write_buf;
    h->write.complete = written;
    h->write_since_ns = bus_host_ns();
    bus_submit(h->node->dev, &h->write);
    return 0;
}

static gboolean on_write(UMockdevIoctlBase *handler, UMockdevIoctlClient *client, gpointer ctx)
{
    struct hidraw *h = ctx;
    (void)handler;
    pthread_mutex_lock(&h->node->rig->lock);
    h->node->rig->requests++;
    UMockdevIoctlData *arg = umockdev_ioctl_client_get_arg(client);
    size_t len = MIN((size_t)arg->data_len, REPORT_MAX + 1);
    int e = len < 2 ? EINVAL : 0;
    if (!e && !h->writer) {
        bool ep = h->out != NULL;
        if (!ep)
            control_report(h, false, 2, arg->data[0], len - 1);
        else
            h->write.ep = h->out->address, h->write.len = len - 1;
        memcpy(h->write_buf + (ep ? 0 : 8), arg->data + 1, len - 1);
    }
    e = e ? e : start_write(h, client);
    if (e)
        umockdev_ioctl_client_complete(client, -1, e);
    pthread_mutex_unlock(&h->node->rig->lock);
    return TRUE;
}

/* ---- ioctls ---- */

static int answer(UMockdevIoctlClient *client, size_t size, const void *from, size_t n)
{
    UMockdevIoctlData *d = umockdev_ioctl_data_resolve(umockdev_ioctl_client_get_arg(client), 0, size, NULL);
    if (!d) /* the client was killed meanwhile */
        return EFAULT;
    umockdev_ioctl_data_update(d, 0, (guint8 *)from, (gint)MIN(n, size));
    umockdev_ioctl_data_unref(d);
    return 0;
}

static const char *text_of(const struct bus_dev *d, unsigned index)
{
    if (d->serial[0] && index && index == d->model->id.device[16])
        return d->serial;
    for (unsigned i = 1; index && d->model->id.strings && d->model->id.strings[i]; i++)
        if (i == index)
            return d->model->id.strings[i];
    return "";
}

static int feature(struct hidraw *h, UMockdevIoctlClient *client, bool get, size_t size)
{
    UMockdevIoctlData *d = umockdev_ioctl_data_resolve(umockdev_ioctl_client_get_arg(client), 0, size, NULL);
    if (!d)
        return EFAULT;
    if (size < 2 || size > REPORT_MAX || h->writer) {
        umockdev_ioctl_data_unref(d);
        return EINVAL;
    }
    control_report(h, get, FEATURE, d->data[0], size - 1);
    memcpy(h->write_buf + 8, d->data + 1, size - 1);
    h->writer_data = d;
    return start_write(h, client);
}

/* Returns -1 if the answer comes later. */
static int request(struct hidraw *h, UMockdevIoctlClient *client, int *result)
{
    gulong code = umockdev_ioctl_client_get_request(client);
    const struct bus_dev *d = h->node->dev;
    size_t size = _IOC_SIZE(code);
    if (h->node->gone)
        return ENODEV;
    const struct usb_model_identity *id = &d->model->id;
    if (code == HIDIOCGRDESCSIZE) {
        int n = (int)id->hid_report_len;
        return answer(client, sizeof n, &n, sizeof n);
    }
    if (code == HIDIOCGRDESC) {
        struct hidraw_report_descriptor r = { .size = (uint32_t)id->hid_report_len };
        memcpy(r.value, id->hid_report, MIN(id->hid_report_len, sizeof r.value));
        return answer(client, sizeof r, &r, 4 + id->hid_report_len);
    }
    if (code == HIDIOCGRAWINFO) {
        struct hidraw_devinfo info = { BUS_USB, (int16_t)le16(id->device + 8), (int16_t)le16(id->device + 10) };
        return answer(client, sizeof info, &info, sizeof info);
    }
    char text[256] = "";
    switch (_IOC_TYPE(code) == 'H' ? _IOC_NR(code) : 0) {
    case 0x04: snprintf(text, sizeof text, "%s %s", text_of(d, id->device[14]), text_of(d, id->device[15])); break;
    case 0x05: snprintf(text, sizeof text, "usb-0000:00:14.0-%s/input%u", d->path + 2, h->interface); break;
    case 0x08: snprintf(text, sizeof text, "%s", text_of(d, id->device[16])); break;
    case 0x06: return feature(h, client, false, size) ? EINVAL : -1;
    case 0x07: return feature(h, client, true, size) ? EINVAL : -1;
    default: return ENOTTY;
    }
    *result = (int)MIN(strlen(text) + 1, size);
    return answer(client, size, text, strlen(text) + 1);
}

static gboolean on_ioctl(UMockdevIoctlBase *handler, UMockdevIoctlClient *client, gpointer ctx)
{
    struct hidraw *h = ctx;
    int result = 0;
    (void)handler;
    pthread_mutex_lock(&h->node->rig->lock);
    h->node->rig->requests++;
    int e = request(h, client, &result);
    if (e >= 0)
        umockdev_ioctl_client_complete(client, e ? -1 : result, e);
    pthread_mutex_unlock(&h->node->rig->lock);
    return TRUE;
}

/* ---- open and close ---- */

static void on_closed(gpointer ctx, GObject *client)
{
    struct hidraw *h = ctx;
    pthread_mutex_lock(&h->node->rig->lock);
    if ((GObject *)h->reader == client)
        h->reader = NULL;
    if ((GObject *)h->writer == client)
        h->writer = NULL;
    if (--h->opened == 0) {
        h->n = 0;
        show(h);
        if (h->fetching && !h->node->gone)
            bus_cancel(h->node->dev, &h->urb);
    }
    pthread_mutex_unlock(&h->node->rig->lock);
}

static void on_opened(UMockdevIoctlBase *handler, UMockdevIoctlClient *client, gpointer ctx)
{
    struct hidraw *h = ctx;
    (void)handler;
    g_object_weak_ref(G_OBJECT(client), on_closed, ctx);
    pthread_mutex_lock(&h->node->rig->lock);
    h->opened++;
    fetch(h);
    pthread_mutex_unlock(&h->node->rig->lock);
}

/* Waits that nobody gives up by himself. */
void hidraw_tick(struct node *n)
{
    struct hidraw *h = n->hid;
    uint64_t now = bus_host_ns();
    if (!h || n->gone)
        return;
    uint64_t limit = n->dev->hid_limit_ns ? n->dev->hid_limit_ns : WRITE_LIMIT_NS;
    if (h->writer && now - h->write_since_ns > limit)
        bus_cancel(n->dev, &h->write);
    if (!h->fetching || !h->urb.dead)
        h->dead_since_ns = 0;
    else if (!h->dead_since_ns)
        h->dead_since_ns = now;
    else if (now - h->dead_since_ns > LATE_NS)
        bus_cancel(n->dev, &h->urb);
}

static int open_pty(struct hidraw *h, char *name, size_t cap)
{
    struct termios t;
    h->master = posix_openpt(O_RDWR | O_NOCTTY | O_CLOEXEC);
    if (h->master < 0 || grantpt(h->master) < 0 || unlockpt(h->master) < 0 || ptsname_r(h->master, name, cap) != 0)
        return -1;
    h->slave = open(name, O_RDWR | O_NOCTTY | O_CLOEXEC);
    if (h->slave < 0 || tcgetattr(h->slave, &t) < 0)
        return -1;
    cfmakeraw(&t);
    return tcsetattr(h->slave, TCSANOW, &t);
}

static void find_endpoints(struct hidraw *h)
{
    struct bus_dev *d = h->node->dev;
    for (unsigned i = 0; i < d->nitfs; i++)
        if (d->itf[i].cls == 3)
            h->interface = d->itf[i].number;
    for (unsigned i = 1; i < d->neps; i++) {
        struct bus_ep *ep = &d->ep[i];
        if (ep->interface == h->interface && ep->address & 0x80)
            h->in = ep;
        else if (ep->interface == h->interface)
            h->out = ep;
    }
}

int hidraw_attach(struct node *n, struct err *err)
{
    struct hidraw *h = calloc(1, sizeof *h);
    char name[64], link[256];
    GError *e = NULL;
    if (!h)
        return err_set(err, ERR_NOMEM, "", "out of memory");
    n->hid = h;
    h->node = n;
    h->master = h->slave = -1;
    h->urb.complete = fetched;
    find_endpoints(h);
    if (open_pty(h, name, sizeof name) < 0)
        return err_set(err, ERR_IO, "", "pty: %s", strerror(errno));
    snprintf(h->devnode, sizeof h->devnode, "/dev/hidraw%u", sysfs_hidraw(n->rig, n, err));
    char *root = umockdev_testbed_get_root_dir(n->rig->bed);
    snprintf(link, sizeof link, "%s%s", root, h->devnode);
    g_free(root);
    unlink(link);
    if (symlink(name, link) < 0)
        return err_set(err, ERR_IO, "", "%s: %s", link, strerror(errno));
    h->handler = g_object_new(UMOCKDEV_TYPE_IOCTL_BASE, NULL);
    g_signal_connect(h->handler, "handle-ioctl", G_CALLBACK(on_ioctl), h);
    g_signal_connect(h->handler, "handle-read", G_CALLBACK(on_read), h);
    g_signal_connect(h->handler, "handle-write", G_CALLBACK(on_write), h);
    g_signal_connect(h->handler, "client-connected", G_CALLBACK(on_opened), h);
    if (umockdev_testbed_attach_ioctl(n->rig->bed, h->devnode, h->handler, &e))
        return 0;
    int ret = err_set(err, ERR_IO, "", "%s: %s", h->devnode, e ? e->message : "not attached");
    g_clear_error(&e);
    return ret;
}

void hidraw_gone(struct node *n)
{
    struct hidraw *h = n->hid;
    if (!h)
        return;
    if (h->reader)
        complete(h->reader, -1, EIO);
    h->reader = NULL;
    close(h->slave);
    close(h->master);
    h->slave = h->master = -1;
}
