#!/usr/bin/env python3
"""Each configuration of docs/examples/launch.json, by the commands that its extension sends to GDB, in their order, over probeprof and a simulated board.

Sources: github.com/microsoft/MIEngine, src/MIDebugEngine/Engine.Impl/DebuggedProcess.cs (GetInitializeCommands) and src/MICore/CommandFactories;
github.com/WebFreak001/code-debug, src/gdb.ts and src/backend/mi2/mi2.ts (connect: it waits for no answer while it connects).
usage: test_launch.py PROBEPROF      exit 0 all passed, 1 a failure, 77 gdb-multiarch is missing
"""
import contextlib
import json
import os
import re
import select
import shutil
import subprocess
import sys
import time

from gdb_session import Board, DEADLINE, run_cases

HERE = os.path.dirname(os.path.abspath(__file__))
LAUNCH = os.path.join(HERE, "../../../docs/examples/launch.json")
ELF = os.path.join(HERE, "calls.elf")


class Mi:
    """A GDB that speaks MI, in a folder, and what it says; commands have numbers, as the extensions give them."""

    def __init__(self, words, folder):
        self.process = subprocess.Popen(words, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, bufsize=0, cwd=folder,
                                        env={**os.environ, "HOME": folder})
        self.lines, self.rest, self.token, self.read = [], b"", 1000, 0

    def send(self, command):
        self.token += 1
        self.process.stdin.write(b"%d%s\n" % (self.token, command.encode()))
        return self.token

    def line(self, pattern):
        """The next line that matches, from the last one on that was waited for."""
        until = time.time() + DEADLINE
        while True:
            while self.read < len(self.lines):
                self.read += 1
                match = re.match(pattern, self.lines[self.read - 1])
                if match:
                    return self.lines[self.read - 1]
            ready, _, _ = select.select([self.process.stdout], [], [], max(0, until - time.time()))
            data = os.read(self.process.stdout.fileno(), 65536) if ready else b""
            if not data:
                raise RuntimeError("no %r in\n%s" % (pattern, "\n".join(self.lines[-60:])))
            *more, self.rest = (self.rest + data).split(b"\n")
            self.lines += [one.decode(errors="replace") for one in more]

    def result(self, token):
        text = self.line(r"%d\^" % token)
        if "^error" in text:
            raise RuntimeError("%s\n%s" % (text, "\n".join(self.lines[-30:])))
        return text

    def do(self, command, wanted=""):
        """Sends and waits; the answer has to hold `wanted`, a regular expression."""
        text = self.result(self.send(command))
        if not re.search(wanted, text):
            raise RuntimeError("%s: no %r in %s" % (command, wanted, text))
        return text

    def says(self, command, pattern):
        """A command and what comes on the console before its answer."""
        since = self.read
        self.do(command)
        if not any(re.match(pattern, line) for line in self.lines[since:self.read]):
            raise RuntimeError("%s: no %r in %s" % (command, pattern, self.lines[since:]))

    def go(self, command, wanted):
        """A command that lets the program run, and the stop it ends with."""
        self.do(command, r"\^running")
        text = self.line(r"\*stopped")
        if not re.search(wanted, text):
            raise RuntimeError("%s: no %r in %s" % (command, wanted, text))
        return text

    def close(self):
        self.process.stdin.close()
        try:
            self.process.wait(30)
        except subprocess.TimeoutExpired:
            self.process.kill()
            self.process.wait()
        self.process.stdout.close()


def configurations():
    with open(LAUNCH) as f:
        text = "".join(line for line in f if not line.lstrip().startswith("//"))
    return {one["name"]: one for one in json.loads(text)["configurations"]}


def filled(value, board):
    """A configuration as it is for this board and its program."""
    if isinstance(value, dict):
        return {k: filled(v, board) for k, v in value.items()}
    if isinstance(value, list):
        return [filled(v, board) for v in value]
    if isinstance(value, str):
        return value.replace("${workspaceFolder}/game.elf", ELF).replace("${workspaceFolder}", board.dir).replace("localhost:3333", board.socket)
    return value


def console(text):
    return text if text.startswith("-") else '-interpreter-exec console "%s"' % text.replace('"', '\\"')


