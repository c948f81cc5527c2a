! Start of the examples, reached from the first word of the program with anything in the registers.
!   stack, SR (privileged, bank 0, exceptions allowed, no interrupt level masked), VBR, .bss, both caches.
        .text
        .balign 4
        .global start
        .type   start, @function
start:
        mov.l   p_sr, r0                ! BL and RB off first: below, R0-R7 mean bank 0
        ldc     r0, sr
        mov.l   p_stack, r15
        mov.l   p_vectors, r0
        ldc     r0, vbr
        mov     #0, r14
        lds     r14, pr
        mova    enable_caches, r0       ! CCR may only be written by code that runs uncached (P2)
        mov.l   p_p2, r1
        or      r1, r0
        jsr     @r0
        nop
        mov.l   p_bss, r0
        mov.l   p_bss_end, r1
        mov     #0, r2
1:      cmp/hs  r1, r0
        bt      2f
        mov.l   r2, @r0
        bra     1b
        add     #4, r0
2:      mov.l   p_main, r0
        jmp     @r0                     ! PR is 0: main never returns
        nop
        .size   start, . - start

! Enables both caches, operand cache in copy-back mode in P0 and P1, unless they are on already: then
! the operand cache may hold what a debugger has just loaded, and invalidating would lose it.
! CCR is at 0xFF00001C: ICI 0x800, ICE 0x100, OCI 0x008, CB 0x004, OCE 0x001.
        .balign 4
        .type   enable_caches, @function
enable_caches:
        mov.l   p_ccr, r0
        mov.l   @r0, r1
        mov.w   p_caches_on, r2
        mov     r1, r3
        and     r2, r3
        cmp/eq  r2, r3
        bt      3f
        mov.w   p_ccr_value, r1
        mov.l   r1, @r0
3:      nop                             ! the manual wants a few instructions before cached space is touched
        nop
        nop
        nop
        nop
        nop
        nop
        nop
        rts
        nop
        .size   enable_caches, . - enable_caches
p_caches_on:
        .word   0x0101
p_ccr_value:
        .word   0x090D
        .balign 4
p_ccr:          .long 0xFF00001C
p_sr:           .long 0x40000000
p_stack:        .long stack_top
p_vectors:      .long vectors
p_p2:           .long 0xA0000000
p_bss:          .long bss_start
p_bss_end:      .long bss_end
p_main:         .long main
