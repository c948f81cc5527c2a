/* What the kernel would show of the devices under /sys, made in umockdev's test bed. */
#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "probe/base/bytes.h"
#include "probe/base/util.h"
#include "tests/system/usb/rig.h"

#define ROOT "/devices/pci0000:00/0000:00:14.0/usb1"
enum { TEXT = 16384, MAJOR_USB = 189, MAJOR_HIDRAW = 240 };

struct text {
    char s[TEXT];
    size_t n;
};

__attribute__((format(printf, 2, 3))) static void put_text(struct text *t, const char *fmt, ...)
{
    va_list ap;
    va_start(ap, fmt);
    int n = vsnprintf(t->s + t->n, sizeof t->s - t->n, fmt, ap);
    va_end(ap);
    t->n = MIN(t->n + (size_t)MAX(n, 0), sizeof t->s - 1);
}

static void put_hex(struct text *t, const char *name, const uint8_t *p, size_t n)
{
    put_text(t, "H: %s=", name);
    for (size_t i = 0; i < n; i++)
        put_text(t, "%02X", p[i]);
    put_text(t, "\n");
}

static int add_text(struct rig *rig, const struct text *t, struct err *err)
{
    GError *e = NULL;
    if (umockdev_testbed_add_from_string(rig->bed, t->s, &e))
        return 0;
    int ret = err_set(err, ERR_FORMAT, "", "test bed: %s", e ? e->message : "refused");
    g_clear_error(&e);
    return ret;
}

static void put_device(struct text *t, const char *path, unsigned address, const uint8_t *desc,
                       const char *speed)
{
    unsigned vid = le16(desc + 8), pid = le16(desc + 10), bcd = le16(desc + 12);
    put_text(t, "P: %s\nN: bus/usb/001/%03u\n", path, address);
    put_text(t,
             "E: DEVNAME=/dev/bus/usb/001/%03u\nE: SUBSYSTEM=usb\nE: DEVTYPE=usb_device\nE: "
             "BUSNUM=001\nE: DEVNUM=%03u\nE: MAJOR=%d\nE: MINOR=%u\n",
             address, address, MAJOR_USB, address - 1);
    put_text(t, "E: PRODUCT=%x/%x/%x\nE: TYPE=%u/%u/%u\n", vid, pid, bcd, desc[4], desc[5],
             desc[6]);
    put_text(t,
             "A: busnum=1\\n\nA: devnum=%u\\n\nA: speed=%s\\n\nA: bConfigurationValue=1\\n\nA: "
             "bNumConfigurations=1\\n\n",
             address, speed);
    put_text(t,
             "A: idVendor=%04x\\n\nA: idProduct=%04x\\n\nA: bcdDevice=%04x\\n\nA: "
             "bDeviceClass=%02x\\n\nA: bMaxPacketSize0=%u\\n\n",
             vid, pid, bcd, desc[4], desc[7]);
}

static const uint8_t hub_device[18] = { 18,   1,    0x00, 0x02, 9,    0, 1, 64, 0x6B,
                                        0x1D, 0x02, 0x00, 0x01, 0x06, 0, 0, 0,  1 };
static const uint8_t hub_config[25] = { 9, 2, 25, 0, 1, 1, 0, 0xE0, 0, 9, 4, 0, 0,
                                        1, 9, 0,  0, 0, 7, 5, 0x81, 3, 4, 0, 12 };

static int add_hub(struct rig *rig, const char *path, unsigned address, struct err *err)
{
    struct text t = { .n = 0 };
    uint8_t both[sizeof hub_device + sizeof hub_config];
    memcpy(both, hub_device, sizeof hub_device);
    memcpy(both + sizeof hub_device, hub_config, sizeof hub_config);
    put_device(&t, path, address, hub_device, "480");
    put_text(&t, "A: product=Hub of the test bed\\n\nA: manufacturer=probeprof\\n\n");
    put_hex(&t, "descriptors", both, sizeof both);
    put_text(&t, "\n");
    return add_text(rig, &t, err);
}

int sysfs_root(struct rig *rig, struct err *err) { return add_hub(rig, ROOT, 1, err); }

