! First instruction of the program, at 0x0C010000, where loaders jump to.
        .section .head, "ax"
        .global entry
        .type   entry, @function
entry:
        mov.l   p_start, r0
        jmp     @r0
        nop
        .size   entry, . - entry
        .balign 4
p_start:
        .long   start
