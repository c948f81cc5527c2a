! The trace agent: takes the exception vectors while a profile is armed, turns TRAPA patches, interrupts and
! exceptions into records in a ring, and passes everything that is not its own on to the vectors behind it
! (the debug kernel's, which passes it on to the program's at DBR).
!
! Records, save block and states are described in targets/sh4/trace/agent.h; the numbers below are shared
! with it. Every entry finds the program's R15 in SGR, so R15 is free; all else is saved before use. R0-R7 may
! be the program's live ones (it may run on bank 1).
!
! What runs before the first read of the counters at entry and after the last one at exit is counted as the
! program's: the residue, which the host measures with `calib` and subtracts.

        .text
        .global trace_base, save, ext, rom, slots, slot_spc, calib, calib_call, calib_f, trace_end
        .global l_text, l_size, l_table, l_sites, l_kernel, l_next1, l_next4, l_next6, calls_struct

        ! offsets in the save block (R15)
        .equ S_R0, 0
        .equ S_R1, 4
        .equ S_R2, 8
        .equ S_R3, 12
        .equ S_R4, 16
        .equ S_LAST1, 20
        .equ S_LAST2, 24
        .equ S_WPTR, 28
        .equ S_LIMIT, 32
        .equ S_STATE, 36
        .equ S_SPHI, 40
        .equ S_LOST, 44
        .equ S_PEND1, 48
        .equ S_PEND2, 52
        .equ S_R5, 56
        .equ S_SP, 48                   ! with S_PEND1: never both
        .equ S_HARD, 60
        ! offsets in the extension block
        .equ X_X1, 0
        .equ X_X2, 4
        .equ X_SPC, 8
        .equ X_SSR, 12
        .equ X_SGR, 16
        .equ X_SEEN1, 20
        .equ X_SEEN2, 24
        .equ X_EXC, 28
        .equ X_CHAIN, 32
        .equ X_WAIT, 36
        .equ X_T1, 40
        .equ X_T2, 44
        .equ X_C1, 48
        .equ X_C2, 52
        .equ X_K1, 56                   ! what a filtered interrupt costs by itself, from the host
        .equ X_K2, 60
        ! state bits
        .equ ST_STOPPED, 1
        .equ ST_FILTER, 2
        .equ ST_FULL, 8
        .equ ST_CALLS, 16
        .equ ST_AUTO, 32
        .equ ST_LIVE, 64
        ! bits of a special site's flags
        .equ SP_START, 1
        .equ SP_STOP, 2
        .equ SP_TARGET, 8
        .equ SP_CHECK, 16
        .equ SP_FILTER, 32
        ! records of six words: first word kind << 16
        .equ K_WIDE, 0xFF00
        .equ K_TARGET, 0xFF01
        .equ K_INTERRUPT, 0xFF02
        .equ K_EXCEPTION, 0xFF03
        .equ K_RTE, 0xFF04
        .equ K_START, 0xFF05
        .equ K_STOP, 0xFF06
        .equ K_TIME, 0xFF07
        .equ K_ROM, 0xFF08
        .equ NSLOTS, 32

! Saves R0-R4 and reads the counters into R2 and R3.
        .macro  ENTER lsave, lpmc
        mov.l   \lsave,r15
        mov.l   r1,@(S_R1,r15)
        mov.l   \lpmc,r1
        mov.l   r2,@(S_R2,r15)
        mov.l   @(8,r1),r2
        mov.l   r3,@(S_R3,r15)
        mov.l   @(16,r1),r3
        mov.l   r0,@(S_R0,r15)
        mov.l   r4,@(S_R4,r15)
        .endm

! What the site does, done: SPC = stub (R1, shifted right by one), PR for calls (odd numbers, R4).
        .macro  GO
        shll    r1
        mov     r4,r0
        tst     #1,r0
        bt      9f
        stc     spc,r0
        add     #2,r0
        lds     r0,pr
9:      ldc     r1,spc
        .endm

! R2, R3: counters to deltas. Clobbers R0.
        .macro  DELTA
        mov.l   @(S_LAST1,r15),r0
        sub     r0,r2
        mov.l   @(S_LAST2,r15),r0
        sub     r0,r3
        .endm

trace_base:
        .long   0x50505452              ! 'PPTR': what a later attach looks for
        .long   1                       ! layout version
        .space  24                      ! the host's, see agent.h
        .balign 32
save:   .space  64
        .balign 32
ext:    .space  64
        .org    0x100
        ENTER   l_save, l_pmc
        stc     spc,r0
        mov.l   l_text,r4
        mov.l   l_size,r1
        sub     r4,r0
        mov.l   l_table,r4
        cmp/hs  r1,r0
        bt      foreign_far
