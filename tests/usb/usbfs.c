/* /dev/bus/usb/BBB/DDD as Linux has it (linux/usbdevice_fs.h), answered from bus.c.
 *
 * umockdev forwards a program's ioctls. It does not imitate poll(): a node of its own is always writable, and a program that
 * waits for a transfer would spin. So the node is a symbolic link to a pty of ours whose output is stopped and started:
 * writable only while a transfer can be reaped, and hung up when the device is gone. */
#include <errno.h>
#include <fcntl.h>
#include <sys/ioctl.h>
#include <linux/usbdevice_fs.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <termios.h>
#include <unistd.h>

#include "probe/base/bytes.h"
#include "probe/base/util.h"
#include "tests/usb/rig.h"

/* A transfer and the client's memory it belongs to. */
struct fs_urb {
    struct urb u;
    struct fs_urb *next;
    struct node *node;
    UMockdevIoctlClient *client;
    UMockdevIoctlData *data, *buffer;
    gulong address; /* of the client's struct: what it names when it discards */
};

static void free_urb(struct fs_urb *f)
{
    if (f->data)
        umockdev_ioctl_data_unref(f->data);
    if (f->buffer)
        umockdev_ioctl_data_unref(f->buffer);
    free(f->u.buf);
    free(f);
}

/* ---- poll ---- */

static bool can_reap(const struct node *n)
{
    return n->done && (!n->rig->bus.virtual_time || n->done->u.at_ns <= n->rig->bus.now_ns || n->gone);
}

void usbfs_update(struct node *n)
{
    bool ready = can_reap(n);
    if (n->slave < 0 || ready == n->ready)
        return;
    n->ready = ready;
    tcflow(n->slave, ready ? TCOON : TCOOFF);
}

uint64_t usbfs_next_ns(const struct node *n)
{
    return n->done && !can_reap(n) ? n->done->u.at_ns : UINT64_MAX;
}

/* ---- transfers ---- */

/* The client's struct of size bytes behind the argument; NULL of a client that was killed meanwhile. */
static UMockdevIoctlData *argument(UMockdevIoctlClient *client, size_t size)
{
    return umockdev_ioctl_data_resolve(umockdev_ioctl_client_get_arg(client), 0, size, NULL);
}

static void drop_pending(struct fs_urb *f)
{
    struct fs_urb **at = &f->node->pending;
    while (*at && *at != f)
        at = &(*at)->next;
    if (*at)
        *at = f->next;
}

static void complete(struct urb *u)
{
    struct fs_urb *f = CONTAINER_OF(u, struct fs_urb, u), **at = &f->node->done;
    drop_pending(f);
    if (!f->client) { /* its file was closed meanwhile */
        free_urb(f);
        return;
    }
    while (*at && (*at)->u.at_ns <= u->at_ns)
        at = &(*at)->next;
    f->next = *at;
    *at = f;
    usbfs_update(f->node);
}

static int interface_index(const struct node *n, unsigned number)
{
    for (unsigned i = 0; i < n->dev->nitfs; i++)
        if (n->dev->itf[i].number == number)
            return (int)i;
    return -1;
}

/* As the kernel: a driver or another program on the interface is in the way; else it is claimed silently. */
static int claim(struct node *n, UMockdevIoctlClient *client, unsigned number)
{
    int i = interface_index(n, number);
    if (i < 0)
        return ENOENT;
    if (n->itf[i].driver || (n->itf[i].owner && n->itf[i].owner != client))
        return EBUSY;
    n->itf[i].owner = client;
    return 0;
}

