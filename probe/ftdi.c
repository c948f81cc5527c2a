/* Driver "ftdi": JTAG through FTDI's chips with an MPSSE engine at high speed. */
#include "probe/ftdi.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "probe/base/choice.h"
#include "probe/base/options.h"
#include "probe/base/util.h"
#include "probe/host_time.h"
#include "probe/jtag.h"

enum {
    DEFAULT_HZ = 4000000,
    BATCH_BITS = 32768,
    PIN_FIRST = 4,
    PIN_END = 16,
    GET_LOW = 0x81,
    GET_HIGH = 0x83
};

static const unsigned jtag_pin[FTDI_NSIGNALS] = { JTAG_PIN_NTRST, JTAG_PIN_NRESET, JTAG_PIN_ASEBRK,
                                                  JTAG_PIN_VTREF };

static struct ftdi *ftdi_of(struct probe *p) { return CONTAINER_OF(p, struct ftdi, probe); }
static bool is_wired(const struct ftdi_pin *pin) { return pin->data || pin->oe; }

/* ---- pins ---- */

static void put_bit(uint16_t *word, uint16_t mask, bool on)
{
    *word = (uint16_t)with_bits(*word, mask, on);
}

static void drive_pin(struct ftdi *f, enum ftdi_signal s, bool low)
{
    const struct ftdi_pin *pin = &f->pin[s];
    /* let go by the buffer, the data stay as for low */
    bool level = (low || pin->oe) == pin->data_inverted;
    if (pin->data)
        put_bit(&f->value, pin->data, level);
    if (pin->oe && pin->oe == pin->data)
        put_bit(&f->direction, pin->oe, low);
    else if (pin->oe)
        put_bit(&f->value, pin->oe, low != pin->oe_low);
    f->low = with_bits(f->low, 1u << s, low);
}

static int ftdi_op_set_pins(struct probe *p, unsigned mask, unsigned value, struct err *err)
{
    struct ftdi *f = ftdi_of(p);
    int ret = ftdi_ready(f, err);
    if (ret < 0)
        return ret;
    for (unsigned s = 0; s < FTDI_NSIGNALS; s++)
        if ((mask & jtag_pin[s]) && (s == FTDI_VTREF || !is_wired(&f->pin[s])))
            return err_set(err, ERR_UNSUPPORTED,
                           "say which pin it hangs at: layout=NAME, or ntrst=PIN, nreset=PIN, "
                           "asebrk=PIN (4..7 GPIOL0..3, 8..15 GPIOH0..7)",
                           "%s: layout %s has no pin for that", p->name, f->layout->name);
    for (unsigned s = 0; s < FTDI_VTREF; s++)
        if (mask & jtag_pin[s])
            drive_pin(f, (enum ftdi_signal)s, !(value & jtag_pin[s]));
    if (!mask)
        return 0;
    ret = ftdi_send_pins(f, err);
    if (ret < 0)
        return ftdi_lost(f, err);
    return 0;
}

static int ftdi_op_get_pins(struct probe *p, unsigned *value, unsigned *known, struct err *err)
{
    static const uint8_t out[] = { GET_LOW, GET_HIGH };
    struct ftdi *f = ftdi_of(p);
    uint8_t in[2];
    int ret = ftdi_ready(f, err);
    if (ret == 0)
        ret = ftdi_command(f, out, sizeof out, in, sizeof in, err);
    if (ret < 0)
        return ret;
    uint16_t pins = (uint16_t)(in[0] | in[1] << 8);
    *value = *known = 0;
    for (unsigned s = 0; s < FTDI_NSIGNALS; s++) {
        const struct ftdi_pin *pin = &f->pin[s];
        /* others show what we drive, not what is there */
        bool seen = pin->data && (s == FTDI_VTREF || pin->oe == pin->data);
        bool high = seen ? ((pins & pin->data) != 0) != pin->data_inverted : !(f->low >> s & 1);
        if (is_wired(pin))
            *known |= jtag_pin[s];
        if (is_wired(pin) && high)
            *value |= jtag_pin[s];
    }
    return 0;
}

