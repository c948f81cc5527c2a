! What the program expects in SR, TRA and EXPEVT, where the agent or its traps have changed them. A
! part of trace.S, which explains registers and labels.
!
! A trap with SR.BL=1 resets the CPU. Where the program loads SR with a value that may have BL=1,
! and BL is known to be 0, the agent loads it instead. BL then stays clear and IMASK becomes 15, so
! that traps work and no interrupt comes. When the program reads SR, it gets what it loaded. The
! section ends at the next load of SR.

! From sp2. R5: flags; C_CHAIN: the site's struct.
sp_sr:  tst     #SP_SR,r0
        bt      sr_read
        bra     sp_target               ! it reads the register and comes back to sr_load
        nop
! R0: Rm, or R15 if the value is on the stack. In user mode, and at an odd address, the instruction
! itself is executed, to raise its exception.
sr_load:
        stc     ssr,r1
        shll    r1
        shll    r1                      ! T = MD
        bf      sr_itself
        mov     #-128,r1                ! SP_POP
        extu.b  r1,r1
        tst     r1,r5
        bt      1f
        mov     #3,r1
        tst     r1,r0
        bf      sr_itself
        mov.l   @r0,r0
1:      mov.l   l_sr_bits,r1
        and     r1,r0
        mov.l   l_sr_bl,r1
        mov.l   l_meant10,r5
        tst     r1,r0
        bt/s    2f
        not     r1,r1
        mov.l   r0,@(M_SR,r5)
        and     r1,r0
        bra     3f
        or      #0xF0,r0
2:      mov     #0,r1
        mov.l   r1,@(M_SR,r5)
3:      ldc     r0,ssr
! Goes on as at an ordinary site, after what was done.
sr_done:
        mov.l   @(C_CHAIN,r4),r1
        mov.l   @(C_R5,r4),r5
        bra     sr_site
        mov.l   @r1,r1
sr_itself:
        mov.l   @(C_CHAIN,r4),r1
        mov.l   @(C_R5,r4),r5
        mov.l   @(8,r1),r1
sr_site:
        bra     site
        nop
! STC SR and STC.L SR. SR differs from what the program expects only in a section, where IMASK is
! 15. If it is not, the section has been left in another way, by an RTE.
sr_read:
        mov.l   l_meant10,r5
        mov.l   @(M_SR,r5),r0
        tst     r0,r0
        bt      sr_itself
        mov.l   l_sr_meant,r1
        stc     ssr,r0
        and     r1,r0
        mov     r0,r1
        mov     #-16,r0
        extu.b  r0,r0
        cmp/eq  r0,r1
        bt      4f
        mov     #0,r0
        bra     sr_itself
        mov.l   r0,@(M_SR,r5)
4:      mov.l   @(M_SR,r5),r0
        mov.l   l_sr_meant,r1
        and     r1,r0
        not     r1,r5
        stc     ssr,r1
        and     r5,r1
        or      r1,r0
        mov.l   @(C_CHAIN,r4),r1
        mov.l   @(12,r1),r1
        bra     sr_done
        mov.l   r0,@r1

! ---- TRA and EXPEVT ----
!
! A handler of the program may clear BL, call what is patched, and only then read TRA and EXPEVT,
! which traps of the agent have changed by then. So from an exception that is passed on until its
! handler has returned, each trap of the agent restores what the program's own exception left
! there. If the end of a handler is not seen (channel B is the debugger's, or the handler went
! elsewhere), that goes on until the end of a later one is.
!
! Of nested handlers channel B waits for the end of the innermost one (C_EXC, M_SP). Those that it
! will wait for then are kept in M_OUTER, the innermost first, with place and stack pointer. If the
! program takes an exception with a stack pointer at or above that of one of them, that one has not
! returned and never will.
        .macro  PUT_BACK                ! clobbers R0, R1
        mov.l   l_meant10,r1
        mov.l   @(M_EXPEVT,r1),r1
        mov.l   l_expevt10,r0
        mov.l   r1,@r0
        mov.l   l_meant10,r1
        mov.l   @(M_TRA,r1),r1
        add     #-4,r0
        mov.l   r1,@r0
        .endm

        .macro  MOVE from, to           ! in the block at R1; clobbers R0
        mov.l   @(M_OUTER+\from,r1),r0
        mov.l   r0,@(M_OUTER+\to,r1)
        .endm
        .macro  OUTER_POP               ! R1: meant; clobbers R0
        MOVE    8,0
        MOVE    12,4
        MOVE    16,8
        MOVE    20,12
        MOVE    24,16
        MOVE    28,20
        mov     #0,r0
        mov.l   r0,@(M_OUTER+24,r1)
        .endm
        ! Makes room for one at the front. The end of the one that is dropped at the back will not
        ! be seen.
        .macro  OUTER_PUSH
        mov.l   @(M_OUTER+24,r1),r0
        tst     r0,r0
        bt      8f
        mov.l   @(M_OUTER+28,r1),r0     ! it is higher than that of any other open one
        mov.l   r0,@(M_OPEN,r1)
