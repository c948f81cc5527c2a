! The debug kernel: the part of the agent on the target that halts, resumes, steps and moves words.
!
! There is one source for two layouts and three transports:
!   ASE=1  1 KB of ASERAM at 0xFC000000, entered by an ASE break or ASE boot at offset 0.
!          Addresses there count modulo 0x400, so VBR = base+0x40 puts the vectors at 0x140,
!          0x040 (0x440) and 0x240 (0x640).
!   ASE=0  RAM at any address: VBR = base, vectors at 0x100, 0x400 and 0x600; agent_init sets VBR.
!   SCIF=1 (with ASE=0) over the serial port SCIF instead of SDDR: bytes; the receive interrupt
!          enters the kernel.
!   SCIF=2 (with ASE=0) by the calls of a Dreamcast's network loader, dcload-ip: blocks of words.
!          While the program runs, the watchdog's interval interrupt asks what the host wants.
! While the kernel itself runs, VBR is 0x20 higher. Its own faults therefore have handlers of their
! own, and no flag has to be tested on the program's exceptions. Pieces of code fill the room
! between the vectors, which is the reason for their order.
!
! docs/sh4-agent.md describes the word protocol, the save area and every routine.
!
! Registers while the kernel exchanges words with the host. They are those of bank 1, and all of
! them have been saved:
!   r14 SDDR   r13 status   r12 marker of this request   r11 checksum   r10 POLL   r9 go
!   r2 last word sent   r0 r1 r3-r8 free (r2 too, before an answer begins)
!   SCIF=1: r14 is the address of SCSCR2; rx and tx clobber r2 and r10
!   SCIF=2: r14 is where the next word of the request is, r10 where the next one of the answer goes

        .text
        .global kern_base, hook_vbr, own_vbr, kern_end, reach
        .global op_read, op_write, op_poke, op_go, ref_call, ref_read, ref_write, ref_poke
        .global ld1, ld2, ld4, st1, st2, st4, purge
        .global tx, rx, sync, wait, idle, debug_entry, entry2, debug_general
        .global step_words, save_area, save_r0, save_mask, save_top, overlay
.if SCIF
        .global halts, line_errors, agent_init
.endif
.if SCIF == 2
        .global box, polls
.endif

        ! host: is there anything to send? Its complement, READY, comes before an answer
        .equ POLL,    0x5A
        .equ VERSION, 2
.if ASE
        .equ VBASE,   0x040
.else
        .equ VBASE,   0x000
.endif

        ! The start of every way in: saves r0 in the save area, to whose place r15 points; SGR has
        ! the program's r15.
        .macro  SPILL_R0 target
.if ASE
        mov.l   l_r0,r15
        bra     \target
        mov.l   r0,@r15
.else
        mov.l   1f,r15
        bra     \target
        mov.l   r0,@r15
        .align  2
1:      .long   save_r0
.endif
        .endm

.if ASE == 0
        ! HALTED is the base with the version in its low bits, which have to be free
        .balign 1024
.endif
kern_base:
.if ASE
        mov.l   l_r0,r15
        mov.l   r0,@r15
        bra     debug_entry
        mov     #0,r0
.else
        bra     agent_init
        nop
        .long   0x53483441
        .long   VERSION
.if SCIF
        .long   0                       ! base + 16, to which a loader jumps
        bra     agent_start
        nop
.endif
        .org    0x100
        SPILL_R0 hook_gen
        .org    0x120
        bra     own_fault
        nop
        .org    0x400
        SPILL_R0 hook_tlb
        .org    0x420
        bra     own_fault
        nop
        .org    0x600
        SPILL_R0 hook_int
        .org    0x620
        rte
        nop
.endif

! --- words in and out ---------------------------------------------------------------------------
.if SCIF == 2
        ! What is sent to the host: SYNC, where, halts, number, what an empty reply means, the
        ! answer.
        .equ    BOX_BLOCK, 4
        .equ    BOX_HALTS, 12
        .equ    BOX_NUMBER, 16
        .equ    BOX_FLAGS, 20           ! the bits above them are the number of bytes
        .equ    BOX_ANSWER, 24
        .equ    ROOM, 1088              ! of a request, and of an answer
        ! Flags: 2: the timer asks; 1: op_go was done. After either an empty reply lets the program
        ! run on.
        .equ    F_LOOK, 2
        .equ    GDBPACKET, 20           ! the number of the loader's call
rx:     mov.l   @r14+,r0
        mov.l   l_sum,r1
        add     r0,r11
        mul.l   r11,r1
        sts     macl,r11
        rts
        swap.w  r11,r11
! sync: begins an answer with the marker of its request, which is not part of the sum. tx: adds r0
! to the answer. Clobbers r2.
sync:   mov.l   l_answer,r10
        mov.l   r12,@r10
        rts
        add     #4,r10
