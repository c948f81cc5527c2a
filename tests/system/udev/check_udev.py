#!/usr/bin/env python3
"""udev/60-probeprof.rules: every line parses, grants by seat tag only, covers the known adapters and keeps ModemManager off those that are nothing else.

usage: check_udev.py RULES DRIVER_IDS     exit 0 clean, 1 with findings
DRIVER_IDS prints the ids of every driver ("jlink 1366 0101 own"): each must be granted, and be one driver's own.
"""
import fnmatch
import os
import re
import subprocess
import sys

PAIR = re.compile(r'\s*([A-Z]+)(?:\{([A-Za-z_]+)\})?\s*(==|!=|\+=|=)\s*"([^"]*)"\s*(,|$)')
MATCH_KEYS = {"ACTION", "SUBSYSTEM", "ATTRS", "ATTR"}
ASSIGN_KEYS = {"TAG", "GOTO", "LABEL", "ENV"}
MODEM = ("ENV", "ID_MM_DEVICE_IGNORE", "=", "1")
# vendor, product, a subsystem it must be granted on.
WANTED = [
    (0x1fc9, 0x0090, "hidraw"), (0x04b4, 0xf154, "usb"), (0x04b4, 0xf155, "usb"), (0x1a86, 0x8012, "usb"),
    (0x03eb, 0x2111, "hidraw"), (0x03eb, 0x2140, "hidraw"), (0x03eb, 0x2141, "hidraw"), (0x03eb, 0x2144, "hidraw"),
    (0x03eb, 0x2157, "hidraw"), (0x03eb, 0x2169, "hidraw"), (0x03eb, 0x216a, "hidraw"), (0x03eb, 0x2170, "hidraw"),
    (0x0403, 0x6010, "usb"), (0x0403, 0x6011, "usb"), (0x0403, 0x6014, "usb"), *((0x0403, pid, "usb") for pid in (0x6040, 0x6041, 0x6042, 0x6043, 0x6044, 0x6045, 0x6048)),
    (0x0403, 0xa6d0, "usb"), (0x0403, 0xa6d1, "usb"), (0x0fbb, 0x1000, "usb"), (0x1209, 0x3442, "usb"), (0x1209, 0x3443, "usb"),
    (0x1366, 0x0101, "usb"), (0x1366, 0x1015, "usb"), (0x1366, 0x1061, "usb"),
    (0x16d0, 0x0567, "usb"), (0x16d0, 0x06a5, "usb"), (0x16d0, 0x4327, "usb"), (0x0425, 0xff02, "usb"),
    (0x15a2, 0x005e, "usb"), (0x15a2, 0x0042, "usb"), (0x15a2, 0x0058, "usb"), (0x15a2, 0x005f, "usb"),
    (0x15a2, 0xaf10, "usb"), (0x15a2, 0xaf11, "usb"), (0x15a2, 0x0035, "usb"), (0x15a2, 0x0021, "usb"),
    (0x0425, 0x1000, "usb"), (0x0425, 0x1001, "usb"),
]
ANYTHING = {(0x0403, pid) for pid in (0x6010, 0x6011, 0x6014, 0x6040, 0x6041, 0x6042, 0x6043, 0x6044, 0x6045, 0x6048)} # bare chips: a modem may hang at one
UNWANTED = [(0x0403, 0x6001, "usb"), (0x046d, 0xc077, "hidraw")]


def parse(text, findings):
    """Rules as lists of (key, attribute, operator, value)."""
    rules = []
    for number, line in enumerate(text.splitlines(), 1):
        if not line.strip() or line.startswith("#"):
            continue
        rule, at = [], 0
        while at < len(line):
            m = PAIR.match(line, at)
            if not m:
                findings.append(f"line {number}: does not parse at column {at + 1}: {line[at:at + 40]!r}")
                break
            key, attribute, operator, value, comma = m.groups()
            if key not in MATCH_KEYS | ASSIGN_KEYS:
                findings.append(f"line {number}: key {key} is not used here (MODE would open the node to all)")
            if (key in MATCH_KEYS) != (operator in ("==", "!=")):
                findings.append(f"line {number}: {key}{operator} compares and assigns at once")
            if key == "TAG" and (operator, value) != ("+=", "uaccess"):
                findings.append(f"line {number}: only TAG+=\"uaccess\" is meant")
            if attribute in ("idVendor", "idProduct") and not re.fullmatch(r"[0-9a-f]{4}(\|[0-9a-f]{4})*", value):
                findings.append(f"line {number}: ids are four lower-case hex digits, as in sysfs: {value}")
            if key == "ENV" and (key, attribute, operator, value) != MODEM:
                findings.append(f"line {number}: only ENV{{ID_MM_DEVICE_IGNORE}}=\"1\" is meant")
            rule.append((key, attribute, operator, value))
            at = m.end()
            if not comma:
                break
        rules.append(rule)
    return rules


