! What C cannot say: the interrupt handler, a tail call, setjmp and longjmp, a task switch, a call with
! exceptions blocked.
        .text

! Interrupt handler. First part with SR.BL=1, then with BL=0 and all levels masked, then BL=1 again until
! RTE. Bank 1 throughout, so R0-R7 of the interrupted program need no saving.
        .balign 4
        .global interrupt_entry
        .type   interrupt_entry, @function
interrupt_entry:
        sts.l   pr, @-r15
        sts.l   mach, @-r15
        sts.l   macl, @-r15
        stc.l   ssr, @-r15
        stc.l   spc, @-r15
        mov.l   p_mode, r0
        mov.l   @r0, r0
        tst     #4, r0                  ! MODE_CALLS
        bt      1f
        mov.l   p_profile_off, r0
        jsr     @r0
        nop
1:      mov.l   p_blocked_tick, r0
        jsr     @r0                     ! a call with BL=1
        nop
        mov.l   p_sr_open, r0           ! MD, RB, IMASK 15
        ldc     r0, sr
        mov.l   p_tick, r0
        jsr     @r0
        nop
        mov.l   p_sr_blocked, r0        ! the same and BL
        ldc     r0, sr
        mov.l   p_mode, r0
        mov.l   @r0, r0
        tst     #4, r0
        bt      2f
        mov.l   p_profile_on, r0
        jsr     @r0
        nop
2:      ldc.l   @r15+, spc
        ldc.l   @r15+, ssr
        lds.l   @r15+, macl
        lds.l   @r15+, mach
        lds.l   @r15+, pr
        rte
        nop
        .size   interrupt_entry, . - interrupt_entry

        .balign 4
        .global TailCaller
        .type   TailCaller, @function
TailCaller:
        mov.l   p_tail_target, r0
        jmp     @r0
        nop
        .size   TailCaller, . - TailCaller

! Saves R8 to R15 and PR at R4.
        .balign 4
        .global SetJump
        .type   SetJump, @function
SetJump:
        add     #36, r4
        sts.l   pr, @-r4
        mov.l   r15, @-r4
        mov.l   r14, @-r4
        mov.l   r13, @-r4
        mov.l   r12, @-r4
        mov.l   r11, @-r4
        mov.l   r10, @-r4
        mov.l   r9, @-r4
        mov.l   r8, @-r4
        rts
        mov     #0, r0
        .size   SetJump, . - SetJump

        .balign 4
        .global LongJump
        .type   LongJump, @function
LongJump:
        mov.l   @r4+, r8
        mov.l   @r4+, r9
        mov.l   @r4+, r10
        mov.l   @r4+, r11
        mov.l   @r4+, r12
        mov.l   @r4+, r13
        mov.l   @r4+, r14
        mov.l   @r4+, r15
        lds.l   @r4+, pr
        rts
        mov     #1, r0
        .size   LongJump, . - LongJump

! Swaps stacks with the other task.
        .balign 4
        .global Yield
        .type   Yield, @function
Yield:
        sts.l   pr, @-r15
        mov.l   r8, @-r15
        mov.l   r9, @-r15
        mov.l   r10, @-r15
        mov.l   r11, @-r15
        mov.l   r12, @-r15
        mov.l   r13, @-r15
        mov.l   r14, @-r15
        mov.l   p_other_stack, r0
        mov.l   @r0, r1
        mov.l   r15, @r0
        mov     r1, r15
        mov.l   @r15+, r14
        mov.l   @r15+, r13
        mov.l   @r15+, r12
        mov.l   @r15+, r11
        mov.l   @r15+, r10
        mov.l   @r15+, r9
        mov.l   @r15+, r8
        lds.l   @r15+, pr
        rts
        nop
        .size   Yield, . - Yield

        .balign 4
        .global CallBlocked             ! a literal call, so that only Blocked is known to run with BL=1
        .type   CallBlocked, @function
CallBlocked:
        sts.l   pr, @-r15
        stc     sr, r0
        mov.l   r8, @-r15
        mov     r0, r8
        mov.l   p_bl, r1
        or      r1, r0
        ldc     r0, sr                  ! BL=1
        mov.l   p_blocked, r0
        jsr     @r0
        nop
        ldc     r8, sr
        mov.l   @r15+, r8
        lds.l   @r15+, pr
        rts
        nop
        .size   CallBlocked, . - CallBlocked

        .balign 4
p_blocked_tick: .long BlockedTick
p_tick:         .long Tick
p_mode:         .long Mode
p_profile_off:  .long ProfileOff
p_profile_on:   .long ProfileOn
p_sr_open:      .long 0x600000F0
p_sr_blocked:   .long 0x700000F0
p_tail_target:  .long TailTarget
p_other_stack:  .long OtherStack
p_bl:           .long 0x10000000
p_blocked:      .long Blocked
