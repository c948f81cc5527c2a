! SR as the program means it. Part of trace.S, which see for registers and labels.
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
        .balign 4
l_meant10: .long meant
l_sr_bits: .long 0x700083F3             ! what of SR can be loaded
l_sr_bl: .long  0x10000000
l_sr_meant: .long 0x100000F0            ! BL, IMASK
        .balign 32
meant:  .space  32
