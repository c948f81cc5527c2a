! Traps of the agent where no site is: the program has copied its code elsewhere, with the traps.
! The host knows what was at their places and restores it in the copy, where the instruction is
! executed then. If nobody answers, or the trap is the program's own, it is an exception of the
! program. One stub has such a trap for itself, at which the host is to look at the code. A part of
! trace.S, which explains registers and labels.

stray:  mov.l   l_rom11,r1
        mov.l   @(R_STRAY,r1),r0
        cmp/eq  #1,r0
        bf      stray_own
        mov     #2,r0
        mov.l   r0,@(R_STRAY,r1)
        mov.l   r2,@(C_PEND1,r4)
        mov.l   r3,@(C_PEND2,r4)
        mov.l   @(C_R5,r4),r5
        mov.l   @(C_R4,r4),r4
.if SCIF
        bra     stray_ask               ! the kernel reports it to whoever is there
        nop
        .space  2 * 10
.else
        mov.l   l_sddr11,r1
        mov.l   l_ring11,r2
        mov.l   l_ext11,r0
        mov.l   @(X_WAIT,r0),r3
        mov.l   r2,@r1
1:      mov.l   @r1,r0
        cmp/eq  r2,r0
        bf      stray_ask
        dt      r3
        bf      1b
        bra     stray_alone
        nop
.endif
! Enters the debug kernel as `drain` does.
stray_ask:
        mov.l   l_ext11,r1
        stc     spc,r0
        mov.l   r0,@(X_SPC,r1)
        stc     ssr,r0
        mov.l   r0,@(X_SSR,r1)
        stc     sgr,r0
        mov.l   r0,@(X_SGR,r1)
        mova    stray_ret,r0
        ldc     r0,spc
        stc     sr,r0
        ldc     r0,ssr
        mov.l   l_kernel11,r15
        mov.l   @r15,r15
        jmp     @r15
        mov     #4,r0
        .balign 4
stray_ret:
        mov.l   l_save11,r15
        mov.l   l_ext11,r1
        mov.l   @(X_SPC,r1),r0
        ldc     r0,spc
        mov.l   @(X_SSR,r1),r0
        ldc     r0,ssr
        mov.l   @(X_SGR,r1),r0
        mov.l   r0,@(S_SP,r15)
stray_alone:
        COLD    l_cold11
        mov.l   r5,@(C_R5,r4)
        mov.l   l_rom11,r1
        mov.l   @(R_STRAY,r1),r0
        mov     #1,r2
        mov.l   r2,@(R_STRAY,r1)
        stc     spc,r3
        mov.l   @(R_ASKS,r1),r2
        cmp/eq  r2,r3
        bt      stray_asks
        mov.l   @(C_PEND1,r4),r2
        mov.l   @(C_PEND2,r4),r3
        cmp/eq  #1,r0
        bf      stray_own
        stc     spc,r0                  ! executes the instruction itself
        add     #-2,r0
        ldc     r0,spc
stray_runs:
        mov.l   @(C_STATE,r4),r0
        tst     #ST_TRAP,r0
        bt      1f
        mova    1f,r0
        bra     put_back_far11
        nop
        .balign 4
1:      bra     exit_pending_far
        mov.l   @(C_R5,r4),r5
stray_own:
        bra     exception_far11
        nop
! The trap that a stub has for itself is only there to ask. The program goes on after it in any
! case. R_MISSED shows the host if nobody answered.
stray_asks:
        cmp/eq  #2,r0
        bf      stray_answered
        mov.l   r0,@(R_MISSED,r1)
stray_answered:
        mov.l   @(C_PEND1,r4),r2
        bra     stray_runs
        mov.l   @(C_PEND2,r4),r3
put_back_far11:
        mov.l   l_put_back,r1
        jmp     @r1
        nop
exit_pending_far:
        mov.l   l_exit_pending,r1
        jmp     @r1
        nop
exception_far11:
        mov.l   l_exception_far,r1
        jmp     @r1
        nop
        .balign 4
l_rom11: .long  rom
l_ext11: .long  ext
l_save11: .long save
l_cold11: .long cold
l_kernel11: .long l_kernel
l_put_back: .long put_back
l_exit_pending: .long exit_pending
l_exception_far: .long exception_far
.if SCIF
        .long   0, 0
.else
l_sddr11: .long 0xFFF00008
l_ring11: .long 0x52494E47              ! 'RING'
.endif
