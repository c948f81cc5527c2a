/* /dev/hidrawN (linux/hidraw.h): what the kernel's usbhid and hidraw drivers make of a HID
 * interface. While a program has the node open, input reports are fetched all the time and kept, 64
 * at most; one too many is dropped, as the kernel does. The node is a pty of ours: one byte lies in
 * it while a report is kept, so that poll() tells the truth. */
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
#include "tests/system/usb/rig.h"

enum { REPORTS = 64, REPORT_MAX = 1024, SET_REPORT = 9, GET_REPORT = 1, FEATURE = 3 };
/* USB_CTRL_SET_TIMEOUT, which usbhid uses for output reports, too */
#define WRITE_LIMIT_NS 5000000000u
#define LATE_NS        1500000000u /* an answer held back by fault=timeout comes after this */

struct hidraw {
    struct node *node;
    char devnode[24];
    struct file_node file;
    int master, slave;
    unsigned opened, interface;
    struct bus_ep *in, *out;
    /* at_ns: virtual, when it is there */
    struct {
        uint8_t data[REPORT_MAX];
        size_t len;
        uint64_t at_ns;
    } report[REPORTS];
    unsigned first, n;
    bool byte;           /* lies in the pty */
    struct file *reader; /* blocked in read() */
    uint64_t reader_to;
    size_t reader_len;
    struct urb urb; /* fetches reports */
    uint8_t buf[REPORT_MAX];
    bool fetching;
    uint64_t dead_since_ns;
    struct urb write;
    uint8_t write_buf[8 + REPORT_MAX];
    struct file *writer; /* its write() or feature ioctl is under way */
    uint64_t writer_to;  /* where a feature report goes; 0 none is asked for */
    uint64_t write_since_ns;
};

/* ---- reading ---- */

static bool has_report(const struct hidraw *h)
{
    const struct bus *b = &h->node->rig->bus;
    return h->n > 0 && (!b->virtual_time || h->report[h->first].at_ns <= b->now_ns);
}

static void show_readable(struct hidraw *h)
{
    bool want = has_report(h);
    if (want == h->byte || h->slave < 0)
        return;
    h->byte = want;
    if (!want)
        tcflush(h->slave, TCIFLUSH);
    else if (write(h->master, "r", 1) != 1)
        h->byte = false;
}

static void give_report(struct hidraw *h, struct file *f, uint64_t to, size_t len)
{
    len = MIN(h->report[h->first].len, len);
    int e = file_put(f, to, h->report[h->first].data, len);
    h->first = (h->first + 1) % REPORTS;
    h->n--;
    show_readable(h);
    file_answer(f, (long)len, e);
}

static void fetch_report(struct hidraw *h)
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
    if (h && h->reader && has_report(h)) {
        struct file *f = h->reader;
        h->reader = NULL;
        give_report(h, f, h->reader_to, h->reader_len);
    }
    if (h)
        show_readable(h);
}

uint64_t hidraw_next_ns(const struct node *n)
{
    const struct hidraw *h = n->hid;
    return h && h->n > 0 && !has_report(h) ? h->report[h->first].at_ns : UINT64_MAX;
}

static void report_fetched(struct urb *u)
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
        fetch_report(h);
}

static void on_read(void *ctx, struct file *f, uint64_t to, size_t len)
{
    struct hidraw *h = ctx;
    bus_tick(&h->node->rig->bus);
    if (h->node->gone || h->reader) {
        file_answer(f, -1, h->node->gone ? EIO : EBUSY);
    } else if (has_report(h)) {
        give_report(h, f, to, len);
    } else {
        h->reader = f;
        h->reader_to = to;
        h->reader_len = len;
    }
}

/* ---- writing ---- */