lookup: mov.w   @(r0,r4),r4             ! site number, below 0x8000; 0: none
        mov.l   l_sites,r1
        mov     r4,r0
        shll2   r0
        mov.l   @(r0,r1),r1             ! stub, or special | 1
        mov.l   @(S_STATE,r15),r0
        shlr    r1
        bt      special_far
        tst     r0,r0
        bf      odd
record: GO
        mov.l   @(S_LAST1,r15),r0
        mov.l   @(S_LAST2,r15),r1
        sub     r0,r2
        mov     #16,r0
        sub     r1,r3
        shll16  r0
        mov     #16,r1
        cmp/hs  r0,r2
        shll8   r1
        bt      wide
        cmp/hs  r1,r3
        stc     sgr,r0
        bt      wide
        mov.l   r0,@(S_SP,r15)
        shll8   r2
        mov     r0,r1
        shll2   r2
        shlr16  r1
        shll2   r2
        shlr2   r1
        or      r3,r2
        mov.l   @(S_SPHI,r15),r3
        shlr2   r0
        shll16  r4
        cmp/eq  r1,r3
        extu.w  r0,r0
        mov.l   @(S_WPTR,r15),r1
        bf      newsp
        or      r4,r0
        mov.l   @(S_LIMIT,r15),r3
        mov.l   r0,@r1
        mov.l   r2,@(4,r1)
        add     #8,r1
        cmp/hs  r3,r1
        mov.l   r1,@(S_WPTR,r15)
        bt      full_far
exit:   mov.l   l_pmc,r1
        mov.l   @(S_R4,r15),r4
        mov.l   @(S_R0,r15),r0
        mov.l   @(8,r1),r2
        mov.l   @(16,r1),r3
        mov.l   r2,@(S_LAST1,r15)
        mov.l   @(S_R2,r15),r2
        mov.l   r3,@(S_LAST2,r15)
        mov.l   @(S_R3,r15),r3
        mov.l   @(S_R1,r15),r1
        mov.l   @(S_SP,r15),r15
        rte
        nop

foreign_far:
        bra     foreign
        nop
special_far:
        bra     special
        nop
full_far:
        bra     full
        nop
        .balign 4
l_save: .long   save
l_pmc:  .long   0xFF100000
l_text: .long   0                       ! start of the table's range, as the program is linked, + 2
l_size: .long   0
l_table: .long  0
l_sites: .long  0

! The state is not plain "recording".
odd:    tst     #ST_STOPPED + ST_FILTER,r0
        bf      quiet
        tst     #ST_CALLS,r0
        bt      odd2
        mov.l   r5,@(S_R5,r15)
        mova    odd1,r0
        bra     calls
        mov     r0,r5
        .balign 4
odd1:   bt/s    quiet                   ! profiling is switched off by the program
        mov.l   @(S_R5,r15),r5
odd2:   mov.l   @(S_STATE,r15),r0
        tst     #ST_FULL,r0
        bt      record_far
        mov.l   @(S_LOST,r15),r0        ! live policy, ring full: counted, not recorded
        add     #1,r0
        mov.l   r0,@(S_LOST,r15)
        DELTA
        mov.l   r2,@(S_PEND1,r15)
        mov.l   r3,@(S_PEND2,r15)
        GO
! Leaves like exit, but what was pending for the next record stays pending.
exit_pending:
        mov.l   l_pmc2,r1
        mov.l   @(S_R4,r15),r4
        mov.l   @(S_PEND1,r15),r0
        mov.l   @(8,r1),r2
        mov.l   @(16,r1),r3
        sub     r0,r2
        mov.l   @(S_PEND2,r15),r0
        mov.l   r2,@(S_LAST1,r15)
        sub     r0,r3
        mov.l   r3,@(S_LAST2,r15)
leave:  mov.l   @(S_R3,r15),r3
        mov.l   @(S_R2,r15),r2
        mov.l   @(S_R1,r15),r1
        mov.l   @(S_R0,r15),r0
        stc     sgr,r15
        rte
        nop
record_far:
        bra     record
        nop

! Not recording: only do what the site did.
quiet:  GO
        bra     leave
        mov.l   @(S_R4,r15),r4

! Deltas too big for the short record, or another 256 KB window of stack.
newsp:  mov     r2,r0                   ! unpack: C1 << 12 | C2
        shlr8   r2
        mov     #16,r3
        shlr2   r2
        shll8   r3
        shlr2   r2
        add     #-1,r3
        and     r0,r3
        shlr16  r4
