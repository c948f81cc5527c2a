! What the program means to be in SR, and expects in TRA and EXPEVT. Part of trace.S, which see for registers and labels.
!
! A trap taken with SR.BL=1 resets the CPU. Where the program loads SR with a value that may have BL=1, and BL is 0 for certain, the
! agent loads it in the program's place: BL stays clear and IMASK becomes 15 instead, so traps go on working and no interrupt comes. What
! the program reads of SR then is what it loaded. The section ends with the next load.

! R5 flags, C_CHAIN the site's struct. From sp2.
sp_sr:  tst     #SP_SR,r0
        bt      sr_read
        bra     sp_target               ! fetches the register and comes back to sr_load
        nop
! R0: Rm, or R15 where the value is. Of user mode, and from an odd place, the instruction itself makes the exception.
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
! On as an ordinary site, behind what was done.
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
! STC SR, STC.L SR: other than it is only in a section, and there IMASK is 15. If it is not, the section was left otherwise, by an RTE.
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
! A handler of the program may clear BL, call what is patched, and only then read what came: traps of ours have changed both by then. So from
! an exception that is passed on until its handler has returned each of ours puts back what the program's own left. If the end
! is not seen (channel B is the debugger's, the handler went elsewhere, another exception came in between) that goes on.
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

! From exception; goes on there with R0 the state. TRA is the program's only if its TRAPA came.
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
        mov.l   @(M_SP,r5),r1
        mov.l   r0,@(M_SP,r5)
        cmp/hi  r0,r1                   ! deeper in the stack than the one before: that may not be over
        mov.l   @(C_STATE,r4),r0
        movt    r1
        tst     #ST_TRAP,r0
        bf      2f
        mov     #0,r1
2:      mov.l   r1,@(M_NEST,r5)
        or      #ST_TRAP,r0
        mov.l   r0,@(C_STATE,r4)
        mov     #0,r1
        bra     exception1
        mov.l   r1,@(S_SIZE,r15)
! With BL=1 an exception resets. It does here, too: where it goes on is odd, which is an address error with BL=1. Unless the section was left
! otherwise, as sr_read tells.
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
! A trap that is ours: R1 is kept.
trap_odd:
        mov.l   r1,@(C_T,r4)
        PUT_BACK
        mov.l   @(C_T,r4),r1
        bra     odd0
        mov.l   @(C_STATE,r4),r0
trap_special:
        PUT_BACK
        bra     sp0
        nop
trap_stop:
        PUT_BACK
        bra     stop1
        nop
! A handler's end: R5 the place. Its own, if no other exception came meanwhile and the stack is where it was: else another task is there.
trap_over:
        mov.l   l_meant10,r1
        stc     sgr,r0
        mov.l   r5,@(C_X1,r4)
        mov.l   @(M_SP,r1),r5
        cmp/eq  r0,r5
        movt    r0
        mov.l   r0,@(M_OVER,r1)
        bra     ended
        mov.l   @(C_X1,r4),r5
trap_ended:
        PUT_BACK
        mov.l   l_meant10,r5
        mov.l   @(M_OVER,r5),r1
        mov.l   @(M_NEST,r5),r0
        tst     r0,r0
        movt    r0
        and     r0,r1
        mov     #0,r0
        mov.l   r0,@(M_OVER,r5)
        mov.l   @(C_STATE,r4),r0
        tst     r1,r1
        bf      2f
        bra     ended1
        nop
2:      and     #0xFB,r0                ! all but ST_TRAP
        SET_STATE
        bra     ended1
        nop
        .balign 4
l_meant10: .long meant
l_expevt10: .long 0xFF000024
l_sr_bits: .long 0x700083F3             ! what of SR can be loaded
l_sr_bl: .long  0x10000000
l_sr_meant: .long 0x100000F0            ! BL, IMASK
        .balign 32
meant:  .space  32
