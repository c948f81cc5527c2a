"""For tests that run a program in the rig: commands to the rig, and waiting for what the program says."""
import os
import queue
import subprocess
import sys
import threading
import time


def tell(rig, word):
    # not under the preload: it is no client of the rig
    env = {k: v for k, v in os.environ.items() if k != "LD_PRELOAD"}
    r = subprocess.run([rig, "--tell", os.environ["USB_RIG_CONTROL"], *word.split()], env=env, capture_output=True, text=True)
    if r.returncode != 0:
        sys.exit(f"rig: {word}: {r.stdout}{r.stderr}")
    return r.stdout


def lines_of(stream):
    q = queue.Queue()

    def read():
        for line in stream:
            sys.stderr.write(line)
            q.put(line)
        q.put(None)
    threading.Thread(target=read, daemon=True).start()
    return q


def heard(lines, text, deadline_s):
    """The next line with text; None if the program ended before. queue.Empty: not in time."""
    end = time.monotonic() + deadline_s
    while True:
        line = lines.get(timeout=max(0.0, end - time.monotonic()))
        if line is None or text in line:
            return line


def wait_for(lines, text, deadline_s):
    try:
        line = heard(lines, text, deadline_s)
    except queue.Empty:
        sys.exit(f"\"{text}\" was not said in {deadline_s} s")
    if line is None:
        sys.exit(f"ended before it said \"{text}\"")
    return line
