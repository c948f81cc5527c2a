#include "tests/system/usb/rig_setup.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "probe/base/util.h"

int rig_add(struct bus *bus, struct wiring *wiring, struct rig_next *next, const char *text,
            struct err *err)
{
    unsigned i = bus->ndevs;
    int ret = i == RIG_DEVS ? err_set(err, ERR_USAGE, "", "more than %d models", RIG_DEVS) : 0;
    if (ret == 0 && next->board)
        ret = wiring_open(&wiring[i], next->board, err);
    for (unsigned k = 0; k < next->nchain && ret == 0; k++)
        ret = wiring_chain(&wiring[i], next->chain[k], err);
    if (ret == 0 && next->wires)
        ret = wiring_fault(&wiring[i], next->wires, err);
    if (ret < 0)
        return ret;
    bus->ndevs++;
    ret = bus_add(&bus->dev[i], bus, text, next->board ? &wiring[i].base : NULL, err);
    if (ret == 0 && !bus->dev[i].path[0])
        snprintf(bus->dev[i].path, sizeof bus->dev[i].path, "1-%u", i + 1);
    *next = (struct rig_next){ .board = NULL };
    return ret;
}

/* Takes the place of the oldest fault when all are used: those have struck. */
static int strike_from_now(struct bus_dev *d, const char *kind, uint64_t nth, struct err *err)
{
    char text[64];
    unsigned i = d->nfaults < BUS_FAULTS ? d->nfaults++ : 0;
    snprintf(text, sizeof text, "%s@%llu", kind, (unsigned long long)(d->transfers + nth));
    return fault_parse(&d->fault[i], text, err);
}

/* Forgets the faults; says how many had struck. */
static int calm_device(struct bus_dev *d, char *answer, size_t cap)
{
    unsigned struck = 0;
    for (unsigned i = 0; i < d->nfaults; i++)
        struck += d->fault[i].at <= d->transfers;
    snprintf(answer, cap, " %u", struck);
    return d->nfaults = 0, 0;
}

/* Levels as the board has them: enum jtag_pin or bdc_pin, in hex. */
static int board_pins(struct wiring *w, char *answer, size_t cap, struct err *err)
{
    unsigned value = 0, known = 0;
    int ret = w->base.type->get_pins(&w->base, &value, &known, err);
    snprintf(answer, cap, " %x of %x", value, known);
    return ret;
}

int rig_command(struct bus *bus, struct wiring *wiring, const char *line, char *answer, size_t cap,
                struct err *err)
{
    char verb[16] = "", what[32] = "", third[16] = "", fourth[16] = "";
    sscanf(line, "%15s %31s %15s %15s", verb, what, third, fourth);
    bool strike = strcmp(verb, "strike") == 0;
    unsigned i = (unsigned)strtoul(strike                       ? fourth
                                   : strcmp(verb, "power") == 0 ? third
                                                                : what,
                                   NULL, 10);
    if (i >= bus->ndevs)
        return err_set(err, ERR_USAGE, "", "no device %u", i);
    struct bus_dev *d = &bus->dev[i];
    if (strcmp(verb, "unplug") == 0)
        return bus_unplug(d), 0;
    if (strcmp(verb, "plug") == 0)
        return bus_plug(d, err);
    if (strcmp(verb, "power") == 0)
        return wiring_power(&wiring[i], strcmp(what, "on") == 0, err);
    if (strcmp(verb, "transfers") == 0)
        return snprintf(answer, cap, " %llu", (unsigned long long)d->transfers), 0;
    if (strcmp(verb, "ahead") == 0) {
        snprintf(answer, cap, " %u", d->most_ahead);
        return d->most_ahead = 0, 0;
    }
    if (strcmp(verb, "ask") == 0 && d->plugged && d->type->ask)
        return snprintf(answer, cap, " %ld", d->type->ask(d->model, third)), 0;
    if (strcmp(verb, "pins") == 0 && wiring[i].board)
        return board_pins(&wiring[i], answer, cap, err);
    if (strcmp(verb, "calm") == 0)
        return calm_device(d, answer, cap);
    if (strike)
        return strike_from_now(d, what, strtoull(third, NULL, 10), err);
    return err_set(err, ERR_USAGE, "", "unknown command \"%s\"", line);
}
