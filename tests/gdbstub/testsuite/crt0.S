! Start of GDB's test programs on a bare board: exceptions allowed, stack, main, exit through TRAPA #34.
        .text
        .global _start, start, _exit
_start:
start:
        mov.l   p_sr, r0
        ldc     r0, sr
        mov.l   p_fpscr, r0
        lds     r0, fpscr
        mov.l   p_stack, r15
        mov     #0, r14
        mov.l   p_bss, r1
        mov.l   p_bss_end, r2
        mov     #0, r0
1:      cmp/hs  r2, r1
        bt      2f
        mov.l   r0, @r1
        bra     1b
        add     #4, r1
2:      mov.l   p_argv, r5
        mov.l   p_envp, r6
        mov.l   p_main, r0
        jsr     @r0
        mov     #1, r4
        mov     r0, r4
        mov.l   p_exit, r0
        jsr     @r0
        nop
_exit:                                  ! newlib's simulator convention: r4 number, r5 argument
        mov     r4, r5
        mov     #1, r4
        trapa   #34
        bra     _exit
        nop
        .balign 4
p_sr:   .long   0x40000000
p_fpscr: .long  0x00080000
p_stack: .long  __stack
p_bss:  .long   __bss_start
p_bss_end: .long _end
p_argv: .long   argv
p_envp: .long   envp
p_main: .long   main
p_exit: .long   exit
        .data
        .balign 4
name:   .asciz  "program"
        .balign 4
argv:   .long   name
envp:   .long   0
        .section .note.GNU-stack,"",@progbits
