! divide10_fast(v r4, rest r5): by the reciprocal; the rest is stored in the slot of rts.
        .text
        .balign 4
        .global divide10_fast
        .type divide10_fast, @function
divide10_fast:
        mov.l   tenth, r1
        dmulu.l r1, r4
        mov.l   r8, @-r15
        sts     mach, r0
        shlr2   r0
        shlr    r0
        mov     r0, r8
        shll2   r8
        add     r0, r8
        shll    r8
        sub     r8, r4
        mov.l   r4, @r5
        rts
        mov.l   @r15+, r8
        .size divide10_fast, . - divide10_fast
        .balign 4
tenth:  .long 0xCCCCCCCD