/* ---- the rest of jtag_ops ---- */

static int ftdi_op_execute(struct probe *p, const struct jtag_op *ops, size_t n, struct err *err)
{
    struct ftdi *f = ftdi_of(p);
    int ret = ftdi_ready(f, err);
    if (ret < 0)
        return ret;
    return ftdi_run(f, ops, n, err);
}

static int ftdi_op_set_clock(struct probe *p, uint32_t hz, uint32_t *got_hz, struct err *err)
{
    struct ftdi *f = ftdi_of(p);
    if (hz == 0)
        return err_set(err, ERR_USAGE, "give a TCK frequency above 0", "TCK of 0 Hz");
    int ret = ftdi_ready(f, err);
    if (ret < 0)
        return ret;
    f->hz = hz;
    ret = ftdi_send_clock(f, err);
    if (ret < 0)
        return ftdi_lost(f, err);
    if (got_hz)
        *got_hz = f->got_hz;
    return 0;
}

static size_t ftdi_op_batch_bits(struct probe *p)
{
    (void)p;
    return BATCH_BITS;
}

static void ftdi_op_stats(struct probe *p, uint64_t *tck_clocks, uint64_t *transfers,
                          uint64_t *bytes)
{
    struct ftdi *f = ftdi_of(p);
    uint64_t t = 0, b = 0;
    if (f->usb)
        usb_stats(f->usb, &t, &b);
    if (tck_clocks)
        *tck_clocks = f->clocks;
    if (transfers)
        *transfers = f->old_transfers + t;
    if (bytes)
        *bytes = f->old_bytes + b;
}

/* ---- opening ---- */

/* "5", "!5" through an inverter. Reset lines may be pulled low by others: let go, not driven high;
 * nTRST is driven. */
static int pin_option(struct ftdi *f, enum ftdi_signal s, const char *value, struct err *err)
{
    bool inverted = value[0] == '!';
    const char *end = value + inverted;
    uint64_t bit;
    if (!options_number(&end, 10, &bit) || *end || bit < PIN_FIRST || bit >= PIN_END)
        return err_set(
            err, ERR_USAGE,
            "4..7 are GPIOL0..3 (ADBUS4..7), 8..15 GPIOH0..7 (ACBUS); ! for an inverter between",
            "ftdi: pin \"%s\"", value);
    uint16_t mask = (uint16_t)(1u << bit);
    f->pin[s] = (struct ftdi_pin){ .data = mask, .data_inverted = inverted };
    if (!inverted && (s == FTDI_NRESET || s == FTDI_ASEBRK))
        f->pin[s].oe = mask;
    put_bit(&f->direction, mask, s != FTDI_VTREF && !f->pin[s].oe);
    return 0;
}

static int layout_option(struct ftdi *f, const char *value, struct err *err)
{
    char hint[240] = "layouts:";
    const struct ftdi_layout *l = ftdi_layout_named(value);
    if (l) {
        f->layout = l;
        return 0;
    }
    for (l = ftdi_layouts(); l->name; l++)
        if (!strstr(hint, l->name))
            snprintf(hint + strlen(hint), sizeof hint - strlen(hint), " %s", l->name);
    return err_set(err, ERR_USAGE, hint, "ftdi: no layout \"%s\"", value);
}

static void use_layout(struct ftdi *f)
{
    f->value = f->layout->value;
    f->direction = f->layout->direction;
    f->pin[FTDI_NTRST] = f->layout->ntrst;
    f->pin[FTDI_NRESET] = f->layout->nreset;
}

/* layout= first, wherever it stands: the others change what it says. */
static int find_layout(void *ctx, const char *name, const char *value, struct err *err)
{
    if (strcmp(name, "layout") == 0)
        return layout_option(ctx, value, err);
    return 0;
}

