! First bytes of the program, at 0x0C010000, where loaders jump to. The compiler takes FPSCR.PR for 1 between functions, as the
! SH-4 ABI has it; after reset it is 0.
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
        .long   0x000C0001              ! PR, DN; round to zero as after reset
p_start:
        .long   start
