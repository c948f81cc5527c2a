/* Boards with an FTDI chip: which pins lead to the target's resets, through what.
 *
 * Facts from the boards' published configurations in OpenOCD 0.12, tcl/interface/ftdi (one file
 * each, named as here), and for tigard from https://github.com/tigard-tools/tigard. Boards whose
 * chip is an FT2232C or D are left out: full speed only. None was tried (docs/unverified.md). */
#include <string.h>

#include "probe/ftdi.h"

/* clang-format off */
#define DATA(d) { .data = d }
#define DATA_OE(d, o) { .data = d, .oe = o }
#define DATA_NOE(d, o) { .data = d, .oe = o, .oe_low = true }
#define OE(o) { .oe = o }
#define NONE { .data = 0 }
/* clang-format on */

/* By product string first; of several that match the first is taken. */
static const struct ftdi_layout layouts[] = {
    { "tigard", 0x0403, 0x6010, "Tigard", 'B', 0x0038, 0x003B, DATA(0x0010), DATA(0x0020) },
    { "flyswatter2", 0x0403, 0x6010, "Flyswatter2", 'A', 0x0538, 0x057B, DATA(0x0010),
      DATA_NOE(0x0020, 0x0100) },
    { "minimodule", 0x0403, 0x6010, "FT2232H MiniModule", 'A', 0x0008, 0x000B, NONE,
      DATA_OE(0x0020, 0x0020) },
    { "flossjtag", 0x0403, 0x6010, "FLOSS-JTAG", 'A', 0x0008, 0x180B, DATA_OE(0x0010, 0x0010),
      DATA_OE(0x0040, 0x0040) },
    { "digilent-hs1", 0x0403, 0x6010, "Digilent Adept USB Device", 'A', 0x0088, 0x008B, NONE,
      NONE },
    { "digilent-hs2", 0x0403, 0x6014, "Digilent Adept USB Device", 'A', 0x00E8, 0x60EB, NONE,
      NONE },
    { "digilent-hs3", 0x0403, 0x6014, "Digilent USB Device", 'A', 0x2088, 0x308B, NONE,
      DATA_NOE(0x2000, 0x1000) },
    { "hie-jtag", 0x0403, 0x6014, "HIE JTAG Debugger", 'A', 0x0C08, 0x4F1B,
      DATA_NOE(0x0100, 0x0400), DATA_NOE(0x0200, 0x0800) },
    { "c232hm", 0x0403, 0x6014, "C232HM", 'A', 0x4008, 0x400B, NONE, NONE },
    { "tumpa", 0x0403, 0x8A98, "", 'A', 0x0038, 0x087B, DATA(0x0020), DATA(0x0010) },
    { "tumpa-lite", 0x0403, 0x8A99, "", 'A', 0x0038, 0x087B, DATA_OE(0x0020, 0x0020),
      DATA_OE(0x0010, 0x0010) },
    { "jtagkey2", 0x0403, 0xCFF8, "", 'A', 0x0C08, 0x0F1B, DATA_NOE(0x0100, 0x0400),
      DATA_NOE(0x0200, 0x0800) },
    { "kt-link", 0x0403, 0xBBE2, "", 'A', 0x8C28, 0xFF3B, DATA_NOE(0x0100, 0x0400),
      DATA_NOE(0x0200, 0x0800) },
    { "jtag-lock-pick", 0x0403, 0x8220, "", 'A', 0x8C28, 0xFF3B, DATA_NOE(0x0100, 0x0400),
      DATA_NOE(0x0200, 0x0800) },
    { "olimex-tiny-h", 0x15BA, 0x002A, "", 'A', 0x0808, 0x0A1B, DATA_OE(0x0100, 0x0100),
      OE(0x0200) },
    { "olimex-ocd-h", 0x15BA, 0x002B, "", 'A', 0x0908, 0x0B1B, DATA(0x0100), OE(0x0200) },
    { "miniwiggler", 0x058B, 0x0043, "", 'A', 0x0008, 0x001B, DATA_OE(0x0100, 0x0100),
      DATA_OE(0x0200, 0x0200) },
    /* boards with the strings of a bare chip: by name only */
    { "busblaster", 0x0403, 0x6010, NULL, 'A', 0x0C08, 0x0F1B, DATA_NOE(0x0100, 0x0400),
      DATA_NOE(0x0200, 0x0800) },
    { "dlp-usb1232h", 0x0403, 0x6010, NULL, 'A', 0x0008, 0x000B, DATA_OE(0x0010, 0x0010),
      DATA_OE(0x0040, 0x0040) },
    { "um232h", 0x0403, 0x6014, NULL, 'A', 0xFFF8, 0xFFFB, DATA_OE(0x0100, 0x0100),
      DATA_OE(0x0200, 0x0200) },
    /* four wires and nothing else; what else there is comes as options */
    { "generic", 0x0403, 0x6010, NULL, 0, 0x0008, 0x000B, NONE, NONE },
    { "generic", 0x0403, 0x6011, NULL, 0, 0x0008, 0x000B, NONE, NONE },
    { "generic", 0x0403, 0x6014, NULL, 0, 0x0008, 0x000B, NONE, NONE },
    { .name = NULL },
};

/* FTDI's own: FT2232, FT4232H, FT232H; FT2233HP, FT4233HP, FT2232HP, FT4232HP, FT233HP, FT232HP,
 * FT4232HA (data sheets; Linux's ftdi_sio_ids.h). */
const struct usb_id ftdi_ids[] = {
    { 0x0403, 0x6010 }, { 0x0403, 0x6011 }, { 0x0403, 0x6014 }, { 0x0403, 0x6040 },
    { 0x0403, 0x6041 }, { 0x0403, 0x6042 }, { 0x0403, 0x6043 }, { 0x0403, 0x6044 },
    { 0x0403, 0x6045 }, { 0x0403, 0x6048 }, { 0x0403, 0xa6d0 }, { 0x0403, 0xa6d1 },
    { 0x0fbb, 0x1000 }, { 0x0403, 0x8a98 }, { 0x0403, 0x8a99 }, { 0x0403, 0xcff8 },
    { 0x0403, 0xbbe2 }, { 0x0403, 0x8220 }, { 0x15ba, 0x002a }, { 0x15ba, 0x002b },
    { 0x058b, 0x0043 }, { 0, 0 },
};

const struct ftdi_layout *ftdi_layouts(void) { return layouts; }

const struct ftdi_layout *ftdi_layout_named(const char *name)
{
    for (const struct ftdi_layout *l = layouts; l->name; l++)
        if (strcmp(l->name, name) == 0)
            return l;
    return NULL;
}

const struct ftdi_layout *ftdi_layout_of(uint16_t vid, uint16_t pid, const char *product)
{
    for (const struct ftdi_layout *l = layouts; l->name; l++)
        if (l->vid == vid && l->pid == pid && l->product && strstr(product, l->product))
            return l;
    return ftdi_layout_named("generic");
}