wide:   mov.l   l_kwide,r0
        or      r0,r4
        mov.l   r5,@(S_R5,r15)
        mova    slow_done,r0
        bra     emit
        mov     r0,r5

! After a slow record: R5 back, ring full?
        .balign 4
slow_done:
        mov.l   @(S_WPTR,r15),r1
        mov.l   @(S_R5,r15),r5
        mov.l   @(S_LIMIT,r15),r0
        cmp/hs  r0,r1
        bf      exit_far
        bra     full
        nop
exit_far:
        stc     sgr,r0
        bra     exit
        mov.l   r0,@(S_SP,r15)

! emit: one six-word record. R2, R3 deltas; R4 first word; x1, x2 in the extension block; R5 return address.
! Clobbers R0, R1, R4. A record that no longer fits is counted as lost.
emit:   mov.l   @(S_WPTR,r15),r1
        mov.l   @(S_HARD,r15),r0
        cmp/hs  r0,r1
        bt      1f
        mov.l   r4,@r1
        stc     sgr,r0
        mov.l   r2,@(4,r1)
        mov.l   r3,@(8,r1)
        mov.l   r0,@(12,r1)
        shlr16  r0
        shlr2   r0
        mov.l   r0,@(S_SPHI,r15)
        mov.l   l_ext,r0
        mov.l   @(X_X1,r0),r4
        mov.l   r4,@(16,r1)
        mov.l   @(X_X2,r0),r4
        mov.l   r4,@(20,r1)
        add     #24,r1
        jmp     @r5
        mov.l   r1,@(S_WPTR,r15)
1:      mov.l   @(S_LOST,r15),r0
        add     #1,r0
        jmp     @r5
        mov.l   r0,@(S_LOST,r15)

! calls: profile-off and profile-on calls made by the program. What it excluded since the last look is taken
! out of the running deltas. R5 return address; T=1 if profiling is off now. Clobbers R0.
calls:  mov.l   l_ext,r0
        mov.l   r1,@(X_T1,r0)
        mov.l   r4,@(X_T2,r0)
        mov     r0,r1
        mov.l   calls_struct,r4
        mov.l   @(16,r4),r0             ! excluded C1 so far
        mov.l   r2,@(X_C1,r1)
        mov.l   @(X_SEEN1,r1),r2
        mov.l   r0,@(X_SEEN1,r1)
        sub     r2,r0
        mov.l   @(S_LAST1,r15),r2
        add     r2,r0
        mov.l   r0,@(S_LAST1,r15)
        mov.l   @(20,r4),r0
        mov.l   @(X_SEEN2,r1),r2
        mov.l   r0,@(X_SEEN2,r1)
        sub     r2,r0
        mov.l   @(S_LAST2,r15),r2
        add     r2,r0
        mov.l   r0,@(S_LAST2,r15)
        mov.l   @(4,r4),r0              ! depth
        mov     #1,r2
        cmp/ge  r2,r0
        mov.l   @(X_C1,r1),r2
        mov.l   @(X_T2,r1),r4
        jmp     @r5
        mov.l   @(X_T1,r1),r1
        .balign 4
l_ext:  .long   ext
l_pmc2: .long   0xFF100000
l_kwide: .long  K_WIDE << 16
calls_struct: .long 0

        .org    0x400
        ENTER   l_save4, l_pmc4
        mov     #4,r4
        bra     exception
        shll8   r4

! The ring is full. Lossless: tell the host and wait in the kernel until it has read the ring; if nobody
! answers, drop from then on. Live: drop at once.
full:   mov.l   @(S_STATE,r15),r0
        tst     #ST_LIVE,r0
        bf      set_full
        mov.l   l_sddr,r1
        mov.l   l_ring,r2
        mov.l   l_ext4,r3
        mov.l   @(X_WAIT,r3),r3
        mov.l   r2,@r1
1:      mov.l   @r1,r0
        cmp/eq  r2,r0
        bf      drain
        dt      r3
        bf      1b
        mov     #ST_LIVE,r0
        mov.l   @(S_STATE,r15),r1
        or      r1,r0
set_full:
        or      #ST_FULL,r0
        mov.l   r0,@(S_STATE,r15)
        stc     sgr,r0
        bra     exit
        mov.l   r0,@(S_SP,r15)