tx:     mov.l   l_sum,r2
        add     r0,r11
        mul.l   r11,r2
        mov.l   r0,@r10
        sts     macl,r11
        add     #4,r10
        rts
        swap.w  r11,r11
.elseif SCIF
        .equ    SCSCR, 0                ! offsets from r14, 0xFFE80008
        .equ    SCFTDR, 4
        .equ    SCFSR, 8
        .equ    SCFRDR, 12
        .equ    SCFCR, 16
        .equ    SCFDR, 20
        .equ    SCLSR, 28
        .equ    START, -91              ! 0xA5: a request begins
! rx: r0 = the next word from the host, lowest byte first. If the host stops in the middle of a
! request, the kernel goes back to `idle`. Clobbers r1, r2, r10.
rx:     mov     #4,r10
1:      mov.l   l_patience,r1
2:      mov.w   @(SCFDR,r14),r0
        tst     #31,r0
        bf      3f
        dt      r1
        bf      2b
        bra     idle
        nop
3:      mov.b   @(SCFRDR,r14),r0
        shlr8   r2
        extu.b  r0,r0
        shll16  r0
        shll8   r0
        or      r0,r2
        dt      r10
        bf      1b
        mov     r2,r0
        mov.l   l_sum,r1
        add     r0,r11
        mul.l   r11,r1
        sts     macl,r11
        rts
        swap.w  r11,r11

! sync: begins an answer with the marker of its request, which is not part of the sum. tx: sends
! r0, lowest byte first. Both clobber r0, r2, r10.
sync:   bra     raw
        mov     r12,r2
tx:     mov.l   l_sum,r10
        add     r0,r11
        mul.l   r11,r10
        mov     r0,r2
        sts     macl,r11
        swap.w  r11,r11
raw:    mov     #4,r10
1:      mov.w   @(SCFDR,r14),r0
        shlr8   r0
        cmp/eq  #16,r0                  ! the FIFO is full
        bt      1b
        mov     r2,r0
        mov.b   r0,@(SCFTDR,r14)
        dt      r10
        bf/s    1b
        shlr8   r2
        rts
        nop
.else
! rx: r0 = the next word from the host. The marker is written back, to show that the word was
! taken.
rx:     mov.l   @r14,r0
        cmp/eq  r12,r0
        bt      rx
        mov.l   r12,@r14
        add     r0,r11
        mul.l   r12,r11
        sts     macl,r11
        rts
        swap.w  r11,r11

! tx: sends r0 as soon as the host has taken the word before (r2). It prepares all it can before it
! waits, since a word must be there between the host's update and its next capture. A word that
! would read as POLL is changed: the checksum then fails, and the host asks again under another
! marker. Clobbers r1.
tx:     add     r0,r11
        mul.l   r12,r11
        xor     r12,r0
        cmp/eq  r10,r0
        movt    r1
        add     r1,r0
        sts     macl,r11
        swap.w  r11,r11
1:      mov.l   @r14,r1
        cmp/eq  r2,r1
        bt      1b
        mov.l   r0,@r14
        rts
        mov     r0,r2
.endif

! op_poke(r4 address, r5 routine, r6 value): one store. The request's checksum covers the value.
op_poke:
        braf    r5
        mov     r6,r0
ref_poke:
ld2:    mov.w   @r4+,r0
        rts
        nop
.if ASE
        .org    0x040
        SPILL_R0 hook_tlb
.endif
.if SCIF == 2
! An interrupt. The watchdog's asks the host; any other goes on to the program.
hook_int:
        mov.l   l_tra,r15
        mov.l   @(8,r15),r15            ! INTEVT
        mov     #0x56,r0
        shll2   r0
        shll2   r0
        cmp/eq  r0,r15
        bt/s    1f
        mov     #6,r0
        bra     forward8
        nop
1:      mov.l   l_wtcsr,r15
        mov.w   l_wtgo,r0
        mov.w   r0,@r15
        mov.l   l_polls,r15             ! as many of them until the host is asked
        mov.l   @r15,r0
        dt      r0
        bt/s    2f
        mov.l   r0,@r15
        mov.l   l_r0,r15
        mov.l   @r15,r0
        stc     sgr,r15
        rte
        nop
2:      mov.l   @(4,r15),r0
        mov.l   r0,@r15
        bra     debug_entry
        mov     #2,r0
