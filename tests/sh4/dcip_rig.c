#include "tests/sh4/dcip_rig.h"

#include <arpa/inet.h>
#include <fcntl.h>
#include <netinet/in.h>
#include <poll.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <termios.h>
#include <time.h>
#include <unistd.h>

#include "probe/base/bytes.h"
#include "probe/base/util.h"
#include "probe/probe.h"
#include "probe/sim.h"
#include "targets/sim/sh4/board.h"
#include "tests/sim_sh4/asm.h"

/* clang-format off */
enum {
    ROM_BYTES = 0x4000, ROM_LOADER = 0x1000, ROM_TEXT = 0x3000, SLICE_NS = 200000,
        MOST_NS = 100000000,
    /* in front of a datagram, on the way between loader and adapter: IPv4 address, port, two
     * bytes */
    ADDRESS = 8,
    FRAME = 1600, RING = 16384, LAN_FRAMES = 4, UNDER_WAY = 256, LATE_NS = 30000000
};
/* clang-format on */

struct flight { /* a datagram on its way */
    uint64_t due_ns;
    bool to_board;
    size_t n;
    uint8_t b[FRAME]; /* with ADDRESS */
};

struct dcip_rig {
    struct probe *probe;
    pthread_t board, net;
    atomic_bool stop, cut; /* cut: a frame may have been */
    atomic_int reset;
    atomic_uint lose, twice, late;
    char dir[32], rom[64], link[64];
    /* to the board's serial port, which is how the loader talks to its adapter; to the network */
    int line, udp;
    unsigned port;
    bool lan;
    uint64_t seed;
    /* the adapter */
    bool listens;
    uint8_t ring[RING];
    size_t ring_len, ring_frames;
    uint8_t cmd[FRAME + 3];
    size_t cmd_len;
    struct flight *way[UNDER_WAY];
    size_t nway;
    pthread_mutex_t lock; /* of the rest */
    char doomed[5];
    unsigned ndoomed;
    struct dcip_rig_counts counts;
};

static void die_of(const char *what, const struct err *err)
{
    fprintf(stderr, "dcload-ip rig: %s%s%s\n", what, err ? ": " : "", err ? err->what : "");
    abort();
}

/* ---- the loader ----
 * What KallistiOS/dcload-ip does on the Dreamcast (target-src/dcload: dcload-crt0.s, go.s,
 * commands.c, net.c, syscalls.c, rtl8139.c), command by command: it serves the network while
 * idle and in a call; chunks of 1024 bytes; a map of what has come; EXEC only while nothing
 * runs, RETV only while something does; the adapter takes nothing in while a program runs;
 * frames that have come are all handled before a call returns, each over the one before, the
 * reply's data with it. Calls clobber what C code may. Not here: Ethernet, ARP, DHCP, ping,
 * MAPL, PMCR, CD-ROM, the screen.
 * The adapter is at the far end of the SCIF: 'S' and 'P' switch reception on and off, 'T' length
 * frame sends, 'R' asks for the next frame, which comes behind its length, 0 for none. r14:
 * SCSCR2, r13: variables, r12, r11: what was received and what is to be sent, r10: bytes
 * received. */
