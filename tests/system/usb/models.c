#include "tests/system/usb/model.h"

/* One line each, so that nobody's is lost in a merge. */
extern const struct usb_model_type usb_model_cmsis_dap;
extern const struct usb_model_type usb_model_ft232h, usb_model_ft2232h, usb_model_ft4232h;
extern const struct usb_model_type usb_model_ft232r;
extern const struct usb_model_type usb_model_jlink;
extern const struct usb_model_type usb_model_osbdm;
extern const struct usb_model_type usb_model_usbdm;
extern const struct usb_model_type usb_model_loop, usb_model_loop_hid;

const struct usb_model_type *const *usb_models(void)
{
    /* clang-format off */
    static const struct usb_model_type *const all[] = {
        &usb_model_cmsis_dap,
        &usb_model_ft232h, &usb_model_ft2232h, &usb_model_ft4232h,
        &usb_model_ft232r,
        &usb_model_jlink,
        &usb_model_osbdm,
        &usb_model_usbdm,
        &usb_model_loop, &usb_model_loop_hid,
        NULL,
    };
    return all;
}
/* clang-format on */