static int set_option(void *ctx, const char *name, const char *value, struct err *err)
{
    static const char *const signals[FTDI_NSIGNALS] = { "ntrst", "nreset", "asebrk", "vtref" };
    struct ftdi *f = ctx;
    for (unsigned s = 0; s < FTDI_NSIGNALS; s++)
        if (strcmp(name, signals[s]) == 0)
            return pin_option(f, (enum ftdi_signal)s, value, err);
    /* seen to before */
    if (strcmp(name, "layout") == 0 || strcmp(name, "vid") == 0 || strcmp(name, "pid") == 0)
        return 0;
    if (strcmp(name, "adaptive") == 0 && (strcmp(value, "on") == 0 || strcmp(value, "off") == 0))
        f->adaptive = value[1] == 'n';
    else if (strcmp(name, "tdo") == 0 && strcmp(value, "falling") == 0)
        f->falling = true;
    else
        return err_set(err, ERR_USAGE,
                       "options: vid=,pid=, layout=NAME, ntrst=, nreset=, asebrk=, vtref=PIN, "
                       "adaptive=on (RTCK at GPIOL3), tdo=falling",
                       "ftdi: no option \"%s%s%s\"", name, text_if(value[0], "="), value);
    return 0;
}

static void destroy_ftdi(struct ftdi *f)
{
    if (!f)
        return;
    if (f->usb)
        ftdi_stop(f);
    free(f->batch);
    free(f->read);
    free(f);
}

static int make_ftdi(const struct probe_config *cfg, struct ftdi **out, struct err *err)
{
    struct ftdi *f = calloc(1, sizeof *f);
    if (f)
        f->batch = calloc(FTDI_BATCHES, sizeof *f->batch);
    if (f)
        f->read = calloc(FTDI_READS, sizeof *f->read);
    if (!f || !f->batch || !f->read) {
        destroy_ftdi(f);
        return err_set(err, ERR_NOMEM, "close other programs", "ftdi: no memory");
    }
    const struct adapter *row = cfg->adapter;
    f->probe.driver = row->driver;
    f->probe.log = cfg->log;
    f->row = *row;
    f->hz = EITHER(cfg->speed_hz, DEFAULT_HZ);
    f->layout = ftdi_layout_of(row->vid, row->pid, row->product);
    *out = f;
    return 0;
}

static int find_and_start(struct ftdi *f, struct err *err)
{
    struct usb_info dev;
    int ret = adapter_usb(&f->row, &dev, err);
    if (ret < 0)
        return ret;
    snprintf(f->row.bus_path, sizeof f->row.bus_path, "%s", dev.bus_path);
    snprintf(f->probe.name, sizeof f->probe.name, "ftdi %s%s%s", dev.bus_path,
             text_if(f->row.channel[0], ":"), f->row.channel);
    return ftdi_start(f, &dev, err);
}

static int ftdi_op_open(const struct probe_config *cfg, struct probe **out, struct err *err)
{
    struct ftdi *f = NULL;
    int ret = make_ftdi(cfg, &f, err);
    if (ret < 0 || !f)
        return ret;
    ret = options_each(cfg->spec, find_layout, f, err);
    use_layout(f);
    if (ret == 0)
        ret = options_each(cfg->spec, set_option, f, err);
    for (unsigned s = 0; s < FTDI_VTREF; s++)
        drive_pin(f, (enum ftdi_signal)s, false);
    if (ret == 0)
        ret = find_and_start(f, err);
    if (ret < 0)
        destroy_ftdi(f);
    else
        *out = &f->probe;
    return ret;
}

static void ftdi_op_close(struct probe *p)
{
    if (p)
        destroy_ftdi(ftdi_of(p));
}

static int ftdi_op_reopen(struct probe *p, struct err *err)
{
    struct ftdi *f = ftdi_of(p);
    if (f->usb)
        ftdi_stop(f);
    return find_and_start(f, err);
}

/* ---- list ---- */

