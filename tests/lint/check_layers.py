#!/usr/bin/env python3
"""Layers point one way (docs/design.md): reads every #include of the product's folders and prints
file:line of each that points back, that reaches a library from the wrong layer, or that takes the
driver into the board model; checks the top level's contents; and, given the build folder, that no
static library holds mutable file-scope variables, and that files of rooms with stairs call downwards only.

usage: check_layers.py SOURCE_DIR [BUILD_DIR]      exit 0 clean, 1 with findings
"""
import glob
import os
import re
import subprocess
import sys

# Longest prefix decides. Each room lists what it may include, by prefix.
COMMON = ["probe/base/"]
INTERFACE = COMMON + ["targets/address.h", "targets/target.h", "targets/event.h", "targets/image.h", "targets/overlay.h", "targets/coverage.h", "targets/insn.h", "targets/graph.h",
                      "targets/run_time.h", "targets/run_table.h", "targets/gdb_kinds.h"]
# Of the driver's side a simulated board shares the instruction set only: what reads a wire and what drives it are to disagree.
PINS = COMMON + ["probe/sim.h", "probe/sim_serial.h", "probe/jtag.h", "probe/bdc", "probe/pdo.h"]
CORE, PROFILE = INTERFACE + ["profiler/core/"], INTERFACE + ["profiler/core/", "profiler/profile/"]
AREAS = {
    "probe/": ["probe/"],
    "targets/": ["probe/"] + INTERFACE,
    "targets/sh4/isa/": INTERFACE + ["targets/sh4/isa/", "targets/sh4/sh4.h"],
    # a program's code, searched in its image: no board
    "targets/sh4/code/": INTERFACE + ["targets/sh4/code/", "targets/sh4/isa/", "targets/sh4/sh4.h"],
    # operating systems' structures in memory: no CPU is known here
    "targets/os/": COMMON + ["targets/address.h", "targets/image.h", "targets/os/"],
    "targets/sh4/": ["probe/"] + INTERFACE + ["targets/os/tasks.h", "targets/sh4/"],
    # the trace plugs into the driver (struct sh4_tracing)
    "targets/sh4/driver/": ["probe/"] + INTERFACE + ["targets/sh4/sh4.h"] + ["targets/sh4/" + room for room in ("agent/", "code/", "driver/", "isa/")],
    "targets/s12z/driver/": ["probe/"] + INTERFACE + ["targets/s12z/" + name for name in ("s12z.h", "settings.h", "driver/", "isa/")],
    "targets/s12z/isa/": INTERFACE + ["targets/s12z/isa/", "targets/s12z/s12z.h"],
    "targets/s12z/": ["probe/"] + INTERFACE + ["targets/s12z/"],
    "targets/sim/sh4/": PINS + ["targets/sim/patience.h", "targets/sim/sh4/", "targets/sh4/isa/"],
    "targets/sim/s12z/": PINS + ["targets/sim/patience.h", "targets/sim/s12z/", "targets/s12z/isa/"],
    "gdbstub/": INTERFACE + ["targets/os/tasks.h", "gdbstub/"],
    "profiler/core/": CORE,
    "profiler/profile/": PROFILE,
    "profiler/views/": PROFILE + ["profiler/views/"],
    # neither files nor a board
    "profiler/analyses/": PROFILE + ["profiler/analyses/"],
    # the feed knows no board and no event loop
    "profiler/feed/": PROFILE + ["profiler/views/", "profiler/feed/", "profiler/page/"],
    "profiler/page/": COMMON + ["profiler/page/"],
    "profiler/bridge/": ["probe/"] + CORE + ["gdbstub/", "profiler/bridge/"],
    "profiler/cli/": ["probe/", "targets/", "gdbstub/", "profiler/"],
}
# What even a permitted prefix may not reach.
FORBIDDEN = {}
# Rooms whose files stand on each other like stairs: a file may call those before it. Names in one string stand on one step.
STAIRS = {
    "probe/base": ["text", "err", "log", "sink", "buffer", "array", "hex", "decimal", "reg", "pages", "nearest", "options"],
    # from what the system offers, to drivers, to what chooses one and what hangs behind it
    "probe": ["host_time", "holder", "usb_sysfs", "usb_list", "usb", "stream_fd", "tty_find", "tty", "tcp",
              "jtag", "jtag_stream", "bdc_commands", "pdo_queue", "pdo_samples", "adapter_list", "adapter_usb",
              "cmsis_dap_quirks", "cmsis_dap_jtag", "cmsis_dap_v1", "cmsis_dap_v2", "cmsis_dap_find", "cmsis_dap_command",
              "cmsis_dap_session", "cmsis_dap_stream", "cmsis_dap",
              "ftdi_layouts", "ftdi_mpsse", "ftdi_session", "ftdi",
              "jlink_protocol", "jlink_ask", "jlink_batch", "jlink_session", "jlink",
              "pod", "osbdm", "usbdm_command", "usbdm", "serial", "dcload_ip",
              "pdo_sr", "pdo_vcd", "pdo_file", "pdo_sigrok_load", "pdo_sigrok_device", "pdo_sigrok",
              "sim_bdc", "sim_serial", "sim", "drivers", "adapter", "probe", "link", "jtag_chain", "jtag_chain_wrap"],
    "gdbstub": ["rsp", "agent_printf", "agent_expr", "actions", "session_state", "reply", "stub", "threads", "hits", "stop_reply", "fileio", "news",
                "moment", "leave", "cmd_break", "cmd_mem", "cmd_monitor", "cmd_query", "cmd_regs", "cmd_run", "packets", "session"],
    "targets/os": ["systems", "memory", "freertos", "saved", "tasks"],
    "targets/sh4/driver": ["run_state", "state", "events", "stream_text", "dcip_command", "dcip", "stream", "link", "view", "connect", "clock", "exchange",
                           "agent", "caches", "search", "hudi", "regs", "written", "patch", "channels", "ubc", "mem", "watch", "image", "break", "self_reset", "run", "bl",
                           "stop", "for_trace", "dcload", "dcip_load", "halt", "attach", "resume", "temporary_halt", "access", "sample", "counters",
                           "monitor", "wire", "target"],
    "targets/sh4/rsp": ["packet", "client", "rsp_talk", "rsp_regs", "rsp_peek", "rsp_bp", "rsp_run", "rsp_hold", "rsp_break", "rsp_mem",
                        "rsp_monitor", "rsp"],
    "targets/s12z/isa": ["cycles", "operand", "isa", "text", "insn", "graph"],
    "targets/s12z/driver": ["run_state", "state", "chips", "counters", "access", "plan", "link", "raw", "comparators", "dbg", "break",
                            "loader", "regs", "mem", "stop", "identify", "ftmrz", "reset", "flash", "look", "step", "run", "monitor", "target"],
    "targets/s12z/trace": ["flow_image", "flow_nodes", "flow_counts", "flow_walk", "flow", "rates", "time", "culprits", "events", "line", "stream",
                           "edges", "board_time", "arrivals", "bursts", "pins", "sessions", "report", "trace"],
    "targets/s12z/offline": ["explain", "trace_input"],
    # of the DBG: a full trace ends the sequencer's run, as the sequencer's end ends a trace
    "targets/sim/s12z": ["gate", "board_options", "board_state", "board_fault_time", "board_mmc", "cpu_code", "memory_map", "intc",
                         "dbg_pdo", "dbg dbg_profile dbg_trace", "bdc_state", "ftmrz_commands", "sram_ecc", "bus", "cpu_state",
                         "exec_flow", "exec_math", "exec", "cpu", "board_time", "board_reset", "board_fault", "board_wire", "bdc",
                         "bdc_pin", "ftmrz", "adc", "cpmu", "pim", "pmf", "sci", "tim", "peripherals", "board"],
    "targets/sim/sh4": ["mmu", "ubc", "fpu_round", "fpu", "fpu_vector", "decode", "phys", "cache", "pmc", "cpu_state", "cpu_reset",
                        "cpu_exception", "cpu_p4", "cpu_mem", "exec", "exec_fast", "cpu_idle", "cpu", "intc", "rtc", "scif", "tmu", "wdt",
                        "board_bus", "board_options", "bootrom", "hudi", "board"],
    "profiler/bridge": ["say", "presence", "event_queue", "net", "board_io", "counting", "worker", "wire", "gdb_conn", "gdb_sessions",
                        "gdb_server", "pump", "pump_change", "sampler", "begin", "recover"],
    "profiler/feed": ["frame", "feed_known", "feed_log", "feed_state", "feed_names", "feed_profile", "feed_losses", "feed_shown", "feed_range feed_series", "feed_marks feed_fold feed", "feed_write",
                      "feed_write_range",
                      "follow_frame follow", "http_guard", "http_bytes", "http_query", "gzip", "http_fail", "http_stream", "http_answer", "http", "http_lines", "http_raw", "http_readers",
                      "http_command", "timeline_follow timeline", "http_timeline", "http_metrics", "http_static", "listing", "source_text", "function",
                      "http_call", "http_jobs", "http_states", "http_figures", "http_api"],
    "profiler/analyses": ["link_map", "order_check", "order_edges", "order_take", "order_make", "order_write"],
    # the completions stand on one step: they call each other
    "profiler/cli": ["boards", "parts", "marks_file", "opts", "settings_values", "chain", "conf", "project", "settings", "ending", "fold", "view", "useless", "capture", "rotation", "replay", "slices",
                     "live_text", "live", "progress", "top_text", "top_rows", "top_columns", "top_view top_keys", "top_screen", "top_source", "top_run", "serve_door", "serve_token", "serve", "serve_state", "notes", "outputs", "input_url", "input", "report_marks", "view_file", "view_feed", "saved_page", "explain", "doctor_adapter", "doctor_wire", "doctor", "doctor_file",
                     "completion completion_bash completion_fish completion_zsh",
                     "run_link", "run_open", "run_parts", "run_ask", "run_change", "run_monitor_points", "run_monitor_reg", "run_monitor", "run_result", "run_events", "run_save", "run_top", "run_course", "run_signals", "serve_run", "run_loop", "run_leave", "cmd_run",
                     "cmd_top", "cmd_report", "annotate", "annotate_bridge", "cmd_annotate", "cmd_diff", "optimize_view", "cmd_optimize", "cmd_stat", "buckets", "cmd_convert", "cmd_decode", "cmd_disasm", "cmd_graph",
                     "cmd_dump", "cmd_events", "cmd_list", "cmd_doctor", "cmd_trust", "cmd_view", "main"],
}
# Not in every build.
OPTIONAL = {"pdo_sigrok_load", "pdo_sigrok_device", "pdo_sigrok"}
# System headers that belong to one layer.
SYSTEM = {
    r"libusb.*": ["probe/"],
    r"ftdi\.h": ["probe/"],
    r"hidapi.*": ["probe/"],
    r"(libsigrok/.*|glib.*|zip\.h)": ["probe/"],
    r"uv\.h": ["profiler/bridge/", "profiler/cli/"],
    r"curses\.h": ["profiler/cli/top_screen.c"],
    r"microhttpd\.h": ["profiler/feed/http_priv.h"],
    r"expat\.h": ["profiler/core/svd_xml.c"],
    r"(elfutils/.*|gelf\.h|libelf\.h|dwarf\.h)": ["profiler/core/"],
    # probe/tcp.c: a stub on a network is an adapter like one on a cable; nothing there listens
    r"sys/socket\.h|netinet/.*": ["profiler/bridge/", "probe/tcp.c"],
}
TOP_LEVEL = {
    ".ci", ".clang-format", ".clang-tidy", ".editorconfig", ".git", ".gitignore", ".github", "CMakeLists.txt", "CMakePresets.json",
    "HACKING.md", "LICENSE", "README.md", "build", "docs", "gdbstub", "probe", "profiler",
    "run-demo", "run-tests", "targets", "tests", "udev",
}
INCLUDE = re.compile(r'^\s*#\s*include\s*([<"])([^>"]+)[>"]')


