! How KallistiOS enters and leaves its kernel, written anew from the facts (kernel/arch/dreamcast/kernel/entry.s and thdswitch.s there): the register
! save area of the running thread is found through irq_srt_addr, a word among the code; handlers run on one stack of the kernel's; SPC and SSR are
! loaded with SR.BL=0 on bank 1 and IMASK 15; whoever blocks saves itself with PR as its place and leaves by the same way as an interrupt does.
        .section .head, "ax"
        .global _start
        .type _start, @function
_start: mov.l   s_sr, r0
        ldc     r0, sr
        mov.l   s_stack, r15
        mov.l   s_top, r1
        mov.l   r15, @r1
        mov.l   s_fpscr, r0
        lds     r0, fpscr
        mov.l   s_vbr, r0
        ldc     r0, vbr
        mov.l   s_main, r0
        jsr     @r0
        nop
1:      bra     1b
        nop
        .size _start, . - _start
        .balign 4
s_sr:   .long 0x500000F0
s_stack: .long 0x8D000000
s_top:  .long __arch_mem_top
s_fpscr: .long 0x00040001
s_vbr:  .long _irq_vma_table
s_main: .long _arch_main
        .global __arch_mem_top
__arch_mem_top: .long 0

        .text
        .balign 4
        .space  4096
kernel_stack:
        .global _irq_save_regs
        .global _irq_force_return
        .global _irq_srt_addr
        .type _irq_save_regs, @function
! r4: which vector. The area of a thread: pc pr gbr vbr mach macl sr fpul fr[16] xf[16] r[16] fpscr, from its end downwards.
_irq_save_regs:
        mov.l   _irq_srt_addr, r0
        add     #0x72, r0
        add     #0x72, r0
        sts.l   fpscr, @-r0
        mov.l   r15, @-r0
        mov.l   r14, @-r0
        mov.l   r13, @-r0
        mov.l   r12, @-r0
        mov.l   r11, @-r0
        mov.l   r10, @-r0
        mov.l   r9, @-r0
        mov.l   r8, @-r0
        stc.l   r7_bank, @-r0
        stc.l   r6_bank, @-r0
        stc.l   r5_bank, @-r0
        stc.l   r4_bank, @-r0
        stc.l   r3_bank, @-r0
        stc.l   r2_bank, @-r0
        stc.l   r1_bank, @-r0
        stc.l   r0_bank, @-r0
        mov     #0, r1
        lds     r1, fpscr
        frchg
        fmov.s  fr15, @-r0
        fmov.s  fr14, @-r0
        fmov.s  fr13, @-r0
        fmov.s  fr12, @-r0
        fmov.s  fr11, @-r0
        fmov.s  fr10, @-r0
        fmov.s  fr9, @-r0
        fmov.s  fr8, @-r0
        fmov.s  fr7, @-r0
        fmov.s  fr6, @-r0
        fmov.s  fr5, @-r0
        fmov.s  fr4, @-r0
        fmov.s  fr3, @-r0
        fmov.s  fr2, @-r0
        fmov.s  fr1, @-r0
        fmov.s  fr0, @-r0
        frchg
        fmov.s  fr15, @-r0
        fmov.s  fr14, @-r0
        fmov.s  fr13, @-r0
        fmov.s  fr12, @-r0
        fmov.s  fr11, @-r0
        fmov.s  fr10, @-r0
        fmov.s  fr9, @-r0
        fmov.s  fr8, @-r0
        fmov.s  fr7, @-r0
        fmov.s  fr6, @-r0
        fmov.s  fr5, @-r0
        fmov.s  fr4, @-r0
        fmov.s  fr3, @-r0
        fmov.s  fr2, @-r0
        fmov.s  fr1, @-r0
        fmov.s  fr0, @-r0
        sts.l   fpul, @-r0
        stc.l   ssr, @-r0
        sts.l   macl, @-r0
        sts.l   mach, @-r0
        stc.l   vbr, @-r0
        stc.l   gbr, @-r0
        sts.l   pr, @-r0
        stc.l   spc, @-r0
        mov.l   e_fpscr, r1
        lds     r1, fpscr
        mov.l   e_stack, r15
        mov.l   e_and, r1               ! exceptions again, interrupts not yet
        mov.l   e_or, r2
        stc     sr, r0
        and     r0, r1
        or      r2, r1
        ldc     r1, sr
        mov.l   e_handle, r2
        jsr     @r2
        nop
        bra     restore
        nop
        .balign 4
e_and:  .long 0xEFFFFF0F
e_or:   .long 0x000000F0
e_fpscr: .long 0x00040001

_irq_force_return:                      ! from bank 0: the way out is walked on bank 1
        mov.l   e_bank, r1
        stc     sr, r0
        or      r1, r0
        ldc     r0, sr
