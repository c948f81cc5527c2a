! Sites in code that cannot be patched (flash). Channel A of the user break controller, after
! execution, over a window of addresses, stops after every instruction there. A part of trace.S,
! which explains registers and labels.
!
! A stop names the instruction that is executed next, and at the next stop that one is known. At
! the first stop in a window it is not known: the record then has number 0, and the host, which
! knows where the program went, finds out what it was. It is not known either after interrupts,
! exceptions and after leaving the window. With SR.BL=1 no break comes, so no code here is
! executed.

        ! Words of the block `rom`. The host sets them, except R_PREV and those from R_STRAY on.
        .equ R_PREV, 0                  ! the instruction that is executed next; 0: not known
        .equ R_BASE, 4                  ! the window, at the addresses where the program executes it
        .equ R_SIZE, 8                  ! 0: channel A is not used
        .equ R_TBASE, 12                ! the code that the table of site numbers covers
        .equ R_TSIZE, 16
        .equ R_K1, 24                   ! what a stop itself costs
        .equ R_K2, 28
        .equ R_BRCR, 32
        .equ R_TABLE, 36
        .equ R_STRAY, 40                ! this and the next two are for stray.S
        .equ R_ASKS, 44                 ! SPC of the trap that a stub has for itself; 0: none
        .equ R_MISSED, 48               ! nobody answered it

! Subtracts from the deltas what the stop itself costs. R5: rom. Clobbers R0.
        .macro  STOP_DELTA
        mov.l   @(R_K1,r5),r0
        sub     r0,r2
        mov.l   @(R_K2,r5),r0
        sub     r0,r3
        .endm

! T=0 if channel B has stopped, too: bit 14 is CMFB. Clobbers R0.
        .macro  BOTH
        mov.l   @(R_BRCR,r5),r0
        shll16  r0
        shll    r0
        cmp/pz  r0
        .endm

! A user break: of channel A, whose window it is, then of channel B.
user_break:
        mov.l   l_brcr9,r1
        mov.w   @r1,r0
        mov.l   l_rom9,r5
        cmp/pz  r0                      ! bit 15 is CMFA
        bt      break_b_far
        mov.l   r0,@(R_BRCR,r5)
        mov.l   @(R_SIZE,r5),r0
        tst     r0,r0
        bf      1f
break_b_far:
        bra     break_b
        nop
1:      mov.l   @(C_STATE,r4),r0
        tst     #ST_TRAP,r0
        bt      stop1
        bra     trap_stop
        nop
stop1:  mov.l   @(R_BRCR,r5),r0
        mov.l   l_cmfa,r1
        and     r1,r0
        mov.l   l_brcr9,r1
        mov.w   r0,@r1
        stc     spc,r0
        mov.l   @(R_BASE,r5),r1
        sub     r1,r0
        mov.l   @(R_SIZE,r5),r1
        cmp/hs  r1,r0
        mov.l   @(R_BASE,r5),r1
        bf/s    2f
        add     r1,r0
        mov     #0,r0
2:      mov.l   @(R_PREV,r5),r1
        mov.l   r0,@(R_PREV,r5)
        tst     r1,r1
        bt      rom_record              ! with number 0
        mov.l   @(R_TBASE,r5),r0
        sub     r0,r1
        mov.l   @(R_TSIZE,r5),r0
        cmp/hs  r0,r1
        bt      rom_silent
        mov.l   @(R_TABLE,r5),r0
        mov.w   @(r0,r1),r1
        tst     r1,r1
        bf      rom_record
! Any other instruction: its time is counted, without that of the stop.
rom_silent:
        mov.l   @(C_STATE,r4),r0
        tst     #ST_STOPPED + ST_FILTER,r0
        bf      rom_quiet
        tst     #ST_CALLS,r0
        bt      1f
        ! The program has switched profiling off, so what it excludes has the time.
        mov.l   l_calls9,r1
        mov.l   @r1,r1
        mov.l   @(4,r1),r0
        cmp/pl  r0
        bt      rom_quiet
1:      STOP_DELTA
rom_pending:
        mov.l   r2,@(C_PEND1,r4)
        mov.l   r3,@(C_PEND2,r4)
        BOTH
        bf/s    rom_both
        mov.l   @(C_R5,r4),r5
        bra     exit_pending
        nop
rom_quiet:
        BOTH
        bf      break_b_far
        bra     leave
        mov.l   @(C_R5,r4),r5
! Channel B has stopped together with A. The time is settled before B is handled.
rom_both:
        mov.l   @(S_PMC,r15),r1
        mov.l   @(8,r1),r0
        sub     r2,r0
        mov.l   @(16,r1),r1
        mov.l   r0,@(S_LAST1,r15)
        sub     r3,r1
        bra     break_b
        mov.l   r1,@(S_LAST2,r15)
! A site (number R1), or the first stop in the window.
rom_record:
        mov.l   r1,@(C_OFF,r4)
        mov.l   @(C_STATE,r4),r0
        tst     #ST_STOPPED + ST_FILTER,r0
        bf      rom_quiet
        tst     #ST_CALLS,r0
        bt      1f
        mova    rom_calls,r0
        bra     calls
        mov     r0,r5
        .balign 4
rom_calls:
        mov.l   l_rom9,r5
        bt      rom_quiet
1:      STOP_DELTA
        mov.l   @(C_STATE,r4),r0
        tst     #ST_FULL,r0
        bt      2f
        mov.l   @(C_LOST,r4),r0
        add     #1,r0
        bra     rom_pending
        mov.l   r0,@(C_LOST,r4)
2:      stc     spc,r0
        mov.l   r0,@(C_X1,r4)
        sts     pr,r0
        mov.l   r0,@(C_X2,r4)
        mov.l   @(C_OFF,r4),r1
        shll16  r1
        shll2   r1
        mova    rom_done,r0
        mov     r0,r5
        mov     #K_ROM,r0
        bra     emit
        or      r1,r0
        .balign 4
rom_done:
        mov.l   l_rom9,r5
        BOTH
        bf      3f
        bra     slow_done
        nop
3:      mov     #0,r2
        bra     rom_pending
        mov     #0,r3
        .balign 4
l_brcr9: .long  0xFF200020
l_rom9: .long   rom
l_calls9: .long calls_struct
l_cmfa: .long   0x7FFF
        .balign 32
rom:    .space  64
