#!/usr/bin/env python3
"""Runs COMMAND and compares: says.py CODE TEXT COMMAND...    CODE: its exit code; TEXT: stands in its output"""
import subprocess
import sys

code, text, command = int(sys.argv[1]), sys.argv[2], sys.argv[3:]
r = subprocess.run(command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, timeout=600, stdin=subprocess.DEVNULL)
sys.stdout.write(r.stdout)
if r.returncode != code:
    sys.exit(f"exit code {r.returncode}, {code} is right")
if text not in r.stdout:
    sys.exit(f"\"{text}\" is not in the output")