def area_of(path):
    best = ""
    for area in AREAS:
        if path.startswith(area) and len(area) > len(best):
            best = area
    return best


def starts(name, prefixes):
    return any(name.startswith(p) for p in prefixes)


def check_include(path, quote, name):
    """What is wrong with this include, or None."""
    area = area_of(path)
    if quote == "<":
        for pattern, homes in SYSTEM.items():
            if re.fullmatch(pattern, name) and not starts(path, homes):
                return f"<{name}> belongs to {' or '.join(homes)} only"
        return None
    if name.startswith(("probe/", "targets/", "gdbstub/", "profiler/")):
        if starts(name, FORBIDDEN.get(area, [])):
            return f"{area} may not know of {name}"
        if not area:
            return "a room of its own in tests/lint/check_layers.py is missing"
        if not starts(name, AREAS[area]):
            return f"{area} may not include {name}"
        return None
    if name.startswith("tests/"):
        return f"product code may not include {name}"
    if name.startswith("../") or "/../" in name:
        return f'"{name}": name the file from the top of the tree'
    return None


def check_includes(top, findings):
    seen = 0
    for folder in ("probe", "targets", "gdbstub", "profiler"):
        for here, _, files in os.walk(os.path.join(top, folder)):
            for file in sorted(files):
                if not file.endswith((".c", ".h", ".S", ".def", ".inc")):
                    continue
                path = os.path.relpath(os.path.join(here, file), top)
                with open(os.path.join(top, path), encoding="utf-8") as f:
                    for number, line in enumerate(f, 1):
                        m = INCLUDE.match(line)
                        if not m:
                            continue
                        seen += 1
                        wrong = check_include(path, m.group(1), m.group(2))
                        if wrong:
                            findings.append(f"{path}:{number}: {wrong}")
    return seen