static int urb_setup(struct node *n, struct fs_urb *f, struct usbdevfs_urb *raw)
{
    struct bus_ep *ep = bus_endpoint(n->dev, raw->type == USBDEVFS_URB_TYPE_CONTROL ? 0 : raw->endpoint);
    if (!ep)
        return ENOENT;
    if (raw->buffer_length < 0 || raw->buffer_length > BUS_MAX_TRANSFER)
        return EINVAL;
    int ret = ep->address ? claim(n, f->client, ep->interface) : 0;
    if (ret)
        return ret;
    f->u.ep = ep->address;
    f->u.len = (size_t)raw->buffer_length;
    f->u.buf = calloc(1, f->u.len + 8);
    if (!f->u.buf)
        return ENOMEM;
    if (f->u.len > 0)
        f->buffer = umockdev_ioctl_data_resolve(f->data, offsetof(struct usbdevfs_urb, buffer), f->u.len, NULL);
    if (f->u.len > 0 && !f->buffer)
        return EFAULT;
    if (f->buffer)
        memcpy(f->u.buf, f->buffer->data, f->u.len);
    if (ep->address == 0 && (f->u.len < 8 || f->u.len < 8u + le16(f->u.buf + 6)))
        return EINVAL;
    return 0;
}

static void note_ahead(struct node *n)
{
    unsigned count = 0;
    for (const struct fs_urb *f = n->pending; f; f = f->next)
        count++;
    for (const struct fs_urb *f = n->done; f; f = f->next)
        count++;
    n->dev->most_ahead = MAX(n->dev->most_ahead, count);
}

static int submit(struct node *n, UMockdevIoctlClient *client)
{
    struct fs_urb *f = calloc(1, sizeof *f);
    UMockdevIoctlData *arg = umockdev_ioctl_client_get_arg(client);
    if (!f)
        return ENOMEM;
    f->node = n;
    f->client = client;
    f->u.complete = complete;
    memcpy(&f->address, arg->data, sizeof f->address);
    f->data = umockdev_ioctl_data_resolve(arg, 0, sizeof(struct usbdevfs_urb), NULL);
    struct usbdevfs_urb raw;
    if (f->data)
        memcpy(&raw, f->data->data, sizeof raw);
    int ret = f->data ? urb_setup(n, f, &raw) : EFAULT;
    if (ret) {
        free_urb(f);
        return ret;
    }
    f->next = n->pending;
    n->pending = f;
    note_ahead(n);
    bus_submit(n->dev, &f->u);
    return 0;
}

static int discard(struct node *n, UMockdevIoctlClient *client)
{
    gulong address;
    memcpy(&address, umockdev_ioctl_client_get_arg(client)->data, sizeof address);
    for (struct fs_urb *f = n->pending; f; f = f->next)
        if (f->client == client && f->address == address) {
            bus_cancel(n->dev, &f->u);
            return 0;
        }
    return EINVAL;
}

static void write_back(struct fs_urb *f)
{
    int32_t status = f->u.status, actual = (int32_t)f->u.done;
    size_t skip = f->u.ep == 0 ? 8 : 0;
    bool in = f->u.ep == 0 ? f->u.buf[0] & 0x80 : f->u.ep & 0x80;
    umockdev_ioctl_data_update(f->data, offsetof(struct usbdevfs_urb, status), (guint8 *)&status, sizeof status);
    umockdev_ioctl_data_update(f->data, offsetof(struct usbdevfs_urb, actual_length), (guint8 *)&actual, sizeof actual);
    if (in && f->buffer && f->u.done > 0)
        umockdev_ioctl_data_update(f->buffer, skip, f->u.buf + skip, (gint)f->u.done);
}

static int reap(struct node *n, UMockdevIoctlClient *client)
{
    struct fs_urb **at = &n->done;
    while (*at && (*at)->client != client)
        at = &(*at)->next;
    if (!*at || !can_reap(n))
        return n->gone ? ENODEV : EAGAIN;
    struct fs_urb *f = *at;
    UMockdevIoctlData *where = argument(client, sizeof(void *));
    if (!where)
        return EFAULT;
    *at = f->next;
    n->rig->bus.now_ns = MAX(n->rig->bus.now_ns, f->u.at_ns);
    write_back(f);
    umockdev_ioctl_data_set_ptr(where, 0, f->data);
    umockdev_ioctl_data_unref(where);
    free_urb(f);
    usbfs_update(n);
    return 0;
}

