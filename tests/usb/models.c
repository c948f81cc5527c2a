#include "tests/usb/model.h"

extern const struct usb_model_type usb_model_loop, usb_model_loop_hid, usb_model_cmsis_dap, usb_model_jlink;

const struct usb_model_type *const *usb_models(void)
{
    static const struct usb_model_type *const all[] = {
        &usb_model_cmsis_dap, &usb_model_jlink, &usb_model_loop, &usb_model_loop_hid, NULL,
    };
    return all;
}
