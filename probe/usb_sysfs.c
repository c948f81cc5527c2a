#include "probe/usb_sysfs.h"

#include <ctype.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "probe/base/util.h"
#include "probe/base/text.h"
#include "probe/usb.h"

void usb_sysfs_text(const char *folder, const char *device, const char *file, char *out, size_t cap)
{
    char path[PATH_MAX], line[256] = "";
    snprintf(path, sizeof path, "%s/%s/%s", folder, device, file);
    FILE *in = fopen(path, "re");
    if (in && !fgets(line, sizeof line, in))
        line[0] = 0;
    if (in)
        fclose(in);
    size_t n = strlen(line);
    while (n && isspace((unsigned char)line[n - 1]))
        line[--n] = 0;
    snprintf(out, cap, "%s", text_clean(line + strspn(line, " ")));
}

bool usb_sysfs_has(const char *folder, const struct usb_info *dev)
{
    char bus[16], address[16];
    usb_sysfs_text(folder, dev->bus_path, "busnum", bus, sizeof bus);
    usb_sysfs_text(folder, dev->bus_path, "devnum", address, sizeof address);
    return *bus && atoi(bus) == dev->bus && atoi(address) == dev->address;
}

void usb_sysfs_driver(const char *folder, const struct usb_info *dev, uint8_t interface, char *out,
                      size_t cap)
{
    char config[8], path[PATH_MAX], to[200];
    usb_sysfs_text(folder, dev->bus_path, "bConfigurationValue", config, sizeof config);
    snprintf(path, sizeof path, "%s/%s:%s.%u/driver", folder, dev->bus_path, *config ? config : "1",
             interface);
    ssize_t n = readlink(path, to, sizeof to - 1);
    to[MAX(n, 0)] = 0;
    const char *base = strrchr(to, '/');
    snprintf(out, cap, "%.60s", base ? base + 1 : to);
}
