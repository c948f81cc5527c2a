#!/usr/bin/env python3
"""A recording in several files on a disk that takes long.

usage: slow_disk.py PROBEPROF SOURCE_DIR SLOW_DISK_LIBRARY [unittest arguments]
"""
import os
import signal
import sys

from common import Folder, PROFEXAM, TIMEOUT, main, run, start

LIBRARY = os.path.abspath(sys.argv.pop(3))
FSYNC_S = 0.8  # a file ends with two, its own and its folder's: longer together than FILE_S
FILE_S = 1


def setUpModule():
    asan = os.environ.get("ASAN_OPTIONS", "")
    os.environ.update(LD_PRELOAD=LIBRARY, SLOW_DISK_MS=str(int(FSYNC_S * 1000)), ASAN_OPTIONS=f"{asan}:verify_asan_link_order=0")


class SlowDisk(Folder):
    def record(self, rotate, files):
        """A profile that is asked to end when it has so many files: their names."""
        record = self.path(rotate)
        p = start(["--gdb", "off", "--record", record, "--rotate", rotate], cwd=PROFEXAM)
        for f in (p.stdout.close, p.stderr.close, p.wait, p.kill):
            self.addCleanup(f)
        names = [f"{record}.{n:03}" for n in range(1, files + 1)]
        self.wait_until(lambda: os.path.exists(names[-1]), p)
        p.send_signal(signal.SIGINT)
        _, err = p.communicate(timeout=TIMEOUT)
        self.assertEqual(p.returncode, 0, err)
        return names

    def test_a_file_has_its_time_also_where_the_one_before_took_longer(self):
        names = self.record(f"{FILE_S}s", 3)
        written = [os.path.getmtime(f) for f in names]  # its end block, before the disk is waited for
        for last, this in zip(written, written[1:]):
            self.assertGreater(this - last, 2 * FSYNC_S + FILE_S - 0.1)

    def test_it_can_be_ended_where_events_come_faster_than_files_end(self):
        names = self.record("10k", 3)
        self.assertIn("GetNewNode", run(["report", *names], cwd=PROFEXAM).stdout)


if __name__ == "__main__":
    main()