8:      MOVE    20,28
        MOVE    16,24
        MOVE    12,20
        MOVE    8,16
        MOVE    4,12
        MOVE    0,8
        .endm
        .macro  BREAK_B                 ! at C_EXC; clobbers R0, R1
        mov.l   l_barb10,r1
        mov.l   @(C_EXC,r4),r0
        mov.l   r0,@r1
        mov     #4,r0
        mov.b   r0,@(4,r1)              ! BAMRB: any ASID
        mov     #0x14,r0
        mov.w   r0,@(8,r1)              ! BBRB: instruction fetch
        .endm
        .macro  AWAIT_OUTER             ! R1: meant; clobbers R0, R1
        mov.l   @(M_OUTER+4,r1),r0
        mov.l   r0,@(M_SP,r1)
        mov.l   @(M_OUTER,r1),r0
        mov.l   r0,@(C_EXC,r4)
        OUTER_POP
        BREAK_B
        .endm
        ! The end of this exception's handler will not be seen. Clobbers R0, R1, R5.
        .macro  NOTE_OPEN
        mov.l   l_meant10,r5
        stc     sgr,r0
        mov.l   @(M_OPEN,r5),r1
        cmp/hi  r1,r0
        bf      8f
        mov.l   r0,@(M_OPEN,r5)
8:
        .endm

! From exception, where it goes on with R0 the state. TRA is the program's only if the exception is
! a TRAPA.
trap_begins:
        mov.l   l_meant10,r5
        mov.l   @(M_SR,r5),r0
        tst     r0,r0
        bf      trap_fatal
trap_mild:
        mov.l   l_expevt10,r1
        mov.l   @r1,r0
        add     #-4,r1
        mov.l   r0,@(M_EXPEVT,r5)
        shlr2   r0
        shlr2   r0
        cmp/eq  #0x16,r0
        bf      1f
        mov.l   @r1,r0
        mov.l   r0,@(M_TRA,r5)
1:      mov.l   @(M_TRA,r5),r0
        mov.l   r0,@r1
        stc     sgr,r0
        mov.l   @(M_OPEN,r5),r1
        cmp/hs  r1,r0
        bf      2f
        mov     #0,r1
        mov.l   r1,@(M_OPEN,r5)
2:      mov.l   @(C_STATE,r4),r0
        or      #ST_TRAP,r0
        mov.l   r0,@(C_STATE,r4)
        mov     #0,r1
        bra     exception1
        mov.l   r1,@(S_SIZE,r15)
! With BL=1 an exception resets the CPU. The agent has kept BL clear, but does reset it: it goes on
! at an odd address, which is an address error with BL=1. It does not if the section has been left
! in another way, as sr_read finds out.
trap_fatal:
        mov     #-16,r0
        extu.b  r0,r0
        stc     ssr,r1
        and     r0,r1
        cmp/eq  r0,r1
        bf      trap_mild
        mov     #1,r0
        bra     trap_mild
        mov.l   r0,@(C_CHAIN,r4)
trap_unrecorded:
        NOTE_OPEN
        bra     pass
        nop
trap_unseen:
        NOTE_OPEN
        bra     record_pass
        mov     #K_EXCEPTION,r1
! Channel B waits for the end of this exception's handler. R0-R3 and R5 are free, but R2 and R3
! have the deltas.
trap_awaited:
        mov.l   l_meant10,r1
        stc     sgr,r5
        mov.l   @(C_EXC,r4),r0
        tst     r0,r0
        bt      1f
        mov.l   @(M_SP,r1),r0
        ! It is deeper in the stack than the one that was waited for, which may not have ended.
        cmp/hi  r5,r0
        bf      1f
        OUTER_PUSH
        mov.l   @(C_EXC,r4),r0
        mov.l   r0,@(M_OUTER,r1)
        mov.l   @(M_SP,r1),r0
        bra     2f
        mov.l   r0,@(M_OUTER+4,r1)
1:      mov.l   @(M_OUTER,r1),r0
        tst     r0,r0
        bt      2f
        mov.l   @(M_OUTER+4,r1),r0
        cmp/hi  r5,r0
        bt      2f
        OUTER_POP
        bra     1b
        nop
2:      mov.l   r5,@(M_SP,r1)
        mov.l   @(C_X1,r4),r0
        mov.l   r0,@(C_EXC,r4)
        BREAK_B
        bra     record_pass
        mov     #K_EXCEPTION,r1
! A trap of the agent. R1 is kept.
trap_odd:
        mov.l   r1,@(C_T,r4)
        mova    1f,r0
        bra     put_back
        nop
        .balign 4
1:      mov.l   @(C_T,r4),r1
        bra     odd0
        mov.l   @(C_STATE,r4),r0
trap_special:
        mova    sp_back,r0
        bra     put_back
        nop
trap_stop:
        mova    stop_back,r0