! Into the debug kernel as if halted at drain_ret with BL=1; back from there, SPC, SSR and SGR are ours again.
drain:  mov.l   l_ext4,r1
        stc     spc,r0
        mov.l   r0,@(X_SPC,r1)
        stc     ssr,r0
        mov.l   r0,@(X_SSR,r1)
        stc     sgr,r0
        mov.l   r0,@(X_SGR,r1)
        mova    drain_ret,r0
        ldc     r0,spc
        stc     sr,r0
        ldc     r0,ssr
        mov.l   l_kernel,r15
        jmp     @r15
        mov     #4,r0
        .balign 4
drain_ret:
        mov.l   l_save4,r15
        mov.l   l_ext4,r1
        mov.l   @(X_SPC,r1),r0
        ldc     r0,spc
        mov.l   @(X_SSR,r1),r0
        ldc     r0,ssr
        mov.l   @(X_SGR,r1),r0
        bra     exit
        mov.l   r0,@(S_SP,r15)
        .balign 4
l_save4: .long  save
l_pmc4: .long   0xFF100000
l_ext4: .long   ext
l_sddr: .long   0xFFF00008
l_ring: .long   0x52494E47              ! 'RING'
l_kernel: .long 0                       ! the kernel's debug_entry

! No site. An RTE slot of ours, a break set to catch the end of a handler, or the program's exception.
foreign:
        stc     spc,r0
        mov.l   l_mask5,r1
        and     r1,r0
        mov.l   l_slots,r4
        and     r1,r4
        sub     r4,r0
        add     #-2,r0
        mov     #NSLOTS,r1
        shlr2   r0                      ! 16 bytes of code, 4 of address
        shll2   r1
        cmp/hs  r1,r0
        bt      not_slot_far
        mov.l   l_slot_spc,r1
        add     r1,r0
        mov.l   @r0,r4
        mov     #0,r1
        mov.l   r1,@r0                  ! free again
        ldc     r4,spc
! R4: where the program goes on after an interrupt or exception.
ended:  mov.l   l_ext5,r1
        mov.l   r4,@(X_X1,r1)
        mov.l   @(S_STATE,r15),r0
        tst     #ST_FILTER,r0
        bf      unfilter
        tst     #ST_STOPPED,r0
        bf      leave_far
        mov.l   r5,@(S_R5,r15)
        DELTA
        mov.l   l_krte,r4
        mova    slow_done5,r0
        bra     emit
        mov     r0,r5
! Perhaps a site executed at another alias of its address.
not_slot_far:
        stc     spc,r0
        mov.l   l_mask5,r1
        and     r1,r0
        mov.l   l_text5,r4
        mov.l   @r4,r4
        and     r1,r4
        sub     r4,r0
        mov.l   l_text5,r4
        mov.l   @(4,r4),r1
        cmp/hs  r1,r0
        bt      not_slot
        mov.l   @(8,r4),r4
        mov     r0,r1
        mov.w   @(r0,r4),r0
        tst     r0,r0
        bt      not_slot
        bra     lookup
        mov     r1,r0
unfilter:
        and     #0xFD,r0                ! all but ST_FILTER
        mov.l   r0,@(S_STATE,r15)
        mov.l   @(X_K1,r1),r0
        mov.l   @(S_PEND1,r15),r4
        sub     r0,r4
        mov.l   r4,@(S_PEND1,r15)
        mov.l   @(X_K2,r1),r0
        mov.l   @(S_PEND2,r15),r4
        sub     r0,r4
        bra     exit_pending
        mov.l   r4,@(S_PEND2,r15)
leave_far:
        bra     leave
        mov.l   @(S_R4,r15),r4
        .balign 4
slow_done5:
        bra     slow_done
        nop

not_slot:
        mov.l   l_expevt5,r1
        mov.l   @r1,r0
        shlr2   r0
        shlr2   r0
        cmp/eq  #0x1E,r0
        bt      user_break_far
        cmp/eq  #0x16,r0
        bf/s    exception_far
        mov     #1,r4
        add     #-4,r1
        mov.l   @r1,r0                  ! TRA is imm << 2
        mov     #-128,r1
        extu.b  r1,r1
        cmp/eq  r0,r1
        bf      exception_far
        bra     pass1                   ! TRAPA #0x20: a breakpoint of the debugger
        nop
exception_far:
        bra     exception
        nop
user_break_far:
        bra     user_break
        nop
        .balign 4
