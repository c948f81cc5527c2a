#!/usr/bin/env bash
# What `cmake --install` puts into an empty tree works from there.
# usage: install_tree.sh CMAKE BUILD_DIR
set -euo pipefail
tree=$(mktemp -d)
trap 'rm -rf "$tree"' EXIT
fail() { echo "install: $1" >&2; exit 1; }

DESTDIR=$tree "$1" --install "$2" --prefix /usr >"$tree/log" || { cat "$tree/log"; fail "cmake --install failed"; }
for file in bin/probeprof share/man/man1/probeprof.1 include/probeprof_target.h lib/udev/rules.d/60-probeprof.rules \
            share/doc/probeprof/service.md lib/systemd/user/probeprof@.service; do
    [ -s "$tree/usr/$file" ] || fail "/usr/$file is missing"
done
[ -x "$tree/usr/bin/probeprof" ] || fail "the program is not executable"
"$tree/usr/bin/probeprof" events | grep icache-miss >/dev/null || fail "the installed program does not list events"

# The unit, for a folder whose name needs escapes.
unit=$tree/usr/lib/systemd/user/probeprof@.service
read -r _ option <<<"$(sed -n 's/^ExecStart=//p' "$unit")"
"$tree/usr/bin/probeprof" help run | grep -- "$option" >/dev/null || fail "the unit's '$option' is no option"
if command -v systemd-analyze >/dev/null; then
    mkdir "$tree/units"
    name=$tree/units/probeprof@$(systemd-escape --path "/tmp/a project").service
    sed "s|^ExecStart=probeprof|ExecStart=$tree/usr/bin/probeprof|" "$unit" >"$name" # systemd looks in its own path
    findings=$(XDG_RUNTIME_DIR=$tree SYSTEMD_UNIT_PATH="$tree/units:" systemd-analyze --user verify --man=no "$name" 2>&1 | grep probeprof@ || true)
    [ -z "$findings" ] || fail "systemd: $findings"
fi

# The header serves programs for the board: no include path but its own folder.
gcc=sh4-linux-gnu-gcc
if command -v $gcc >/dev/null; then
    printf '#define PROBEPROF_DEFINE\n#include <probeprof_target.h>\nvoid f(void) { probeprof_off(); probeprof_on(); }\n' >"$tree/t.c"
    $gcc -ffreestanding -nostdinc -O0 -Wall -Wextra -Werror -I "$tree/usr/include" -c "$tree/t.c" -o "$tree/t.o" ||
        fail "probeprof_target.h does not compile by itself"
fi
