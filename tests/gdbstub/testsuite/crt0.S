! Start of GDB's test programs on a bare board: exceptions allowed, stack, main, exit through TRAPA #34.
! Labels of the literal pool are local: `rbreak main` would put a breakpoint into it otherwise.
        .text
        .global _start, start, _exit
_start:
start:
        mov.l   .Lp_sr, r0
        ldc     r0, sr
        mov.l   .Lp_fpscr, r0
        lds     r0, fpscr
        mov.l   .Lp_stack, r15
        mov     #0, r14
        mov.l   .Lp_bss, r1
        mov.l   .Lp_bss_end, r2
        mov     #0, r0
1:      cmp/hs  r2, r1
        bt      2f
        mov.l   r0, @r1
        bra     1b
        add     #4, r1
2:      mov.l   .Lp_argv, r5
        mov.l   .Lp_envp, r6
        mov.l   .Lp_main, r0
        jsr     @r0
        mov     #1, r4
        mov     r0, r4
        mov.l   .Lp_exit, r0
        jsr     @r0
        nop
_exit:                                  ! newlib's simulator convention: r4 number, r5 argument
        mov     r4, r5
        mov     #1, r4
        trapa   #34
        bra     _exit
        nop
        .balign 4
.Lp_sr:   .long   0x40000000
.Lp_fpscr: .long  0x00080000
.Lp_stack: .long  __stack
.Lp_bss:  .long   __bss_start
.Lp_bss_end: .long _end
.Lp_argv: .long   argv
.Lp_envp: .long   envp
.Lp_main: .long   main
.Lp_exit: .long   exit
        .data
        .balign 4
name:   .asciz  "program"
        .balign 4
argv:   .long   name
envp:   .long   0
        .section .note.GNU-stack,"",@progbits
