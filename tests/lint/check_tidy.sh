#!/usr/bin/env bash
# clang's warnings and those of clang-tidy (.clang-tidy) on every C file that this build compiles. usage: check_tidy.sh SOURCE_DIR BUILD_DIR
# exit 0 clean, 1 with findings, 77 without clang-tidy or the list of what is compiled
set -euo pipefail
source=$1 build=$2
command -v clang-tidy >/dev/null || { echo "skipped: clang-tidy is not installed"; exit 77; }
[ -f "$build/compile_commands.json" ] || { echo "skipped: $build has no compile_commands.json"; exit 77; }
cd "$source"
tmp=$(mktemp -d)
trap 'rm -rf "$tmp"' EXIT
# A file that is compiled twice with the same macros (the boards, with and without sanitizers) is looked at once.
python3 - "$build/compile_commands.json" "$tmp/compile_commands.json" <<'END' | sort >"$tmp/files"
import json, shlex, sys
first = {}
for entry in json.load(open(sys.argv[1])):
    if entry["file"].endswith(".c"):
        macros = sorted(word for word in shlex.split(entry["command"]) if word.startswith("-D"))
        first.setdefault((entry["file"], *macros), entry)
json.dump(list(first.values()), open(sys.argv[2], "w"))
print("\n".join({file for file, *macros in first}))
END
if xargs -n 16 -P "$(nproc)" clang-tidy --quiet --extra-arg=-Wno-unknown-warning-option -p "$tmp" <"$tmp/files" >"$tmp/found" 2>"$tmp/said"; then
    echo "$(wc -l <"$tmp/files") files, no findings"
else
    # a file that was given twice, or a header that many include, says the same again
    awk '/: (warning|error):/ { show = !seen[$0]++ } show' "$tmp/found"
    grep -v 'warnings\? generated\|^Suppressed\|^Use -header\|warnings\? treated as error' "$tmp/said" | head -20
    exit 1
fi
