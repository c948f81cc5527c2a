#include "probe/probe.h"

/* One line each, so that nobody's is lost in a merge. */
extern const struct probe_driver cmsis_dap_driver;
extern const struct probe_driver dcload_ip_driver;
extern const struct probe_driver file_driver;
extern const struct probe_driver ftdi_driver;
extern const struct probe_driver jlink_driver;
extern const struct probe_driver osbdm_driver;
extern const struct probe_driver rsp_driver;
extern const struct probe_driver serial_driver;
extern const struct probe_driver sigrok_driver;
extern const struct probe_driver sim_driver;
extern const struct probe_driver usbdm_driver;

const struct probe_driver *const *probe_drivers(void)
{
    static const struct probe_driver *const drivers[] = {
        &cmsis_dap_driver,
        &dcload_ip_driver,
        &ftdi_driver,
        &jlink_driver,
        &osbdm_driver,
        &rsp_driver,
        &serial_driver,
        &sim_driver,
        &usbdm_driver,
        &file_driver,
#ifdef HAVE_LIBSIGROK
        &sigrok_driver,
#endif
        NULL,
    };
    return drivers;
}

const struct probe_absent *probe_absent_drivers(void)
{
    static const struct probe_absent absent[] = {
#ifndef HAVE_LIBSIGROK
        { "sigrok",
          "logic analysers: not in this build, libsigrok (package libsigrok-dev) was not there" },
#endif
        { NULL, NULL },
    };
    return absent;
}
