! Start of the programs: main calls program() and compares its result, which ends in `good` or `bad`, then in `done`.
        .section .head, "ax"
        .global entry
        .type entry, @function
entry:  mov.l   p_sr, r0
        ldc     r0, sr
        mov.l   p_fpscr, r0
        lds     r0, fpscr
        mov.l   p_stack, r15
        mov.l   p_main, r0
        jmp     @r0
        nop
        .size entry, . - entry
        .balign 4
p_sr:   .long 0x40000000
p_fpscr: .long 0x000C0001               ! PR=1, as compiled code expects
p_stack: .long 0x0C0F0000
p_main: .long main
        .text
        .balign 4
        .global main
        .type main, @function
main:   mov.l   p_program, r0
        jsr     @r0
        nop
        mov.l   p_expected, r1
        mov.l   @r1, r1
        mov.l   p_good, r2
        cmp/eq  r0, r1
        bt      1f
        mov.l   p_bad, r2
1:      jsr     @r2
        nop
        mov.l   p_done, r1
        jmp     @r1
        nop
        .size main, . - main
        .balign 4
p_program: .long program
p_expected: .long expected
p_good: .long good
p_bad:  .long bad
p_done: .long done
        .global good
        .type good, @function
good:   rts
        nop
        .size good, . - good
        .global bad
        .type bad, @function
bad:    rts
        nop
        .size bad, . - bad
        .global done
        .type done, @function
done:   mov.l   p_off, r1               ! switches qemu's r2d board off; of a plain SH7750 nothing is there
        mov     #1, r2
        mov.w   r2, @r1
1:      bra     1b
        nop
        .size done, . - done
        .balign 4
p_off:  .long 0xA4000030
