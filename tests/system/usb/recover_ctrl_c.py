#!/usr/bin/env python3
"""Ctrl-C in GDB just before the adapter is pulled, as it is, and after: GDB always gets its prompt, at the latest when the board is back, and the program
can be continued.

usage, in the rig with --control: recover_ctrl_c.py PROBEPROF PROBE TARGET [OPTION...]      OPTIONs go to probeprof, too
"""
import signal
import sys
import time

from recover import need_gdb
from recover_again import Again
from rig_program import tell

ROUNDS, STEP_S = 16, 0.002


class CtrlC(Again):
    def run(self):
        try:
            self.gdb = self.connect()
            for k in range(ROUNDS):
                self.gdb.go()
                time.sleep(0.1)
                self.gdb.p.send_signal(signal.SIGINT)
                time.sleep(k * STEP_S)
                tell("unplug")
                time.sleep(0.05)
                tell("plug")
                said = self.gdb.until_prompt()
                print(f"{1000 * k * STEP_S:.0f} ms: {said.split(chr(10))[-3:]}", flush=True)
                self.until_settled(lambda: False)
        finally:
            self.p.kill()


if __name__ == "__main__":
    need_gdb()
    CtrlC(sys.argv[1:]).run()
