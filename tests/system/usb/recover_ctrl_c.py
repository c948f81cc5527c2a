#!/usr/bin/env python3
"""Ctrl-C in GDB just before the adapter is pulled, as it is, and after: GDB always gets its prompt, at the latest when the board is back, and the program
can be continued.

usage, in the rig with --control: recover_ctrl_c.py PROBEPROF PROBE TARGET [OPTION...]      OPTIONs go to probeprof, too
"""
import signal
import sys
import time

from recover import DEADLINE_S, PROMPT, need_gdb
from recover_again import Again
from rig_program import tell

ROUNDS, STEP_S = 16, 0.002


class CtrlC(Again):
    def go(self):
        """Until GDB has let the program go: a Ctrl-C before that, while it still reads registers, interrupts what it does then, and with the next it gives
        its target up. Where the board is away once more (a busy machine) it has its prompt instead, and is asked again."""
        end = time.monotonic() + DEADLINE_S
        self.gdb.send("continue")
        while self.gdb.until_first("Sending packet: $vCont;c", PROMPT)[1] == PROMPT:
            self.right(time.monotonic() < end, "the program cannot be continued")
            time.sleep(0.2)
            self.gdb.send("continue")

    def run(self):
        try:
            self.gdb = self.connect()
            self.gdb.ask("set debug remote 1")
            for k in range(ROUNDS):
                self.go()
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
