! class_fast(c r4): a table of classes, then BRAF over short offsets; each way leaves by RTS with its result in the slot.
        .text
        .balign 4
        .global class_fast
        .type class_fast, @function
class_fast:
        mov     #31, r1
        cmp/hi  r1, r4
        bf      other
        mov     #64, r1
        cmp/hs  r1, r4
        bt      other
        mov     r4, r1
        add     #-32, r1
        mova    classes, r0
        mov.b   @(r0, r1), r1
        shll    r1
        mova    ways, r0
        mov.w   @(r0, r1), r1
        braf    r1
        nop
from:
other:  rts
        mov     #0, r0
digit:  rts
        mov     #1, r0
blank:  rts
        mov     #2, r0
oper:   rts
        mov     #3, r0
        .balign 4
ways:   .word   other - from, digit - from, blank - from, oper - from
        .balign 4
classes: .byte 2,0,0,0,0,0,0,0,3,3,3,3,0,3,0,3
        .byte 1,1,1,1,1,1,1,1,1,1,0,0,3,0,3,0
        .size class_fast, . - class_fast
