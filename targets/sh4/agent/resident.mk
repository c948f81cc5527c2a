# The agent as archives to link in, made in the current folder:
#   make -f resident.mk                                   with Debian's binutils-sh4-linux-gnu
#   make -f resident.mk CROSS=sh-elf-                     another toolchain, for example KallistiOS's
#   make -f resident.mk ENDIAN=-EB                        for a big-endian board
# One is linked, and probeprof_agent.h's function called: see docs/sh4-agent.md, 9.
CROSS = sh4-linux-gnu-
ENDIAN = -EL
FROM := $(dir $(lastword $(MAKEFILE_LIST)))

all: libprobeprof_agent_hudi.a libprobeprof_agent_scif.a

hudi = 0
scif = 1
libprobeprof_agent_%.a: $(FROM)kernel.S
	$(CROSS)as $(ENDIAN) -isa=sh4 --noexecstack --defsym ASE=0 --defsym SCIF=$($*) -o probeprof_agent_$*.o $<
	$(CROSS)objcopy --keep-global-symbol=agent_init probeprof_agent_$*.o
	rm -f $@
	$(CROSS)ar rcs $@ probeprof_agent_$*.o
	rm -f probeprof_agent_$*.o

clean:
	rm -f libprobeprof_agent_hudi.a libprobeprof_agent_scif.a
.PHONY: all clean
