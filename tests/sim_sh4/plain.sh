#!/usr/bin/env bash
# With sanitizers, the boards that tests profile are built without, and so is all that each instruction of theirs goes through: else the suite takes twice
# as long, and nothing says so. usage: plain.sh ARCHIVE...
set -euo pipefail
status=0
for archive in "$@"; do
    symbols=$(nm -A "$archive" 2>/dev/null)
    checked=$(grep -E ' U __(asan|ubsan)_' <<<"$symbols" | sed 's/.*:\([^:]*\):.*/\1/' | sort -u | grep -v '^board_options\.c\.o$' || true)
    elsewhere=$(comm -23 <(awk '$(NF-1) == "U" { print $NF }' <<<"$symbols" | sort -u) <(awk '$(NF-1) ~ /^[TDRB]$/ { print $NF }' <<<"$symbols" | sort -u) |
        grep -E '^sh4_(pipe|tdesc)_' || true)
    [ -z "$checked" ] || { echo "$archive: with sanitizers: $checked"; status=1; }
    [ -z "$elsewhere" ] || { echo "$archive: from a library with sanitizers: $elsewhere"; status=1; }
    echo "${archive##*/}: $(grep -c . <<<"$symbols") symbols"
done
exit $status
