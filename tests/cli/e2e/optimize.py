#!/usr/bin/env python3
"""Orders of functions for the instruction cache: a program is linked, profiled, linked again by each kind of order that GNU ld takes, and its misses are
counted by `stat`, untraced.

usage: optimize.py PROBEPROF SOURCE_DIR [unittest arguments]
"""
import json
import os
import re
import shutil
import subprocess
import tempfile
import unittest

from common import EXAMPLES, Folder, PROFEXAM, hits, main, run

# Two functions 8 KiB apart that are called in turn, so that each call throws the other's line out; a group that is one section; a twin of its name.
TWINS = r"""
volatile int sum;
__attribute__((section(".text.left"))) int left(int x) { return x + 1; }
__attribute__((section(".text.right"))) int right(int x) { return x + 2; }
__attribute__((section(".text.gap"), used)) void gap(void) { __asm__(".space 8192 - 64"); }
__attribute__((section(".text.pair"))) static int first_of_pair(int x) { return x + 3; }
__attribute__((section(".text.pair"))) int second_of_pair(int x) { return first_of_pair(x); }
__attribute__((section(".boot"))) int booted(int x) { return x + 4; }
__attribute__((section(".text.huge"))) int huge(int x) { return x; }
__asm__(".section .text.huge, \"ax\"\n .space 8192\n .previous");
__attribute__((section(".text.rounds"))) void rounds(void)
{
    sum += second_of_pair(sum) + booted(sum) + huge(sum);
    for (int i = 0; i < 1000; i++)
        sum += left(right(i));
}
__attribute__((section(".text.main"))) int main(void)
{
    int unused[1];
    (void)unused;
    for (;;)
        rounds();
}
"""
SCRIPT = """
OUTPUT_FORMAT("elf32-sh-linux")
ENTRY(entry)
SECTIONS
{
    . = 0x0C010000;
    .head : { *(.head) *(.boot) }
    INCLUDE order.ld
    .text : { *(.text.left) *(.text.gap) *(.text.right) *(.text .text.*) . = ALIGN(256); *(.vectors) }
    .note.gnu.build-id : { *(.note.gnu.build-id) }
    .data : { *(.data .data.*) }
    . = ALIGN(4); bss_start = .;
    .bss : { *(.bss .bss.* COMMON) }
    . = ALIGN(4); bss_end = .;
    stack_top = 0x0CFF1800;
    /DISCARD/ : { *(.comment) *(.note.GNU-stack) }
}
"""
CC = "sh4-linux-gnu-gcc"
COMPILE = [CC, "-ml", "-m4", "-O0", "-g", "-ffreestanding", "-fno-pic", "-fno-stack-protector", "-fno-asynchronous-unwind-tables"]
LINK = [CC, "-nostdlib", "-static", "-no-pie", "-Wl,--build-id=sha1", "-Wl,-z,noexecstack", "-Wl,-z,max-page-size=32", "-Wl,--no-warn-rwx-segments"]
OBJECTS = ["head.o", "start.o", "vectors.o", "twins.o"]
PASS = ["--start", "rounds", "--stop", "main+8"]
QUIET = ["--gdb", "off", "--http", "off", "-q"]


def tool(*args, cwd):
    r = subprocess.run(args, capture_output=True, text=True, cwd=cwd, check=False)
    if r.returncode:
        raise AssertionError(f"{args}: {r.stderr}")
    return r.stdout


def symbols_of(folder, elf):
    return {name: int(addr, 16) for addr, _, name in re.findall(r"(?m)^([0-9a-f]+) (\w) (\w+)$", tool("sh4-linux-gnu-nm", elf, cwd=folder))}


