#!/usr/bin/env python3
"""The block at the top of README.md: its command, typed as it stands there in the tutorial's folder, prints what follows it there.

usage: readme.py PROBEPROF SOURCE_DIR [unittest arguments]
"""
import os
import re
import socket
import subprocess
import time
import unittest

from common import PROBEPROF, PROFEXAM, SOURCE, TIMEOUT, main

# Of these lines only the words are the same each time: when the host ended the profile, and how fast it is.
HOSTS_OWN = ("time ", "slow-down ", "probeprof: 0.")


def block():
    """(the command, the lines that follow it)"""
    with open(os.path.join(SOURCE, "README.md"), encoding="utf-8") as f:
        lines = re.search(r"(?m)^    \$ (?:.*\n)(?:(?:    .*)?\n)+", f.read()).group(0).rstrip().split("\n")
    return lines[0].strip()[2:], [line[4:] for line in lines[1:]]


def pattern(line):
    if not line.startswith(HOSTS_OWN):
        return re.escape(line)
    return r"\d[\d.,]*".join(re.escape(words) for words in re.split(r"\d[\d.,]*", line))


def wait_for_port(number):
    """Until nobody else has a port that the command takes by default: another suite on this machine may."""
    until = time.monotonic() + TIMEOUT
    while True:
        try:
            with socket.socket() as s:
                s.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
                s.bind(("127.0.0.1", number))
                return
        except OSError:
            if time.monotonic() > until:
                raise
            time.sleep(1)


class Readme(unittest.TestCase):
    def test_the_command_prints_what_follows_it(self):
        command, promised = block()
        self.assertGreater(len(promised), 15)
        env = {k: v for k, v in os.environ.items() if not k.startswith("PROBEPROF_")} # a user's
        env.update(PATH=os.path.dirname(PROBEPROF) + ":" + os.environ["PATH"])
        for port in (3333, 3334):
            wait_for_port(port)
        r = subprocess.run(command, shell=True, cwd=PROFEXAM, env=env, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True,
                           timeout=TIMEOUT)
        self.assertEqual(r.returncode, 0, r.stdout)
        said = [line.rstrip() for line in r.stdout.rstrip().split("\n")]
        said = [line for line in said if not re.match(r"probeprof: [\d.]+ m?s, \d of 3 passes: ", line)] # where it took five seconds
        for there, here in zip(promised, said):
            self.assertRegex(here, "^" + pattern(there) + "$", "\nREADME.md: " + there + "\n\n" + r.stdout)
        self.assertEqual(len(said), len(promised), r.stdout)


if __name__ == "__main__":
    main()