l_wtgo: .short  0xA587                  ! the key, then TME, interval mode, slowest clock
.elseif SCIF
! An interrupt. Those of the receiver enter the kernel; any other goes on to the program.
hook_int:
        mov.l   l_tra,r15
        mov.l   @(8,r15),r15            ! INTEVT
        mov     #7,r0
        shll8   r0
        sub     r0,r15                  ! 0x700 ERI, 0x720 RXI, 0x740 BRI; not 0x760 TXI
        mov     #0x60,r0
        cmp/hs  r0,r15
        bf/s    1f
        mov     #6,r0
        bra     forward8
        nop
1:      bra     debug_entry
        mov     #2,r0
.else
! sync: begins an answer. The first word is written only when the host's next update has replaced
! this one.
sync:   not     r10,r2
        rts
        mov.l   r2,@r14
hook_int:
        mov     #6,r0
        shll8   r0
        mov.l   l_tra,r15
        mov.l   @(8,r15),r15            ! INTEVT
        cmp/eq  r0,r15                  ! 0x600: H-UDI
        bf      forward
        bra     debug_entry
        mov     #2,r0
.endif
.if ASE
        .org    0x060
        bra     own_fault
        nop
.endif
! --- requests -----------------------------------------------------------------------------------
.if SCIF == 2
! The loader must not be entered twice, so a break or the timer within it lets it go on at once.
wait:   stc     spc,r0
        shll2   r0
        shll    r0
        mov.l   l_ldat,r1
        mov.l   l_ldlen,r2
        add     r1,r0
        cmp/hs  r2,r0
        bf      go_on
        mov.l   l_kind,r1
        mov     #F_LOOK,r3
        mov.l   @r1,r0
        cmp/eq  #2,r0
        bt/s    send_none
        nop
halted: mov.l   l_halts,r1
        mov.l   @r1,r0
        add     #1,r0
        mov.l   r0,@r1
! A damaged request is treated as if there had been none.
hush:
idle:   mov     #0,r3
send_none:
        mov.l   l_answer,r10
! Sends what is ready to the host and receives the reply. r3: flags. The loader's code may use the
! FPU and expects its modes.
send_block:
        mov.l   l_box,r8
        mov     r10,r9
        sts     fpscr,r10
        mov.l   l_fpscr,r0
        mov.l   l_stack,r15
        lds     r0,fpscr
        .irp    n,15,14,13,12,11,10,9,8,7,6,5,4,3,2,1,0
        fmov.s  fr\n,@-r15
        .endr
        mov     r8,r11
        add     #BOX_BLOCK,r11
        sub     r11,r9
        mov.w   l_room,r0
        shll16  r9                      ! the number of bytes
        or      r9,r3
        mov.l   r3,@(BOX_FLAGS,r8)
        or      r0,r9
again:  mov     #1,r0
        mov.l   r0,@r8                  ! the host can see here that the loader has it
        mov     r11,r5
        mov     r9,r6
        mov.l   l_in,r7
        mov.l   l_loader,r0
        mov.l   @r0,r0
        jsr     @r0
        mov     #GDBPACKET,r4
        mov     #0,r1
        mov.l   r1,@r8
        mov.l   l_in,r14
        mov.l   @r14+,r1
        mov.l   @(BOX_NUMBER,r8),r2
        cmp/eq  r1,r2                   ! is it a reply to this block?
        bf      again
        add     #1,r2
        mov.l   r2,@(BOX_NUMBER,r8)
        .irp    n,0,1,2,3,4,5,6,7,8,9,10,11,12,13,14,15
        fmov.s  @r15+,fr\n
        .endr
        lds     r10,fpscr
        mov.l   @(BOX_FLAGS,r8),r3
        extu.w  r3,r3
        cmp/eq  #8,r0                   ! the program stays halted
        bt      halted
        cmp/eq  #4,r0
        bf      3f
        tst     r3,r3
        bt      idle
go_on:  bra     resume
        nop
l_room: .short  ROOM
3:      mov     #0,r13
        bsr     rx
        nop
        mov     r0,r12                  ! the marker, from which the sum starts
        bsr     rx
        mov     r0,r11
        mov     r0,r8                   ! routine, relative to ref_call
.elseif SCIF
wait:   mov.l   l_scif,r14
        mov.w   @(SCSCR,r14),r0         ! the program may have switched some of these off
        or      #0x70,r0
        mov.w   r0,@(SCSCR,r14)
        ! whatever interrupted the program is no request: empty the FIFO
        mov.w   @(SCFCR,r14),r0
        mov     r0,r1
        or      #2,r0
        mov.w   r0,@(SCFCR,r14)
        mov     r1,r0
        mov.w   r0,@(SCFCR,r14)
        mov.l   l_halts,r1
        mov.l   @r1,r0
        add     #1,r0
        mov.l   r0,@r1
        mov     #0,r0
        mov.l   r0,@(8,r1)              ! silences
