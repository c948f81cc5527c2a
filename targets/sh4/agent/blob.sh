# What build.sh and build_trace.sh share; sourced by them. tmp is a folder that goes with the script.
# Needs the SH-4 cross binutils (Debian: binutils-sh4-linux-gnu). AS, LD, NM, OBJCOPY override them.
AS=${AS:-sh4-linux-gnu-as} LD=${LD:-sh4-linux-gnu-ld} NM=${NM:-sh4-linux-gnu-nm} OBJCOPY=${OBJCOPY:-sh4-linux-gnu-objcopy}
tmp=$(mktemp -d)
trap 'rm -rf "$tmp"' EXIT

bytes() { # FILE NAME
    echo "static const uint8_t $2[] = {"
    od -An -v -tu1 -w24 "$1" | sed 's/^ *//; s/  */,/g; s/^/    /; s/$/,/'
    echo "};"
}

# Words that hold addresses: they differ between two links, in the byte that moved.
relocs() { # NAME, BIN and BIN of the link that moved
    echo "static const uint16_t $1[] = {"
    cmp -l "$2" "$3" | awk '{ o = $1 - 1; printf "    0x%03X,\n", o - o % 4 }'
    echo "};"
}

declare -A addr # of each name in the ELF that was read last, in hexadecimal
read_addresses() { # ELF
    local at kind name
    addr=()
    "$NM" "$1" >"$tmp/names"
    while read -r at kind name; do
        addr[$name]=$at
    done <"$tmp/names"
}
