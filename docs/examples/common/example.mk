# Builds $(NAME).elf byte for byte as committed, with Debian 12's gcc-sh4-linux-gnu 12.2.
CC = sh4-linux-gnu-gcc
CXX = sh4-linux-gnu-g++
# -O0 and nothing else: from -O1 on that compiler drops tests of loaded values against zero. And no
# -Wall: with it, this compiler puts a NOP before the BRA of profexam's main and moves its stop point.
CFLAGS = -ml -m4 -O0 -g -ffreestanding -fno-pic -fno-stack-protector -fno-asynchronous-unwind-tables \
         -ffile-prefix-map=$(CURDIR)=. -I$(HEADERS) -ffile-prefix-map=$(HEADERS)=../../../targets/sh4/agent
# Where probeprof_target.h is: in probeprof's source, else where it was installed together with the examples.
HEADERS = $(firstword $(wildcard ../../../targets/sh4/agent) ../../../../../include)
# No run-time library: nothing is thrown, nothing asks for a type, statics need no lock.
CXXFLAGS = $(CFLAGS) -std=c++17 -fno-exceptions -fno-rtti -fno-threadsafe-statics
ASFLAGS = $(CFLAGS) -Wa,-g,--debug-prefix-map=$(CURDIR)=.
LDFLAGS = -nostdlib -static -no-pie -Wl,--build-id=sha1 -Wl,-z,noexecstack -Wl,-z,max-page-size=32 \
          -Wl,--no-warn-rwx-segments

COMMON ?= ../common
SCRIPT ?= $(COMMON)/example.ld
OUT = .
OBJECTS = $(PARTS:%=$(OUT)/%.o)

$(OUT)/$(NAME).elf: $(OBJECTS) $(SCRIPT)
	$(CC) $(LDFLAGS) -T $(SCRIPT) -o $@ $(OBJECTS)

$(OUT)/%.o: %.c
	$(CC) $(CFLAGS) -c -o $@ $<
$(OUT)/%.o: %.cc
	$(CXX) $(CXXFLAGS) -c -o $@ $<
$(OUT)/%.o: %.S
	$(CC) $(ASFLAGS) -c -o $@ $<
$(OUT)/%.o: $(COMMON)/%.S
	$(CC) $(ASFLAGS) -c -o $@ $<

clean:
	rm -f $(OBJECTS)
.PHONY: clean