/* "1-2.3" hangs at hub "1-2" hangs at usb1: the hubs between are made when first needed. */
static int parent_path(struct rig *rig, const char *name, char *out, size_t cap, struct err *err)
{
    snprintf(out, cap, "%s", ROOT);
    for (const char *dot = strchr(name, '.'); dot; dot = strchr(dot + 1, '.')) {
        size_t used = strlen(out);
        snprintf(out + used, cap - used, "/%.*s", (int)(dot - name), name);
        char *root = umockdev_testbed_get_root_dir(rig->bed), full[512];
        snprintf(full, sizeof full, "%s/sys%s", root, out);
        g_free(root);
        if (!g_file_test(full, G_FILE_TEST_EXISTS)) {
            int ret = add_hub(rig, out, rig->next_address++, err);
            if (ret < 0)
                return ret;
        }
    }
    return 0;
}

static const char *string_at(const struct bus_dev *d, unsigned index)
{
    const struct usb_model_identity *id = &d->model->id;
    if (d->serial[0] && index && index == id->device[16])
        return d->serial;
    for (unsigned i = 1; index && id->strings && id->strings[i]; i++)
        if (i == index)
            return id->strings[i];
    return NULL;
}

static void put_string(struct text *t, const struct bus_dev *d, const char *name, unsigned index)
{
    const char *s = string_at(d, index);
    if (s)
        put_text(t, "A: %s=%s\\n\n", name, s);
}

static int add_device(struct rig *rig, struct node *n, const char *path, struct err *err)
{
    const struct bus_dev *d = n->dev;
    const struct usb_model_identity *id = &d->model->id;
    struct text t = { .n = 0 };
    uint8_t all[1024];
    if (id->config_len > sizeof all - 18)
        return err_set(err, ERR_FORMAT, "", "%s: configuration too long", d->type->name);
    memcpy(all, id->device, 18);
    memcpy(all + 18, id->config, id->config_len);
    put_device(&t, path, n->address, id->device, id->high_speed ? "480" : "12");
    put_text(&t, "A: bNumInterfaces=%2u\\n\n", d->nitfs);
    put_string(&t, d, "manufacturer", id->device[14]);
    put_string(&t, d, "product", id->device[15]);
    put_string(&t, d, "serial", id->device[16]);
    put_hex(&t, "descriptors", all, 18 + id->config_len);
    put_text(&t, "\n");
    return add_text(rig, &t, err);
}

static int add_interface(struct rig *rig, struct node *n, unsigned i, const char *path,
                         struct err *err)
{
    const struct bus_dev *d = n->dev;
    struct text t = { .n = 0 };
    put_text(&t, "P: %s/%s:1.%u\nE: SUBSYSTEM=usb\nE: DEVTYPE=usb_interface\n", path, d->path,
             d->itf[i].number);
    put_text(&t, "E: INTERFACE=%u/%u/%u\n", d->itf[i].cls, d->itf[i].subclass, d->itf[i].protocol);
    put_text(&t,
             "A: bInterfaceNumber=%02x\\n\nA: bAlternateSetting= 0\\n\nA: bNumEndpoints=%02x\\n\n",
             d->itf[i].number, d->itf[i].neps);
    put_text(&t,
             "A: bInterfaceClass=%02x\\n\nA: bInterfaceSubClass=%02x\\n\nA: "
             "bInterfaceProtocol=%02x\\n\n",
             d->itf[i].cls, d->itf[i].subclass, d->itf[i].protocol);
    put_string(&t, d, "interface", d->itf[i].string);
    put_text(&t, "\n");
    return add_text(rig, &t, err);
}

int sysfs_add(struct rig *rig, struct node *n, struct err *err)
{
    char parent[100], path[140];
    int ret = parent_path(rig, n->dev->path, parent, sizeof parent, err);
    if (ret < 0)
        return ret;
    n->address = rig->next_address++;
    n->dev->address = n->address;
    snprintf(path, sizeof path, "%s/%s", parent, n->dev->path);
    snprintf(n->syspath, sizeof n->syspath, "/sys%s", path);
    snprintf(n->devnode, sizeof n->devnode, "/dev/bus/usb/001/%03u", n->address);
    ret = add_device(rig, n, path, err);
    for (unsigned i = 0; i < n->dev->nitfs && ret == 0; i++)
        ret = add_interface(rig, n, i, path, err);
    return ret;
}

int sysfs_link(struct rig *rig, const char *path, const char *target, struct err *err)
{
    char link[256], *root = umockdev_testbed_get_root_dir(rig->bed);
    snprintf(link, sizeof link, "%s%s", root, path);
    g_free(root);
    unlink(link);
    return symlink(target, link) == 0 ? 0
                                      : err_set(err, ERR_IO, "", "%s: %s", link, strerror(errno));
}

