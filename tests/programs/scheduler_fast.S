! switch_fast(save r4, load r5): PR and R8-R14 on the old stack, then from the new one; the last one in the slot of rts.
        .text
        .balign 4
        .global switch_fast
        .type switch_fast, @function
switch_fast:
        sts.l   pr, @-r15
        mov.l   r14, @-r15
        mov.l   r13, @-r15
        mov.l   r12, @-r15
        mov.l   r11, @-r15
        mov.l   r10, @-r15
        mov.l   r9, @-r15
        mov.l   r8, @-r15
        mov.l   r15, @r4
        mov.l   @r5, r15
        mov.l   @r15+, r8
        mov.l   @r15+, r9
        mov.l   @r15+, r10
        mov.l   @r15+, r11
        mov.l   @r15+, r12
        mov.l   @r15+, r13
        mov.l   @r15+, r14
        lds.l   @r15+, pr
        rts
        nop
        .size switch_fast, . - switch_fast
