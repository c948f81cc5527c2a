#!/bin/sh
# Makes the ELF fixtures of tests/profiler from the sources here; to be run in this folder when they change.
# Made with gcc 12.2 and binutils 2.40 for sh4-linux-gnu (Debian 12). The prefix map keeps host paths out.
set -e
flags="-g -O0 -fno-pic -ffreestanding -fdebug-prefix-map=$PWD=/src"
for source in list tree; do
    sh4-linux-gnu-gcc -ml $flags -c $source.c -o $source.o
done
sh4-linux-gnu-as --little labels.s -o labels.o
sh4-linux-gnu-ld --build-id=sha1 -z max-page-size=4096 -z noexecstack -Ttext=0x8c010000 -Tbss=0x8c020000 -e start \
    labels.o list.o tree.o -o ../small-le.elf
sh4-linux-gnu-strip -s ../small-le.elf -o ../stripped-le.elf
sh4-linux-gnu-gcc -mb $flags -c list.c -o list-be.o
python3 link_be.py list-be.o ../small-be.elf
sh4-linux-gnu-gcc -ml -O0 -fno-pic -ffreestanding -fleading-underscore -c list.c -o underscore.o
sh4-linux-gnu-ld -z max-page-size=4096 -z noexecstack -Ttext=0x8c010000 -e _list_sum underscore.o -o ../underscore-le.elf
cp list.o ../object-le.elf
rm -f ./*.o
