#!/usr/bin/env python3
"""What people see: on terminals of all sorts.

usage: terminal.py PROBEPROF SOURCE_DIR [unittest arguments]
"""
import json
import os
import re
import signal
import subprocess
import time

from common import MISSION, PROBEPROF, PROFEXAM, TerminalFolder, TIMEOUT, hits, main


class Terminal(TerminalFolder):
    RUN = MISSION + ["--for", "300ms", "--gdb", "off"]

    def test_escapes_only_where_they_are_understood(self):
        rows = [({"TERM": "xterm"}, True, True), ({"TERM": "xterm", "NO_COLOR": "1"}, True, False), ({"TERM": "dumb"}, False, False),
                ({}, False, False)]
        for env, live, color in rows:
            with self.subTest(env=env):
                text = self.on_terminal(self.RUN, **env)
                self.assertEqual("\x1b[K" in text, live)
                self.assertEqual("\x1b[31m" in text, color)
                if not live:
                    self.assertNotIn("\x1b", text)

    def test_hot_rows_have_a_colour_on_a_terminal_only(self):
        self.on_terminal([*self.RUN, "--elf", os.path.join(PROFEXAM, "profexam.elf"), "--load", "--passes", "1", "--record", self.path("r")], TERM="xterm")
        for env, color in (({"TERM": "xterm"}, True), ({"TERM": "xterm", "NO_COLOR": "1"}, False), ({"TERM": "dumb"}, False)):
            text = self.on_terminal(["report", self.path("r"), "--hot", "c1>=30%"], **env)
            self.assertEqual("\x1b[1;33m" in text, color, env)
            self.assertRegex(text, r"!GetLastNode")

    def test_a_reader_that_is_gone_does_not_take_the_result_with_it(self):
        """`probeprof | tee log` and Ctrl-C, which ends tee first."""
        for json_too, terminal in ((False, False), (True, False), (False, True)):
            with self.subTest(json=json_too, terminal=terminal):
                out, reader = os.pipe()[::-1]
                master, slave = os.openpty()
                p = subprocess.Popen([PROBEPROF, *MISSION, "--elf", os.path.join(PROFEXAM, "profexam.elf"), "--load", "--gdb", "off", *(["--json"] if json_too else [])],
                                     cwd=self.dir, env=dict(os.environ, PROBEPROF_PROBE="sim:sh7750", TERM="dumb"), stdout=out,
                                     stderr=slave if terminal else subprocess.PIPE, text=True)
                self.addCleanup(p.kill)
                os.close(out)
                os.close(slave)
                begun = b""
                while terminal and b"profiling" not in begun:
                    begun += os.read(master, 4096)
                if not terminal:
                    self.wait_for(p, "profiling")
                time.sleep(0.5)
                os.close(reader)
                p.send_signal(signal.SIGINT)
                said = ""
                if terminal:
                    try:
                        while chunk := os.read(master, 4096):
                            said += chunk.decode()
                    except OSError:
                        pass # EIO: it has ended
                    p.wait(timeout=TIMEOUT)
                else:
                    said = p.communicate(timeout=TIMEOUT)[1]
                os.close(master)
                self.assertEqual(p.returncode, 1, said) # standard output was written by nobody
                self.assertIn("who was to read the result is gone", said)
                files = [f for f in os.listdir(self.dir) if f.startswith("probeprof-result")]
                self.assertEqual(len(files), not terminal)
                text = said
                if files:
                    self.assertIn(files[0], said)
                    with open(self.path(files[0]), encoding="utf-8") as f:
                        text = f.read()
                    os.remove(self.path(files[0]))
                if json_too:
                    self.assertGreater(hits(json.loads(text))["GetNewNode"], 0)
                else:
                    self.assertRegex(text, r"\d+\.\d .*GetNewNode")

    def test_doctor_says_what_it_looks_at_while_it_looks(self):
        text = self.on_terminal(["doctor", "--conf", "off"], TERM="xterm")
        self.assertIn("looking at: wire", text)
        shown = re.sub(r"\r\x1b\[K[^\r]*(?=\r\x1b)", "", text)  # what stays
        self.assertNotIn("looking", shown)
        self.assertNotIn("looking", self.on_terminal(["doctor", "--conf", "off"], TERM="dumb"))

    def test_lines_are_drawn_where_the_locale_has_them(self):
        for env, plain in (({"LANG": "C"}, True), ({"LANG": "de_DE.UTF-8"}, False), ({"LANG": "en_US.utf8", "LC_ALL": "C"}, True), ({}, True)):
            with self.subTest(env=env):
                self.assertEqual(self.on_terminal(self.RUN + ["--tree"], TERM="xterm", **env).isascii(), plain)

    def test_narrow_terminal_keeps_names_and_one_live_line(self):
        text = self.on_terminal(self.RUN, columns=40, TERM="xterm", NO_COLOR="1")
        for name in ("GetLastNode", "GetNewNode", "MallocNode", "InsertNode"):
            self.assertRegex(text, rf" [ ?]{name}\r?\n")
        for line in re.findall(r"\x1b\[K([^\r\n]*)\r\x1b", text):
            self.assertLess(len(line), 40)


if __name__ == "__main__":
    main()