def look(mi, function, variable):
    """What both ask for when the program has stopped, to fill their views."""
    mi.do("-thread-info", r'current-thread-id="1"')
    depth = int(re.search(r'depth="(\d+)"', mi.do("-stack-info-depth --thread 1 1000")).group(1))
    mi.do("-stack-list-frames --thread 1 0 %d" % (depth - 1), r'frame=\{level="0",[^}]*func="%s"' % function)
    mi.do("-stack-list-arguments --thread 1 0 0 %d" % (depth - 1))
    mi.do("-stack-list-variables --thread 1 --frame 0 --simple-values", r'name="%s"' % variable)
    mi.do('-var-create --thread 1 --frame 0 - * "%s"' % variable, r'name="var\d+"')
    mi.do('-data-evaluate-expression --thread 1 --frame 0 "%s"' % variable, r'value="-?\d+"')
    names = re.findall(r'"([^"]*)"', mi.do("-data-list-register-names"))
    values = mi.do("-data-list-register-values --thread 1 x")
    if names[16] != "pc" or not re.search(r'number="16",value="0xc01', values):
        raise RuntimeError("registers: %s\n%s" % (names, values))
    mi.do("-data-list-register-values --skip-unavailable N", r'number="15"')
    mi.do("-data-read-memory-bytes &text 9", 'contents="756e6368616e676564"')


def through(mi):
    """A session from main() on."""
    mi.do("-break-insert -f add", r"bkpt=\{")
    mi.do('-break-insert -f -c "n == 2" factorial', r"bkpt=\{")
    mi.go("-exec-continue", r'reason="breakpoint-hit".*func="add"')
    look(mi, "add", "sum")
    mi.go("-exec-next --thread 1", r'reason="end-stepping-range"')
    mi.go("-exec-finish --thread 1", r'reason="function-finished".*func="main"')
    mi.go("-exec-continue", r'reason="breakpoint-hit".*func="factorial"')
    look(mi, "factorial", "n")
    mi.says(console("monitor reg sr"), r'[@~]"sr=')
    mi.says(console("monitor nosuch"), r'[@~]"Error: no monitor command nosuch')
    mi.do("-break-delete 2 3")
    mi.do("-gdb-set var asked=1")
    pause(mi)


def pause(mi):
    """The program loops: pause, look, go on, leave."""
    for _ in range(2):
        mi.do("-exec-continue", r"\^running")
        time.sleep(0.2)
        mi.do("-exec-interrupt", r"\^done")
        mi.line(r'\*stopped,(reason="signal-received",signal-name="SIG(INT|TRAP|0)"|frame)')
        mi.do("-thread-info", r'state="stopped"')
    mi.do("-target-detach", r"\^done")


def connect_cppdbg(mi, one):
    """GetInitializeCommands() of a launch with miDebuggerServerAddress; each is waited for."""
    mi.do("-gdb-set mi-async on")
    mi.do("-list-features", r"features=\[")
    commands = [c["text"] for c in one["setupCommands"]]
    commands += ['-interpreter-exec console "set pagination off"', "set debuginfod enabled off", "-gdb-set auto-solib-add on", "-environment-cd " + one["cwd"],
                 "-file-exec-and-symbols " + one["program"], "show architecture"]
    if one.get("stopAtEntry"):
        commands.append("-break-insert -f main")
    commands.append("-target-select remote " + one["miDebuggerServerAddress"])
    for command in commands:
        mi.do(console(command))
    if not any(line.startswith("*stopped") for line in mi.lines):
        raise RuntimeError("no stop at the connection: " + "\n".join(mi.lines))
    for command in one.get("postRemoteConnectCommands", []):
        mi.do(console(command["text"]))


def connect_native(mi, one):
    """connect() of mi2.ts: all at once."""
    tokens = [mi.send(command) for command in (
        "-gdb-set target-async on", "-list-features", '-environment-directory "%s"' % one["cwd"], "-target-select remote " + one["target"])]
    tokens += [mi.send(console(command)) for command in one["autorun"]]
    for token in tokens:
        mi.result(token)


def run_one(probeprof, name):
    one = configurations()[name]
    with contextlib.closing(Board(probeprof, "--elf", ELF)) as board:
        one = filled(one, board)
        native = one["type"] == "gdb"
        words = [one["gdbpath"], "-q", "--interpreter=mi2", one["executable"]] if native else [one["miDebuggerPath"], "--interpreter=mi"]
        with contextlib.closing(Mi(words, board.dir)) as mi:
            (connect_native if native else connect_cppdbg)(mi, one)
            if native or one.get("stopAtEntry"):
                mi.go("-exec-continue", r'reason="breakpoint-hit".*func="main"')
                if not native:
                    mi.do("-break-delete 1")
                through(mi)
            else:
                pause(mi)


def main():
    if not shutil.which("gdb-multiarch"):
        print("skipped: no gdb-multiarch")
        return 77
    probeprof = os.path.abspath(sys.argv[1])
    return run_cases([(name, lambda name=name: run_one(probeprof, name)) for name in configurations()], sys.argv[2:])


if __name__ == "__main__":
    sys.exit(main())