static void report_written(struct urb *u)
{
    struct hidraw *h = CONTAINER_OF(u, struct hidraw, write);
    struct file *f = h->writer;
    long result = (long)(u->ep ? u->done : u->len - 8) + 1; /* the report's number counts */
    int e = u->status == -ENOENT ? ETIMEDOUT : -u->status;
    h->writer = NULL;
    h->node->rig->bus.now_ns = MAX(h->node->rig->bus.now_ns, u->at_ns);
    if (f && u->status == 0 && h->writer_to) {
        e = file_put(f, h->writer_to + 1, u->buf + 8, u->done);
        result = (long)u->done + 1;
    }
    h->writer_to = 0;
    hidraw_update(h->node);
    if (u->status == -EPIPE && u->ep)
        bus_clear_halt(h->node->dev, u->ep);
    if (f)
        file_answer(f, result, e);
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

static int start_write(struct hidraw *h, struct file *f)
{
    h->writer = f;
    h->write.buf = h->write_buf;
    h->write.complete = report_written;
    h->write_since_ns = bus_host_ns();
    bus_submit(h->node->dev, &h->write);
    return 0;
}

/* Returns 0 if the answer comes later. */
static int write_report(struct hidraw *h, struct file *f, uint64_t from, size_t len)
{
    uint8_t report[REPORT_MAX + 1];
    len = MIN(len, sizeof report);
    if (h->writer || h->node->gone || len < 2)
        return h->node->gone ? ENODEV : h->writer ? EBUSY : EINVAL;
    if (file_get(f, from, report, len))
        return EFAULT;
    if (!h->out)
        control_report(h, false, 2, report[0], len - 1);
    else
        h->write.ep = h->out->address, h->write.len = len - 1;
    memcpy(h->write_buf + (h->out ? 0 : 8), report + 1, len - 1);
    return start_write(h, f);
}

static void on_write(void *ctx, struct file *f, uint64_t from, size_t len)
{
    int e = write_report(ctx, f, from, len);
    if (e)
        file_answer(f, -1, e);
}

/* ---- ioctls ---- */

static const char *text_of(const struct bus_dev *d, unsigned index)
{
    if (d->serial[0] && index && index == d->model->id.device[16])
        return d->serial;
    for (unsigned i = 1; index && d->model->id.strings && d->model->id.strings[i]; i++)
        if (i == index)
            return d->model->id.strings[i];
    return "";
}

static int feature_report(struct hidraw *h, struct file *f, bool get, uint64_t arg, size_t size)
{
    uint8_t report[REPORT_MAX];
    if (size < 2 || size > sizeof report || h->writer)
        return EINVAL;
    if (file_get(f, arg, report, size))
        return EFAULT;
    control_report(h, get, FEATURE, report[0], size - 1);
    memcpy(h->write_buf + 8, report + 1, size - 1);
    h->writer_to = get ? arg : 0;
    return start_write(h, f);
}

static int text_request(const struct hidraw *h, struct file *f, unsigned long code, uint64_t arg,
                        int *result)
{
    const struct bus_dev *d = h->node->dev;
    const struct usb_model_identity *id = &d->model->id;
    char text[256] = "";
    switch (_IOC_NR(code)) {
    case 0x04:
        snprintf(text, sizeof text, "%s %s", text_of(d, id->device[14]),
                 text_of(d, id->device[15]));
        break;
    case 0x05:
        snprintf(text, sizeof text, "usb-0000:00:14.0-%s/input%u", d->path + 2, h->interface);
        break;
    case 0x08: snprintf(text, sizeof text, "%s", text_of(d, id->device[16])); break;
    default: return ENOTTY;
    }
    *result = (int)MIN(strlen(text) + 1, _IOC_SIZE(code));
    return file_put(f, arg, text, (size_t)*result);
}

/* later: the answer comes by itself. */
static int do_request(struct hidraw *h, struct file *f, unsigned long code, uint64_t arg,
                      int *result, bool *later)
{
    const struct usb_model_identity *id = &h->node->dev->model->id;
    if (h->node->gone)
        return ENODEV;
    if (code == HIDIOCGRDESCSIZE) {
        int n = (int)id->hid_report_len;
        return file_put(f, arg, &n, sizeof n);
    }
    if (code == HIDIOCGRDESC) {
        struct hidraw_report_descriptor r = { .size = (uint32_t)id->hid_report_len };
        memcpy(r.value, id->hid_report, MIN(id->hid_report_len, sizeof r.value));
        return file_put(f, arg, &r, 4 + MIN(id->hid_report_len, sizeof r.value));
    }
    if (code == HIDIOCGRAWINFO) {
        struct hidraw_devinfo info = { BUS_USB, (int16_t)le16(id->device + 8),
                                       (int16_t)le16(id->device + 10) };
        return file_put(f, arg, &info, sizeof info);
    }
    if (_IOC_TYPE(code) != 'H')
        return ENOTTY;
    if (_IOC_NR(code) == 0x06 || _IOC_NR(code) == 0x07) {
        int e = feature_report(h, f, _IOC_NR(code) == 0x07, arg, _IOC_SIZE(code));
        *later = e == 0;
        return e;
    }
    return text_request(h, f, code, arg, result);
}

static void on_ioctl(void *ctx, struct file *f, unsigned long code, uint64_t arg)
{
    bool later = false;
    int result = 0, e = do_request(ctx, f, code, arg, &result, &later);
    if (!later)
        file_answer(f, result, e);
}

/* ---- open and close ---- */

static void on_opened(void *ctx, struct file *f)
{
    struct hidraw *h = ctx;
    (void)f;
    h->opened++;
    fetch_report(h);
}

static void on_closed(void *ctx, struct file *f)
{
    struct hidraw *h = ctx;
    h->reader = h->reader == f ? NULL : h->reader;
    h->writer = h->writer == f ? NULL : h->writer;
    if (--h->opened > 0)
        return;
    h->n = 0;
    show_readable(h);
    if (h->fetching && !h->node->gone)
        bus_cancel(h->node->dev, &h->urb);
}

static const struct file_ops ops = { on_opened, on_closed, on_ioctl, on_read, on_write };

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
    if (h->master < 0 || grantpt(h->master) < 0 || unlockpt(h->master) < 0 ||
        ptsname_r(h->master, name, cap) != 0)
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
    char name[64];
    if (!h)
        return err_set(err, ERR_NOMEM, "", "out of memory");
    n->hid = h;
    h->node = n;
    h->master = h->slave = -1;
    h->urb.complete = report_fetched;
    find_endpoints(h);
    if (open_pty(h, name, sizeof name) < 0)
        return err_set(err, ERR_IO, "", "pty: %s", strerror(errno));
    snprintf(h->devnode, sizeof h->devnode, "/dev/hidraw%u", sysfs_hidraw(n->rig, n, err));
    h->file = (struct file_node){ .path = h->devnode, .ops = &ops, .ctx = h };
    files_add(&n->rig->files, &h->file);
    return sysfs_link(n->rig, h->devnode, name, err);
}

void hidraw_gone(struct node *n)
{
    struct hidraw *h = n->hid;
    if (!h)
        return;
    if (h->reader)
        file_answer(h->reader, -1, EIO);
    h->reader = NULL;
    close(h->slave);
    close(h->master);
    h->slave = h->master = -1;
}