l_mask5: .long  0x1FFFFFFF
l_text5: .long  l_text
l_slots: .long  slots
l_slot_spc: .long slot_spc
l_ext5: .long   ext
l_expevt5: .long 0xFF000024
l_krte: .long   K_RTE << 16

        .org    0x600
        ENTER   l_save6, l_pmc6
        mov.l   l_intevt,r1
        mov.l   @r1,r0
        mov     #6,r1
        shll8   r1
        cmp/eq  r0,r1
        bt      hudi
        mov.l   l_rom6,r4               ! in ROM: what runs next is no longer known
        mov     #0,r1
        mov.l   r1,@r4
        mov.l   l_ext6,r1
        mov.l   r0,@(X_X2,r1)
        mov.l   l_next6,r4
        mov.l   @(S_STATE,r15),r0
        tst     #ST_STOPPED + ST_FILTER,r0
        bf      pass
        mov.l   r4,@(X_CHAIN,r1)
        stc     spc,r0                  ! interrupted again before the slot's trap was taken?
        mov.l   l_mask6,r4
        mov.l   l_slots6,r1
        and     r4,r0
        and     r4,r1
        sub     r1,r0
        mov     #NSLOTS / 2,r4
        shll2   r4
        shll2   r4
        shll    r4
        cmp/hs  r4,r0
        bf      again
        mov.l   l_slot_spc6,r1          ! a free slot: its return address is 0
        mov     #NSLOTS,r4
1:      mov.l   @r1+,r0
        tst     r0,r0
        bt      2f
        dt      r4
        bf      1b
        mov.l   l_ext6,r1               ! none: its RTE will give no event
        stc     spc,r0
        bra     record6
        mov.l   r0,@(X_X1,r1)
2:      stc     spc,r0
        add     #-4,r1
        mov.l   r0,@r1
        mov.l   l_ext6,r4
        mov.l   r0,@(X_X1,r4)
        mov.l   l_slot_spc6,r4
        sub     r4,r1
        mov.l   l_slots6,r4
        shll2   r1
        add     r4,r1
        cmp/pz  r0                      ! interrupted in P0: the slot's alias there
        bf      3f
        mov.l   l_mask6,r4
        and     r4,r1
3:      ldc     r1,spc
        mov.l   l_ext6,r1
        mov.l   @(X_X2,r1),r0
        mov.l   l_traced,r4
        or      r4,r0
        mov.l   r0,@(X_X2,r1)
        mov.l   @(S_STATE,r15),r0
        tst     #ST_AUTO,r0
        bf      filter
record6:
        mov.l   l_kint,r4
        bra     record_pass
        nop
! Then the same slot serves once more; the record stands for an RTE and an interrupt.
again:  shlr2   r0
        mov.l   l_slot_spc6,r4
        mov.l   l_ext6,r1
        add     r4,r0
        mov.l   @r0,r0
        mov.l   r0,@(X_X1,r1)
        mov.l   @(X_X2,r1),r0
        mov.l   l_again,r4
        or      r4,r0
        bra     record6
        mov.l   r0,@(X_X2,r1)
! The interrupt filter: time stands still until the handler's RTE.
filter: or      #ST_FILTER,r0
        mov.l   r0,@(S_STATE,r15)
        DELTA
        mov.l   r2,@(S_PEND1,r15)
        mov.l   r3,@(S_PEND2,r15)
        bra     pass
        mov.l   @(X_CHAIN,r1),r4

! A record (R4 first word), then on to X_CHAIN.
record_pass:
        mov.l   r5,@(S_R5,r15)
        DELTA
        mova    passed,r0
        bra     emit_far
        mov     r0,r5
emit_far:
        bra     emit
        nop
        .balign 4
passed: mov.l   @(S_R5,r15),r5
        mov.l   l_ext6,r1
        mov.l   @(X_CHAIN,r1),r4
        mov.l   l_pmc6,r1
        mov.l   @(8,r1),r2
        mov.l   @(16,r1),r3
        mov.l   r2,@(S_LAST1,r15)
        mov.l   r3,@(S_LAST2,r15)
! Everything as it was, on to the next vector (R4).
pass:   mov.l   @(S_R3,r15),r3
        mov.l   @(S_R2,r15),r2
        mov.l   @(S_R1,r15),r1
        mov.l   r4,@(S_R1,r15)
        mov.l   @(S_R4,r15),r4
        mov.l   @(S_R0,r15),r0
        mov.l   @(S_R1,r15),r15
        jmp     @r15
        stc     sgr,r15

! H-UDI interrupt: the host wants the ring (its word in SDDR says so), or a halt.
hudi:   mov.l   l_sddr6,r1
        mov.l   @r1,r0
        mov.l   l_drain,r1
        cmp/eq  r0,r1
        bt      1f
        mov.l   l_next6,r4
        bra     pass
        nop
