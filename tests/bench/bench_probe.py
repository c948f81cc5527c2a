#!/usr/bin/env python3
"""What DR scans and memory cost through adapters: USB transfers, bytes and time, beside OpenOCD's on the same model of the adapter.

usage: bench_probe.py BUILD_DIR [--hz TCK] [--sessions | --pods] [MODEL...]      default: every row below, 10 MHz
--sessions: what the steps of a debug session cost instead, each adapter in a column. --pods: an S12Z on the BDM pods instead.

Time is virtual: transfers cost frames of 1 ms (full speed) or 125 us, clocks cost TCK; hosts cost nothing. Costs are differences of two
runs, so opening is not in them. OpenOCD scans one at a time (drscan) and from an SVF file, which is how it queues many.
"""
import json
import os
import subprocess
import sys
import tempfile

if len(sys.argv) < 2 or not os.path.isdir(sys.argv[1]):
    sys.exit(__doc__)
HZ = int(sys.argv[sys.argv.index("--hz") + 1]) if "--hz" in sys.argv else 10_000_000
MODELS = [a for a in sys.argv[2:] if not a.startswith("--") and not a.isdigit()]
FEW, MANY, MANY_SINGLE = 200, 8200, 1200
FEW_KB, MANY_KB = 16, 240
# of a session: stage, the one before it, how often (0: once, against the stage before)
STAGES = [("attach", "open", 0), ("reset", "attach", 0), ("load", "reset", 0), ("verify", "load", 0), ("step", "", 20), ("breakpoint", "", 10),
          ("arm", "breakpoint", 0), ("drain", "", 40)]
PODS = [("USBDM V4", "usbdm", "usbdm"), ("USBDM V5", "usbdm,v5", "usbdm"), ("OSBDM", "osbdm", "osbdm")]
# what, how often, unit
POD_ROWS = [("commands", "a register read", 20, 220, "/s"), ("read", "memory read", 16, 48, "KB/s"), ("write", "memory written", 16, 48, "KB/s"),
            ("flash", "flash: looked at, programmed, verified", 8, 24, "KB/s"), ("phrases", "the same without the loader", 8, 16, "KB/s"),
            ("lines", "trace buffer read", 2, 6, "/s")]
# name, model and options, our probe, OpenOCD's configuration
ROWS = [
    ("CMSIS-DAP v2, 512 bytes", "cmsis-dap", "cmsis-dap", ["adapter driver cmsis-dap", "cmsis_dap_backend usb_bulk"]),
    ("CMSIS-DAP v2, 64 bytes, full speed", "cmsis-dap,packet=64", "cmsis-dap", ["adapter driver cmsis-dap", "cmsis_dap_backend usb_bulk"]),
    ("CMSIS-DAP v2, 512 bytes, one packet at a time", "cmsis-dap,count=1", "cmsis-dap", ["adapter driver cmsis-dap", "cmsis_dap_backend usb_bulk"]),
    ("CMSIS-DAP v1 (HID), 64 bytes", "cmsis-dap,v1", "cmsis-dap", ["adapter driver cmsis-dap", "cmsis_dap_backend hid"]),
    ("CMSIS-DAP v1 (HID), 512 bytes", "cmsis-dap,v1,report=512,vid=03eb,pid=2141", "cmsis-dap", ["adapter driver cmsis-dap", "cmsis_dap_backend hid"]),
    ("J-Link, high speed", "jlink", "jlink", ["adapter driver jlink"]),
    ("FT232H", "ft232h", "ftdi", ["adapter driver ftdi", "ftdi vid_pid 0x0403 0x6014", "ftdi layout_init 0x0018 0x001b"]),
]


def run(rig, model, command, board="sim:sh7750"):
    """The rig's totals: virtual seconds, transfers, bytes, TCK."""
    with tempfile.NamedTemporaryFile() as stats:
        r = subprocess.run([rig, "--time", "virtual", "--stats", stats.name, "--board", board, model, "--"] + command,
                           capture_output=True, text=True, timeout=170, stdin=subprocess.DEVNULL)
        if r.returncode != 0:
            raise RuntimeError((r.stderr.strip() or r.stdout.strip()).splitlines()[-1])
        total = json.load(open(stats.name))
    d = total["devices"][0]
    return [total["virtual_ns"] / 1e9, d["transfers"], d["bytes_in"] + d["bytes_out"], d["tck"]]


def cost(rig, model, few, many, command_for, board="sim:sh7750"):
    """Seconds, transfers, bytes and clocks of one of what command_for(n) does n of."""
    a, b = run(rig, model, command_for(few), board), run(rig, model, command_for(many), board)
    return [(y - x) / (many - few) for x, y in zip(a, b)]