def check_top_level(top, findings):
    for name in sorted(os.listdir(top)):
        if name not in TOP_LEVEL and not name.endswith(".swp"):
            findings.append(f"{name}: not a name the top level has (tests/lint/check_layers.py lists them)")


SYMBOL = re.compile(r"^[0-9a-f]+ (.{7}) (\S+)\t([0-9a-f]+)\s+(?:\.hidden )?(\S+)$")


def mutable_symbols(text):
    """(object, symbol, section) of writable, non-relocated-constant data in `objdump -t` output."""
    found = []
    obj = ""
    for line in text.splitlines():
        if line.endswith("file format elf64-x86-64") or ": " in line and "file format" in line:
            obj = line.split(":")[0]
            continue
        m = SYMBOL.match(line)
        if not m or int(m.group(3), 16) == 0 or "d" in m.group(1):
            continue
        section, name = m.group(2), m.group(4)
        writable = section == "*COM*" or re.match(r"\.(data|bss|tdata|tbss|sdata|sbss)(\.|$)", section)
        if not writable or section.startswith(".data.rel.ro"):
            continue
        if name.startswith(("__odr_asan", "__asan", "__ubsan", ".L", "__gcov", "__sancov", "__start_", "__stop_")):
            continue
        found.append((obj, name, section))
    return found


