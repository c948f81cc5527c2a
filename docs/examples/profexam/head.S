! First bytes of the program, at 0x0C010000, where loaders jump to. The 28 bytes put main at 0x0C01001C.
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
        .ascii  "profexam\0\0\0\0\0\0\0\0"
