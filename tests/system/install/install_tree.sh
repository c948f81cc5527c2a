#!/usr/bin/env bash
# What `cmake --install` puts into an empty tree works from there, for somebody who may not write to it, and `uninstall` takes it away again.
# usage: install_tree.sh CMAKE RELEASE_BUILD_DIR
set -euo pipefail
cmake=$1 build=$2
tree=$(mktemp -d)
trap 'chmod -R u+w "$tree"; rm -rf "$tree"' EXIT
fail() { echo "install: $1" >&2; exit 1; }

umask 022
chmod 755 "$tree"
DESTDIR=$tree "$cmake" --install "$build" --prefix /usr >"$tree/log" || { cat "$tree/log"; fail "cmake --install failed"; }
usr=$tree/usr doc=$tree/usr/share/doc/probeprof
for file in bin/probeprof share/man/man1/probeprof.1 include/probeprof_target.h include/probeprof_agent.h share/probeprof/agent/kernel.S \
            share/probeprof/agent/resident.mk lib/udev/rules.d/60-probeprof.rules share/doc/probeprof/service.md share/doc/probeprof/LICENSE \
            share/doc/probeprof/examples/profexam/profexam.elf lib/systemd/user/probeprof@.service share/bash-completion/completions/probeprof \
            share/fish/vendor_completions.d/probeprof.fish; do
    [ -s "$usr/$file" ] || fail "/usr/$file is missing"
done
[ -s "$usr/share/zsh/site-functions/_probeprof" ] || [ -s "$usr/share/zsh/vendor-completions/_probeprof" ] || fail "no completion for zsh"
[ -x "$usr/bin/probeprof" ] || fail "the program is not executable"
"$usr/bin/probeprof" events | grep icache-miss >/dev/null || fail "the installed program does not list events"

# Documents: what they name is there, and those for everyday use do not point into the source. The others say that they do.
ours='(^|[^A-Za-z0-9_./-])(targets|probe|profiler|gdbstub|tests|udev|docs)/[a-z0-9*]'
manual=$usr/share/man/man1/probeprof.1
for file in "$doc"/*.md "$doc"/examples/*/* "$manual"; do
    case $file in *.elf) continue ;; esac
    if found=$(grep -nE '(^|[^./])\bdocs/' "$file"); then fail "${file#"$tree"} speaks of docs/: $found"; fi
    for name in $(grep -oE '\bexamples/[A-Za-z/.]*[A-Za-z]|[a-z0-9-]+\.md' "$file" | sort -u); do
        [ -e "$doc/$name" ] || fail "${file#"$tree"} speaks of $name, which is not there"
    done
    found=$(grep -nE "$ours" "$file" | grep -v "those of probeprof's source" || true)
    [ -n "$found" ] || continue
    case ${file##*/} in
    adapters.md | service.md | README.md | *.conf | *.1) fail "${file#"$tree"} points into the source: $found" ;;
    *.md) grep "those of probeprof's source" "$file" >/dev/null || fail "${file#"$tree"} points into the source: $found" ;;
    esac
done

# The examples, each by its README's or conf's words, by somebody who may write nowhere but at home.
chmod -R a-w "$usr"
mkdir "$tree/home"
as_user=()
if [ "$(id -u)" = 0 ]; then
    as_user=(setpriv --reuid 65534 --regid 65534 --clear-groups)
    chown 65534 "$tree/home"