! R0: where to go on; clobbers R0 and R1. A handler is waited for again here if another task has
! met its break.
put_back:
        mov.l   l_meant10,r1
        mov.l   r0,@(M_BACK,r1)
        mov.l   @(M_OUTER,r1),r0
        tst     r0,r0
        bt      1f
        mov.l   @(C_EXC,r4),r0
        tst     r0,r0
        bf      1f
        mov.l   l_barb10,r1
        mov.w   @(8,r1),r0
        tst     r0,r0                   ! is it the debugger's?
        bf      1f
        mov.l   l_meant10,r1
        AWAIT_OUTER
1:      PUT_BACK
        mov.l   l_meant10,r1
        mov.l   @(M_BACK,r1),r1
        jmp     @r1
        nop
        .balign 4
sp_back:
        bra     sp0
        nop
        .balign 4
stop_back:
        bra     stop1
        nop
! Channel B. R5: the place. It is the end of the handler if the stack pointer is what it was.
trap_over:
        mov.l   r5,@(C_X1,r4)
        mov.l   l_meant10,r1
        stc     sgr,r5
        mov.l   @(M_SP,r1),r0
        cmp/eq  r0,r5
        bf      trap_other
        mov.l   @(M_OUTER,r1),r0
        tst     r0,r0
        bt      2f
        mov.l   @(C_X1,r4),r5
        ! At the same place the break would be met at once.
        cmp/eq  r0,r5
        bt      1f
        AWAIT_OUTER
1:      mov.l   l_meant10,r1
        bra     3f
        mov     #0,r0
2:      mov.l   @(M_OPEN,r1),r0
        tst     r0,r0
        movt    r0
3:      mov.l   r0,@(M_OVER,r1)
        bra     ended
        mov.l   @(C_X1,r4),r5
! Otherwise another task, or code deeper in the stack, is at the same place. This handler is waited
! for again from the next trap on.
trap_other:
        OUTER_PUSH
        mov.l   @(C_X1,r4),r0
        mov.l   r0,@(M_OUTER,r1)
        mov.l   @(M_SP,r1),r0
        mov.l   r0,@(M_OUTER+4,r1)
        PUT_BACK
        mov.l   @(C_STATE,r4),r0
        tst     #ST_STOPPED + ST_FILTER,r0
        bt      1f
        bra     leave
        mov.l   @(C_R5,r4),r5
1:      mov     #2,r0
        mov.l   r0,@(C_X2,r4)
        mova    over_done,r0
        mov     r0,r5
        bra     emit_far10
        mov     #K_RTE,r0
emit_far10:
        bra     emit
        nop
        .balign 4
over_done:
        bra     slow_done
        nop
trap_ended:
        PUT_BACK
        mov.l   l_meant10,r5
        mov.l   @(M_OVER,r5),r1
        mov     #0,r0
        mov.l   r0,@(M_OVER,r5)
        mov.l   @(C_X1,r4),r5
        mov.l   @(C_STATE,r4),r0
        tst     r1,r1
        bf      2f
        bra     ended1
        nop
2:      and     #0xFB,r0                ! all but ST_TRAP
        SET_STATE
        bra     ended1
        nop
! The program has moved its vectors (R0) since the last record that names a handler by them. A
! record of that comes first, without deltas. R1: kind of the record to follow; R2, R3: its deltas.
! If there is no room, that one will be lost, too.
new_vbr:
        mov.l   l_ext10,r5
        mov.l   r2,@(X_D1,r5)
        mov.l   @(S_WPTR,r15),r2
        mov.l   r3,@(X_D2,r5)
        mov.l   @(C_HARD,r4),r3
        cmp/hs  r3,r2
        bt      2f
        mov.l   r0,@(X_VBR,r5)
        mov.l   r1,@(X_T,r5)
        mov.l   @(C_X1,r4),r1
        mov.l   r1,@(X_S1,r5)
        mov.l   @(C_X2,r4),r1
        mov.l   r1,@(X_S2,r5)
        mov.l   r0,@(C_X1,r4)
        mova    1f,r0
        mov     r0,r5
        bra     emit_far10
        mov     #K_VBR,r0
        .balign 4
1:      mov.l   l_ext10,r5
        mov.l   @(X_S1,r5),r0
        mov.l   r0,@(C_X1,r4)
        mov.l   @(X_S2,r5),r0
        mov.l   r0,@(C_X2,r4)
        mov.l   @(X_T,r5),r1
2:      mov.l   @(X_D1,r5),r2
        bra     record_vbr_known_far
        mov.l   @(X_D2,r5),r3
record_vbr_known_far:
        bra     record_vbr_known
        nop
        .balign 4
l_ext10: .long  ext
l_meant10: .long meant
l_expevt10: .long 0xFF000024
l_sr_bits: .long 0x700083F3             ! the bits of SR that can be loaded
l_sr_bl: .long  0x10000000
l_sr_meant: .long 0x100000F0            ! BL, IMASK
l_barb10: .long 0xFF20000C
        .balign 32
meant:  .space  64
