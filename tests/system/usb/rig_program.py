"""For tests that run a program in the rig: commands to the rig, and waiting for what the program says."""
import os
import queue
import socket
import sys
import threading
import time


def tell(word):
    """What `usb_rig --tell` does, without the start of that program. Returns what it prints."""
    with socket.socket(socket.AF_UNIX) as s:
        s.connect(os.environ["USB_RIG_CONTROL"])
        s.sendall(word.encode())
        answer = s.makefile().read()
    if not answer.startswith("ok"):
        sys.exit(f"rig: {word}: {answer}")
    return answer


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