@unittest.skipUnless(shutil.which(CC), "needs gcc-sh4-linux-gnu")
class Optimize(Folder):
    maxDiff = None

    @classmethod
    def setUpClass(cls):
        cls.made = tempfile.mkdtemp(prefix="probeprof-optimize-")
        cls.addClassCleanup(shutil.rmtree, cls.made)
        for name, text in (("twins.c", TWINS), ("place.ld", SCRIPT), ("order.ld", "")):
            with open(os.path.join(cls.made, name), "w", encoding="utf-8") as f:
                f.write(text)
        for source in ("twins.c", os.path.join(PROFEXAM, "head.S"), os.path.join(EXAMPLES, "common", "start.S"), os.path.join(EXAMPLES, "common", "vectors.S")):
            tool(*COMPILE, "-c", source, "-o", os.path.splitext(os.path.basename(source))[0] + ".o", cwd=cls.made)
        cls.link("before")
        # --for: what goes wrong ends, too
        r = run(["before.elf", *PASS, "--passes", "3", "--record", "run.rec", "--output", "run.prf", "--for", "20s", *QUIET], cwd=cls.made)
        assert r.returncode == 0, r.stderr

    @classmethod
    def link(cls, name, *more):
        tool(*LINK, *(more or ("-T", "place.ld")), f"-Wl,-Map={name}.map", "-o", f"{name}.elf", *OBJECTS, cwd=cls.made)

    def optimize(self, *args, source="run.rec"):
        r = run(["optimize", source, "--map", "before.map", *args], cwd=self.made)
        self.assertEqual(r.returncode, 0, r.stderr)
        return r.stdout

    def order(self, *args, **more):
        return json.loads(self.optimize("--json", *args, **more))

    def refused(self, status, what, hint, *args):
        self.assert_fails(run(["optimize", *args], cwd=self.made), status, what, hint)

    def misses(self, elf):
        r = run(["stat", elf, *PASS, "--passes", "3", "--c1", "icache-miss", "--json"], cwd=self.made)
        self.assertEqual(r.returncode, 0, r.stderr)
        return json.loads(r.stdout)["events"][0]["mean"]

    # ---- what is put in order, and what stays ----

    def test_cliques_groups_and_what_stays(self):
        d = self.order()
        profile = json.loads(run(["report", "run.rec", "--json"], cwd=self.made).stdout)
        self.assertEqual(d["schema"], "probeprof.order/1")
        self.assertEqual({f["function"]: f["hits"] for f in d["functions"] + d["warnings"] if f["hits"]}, hits(profile))
        self.assertEqual({w["function"]: w["reason"] for w in d["warnings"]}, {"booted": "in a section that is no .text", "huge": "as large as the cache"})
        self.assertEqual([g["members"] for g in d["groups"]], [["first_of_pair", "second_of_pair"]])
        self.assertEqual(set(d["cliques"][0]["members"]) >= {"left", "right", "rounds"}, True)
        sizes = {f["function"]: f["size"] for f in d["functions"]}
        self.assertEqual(sizes["left"], 32)
        self.assertIsNone(d["predicted"])
        for algorithm in ("ph", "c3"):
            other = self.order("--algorithm", algorithm)
            self.assertEqual({f["function"] for f in other["functions"]}, set(sizes))
            self.assertTrue(any({"left", "right"} <= set(c["members"]) for c in other["cliques"]), algorithm)

    def test_text_has_the_same_in_80_columns(self):
        text, d = self.optimize(), self.order()
        self.assertLessEqual(max(map(len, text.splitlines())), 80)
        for c in d["cliques"]:
            self.assertRegex(text, rf"clique \d+: {c['size']} bytes, {c['hits']} hits")
        for f in d["functions"]:
            self.assertRegex(text, rf"(?m)^ +{f['hits']} +{f['size']} +{f['group'] or '-'}  {f['function']}$")
        self.assertRegex(text, r"(?m)^ +3  huge: as large as the cache \(\d{4,}\)$")
        self.assertIn("not predicted", text)

    def test_a_prf_with_its_elf_has_the_same_order(self):
        self.assertEqual(self.order(), self.order("--elf", "before.elf", source="run.prf"))
        self.refused(2, "its program is not known", "--elf", "run.prf", "--map", "before.map")

    def test_deselected_functions_take_their_group_with_them(self):
        names = lambda d: {f["function"] for f in d["functions"]}  # noqa: E731
        everything = names(self.order())
        self.assertEqual(everything - names(self.order("--exclude", "^second")), {"first_of_pair", "second_of_pair"})
        self.assertEqual(names(self.order("--include", "^(left|right|second)")), {"left", "right", "first_of_pair", "second_of_pair"})
        self.assertEqual(names(self.order("--include", "left|right|rounds", "--exclude", "left")), {"right", "rounds"})
        self.assertEqual(names(self.order("--hits", ">=100")), {"left", "right"})

    def test_marks_exclude_and_group(self):
        with open(os.path.join(self.made, "x.marks"), "w", encoding="utf-8") as f:
            f.write("group both = /^(left|main)$/\nexclude right\n")
        d = self.order("--marks", "x.marks")
        self.assertIn(["main", "left"], [sorted(g["members"], reverse=True) for g in d["groups"] if g["mark"] == "both"])
        self.assertTrue(any({"left", "main"} <= set(c["members"]) for c in d["cliques"]))
        self.assertEqual([w["reason"] for w in d["warnings"] if w["function"] == "right"], ["excluded"])
        with open(os.path.join(self.made, "y.marks"), "w", encoding="utf-8") as f:
            f.write("\nexclude nobody\n")
        self.refused(1, "y.marks:2: nobody", "report", "run.rec", "--map", "before.map", "--marks", "y.marks")

    def test_a_larger_cache_takes_larger_units(self):
        self.assertIn("huge", {f["function"] for f in self.order("--cache", "16K,32,2")["functions"]})

    # ---- linked again ----

    def test_ld__the_misses_are_gone(self):
        self.optimize("-o", "order.ld")
        self.addCleanup(lambda: open(os.path.join(self.made, "order.ld"), "w", encoding="utf-8").close())
        self.link("after")
        was, now = self.misses("before.elf"), self.misses("after.elf")
        self.assertGreaterEqual(was, 2000)  # two a round
        self.assertLess(now - (was - 2000), 10)
        r = run(["after.elf", *PASS, "--passes", "3", "--json", *QUIET], cwd=self.made)
        self.assertEqual(hits(json.loads(r.stdout)), hits(json.loads(run(["report", "run.rec", "--json"], cwd=self.made).stdout)))
        # the order that was found is the order that was linked
        at, d = symbols_of(self.made, "after.elf"), self.order()
        addresses = [at[f["function"]] for f in d["functions"]]
        self.assertEqual(addresses, sorted(addresses))
        # a map is of its own link
        self.refused(1, "the map is of another link", "when the ELF was linked", "run.rec", "--map", "after.map")

    def test_ld_insert__beside_ld_s_own_script(self):
        self.optimize("-o", "i.ld", "--format", "ld-insert", "--include", "left|right")
        self.link("inserted", "-Wl,-e,main", "-Wl,--defsym=stack_top=0,--defsym=bss_start=0,--defsym=bss_end=0", "-T", "i.ld")
        at = symbols_of(self.made, "inserted.elf")
        self.assertEqual(abs(at["left"] - at["right"]), 32)

    def test_ld__an_order_of_names_that_are_gone_is_no_link(self):
        self.optimize("-o", "order.ld", "--include", "left|right")
        self.addCleanup(lambda: open(os.path.join(self.made, "order.ld"), "w", encoding="utf-8").close())
        with open(os.path.join(self.made, "order.ld"), encoding="utf-8") as f:
            text = f.read()
        with open(os.path.join(self.made, "order.ld"), "w", encoding="utf-8") as f:
            f.write(text.replace(".text.left", ".text.gone").replace(".text.right", ".text.gone"))
        with self.assertRaisesRegex(AssertionError, "none of the order's sections is here"):
            self.link("gone")

    def test_ld_order__where_the_linker_has_it(self):
        if "--section-ordering-file" not in tool("sh4-linux-gnu-ld", "--help", cwd=self.made):
            self.skipTest("needs GNU ld 2.43 or later")
        self.optimize("-o", "s.order", "--format", "ld-order", "--include", "left|right")
        self.link("sorted", "-T", "place.ld", "-Wl,--section-ordering-file=s.order")
        at = symbols_of(self.made, "sorted.elf")
        self.assertEqual(abs(at["left"] - at["right"]), 32)

    def test_lists_for_other_linkers(self):
        d, lines = self.order(), {}
        for name in ("lld", "gold", "lor"):
            self.optimize("-o", name, "--format", name)
            with open(os.path.join(self.made, name), encoding="ascii") as f:
                lines[name] = [line for line in f.read().splitlines() if not line.startswith("#")]
        self.assertEqual(lines["lld"], [f["linkage_name"] for f in d["functions"]])
        self.assertEqual(lines["gold"], list(dict.fromkeys(f["section"] for f in d["functions"])))
        self.assertEqual([line.split()[0] for line in lines["lor"] if line.startswith("  ")], lines["lld"])
        self.assertEqual(sum(line.startswith("clique ") for line in lines["lor"]), len(d["cliques"]))
        self.assertEqual(sum(line.startswith("warning ") for line in lines["lor"]), len(d["warnings"]))

    # ---- refused ----

    def test_what_cannot_be_is_refused(self):
        motor = os.path.join(EXAMPLES, "motor")
        maps = ["--map", "before.map"]
        r = run(["--conf", os.path.join(motor, "probeprof.conf"), "--elf", os.path.join(motor, "motor.elf"), "--probe", "sim:s12zvml128", "--load", "--for", "5ms", *QUIET,
                 "--record", os.path.join(self.made, "motor.rec")], cwd=self.made, probe=None)
        self.assertEqual(r.returncode, 0, r.stderr)
        self.assertEqual(run(["before.elf", "--sample", "--for", "20ms", "--record", "samples.rec", *QUIET], cwd=self.made).returncode, 0)
        rows = [((), 2, "optimize needs a recording", "probeprof optimize"),
                (("run.rec",), 2, "optimize needs the link map", "-Wl,-Map"),
                (("run.rec", *maps, "--format", "lor"), 2, "--format is the format of -o", "-o F"),
                (("run.rec", *maps, "--format", "xml", "-o", "x"), 2, "xml", "lor"),
                (("run.rec", *maps, "--cache", "9K,32,1"), 2, "--cache", "16K,32,2"),
                (("run.rec", *maps, "--cache", "8K,32,1x"), 2, "--cache", "16K,32,2"),
                (("run.rec", *maps, "--include", "("), 2, "--include", "regular expression"),
                (("run.rec", *maps, "--exclude", "nobody"), 1, "no function that ran", "report"),
                (("run.rec", *maps, "--include", "^left$"), 1, "1 section that ran can be moved", "-ffunction-sections"),
                (("run.rec", "--map", "run.rec"), 1, "no link map of GNU ld", "-Wl,-Map"),
                (("run.rec", "--map", "absent.map"), 1, "absent.map", ""),
                (("samples.rec", *maps), 1, "it has no calls", "--record"),
                (("motor.rec", *maps), 1, "no instruction cache", "SH-4"),
                (("run.prf", *maps, "--elf", os.path.join(PROFEXAM, "profexam.elf")), 1, "another build", "was profiled"),
                (("run.rec", *maps, "-o", "/dev/null"), 1, "/dev/null", "")]
        for args, status, what, hint in rows:
            with self.subTest(args=args):
                self.refused(status, what, hint, *args)
        self.assertFalse(os.path.exists(os.path.join(self.made, "x")))

    def test_a_program_without_its_cache_has_nothing_to_gain(self):
        with open(os.path.join(self.made, "off.elf"), "wb") as f, open(os.path.join(self.made, "before.elf"), "rb") as g:
            data = g.read()
            self.assertEqual(data.count(b"\x01\x01\x0d\x09"), 1)  # p_caches_on, p_ccr_value of start.S
            f.write(data.replace(b"\x01\x01\x0d\x09", b"\x01\x00\x0d\x00"))
        r = run(["off.elf", *PASS, "--passes", "1", "--record", "off.rec", *QUIET], cwd=self.made)
        self.assertEqual(r.returncode, 0, r.stderr)
        self.refused(1, "instruction cache off", "CCR.ICE", "off.rec", "--map", "before.map")


if __name__ == "__main__":
    main()