def check_variables(build, findings):
    libs = []
    for folder in ("probe", "targets", "gdbstub", "profiler"):
        for here, _, files in os.walk(os.path.join(build, folder)):
            libs += [os.path.join(here, f) for f in files if f.endswith(".a")]
    for lib in sorted(libs):
        text = subprocess.run(["objdump", "-t", lib], capture_output=True, text=True, check=True).stdout
        for obj, name, section in mutable_symbols(text):
            findings.append(f"{os.path.basename(lib)}({obj}): {name} is a mutable variable at file scope or static ({section})")
    return len(libs)


NAME = re.compile(r"^(?:.*/)?(\w+)\.c\.o:\s*[0-9a-f]* ([A-Za-z]) (\w+)$")


def calls_upwards(text, order):
    """(file, file it calls, name) of each use of something that stands higher, in `nm -A` output of objects; files without a place."""
    rows = [m.groups() for m in map(NAME.match, text.splitlines()) if m]
    home = {name: obj for obj, kind, name in rows if kind in "TDRB"}
    step = {obj: i for i, names in enumerate(order) for obj in names.split()}
    strays = sorted({obj for obj, _, _ in rows} - set(step))
    found = [(obj, home[name], name) for obj, kind, name in rows
             if kind == "U" and name in home and obj in step and home[name] in step and step[home[name]] > step[obj]]
    return sorted(found), strays


