#!/usr/bin/env python3
"""Overlays that take turns at one address (docs/examples/overlays): each function is counted by its own name, as often as the program's
generator of pseudorandom numbers says, which is computed again here. Where nobody says which overlay is there, all names it may have.

usage: overlays.py PROBEPROF SOURCE_DIR [unittest arguments]
"""
import json
import os
import shutil
import subprocess

from common import EXAMPLES, Folder, check_identities, hits, main, run

OVERLAYS = os.path.join(EXAMPLES, "overlays")
ELF = os.path.join(OVERLAYS, "overlays.elf")
TURNS, ROWS, BLOWS = 300, 3, 3
WHERE = {"Scroll": ".level", "Row": ".level", "Punch": ".fight", "Bruise": ".fight", "Menu": ".menu"}


def expected():
    """What overlays.c does in its first round."""
    seed, blows, n = 0, 0, dict.fromkeys(["LoadOverlay", *WHERE], 0)

    def random():
        nonlocal seed
        seed = (seed * 1103515245 + 12345) & 0xFFFFFFFF
        return seed >> 16

    for _ in range(TURNS):
        fight = random() & 1
        n["LoadOverlay"] += 1
        for _ in range(1 + (random() & 3)):
            if not fight:
                n["Scroll"] += 1
                n["Row"] += ROWS
                continue
            n["Punch"] += 1
            n["Bruise"] += 1
            blows = (blows + 1) % BLOWS
            if blows == 0:
                n["Menu"] += 1
                n["LoadOverlay"] += 2
    return n


class Overlays(Folder):
    def recorded(self, *args):
        recording = self.path("run.rec")
        p = run(["--start", "Play", "--stop", "PlayEnds", "--passes", "1", "--gdb", "off", "--record", recording, "--json", *args],
                cwd=OVERLAYS)
        self.assertEqual(p.returncode, 0, p.stderr)
        return recording, json.loads(p.stdout)

    def test_each_function_has_its_own_row_and_counts(self):
        recording, live = self.recorded()
        n = expected()
        n.update(OpenMenu=n["Menu"], Random=2 * TURNS, forget_code=n["LoadOverlay"], _ovly_debug_event=n["LoadOverlay"])
        self.assertEqual({f: h for f, h in hits(live).items() if f not in ("Play", "PlayEnds")}, n)
        check_identities(self, live)
        p = run(["report", recording, "--json"])
        again = json.loads(p.stdout)
        self.assertEqual(p.returncode, 0, p.stderr)
        for key in ("functions", "tree", "totals"):
            self.assertEqual(again[key], live[key], key)
        by_name = {f["name"]: f for f in live["functions"]}
        for name, overlay in WHERE.items():
            self.assertEqual(by_name[name]["overlay"], overlay)
        self.assertNotIn("overlay", by_name["Play"])
        self.assertEqual(len({by_name[f]["low"] for f in ("Scroll", "Punch", "Menu")}), 1)
        parents = {(live["functions"][live["tree"][t["parent"]]["function"]]["name"], live["functions"][t["function"]]["name"])
                   for t in live["tree"] if t["parent"] is not None}
        for pair in (("Play", "Scroll"), ("Play", "Punch"), ("Scroll", "Row"), ("Punch", "Bruise"), ("Punch", "OpenMenu"), ("OpenMenu", "Menu")):
            self.assertIn(pair, parents)
        self.assertFalse(any(a in ("Scroll", "Menu") and b == "Bruise" or a == "Punch" and b in ("Row", "Menu") for a, b in parents))

    def test_converted_and_annotated_each_is_itself(self):
        recording, live = self.recorded()
        n = expected()
        out = self.path("callgrind.out")
        self.assertEqual(run(["convert", recording, "--to", "callgrind", "-o", out]).returncode, 0)
        with open(out, encoding="utf-8") as f:
            text = f.read()
        for name in WHERE:
            self.assertIn(name, text)
        for caller, callee in (("Scroll", "Row"), ("Punch", "Bruise")):
            p = run(["annotate", recording, caller, "--json"])
            self.assertEqual(p.returncode, 0, p.stderr)
            shown = json.loads(p.stdout)["functions"]
            self.assertEqual([f["name"] for f in shown], [caller])
            self.assertIn(n[callee], [i.get("calls") for i in shown[0]["instructions"]])
        objdump = shutil.which("sh4-linux-gnu-objdump")
        if not objdump:
            self.skipTest("no sh4-linux-gnu-objdump: apt-get install binutils-sh4-linux-gnu")
        for name, overlay in WHERE.items():
            p = run(["annotate", recording, name, "--json"])
            f = json.loads(p.stdout)["functions"][0]
            lines = subprocess.run([objdump, "-d", "-j", overlay, f"--disassemble={name}", ELF], capture_output=True, text=True, check=True)
            code = [x.split("\t") for x in lines.stdout.splitlines() if "\t" in x]
            objdumps = {int(x[0].strip(" :"), 16): x[2].split()[0] for x in code}
            mine = {i["address"]: i["text"].split()[0] for i in f["instructions"] if not i["text"].startswith(".")}
            self.assertEqual(mine, {a: objdumps[a] for a in mine})
            self.assertIn("rts", mine.values())
            self.assertTrue(all(i["file"].endswith("overlays.c") for i in f["instructions"] if i.get("line")))

    def test_nobody_says_which_one_is_there_all_names_and_doubtful(self):
        with open(ELF, "rb") as f:
            program = f.read()
        self.assertEqual(program.count(b"_ovly_debug_event\0"), 2)  # a symbol's name, and the debug information's
        with open(self.path("other.elf"), "wb") as f:
            f.write(program.replace(b"_ovly_debug_event\0", b"_ovly_debug_evenT\0"))
        recording, live = self.recorded("--elf", self.path("other.elf"))
        n = expected()
        by_name = {f["name"]: f for f in live["functions"]}
        both = by_name["Scroll|Punch|Menu"]
        self.assertEqual(both["hits"], n["Scroll"] + n["Punch"] + n["Menu"])
        self.assertTrue(both["doubtful"])
        self.assertTrue(all(live["tree"][i]["doubtful"] for i, t in enumerate(live["tree"])
                            if live["functions"][t["function"]]["name"] == both["name"]))
        self.assertFalse(set(WHERE) & set(by_name))
        p = run(["annotate", recording, both["name"], "--json"])
        self.assertEqual(json.loads(p.stdout)["functions"][0]["instructions"], [])  # it is not known which

    def test_point_in_an_overlay_is_refused(self):
        p = run(["--start", "Scroll", "--stop", "PlayEnds", "--passes", "1", "--gdb", "off"], cwd=OVERLAYS)
        self.assertNotEqual(p.returncode, 0)
        self.assertIn("is in an overlay", p.stderr)


if __name__ == "__main__":
    main()
