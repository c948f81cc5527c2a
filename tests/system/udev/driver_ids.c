/* Prints the USB ids of every driver, one a line: "jlink 1366 0101 shared"; shared: a driver whose
 * adapters must be named (a serial port), which may stand beside another. */
#include <stdio.h>

#include "probe/probe.h"

int main(void)
{
    for (const struct probe_driver *const *d = probe_drivers(); *d; d++)
        for (const struct usb_id *id = (*d)->ids; id && (id->vid || id->pid); id++)
            printf("%s %04x %04x %s\n", (*d)->name, id->vid, id->pid,
                   (*d)->own_spec ? "shared" : "own");
    return 0;
}