/* ---- the other requests ---- */

static unsigned number_argument(UMockdevIoctlClient *client)
{
    UMockdevIoctlData *d = argument(client, 4);
    unsigned v = d ? le32(d->data) : 0;
    if (d)
        umockdev_ioctl_data_unref(d);
    return v;
}

static int capabilities(UMockdevIoctlClient *client)
{
    uint32_t caps = USBDEVFS_CAP_ZERO_PACKET | USBDEVFS_CAP_NO_PACKET_SIZE_LIM | USBDEVFS_CAP_REAP_AFTER_DISCONNECT;
    UMockdevIoctlData *d = argument(client, sizeof caps);
    if (!d)
        return EFAULT;
    umockdev_ioctl_data_update(d, 0, (guint8 *)&caps, sizeof caps);
    umockdev_ioctl_data_unref(d);
    return 0;
}

static int get_driver(struct node *n, UMockdevIoctlClient *client)
{
    UMockdevIoctlData *d = argument(client, sizeof(struct usbdevfs_getdriver));
    if (!d)
        return EFAULT;
    int i = interface_index(n, le32(d->data)), ret = 0;
    char name[32] = "usbfs";
    if (i >= 0 && n->itf[i].driver)
        snprintf(name, sizeof name, "%s", n->dev->itf[i].cls == 3 && !n->dev->kernel_driver[0] ? "usbhid" : n->dev->kernel_driver);
    if (i < 0 || (!n->itf[i].driver && !n->itf[i].owner))
        ret = ENODATA;
    else
        umockdev_ioctl_data_update(d, offsetof(struct usbdevfs_getdriver, driver), (guint8 *)name, sizeof name);
    umockdev_ioctl_data_unref(d);
    return ret;
}

static bool has_driver(const struct node *n, int i)
{
    return n->dev->kernel_driver[0] || n->dev->itf[i].cls == 3;
}

static int bind_driver(struct node *n, unsigned number, bool on)
{
    int i = interface_index(n, number);
    if (i < 0)
        return EINVAL;
    if (on && n->itf[i].owner)
        return EBUSY;
    if (!on && !n->itf[i].driver)
        return ENODATA;
    n->itf[i].driver = on && has_driver(n, i);
    return 0;
}

static int driver_ioctl(struct node *n, UMockdevIoctlClient *client)
{
    UMockdevIoctlData *d = argument(client, sizeof(struct usbdevfs_ioctl));
    struct usbdevfs_ioctl c;
    if (!d)
        return EFAULT;
    memcpy(&c, d->data, sizeof c);
    umockdev_ioctl_data_unref(d);
    if ((unsigned)c.ioctl_code == (unsigned)USBDEVFS_DISCONNECT)
        return bind_driver(n, (unsigned)c.ifno, false);
    if ((unsigned)c.ioctl_code == (unsigned)USBDEVFS_CONNECT)
        return bind_driver(n, (unsigned)c.ifno, true);
    return ENOTTY;
}

static int disconnect_claim(struct node *n, UMockdevIoctlClient *client)
{
    unsigned number = number_argument(client);
    bind_driver(n, number, false);
    return claim(n, client, number);
}

static int release(struct node *n, UMockdevIoctlClient *client)
{
    int i = interface_index(n, number_argument(client));
    if (i < 0 || n->itf[i].owner != client)
        return EINVAL;
    n->itf[i].owner = NULL;
    return 0;
}

/* A control request waited for inside the ioctl (libusb 0.1). */
static void sync_done(struct urb *u) { u->complete = NULL; }

