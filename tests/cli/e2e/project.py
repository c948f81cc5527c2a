#!/usr/bin/env python3
"""What a probeprof.conf may do to the user who starts the program in its folder, or below it.

usage: project.py PROBEPROF SOURCE_DIR [unittest arguments]
"""
import json
import os
import shutil
import subprocess

from common import Folder, PROBEPROF, PROFEXAM, TIMEOUT, main, run


class Project(Folder):
    def setUp(self):
        super().setUp()
        os.mkdir(self.path("home"))
        os.makedirs(self.path("project/sub/deep"))
        shutil.copy(os.path.join(PROFEXAM, "profexam.elf"), self.path("project/p.elf"))
        self.env = dict(os.environ, HOME=self.path("home"))
        self.env.pop("XDG_CONFIG_HOME", None)
        self.env.pop("PROBEPROF_PROBE", None)

    def conf(self, *lines):
        self.write(self.path("project/probeprof.conf"), "\n".join(("[probeprof]", "elf = p.elf", "load = yes", "gdb = off", "for = 1ms") + lines) + "\n")

    def go(self, args=(), below="", **more):
        return subprocess.run([PROBEPROF, *args], cwd=os.path.join(self.path("project"), below), env=self.env, capture_output=True, text=True,
                              timeout=TIMEOUT, check=False, **more)

    def trust(self, *args):
        r = self.go(["trust", *args])
        self.assertEqual(r.returncode, 0, r.stderr)
        return r.stdout

    RISKS = ["output = x.prf", "record = x.rec", "gdb = 0.0.0.0:4444", "gdb = ./sock", "pdo = sigrok:fx2lafw", "pdo = file:x", "probe = serial:/dev/null",
             "probe = rsp:localhost:1", "probe = sim:sh7750,serial=file:x", "probe = sim:sh7750,serial=pty:x", "probe = sim:sh7750,rom=x",
             "allow-security = yes", "probe = cmsis-dap:/dev/x"]

    def test_what_could_harm_the_user_does_not_count_in_a_folder_that_is_not_trusted(self):
        for line in self.RISKS:
            with self.subTest(line=line):
                self.conf(*(["probe = sim:sh7750"] if "probe" not in line else []), line)
                self.assert_fails(self.go(), 2, f"probeprof.conf:{6 + ('probe' not in line)}: this setting", "probeprof trust")
                self.assertEqual(sorted(os.listdir(self.path("project"))), ["p.elf", "probeprof.conf", "sub"])
        self.assertEqual(os.listdir(self.path("home")), [])

    def test_what_cannot_counts_in_any_folder_and_below(self):
        self.conf("probe = sim:sh7750,tck=5M", "gdb = off", "stop = main", "sort = hits")
        for below in ("", "sub", "sub/deep"):
            with self.subTest(below=below):
                r = self.go(below=below)
                self.assertEqual(r.returncode, 0, r.stderr)
                self.assertIn("entry", r.stdout)

    def test_a_flag_that_overrides_it_needs_no_trust(self):
        self.conf("output = /nowhere/x", "probe = serial:/dev/null")
        r = self.go(["--output", self.path("mine.prf"), "--probe", "sim:sh7750"])
        self.assertEqual(r.returncode, 0, r.stderr)
        self.assertTrue(os.path.exists(self.path("mine.prf")))

    def test_trusted_folders_write_into_themselves_only(self):
        self.conf("probe = sim:sh7750,serial=file:said", "output = x.prf", "record = sub/x.rec")
        self.trust()
        self.assertEqual(self.trust("--list"), os.path.realpath(self.path("project")) + "\n")
        self.assertEqual(json.loads(self.trust("--list", "--json")), {"schema": "probeprof.trust/1", "folders": [os.path.realpath(self.path("project"))]})
        for below in ("", "sub/deep"):
            r = self.go(below=below)
            self.assertEqual(r.returncode, 0, r.stderr)
            self.assertEqual(sorted(os.listdir(self.path("project"))), ["p.elf", "probeprof.conf", "said", "sub", "x.prf"])
            os.remove(self.path("project/x.prf"))
        self.assertEqual(sorted(os.listdir(self.path("project/sub"))), ["deep", "x.rec"])
        os.symlink(self.path("home"), self.path("project/link"))
        os.symlink("../home/f", self.path("project/file"))
        for name in ("../home/x", self.path("home/x"), "link/x", "file", "sub/../../home/x"):
            for key in ("output", "record"):
                with self.subTest(name=name, key=key):
                    self.conf("probe = sim:sh7750", f"{key} = {name}")
                    self.assert_fails(self.go(), 2, "is not in", "command line")
        self.conf("probe = sim:sh7750,serial=file:../home/x")
        self.assert_fails(self.go(), 2, "is not in", "command line")
        self.assertEqual(sorted(os.listdir(self.path("home"))), [".config"])
        self.trust("--remove")
        self.assertEqual(self.trust("--list"), "")
        self.conf("probe = sim:sh7750", "output = x.prf")
        self.assert_fails(self.go(), 2, "counts only from a folder that you trust", "probeprof trust")

    def test_the_one_that_is_named_is_trusted(self):
        self.conf("probe = sim:sh7750", "output = x.prf")
        r = self.go(["--conf", "../probeprof.conf"], below="sub")
        self.assertEqual(r.returncode, 0, r.stderr)
        self.assertTrue(os.path.exists(self.path("project/x.prf")))

    def test_errors_name_file_and_line(self):
        for line, what in (("elf = none.elf", "none.elf"), ("start = nobody", "nobody"), ("stop = nobody", "nobody"), ("c1 = nothing", "nothing"),
                           ("rate = x", "rate"), ("target = pdp11", "pdp11"), ("probe = nothing", "nothing")):
            for below in ("", "sub"):
                with self.subTest(line=line, below=below):
                    self.conf(*(["probe = sim:sh7750"] if "probe" not in line else []), line)
                    r = self.go(below=below)
                    number = 6 + ("probe" not in line)
                    self.assertIn(f"{os.path.realpath(self.path('project')) + '/' if below else ''}probeprof.conf:{number}: ", r.stderr)
                    self.assertIn(what, r.stderr)

    def test_one_that_is_no_file_is_refused_rather_than_waited_for(self):
        path = self.path("probeprof.conf")
        for make in (os.mkfifo, os.mkdir, lambda p: os.symlink("/dev/zero", p)):
            if os.path.lexists(path):
                (os.rmdir if os.path.isdir(path) else os.unlink)(path)
            make(path)
            with self.subTest(make=make):
                self.assert_fails(run(["--gdb", "off", "--for", "1ms"], cwd=self.dir, probe=None), 1, "probeprof.conf: not a regular file", "--conf off")

    def test_one_above_that_somebody_else_has_left_is_refused(self):
        if os.geteuid() != 0:
            self.skipTest("only root can make a file another user's")
        self.conf("probe = sim:sh7750")
        os.chown(self.path("project/probeprof.conf"), 12345, 12345)
        self.assert_fails(self.go(below="sub"), 2, "another user", "probeprof trust")
        self.trust()
        self.assertEqual(self.go(below="sub").returncode, 0)

    def test_simulated_serial_ports_remove_and_truncate_nothing(self):
        self.conf()
        self.write(self.path("precious"), "text\n")
        for kind in ("pty", "file"):
            self.go(["--probe", f"sim:sh7750,serial={kind}:{self.path('precious')}"])
            with open(self.path("precious"), encoding="utf-8") as f:
                self.assertTrue(f.read().startswith("text\n"))
            self.assertFalse(os.path.islink(self.path("precious")))


if __name__ == "__main__":
    main()