1:      mov.l   @(S_STATE,r15),r0
        tst     #ST_STOPPED + ST_FILTER,r0
        bf      2f
        mov.l   r5,@(S_R5,r15)
        DELTA
        mov.l   l_ktime,r4
        mova    timed,r0
        bra     emit_far
        mov     r0,r5
2:      bra     drain
        nop
        .balign 4
timed:  bra     drain
        mov.l   @(S_R5,r15),r5

exception:                              ! R4: 1 general, 0x400 TLB miss
        mov     r4,r1
        shlr8   r1
        mov.l   l_next4,r4
        tst     r1,r1
        bf      1f
        mov.l   l_next1,r4
1:      mov.l   l_rom6,r1
        mov     #0,r0
        mov.l   r0,@r1
        mov.l   l_ext6,r1
        mov.l   r4,@(X_CHAIN,r1)
        mov.l   @(S_STATE,r15),r0
        tst     #ST_STOPPED + ST_FILTER,r0
        bf      pass
        mov.l   l_expevt6,r4
        mov.l   @r4,r4
        stc     spc,r0
        mov.l   r0,@(X_X1,r1)
        mov.l   r4,@(X_X2,r1)
        mov.l   l_bbrb,r4               ! channel B free or ours: break where the handler will return to
        mov.l   @(X_EXC,r1),r0
        tst     r0,r0
        bf      3f
        mov.w   @r4,r0
        tst     r0,r0
        bf      2f
3:
        mov.l   @(X_X1,r1),r0
        mov.l   r0,@(X_EXC,r1)
        add     #-8,r4
        mov.l   r0,@r4                  ! BARB
        mov     #4,r0
        mov.b   r0,@(4,r4)              ! BAMRB: any ASID
        mov     #0x14,r0
        mov.w   r0,@(8,r4)              ! BBRB: instruction fetch
        mov.l   @(X_X2,r1),r0
        mov.l   l_traced,r4
        or      r4,r0
        mov.l   r0,@(X_X2,r1)
2:      mov.l   l_kexc,r4
        bra     record_pass
        nop
pass1:  mov.l   l_next1,r4
        bra     pass
        nop
! User break: ours if channel B matched at the place we set it to.
break_b:
        mov.l   l_ext6,r1
        mov.l   @(X_EXC,r1),r4
        stc     spc,r0
        cmp/eq  r0,r4
        bf      pass1
        mov.l   l_bbrb,r1
        mov.w   @(12,r1),r0             ! BRCR
        mov.l   l_cmfb,r1
        tst     r1,r0
        bt      pass1                   ! not channel B: the debugger's
        not     r1,r1
        and     r1,r0
        mov.l   l_bbrb,r1
        mov.w   r0,@(12,r1)
        mov     #0,r0
        mov.w   r0,@r1
        mov.l   l_ext6,r1
        mov.l   r0,@(X_EXC,r1)
        bra     ended
        nop
        .balign 4
l_save6: .long  save
l_pmc6: .long   0xFF100000
l_ext6: .long   ext
l_intevt: .long 0xFF000028
l_expevt6: .long 0xFF000024
l_next1: .long  0
l_next4: .long  0
l_next6: .long  0
l_slot_spc6: .long slot_spc
l_slots6: .long slots
l_mask6: .long  0x1FFFFFFF
l_traced: .long 0x00010000
l_again: .long  0x00030000
l_kint: .long   K_INTERRUPT << 16
l_kexc: .long   K_EXCEPTION << 16
l_ktime: .long  K_TIME << 16
l_sddr6: .long  0xFFF00008
l_drain: .long  0x44524E21              ! host: the ring, please
l_bbrb: .long   0xFF200014
l_cmfb: .long   0x4000
l_rom6: .long   rom

! Start and stop points, indirect targets, and site number 0 (no site). R1 >> 1: struct of four words: stub,
! flags, site number, last target.
special:
        shll    r1
        tst     r4,r4
        bt      foreign_sp
        mov.l   r5,@(S_R5,r15)
        mov.l   @(4,r1),r5
        mov     r5,r0
        tst     #SP_CHECK,r0
        bt      1f
        mov.l   l_expevt7,r0            ! the instruction behind may fault by itself
        mov.l   @r0,r0
        shlr2   r0
        shlr2   r0
        cmp/eq  #0x16,r0
        bt      1f
        mov.l   @(S_R5,r15),r5
foreign_sp:
        bra     foreign
        nop
1:      mov.l   l_ext7,r0
        mov.l   r1,@(X_CHAIN,r0)
        mov     r5,r0
        tst     #SP_START,r0
        bf      sp_start
sp1:    mov     r5,r0
        tst     #SP_STOP,r0
        bf      sp_stop
