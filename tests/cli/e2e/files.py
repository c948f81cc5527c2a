#!/usr/bin/env python3
"""What is written where, and what is refused before the board is touched.

usage: files.py PROBEPROF SOURCE_DIR [unittest arguments]
"""
import json
import os
import shutil
import signal
import subprocess
import time

from common import EXAMPLES, Folder, MISSION, PROBEPROF, PROFEXAM, TIMEOUT, hits, limit_files, main, run, start


class Files(Folder):
    RUN = MISSION + ["--passes", "1", "--gdb", "off"]

    def assert_refused_early(self, args, status, what, hint, **more):
        r = run(args, cwd=PROFEXAM, **more)
        self.assert_fails(r, status, what, hint)
        self.assertEqual(r.stdout, "")
        self.assertNotIn("loaded", r.stderr)

    def test_places_that_cannot_be_written_are_refused_before_the_run(self):
        os.mkdir(self.path("folder"))
        os.mkfifo(self.path("pipe"))
        file = self.write("file", "x")
        os.symlink(self.path("b"), self.path("a"))
        os.symlink(self.path("a"), self.path("b"))
        os.symlink(self.path("none/x"), self.path("dangling"))
        os.symlink(self.path("pipe"), self.path("to-pipe"))
        before = sorted(os.listdir(self.dir))
        rows = [(self.path("folder"), "it is a folder", "name a file"), (self.path("pipe"), "device or pipe", "name a file"),
                (self.path("to-pipe"), "device or pipe", "name a file"), (file + "/x", "Not a directory", "folder exists"),
                (self.path("none/x"), "No such file", "folder exists"), (self.path("a"), "symbolic links", "name a file"),
                (self.path("dangling"), "No such file", "folder exists"), (self.path("n" * 255), "name too long", "shorter")]
        for option in ("--output", "--record"):
            for path, what, hint in rows:
                with self.subTest(option=option, path=path):
                    self.assert_refused_early(self.RUN + [option, path], 1, option, hint)
                    self.assertIn(what, run(self.RUN + [option, path], cwd=PROFEXAM).stderr)
        self.assertEqual(sorted(os.listdir(self.dir)), before)

    def test_folder_without_permission_is_refused_before_the_run(self):
        if os.geteuid() == 0:
            self.skipTest("root may write anywhere")
        os.mkdir(self.path("locked"), 0o500)
        self.assert_refused_early(self.RUN + ["--output", self.path("locked/x")], 1, "Permission denied", "permissions")

    def test_what_is_read_is_not_written_over(self):
        elf = shutil.copy(os.path.join(PROFEXAM, "profexam.elf"), self.path("p.elf"))
        os.symlink("p.elf", self.path("link"))
        same = self.RUN + ["--elf", elf]
        self.assert_refused_early(same + ["--output", elf], 2, "would replace the program", "another file")
        self.assert_refused_early(same + ["--record", self.path("link")], 2, "would replace the program", "another file")
        self.assert_refused_early(self.RUN + ["--record", self.path("x"), "--output", self.path("x")], 2, "both write", "two files")
        os.mkdir(self.path("sub"))
        os.symlink(self.dir, self.path("here"))
        for other in (self.dir + "/./x", self.path("sub/../x"), self.path("here/x")): # of a file that is not there yet
            self.assert_refused_early(self.RUN + ["--record", self.path("x"), "--output", other], 2, "both write", "two files")
        with open(self.path("printed"), "w", encoding="utf-8") as printed:
            for name in (self.path("printed"), "/dev/stdout"):
                r = run(self.RUN + ["--output", name], cwd=PROFEXAM, stdout=printed)
                self.assert_fails(r, 2, "would replace the file that standard output goes to", "another file")
        self.assertEqual(run(self.RUN + ["--record", self.path("r")], cwd=PROFEXAM).returncode, 0)
        self.assert_fails(run(["report", self.path("r"), "--output", self.path("r")], cwd=self.dir), 2, "would replace", "another file")
        self.assert_fails(run(["report", self.path("r"), "--output", "none/x"], cwd=self.dir), 1, "none/x", "folder exists")
        self.assertEqual(run(["report", self.path("r")], cwd=self.dir).returncode, 0)

    def test_links_stay_and_the_files_behind_them_are_written(self):
        os.mkdir(self.path("disk"))
        for name, target, old in (("out", "disk/out.prf", "old"), ("rec", self.path("disk/rec"), None)):
            os.symlink(target, self.path(name))
            if old:
                self.write(target, old)
        os.chmod(self.path("disk/out.prf"), 0o600)
        r = run(self.RUN + ["--output", self.path("out"), "--record", self.path("rec"), "--json"], cwd=PROFEXAM)
        self.assertEqual(r.returncode, 0, r.stderr)
        for name in ("out", "rec"):
            self.assertTrue(os.path.islink(self.path(name)))
            again = run(["report", self.path(name), "--json"], cwd=PROFEXAM)
            self.assertEqual(hits(json.loads(again.stdout)), hits(json.loads(r.stdout)))
        self.assertEqual(os.stat(self.path("disk/out.prf")).st_mode & 0o777, 0o600)
        self.assertEqual((sorted(os.listdir(self.dir)), sorted(os.listdir(self.path("disk")))),
                         (["disk", "out", "rec"], ["out.prf", "rec"]))

    def test_full_disk_behind_a_link_keeps_both(self):
        self.write("old.prf", "old contents")
        os.symlink("old.prf", self.path("link"))
        r = run(self.RUN + ["--output", self.path("link")], cwd=PROFEXAM, preexec_fn=limit_files(64))
        self.assert_fails(r, 1, "link: File too large", "")
        with open(self.path("link"), encoding="utf-8") as f:
            self.assertEqual(f.read(), "old contents")
        self.assertEqual(sorted(os.listdir(self.dir)), ["link", "old.prf"])

    def test_full_disk(self):
        """A real one: a file system of 64 KB, mounted where only the program sees it."""
        script = ('mount -t tmpfs -o size=64k none "$1" && cd "$2" && echo old >"$1/x.prf" && head -c 1M /dev/zero >"$1/full" 2>/dev/null; '
                  'shift 2; "$@"; echo "status $?"; cat "$DISK/x.prf"; ls "$DISK"')
        os.mkdir(self.path("disk"))
        env = dict(os.environ, DISK=self.path("disk"), PROBEPROF_PROBE="sim:sh7750")
        check = subprocess.run(["unshare", "-rm", "mount", "-t", "tmpfs", "none", self.path("disk")], capture_output=True, check=False)
        if check.returncode != 0:
            self.skipTest("needs user and mount namespaces")
        for option, file in (("--output", "x.prf"), ("--record", "x.rec")):
            with self.subTest(option=option):
                r = subprocess.run(["unshare", "-rm", "sh", "-c", script, "sh", self.path("disk"), PROFEXAM, PROBEPROF] + self.RUN +
                                   ["--json", option, os.path.join(self.path("disk"), file)], env=env, capture_output=True, text=True,
                                   timeout=TIMEOUT, check=False)
                self.assertIn("No space left", r.stderr)
                self.assertIn("free some space", r.stderr)
                out, tail = r.stdout.rsplit("status 1\n", 1)
                self.assertEqual(tail.split(), ["old", "full", "x.prf"])

    def test_two_runs_do_not_record_to_one_file(self):
        p = start(MISSION + ["--gdb", "off", "--json", "--record", self.path("r")], cwd=PROFEXAM)
        self.addCleanup(p.kill)
        self.wait_for(p, "profiling")
        self.assert_fails(run(self.RUN + ["--record", self.path("r")], cwd=PROFEXAM), 1, "another program is recording", "another name")
        time.sleep(0.5)
        p.send_signal(signal.SIGTERM)
        out, err = p.communicate(timeout=TIMEOUT)
        self.assertEqual(p.returncode, 0, err)
        self.assertEqual(json.loads(run(["report", self.path("r"), "--json"], cwd=PROFEXAM).stdout), json.loads(out))

    def test_part_of_a_run_that_was_killed_is_readable_and_used_again(self):
        p = start(MISSION + ["--gdb", "off", "--record", self.path("r")], cwd=PROFEXAM)
        self.wait_for(p, "profiling")
        self.wait_for_events(self.path("r.part"))
        p.kill()
        p.communicate()
        r = run(["report", self.path("r.part")], cwd=PROFEXAM)
        self.assertEqual(r.returncode, 0)
        self.assertIn("r.part: not finished", r.stderr)
        before = json.loads(run(["report", self.path("r.part"), "--json"], cwd=PROFEXAM).stdout)
        r = run(self.RUN + ["--record", self.path("r")], cwd=PROFEXAM)
        self.assertEqual(r.returncode, 0)
        self.assertIn("is kept as " + self.path("r.part.1"), r.stderr)
        self.assertEqual(sorted(os.listdir(self.dir)), ["r", "r.part.1"])
        after = json.loads(run(["report", self.path("r.part.1"), "--json"], cwd=PROFEXAM).stdout)
        self.assertEqual((after["functions"], after["tree"]), (before["functions"], before["tree"]))

    def test_a_run_without_an_event_replaces_nothing(self):
        args = self.RUN + ["--output", self.path("p"), "--record", self.path("r")]
        self.assertEqual(run(args, cwd=PROFEXAM).returncode, 0)
        before = [run(["report", self.path(f), "--json"], cwd=PROFEXAM).stdout for f in "pr"]
        for wrong in (["--probe", "sim:sh7750,fault=silent"], ["--c1", "no-such-event"], ["--start", "crashed", "--for", "1ms"]):
            with self.subTest(wrong=wrong):
                r = run(args + wrong, cwd=PROFEXAM)
                self.assertEqual([run(["report", self.path(f), "--json"], cwd=PROFEXAM).stdout for f in "pr"], before, r.stderr)
                self.assertEqual(sorted(os.listdir(self.dir)), ["p", "r"])

    def test_decode_does_not_write_over_what_it_reads(self):
        lines = shutil.copy(os.path.join(PROFEXAM, "README.md"), self.path("run.lines"))
        elf = shutil.copy(os.path.join(EXAMPLES, "motor", "motor.elf"), self.path("m.elf"))
        args = ["decode", lines, "--format", "lines", "--elf", elf]
        for option in ("--output", "--record"):
            for name in (lines, elf):
                self.assert_fails(run(args + [option, name], cwd=self.dir), 2, "would replace", "another file")

    def test_closed_standard_descriptors_do_not_end_up_in_files(self):
        whole = run(self.RUN + ["--json"], cwd=PROFEXAM)
        for closed, status in (((0,), 0), ((1,), 1), ((2,), 0), ((0, 1, 2), 1)):
            with self.subTest(closed=closed):
                def close(closed=closed):
                    for fd in closed:
                        os.close(fd)
                r = run(self.RUN + ["--record", self.path("r")], cwd=PROFEXAM, preexec_fn=close)
                self.assertEqual(r.returncode, status)
                again = run(["report", self.path("r"), "--json"], cwd=PROFEXAM)
                self.assertEqual((again.returncode, again.stderr), (0, ""))
                self.assertEqual(hits(json.loads(again.stdout)), hits(json.loads(whole.stdout)))

    def test_reader_that_leaves_early(self):
        here = self.RUN + ["--conf", os.path.join(PROFEXAM, "probeprof.conf"), "--output", self.path("o")]
        for args in (here, here + ["--json"], ["events"], ["help"], ["list", "--json"]):
            with self.subTest(args=args):
                reader, writer = os.pipe()
                os.close(reader) # before the program starts: a short output would else be in the pipe already
                r = run(args, cwd=self.dir, stdout=writer) # where the result is put instead
                os.close(writer)
                self.assertEqual(r.returncode, 1, r.stderr)
                self.assertIn("writing standard output failed", r.stderr)
        self.assertEqual(run(["report", self.path("o")], cwd=PROFEXAM).returncode, 0)

    def test_messages_nobody_reads_do_not_matter(self):
        p = start(self.RUN + ["--json"], cwd=PROFEXAM)
        p.stderr.close()
        p.stderr = None
        out = p.communicate(timeout=TIMEOUT)[0]
        self.assertEqual(p.returncode, 0)
        json.loads(out)


if __name__ == "__main__":
    main()