! HALTED is sent at once, after a damaged request, and whenever the host has sent nothing for a
! while. So the host never has to ask for it.
! After an overrun nothing is received until the flag is cleared.
idle:   mov.w   @(SCLSR,r14),r0
        mov     r0,r1
        mov     #0,r0
        mov.w   r0,@(SCLSR,r14)
        mov.w   @(SCFSR,r14),r0
        mov     #-112,r3
        extu.b  r3,r3                   ! ER and BRK
        and     r0,r3
        or      r3,r1
        mov.w   l_flags,r3
        and     r3,r0
        mov.w   r0,@(SCFSR,r14)
        tst     r1,r1
        bt      1f
        mov.l   l_errors,r1
        mov.l   @r1,r0
        add     #1,r0
        mov.l   r0,@r1
1:      mov.l   l_sync,r12
        bsr     sync
        mov     r12,r11
        mov.l   l_base,r0
        bsr     tx
        nop
        mov.l   l_halts,r1
        bsr     tx
        mov.l   @r1,r0
        bsr     tx
        mov     r11,r0
quiet:  mov.l   l_patience,r1
1:      mov.w   @(SCFDR,r14),r0
        tst     #31,r0
        bf      2f
        dt      r1
        bf      1b
! The host has sent nothing. If the trace agent waits for its full ring to be read, and the host is
! silent for long, the program goes on without its trace.
        mov.l   l_halts,r1
        mov.l   @(8,r1),r0
        mov.w   l_silences,r2
        add     #1,r0
        cmp/hs  r2,r0
        bf/s    idle
        mov.l   r0,@(8,r1)
        mov.l   l_step,r1
        mov.l   @(12,r1),r0             ! how the kernel was entered
        cmp/eq  #4,r0
        bf      idle
        mov     #0,r0
        bra     leave
        mov.l   r0,@(8,r1)              ! no step
l_silences: .short 512
2:      mov.b   @(SCFRDR,r14),r0
        cmp/eq  #START,r0
        bt      3f
        extu.b  r0,r0
        ! These bytes ask for a halt, and the program is halted already.
        mov     #4,r1
        cmp/hs  r1,r0
        bf      quiet
! Something was damaged: what comes is ignored until there is silence.
hush:   mov.l   l_patience,r1
1:      mov.w   @(SCFDR,r14),r0
        tst     #31,r0
        bf      2f
        dt      r1
        bf      1b
        bra     idle
        nop
2:      bra     hush
        mov.b   @(SCFRDR,r14),r0
3:      mov.l   l_halts,r1
        mov     #0,r13
        bsr     rx
        mov.l   r13,@(8,r1)
        ! the marker, which is the sequence number, and from which the sum starts
        mov     r0,r12
.endif
.if SCIF == 1
        bsr     rx
        mov     r0,r11
        mov     r0,r8                   ! routine, relative to ref_call
.endif
.if SCIF
        bsr     rx
        nop
        bsr     rx
        mov     r0,r4
        bsr     rx
        mov     r0,r5
        mov     r0,r6
        bsr     rx
        mov     r11,r7
        cmp/eq  r0,r7
        ! it is damaged: nothing is done, and the host gets HALTED
        bf      hush
        bsrf    r8
        mov     #0,r9
ref_call:
        bsr     sync
        mov     r0,r8
        bsr     tx
        mov     r8,r0
read_end:
        bsr     tx
        mov     r13,r0
        bsr     tx
        mov     r11,r0
.if SCIF == 2
        ! If the program is to go on, it does so when the host has replied.
        bra     send_block
        mov     r9,r3
.else
        tst     r9,r9
        bt      quiet
! All bytes are sent before the program runs, so that its transmitter is as it was. Receive flags
! are cleared, since they would interrupt the program at once.
leave:
1:      mov.w   @(SCFDR,r14),r0
        shlr8   r0
        tst     r0,r0
        bf      1b
        mov.w   @(SCFSR,r14),r0
        mov.w   l_flags,r3
        and     r3,r0
        bra     resume
        mov.w   r0,@(SCFSR,r14)
l_flags: .short 0xFF6C                  ! all but ER, BRK, RDF and DR
.endif
.else
wait:   mov.l   l_sddr,r14
idle:   mov.l   l_base,r12              ! HALTED: the base, with the version in its low bits
1:      mov.l   r12,@r14
2:      mov.l   @r14,r0
        cmp/eq  r12,r0
        bt      2b
        cmp/eq  r10,r0
        bt      1b
        not     r0,r12                  ! the marker; the first word of a request is its complement
        mov.l   r12,@r14
        ! the checksum starts from it, since it is also the sequence number
        mov     r12,r11
        bsr     rx
        mov     #0,r13
        bsr     rx
        mov     r0,r8                   ! routine, relative to ref_call
        bsr     rx
        mov     r0,r4
        bsr     rx
        mov     r0,r5
        mov     r0,r6
        bsr     rx
        mov     r11,r7
        cmp/eq  r0,r7
        bf      idle                    ! it is damaged: nothing is done, and the host reads HALTED
        bsrf    r8
        mov     #0,r9
