#!/usr/bin/env bash
# The agent as it is installed, linked into a program by its header and archive: over H-UDI probeprof halts that program without private commands. (What
# it does over a serial port is seen elsewhere, from the same source; here it has to link.)
# usage: agent.sh CMAKE RELEASE_BUILD_DIR      exit 77: no cross compiler
set -euo pipefail
gcc=sh4-linux-gnu-gcc
command -v $gcc >/dev/null || { echo "skipped: no $gcc"; exit 77; }
tree=$(mktemp -d)
trap 'rm -rf "$tree"' EXIT
fail() { echo "agent: $1" >&2; exit 1; }
DESTDIR=$tree "$1" --install "$2" --prefix /usr >/dev/null
probeprof=$tree/usr/bin/probeprof
mkdir "$tree/work" && cd "$tree/work"

# A boot ROM that copies the program behind it to RAM and starts it there; the program counts.
cat >boot.S <<'END'
        .section .note.GNU-stack, ""
        .section .boot, "ax"
        mov.l   from, r1
        mov.l   to, r2
        mov.l   end, r3
1:      mov.l   @r1+, r0
        mov.l   r0, @r2
        add     #4, r2
        cmp/hs  r3, r2
        bf      1b
        mov.l   stack, r15
        mov.l   start, r0
        jmp     @r0
        nop
        .balign 4
from:   .long   0xA0001000
to:     .long   0x8C010000
end:    .long   image_end
stack:  .long   0x8C100000
start:  .long   main
END
cat >program.c <<'END'
#include <probeprof_agent.h>
volatile unsigned Count;
void main(void)
{
    __asm__ volatile("ldc %0, vbr" : : "r"(0x8C030000));
    INIT;
    __asm__ volatile("ldc %0, sr" : : "r"(0x40000000));
    for (;;)
        Count++;
}
END
cat >program.ld <<'END'
SECTIONS {
    .boot 0xA0000000 : { *(.boot) }
    .text 0x8C010000 : AT(0xA0001000) { *(.text*) *(.rodata*) *(.data*) *(.bss*) *(COMMON) . = ALIGN(4); }
    image_end = .;
    /DISCARD/ : { *(.comment) *(.note*) *(.eh_frame) }
}
END
for endian in little big; do
    flag=-EL m=-ml be=''
    [ $endian = little ] || { flag=-EB; m=-mb; be=,be; }
    make -s -f "$tree/usr/share/probeprof/agent/resident.mk" ENDIAN=$flag clean all || fail "resident.mk does not make the archives"
    for way in hudi scif; do
        init='probeprof_agent_init()'
        [ $way = hudi ] || init='probeprof_agent_init_serial(26)'
        $gcc $m -m4 -O0 -g -ffreestanding -fno-pic -fno-stack-protector -fno-asynchronous-unwind-tables -Wall -Wextra -Wno-main -Werror -I "$tree/usr/include" -DINIT="$init" \
            -c boot.S program.c || fail "$way, $endian: the header does not serve"
        sh4-linux-gnu-ld $flag --no-warn-rwx-segments --fatal-warnings -T program.ld -o $way.elf boot.o program.o libprobeprof_agent_$way.a ||
            fail "$way, $endian: the program does not link"
        [ "$(sh4-linux-gnu-nm -g --defined-only libprobeprof_agent_$way.a | awk 'NF == 3 { print $3 }')" = agent_init ] || fail "$way: names that may clash"
        sh4-linux-gnu-objcopy -O binary --change-section-lma .boot=0xA0000000 $way.elf $way.rom
    done
    timeout 600 "$probeprof" doctor --probe "sim:sh7750,rom=hudi.rom,private=off$be" --no-private --elf hudi.elf --halt --conf off >out 2>&1 ||
        { cat out; fail "$endian, H-UDI: doctor is not content"; }
    cat out
    grep -E '^ok +cpu|^ok +halt' out >/dev/null || { cat out; fail "$endian, H-UDI: the CPU was not halted"; }
done