def matches(rule, device):
    for key, attribute, operator, value in rule:
        if key not in MATCH_KEYS:
            continue
        have = device.get(attribute or key, "")
        hit = any(fnmatch.fnmatchcase(have, p) for p in value.split("|"))
        if hit != (operator == "=="):
            return False
    return True


def granted(rules, device):
    """The words that give the device to the seat's user, and that keep ModemManager off."""
    skip_to = None
    tags = set()
    for rule in rules:
        label = [v for k, _, _, v in rule if k == "LABEL"]
        if skip_to:
            if skip_to in label:
                skip_to = None
            continue
        if matches(rule, device):
            tags |= {k for k, _, _, _ in rule if k in ("TAG", "ENV")}
            skip_to = next((v for k, _, _, v in rule if k == "GOTO"), None)
    return tags


def device(vid, pid, subsystem, product="probe"):
    return {"SUBSYSTEM": subsystem, "ACTION": "add", "idVendor": f"{vid:04x}", "idProduct": f"{pid:04x}", "product": product}


def driver_ids(program, findings):
    """What the drivers look for; those of HID probes are needed on hidraw, too."""
    found, owner = [], {}
    for line in subprocess.run([program], check=True, capture_output=True, text=True).stdout.splitlines():
        driver, vid, pid, shared = line.split()
        if shared == "own" and owner.setdefault((vid, pid), driver) != driver:
            findings.append(f"{vid}:{pid} is in the tables of {owner[vid, pid]} and {driver}")
        found += [(int(vid, 16), int(pid, 16), subsystem) for subsystem in (("usb", "hidraw") if driver == "cmsis-dap" else ("usb",))]
    if not found:
        findings.append("no driver has any id")
    return found


def main():
    findings = []
    with open(sys.argv[1], encoding="utf-8") as f:
        rules = parse(f.read(), findings)
    if int(os.path.basename(sys.argv[1])[:2]) >= 73:
        findings.append("the file's number must be below 73, or uaccess comes too late")
    wanted = WANTED + driver_ids(sys.argv[2], findings)
    for vid, pid, subsystem in wanted:
        words = granted(rules, device(vid, pid, subsystem))
        if "TAG" not in words:
            findings.append(f"{vid:04x}:{pid:04x} on {subsystem} is not covered")
        if ("ENV" in words) == ((vid, pid) in ANYTHING):
            findings.append(f"{vid:04x}:{pid:04x} on {subsystem}: ModemManager is to be kept off adapters, and off nothing else")
    for product in ("Raspberry Pi Debug Probe (CMSIS-DAP)", "MCU-LINK CMSIS_DAP"):
        for subsystem in ("usb", "hidraw"):
            if not granted(rules, device(0x2e8a, 0x000c, subsystem, product)):
                findings.append(f"product '{product}' on {subsystem} is not covered")
    for vid, pid, subsystem in UNWANTED:
        if granted(rules, device(vid, pid, subsystem)):
            findings.append(f"{vid:04x}:{pid:04x} on {subsystem} is granted and should not be")
    removed = device(0x16d0, 0x0567, "usb")
    removed["ACTION"] = "remove"
    if granted(rules, removed):
        findings.append("a remove event is tagged")
    bad = []
    parse('SUBSYSTEM=="usb", MODE="0666"\nTAG+="uaccess" nonsense\nTAG=="uaccess"\nENV{ID_X}="1"\n', bad)
    if len(bad) != 5:
        findings.append(f"self-test: bad lines gave {bad}")
    for finding in findings:
        print(finding)
    print(f"{len(rules)} rules, {len(wanted)} adapters checked, {len(findings)} findings")
    return 1 if findings else 0


sys.exit(main())