static const char loader_head[] =
    "start: bra realstart\n nop\n magic: .long 0xDEADBEEF\n entry: .long syscall\n"
    "realstart: stc sr,r0\n mov.l srmask,r1\n and r1,r0\n or #240,r0\n ldc r0,sr\n mov.l sp,r15\n"
    "mov.l scif,r14\n mov.l vars,r13\n mov.l rxp,r12\n mov.l txp,r11\n"
    "sent: mov.w @(8,r14),r0\n tst #64,r0\n bt sent\n" /* its last frame is the adapter's whole */
    "mov #0,r0\n mov.w r0,@r14\n mov #6,r0\n mov.w r0,@(16,r14)\n mov r14,r1\n add #-8,r1\n"
    "mov #0,r0\n mov.w r0,@r1\n mov.b r0,@(4,r1)\n"
    "mov.w pause,r1\n r1: dt r1\n bf r1\n mov #8,r0\n mov.w r0,@(16,r14)\n mov.w @(8,r14),r0\n"
    "mov #96,r0\n mov.w r0,@(8,r14)\n"
    "mov #0,r0\n mov.w r0,@(28,r14)\n mov #48,r0\n mov.w r0,@r14\n"
    "mova c1,r0\n mov.l p2,r1\n or r1,r0\n jmp @r0\n nop\n pause: .word 20000\n .align 2\n"
    "c1: mov.l ccr,r1\n mov.w con,r0\n mov.l r0,@r1\n nop\n nop\n nop\n nop\n nop\n nop\n nop\n"
    "nop\n mov.l mainp,r0\n jmp @r0\n nop\n con: .word 0x090B\n .align 2\n"
    "main: mov #0,r0\n mov.l r0,@(8,r13)\n mov.l r0,@(16,r13)\n bsr chipstart\n nop\n bsr loop\n"
    "nop\n bra main\n nop\n .align 2\n"
    "sp: .long 0x8C00F400\n scif: .long 0xFFE80008\n vars: .long 0x8C00E000\n"
    "rxp: .long 0x8C008008\n txp: .long 0x8C008808\n"
    "p2: .long 0x20000000\n ccr: .long 0xFF00001C\n mainp: .long main\n srmask: .long 0xCFFF7FFF\n"
    /* r0 = a byte; r4: sent */
    "getc: mov.w @(8,r14),r0\n tst #2,r0\n bt getc\n mov.b @(12,r14),r0\n extu.b r0,r1\n"
    "mov.w @(8,r14),r0\n mov.w nordf,r2\n and r2,r0\n"
    "mov.w r0,@(8,r14)\n rts\n mov r1,r0\n"
    "putc: mov.w @(8,r14),r0\n tst #32,r0\n bt putc\n mov r4,r0\n mov.b r0,@(4,r14)\n"
    "mov.w @(8,r14),r0\n mov.w notd,r2\n and r2,r0\n rts\n"
    "mov.w r0,@(8,r14)\n nordf: .word 0xFFFD\n notd: .word 0xFF9F\n"
    "chipstart: bra putc\n mov #83,r4\n chipstop: bra putc\n mov #80,r4\n"
    /* r4: bytes behind the address */
    "send: sts.l pr,@-r15\n mov.l r8,@-r15\n mov.l r9,@-r15\n mov r4,r8\n add #8,r8\n bsr putc\n"
    "mov #84,r4\n bsr putc\n mov r8,r4\n mov r8,r4\n bsr putc\n shlr8 r4\n"
    "mov r11,r9\n add #-8,r9\n sd: mov.b @r9+,r4\n bsr putc\n nop\n dt r8\n bf sd\n"
    "mov.l @r15+,r9\n mov.l @r15+,r8\n lds.l @r15+,pr\n rts\n nop\n"
    /* the header as it came, with what was put into it, to who sent it */
    "answer: mov r12,r1\n add #-8,r1\n mov r11,r2\n add #-8,r2\n mov #5,r3\n an: mov.l @r1+,r0\n"
    "mov.l r0,@r2\n add #4,r2\n dt r3\n bf an\n bra send\n mov #12,r4\n"
    "receive: sts.l pr,@-r15\n mov.l r8,@-r15\n mov.l r9,@-r15\n bsr putc\n mov #82,r4\n"
    "bsr getc\n nop\n mov r0,r10\n bsr getc\n nop\n shll8 r0\n or r0,r10\n"
    "tst r10,r10\n bt rcx\n mov r10,r8\n mov r12,r9\n add #-8,r9\n rc: bsr getc\n nop\n"
    "mov.b r0,@r9\n add #1,r9\n dt r8\n bf rc\n add #-8,r10\n"
    "rcx: mov.l @r15+,r9\n mov.l @r15+,r8\n lds.l @r15+,pr\n rts\n nop\n"
    "loop: sts.l pr,@-r15\n lp1: mov.l @(16,r13),r0\n tst r0,r0\n bf lpx\n lp2: bsr receive\n"
    "nop\n tst r10,r10\n bt lpd\n bsr process\n nop\n bra lp2\n nop\n"
    "lpd: mov.w delay,r0\n lpe: dt r0\n bf lpe\n bra lp1\n nop\n lpx: mov #0,r0\n"
    "mov.l r0,@(16,r13)\n lds.l @r15+,pr\n rts\n nop\n delay: .word 20000\n"
    "process: sts.l pr,@-r15\n mov.l table,r1\n mov.l @r12,r0\n p1: mov.l @r1+,r2\n tst r2,r2\n"
    "bt px\n mov.l @r1+,r3\n cmp/eq r2,r0\n bf p1\n jsr @r3\n nop\n"
    "px: lds.l @r15+,pr\n rts\n nop\n"
    "be: swap.b r0,r0\n swap.w r0,r0\n rts\n swap.b r0,r0\n"
    /* r1 from, r2 to, r3 bytes */
    "copy: tst r3,r3\n bt cpx\n cp: mov.b @r1+,r0\n mov.b r0,@r2\n add #1,r2\n dt r3\n bf cp\n"
    "cpx: rts\n nop\n .align 2\n"
    "table: .long tab\n tab: .long 0x43455845\n .long exec\n .long 0x4E49424C\n .long lbin\n"
    ".long 0x4E494250\n .long pbin\n .long 0x4E494244\n .long dbin\n"
    ".long 0x51494253\n .long sbiq\n .long 0x4E494253\n .long sbiq\n .long 0x53524556\n"
    ".long vers\n .long 0x56544552\n .long retv\n .long 0x544F4252\n .long rbot\n .long 0\n";