/* umockdev's way to tell a program of a device: it gives up the rig if that has just stopped
 * listening, or has not listened for long. To the kernel either is the program's business. */
ssize_t sendmsg(int fd, const struct msghdr *m, int flags)
{
    ssize_t n = syscall(SYS_sendmsg, fd, m, flags);
    if (n >= 0 || (errno != ECONNREFUSED && errno != EAGAIN))
        return n;
    n = 0;
    for (size_t i = 0; i < m->msg_iovlen; i++)
        n += (ssize_t)m->msg_iov[i].iov_len;
    return n;
}

/* And if it has taken its socket away between being listed and being told, which is refused as if
 * nobody were behind it. */
int connect(int fd, const struct sockaddr *to, socklen_t len)
{
    int ret = (int)syscall(SYS_connect, fd, to, len);
    if (ret < 0 && errno == ENOENT)
        errno = ECONNREFUSED;
    return ret;
}

void sysfs_tell(struct rig *rig, struct node *n, bool on)
{
    umockdev_testbed_uevent(rig->bed, n->syspath, on ? "add" : "remove");
}

static void unlink_in(struct rig *rig, const char *fmt, ...)
{
    char path[256], *root = umockdev_testbed_get_root_dir(rig->bed);
    int n = snprintf(path, sizeof path, "%s/sys/", root);
    va_list ap;
    va_start(ap, fmt);
    vsnprintf(path + n, sizeof path - (size_t)n, fmt, ap);
    va_end(ap);
    g_free(root);
    unlink(path);
}

/* umockdev takes away the folders and the node, but not what points at them from /sys/bus. */
void sysfs_remove(struct rig *rig, struct node *n)
{
    umockdev_testbed_remove_device(rig->bed, n->syspath);
    unlink_in(rig, "bus/usb/devices/%s", n->dev->path);
    for (unsigned i = 0; i < n->dev->nitfs; i++)
        unlink_in(rig, "bus/usb/devices/%s:1.%u", n->dev->path, n->dev->itf[i].number);
    if (!n->hid_name[0])
        return;
    unlink_in(rig, "bus/hid/devices/%s", n->hid_name);
    unlink_in(rig, "class/hidraw/hidraw%u", n->hidraw_number);
}

static unsigned hid_interface(const struct bus_dev *d)
{
    for (unsigned i = 0; i < d->nitfs; i++)
        if (d->itf[i].cls == 3)
            return d->itf[i].number;
    return 0;
}

unsigned sysfs_hidraw(struct rig *rig, struct node *n, struct err *err)
{
    const struct bus_dev *d = n->dev;
    const struct usb_model_identity *id = &d->model->id;
    unsigned vid = le16(id->device + 8), pid = le16(id->device + 10), number = rig->nhidraw++,
             itf = hid_interface(d);
    const char *maker = string_at(d, id->device[14]), *product = string_at(d, id->device[15]),
               *serial = string_at(d, id->device[16]);
    char *hid = n->hid_name, base[220];
    struct text t = { .n = 0 };
    n->hidraw_number = number;
    snprintf(hid, sizeof n->hid_name, "0003:%04X:%04X.%04X", vid, pid, number + 1);
    snprintf(base, sizeof base, "%s/%s:1.%u", n->syspath + 4, d->path, itf);
    put_text(&t,
             "P: %s/%s\nE: SUBSYSTEM=hid\nE: HID_ID=0003:%08X:%08X\nE: HID_NAME=%s %s\nE: "
             "HID_UNIQ=%s\nE: HID_PHYS=usb-0000:00:14.0-%s/input%u\n",
             base, hid, vid, pid, maker ? maker : "", product ? product : "", serial ? serial : "",
             d->path + 2, itf);
    put_hex(&t, "report_descriptor", id->hid_report, id->hid_report_len);
    put_text(&t, "\n");
    if (add_text(rig, &t, err) < 0)
        return number;
    t.n = 0;
    put_text(
        &t,
        "P: %s/%s/hidraw/hidraw%u\nN: hidraw%u\nE: DEVNAME=/dev/hidraw%u\nE: SUBSYSTEM=hidraw\nE: "
        "MAJOR=%d\nE: MINOR=%u\nL: device=../../../%s\n\n",
        base, hid, number, number, number, MAJOR_HIDRAW, number, hid);
    add_text(rig, &t, err);
    return number;
}