def objects_of(top, build, room):
    """The room's objects in the build folder; those of sources that are gone are left out."""
    parts = room.split("/")
    for cut in range(len(parts), 0, -1):
        found = glob.glob(os.path.join(build, *parts[:cut], "CMakeFiles", "*.dir", *parts[cut:], "*.c.o"))
        if found:
            return sorted(f for f in found if os.path.exists(os.path.join(top, room, os.path.basename(f)[:-2])))
    return []


def check_stairs(top, build, findings):
    for room, order in STAIRS.items():
        objects = objects_of(top, build, room)
        text = subprocess.run(["nm", "-A", *objects], capture_output=True, text=True, check=True).stdout if objects else ""
        found, strays = calls_upwards(text, order)
        findings += [f"{room}/{a}.c: calls up to {name} of {b}.c" for a, b, name in found]
        findings += [f"{room}/{a}.c: has no step on the stairs of tests/lint/check_layers.py" for a in strays]
        missing = set(" ".join(order).split()) - OPTIONAL - {os.path.basename(f)[:-4] for f in objects}
        findings += [f"{room}/{a}.c: on the stairs of tests/lint/check_layers.py, but not built" for a in sorted(missing)]


# A member of the driver's target that is written, or got hold of to be written, past the driver's functions.
TARGET = r"(?:\bt|\btr->t|\b\w+\.t)->"
PATH = r"\w+(?:\[[^]]*\]|\.\w+|->\w+)*"
WRITES = re.compile(rf"{TARGET}{PATH}\s*(?:[-+*/%|&^]|<<|>>)?=[^=]|{TARGET}{PATH}\s*(?:\+\+|--)|(?:\+\+|--){TARGET}{PATH}"
                    rf"|mem(?:cpy|set|move)\(\s*&?{TARGET}|sh4_reg_(?:r|bank)\(|sh4_run_event\(")
ALIAS = re.compile(rf"^(?!.*\bconst\b).*\w \*\w+ = &?{TARGET}(?!plug\.trace\b)")


def writes_target(line):
    return bool(WRITES.search(line) or ALIAS.search(line))


def check_target_writes(top, findings):
    """The trace changes the driver's target by the driver's functions only (targets/sh4/driver/for_trace.h)."""
    for path in sorted(glob.glob(os.path.join(top, "targets/sh4/trace/*.[ch]"))):
        with open(path, encoding="utf-8") as f:
            for number, line in enumerate(f, 1):
                if writes_target(line.split("/*")[0]):
                    findings.append(f"{os.path.relpath(path, top)}:{number}: writes a member of struct sh4_target; the driver has functions for that")
                if "link.jtag" in line:
                    findings.append(f"{os.path.relpath(path, top)}:{number}: JTAG or stream is the driver's business (struct sh4_wire)")


