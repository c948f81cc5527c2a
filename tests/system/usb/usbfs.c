/* /dev/bus/usb/BBB/DDD as Linux has it (linux/usbdevice_fs.h), answered from bus.c.
 *
 * files.h brings a program's ioctls. A program that waits for a transfer polls the node, so that is
 * a symbolic link to a pty of ours whose output is stopped and started: writable only while a
 * transfer can be reaped, and hung up when the device is gone. */
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
#include "tests/system/usb/rig.h"

/* A transfer and the client's memory it belongs to. */
struct fs_urb {
    struct urb u;
    struct fs_urb *next;
    struct node *node;
    struct file *file;
    uint64_t address; /* of the program's struct: what it names when it discards */
    uint64_t buffer;  /* the program's */
};

static void free_urb(struct fs_urb *f)
{
    free(f->u.buf);
    free(f);
}

/* ---- poll ---- */

static bool can_reap(const struct node *n)
{
    return n->done &&
           (!n->rig->bus.virtual_time || n->done->u.at_ns <= n->rig->bus.now_ns || n->gone);
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

static void drop_pending(struct fs_urb *f)
{
    struct fs_urb **at = &f->node->pending;
    while (*at && *at != f)
        at = &(*at)->next;
    if (*at)
        *at = f->next;
}

static void complete_urb(struct urb *u)
{
    struct fs_urb *f = CONTAINER_OF(u, struct fs_urb, u), **at = &f->node->done;
    drop_pending(f);
    if (!f->file) { /* closed meanwhile */
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

/* As the kernel: a driver or another program on the interface is in the way; else it is claimed
 * silently. */
static int claim_interface(struct node *n, struct file *file, unsigned number)
{
    int i = interface_index(n, number);
    if (i < 0)
        return ENOENT;
    if (n->itf[i].driver || (n->itf[i].owner && n->itf[i].owner != file))
        return EBUSY;
    n->itf[i].owner = file;
    return 0;
}

static int urb_setup(struct node *n, struct fs_urb *f, const struct usbdevfs_urb *raw)
{
    struct bus_ep *ep =
        bus_endpoint(n->dev, raw->type == USBDEVFS_URB_TYPE_CONTROL ? 0 : raw->endpoint);
    if (!ep)
        return ENOENT;
    if (raw->buffer_length < 0 || raw->buffer_length > BUS_MAX_TRANSFER)
        return EINVAL;
    int ret = ep->address ? claim_interface(n, f->file, ep->interface) : 0;
    if (ret)
        return ret;
    f->u.ep = ep->address;
    f->u.len = (size_t)raw->buffer_length;
    f->u.buf = calloc(1, f->u.len + 8);
    f->buffer = (uintptr_t)raw->buffer;
    if (!f->u.buf)
        return ENOMEM;
    if (f->u.len > 0 && file_get(f->file, f->buffer, f->u.buf, f->u.len))
        return EFAULT;
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

static int submit_urb(struct node *n, struct file *file, uint64_t arg)
{
    struct fs_urb *f = calloc(1, sizeof *f);
    struct usbdevfs_urb raw;
    if (!f)
        return ENOMEM;
    f->node = n;
    f->file = file;
    f->u.complete = complete_urb;
    f->address = arg;
    int ret = file_get(file, arg, &raw, sizeof raw);
    if (ret == 0)
        ret = urb_setup(n, f, &raw);
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

static int discard_urb(struct node *n, struct file *file, uint64_t address)
{
    for (struct fs_urb *f = n->pending; f; f = f->next)
        if (f->file == file && f->address == address) {
            bus_cancel(n->dev, &f->u);
            return 0;
        }
    return EINVAL;
}

static int write_back(struct fs_urb *f)
{
    size_t skip = f->u.ep == 0 ? 8 : 0;
    bool in = f->u.ep == 0 ? f->u.buf[0] & 0x80 : f->u.ep & 0x80;
    struct usbdevfs_urb raw;
    if (file_get(f->file, f->address, &raw, sizeof raw))
        return EFAULT;
    raw.status = f->u.status;
    raw.actual_length = (int)f->u.done;
    if (in && f->u.done > 0 && file_put(f->file, f->buffer + skip, f->u.buf + skip, f->u.done))
        return EFAULT;
    return file_put(f->file, f->address, &raw, sizeof raw);
}

static int reap_urb(struct node *n, struct file *file, uint64_t to)
{
    struct fs_urb **at = &n->done;
    while (*at && (*at)->file != file)
        at = &(*at)->next;
    if (!*at || !can_reap(n))
        return n->gone ? ENODEV : EAGAIN;
    struct fs_urb *f = *at;
    void *address = (void *)(uintptr_t)f->address;
    *at = f->next;
    n->rig->bus.now_ns = MAX(n->rig->bus.now_ns, f->u.at_ns);
    int ret = write_back(f);
    if (ret == 0)
        ret = file_put(file, to, &address, sizeof address);
    free_urb(f);
    usbfs_update(n);
    return ret;
}

/* ---- the other requests ---- */

static int give_capabilities(const struct file *file, uint64_t arg)
{
    uint32_t caps = USBDEVFS_CAP_ZERO_PACKET | USBDEVFS_CAP_NO_PACKET_SIZE_LIM |
                    USBDEVFS_CAP_REAP_AFTER_DISCONNECT;
    return file_put(file, arg, &caps, sizeof caps);
}

static int get_driver(struct node *n, const struct file *file, uint64_t arg)
{
    struct usbdevfs_getdriver d;
    if (file_get(file, arg, &d, sizeof d))
        return EFAULT;
    int i = interface_index(n, d.interface);
    if (i < 0 || (!n->itf[i].driver && !n->itf[i].owner))
        return ENODATA;
    const char *bound =
        n->dev->itf[i].cls == 3 && !n->dev->kernel_driver[0] ? "usbhid" : n->dev->kernel_driver;
    snprintf(d.driver, sizeof d.driver, "%s", n->itf[i].driver ? bound : "usbfs");
    return file_put(file, arg, &d, sizeof d);
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

static int driver_ioctl(struct node *n, const struct file *file, uint64_t arg)
{
    struct usbdevfs_ioctl c;
    if (file_get(file, arg, &c, sizeof c))
        return EFAULT;
    if ((unsigned)c.ioctl_code == (unsigned)USBDEVFS_DISCONNECT)
        return bind_driver(n, (unsigned)c.ifno, false);
    if ((unsigned)c.ioctl_code == (unsigned)USBDEVFS_CONNECT)
        return bind_driver(n, (unsigned)c.ifno, true);
    return ENOTTY;
}

static int release_interface(struct node *n, const struct file *file, unsigned number)
{
    int i = interface_index(n, number);
    if (i < 0 || n->itf[i].owner != file)
        return EINVAL;
    n->itf[i].owner = NULL;
    return 0;
}

/* Of requests whose argument is a number, or begins with one. */
static int do_numbered(struct node *n, struct file *file, unsigned long code, uint64_t arg)
{
    unsigned number;
    if (file_get(file, arg, &number, sizeof number))
        return EFAULT;
    switch (code) {
    case USBDEVFS_CLAIMINTERFACE: return claim_interface(n, file, number);
    case USBDEVFS_RELEASEINTERFACE: return release_interface(n, file, number);
    case USBDEVFS_DISCONNECT_CLAIM:
        bind_driver(n, number, false);
        return claim_interface(n, file, number);
    default: bus_clear_halt(n->dev, (uint8_t)number); return 0;
    }
}

/* A control request waited for inside the ioctl (libusb 0.1). */
static void sync_done(struct urb *u) { u->complete = NULL; }

static int sync_control(struct node *n, const struct file *file, uint64_t arg, int *result)
{
    struct usbdevfs_ctrltransfer c;
    uint8_t buf[8 + 65536] = { 0 };
    if (file_get(file, arg, &c, sizeof c))
        return EFAULT;
    bool in = c.bRequestType & 0x80;
    struct urb u = { .ep = 0, .buf = buf, .len = 8u + c.wLength, .complete = sync_done };
    memcpy(buf, &c, 8);
    if (!in && c.wLength && file_get(file, (uintptr_t)c.data, buf + 8, c.wLength))
        return EFAULT;
    bus_submit(n->dev, &u);
    if (u.complete) { /* no answer: the timeout is over at once */
        bus_cancel(n->dev, &u);
        u.status = -ETIMEDOUT;
    }
    if (in && u.done && file_put(file, (uintptr_t)c.data, buf + 8, u.done))
        return EFAULT;
    *result = (int)u.done;
    return -u.status;
}

static int do_request(struct node *n, struct file *file, unsigned long code, uint64_t arg,
                      int *result)
{
    if (code == USBDEVFS_REAPURBNDELAY || code == USBDEVFS_REAPURB)
        return reap_urb(n, file, arg);
    if (n->gone)
        return ENODEV;
    switch (code) {
    case USBDEVFS_SUBMITURB: return submit_urb(n, file, arg);
    case USBDEVFS_DISCARDURB: return discard_urb(n, file, arg);
    case USBDEVFS_CONTROL: return sync_control(n, file, arg, result);
    case USBDEVFS_GET_CAPABILITIES: return give_capabilities(file, arg);
    case USBDEVFS_GETDRIVER: return get_driver(n, file, arg);
    case USBDEVFS_IOCTL: return driver_ioctl(n, file, arg);
    case USBDEVFS_SETINTERFACE:
    case USBDEVFS_SETCONFIGURATION: return 0;
    case USBDEVFS_RESET: bus_reset(n->dev); return 0;
    case USBDEVFS_CLAIMINTERFACE:
    case USBDEVFS_RELEASEINTERFACE:
    case USBDEVFS_DISCONNECT_CLAIM:
    case USBDEVFS_CLEAR_HALT:
    case USBDEVFS_RESETEP: return do_numbered(n, file, code, arg);
    default: return ENOTTY;
    }
}

static void on_ioctl(void *ctx, struct file *file, unsigned long code, uint64_t arg)
{
    int result = 0, e = do_request(ctx, file, code, arg, &result);
    file_answer(file, result, e);
}

/* Reading the node gives the descriptors (libusb 0.1 does). */
static void on_read(void *ctx, struct file *file, uint64_t to, size_t len)
{
    const struct node *n = ctx;
    const struct usb_model_identity *id = &n->dev->model->id;
    uint8_t all[18 + 1024];
    if (n->gone || id->config_len > sizeof all - 18) {
        file_answer(file, -1, ENODEV);
        return;
    }
    memcpy(all, id->device, 18);
    memcpy(all + 18, id->config, id->config_len);
    len = MIN(len, 18 + id->config_len - file->at);
    int e = file_put(file, to, all + file->at, len);
    file->at += e ? 0 : len;
    file_answer(file, (long)len, e);
}

static void on_write(void *ctx, struct file *file, uint64_t from, size_t len)
{
    (void)ctx, (void)from, (void)len;
    file_answer(file, -1, EINVAL);
}

/* ---- open and close ---- */

static void on_opened(void *ctx, struct file *file) { (void)ctx, (void)file; }

static void on_closed(void *ctx, struct file *file)
{
    struct node *n = ctx;
    struct fs_urb *next;
    for (struct fs_urb *f = n->pending; f; f = next) {
        next = f->next;
        if (f->file == file) {
            f->file = NULL;
            bus_cancel(n->dev, &f->u);
        }
    }
    for (struct fs_urb **at = &n->done; *at;) {
        struct fs_urb *f = *at;
        if (f->file != file) {
            at = &f->next;
            continue;
        }
        *at = f->next;
        free_urb(f);
    }
    for (unsigned i = 0; i < BUS_INTERFACES; i++)
        if (n->itf[i].owner == file)
            n->itf[i].owner = NULL;
    usbfs_update(n);
}

static const struct file_ops ops = { on_opened, on_closed, on_ioctl, on_read, on_write };

static int open_pty(struct node *n, char *name, size_t cap)
{
    struct termios t;
    n->master = posix_openpt(O_RDWR | O_NOCTTY | O_CLOEXEC);
    if (n->master < 0 || grantpt(n->master) < 0 || unlockpt(n->master) < 0 ||
        ptsname_r(n->master, name, cap) != 0)
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
    char name[64];
    n->master = n->slave = -1;
    if (open_pty(n, name, sizeof name) < 0)
        return err_set(err, ERR_IO, "", "pty: %s", strerror(errno));
    for (unsigned i = 0; i < n->dev->nitfs; i++)
        n->itf[i].driver = has_driver(n, (int)i);
    n->file = (struct file_node){ .path = n->devnode, .ops = &ops, .ctx = n };
    files_add(&n->rig->files, &n->file);
    return sysfs_link(n->rig, n->devnode, name, err);
}

void usbfs_gone(struct node *n)
{
    usbfs_update(n);
    close(n->slave); /* whoever has it open sees it hung up */
    close(n->master);
    n->slave = n->master = -1;
}