restore: mov.l  _irq_srt_addr, r1
        ldc.l   @r1+, spc
        lds.l   @r1+, pr
        ldc.l   @r1+, gbr
        add     #4, r1                  ! not VBR
        lds.l   @r1+, mach
        lds.l   @r1+, macl
        ldc.l   @r1+, ssr
        lds.l   @r1+, fpul
        mov     #0, r2
        lds     r2, fpscr
        fmov.s  @r1+, fr0
        fmov.s  @r1+, fr1
        fmov.s  @r1+, fr2
        fmov.s  @r1+, fr3
        fmov.s  @r1+, fr4
        fmov.s  @r1+, fr5
        fmov.s  @r1+, fr6
        fmov.s  @r1+, fr7
        fmov.s  @r1+, fr8
        fmov.s  @r1+, fr9
        fmov.s  @r1+, fr10
        fmov.s  @r1+, fr11
        fmov.s  @r1+, fr12
        fmov.s  @r1+, fr13
        fmov.s  @r1+, fr14
        fmov.s  @r1+, fr15
        frchg
        fmov.s  @r1+, fr0
        fmov.s  @r1+, fr1
        fmov.s  @r1+, fr2
        fmov.s  @r1+, fr3
        fmov.s  @r1+, fr4
        fmov.s  @r1+, fr5
        fmov.s  @r1+, fr6
        fmov.s  @r1+, fr7
        fmov.s  @r1+, fr8
        fmov.s  @r1+, fr9
        fmov.s  @r1+, fr10
        fmov.s  @r1+, fr11
        fmov.s  @r1+, fr12
        fmov.s  @r1+, fr13
        fmov.s  @r1+, fr14
        fmov.s  @r1+, fr15
        ldc.l   @r1+, r0_bank
        ldc.l   @r1+, r1_bank
        ldc.l   @r1+, r2_bank
        ldc.l   @r1+, r3_bank
        ldc.l   @r1+, r4_bank
        ldc.l   @r1+, r5_bank
        ldc.l   @r1+, r6_bank
        ldc.l   @r1+, r7_bank
        mov.l   @r1+, r8
        mov.l   @r1+, r9
        mov.l   @r1+, r10
        mov.l   @r1+, r11
        mov.l   @r1+, r12
        mov.l   @r1+, r13
        mov.l   @r1+, r14
        mov.l   @r1+, r15
        lds.l   @r1+, fpscr
        rte
        nop
        .balign 4
e_bank: .long 0x20000000
e_stack: .long kernel_stack
_irq_srt_addr: .long 0
e_handle: .long _irq_handle_exception

! void thd_block_now(irq_context_t *mine): another thread runs; returns when this one does again.
        .global _thd_block_now
        .type _thd_block_now, @function
_thd_block_now:
        mov.l   b_and, r1
        mov.l   b_or, r2
        stc     sr, r0
        and     r0, r1
        or      r2, r1
        ldc     r1, sr
        mov     r0, r1
        add     #0x72, r4
        add     #0x72, r4
        sts.l   fpscr, @-r4
        mov.l   r15, @-r4
        mov.l   r14, @-r4
        mov.l   r13, @-r4
        mov.l   r12, @-r4
        mov.l   r11, @-r4
        mov.l   r10, @-r4
        mov.l   r9, @-r4
        mov.l   r8, @-r4
        add     #-0x20, r4              ! r0 to r7 need not live
        add     #-0x80, r4              ! nor, here, the floating-point registers
        sts.l   fpul, @-r4
        mov.l   r1, @-r4
        sts.l   macl, @-r4
        sts.l   mach, @-r4
        stc.l   vbr, @-r4
        stc.l   gbr, @-r4
        sts.l   pr, @-r4
        sts.l   pr, @-r4                ! where it goes on
        mov.l   b_choose, r0
        jsr     @r0
        nop
        mov.l   b_return, r1
        jmp     @r1
        mov     r0, r4
        .balign 4
b_and:  .long 0xEFFFFF0F
b_or:   .long 0x000000F0
b_return: .long _irq_force_return
b_choose: .long _thd_choose_new

        .balign 4
        .global _irq_vma_table
_irq_vma_table:
        .space  0x100
        nop
        bra     _irq_save_regs
        mov     #1, r4
        .space  0x300 - 6
        nop
        bra     _irq_save_regs
        mov     #2, r4
        .space  0x200 - 6
        nop
        bra     _irq_save_regs
        mov     #3, r4

        .balign 4
        .global _spin
        .type _spin, @function
_spin:  dt      r4                      ! 2 n + 2 instructions for n, as exactly as it can be told
        bf      _spin
        rts
        nop
        .size _spin, . - _spin