/* Chips by bcdDevice: makers of boards give them other ids. Source: data sheets. */
static const struct chip {
    uint16_t bcd;
    const char *name;
    uint8_t mpsse; /* channels with the engine */
} chips[] = {
    { 0x0700, "FT2232H", 2 },  { 0x0800, "FT4232H", 2 },  { 0x0900, "FT232H", 1 },
    { 0x2800, "FT2233HP", 2 }, { 0x2900, "FT4233HP", 2 }, { 0x3000, "FT2232HP", 2 },
    { 0x3100, "FT4232HP", 2 }, { 0x3200, "FT233HP", 1 },  { 0x3300, "FT232HP", 1 },
    { 0x3600, "FT4232HA", 2 },
};

static int describe_layout(const struct usb_info *dev, char channel, struct adapter *row)
{
    const struct chip *chip = NULL;
    const struct ftdi_layout *l = ftdi_layout_of(dev->vid, dev->pid, dev->product);
    for (size_t i = 0; i < ARRAY_LEN(chips); i++)
        if (chips[i].bcd == dev->bcd_device)
            chip = &chips[i];
    if (channel - 'A' >= (chip ? chip->mpsse : 1))
        return -1;
    snprintf(row->firmware, sizeof row->firmware, "%s", chip ? chip->name : "");
    if (chip && chip->mpsse > 1)
        snprintf(row->channel, sizeof row->channel, "%c", channel);
    if (!chip)
        snprintf(row->note, sizeof row->note, "not an MPSSE chip at high speed (bcdDevice %04x)",
                 dev->bcd_device);
    else if (l->channel && l->channel != channel)
        snprintf(row->note, sizeof row->note, "%s has its JTAG on channel %c", l->name, l->channel);
    else
        snprintf(row->note, sizeof row->note, "layout %s", l->name);
    row->can = 0;
    if (chip && (!l->channel || l->channel == channel))
        row->can = ADAPTER_JTAG;
    /* a chip with its maker's ids: serial ports have them, too, and their peers drive our TDI and
     * TMS */
    row->doubtful = !l->channel;
    return channel - 'A';
}

static int pick_a(const struct usb_info *dev, struct adapter *row)
{
    return describe_layout(dev, 'A', row);
}
static int pick_b(const struct usb_info *dev, struct adapter *row)
{
    return describe_layout(dev, 'B', row);
}

static const struct probe_driver *this_driver(void);

static int list_ids(const struct usb_id *ids, struct adapter_list *out, struct err *err)
{
    static adapter_pick *const channels[] = { pick_a, pick_b };
    return adapter_list_usb_channels(this_driver(), ids, channels, ARRAY_LEN(channels), out, err);
}

/* Opening a chip would move its pins: it is only looked at. */
static int ftdi_op_list(bool open, struct adapter_list *out, struct err *err)
{
    (void)open;
    return list_ids(ftdi_ids, out, err);
}

static int ftdi_op_list_id(const struct usb_id *id, struct adapter_list *out, struct err *err)
{
    const struct usb_id ids[] = { *id, { 0, 0 } };
    return list_ids(ids, out, err);
}

static const struct jtag_ops ftdi_jtag = {
    .execute = ftdi_op_execute,
    .set_pins = ftdi_op_set_pins,
    .get_pins = ftdi_op_get_pins,
    .set_clock = ftdi_op_set_clock,
    .wait = host_wait,
    .now_ns = host_now_ns,
    .batch_bits = ftdi_op_batch_bits,
    .stats = ftdi_op_stats,
};

const struct probe_driver ftdi_driver = {
    .name = "ftdi",
    .help = "a board with an FT232H, FT2232H, FT4232H or one of their HP kind",
    .ids = ftdi_ids,
    .list = ftdi_op_list,
    .list_id = ftdi_op_list_id,
    .open = ftdi_op_open,
    .close = ftdi_op_close,
    .reopen = ftdi_op_reopen,
    .jtag = &ftdi_jtag,
};

static const struct probe_driver *this_driver(void) { return &ftdi_driver; }