static const char loader_commands[] =
    "exec: mov.l @(8,r13),r0\n tst r0,r0\n bt ex1\n rts\n nop\n"
    "ex1: mov r12,r1\n add #-8,r1\n mov.l @r1,r0\n mov.l r0,@r13\n mov.l @(4,r1),r0\n"
    "mov.l r0,@(4,r13)\n bsr answer\n nop\n"
    "mov.l @(8,r12),r0\n bsr be\n nop\n mov.l magp,r1\n mov.l dead,r2\n tst #1,r0\n bf ex2\n"
    "mov.l feed,r2\n ex2: mov.l r2,@r1\n bsr chipstop\n nop\n"
    "mov #1,r0\n mov.l r0,@(8,r13)\n mov.l @(4,r12),r0\n bsr be\n nop\n bra go\n mov r0,r4\n"
    "rbot: mov #0,r0\n mov.l r0,@(8,r13)\n mov.l startp,r4\n"
    "go: mova g1,r0\n mov.l gp2,r1\n or r1,r0\n jmp @r0\n nop\n .align 2\n"
    "g1: mov.l gccr,r0\n mov.w coff,r1\n mov.l r1,@r0\n nop\n nop\n nop\n nop\n nop\n nop\n nop\n"
    "nop\n mov.l gsp,r15\n mov.l startp,r0\n lds r0,pr\n mov.l gsr,r0\n"
    "ldc r0,sr\n mov.l gsp,r0\n ldc r0,vbr\n mov.l gfp,r0\n lds r0,fpscr\n mov #0,r0\n mov r0,r1\n"
    "mov r0,r2\n mov r0,r3\n mov r0,r5\n mov r0,r6\n mov r0,r7\n mov r0,r8\n"
    "mov r0,r9\n mov r0,r10\n mov r0,r11\n mov r0,r12\n mov r0,r13\n mov r0,r14\n jmp @r4\n"
    "mov r0,r4\n coff: .word 0x0808\n .align 2\n"
    "magp: .long magic\n dead: .long 0xDEADBEEF\n feed: .long 0xFEEDFACE\n startp: .long start\n"
    "gp2: .long 0x20000000\n gccr: .long 0xFF00001C\n gsp: .long 0x8C00F400\n"
    "gsr: .long 0x500000F0\n gfp: .long 0x40001\n"
    "lbin: sts.l pr,@-r15\n mov.l @(4,r12),r0\n bsr be\n nop\n mov.l r0,@(20,r13)\n"
    "mov.l @(8,r12),r0\n bsr be\n nop\n mov.l r0,@(24,r13)\n"
    "mov.l map,r1\n mov.w mapw,r2\n mov #0,r0\n lb: mov.l r0,@r1\n add #4,r1\n dt r2\n bf lb\n"
    "bsr answer\n nop\n lds.l @r15+,pr\n rts\n nop\n mapw: .word 4096\n"
    "pbin: sts.l pr,@-r15\n mov.l @(8,r12),r0\n bsr be\n nop\n mov r0,r3\n mov.l @(4,r12),r0\n"
    "bsr be\n nop\n mov r0,r2\n mov.l @(20,r13),r1\n sub r1,r0\n shlr8 r0\n shlr2 r0\n"
    "mov.l map,r1\n add r0,r1\n mov #1,r0\n mov.b r0,@r1\n mov r12,r1\n bsr copy\n add #12,r1\n"
    "lds.l @r15+,pr\n rts\n nop\n"
    "dbin: sts.l pr,@-r15\n mov.l @(24,r13),r6\n mov.l map,r1\n mov.l @(20,r13),r5\n mov #4,r7\n"
    "shll8 r7\n"
    "db1: cmp/pl r6\n bf dbn\n mov.b @r1+,r0\n tst r0,r0\n bt dbm\n add r7,r5\n bra db1\n"
    "sub r7,r6\n"
    "dbm: cmp/gt r7,r6\n bf dbs\n mov r7,r6\n bra dbs\n nop\n dbn: mov #0,r5\n mov #0,r6\n"
    "dbs: mov r5,r0\n bsr be\n nop\n mov.l r0,@(4,r12)\n mov r6,r0\n bsr be\n nop\n"
    "mov.l r0,@(8,r12)\n bsr answer\n nop\n lds.l @r15+,pr\n rts\n nop\n .align 2\n"
    "map: .long 0x8C009000\n"
    /* r8 left, r9 at, r10 this time */
    "sbiq: sts.l pr,@-r15\n mov.l r8,@-r15\n mov.l r9,@-r15\n mov.l r10,@-r15\n"
    "mov.l @(8,r12),r0\n bsr be\n nop\n mov r0,r8\n mov.l @(4,r12),r0\n bsr be\n nop\n mov r0,r9\n"
    "mov r12,r1\n add #-8,r1\n mov.l @r1,r0\n mov r11,r2\n add #-8,r2\n mov.l r0,@r2\n"
    "mov.l @(4,r1),r0\n mov.l r0,@(4,r2)\n"
    "sb1: tst r8,r8\n bt sbx\n mov r8,r10\n mov #4,r7\n shll8 r7\n cmp/hi r7,r8\n bf sb2\n"
    "mov r7,r10\n sb2: sub r10,r8\n mov.l sbin,r0\n mov.l r0,@r11\n mov r9,r0\n bsr be2\n nop\n"
    "mov.l r0,@(4,r11)\n mov r10,r0\n bsr be2\n nop\n mov.l r0,@(8,r11)\n mov r9,r1\n mov r11,r2\n"
    "add #12,r2\n bsr copy2\n mov r10,r3\n add r10,r9\n mov r10,r4\n mov.l sendp,r0\n"
    "jsr @r0\n add #12,r4\n bra sb1\n nop\n"
    "sbx: mov.l dbinid,r0\n mov.l r0,@r11\n mov #0,r0\n mov.l r0,@(4,r11)\n mov.l r0,@(8,r11)\n"
    "mov.l sendp,r0\n jsr @r0\n mov #12,r4\n"
    "mov.l @r15+,r10\n mov.l @r15+,r9\n mov.l @r15+,r8\n lds.l @r15+,pr\n rts\n nop\n .align 2\n"
    "sbin: .long 0x4E494253\n dbinid: .long 0x4E494244\n sendp: .long send\n"
    "be2: swap.b r0,r0\n swap.w r0,r0\n rts\n swap.b r0,r0\n copy2: tst r3,r3\n bt c2x\n"
    "c2: mov.b @r1+,r0\n mov.b r0,@r2\n add #1,r2\n dt r3\n bf c2\n c2x: rts\n nop\n"
    "vers: sts.l pr,@-r15\n mov r12,r1\n add #-8,r1\n mov r11,r2\n add #-8,r2\n bsr copy2\n"
    "mov #20,r3\n mov.l text,r1\n mov r11,r2\n add #12,r2\n mov #0,r4\n"
    "ve: mov.b @r1+,r0\n mov.b r0,@r2\n add #1,r2\n tst r0,r0\n bf/s ve\n add #1,r4\n"
    "mov.l adapter,r1\n mov.l @r1,r0\n mov.l r0,@(4,r11)\n mov r4,r0\n bsr be2\n nop\n"
    "mov.l r0,@(8,r11)\n"
    "mov.l sendv,r0\n jsr @r0\n add #12,r4\n lds.l @r15+,pr\n rts\n nop\n .align 2\n"
    "sendv: .long send\n text: .long 0xA0003010\n adapter: .long 0xA0003000\n"
    "retv: mov.l @(8,r13),r0\n tst r0,r0\n bf rt1\n rts\n nop\n rt1: sts.l pr,@-r15\n"
    "mov.l answerp,r0\n jsr @r0\n nop\n mov.l stopp,r0\n jsr @r0\n nop\n mov.l @(4,r12),r0\n"
    "bsr be2\n nop\n"
    "mov.l r0,@(12,r13)\n mov #1,r0\n mov.l r0,@(16,r13)\n lds.l @r15+,pr\n rts\n nop\n .align 2\n"
    "answerp: .long answer\n stopp: .long chipstop\n";

