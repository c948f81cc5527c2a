# Shared by run-demo and run-tests: packages, and steps that are quiet unless they fail.
# shellcheck shell=bash

say() { printf '%s\n' "$*"; }
die() { printf '%s: %s\n' "${0##*/}" "$1" >&2; [ -z "${2-}" ] || printf '  hint: %s\n' "$2" >&2; exit 1; }

# step WHAT COMMAND... - runs COMMAND with its output in build/log/, shows WHAT and the seconds it
# took; on failure shows the end of the output and exits.
step() {
    local what=$1 log start=$SECONDS
    shift
    mkdir -p build/log
    log=build/log/$(printf '%s' "$what" | tr -c 'A-Za-z0-9\n' -).log
    printf '%-46s' "$what ..."
    if "$@" >"$log" 2>&1 </dev/null; then
        printf ' %4ds\n' $((SECONDS - start))
    else
        printf ' failed\n'
        tail -n 40 "$log" >&2
        die "$what failed" "all of its output: $log"
    fi
}

as_root() {
    if [ "$(id -u)" = 0 ]; then "$@"; else sudo -n "$@" 2>/dev/null || sudo "$@"; fi
}

# need_packages USE... - installs what of .ci/packages is missing: build, compile, test.
need_packages() {
    local missing=() use name
    command -v dpkg-query >/dev/null || { say "not a Debian system: packages are not checked (they are listed in .ci/packages)"; return; }
    while read -r use name; do
        case $use in ''|'#'*) continue ;; esac
        [[ " $* " == *" $use "* ]] || continue
        [ "$(dpkg-query -W -f='${db:Status-Status}' "$name" 2>/dev/null)" = installed ] || missing+=("$name")
    done <.ci/packages
    [ ${#missing[@]} -gt 0 ] || return 0
    say "installing: ${missing[*]}"
    [ "$(id -u)" = 0 ] || command -v sudo >/dev/null ||
        die "packages are missing and there is no sudo" "as root: apt-get install ${missing[*]}"
    step "package lists" as_root env DEBIAN_FRONTEND=noninteractive apt-get update -q
    step "packages" as_root env DEBIAN_FRONTEND=noninteractive apt-get install -q -y --no-install-recommends "${missing[@]}"
}

# build_preset PRESET [TARGET...] - configures and builds.
build_preset() {
    local preset=$1
    shift
    step "configure ($preset)" cmake --preset "$preset"
    step "build ($preset)" cmake --build "build/$preset" ${1:+--target} "$@"
}
