#!/usr/bin/env python3
"""Virtual time of the rig: an exchange of one byte each way costs two frames, whatever the machine does meanwhile.

usage: rig_time.py USB_RIG TEST_USB_RIG     exit 0 good, 1 not
"""
import json
import os
import subprocess
import sys
import tempfile


def virtual_ns(exchanges):
    with tempfile.TemporaryDirectory() as tmp:
        stats = os.path.join(tmp, "stats")
        subprocess.run([sys.argv[1], "--time", "virtual", "--stats", stats, "loop", "--", sys.argv[2], str(exchanges)], check=True, timeout=600)
        total = json.load(open(stats))
    if total["devices"][0]["transfers"] != 2 * exchanges:
        sys.exit(f"{total['devices'][0]['transfers']} transfers, {2 * exchanges} were made")
    return total["virtual_ns"]


few, many = virtual_ns(10), virtual_ns(110)
cost = (many - few) / 100
print(f"{cost:.0f} ns for an exchange at high speed")
sys.exit(0 if cost == 250_000 else 1)
