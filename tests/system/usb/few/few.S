! A program that is traced in a moment, for runs that are made thousands of times (sweep.py): in each pass of main's loop
!   setup   1 call
!   work    6 calls, each calling leaf twice
! The loop goes from main to the BRA at `again`.
        .section .head, "ax"
        .global entry
        .type   entry, @function
entry:
        mov.l   p_start, r0
        jmp     @r0
        nop
        .balign 4
p_start:
        .long   start
        .size   entry, . - entry

        .section .text.main, "ax"
        .global main, again
        .type   main, @function
main:
        bsr     setup
        nop
        mov     #6, r8
1:      bsr     work
        nop
        dt      r8
        bf      1b
again:  bra     main
        nop
        .size   main, . - main

        .type   setup, @function
setup:
        rts
        mov     #0, r9
        .size   setup, . - setup

        .type   work, @function
work:
        sts.l   pr, @-r15
        bsr     leaf
        nop
        bsr     leaf
        nop
        lds.l   @r15+, pr
        rts
        nop
        .size   work, . - work

        .type   leaf, @function
leaf:
        rts
        add     #1, r9
        .size   leaf, . - leaf