/* Numbers of calls are those of dcload-crt0.s, names those of syscalls.h. r4: number; r5 to r7:
 * what the call is given. */
static const char loader_calls[] =
    "syscall: mov.l mag2,r1\n mov.l @r1,r1\n mov.l dead2,r0\n cmp/eq r0,r1\n bt sc0\n rts\n"
    "mov #-1,r0\n"
    "sc0: sts.l pr,@-r15\n mov.l r8,@-r15\n mov.l r9,@-r15\n mov.l r10,@-r15\n mov.l r11,@-r15\n"
    "mov.l r12,@-r15\n mov.l r13,@-r15\n mov.l r14,@-r15\n"
    "mov.l scif2,r14\n mov.l vars2,r13\n mov.l rxp2,r12\n mov.l txp2,r11\n mov r5,r8\n mov r6,r9\n"
    "mov r7,r10\n"
    "mov.l @r13,r0\n mov r11,r1\n add #-8,r1\n mov.l r0,@r1\n mov.l @(4,r13),r0\n"
    "mov.l r0,@(4,r1)\n"
    "mov r4,r0\n cmp/eq #1,r0\n bt swrite\n cmp/eq #2,r0\n bt sopen\n cmp/eq #11,r0\n bt stime\n"
    "cmp/eq #15,r0\n bt sexit\n cmp/eq #20,r0\n bt sgdb\n bra sret\n mov #-1,r0\n"
    "swrite: mov.l dd02,r0\n mov.l r0,@r11\n bsr put3\n nop\n bra scall\n mov #16,r4\n"
    "sopen: mov.l dc04,r0\n mov.l r0,@r11\n mov r9,r0\n bsr be3\n nop\n mov.l r0,@(4,r11)\n"
    "mov r10,r0\n bsr be3\n nop\n mov.l r0,@(8,r11)\n mov r11,r2\n add #12,r2\n mov #12,r4\n"
    "so: mov.b @r8+,r0\n mov.b r0,@r2\n add #1,r2\n tst r0,r0\n bf/s so\n add #1,r4\n bra scall\n"
    "nop\n"
    "stime: mov.l dc12,r0\n mov.l r0,@r11\n bra scall\n mov #8,r4\n"
    "sexit: mov.l dc00,r0\n mov.l r0,@r11\n mov #0,r0\n mov.l r0,@(4,r11)\n mov.l r0,@(8,r11)\n"
    "bsr start3\n nop\n bsr send3\n mov #12,r4\n bsr stop3\n nop\n bra sret\n mov #0,r0\n"
    /* r8 from, r9 sizes, r10 to */
    "sgdb: mov.l dc20,r0\n mov.l r0,@r11\n mov r9,r0\n shlr16 r0\n mov r0,r3\n bsr be3\n nop\n"
    "mov.l r0,@(4,r11)\n extu.w r9,r0\n bsr be3\n nop\n mov.l r0,@(8,r11)\n"
    "mov r3,r4\n add #12,r4\n mov r8,r1\n mov r11,r2\n bsr copy3\n add #12,r2\n mov.l r10,@-r15\n"
    "bsr start3\n nop\n bsr send3\n nop\n bsr loop3\n nop\n mov.l @r15+,r10\n"
    "mov.l @(12,r13),r3\n extu.w r9,r0\n cmp/hi r0,r3\n bt sg1\n mov r12,r1\n add #12,r1\n"
    "bsr copy3\n mov r10,r2\n sg1: bra sret\n mov.l @(12,r13),r0\n"
    "scall: mov r4,r8\n bsr start3\n nop\n bsr send3\n mov r8,r4\n bsr loop3\n nop\n"
    "mov.l @(12,r13),r0\n"
    "sret: mov.l @r15+,r14\n mov.l @r15+,r13\n mov.l @r15+,r12\n mov.l @r15+,r11\n"
    "mov.l @r15+,r10\n mov.l @r15+,r9\n mov.l @r15+,r8\n lds.l @r15+,pr\n"
    "mov #-86,r1\n mov #-86,r2\n mov #-86,r3\n mov #-86,r4\n mov #-86,r5\n mov #-86,r6\n"
    "mov #-86,r7\n lds r1,macl\n lds r1,mach\n lds r1,fpul\n"
    "fldi1 fr0\n fldi1 fr1\n fldi1 fr2\n fldi1 fr3\n fldi1 fr4\n fldi1 fr5\n fldi1 fr6\n"
    "fldi1 fr7\n fldi1 fr8\n fldi1 fr9\n fldi1 fr10\n fldi1 fr11\n rts\n nop\n"
    "put3: sts pr,r7\n mov r8,r0\n bsr be3\n nop\n mov.l r0,@(4,r11)\n mov r9,r0\n bsr be3\n nop\n"
    "mov.l r0,@(8,r11)\n mov r10,r0\n bsr be3\n nop\n mov.l r0,@(12,r11)\n jmp @r7\n nop\n"
    "be3: swap.b r0,r0\n swap.w r0,r0\n rts\n swap.b r0,r0\n copy3: tst r3,r3\n bt c3x\n"
    "c3: mov.b @r1+,r0\n mov.b r0,@r2\n add #1,r2\n dt r3\n bf c3\n c3x: rts\n nop\n"
    "start3: sts.l pr,@-r15\n mov.l r4,@-r15\n mov.l startc,r0\n jsr @r0\n nop\n mov.l @r15+,r4\n"
    "lds.l @r15+,pr\n rts\n nop\n"
    "stop3: mov.l stopc,r0\n jmp @r0\n nop\n send3: mov.l sendc,r0\n jmp @r0\n nop\n"
    "loop3: mov.l loopc,r0\n jmp @r0\n nop\n .align 2\n"
    "mag2: .long magic\n dead2: .long 0xDEADBEEF\n scif2: .long 0xFFE80008\n"
    "vars2: .long 0x8C00E000\n rxp2: .long 0x8C008008\n txp2: .long 0x8C008808\n"
    "dd02: .long 0x32304444\n dc00: .long 0x30304344\n dc04: .long 0x34304344\n"
    "dc12: .long 0x32314344\n dc20: .long 0x30324344\n"
    "startc: .long chipstart\n stopc: .long chipstop\n sendc: .long send\n loopc: .long loop\n";

