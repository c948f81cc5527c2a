! Code that cannot be patched: the user break controller's channel A, after execution, over a window of addresses,
! stops behind every instruction there. Part of trace.S, which see for registers and labels.
!
! What ran is the instruction the stop before it named as the next one. Entering the window it is not known: such a
! record carries number 0, and the host, who knows where the program went, says what it was. Interrupts, exceptions
! and leaving the window make it unknown. With SR.BL=1 no break comes, so nothing here runs.

        ! words of the block `rom`, the host's but the first and the last
        .equ R_PREV, 0                  ! instruction about to run, 0: not known
        .equ R_BASE, 4                  ! window, as the program runs there
        .equ R_SIZE, 8                  ! 0: channel A is not ours
        .equ R_TBASE, 12                ! what the table of site numbers covers
        .equ R_TSIZE, 16
        .equ R_TABLE, 20
        .equ R_K1, 24                   ! what a stop costs by itself
        .equ R_K2, 28
        .equ R_BRCR, 32

! Deltas without what the stop itself cost. R4: rom. Clobbers R0.
        .macro  STOP_DELTA
        mov.l   @(R_K1,r4),r0
        sub     r0,r2
        mov.l   @(R_K2,r4),r0
        sub     r0,r3
        DELTA
        .endm

! User break: channel A is the window's; then channel B.
user_break:
        mov.l   l_brcr9,r1
        mov.w   @r1,r0
        mov.l   l_rom9,r4
        cmp/pz  r0                      ! CMFA is bit 15
        bt      break_b_far
        mov.l   r0,@(R_BRCR,r4)
        mov.l   @(R_SIZE,r4),r4
        tst     r4,r4
        bf      1f
break_b_far:
        bra     break_b
        nop
1:      mov.w   l_cmfa,r4
        and     r4,r0
        mov.w   r0,@r1
        mov.l   l_rom9,r4
        mov.l   r5,@(S_R5,r15)
        mov.l   @(R_BASE,r4),r5
        stc     spc,r0
        mov.l   @(R_SIZE,r4),r1
        sub     r5,r0
        cmp/hs  r1,r0
        bf/s    2f
        add     r5,r0
        mov     #0,r0
2:      mov.l   @(R_PREV,r4),r1
        mov.l   r0,@(R_PREV,r4)
        tst     r1,r1
        bt      rom_record              ! number 0
        mov.l   @(R_TBASE,r4),r0
        sub     r0,r1
        mov.l   @(R_TSIZE,r4),r0
        cmp/hs  r0,r1
        bt      rom_silent
        mov.l   @(R_TABLE,r4),r0
        mov.w   @(r0,r1),r1
        tst     r1,r1
        bf      rom_record
! Any other instruction: time goes on, the stop is taken off.
rom_silent:
        mov.l   @(S_STATE,r15),r0
        tst     #ST_STOPPED + ST_FILTER,r0
        bf      rom_quiet
        tst     #ST_CALLS,r0
        bt      1f
        mov.l   l_calls9,r1             ! switched off by the program: the calls' own sums have it
        mov.l   @r1,r1
        mov.l   @(4,r1),r0
        cmp/pl  r0
        bt      rom_quiet
1:      STOP_DELTA
rom_pending:
        mov.l   r2,@(S_PEND1,r15)
        mov.l   r3,@(S_PEND2,r15)
        mov.l   @(S_R5,r15),r5
        mov.l   @(R_BRCR,r4),r0
        shll16  r0
        shll    r0
        cmp/pz  r0                      ! CMFB is bit 14
        bf      rom_both
        bra     exit_pending
        nop
rom_quiet:
        mov.l   @(S_R5,r15),r5
        mov.l   @(R_BRCR,r4),r0
        shll16  r0
        shll    r0
        cmp/pz  r0
        bf      break_b_far
        bra     leave
        mov.l   @(S_R4,r15),r4
! Channel B stopped with A: time is settled, then B's turn.
rom_both:
        mov.l   l_pmc9,r1
        mov.l   @(8,r1),r2
        mov.l   @(S_PEND1,r15),r0
        mov.l   @(16,r1),r3
        mov     r2,r1
        sub     r0,r1
        mov.l   r1,@(S_LAST1,r15)
        mov.l   @(S_PEND2,r15),r0
        mov     r3,r1
        sub     r0,r1
        bra     break_b
        mov.l   r1,@(S_LAST2,r15)
! A site (number R1), or the first stop in the window.
rom_record:
        mov.l   @(S_STATE,r15),r0
        tst     #ST_STOPPED + ST_FILTER,r0
        bf      rom_quiet
        tst     #ST_CALLS,r0
        bt      1f
        mova    rom_calls,r0
        bra     calls
        mov     r0,r5
        .balign 4
rom_calls:
        bt      rom_quiet
1:      STOP_DELTA
        mov.l   @(S_STATE,r15),r0
        tst     #ST_FULL,r0
        bt      2f
        mov.l   @(S_LOST,r15),r0
        add     #1,r0
        bra     rom_pending
        mov.l   r0,@(S_LOST,r15)
2:      mov.l   l_ext9,r5
        stc     spc,r0
        mov.l   r0,@(X_X1,r5)
        sts     pr,r0
        mov.l   r0,@(X_X2,r5)
        mov.l   l_krom,r4
        or      r1,r4
        mova    rom_done,r0
        bra     emit
        mov     r0,r5
        .balign 4
rom_done:
        mov.l   l_rom9,r4
        mov.l   @(R_BRCR,r4),r0
        shll16  r0
        shll    r0
        cmp/pz  r0
        bf      3f
        bra     slow_done
        nop
3:      mov     #0,r2
        mov     #0,r3
        bra     rom_pending
        nop
        .balign 4
l_brcr9: .long  0xFF200020
l_rom9: .long   rom
l_calls9: .long calls_struct
l_pmc9: .long   0xFF100000
l_ext9: .long   ext
l_krom: .long   K_ROM << 16
l_cmfa: .word   0x7FFF
        .balign 32
rom:    .space  64