fi
listing() { (cd "$usr" && find . -printf '%p %s %T@\n' | LC_ALL=C sort); }
before=$(listing)
example() { # FOLDER WORD THAT COMES OUT, ARGUMENTS...
    local folder=$1 word=$2
    shift 2
    (cd "$doc/examples/$folder" && HOME=$tree/home PROBEPROF_PROBE=${board-} "${as_user[@]}" timeout 600 "$usr/bin/probeprof" "$@" --gdb off) >"$tree/out" 2>"$tree/err" ||
        { cat "$tree/out" "$tree/err"; fail "example $folder: exit code $?"; }
    grep "$word" "$tree/out" >/dev/null || { cat "$tree/out" "$tree/err"; fail "example $folder: no $word"; }
    echo "example $folder: $(wc -l <"$tree/out") lines"
}
board=sim:sh7750 example profexam GetLastNode --start main+8 --stop 0x0C010030 --passes 1
board=sim:sh7750 example irqdemo CallBlocked --start Round --stop CallBlocked --passes 5
board=sim:sh7750 example cxx 'Gain::step' --start Round --stop RoundEnds --passes 5
board=sim:sh7750 example callers CallEasy --start Round --stop RoundEnds --passes 1
board=sim:sh7750 example overlays Bruise --start Play --stop PlayEnds --passes 1
example motor control_loop --for 100ms
board=sim:sh7750 example profexam GetLastNode --start main+8 --stop 0x0C010030 --passes 1 --record "$tree/home/run.rec" --output "$tree/home/run.prf"
[ -s "$tree/home/run.rec" ] && [ -s "$tree/home/run.prf" ] || fail "nothing written at home"
[ "$before" = "$(listing)" ] || fail "the examples have changed what is installed"
# Rebuilt from there, with the results elsewhere. That user may not write into somebody else's compiler cache either.
if command -v sh4-linux-gnu-gcc >/dev/null; then
    (cd "$tree/home" && CCACHE_DISABLE=1 "${as_user[@]}" make -s -C "$doc/examples/irqdemo" OUT="$tree/home" "$tree/home/irqdemo.elf") || fail "irqdemo cannot be rebuilt from there"
    cmp "$tree/home/irqdemo.elf" "$doc/examples/irqdemo/irqdemo.elf" || fail "irqdemo is not what its source gives"
fi

# The unit, for a folder whose name needs escapes.
unit=$usr/lib/systemd/user/probeprof@.service
options=$(sed -n 's/^ExecStart=//p' "$unit" | grep -o -e '--[a-z-]*')
[ -n "$options" ] || fail "the unit has no options"
for option in $options; do
    "$usr/bin/probeprof" help run | grep -- "$option" >/dev/null || fail "the unit's '$option' is no option"
done
if command -v systemd-analyze >/dev/null; then
    mkdir "$tree/units"
    name=$tree/units/probeprof@$(systemd-escape --path "/tmp/a project").service
    sed "s|^ExecStart=probeprof|ExecStart=$usr/bin/probeprof|" "$unit" >"$name" # systemd looks in its own path
    findings=$(XDG_RUNTIME_DIR=$tree SYSTEMD_UNIT_PATH="$tree/units:" systemd-analyze --user verify --man=no "$name" 2>&1 | grep probeprof@ || true)
    [ -z "$findings" ] || fail "systemd: $findings"
fi

if systemd-analyze security --help >/dev/null 2>&1; then
    cp "$unit" "$tree/units/probeprof@x.service"
    (cd "$tree/units" && systemd-analyze security --offline=yes --threshold=29 --no-pager ./probeprof@x.service) >"$tree/security" 2>&1 ||
        { cat "$tree/security"; fail "the unit is not confined"; }
    tail -n 1 "$tree/security"
fi

# The header serves programs for the board: no include path but its own folder.
gcc=sh4-linux-gnu-gcc
if command -v $gcc >/dev/null; then
    printf '#define PROBEPROF_DEFINE\n#include <probeprof_target.h>\nvoid f(void) { probeprof_off(); probeprof_on(); }\n' >"$tree/t.c"
    $gcc -ffreestanding -nostdinc -O0 -Wall -Wextra -Werror -I "$usr/include" -c "$tree/t.c" -o "$tree/t.o" ||
        fail "probeprof_target.h does not compile by itself"
fi

# Nothing is left, but a file of somebody else's, and its folder.
chmod -R u+w "$usr"
touch "$doc/notes of mine"
DESTDIR=$tree "$cmake" --build "$build" --target uninstall >"$tree/log" || { cat "$tree/log"; fail "uninstall failed"; }
left=$(cd "$usr" && find . -type f -o -type l)
[ "$left" = "./share/doc/probeprof/notes of mine" ] || fail "uninstall leaves: $left"
[ ! -e "$usr/share/probeprof" ] && [ ! -e "$doc/examples" ] || fail "uninstall leaves empty folders"