ref_call:
        bsr     sync
        nop
        bsr     tx
        nop
read_end:
        bsr     tx
        mov     r13,r0
        bsr     tx
        mov     r11,r0
1:      mov.l   @r14,r1                 ! waits until the last word is taken
        cmp/eq  r2,r1
        bt      1b
        tst     r9,r9
        bt      idle
        bra     resume
        nop
.endif

! op_write(r4 address, r5 routine st1/st2/st4, r6 count), followed by the words and their checksum
op_write:
        sts     pr,r3
1:      bsr     rx
        nop
        bsrf    r5
        dt      r6
ref_write:
        tst     r6,r6
        bf      1b
        bsr     rx
        mov     r11,r7
        cmp/eq  r0,r7
        bt      1f
        mov     #1,r13                  ! the data are damaged
1:      lds     r3,pr
        rts
        nop

! op_read(r4 address, r5 routine ld1/ld2/ld4, r6 count)
op_read:
        bsr     sync
        nop
1:      bsrf    r5
        nop
ref_read:
        bsr     tx
        dt      r6                      ! tx keeps r6, but not T
        tst     r6,r6
        bf      1b
        bra     read_end
        nop

! op_go(r4 lo, r5 hi, r6 pc): resumes as the save area says. If pc is not 0, channel A of the UBC
! is set there, and again while lo <= pc < hi without asking the host.
op_go:
.if SCIF
        ! The marker says which halt is meant. A request that comes late, or again, does nothing.
        mov.l   l_halts,r1
        mov.l   @r1,r0
        not     r0,r0
        cmp/eq  r0,r12
        bt      1f
        rts
        mov     #2,r13                  ! SH4_AGENT_OTHER_HALT
1:
.endif
        mov.l   l_step,r1
        mov.l   r4,@r1
        mov.l   r5,@(4,r1)
        mov.l   r6,@(8,r1)
        rts
        mov     #1,r9

! A fault of the kernel's own access: keeps the code, and goes on after the instruction.
own_fault:
        stc     spc,r15
        add     #2,r15
        ldc     r15,spc
        mov.l   l_tra,r15
        mov.l   @(4,r15),r13            ! EXPEVT
        stc     sgr,r15
        rte
        nop
ld1:    mov.b   @r4+,r0
        rts
        nop
