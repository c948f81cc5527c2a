! First instruction of the program, at 0x0C010000, where loaders jump to; and what C cannot say of
! code that is replaced.
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

! Drops what the instruction cache holds of the code that was there. CCR (0xFF00001C, ICI is 0x800)
! may only be written by code that runs uncached, so this is called at its address in P2.
        .text
        .balign 4
        .global forget_code
        .type   forget_code, @function
forget_code:
        mov.l   p_ccr, r0
        mov.l   @r0, r1
        mov.w   p_ici, r2
        or      r2, r1
        mov.l   r1, @r0
        nop
        nop
        nop
        nop
        nop
        nop
        nop
        nop
        rts
        nop
        .size   forget_code, . - forget_code
p_ici:  .word   0x0800
        .balign 4
p_ccr:  .long   0xFF00001C
