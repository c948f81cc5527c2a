! butterfly_fast(re r4, im r5, twiddle r6, bytes r7): dmuls and xtrct for Q14 products; pops in the slot of rts.
        .text
        .balign 4
        .global butterfly_fast
        .type butterfly_fast, @function
butterfly_fast:
        mov.l   r8, @-r15
        mov.l   r9, @-r15
        mov     r7, r0
        mov.l   @(r0, r4), r1           ! bottom, real
        mov.l   @(r0, r5), r2           ! and imaginary
        mov.l   @r6, r3
        mov.l   @(4, r6), r6
        sts     pr, r9                  ! PR waits in a register, not on the stack
        bsr     times_q14
        nop
        lds     r9, pr
        mov.l   @r4, r1
        mov.l   @r5, r2
        mov     r1, r3
        sub     r8, r3
        mov.l   r3, @(r0, r4)
        add     r8, r1
        mov.l   r1, @r4
        mov     r2, r3
        sub     r7, r3
        mov.l   r3, @(r0, r5)
        add     r7, r2
        mov.l   r2, @r5
        mov.l   @r15+, r9
        rts
        mov.l   @r15+, r8
        .size butterfly_fast, . - butterfly_fast
! (r1 + i r2) (r3 + i r6) in Q14: r8 + i r7
        .type times_q14, @function
times_q14:
        mul.l   r1, r3
        sts     macl, r8
        mul.l   r2, r6
        sts     macl, r7
        sub     r7, r8
        mul.l   r1, r6
        sts     macl, r7
        mul.l   r2, r3
        sts     macl, r1
        add     r1, r7
        mov     #-14, r1
        shad    r1, r8
        rts
        shad    r1, r7
        .size times_q14, . - times_q14
