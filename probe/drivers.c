#include "probe/probe.h"

extern const struct probe_driver cmsis_dap_driver, file_driver, ftdi_driver, jlink_driver, rsp_driver, serial_driver, sim_driver;

const struct probe_driver *const *probe_drivers(void)
{
    static const struct probe_driver *const drivers[] = { &cmsis_dap_driver, &ftdi_driver, &jlink_driver, &rsp_driver, &serial_driver, &sim_driver,
                                                          &file_driver, NULL };
    return drivers;
}
