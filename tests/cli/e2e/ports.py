#!/usr/bin/env python3
"""Where GDB may connect.

usage: ports.py PROBEPROF SOURCE_DIR [unittest arguments]
"""
import os
import signal
import socket
import subprocess

from common import Folder, PROBEPROF, TIMEOUT, main, run


class Ports(Folder):
    def bridge(self, address, *prefix):
        env = dict(os.environ, PROBEPROF_PROBE="sim:sh7750")
        p = subprocess.Popen(list(prefix) + [PROBEPROF, "--gdb", address], cwd=self.dir, env=env, stdin=subprocess.DEVNULL,
                             stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
        for f in (p.stdout.close, p.stderr.close, p.wait, p.kill):
            self.addCleanup(f)
        return p, self.wait_for(p, "target remote").split()[-1]

    def test_second_bridge_on_a_port_is_told_who_has_it(self):
        p, address = self.bridge(":0")
        port = address.split(":")[-1]
        for text in (port, ":" + port, "127.0.0.1:" + port, "*:" + port):
            with self.subTest(address=text):
                self.assert_fails(run(["--gdb", text], cwd=self.dir), 1, f"port {port} is taken by probeprof (process {p.pid})",
                                  "another port")
        self.assertIsNone(p.poll())

    def test_socket_of_a_bridge_that_runs_is_refused_and_one_left_over_is_used(self):
        path = self.path("s")
        p, address = self.bridge(path)
        self.assertEqual(address, path)
        self.assertEqual(os.stat(path).st_mode & 0o777, 0o600)
        self.assert_fails(run(["--gdb", path], cwd=self.dir), 1, f"probeprof (process {p.pid}) listens there", "another path")
        self.assert_fails(run(["--gdb", "./s"], cwd=self.dir), 1, f"probeprof (process {p.pid}) listens there", "another path")
        p.kill()
        p.wait()
        self.assertTrue(os.path.exists(path))
        q, _ = self.bridge(path)
        with socket.socket(socket.AF_UNIX) as s:
            s.connect(path)
        q.send_signal(signal.SIGTERM)
        self.assertEqual(q.wait(timeout=TIMEOUT), 0)
        self.assertFalse(os.path.exists(path))

    def test_what_is_no_socket_stays(self):
        self.write("file", "precious")
        os.mkdir(self.path("folder"))
        for name in ("file", "folder"):
            self.assert_fails(run(["--gdb", self.path(name)], cwd=self.dir), 1, "what is there is no socket", "another path")
        with open(self.path("file"), encoding="utf-8") as f:
            self.assertEqual(f.read(), "precious")
        self.assert_fails(run(["--gdb", self.path("none/s")], cwd=self.dir), 1, "No such file", "folder")
        self.assert_fails(run(["--gdb", "/" + "x" * 120], cwd=self.dir), 2, "longer than a socket's name", "shorter")

    def test_bad_addresses(self):
        rows = [("99999", 2, "not a port", "HOST:PORT"), ("a:b:c", 2, "not a port", "HOST:PORT"), (":", 2, "not a port", "HOST:PORT"),
                ("::1:3333", 2, "brackets", "[V6ADDRESS]"), ("gdb", 2, "no port", "HOST:PORT"), ("192.0.2.1:3333", 1, "assign", "address")]
        for text, status, what, hint in rows:
            with self.subTest(address=text):
                self.assert_fails(run(["--gdb", text], cwd=self.dir), status, what, hint)

    def test_machine_with_one_family_of_loopback(self):
        for family, remove in (("::1", "addr del 127.0.0.1/8"), ("127.0.0.1", "-6 addr del ::1/128")):
            with self.subTest(left=family):
                inside = ("ip link set lo up && ip " + remove + ' dev lo || exit 77; "$0" --gdb 7070 2>&1 & sleep 1; '
                          f"python3 -c 'import socket; socket.create_connection((\"{family}\", 7070)).close(); print(\"connected\")'; kill $!; wait $!")
                r = subprocess.run(["unshare", "-rn", "bash", "-c", inside, PROBEPROF], cwd=self.dir, capture_output=True, text=True,
                                   timeout=TIMEOUT, check=False, env=dict(os.environ, PROBEPROF_PROBE="sim:sh7750"))
                if r.returncode == 77 or "unshare" in r.stderr:
                    self.skipTest("needs a network namespace and iproute2")
                self.assertIn("connected", r.stdout, r.stderr)
                self.assertIn("target remote :7070", r.stdout)


if __name__ == "__main__":
    main()
