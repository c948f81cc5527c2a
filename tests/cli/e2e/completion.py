#!/usr/bin/env python3
"""The scripts that `probeprof completion` prints, in the shells themselves: each is asked as a user asks, and every option of every command's help has
to be among the answers. usage: completion.py PROBEPROF bash|zsh|fish    exit 77: that shell is not installed"""
import os
import re
import shutil
import subprocess
import sys
import tempfile

TIMEOUT = 600 # a loaded machine

# What is typed (the cursor stands behind it), and what must and must not be among the words the last one may become.
ASKED = (
    ("probeprof ", ["run", "report", "list", "doctor", "help"], ["completion"]),
    ("probeprof rep", ["report"], ["run", "list"]),
    ("probeprof --pol", ["--policy"], ["--pdo"]),
    ("probeprof --policy ", ["lossless", "live"], ["shinobi"]),
    ("probeprof --policy=li", ["live"], ["lossless"]),
    ("probeprof run --irq-filter s", ["shinobi"], ["off"]),
    ("probeprof --probe sim:s12zvml", ["sim:s12zvml128"], ["sim:sh7750"]),
    ("probeprof -p jl", ["jlink"], ["ftdi"]),
    ("probeprof --c2 icache-", ["icache-miss"], ["branches"]),
    ("probeprof doctor --target sh7", ["sh7750", "sh7091"], ["s12zvml128"]),
    ("probeprof list --ana", ["--analysers"], ["--json"]),
    ("probeprof list --po", [], ["--policy"]),
    ("probeprof --elf prog", ["program.elf"], ["report"]),
    ("probeprof --load --elf=prog", ["program.elf"], ["report"]),
    ("probeprof report old", ["old run.prf"], []),
    ("probeprof dump fl", ["flow"], ["lines"]),
    ("probeprof help dis", ["disasm"], ["dump"]),
)

# COMPREPLY replaces what is behind the last ':' or '=': the part before it is put in front again.
BASH = r"""
source "$1"
while IFS= read -r line; do
    COMP_LINE=$line COMP_POINT=${#line}
    COMPREPLY=()
    compopt() { :; }
    _probeprof
    last=${line##* }
    keep=${last%"${last##*[:=]}"}
    for word in "${COMPREPLY[@]}"; do printf '%s\t%s\n' "$line" "$keep$word"; done
done
"""
FISH = "source $argv[1]; while read -l line; for word in (complete -C \"$line\"); printf '%s\\t%s\\n' \"$line\" (string split -f1 \\t -- $word); end; end"
# An interactive zsh in a terminal of its own; what compadd is given is what would be shown.
ZSH = r"""
zmodload zsh/zpty
zpty -b z zsh -f -i
send() { zpty -w z "$1"; }
send "PROMPT=; unsetopt zle_bracketed_paste; fpath=($2 \$fpath); autoload -Uz compinit; compinit -u -d $2/dump"
send "compadd() { local -a args shown; args=(\"\$@\"); builtin compadd -O shown \"\$@\"; printf '%s\\n' \"\${shown[@]}\" >>$2/shown; builtin compadd \"\$@\" }"
send "bindkey '^I' complete-word; bindkey '^Xk' kill-whole-line; setopt no_auto_menu no_beep"
send "mark() { print -r -- done >>$2/marks }; zle -N mark; bindkey '^Xm' mark"
typeset -i asked=0
while IFS= read -r line; do
    : >$2/shown
    zpty -w -n z "$line"$'\t\x18m\x18k'
    asked+=1
    typeset -i waited=0
    until [[ -e $2/marks && $(wc -l <$2/marks) -ge $asked ]]; do
        sleep 0.02
        zpty -r -t z junk >/dev/null
        (( ++waited < 25000 )) || { print -u2 -- "zsh does not answer to: $line"; exit 1 }
    done
    while IFS= read -r word; do [[ -z $word ]] || printf '%s\t%s\n' "$line" "$word"; done <$2/shown
done
zpty -d z
"""


def commands_of(probeprof):
    """By name: the options that its help shows."""
    overview = subprocess.run([probeprof, "help"], capture_output=True, text=True, check=True, timeout=TIMEOUT).stdout
    names = re.findall(r"^  ([a-z]+)  ", overview.split("Commands:\n")[1].split("\n\n")[0], re.M)
    helps = {n: subprocess.run([probeprof, "help", n], capture_output=True, text=True, check=True, timeout=TIMEOUT).stdout for n in names}
    return {n: re.findall(r"^  (?:-., )?\s*(--[a-z0-9-]+)", text.split("Options:\n")[-1].split("\n\n")[0] if "Options:" in text else "", re.M)
            for n, text in helps.items()}


def answers(probeprof, shell, lines, folder):
    """By line: the words that the shell would offer."""
    script = os.path.join(folder, "_probeprof")
    with open(script, "wb") as out:
        subprocess.run([probeprof, "completion", shell], stdout=out, check=True, timeout=TIMEOUT)
    command = {"bash": ["bash", "--norc", "-c", BASH, "bash", script], "fish": ["fish", "--no-config", "-c", FISH, script],
               "zsh": ["zsh", "-f", "-c", ZSH, "zsh", script, folder]}[shell]
    env = {"PATH": f"{os.path.dirname(probeprof)}:{os.environ['PATH']}", "HOME": folder, "TERM": "dumb", "LC_ALL": "C.UTF-8"}
    r = subprocess.run(command, input="".join(line + "\n" for line in lines), capture_output=True, text=True, timeout=TIMEOUT, cwd=folder, env=env, check=False)
    if r.returncode or r.stderr.strip():
        sys.exit(f"{shell}: exit code {r.returncode}\n{r.stderr}")
    words = {line: set() for line in lines}
    for row in r.stdout.splitlines():
        line, word = row.split("\t", 1)
        words[line].add(word)
    return words


def is_among(word, line, offered):
    """As the shell has it: of --name=value some shells show the value alone, a '=' may end an option, a space be quoted."""
    before = line.rsplit(" ", 1)[1]
    start = before[:before.index("=") + 1] if before.startswith("--") and "=" in before else ""
    return any(w.rstrip(" ") in (word, word + "=", start + word, word.replace(" ", "\\ ")) for w in offered)


def main():
    probeprof, shell = os.path.abspath(sys.argv[1]), sys.argv[2]
    if not shutil.which(shell):
        print(f"skipped: {shell} is not installed")
        return 77
    options = commands_of(probeprof)
    lines = [line for line, _, _ in ASKED] + [f"probeprof {name} -{'-' * bool(options[name])}" for name in options]
    with tempfile.TemporaryDirectory() as folder:
        for name in ("program.elf", "old run.prf"):
            with open(os.path.join(folder, name), "w", encoding="ascii"):
                pass
        words = answers(probeprof, shell, lines, folder)
    bad = [f"'{line}' does not offer {w}: {sorted(words[line])}" for line, wanted, _ in ASKED for w in wanted if not is_among(w, line, words[line])]
    bad += [f"'{line}' offers {w}" for line, _, unwanted in ASKED for w in unwanted if is_among(w, line, words[line])]
    for name, all_of in options.items():
        line = f"probeprof {name} --"
        bad += [f"'{line}' does not offer {o}" for o in all_of if not is_among(o, line, words[line])]
    print(f"{shell}: {len(lines)} lines, {sum(map(len, options.values()))} options of {len(options)} commands")
    print("\n".join(bad))
    return bool(bad) or not any(options.values())


if __name__ == "__main__":
    sys.exit(main())