sp2:    mov.l   @(S_STATE,r15),r0
        tst     #ST_STOPPED + ST_FILTER,r0
        bf      sp_quiet
        mov     r5,r0
        tst     #SP_FILTER,r0
        bf      sp_filter
        tst     #SP_TARGET,r0
        bf      sp_target
! on as an ordinary site
sp3:    mov.l   @(S_R5,r15),r5
        mov.l   l_ext7,r1
        mov.l   @(X_CHAIN,r1),r1
        mov.l   @r1,r1
        mov.l   @(S_STATE,r15),r0
        shlr    r1
        tst     r0,r0
        bf      2f
        bra     record
        nop
2:      bra     odd
        nop
sp_quiet:
        mov.l   @(S_R5,r15),r5
        mov.l   @r1,r1
        bra     quiet
        shlr    r1

! First instruction of a routine to be kept out of the trace: time stands still until it returns, which it does
! to an RTE slot. R1 struct.
sp_filter:
        mov.l   l_slot_spc7,r4
        mov     #NSLOTS,r5
1:      mov.l   @r4+,r0
        tst     r0,r0
        bt      2f
        dt      r5
        bf      1b
        bra     sp3                     ! no slot: not filtered this time
        mov.l   @(8,r1),r4
2:      sts     pr,r0
        add     #-4,r4
        mov.l   r0,@r4
        mov.l   l_slot_spc7,r5
        sub     r5,r4
        mov.l   l_slots7,r5
        shll2   r4
        add     r5,r4
        cmp/pz  r0
        bf      3f
        mov.l   l_mask7,r5
        and     r5,r4
3:      lds     r4,pr
        mov.l   @(S_STATE,r15),r0
        or      #ST_FILTER,r0
        mov.l   r0,@(S_STATE,r15)
        DELTA
        mov.l   r2,@(S_PEND1,r15)
        mov.l   r3,@(S_PEND2,r15)
        mov.l   @r1,r1
        ldc     r1,spc
        bra     exit_pending
        mov.l   @(S_R5,r15),r5

sp_start:
        mov.l   @(S_STATE,r15),r0
        tst     #ST_STOPPED,r0
        bt      sp1
        and     #0xFE,r0                ! all but ST_STOPPED
        mov.l   r0,@(S_STATE,r15)
        mov.l   r2,@(S_LAST1,r15)
        mov.l   r3,@(S_LAST2,r15)
        mov.l   l_kstart,r4
        mova    started,r0
        bra     point_record
        nop
sp_stop:
        mov.l   @(S_STATE,r15),r0
        tst     #ST_STOPPED,r0
        bf      sp2
        or      #ST_STOPPED,r0
        mov.l   r0,@(S_STATE,r15)
        mov.l   l_kstop,r4
        mova    stopped,r0
! START or STOP at SPC - 2; R0: where to go on.
point_record:
        mov     r0,r5
        stc     spc,r0
        add     #-2,r0
        mov.l   l_ext7,r1
        mov.l   r0,@(X_X1,r1)
        mov.l   r2,@(X_C1,r1)
        mov.l   r3,@(X_C2,r1)
        DELTA
        bra     emit_far7
        nop
emit_far7:
        bra     emit
        nop
        .balign 4
started:
        mov.l   l_ext7,r0
        mov.l   @(X_C1,r0),r2
        mov.l   @(X_C2,r0),r3
        mov.l   @(X_CHAIN,r0),r1
        mov.l   r2,@(S_LAST1,r15)
        mov.l   r3,@(S_LAST2,r15)
        mov.l   @(4,r1),r5
        bra     sp1
        mov.l   @(8,r1),r4
        .balign 4
stopped:
        mov.l   l_ext7,r0
        mov.l   @(X_C1,r0),r2
        mov.l   @(X_C2,r0),r3
        mov.l   @(X_CHAIN,r0),r1
        mov.l   r2,@(S_LAST1,r15)
        mov.l   r3,@(S_LAST2,r15)
        mov.l   @(4,r1),r5
        bra     sp2
        mov.l   @(8,r1),r4