static const char boot_rom[] =
    "mov.l src,r1\n mov.l dst,r2\n mov r2,r4\n mov.l len,r3\n l: mov.l @r1+,r0\n mov.l r0,@r2\n"
    "add #4,r2\n dt r3\n bf l\n jmp @r4\n nop\n .align 2\n"
    "src: .long 0xA0001000\n dst: .long 0xAC004000\n len: .long words\n";

static void write_rom(const char *path, bool newer)
{
    struct asm_prog *p = calloc(1, sizeof *p);
    uint8_t *rom = calloc(1, ROM_BYTES);
    char *source = malloc(sizeof loader_head + sizeof loader_commands + sizeof loader_calls);
    strcat(strcat(strcpy(source, loader_head), loader_commands), loader_calls);
    asm_text(p, 0x8C004000, source);
    memcpy(rom + ROM_LOADER, p->code, p->len);
    uint32_t words = (uint32_t)(p->len + 3) / 4;
    memset(p, 0, sizeof *p);
    asm_define(p, "words", words);
    asm_text(p, 0xA0000000, boot_rom);
    memcpy(rom, p->code, p->len);
    put_be32(rom + ROM_TEXT, newer ? 0400 : 0); /* the adapter's number: 2.0 and later */
    strcpy((char *)rom + ROM_TEXT + 16,
           newer ? "dcload-ip 2.0.3 using Broadband Adapter (HIT-0400)" : "DCLOAD-IP 1.0.5");
    FILE *f = fopen(path, "wb");
    if (!f || fwrite(rom, 1, ROM_BYTES, f) != ROM_BYTES || fclose(f))
        die_of("boot ROM", NULL);
    free(source);
    free(rom);
    free(p);
}

