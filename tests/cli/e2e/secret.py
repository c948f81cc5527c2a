#!/usr/bin/env python3
"""A function without a name, behind a pointer that the program decodes: found by its running.

usage: secret.py PROBEPROF SOURCE_DIR [unittest arguments]
"""
import json
import shutil
import subprocess
import unittest

from common import Folder, hits, main, run

SECRET = """
        .globl  main, f
        .type   main, @function
        .type   f, @function
main:   mov.l   2f, r0
        ldc     r0, sr
        mov.l   3f, r9
        mov.l   4f, r12
1:      mov.l   5f, r1
        mov.l   @r1, r1
        xor     r12, r1
        jsr     @r1                     ! of it nothing in the image tells where it leads
        nop
        dt      r9
        bf      1b
done:   bra     done
        nop
        .align  2
2:      .long   0x40000000
3:      .long   20000
4:      .long   0x5A5A5A5A
5:      .long   secret
        .size   main, . - main
f:      rts
        add     #1, r8
        .size   f, . - f
.Lhidden: sts.l pr, @-r15
        bsr     f
        nop
        bsr     f
        nop
        lds.l   @r15+, pr
        rts
        nop
        .data
        .align  2
secret: .long   0
"""


@unittest.skipUnless(shutil.which("sh4-linux-gnu-as"), "needs binutils-sh4-linux-gnu")
class Secret(Folder):
    BASE, HIDDEN = 0x0C010000, 0x0C010030

    def build(self):
        source = self.write("secret.S", SECRET.replace("secret: .long   0", f"secret: .long   {self.HIDDEN ^ 0x5A5A5A5A:#x}"))
        subprocess.run(["sh4-linux-gnu-as", "-little", "-o", self.path("secret.o"), source], check=True)
        subprocess.run(["sh4-linux-gnu-ld", "-EL", "-Ttext", hex(self.BASE), "-Tdata", "0x0c018000", "-e", "main", "-o", self.path("secret.elf"), "--no-warn-rwx-segments",
                        self.path("secret.o")], check=True)
        return self.path("secret.elf")

    def test_the_summary_says_how_many_functions_running_has_shown(self):
        args = ["--elf", self.build(), "--load", "--gdb", "off", "--start", "main+4", "--stop", "done", "--passes", "1", "--c1", "instructions", "--c2", "none"]
        r = run(args + ["--json"], cwd=self.dir)
        self.assertEqual(r.returncode, 0, r.stderr)
        document = json.loads(r.stdout)
        hits = {f["low"]: f["hits"] for f in document["functions"]}
        self.assertEqual(document["coverage"]["names"], True)
        self.assertGreater(hits[self.HIDDEN - 4], 30000)  # f, which it calls twice: not all were seen before it was found
        self.assertLessEqual(hits[self.HIDDEN - 4], 40000)
        self.assertEqual(hits[self.HIDDEN], 20000)
        self.assertLess(document["coverage"]["blind_events"], 10000)
        self.assertRegex(run(args, cwd=self.dir).stdout, r"1 function\(s\) found by their running")


if __name__ == "__main__":
    main()
