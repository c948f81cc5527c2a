! First instruction of the program, at 0x0C010000, where loaders jump to. FPSCR.PR is set, as compiled
! code expects for double: after a reset it is not.
        .section .head, "ax"
        .global entry
        .type   entry, @function
entry:
        mov.l   p_fpscr, r0
        lds     r0, fpscr
        mov.l   p_start, r0
        jmp     @r0
        nop
        .size   entry, . - entry
        .balign 4
p_fpscr:
        .long   0x000C0001
p_start:
        .long   start