def self_test(findings):
    """The checker itself must be able to fail."""
    bad = [("probe/x.c", '"', "targets/target.h"), ("gdbstub/x.c", '"', "targets/sh4/sh4.h"),
           ("profiler/core/x.c", '"', "profiler/profile/x.h"), ("profiler/views/x.c", '"', "profiler/cli/x.h"),
           ("profiler/bridge/x.c", '"', "profiler/cli/x.h"), ("targets/sh4/driver/x.c", '"', "targets/sim/sh4/cpu.h"),
           ("targets/x.c", "<", "libusb-1.0/libusb.h"), ("gdbstub/x.c", '"', "probe/jtag.h"),
           ("targets/sim/sh4/x.c", '"', "targets/sh4/driver/driver.h"), ("targets/sh4/isa/x.c", '"', "targets/sh4/driver/driver.h"),
           ("targets/s12z/trace/x.c", '"', "targets/sh4/sh4.h"), ("profiler/x.c", '"', "probe/base/err.h"),
           ("targets/sh4/driver/x.c", '"', "targets/sh4/trace/trace.h"), ("targets/sh4/code/x.c", '"', "targets/sh4/driver/driver.h"),
           ("targets/s12z/driver/x.c", '"', "targets/s12z/trace/trace.h")]
    good = [("probe/x.c", "<", "libusb-1.0/libusb.h"), ("profiler/cli/x.c", '"', "targets/sim/sh4/board.h"),
            ("targets/sim/sh4/x.c", '"', "targets/sh4/isa/isa.h"), ("gdbstub/x.c", '"', "probe/base/err.h"),
            ("profiler/bridge/x.c", '"', "gdbstub/gdbstub.h"), ("profiler/views/x.c", '"', "profiler/profile/profile.h")]
    for case in bad:
        if not check_include(*case):
            findings.append(f"self-test: {case} was let through")
    for case in good:
        if check_include(*case):
            findings.append(f"self-test: {case} was refused: {check_include(*case)}")
    for line in ("t->pc = 1;", "tr->t->save[n ? A : B] |= x;", "t->run.caught = k;", "t->stop.pc++;", "memcpy(t->save, k, n);",
                 "uint32_t *r8 = t->save + 8;", "*sh4_reg_r(t, 0) = 1;", "a = t->sr = 0;"):
        if not writes_target(line):
            findings.append(f"self-test: {line!r} was let through")
    for line in ("if (t->pc == 1)", "x = t->pc;", "const uint32_t *r8 = t->save + 8;", "struct sh4_trace *tr = t->plug.trace;", "t->pc <= hi",
                 "tr->queue.count++;"):
        if writes_target(line):
            findings.append(f"self-test: {line!r} was refused")
    sample = "x.o:     file format elf64-x86-64\n0000000000000000 l     O .bss\t0000000000000004 counter\n" \
             "0000000000000000 l     O .data.rel.ro.local\t0000000000000010 table\n"
    if mutable_symbols(sample) != [("x.o", "counter", ".bss")]:
        findings.append(f"self-test: objdump sample read as {mutable_symbols(sample)}")
    sample = "d/low.c.o:0000000000000000 T low\nd/low.c.o:                 U high\nd/high.c.o:0000000000000010 T high\n" \
             "d/high.c.o:                 U low\n"
    if calls_upwards(sample, ["low", "high"]) != ([("low", "high", "high")], []) or calls_upwards(sample, ["high"])[1] != ["low"] \
            or calls_upwards(sample, ["low high"]) != ([], []):
        findings.append(f"self-test: nm sample read as {calls_upwards(sample, ['low', 'high'])}")


def main():
    if len(sys.argv) not in (2, 3):
        print(__doc__, file=sys.stderr)
        return 2
    findings = []
    self_test(findings)
    includes = check_includes(sys.argv[1], findings)
    check_top_level(sys.argv[1], findings)
    check_target_writes(sys.argv[1], findings)
    libs = 0
    if len(sys.argv) == 3:
        libs = check_variables(sys.argv[2], findings)
        check_stairs(sys.argv[1], sys.argv[2], findings)
    for finding in findings:
        print(finding)
    print(f"{includes} includes and {libs} libraries read, {len(findings)} findings")
    return 1 if findings or includes == 0 else 0


sys.exit(main())