static int sync_control(struct node *n, UMockdevIoctlClient *client, int *result)
{
    UMockdevIoctlData *d = argument(client, sizeof(struct usbdevfs_ctrltransfer)), *data = NULL;
    struct usbdevfs_ctrltransfer c;
    uint8_t buf[8 + 65536];
    if (!d)
        return EFAULT;
    memcpy(&c, d->data, sizeof c);
    struct urb u = { .ep = 0, .buf = buf, .len = 8u + c.wLength, .complete = sync_done };
    memset(buf, 0, sizeof buf);
    memcpy(buf, d->data, 8);
    if (c.wLength)
        data = umockdev_ioctl_data_resolve(d, offsetof(struct usbdevfs_ctrltransfer, data), c.wLength, NULL);
    if (data && !(buf[0] & 0x80))
        memcpy(buf + 8, data->data, c.wLength);
    bus_submit(n->dev, &u);
    if (u.complete) { /* no answer: the timeout is over at once */
        bus_cancel(n->dev, &u);
        u.status = -ETIMEDOUT;
    }
    if (data && (buf[0] & 0x80) && u.done)
        umockdev_ioctl_data_update(data, 0, buf + 8, (gint)u.done);
    if (data)
        umockdev_ioctl_data_unref(data);
    umockdev_ioctl_data_unref(d);
    *result = (int)u.done;
    return -u.status;
}

static int request(struct node *n, UMockdevIoctlClient *client, int *result)
{
    gulong code = umockdev_ioctl_client_get_request(client);
    if (code == USBDEVFS_REAPURBNDELAY || code == USBDEVFS_REAPURB)
        return reap(n, client);
    if (n->gone)
        return ENODEV;
    switch (code) {
    case USBDEVFS_SUBMITURB: return submit(n, client);
    case USBDEVFS_DISCARDURB: return discard(n, client);
    case USBDEVFS_CONTROL: return sync_control(n, client, result);
    case USBDEVFS_GET_CAPABILITIES: return capabilities(client);
    case USBDEVFS_CLAIMINTERFACE: return claim(n, client, number_argument(client));
    case USBDEVFS_RELEASEINTERFACE: return release(n, client);
    case USBDEVFS_DISCONNECT_CLAIM: return disconnect_claim(n, client);
    case USBDEVFS_GETDRIVER: return get_driver(n, client);
    case USBDEVFS_IOCTL: return driver_ioctl(n, client);
    case USBDEVFS_SETINTERFACE:
    case USBDEVFS_SETCONFIGURATION: return 0;
    case USBDEVFS_CLEAR_HALT:
    case USBDEVFS_RESETEP: bus_clear_halt(n->dev, (uint8_t)number_argument(client)); return 0;
    case USBDEVFS_RESET: bus_reset(n->dev); return 0;
    default: return ENOTTY;
    }
}

static gboolean on_ioctl(UMockdevIoctlBase *handler, UMockdevIoctlClient *client, gpointer ctx)
{
    struct node *n = ctx;
    int result = 0;
    (void)handler;
    pthread_mutex_lock(&n->rig->lock);
    int e = request(n, client, &result);
    n->rig->requests++;
    umockdev_ioctl_client_complete(client, e ? -1 : result, e);
    pthread_mutex_unlock(&n->rig->lock);
    return TRUE;
}

/* Reading the node gives the descriptors (libusb 0.1 does). The position is the client's. */
static gboolean on_read(UMockdevIoctlBase *handler, UMockdevIoctlClient *client, gpointer ctx)
{
    struct node *n = ctx;
    (void)handler;
    pthread_mutex_lock(&n->rig->lock);
    UMockdevIoctlData *arg = umockdev_ioctl_client_get_arg(client);
    size_t at = GPOINTER_TO_SIZE(g_object_get_data(G_OBJECT(client), "at")), got = 0;
    if (!n->gone) {
        const struct usb_model_identity *id = &n->dev->model->id;
        for (; got < (size_t)arg->data_len && at < 18 + id->config_len; got++, at++) {
            guint8 b = at < 18 ? id->device[at] : id->config[at - 18];
            umockdev_ioctl_data_update(arg, got, &b, 1);
        }
    }
    g_object_set_data(G_OBJECT(client), "at", GSIZE_TO_POINTER(at));
    umockdev_ioctl_client_complete(client, n->gone ? -1 : (long)got, n->gone ? ENODEV : 0);
    pthread_mutex_unlock(&n->rig->lock);
    return TRUE;
}