/* ---- the board's own time ---- */

static uint64_t host_ns(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (uint64_t)t.tv_sec * 1000000000u + (uint64_t)t.tv_nsec;
}

static void press_reset(struct dcip_rig *r)
{
    const struct jtag_ops *j = r->probe->driver->jtag;
    struct err err = { .code = ERR_OK };
    if (j->set_pins(r->probe, JTAG_PIN_NRESET, 0, &err) < 0 ||
        j->wait(r->probe, 1000000, &err) < 0 ||
        j->set_pins(r->probe, JTAG_PIN_NRESET, JTAG_PIN_NRESET, &err) < 0 ||
        j->wait(r->probe, 1000000, &err) < 0)
        die_of("reset", &err);
}

static void *run_board(void *arg)
{
    struct dcip_rig *r = arg;
    struct err err = { .code = ERR_OK };
    uint64_t seen = host_ns();
    while (!atomic_load(&r->stop)) {
        if (atomic_load(&r->reset)) {
            press_reset(r);
            atomic_store(&r->cut, true);
            atomic_store(&r->reset, 0);
        }
        uint64_t at = host_ns(), due = MIN(at - seen, (uint64_t)MOST_NS);
        seen = at; /* a board that is too slow for the host's clock does not run after it */
        if (due < SLICE_NS / 4)
            nanosleep(&(struct timespec){ .tv_nsec = SLICE_NS / 4 }, NULL);
        if (r->probe->driver->jtag->wait(r->probe, due ? due : 1, &err) < 0)
            die_of("board", &err);
    }
    return NULL;
}

/* ---- the network ---- */

static uint32_t next_random(struct dcip_rig *r)
{
    r->seed ^= r->seed << 13;
    r->seed ^= r->seed >> 7;
    r->seed ^= r->seed << 17;
    return (uint32_t)(r->seed >> 33);
}

static bool one_in(struct dcip_rig *r, unsigned n) { return n && next_random(r) % n == 0; }

static void send_off(struct dcip_rig *r, const uint8_t *b, size_t n, bool to_board,
                     uint64_t after_ns)
{
    struct flight *f = r->nway < UNDER_WAY ? malloc(sizeof *f) : NULL;
    if (!f || n > FRAME) {
        free(f);
        r->counts.lost++;
        return;
    }
    *f = (struct flight){ .due_ns = host_ns() + after_ns, .to_board = to_board, .n = n };
    memcpy(f->b, b, n);
    r->way[r->nway++] = f;
}

static bool is_doomed(struct dcip_rig *r, const uint8_t *b, size_t n)
{
    if (!r->ndoomed || n < ADDRESS + 4 || memcmp(b + ADDRESS, r->doomed, strlen(r->doomed)))
        return false;
    r->ndoomed--;
    return true;
}

