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
python3 - "$build/compile_commands.json" <<'END' | sort -u >"$tmp/files"
import json, sys
for entry in json.load(open(sys.argv[1])):
    if entry["file"].endswith(".c"):
        print(entry["file"])
END
if xargs -n 16 -P "$(nproc)" clang-tidy --quiet --extra-arg=-Wno-unknown-warning-option -p "$build" <"$tmp/files" >"$tmp/found" 2>"$tmp/said"; then
    echo "$(wc -l <"$tmp/files") files, no findings"
else
    # a file that was given twice, or a header that many include, says the same again
    awk '/: (warning|error):/ { show = !seen[$0]++ } show' "$tmp/found"
    grep -v 'warnings\? generated\|^Suppressed\|^Use -header\|warnings\? treated as error' "$tmp/said" | head -20
    exit 1
fi