/* ---- open and close ---- */

static void forget_client(struct node *n, UMockdevIoctlClient *client)
{
    struct fs_urb *next;
    for (struct fs_urb *f = n->pending; f; f = next) {
        next = f->next;
        if (f->client == client) {
            f->client = NULL;
            bus_cancel(n->dev, &f->u);
        }
    }
    for (struct fs_urb **at = &n->done; *at;) {
        struct fs_urb *f = *at;
        if (f->client != client) {
            at = &f->next;
            continue;
        }
        *at = f->next;
        free_urb(f);
    }
    for (unsigned i = 0; i < BUS_INTERFACES; i++)
        if (n->itf[i].owner == client)
            n->itf[i].owner = NULL;
    usbfs_update(n);
}

/* umockdev 0.17.16 tells of no closing: the client object ends with its connection. */
static void on_closed(gpointer ctx, GObject *client)
{
    struct node *n = ctx;
    pthread_mutex_lock(&n->rig->lock);
    forget_client(n, (UMockdevIoctlClient *)client);
    pthread_mutex_unlock(&n->rig->lock);
}

static void on_opened(UMockdevIoctlBase *handler, UMockdevIoctlClient *client, gpointer ctx)
{
    (void)handler;
    g_object_weak_ref(G_OBJECT(client), on_closed, ctx);
}

static int open_pty(struct node *n, char *name, size_t cap)
{
    struct termios t;
    n->master = posix_openpt(O_RDWR | O_NOCTTY | O_CLOEXEC);
    if (n->master < 0 || grantpt(n->master) < 0 || unlockpt(n->master) < 0 || ptsname_r(n->master, name, cap) != 0)
        return -1;
    n->slave = open(name, O_RDWR | O_NOCTTY | O_CLOEXEC);
    if (n->slave < 0 || tcgetattr(n->slave, &t) < 0)
        return -1;
    cfmakeraw(&t);
    tcsetattr(n->slave, TCSANOW, &t);
    return tcflow(n->slave, TCOOFF);
}

int usbfs_attach(struct node *n, struct err *err)
{
    char name[64], link[256];
    GError *e = NULL;
    n->master = n->slave = -1;
    if (open_pty(n, name, sizeof name) < 0)
        return err_set(err, ERR_IO, "", "pty: %s", strerror(errno));
    char *root = umockdev_testbed_get_root_dir(n->rig->bed);
    snprintf(link, sizeof link, "%s%s", root, n->devnode);
    g_free(root);
    unlink(link);
    if (symlink(name, link) < 0)
        return err_set(err, ERR_IO, "", "%s: %s", link, strerror(errno));
    for (unsigned i = 0; i < n->dev->nitfs; i++)
        n->itf[i].driver = has_driver(n, (int)i);
    n->handler = g_object_new(UMOCKDEV_TYPE_IOCTL_BASE, NULL);
    g_signal_connect(n->handler, "handle-ioctl", G_CALLBACK(on_ioctl), n);
    g_signal_connect(n->handler, "handle-read", G_CALLBACK(on_read), n);
    g_signal_connect(n->handler, "client-connected", G_CALLBACK(on_opened), n);
    if (umockdev_testbed_attach_ioctl(n->rig->bed, n->devnode, n->handler, &e))
        return 0;
    int ret = err_set(err, ERR_IO, "", "%s: %s", n->devnode, e ? e->message : "not attached");
    g_clear_error(&e);
    return ret;
}

/* umockdev goes on asking us: a request that is on its way when it is told to stop would never be answered. It gets ENODEV. */
void usbfs_gone(struct node *n)
{
    usbfs_update(n);
    close(n->slave); /* whoever has it open sees it hung up */
    close(n->master);
    n->slave = n->master = -1;
}