static void enter_packet(struct dcip_rig *r, const uint8_t *b, size_t n, bool to_board)
{
    pthread_mutex_lock(&r->lock);
    bool lost = one_in(r, atomic_load(&r->lose)) || (!to_board && is_doomed(r, b, n)),
         twice = one_in(r, atomic_load(&r->twice)), late = one_in(r, atomic_load(&r->late));
    r->counts.lost += lost;
    r->counts.twice += !lost && twice;
    r->counts.late += !lost && late;
    if (!lost)
        send_off(r, b, n, to_board, late ? 1 + next_random(r) % LATE_NS : 0);
    if (!lost && twice)
        send_off(r, b, n, to_board, next_random(r) % LATE_NS);
    pthread_mutex_unlock(&r->lock);
}

/* ---- the adapter ---- */

static void arrive_at_board(struct dcip_rig *r, const struct flight *f)
{
    bool full = r->lan ? r->ring_frames >= LAN_FRAMES : r->ring_len + f->n + 2 > RING;
    r->counts.deaf += !r->listens;
    r->counts.lost += r->listens && (full || r->ring_len + f->n + 2 > RING);
    if (!r->listens || full || r->ring_len + f->n + 2 > RING)
        return;
    r->counts.to++;
    r->counts.executed += f->n >= ADDRESS + 4 && !memcmp(f->b + ADDRESS, "EXEC", 4);
    put_le16(r->ring + r->ring_len, (uint16_t)f->n);
    memcpy(r->ring + r->ring_len + 2, f->b, f->n);
    r->ring_len += f->n + 2;
    r->ring_frames++;
}

static void arrive_at_host(struct dcip_rig *r, const struct flight *f)
{
    struct sockaddr_in to = { .sin_family = AF_INET };
    memcpy(&to.sin_addr, f->b, 4);
    memcpy(&to.sin_port, f->b + 4, 2);
    r->counts.from++;
    (void)!sendto(r->udp, f->b + ADDRESS, f->n - ADDRESS, 0, (struct sockaddr *)&to, sizeof to);
}

static void deliver_due(struct dcip_rig *r)
{
    uint64_t at = host_ns();
    pthread_mutex_lock(&r->lock);
    for (size_t i = 0; i < r->nway;) {
        struct flight *f = r->way[i];
        if (f->due_ns > at) {
            i++;
            continue;
        }
        memmove(r->way + i, r->way + i + 1, (--r->nway - i) * sizeof *r->way);
        if (f->to_board)
            arrive_at_board(r, f);
        else
            arrive_at_host(r, f);
        free(f);
    }
    pthread_mutex_unlock(&r->lock);
}

static void to_line(struct dcip_rig *r, const uint8_t *b, size_t n)
{
    for (size_t done = 0; done < n && !atomic_load(&r->stop);) {
        ssize_t w = write(r->line, b + done, n - done);
        if (w > 0)
            done += (size_t)w;
        else
            nanosleep(&(struct timespec){ .tv_nsec = 100000 }, NULL);
    }
}

static void next_frame(struct dcip_rig *r)
{
    static const uint8_t none[2];
    size_t n = r->ring_frames ? 2u + le16(r->ring) : 0;
    if (!n) {
        to_line(r, none, sizeof none);
        return;
    }
    to_line(r, r->ring, n);
    memmove(r->ring, r->ring + n, r->ring_len - n);
    r->ring_len -= n;
    r->ring_frames--;
}

/* One byte of what the loader tells its adapter. */
static void command_byte(struct dcip_rig *r, uint8_t c)
{
    if (!r->cmd_len && c != 'T') {
        r->listens = c == 'S' || (c != 'P' && r->listens);
        if (c == 'R')
            next_frame(r);
        return;
    }
    r->cmd[r->cmd_len++] = c;
    size_t n = r->cmd_len >= 3 ? le16(r->cmd + 1) : FRAME;
    if (n > FRAME || n < ADDRESS)
        r->cmd_len = 0; /* the board was reset in the middle */
    else if (r->cmd_len == n + 3) {
        r->cmd_len = 0;
        enter_packet(r, r->cmd + 3, n, false);
    }
}

static void from_network(struct dcip_rig *r)
{
    uint8_t b[FRAME] = { 0 };
    struct sockaddr_in from = { .sin_family = AF_INET };
    socklen_t len = sizeof from;
    ssize_t n =
        recvfrom(r->udp, b + ADDRESS, sizeof b - ADDRESS, 0, (struct sockaddr *)&from, &len);
    if (n <= 0)
        return;
    memcpy(b, &from.sin_addr, 4);
    memcpy(b + 4, &from.sin_port, 2);
    enter_packet(r, b, ADDRESS + (size_t)n, true);
}

static void *run_net(void *arg)
{
    struct dcip_rig *r = arg;
    uint8_t b[512];
    while (!atomic_load(&r->stop)) {
        struct pollfd p[2] = { { .fd = r->line, .events = POLLIN },
                               { .fd = r->udp, .events = POLLIN } };
        (void)poll(p, 2, r->nway ? 1 : 5);
        if (atomic_exchange(&r->cut, false))
            r->cmd_len = 0;
        ssize_t n = p[0].revents & POLLIN ? read(r->line, b, sizeof b) : 0;
        for (ssize_t i = 0; i < n; i++)
            command_byte(r, b[i]);
        if (p[1].revents & POLLIN)
            from_network(r);
        deliver_due(r);
    }
    return NULL;
}

static void lay_lines(struct dcip_rig *r)
{
    struct termios t;
    struct sockaddr_in at = { .sin_family = AF_INET, .sin_addr.s_addr = htonl(INADDR_LOOPBACK) };
    socklen_t len = sizeof at;
    r->line = open(r->link, O_RDWR | O_NOCTTY | O_NONBLOCK | O_CLOEXEC);
    if (r->line < 0 || tcgetattr(r->line, &t))
        die_of("serial line", NULL);
    cfmakeraw(&t);
    tcsetattr(r->line, TCSANOW, &t);
    r->udp = socket(AF_INET, SOCK_DGRAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);
    if (r->udp < 0 || bind(r->udp, (struct sockaddr *)&at, sizeof at) ||
        getsockname(r->udp, (struct sockaddr *)&at, &len))
        die_of("socket", NULL);
    r->port = ntohs(at.sin_port);
}

/* ---- ---- */

struct dcip_rig *dcip_rig_start(const struct dcip_rig_options *o)
{
    static const struct sim_board_type *const boards[] = { &sh4_board_sh7750, NULL };
    struct probe_config cfg = { .boards = boards };
    struct dcip_rig *r = calloc(1, sizeof *r);
    struct err err = { .code = ERR_OK };
    char spec[200];
    r->seed = 0x9E3779B97F4A7C15u;
    r->lan = o->lan;
    pthread_mutex_init(&r->lock, NULL);
    dcip_rig_harm(r, o->lose, o->twice, o->late);
    strcpy(r->dir, "/tmp/sh4dcipXXXXXX");
    if (!mkdtemp(r->dir))
        die_of("temporary folder", NULL);
    snprintf(r->rom, sizeof r->rom, "%s/rom", r->dir);
    snprintf(r->link, sizeof r->link, "%s/line", r->dir);
    write_rom(r->rom, o->newer);
    snprintf(spec, sizeof spec, "sim:sh7750,private=off,serial=pty:%s,rom=%s", r->link, r->rom);
    if (probe_open(spec, &cfg, &r->probe, &err) < 0)
        die_of("open", &err);
    lay_lines(r);
    if (pthread_create(&r->board, NULL, run_board, r) || pthread_create(&r->net, NULL, run_net, r))
        die_of("threads", NULL);
    return r;
}

unsigned dcip_rig_port(const struct dcip_rig *r) { return r->port; }

void dcip_rig_harm(struct dcip_rig *r, unsigned lose, unsigned twice, unsigned late)
{
    atomic_store(&r->lose, lose);
    atomic_store(&r->twice, twice);
    atomic_store(&r->late, late);
}

void dcip_rig_lose_next(struct dcip_rig *r, const char *id, unsigned n)
{
    pthread_mutex_lock(&r->lock);
    snprintf(r->doomed, sizeof r->doomed, "%s", id);
    r->ndoomed = n;
    pthread_mutex_unlock(&r->lock);
}

void dcip_rig_reset(struct dcip_rig *r)
{
    atomic_store(&r->reset, 1);
    while (atomic_load(&r->reset))
        nanosleep(&(struct timespec){ .tv_nsec = 100000 }, NULL);
}

struct dcip_rig_counts dcip_rig_counts(const struct dcip_rig *r)
{
    struct dcip_rig *w = (struct dcip_rig *)r;
    pthread_mutex_lock(&w->lock);
    struct dcip_rig_counts c = r->counts;
    pthread_mutex_unlock(&w->lock);
    return c;
}

void dcip_rig_stop(struct dcip_rig *r)
{
    atomic_store(&r->stop, true);
    pthread_join(r->net, NULL);
    pthread_join(r->board, NULL);
    close(r->line);
    close(r->udp);
    probe_close(r->probe);
    for (size_t i = 0; i < r->nway; i++)
        free(r->way[i]);
    pthread_mutex_destroy(&r->lock);
    unlink(r->rom);
    rmdir(r->dir);
    free(r);
}
