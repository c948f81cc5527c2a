! merge_fast(out r4, x r5, y r6, nx r7, ny @r15): a leaf without a frame; what is left over goes to copy_rest by a tail jump.
        .text
        .balign 4
        .global merge_fast
        .type merge_fast, @function
merge_fast:
        mov.l   @r15, r3
1:      tst     r7, r7
        bt/s    2f
        tst     r3, r3
        bt      3f
        mov.l   @r5, r0
        mov.l   @r6, r1
        cmp/hi  r1, r0
        bt      4f
        mov.l   r0, @r4
        add     #4, r4
        add     #4, r5
        bra     1b
        add     #-1, r7
4:      mov.l   r1, @r4
        add     #4, r4
        add     #4, r6
        bra     1b
        add     #-1, r3
2:      mov     r6, r5
        bra     copy_rest
        mov     r3, r7
3:      bra     copy_rest
        nop
        .size merge_fast, . - merge_fast
        .type copy_rest, @function
copy_rest:
        tst     r7, r7
        bt      2f
1:      mov.l   @r5+, r0
        mov.l   r0, @r4
        dt      r7
        bf/s    1b
        add     #4, r4
2:      rts
        nop
        .size copy_rest, . - copy_rest