! --- ways in ------------------------------------------------------------------------------------
! A general exception of the program. The kernel takes user breaks, breakpoints (TRAPA #0x20), and
! what save_mask asks for (bit = EXPEVT >> 5, modulo 32).
hook_gen:
        mov.l   l_tra,r0
        mov.l   @(4,r0),r0              ! EXPEVT
        mov.l   @(4,r15),r15            ! mask
        shlr2   r0
        shlr2   r0
        shlr    r0
        and     #31,r0
        neg     r0,r0
        shld    r0,r15
        shlr    r15
        bt      debug_general
        cmp/eq  #-11,r0                 ! TRAPA
        bf/s    forward8
        mov     #1,r0
        mov.l   l_tra,r0
        mov.l   @r0,r0
        shlr2   r0
        cmp/eq  #0x20,r0
        bt      debug_general
        bra     forward8
        mov     #1,r0
ld4:    mov.l   @r4+,r0
        rts
        nop
.if ASE
        .org    0x140
        SPILL_R0 hook_gen
.endif
! Entered also by code with hooks of its own. r0 is in save_r0, r15 in SGR.
debug_general:
        bra     debug_entry
        mov     #1,r0

! An exception that the debugger does not take goes on to the program's own vector, DBR + r0*256,
! with every register as it was. r0 is in its place of the save area, r15 in SGR.
forward8:
        shll8   r0
forward:
        stc     dbr,r15
        add     r0,r15
        mov.l   l_r0,r0
        mov.l   @r0,r0
        jmp     @r15
        stc     sgr,r15
hook_tlb:
        bra     forward8
        mov     #4,r0
.if ASE
        .org    0x160
        bra     own_fault
        nop
.endif

! debug_entry: r0 = how the kernel was entered. The program's r0 is in its place of the save area,
! r15 in SGR.
debug_entry:
        mov.l   l_top,r15
        stc.l   sgr,@-r15
        stc.l   spc,@-r15
        stc.l   ssr,@-r15
        stc.l   sr,@-r15
entry2: stc.l   vbr,@-r15
        stc.l   dbr,@-r15
        stc.l   gbr,@-r15
        sts.l   pr,@-r15
        sts.l   mach,@-r15
        sts.l   macl,@-r15
        mov.l   r14,@-r15
        mov.l   r13,@-r15
        mov.l   r12,@-r15
        mov.l   r11,@-r15
        mov.l   r10,@-r15
        mov.l   r9,@-r15
        mov.l   r8,@-r15
        mov.l   r7,@-r15
        mov.l   r6,@-r15
        mov.l   r5,@-r15
        mov.l   r4,@-r15
        mov.l   r3,@-r15
        mov.l   r2,@-r15
        mov.l   r1,@-r15
        add     #-8,r15                 ! mask and r0 are there already
        stc.l   r7_bank,@-r15
        stc.l   r6_bank,@-r15
        stc.l   r5_bank,@-r15
        stc.l   r4_bank,@-r15
        stc.l   r3_bank,@-r15
        stc.l   r2_bank,@-r15
        stc.l   r1_bank,@-r15
        stc.l   r0_bank,@-r15
        ! From here on faults of the kernel are caught, interrupts are masked, and the FPU can be
        ! used.
        mov.l   l_base,r1
        add     #VBASE+0x20-VERSION,r1
        ldc     r1,vbr
        mov.l   l_sr,r1
        ldc     r1,sr
        sts.l   fpul,@-r15
        sts.l   fpscr,@-r15
        mov     r0,r4
        mov.l   l_tra,r1
        add     #100,r1                 ! PMCR1; PMCR2 is 4 bytes higher
        mov     #-64,r2
        shll8   r2                      ! 0xFFFFC000: PMEN and PMST both set
        mov     #32,r3
        ! PMCLR stops a counter that runs. It would clear one that does not.
        shll8   r3
        mov.w   @r1,r0
        mov.l   r0,@-r15
        cmp/hs  r2,r0
        bf      1f
        mov.w   r3,@r1
1:      mov.w   @(4,r1),r0
        mov.l   r0,@-r15
        cmp/hs  r2,r0
        bf      1f
        mov     r3,r0
        mov.w   r0,@(4,r1)
1:      mov.l   l_ubc,r1
        ! BBRA, BBRB: what a range step sets again, or the program's own.
        mov.w   @r1,r0
        mov.l   r0,@-r15
        mov.w   @(12,r1),r0
        mov.l   r0,@-r15
        add     #-4,r15                 ! what the host wants in BRCR
        mov.w   @(24,r1),r0             ! BRCR, with its match flags
        mov.l   r0,@-r15
        mov     r0,r3
        mov     #0,r0
        mov.w   r0,@r1
        mov.w   r0,@(12,r1)
        mov.l   r4,@-r15
        ! A range step goes on by itself if it was a user break of channel A alone, and pc is still
        ! in [lo, hi).
        cmp/pz  r3
        bt      to_wait
        cmp/hs  r2,r3
        bt      to_wait
.if SCIF == 1
        mov.l   l_scif,r1               ! any byte from the host stops this
        mov.w   @(SCFDR,r1),r0
        tst     #31,r0
        bf      to_wait
.elseif SCIF == 0
        mov.l   l_sddr,r1
        mov.l   @r1,r0
        cmp/eq  #POLL,r0                ! any other word from the host stops this
        bf      to_wait
.endif
        mov.l   l_step,r1
        mov.l   @r1,r2                  ! lo
        mov.l   @(4,r1),r3              ! hi
        stc     spc,r0
        cmp/hs  r2,r0
        bf      to_wait
        cmp/hs  r3,r0
        bf/s    resume
        mov.l   r0,@(8,r1)
to_wait: bra    wait
        mov     #POLL,r10
resume: mov.l   l_srbl,r0
        ldc     r0,sr                   ! BL=1: breaks and interrupts wait for the RTE
        mov.l   l_step,r15
        mov.l   l_ubc,r1
        mov.l   @(8,r15),r0
        tst     r0,r0
        bt      1f
        add     #-8,r1
        mov.l   r0,@r1                  ! BARA
        add     #8,r1
1:      add     #20,r15
        mov.l   @r15+,r0
        mov.w   r0,@(24,r1)
        bra     resume2
        mov.l   @r15+,r0
.if ASE
        .org    0x240
        SPILL_R0 hook_int
.endif
st1:    mov.b   r0,@r4
        rts
        add     #1,r4
st2:    mov.w   r0,@r4
        rts
        add     #2,r4
st4:    mov.l   r0,@r4
        rts
        add     #4,r4
! Writes a line of the O-cache back and invalidates it.
purge:  ocbp    @r4
        rts
        add     #32,r4
.if ASE
        .org    0x260
        rte                             ! an NMI while the kernel runs is ignored
        nop
.endif
resume2: mov.w  r0,@(12,r1)
        mov.l   @r15+,r0
        mov.w   r0,@r1
        mov.l   l_tra,r1
        add     #100,r1
        mov.l   @r15+,r0
        mov.w   r0,@(4,r1)
        mov.l   @r15+,r0
        mov.w   r0,@r1
        lds.l   @r15+,fpscr
        lds.l   @r15+,fpul
        ldc.l   @r15+,r0_bank
        ldc.l   @r15+,r1_bank
        ldc.l   @r15+,r2_bank
        ldc.l   @r15+,r3_bank
        ldc.l   @r15+,r4_bank
        ldc.l   @r15+,r5_bank
        ldc.l   @r15+,r6_bank
        ldc.l   @r15+,r7_bank
        mov.l   @r15+,r0
        add     #4,r15
        mov.l   @r15+,r1
        mov.l   @r15+,r2
        mov.l   @r15+,r3
        mov.l   @r15+,r4
        mov.l   @r15+,r5
        mov.l   @r15+,r6
        mov.l   @r15+,r7
        mov.l   @r15+,r8
        mov.l   @r15+,r9
        mov.l   @r15+,r10
        mov.l   @r15+,r11
        mov.l   @r15+,r12
        mov.l   @r15+,r13
        mov.l   @r15+,r14
        lds.l   @r15+,macl
        lds.l   @r15+,mach
        lds.l   @r15+,pr
        ldc.l   @r15+,gbr
        ldc.l   @r15+,dbr
        ldc.l   @r15+,vbr
        add     #4,r15
        ldc.l   @r15+,ssr
        ldc.l   @r15+,spc
        mov.l   @r15,r15
        rte
        nop

        .align  2
.if SCIF == 2
l_sum:  .long   0x9E3779B1              ! the factor of the sum
l_halts: .long  halts
l_answer: .long box + BOX_ANSWER
l_box:  .long   box
l_in:   .long   inbox
l_stack: .long  call_stack
l_kind: .long   save_area
l_polls: .long  polls
l_wtcsr: .long  0xFFC0000C
l_loader: .long 0x8C004008              ! dcload has the address of its calls here
l_ldat: .long   -(0x0C004000 << 3)      ! where dcload is, with its vectors: up to 0x0C010000
l_ldlen: .long  0xC000 << 3
l_fpscr: .long  0x00040000
.elseif SCIF
l_scif: .long   0xFFE80008
! How often the FIFO is looked at: some tens of milliseconds, longer if uncached.
l_patience: .long 0x20000
l_sum:  .long   0x9E3779B1              ! the factor of the sum
l_sync: .long   0x53344841              ! 'S4HA'
l_halts: .long  halts
l_errors: .long line_errors
.else
l_sddr: .long   0xFFF00008
.endif
l_base: .long   kern_base + VERSION
l_tra:  .long   0xFF000020
l_ubc:  .long   0xFF200008
l_sr:   .long   0x600000F0
l_srbl: .long   0x700000F0
l_r0:   .long   save_r0
l_top:  .long   save_top
l_step: .long   step_words
.if ASE == 0
.if SCIF == 2
! agent_init: to be called when the program's own VBR is set. It sets the kernel's VBR, starts the
! watchdog and gives its interrupt priority 15. Clobbers r0-r2.
agent_init:
        mov.l   l_hookvbr,r1
        stc     vbr,r0
        cmp/eq  r0,r1
        bt      1f
        ldc     r0,dbr
        ldc     r1,vbr
1:      mov.l   l_iprb,r1
        mov.w   l_wdt15,r2
        mov.w   @r1,r0
        or      r2,r0
        mov.w   r0,@r1
        mov.l   l_wtcsr2,r1
        mov.w   l_wtgo2,r0
        rts
        mov.w   r0,@r1
! The loader jumps here with the caches off. They are switched on, and the kernel is entered as if
! the program had halted.
agent_start:
        sts     pr,r8
        mova    cached,r0
        mov.l   l_p2,r1
        or      r1,r0
        jmp     @r0
        nop
l_wdt15: .short 0xF000
l_wtgo2: .short 0xA587
        .align  2
cached: mov.l   l_ccr,r0
        mov.l   l_ccron,r1
        mov.l   r1,@r0
        mov.l   l_started,r0
        nop
        nop
        nop
        nop
        nop
        nop
        nop
        jmp     @r0
        nop
started: bsr    agent_init
        nop
        lds     r8,pr                   ! so a program that returns gets back to the loader
        mov     #0,r8
        mov.l   l_start_sr,r0
        ldc     r0,sr
        trapa   #0x20
        bra     .                       ! not reached: the host sets another PC
        nop
        .align  2
l_start_sr: .long 0x400000F0
l_p2:   .long   0x20000000
l_ccr:  .long   0xFF00001C
l_ccron: .long  0x0000090D
l_started: .long started
l_iprb: .long   0xFFD00008
l_wtcsr2: .long 0xFFC0000C
.elseif SCIF
! agent_init(r4: SCBRR2; negative: leave the port as it is): to be called by a program or a loader
! when the program's own VBR is set. It sets the kernel's VBR, and gives the receive interrupt
! priority 15. Clobbers r0-r3.
agent_init:
        mov.l   l_hookvbr,r1
        stc     vbr,r0
        cmp/eq  r0,r1
        bt      1f
        ldc     r0,dbr
        ldc     r1,vbr
1:      mov.l   l_scif2,r3
        cmp/pz  r4
        bf      3f
        mov     #0,r0
        mov.w   r0,@(SCSCR,r3)
        mov     #6,r0
        mov.w   r0,@(SCFCR,r3)          ! resets the FIFOs
        add     #-8,r3
        mov     #0,r0
        mov.w   r0,@r3                  ! SCSMR2: 8N1, clock not divided
        mov     r4,r0
        mov.b   r0,@(4,r3)              ! SCBRR2
        add     #8,r3
        mov.l   l_bit,r1                ! longer than a bit at any rate
2:      dt      r1
        bf      2b
        mov     #0,r0
        mov.w   r0,@(SCFCR,r3)          ! an interrupt for each byte
        mov.w   @(SCFSR,r3),r0
        mov     #0x60,r0
        mov.w   r0,@(SCFSR,r3)
        mov     #0,r0
        mov.w   r0,@(SCLSR,r3)
3:      mov.w   @(SCSCR,r3),r0
        or      #0x70,r0                ! RIE TE RE
        mov.w   r0,@(SCSCR,r3)
        mov.l   l_iprc,r1
        mov.w   @r1,r0
        or      #0xF0,r0
        rts
        mov.w   r0,@r1
! For a loader that has set up the port and a stack: enters the kernel as if the program had
! halted.
agent_start:
        bsr     agent_init
        mov     #-1,r4
        mov.l   l_start_sr,r0
        ldc     r0,sr
        trapa   #0x20
        bra     .                       ! not reached: the host sets another PC
        nop
        .align  2
l_start_sr: .long 0x400000F0
l_scif2: .long  0xFFE80008
l_bit:  .long   0x8000
.else
! agent_init: to be called by a program or a loader when the program's own VBR is set. It sets the
! kernel's VBR, and gives the H-UDI interrupt priority 15. Clobbers r0 and r1.
        .global agent_init
agent_init:
        mov.l   l_hookvbr,r1
        stc     vbr,r0
        cmp/eq  r0,r1
        bt      1f
        ldc     r0,dbr
        ldc     r1,vbr
1:      mov.l   l_iprc,r1
        mov.w   @r1,r0
        or      #15,r0
        rts
        mov.w   r0,@r1
        .align  2
.endif
l_iprc: .long   0xFFD0000C
l_hookvbr: .long kern_base + VBASE
.endif
        .equ    hook_vbr, kern_base + VBASE
        .equ    own_vbr, kern_base + VBASE + 0x20
        .equ    reach, l_top
! --- data ---------------------------------------------------------------------------------------
.if SCIF == 2
        .align  2
! 1: the loader has the block that follows, and waits for the host.
box:    .long   0
        .long   0x53344841
        .long   kern_base + VERSION
halts:  .long   0                       ! how often the program has halted
        .long   1, 0                    ! the number, which is not that in the inbox, and flags
        .space  ROOM
inbox:  .space  ROOM
        .space  1536                    ! dcload needs 800 bytes of stack
call_stack:
! The watchdog's interrupts until the host is asked: how many are left, how many there are.
polls:  .long   1, 2
line_errors: .long 0
.elseif SCIF
halts:  .long   0                       ! how often the program has halted
! Overruns, framing errors and breaks that were seen while waiting.
line_errors: .long 0
        ! silences since the last request; its place is after the two
        .long   0
.endif
step_words: .space 12                   ! lo, hi, pc
! In the order of enum sh4_save (agent.h): kind, BRCR as seen; BRCR, BBRB, BBRA, PMCR2, PMCR1,
! FPSCR, FPUL, r0-r7 of bank 0.
save_area: .space 4 * 17
save_r0: .space 4                       ! bank 1: r0
save_mask: .long 0x8000                 ! user break
        ! r1-r7 of bank 1, r8-r14, MACL, MACH, PR, GBR, DBR, VBR, SR, SSR, SPC, R15
        .space  4 * 24
save_top:
        .align 3
overlay:
kern_end:
.if ASE
        .org    0x400
.else
        .space  256
.endif