! An indirect call or jump: R1 struct, R5 flags with the register in bits 8-11. A target other than the last
! one goes into a record of its own kind.
sp_target:
        mov.l   l_ext7,r4
        mov     r5,r0
        shlr8   r0
        and     #15,r0
        add     r0,r0
        add     r0,r0
        braf    r0
        nop
        bra     tgt_bank
        stc     r0_bank,r0
        bra     tgt_bank
        stc     r1_bank,r0
        bra     tgt_bank
        stc     r2_bank,r0
        bra     tgt_bank
        stc     r3_bank,r0
        bra     tgt_bank
        stc     r4_bank,r0
        bra     tgt_bank
        stc     r5_bank,r0
        bra     tgt_bank
        stc     r6_bank,r0
        bra     tgt_bank
        stc     r7_bank,r0
        bra     tgt_have
        mov     r8,r0
        bra     tgt_have
        mov     r9,r0
        bra     tgt_have
        mov     r10,r0
        bra     tgt_have
        mov     r11,r0
        bra     tgt_have
        mov     r12,r0
        bra     tgt_have
        mov     r13,r0
        bra     tgt_have
        mov     r14,r0
        bra     tgt_have
        stc     sgr,r0
! R0-R7: of the bank the program ran on. On bank 1 they are the saved ones, R6 and R7 untouched.
tgt_bank:
        mov.l   r0,@(X_T1,r4)
        stc     ssr,r0
        shll2   r0
        shll    r0                      ! MD was shifted out before; T = RB
        bf/s    tgt_have
        mov.l   @(X_T1,r4),r0
        mov     r5,r0
        shlr8   r0
        and     #15,r0
        mov.l   r6,@(X_T1,r4)
        cmp/eq  #6,r0
        bt/s    tgt_have
        mov.l   @(X_T1,r4),r0
        mov     r5,r0
        shlr8   r0
        and     #15,r0
        mov.l   r7,@(X_T1,r4)
        cmp/eq  #7,r0
        bt/s    tgt_have
        mov.l   @(X_T1,r4),r0
        mov     r5,r0
        shlr8   r0
        and     #15,r0
        cmp/eq  #5,r0
        bt/s    tgt_have
        mov.l   @(S_R5,r15),r0
        mov     r5,r0
        shlr8   r0
        and     #15,r0
        shll2   r0
        add     r15,r0
        mov.l   @r0,r0                  ! R0-R4 lie in order
tgt_have:
        shlr16  r5                      ! BSRF and BRAF add their own address + 4
        tst     r5,r5
        bt      1f
        stc     spc,r5
        add     r5,r0
        add     #2,r0
1:      mov.l   @(12,r1),r5
        cmp/eq  r0,r5
        mov.l   @(8,r1),r4
        bt      sp3_far
        mov.l   l_ext7,r5
        mov.l   r0,@(X_X1,r5)
        mov.l   @(S_STATE,r15),r0
        tst     #ST_FULL,r0
        bf      sp3_far                 ! will be counted as lost
        tst     #ST_CALLS,r0
        bt      2f
        mova    tgt_calls,r0
        bra     calls_far
        mov     r0,r5
calls_far:
        bra     calls
        nop
        .balign 4
tgt_calls:
        bt      sp3_far
2:      mov.l   l_ext7,r5
        mov.l   @(X_X1,r5),r0
        mov.l   r0,@(12,r1)
        mov.l   @r1,r1
        shlr    r1
        GO
        mov.l   l_ktarget,r5
        or      r5,r4
        DELTA
        mova    slow_done7,r0
        bra     emit_far7
        mov     r0,r5
sp3_far:
        bra     sp3
        nop
        .balign 4
slow_done7:
        bra     slow_done
        nop
l_ext7: .long   ext
l_slot_spc7: .long slot_spc
l_slots7: .long slots
l_mask7: .long  0x1FFFFFFF
l_expevt7: .long 0xFF000024
l_kstart: .long K_START << 16
l_kstop: .long  K_STOP << 16
l_ktarget: .long K_TARGET << 16

        .include "step.S"

! Return addresses of interrupted code lead here; the trap finds the real one in slot_spc. There is room
! for a far jump, which the host leaves behind in slots that are still waiting when it disarms.
        .balign 32
slots:  .rept   NSLOTS
        trapa   #0x21
        nop
        .space  12
        .endr
slot_spc: .space 4 * NSLOTS

! Calibration: R4 rounds of a call and a return. R9, R10 the counters before, R11, R12 after them; ends in a
! breakpoint.
        .balign 32
calib:  mov.l   l_pmc8,r8
        mova    calib_f,r0
        mov     r0,r1
        mov.l   @(8,r8),r9
        mov.l   @(16,r8),r10
        .balign 4
calib_call:
        jsr     @r1
        nop
        dt      r4
        bf      calib_call
        mov.l   @(8,r8),r11
        mov.l   @(16,r8),r12
        trapa   #0x20
        nop
        .balign 4
calib_f:
        rts
        nop
        .balign 4
l_pmc8: .long   0xFF100000
        .balign 32
trace_end:
