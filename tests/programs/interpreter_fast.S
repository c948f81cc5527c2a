! run_fast(code r4, registers r5): each operation ends in its own jump to the next one's code.
        .text
        .balign 4
        .global run_fast
        .type run_fast, @function
        .macro next
        mov.b   @r6, r0
        shll2   r0
        mov.l   @(r0, r7), r1
        jmp     @r1
        add     #1, r3
        .endm
        .macro operands                 ! r1: address of the first register, r2: second operand as it is
        mov.b   @(1, r6), r0
        shll2   r0
        mov     r0, r1
        add     r5, r1
        mov.b   @(2, r6), r0
        extu.b  r0, r2
        add     #3, r6
        .endm
run_fast:
        mov     r4, r6
        mova    operations, r0
        mov     r0, r7
        mov     #-1, r3
        next
op_load: operands
        mov.l   r2, @r1
        next
op_add: operands
        mov     r2, r0
        shll2   r0
        mov.l   @(r0, r5), r2
        mov.l   @r1, r0
        add     r2, r0
        mov.l   r0, @r1
        next
op_sub: operands
        mov     r2, r0
        tst     #0x80, r0
        bt/s    1f
        tst     #1, r0
        mov.l   @r1, r0
        bf      2f
        add     #-1, r0
2:      mov.l   r0, @r1
        next
1:      shll2   r0
        mov.l   @(r0, r5), r2
        mov.l   @r1, r0
        sub     r2, r0
        mov.l   r0, @r1
        next
        .balign 4
operations:
        .long   op_load, op_add, op_sub, op_jnz, op_muladd, op_halt
op_jnz: operands
        mov.l   @r1, r0
        tst     r0, r0
        bt      1f
        mov     r4, r6
        add     r2, r6
1:      next
op_muladd: operands
        mov     r2, r0
        shll2   r0
        mov.l   @(r0, r5), r2
        mov.l   @r1, r0
        add     r0, r2
        shll    r0
        add     r2, r0
        mov.l   r0, @r1
        next
op_halt:
        rts
        mov     r3, r0
        .size run_fast, . - run_fast