def openocd(folder, setup, scans, svf):
    script = os.path.join(folder, "bench.cfg")
    lines = setup + ["transport select jtag", f"adapter speed {HZ // 1000}", "gdb_port disabled", "telnet_port disabled", "tcl_port disabled",
                     "jtag newtap sh7750 cpu -irlen 16 -ircapture 0x1 -irmask 0x3", "init", "irscan sh7750.cpu 0x6000"]
    if svf:
        # TDO makes it read; what it reads is not compared: 0.12 looks at words it has overwritten
        text = "ENDDR IDLE;\n" + "".join(f"SDR 32 TDI ({i * 2654435761 % 2**32:08X}) TDO (00000000) MASK (00000000);\n" for i in range(scans))
        with open(os.path.join(folder, "bench.svf"), "w") as f:
            f.write(text)
        lines.append(f"svf -tap sh7750.cpu {folder}/bench.svf quiet")
    else:
        lines.append(f"for {{set i 0}} {{$i < {scans}}} {{incr i}} {{ drscan sh7750.cpu 32 $i }}")
    with open(script, "w") as f:
        f.write("\n".join(lines + ["shutdown"]) + "\n")
    return ["openocd", "-f", script]


def row(way, unit, c):
    seconds, transfers, size, tck = c
    print(f"  {way:<34} {1 / seconds if seconds > 0 else float('inf'):9,.0f} {unit:<8} {transfers:9.3f} {size:9.1f} {tck:9.1f}"
          f" {100 * tck / HZ / seconds if seconds > 0 else 0:6.1f} %")


def stage_cost(rig, bench, model, probe, stage, before, many):
    def command(name, n):
        return [bench, "session", probe, str(HZ), str(n), name]
    if many:
        a, b = run(rig, model, command(stage, many // 2)), run(rig, model, command(stage, many))
        return [(y - x) / (many - many // 2) for x, y in zip(a, b)]
    a, b = run(rig, model, command(before, 1)), run(rig, model, command(stage, 1))
    return [y - x for x, y in zip(a, b)]


def sessions(rig, bench):
    rows = [r for r in ROWS if not MODELS or r[1] in MODELS]
    print(f"TCK {HZ // 1000000} MHz; transfers and ms of each stage of a session with the tutorial's program")
    for name, model, probe, _ in rows:
        print(name)
        for stage, before, many in STAGES:
            try:
                seconds, transfers, size, tck = stage_cost(rig, bench, model, probe, stage, before, many)
                print(f"  {stage:<12} {transfers:8.1f} transfers {1e3 * seconds:9.2f} ms {size:10.0f} bytes {tck:10.0f} clocks,"
                      f" {1e3 * tck / HZ:.2f} ms of TCK")
            except (RuntimeError, OSError, subprocess.TimeoutExpired) as e:
                print(f"  {stage:<12} {e}")
            sys.stdout.flush()


def pods(rig, bench):
    print("each                                                    ms    transfers      bytes")
    for name, model, probe in PODS:
        if MODELS and model not in MODELS:
            continue
        print(name)
        for what, text, few, many, unit in POD_ROWS:
            seconds, transfers, size, _ = cost(rig, model, few, many, lambda n: [bench, probe, what, str(n)], "sim:s12zvml128")
            print(f"  {text:<40} {1 / seconds:9,.1f} {unit:<5} {1e3 * seconds:9.2f} {transfers:9.2f} {size:10.0f}")
            sys.stdout.flush()


def main():
    build = os.path.abspath(sys.argv[1])
    rig, bench = os.path.join(build, "tests/system/usb/usb_rig"), os.path.join(build, "tests/bench/bench_probe")
    if "--sessions" in sys.argv:
        return sessions(rig, bench)
    if "--pods" in sys.argv:
        return pods(rig, os.path.join(build, "tests/bench/bench_bdc"))
    print(f"TCK {HZ // 1000000} MHz; per 32-bit DR scan, or KB of an SH-4's memory            transfers     bytes    clocks  of TCK")
    for name, model, probe, setup in ROWS:
        if MODELS and model not in MODELS:
            continue
        print(name)
        with tempfile.TemporaryDirectory() as folder:
            ways = [("probeprof, scans all at once", FEW, MANY, "scans/s", lambda n: [bench, "scans", probe, str(HZ), str(n)]),
                    ("OpenOCD, scans of an SVF file", FEW, MANY, "scans/s", lambda n: openocd(folder, setup, n, True)),
                    ("probeprof, one scan at a time", FEW, MANY_SINGLE, "scans/s", lambda n: [bench, "scans", probe, str(HZ), str(n), "1"]),
                    ("OpenOCD, one drscan at a time", FEW, MANY_SINGLE, "scans/s", lambda n: openocd(folder, setup, n, False)),
                    ("probeprof, memory read", FEW_KB, MANY_KB, "KB/s", lambda n: [bench, "read", probe, str(HZ), str(n)]),
                    ("probeprof, memory written", FEW_KB, MANY_KB, "KB/s", lambda n: [bench, "write", probe, str(HZ), str(n)])]
            for way, few, many, unit, command_for in ways:
                try:
                    row(way, unit, cost(rig, model, few, many, command_for))
                except (RuntimeError, OSError, subprocess.TimeoutExpired) as e:
                    print(f"  {way:<34} {e}")
                sys.stdout.flush()


main()
