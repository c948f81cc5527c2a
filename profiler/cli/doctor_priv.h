/* What the doctor's files share: doctor_adapter.c checks the adapter, doctor_wire.c the wire
 * between it and the part, doctor.c the part and the capture of its pins. */
#ifndef PROFILER_CLI_DOCTOR_PRIV_H
#define PROFILER_CLI_DOCTOR_PRIV_H

#include "probe/link.h"
#include "probe/probe.h"
#include "profiler/cli/doctor.h"
#include "profiler/cli/parts.h"

struct doctor {
    struct cli *cli;
    const struct settings *set;
    const struct log *log;
    struct doctor_report *report;
    struct adapter_list list;
    const struct adapter *row; /* in list; NULL for adapters that are not listed: boards, hosts */
    struct probe *probe;
    struct target *target;
    const struct part *part;
    bool private_allowed;
    bool unpowered;    /* the adapter sees no target power */
    bool power_known;  /* it can tell */
    struct err pin;    /* of a pin that it sees held low; code ERR_OK: none */
    uint32_t found_hz; /* by --speed auto; 0: not looked for */
};

/* Steps. Each fills `detail` and returns 0, 1 if it does not apply here, or what is wrong. Each
 * needs the ones before it.
 *
 * doctor_adapter - which adapter it is. doctor_access - does it open? doctor_firmware - what it
 * runs. */
int doctor_adapter(struct doctor *d, char *detail, size_t cap, struct err *err);
int doctor_access(struct doctor *d, char *detail, size_t cap, struct err *err);
int doctor_firmware(struct doctor *d, char *detail, size_t cap, struct err *err);

/* doctor_power - has the target power? doctor_pins - is a pin held low? doctor_clock - how fast the
 * wire is. doctor_wire - do bits, or the part's answer, come back? */
int doctor_power(struct doctor *d, char *detail, size_t cap, struct err *err);
int doctor_pins(struct doctor *d, char *detail, size_t cap, struct err *err);
int doctor_clock(struct doctor *d, char *detail, size_t cap, struct err *err);
int doctor_wire(struct doctor *d, char *detail, size_t cap, struct err *err);

/* doctor_no_power - the failure that is found when the target has no power; returns its code. */
int doctor_no_power(struct err *err);

#endif
