! Exception entries of the examples. They expect nothing: whatever arrives is written down in
! crash_report (EXPEVT, INTEVT, TEA, SPC, SSR, PR, R15 at the exception) and the program stops at
! `crashed`, where a debugger finds it. Runs with SR.BL=1 throughout, so nothing here may fault.
! An example with interrupts defines interrupt_entry; without one, interrupts are unexpected too.
        .section .vectors, "ax"
        .balign 256
        .global vectors
vectors:
        .space  0x100, 0
        mov.l   p_unexpected, r0        ! VBR+0x100: general exceptions (bank 1 registers: all free)
        jmp     @r0
        nop
        .balign 4
p_unexpected:
        .long   unexpected

        .org    vectors + 0x400         ! VBR+0x400: TLB misses
        mov.l   p_unexpected2, r0
        jmp     @r0
        nop
        .balign 4
p_unexpected2:
        .long   unexpected

        .org    vectors + 0x600         ! VBR+0x600: interrupts
        mov.l   p_interrupt, r0
        jmp     @r0
        nop
        .balign 4
p_interrupt:
        .long   interrupt_entry

        .weak   interrupt_entry
        .set    interrupt_entry, unexpected

        .text
        .balign 4
        .global unexpected
        .type   unexpected, @function
unexpected:
        mov.l   p_report, r0
        mov.l   p_expevt, r1            ! EXPEVT; INTEVT is the next long, TEA lies 0x18 below
        mov.l   @r1, r2
        mov.l   r2, @r0
        mov.l   @(4, r1), r2
        mov.l   r2, @(4, r0)
        add     #-0x18, r1
        mov.l   @r1, r2
        mov.l   r2, @(8, r0)
        stc     spc, r2
        mov.l   r2, @(12, r0)
        stc     ssr, r2
        mov.l   r2, @(16, r0)
        sts     pr, r2
        mov.l   r2, @(20, r0)
        stc     sgr, r2
        mov.l   r2, @(24, r0)
        .size   unexpected, . - unexpected
        .global crashed
        .type   crashed, @function
crashed:
        bra     crashed
        nop
        .size   crashed, . - crashed
        .balign 4
p_report:
        .long   crash_report
p_expevt:
        .long   0xFF000024

        .bss
        .balign 32
        .global crash_report
        .type   crash_report, @object
crash_report:
        .space  28
        .size   crash_report, 28
