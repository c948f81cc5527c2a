#!/bin/sh
# An independent client on a JTAG adapter's model: it must find the chain and scan it. Run inside usb_rig with a chain of
#   --board sim:sh7750 --chain idcode=0x4ba00477,ir=4
# usage: judge.sh openocd 'OPENOCD COMMANDS | THAT NAME | THE ADAPTER' | judge.sh urjtag CABLE...
# exit 0 judged well, 1 not, 77 the client is not installed
set -u
who=$1
shift

need() {
    command -v "$1" >/dev/null && return
    echo "skipped: $1 is not installed"
    exit 77
}

# wants OUTPUT PATTERN... - every pattern on a line of its own
wants() {
    out=$1
    shift
    bad=0
    for p; do
        printf '%s\n' "$out" | grep -qE "$p" || { echo "missing: $p"; bad=1; }
    done
    [ $bad = 0 ] || printf '%s\n' "$out"
    return $bad
}

case $who in
openocd)
    need openocd
    out=$(timeout 600 openocd -c "$(printf '%s' "$1" | tr '|' ';')
        transport select jtag
        adapter speed 1000
        jtag newtap sh cpu -irlen 16 -ircapture 0x1 -irmask 0x3
        jtag newtap other tap -irlen 4 -expected-id 0x4ba00477
        init
        irscan other.tap 0xe
        echo \"id [drscan other.tap 32 0]\"
        irscan other.tap 0xf
        echo \"bypass [drscan other.tap 24 0xC0FFEE]\"
        irscan sh.cpu 0
        drscan sh.cpu 32 0x12345678
        echo \"sddr [drscan sh.cpu 32 0xCAFEF00D]\"
        echo \"sddr [drscan sh.cpu 32 0]\"
        runtest 1000
        shutdown" 2>&1)
    wants "$out" 'tap/device found: 0x4ba00477' '^id 4ba00477' '^bypass 03ffb8' '^sddr 12345678' '^sddr cafef00d' || exit 1
    printf '%s\n' "$out" | grep -E '^Error' && exit 1
    exit 0
    ;;
urjtag)
    need jtag
    script=$(mktemp)
    printf 'cable %s\nfrequency 1000000\ndetect\nquit\n' "$*" >"$script"
    out=$(timeout 600 jtag -n "$script" 2>&1)
    rm -f "$script"
    wants "$out" 'IR length: 20' 'Chain length: 2' '0x4BA00477'
    ;;
*)
    echo "usage: judge.sh openocd COMMANDS | urjtag CABLE..." >&2
    exit 2
    ;;
esac
