! The trace agent: takes the exception vectors while a profile is armed, turns TRAPA patches, interrupts and
! exceptions into records in a ring, and passes everything that is not its own on to the vectors behind it
! (the debug kernel's, which passes it on to the program's at DBR).
!
! Records, blocks and states are described in targets/sh4/agent/trace_blob.h; the numbers below are shared
! with it. Every entry finds the program's R15 in SGR, so R15 is free; all else is saved before use. R0-R7 may
! be the program's live ones: it may run on bank 1, or keep values there, so no register survives an exit.
!
! What runs before the first read of the counters at entry and after the last one at exit is counted as the
! program's: the residue, which the host measures with `calib` and subtracts. One line of the O-cache (the first
! of the save block) is touched before that read, two more and one of the table in all.

        .text
        .global trace_base, save, cold, ext, rom, slots, slot_spc, calib, calib_call, calib_f, trace_end
        .global calib_out, calib_in
        .global l_size, l_size5, l_specials, l_kernel, l_next1, l_next4, l_next6, calls_struct, meant

        ! offsets in the save block (R15): two cache lines, all a plain event needs
        .equ S_SELF, 0
        .equ S_PMC, 4
        .equ S_R0, 8
        .equ S_R1, 12
        .equ S_R2, 16
        .equ S_R3, 20
        .equ S_LAST1, 24
        .equ S_LAST2, 28
        .equ S_TEXT, 32                 ! SPC of a trap at halfword 0 of the table
        .equ S_SIZE, 36                 ! bytes of code in the table, those a short record can name; 0: every trap takes the slow path
        .equ S_BASE, 40                 ! table of halfwords; return addresses end where it starts, stubs before them
        .equ S_SPMASK, 44
        .equ S_SPBASE, 48
        .equ S_LIMIT, 52
        .equ S_WPTR, 56
        .equ S_SP, 60
        ! offsets in the cold block (R4 on all slow paths)
        .equ C_R4, 0
        .equ C_R5, 4
        .equ C_STATE, 8
        .equ C_LOST, 12
        .equ C_SIZE, 16                 ! what S_SIZE is while the state is plain
        .equ C_HARD, 20
        .equ C_PEND1, 24
        .equ C_PEND2, 28
        .equ C_OFF, 32
        .equ C_CHAIN, 36
        .equ C_X1, 40
        .equ C_X2, 44
        .equ C_EXC, 48
        .equ C_K1, 52                   ! what a filtered interrupt costs by itself, from the host
        .equ C_K2, 56
        .equ C_T, 60
        ! offsets in the extension block
        .equ X_SPC, 0
        .equ X_SSR, 4
        .equ X_SGR, 8
        .equ X_WAIT, 12
        .equ X_SEEN1, 16
        .equ X_SEEN2, 20
        .equ X_T, 24
        .equ X_FPC, 28                  ! where the filter began: interrupted address and stack pointer
        .equ X_FSP, 32
        .equ X_FSSR, 36
        .equ X_BEGUN, 40                ! tasks that a filtered handler began
        .equ X_D1, 44
        .equ X_D2, 48
        .equ X_VBR, 52                  ! the program's, as the host was told
        .equ X_S1, 56
        .equ X_S2, 60
        .equ R_INTEVT, 20               ! in the block `rom`, whose line an interrupt needs anyway: INTEVT of the program's last one
        ! state bits
        .equ ST_STOPPED, 1
        .equ ST_FILTER, 2
        .equ ST_TRAP, 4                 ! the program is, or may be, in a handler of its own
        .equ ST_FULL, 8
        .equ ST_CALLS, 16
        .equ ST_AUTO, 32
        .equ ST_LIVE, 64
        .equ ST_ODD, ST_STOPPED + ST_FILTER + ST_TRAP + ST_FULL + ST_CALLS
        ! bits of a special site's flags
        .equ SP_START, 1
        .equ SP_STOP, 2
        .equ SP_STC, 4
        .equ SP_TARGET, 8
        .equ SP_CHECK, 16
        .equ SP_FILTER, 32
        .equ SP_SR, 64
        .equ SP_POP, 128
        ! words of the block `meant`
        .equ M_SR, 0
        .equ M_TRA, 4
        .equ M_EXPEVT, 8
        .equ M_SP, 12
        .equ M_OPEN, 16
        .equ M_OVER, 20
        .equ M_BACK, 24
        .equ M_OUTER, 32
        ! records of six words: first word LONG + kind
        .equ LONG, 0x3FFF0
        .equ SHORT_PAGES, 7             ! code, in 64 KB, whose numbers a short record holds
        .equ K_WIDE, 0
        .equ K_TARGET, 1
        .equ K_INTERRUPT, 2
        .equ K_EXCEPTION, 3
        .equ K_RTE, 4
        .equ K_START, 5
        .equ K_STOP, 6
        .equ K_TIME, 7
        .equ K_ROM, 8
        .equ K_RETURN, 9
        .equ K_SWITCH, 10
        .equ K_VBR, 11
        .equ NSLOTS, 32

! Saves R0-R3; the counters less what they were at the last exit in R2 and R3.
        .macro  ENTER lsave
        mov.l   \lsave,r15
        mov.l   r0,@(S_R0,r15)
        mov.l   @(S_PMC,r15),r0
        mov.l   r2,@(S_R2,r15)
        mov.l   @(8,r0),r2
        mov.l   r3,@(S_R3,r15)
        mov.l   @(16,r0),r3
        mov.l   r1,@(S_R1,r15)
        mov.l   @(S_LAST1,r15),r1
        mov.l   @(S_LAST2,r15),r0
        sub     r1,r2
        .endm

! R4 becomes the cold block. Clobbers R1.
        .macro  COLD lcold
        mov.l   \lcold,r1
        mov.l   r4,@(C_R4,r1)
        mov     r1,r4
        .endm

! What the site does, done: SPC = stub, PR for calls. R1 stub + flags: 1 call, 2 return, 3 return that pops in its
! slot. Clobbers R0, R1.
        .macro  GO
        mov     r1,r0
        and     #3,r0
        cmp/eq  #1,r0
        mov     #-4,r0
        and     r1,r0
        bf      9f
        stc     spc,r1
        add     #2,r1
        lds     r1,pr
9:      ldc     r0,spc
        .endm

! Return addresses: 256 words before the table, by bits 9-2 of the stack pointer that a call leaves behind its slot.
! R0 stack pointer, any; becomes the word's address. Clobbers R1.
        .macro  RETURN_WORD
        mov     #-4,r1
        and     r1,r0
        shll8   r1
        or      r1,r0
        mov.l   @(S_BASE,r15),r1
        add     r1,r0
        .endm

! PR of a call that is recorded. Clobbers R0, R1.
        .macro  KEEP_PR
        stc     sgr,r0
        RETURN_WORD
        sts     pr,r1
        mov.l   r1,@r0
        .endm

! R0 is the new state: anything but plain recording sends every trap down the slow path. Clobbers R1.
        .macro  SET_STATE
        mov.l   r0,@(C_STATE,r4)
        mov.l   @(C_SIZE,r4),r1
        tst     #ST_ODD,r0
        bt      8f
        mov     #0,r1
8:      mov.l   r1,@(S_SIZE,r15)
        .endm

trace_base:
        .long   0x50505452              ! 'PPTR': what a later attach looks for
        .long   2                       ! layout version
        .space  24                      ! the host's, see trace_blob.h
        .org    0x100
        ENTER   save
        mov.l   @(S_TEXT,r15),r1
        sub     r0,r3
        mov     r2,r0
        or      r3,r0
        shlr16  r0
        tst     r0,r0
        bf      slow
        shll16  r2
        or      r3,r2
        mov.l   @(S_SIZE,r15),r3
        stc     spc,r0
        sub     r1,r0
        mov.l   @(S_BASE,r15),r1
        cmp/hs  r3,r0
        mov     r0,r3
        bt      closed
        mov.w   @(r0,r1),r0             ! stub before BASE, + flags; positive: special; 0: none
        shlr    r3                      ! site number
        cmp/pz  r0
        add     r1,r0
        bt      slow_packed
        tst     #2,r0
        bf      return
        tst     #1,r0
        bt      jump
        stc     spc,r1
        add     #-1,r0
        add     #2,r1
        lds     r1,pr
        ldc     r0,spc
        stc     sgr,r0
        mov.l   r0,@(S_SP,r15)
        RETURN_WORD
        sts     pr,r1
        mov.l   r1,@r0
! R0 stack pointer, R2 packed deltas, R3 number.
short_sp:
        mov.l   @(S_SP,r15),r0
short:  mov.l   @(S_SPBASE,r15),r1
        sub     r1,r0
        mov.l   @(S_SPMASK,r15),r1
        tst     r1,r0
        mov.l   @(S_WPTR,r15),r1
        bf      newsp_far
        shll16  r0
        or      r3,r0
        mov.l   @(S_LIMIT,r15),r3
        mov.l   r0,@r1
        mov.l   r2,@(4,r1)
        add     #8,r1
        cmp/hs  r3,r1
        mov.l   r1,@(S_WPTR,r15)
        bt      full_far
exit:   mov.l   @(S_PMC,r15),r1
        mov.l   @(S_R0,r15),r0
        mov.l   @(8,r1),r2
        mov.l   @(16,r1),r3
        mov.l   @(S_R1,r15),r1
        mov.l   r2,@(S_LAST1,r15)
        mov.l   @(S_R2,r15),r2
        mov.l   r3,@(S_LAST2,r15)
        mov.l   @(S_R3,r15),r3
        mov.l   @(S_SP,r15),r15
        rte
        nop

newsp_far:
        bra     newsp
        nop
jump:   ldc     r0,spc
        stc     sgr,r0
        bra     short
        mov.l   r0,@(S_SP,r15)
! Where a return goes is in no short record: the host knows what was kept here for its stack pointer.
return: tst     #1,r0
        mov     #-4,r1
        and     r1,r0
        ldc     r0,spc
        stc     sgr,r0
        mov.l   r0,@(S_SP,r15)
        bt      1f
        add     #4,r0
1:      and     r1,r0
        shll8   r1
        or      r1,r0
        mov.l   @(S_BASE,r15),r1
        mov.l   @(r0,r1),r1
        sts     pr,r0
        cmp/eq  r0,r1
        bt      short_sp
        COLD    l_cold                  ! somewhere else: its record will say
        mov     r3,r0
        extu.w  r2,r3
        add     r0,r0
        bra     lookup
        shlr16  r2
! Outside the table, or its size is taken for 0: while time stands still a site is only executed.
closed: mov.l   l_cold,r1
        mov.l   @(C_STATE,r1),r0
        nop                             ! as long as the way past the table: what leads into the kernel by either is measured once
        tst     #ST_STOPPED + ST_FILTER,r0
        bt      slow_packed
        tst     #ST_TRAP,r0
        bf      slow_packed
        mov.l   l_size,r2               ! the deltas do not matter
        mov.l   @(S_BASE,r15),r1
        cmp/hs  r2,r3
        mov     r3,r0
        bt      slow_packed
        mov.w   @(r0,r1),r0
        cmp/pz  r0
        add     r1,r0
        bt      slow_packed
        mov     r0,r1
        GO
        mov.l   @(S_R0,r15),r0
        mov.l   @(S_R1,r15),r1
        mov.l   @(S_R2,r15),r2
        mov.l   @(S_R3,r15),r3
        stc     sgr,r15
        rte
        nop
! A trap that is no plain record: deltas beyond 16 bits, no site in the table, or a state that is not plain.
slow_packed:
        extu.w  r2,r3
        shlr16  r2
slow:   COLD    l_cold
        stc     sgr,r0
        mov.l   r0,@(S_SP,r15)
        stc     spc,r0
        mov.l   @(S_TEXT,r15),r1
        sub     r1,r0
        mov.l   l_size,r1
        cmp/hs  r1,r0
        bt      foreign_far
lookup: mov.l   r0,@(C_OFF,r4)
        mov.l   @(S_BASE,r15),r1
        mov.w   @(r0,r1),r0
        tst     r0,r0
        bt      foreign_far
        cmp/pz  r0
        bt      special_far
        add     r0,r1
        mov     r1,r0
        and     #3,r0
        cmp/eq  #3,r0
        movt    r0
        shll2   r0
        bra     site
        mov.l   r0,@(C_X2,r4)
full_far:
        bra     full
        nop
foreign_far:
        bra     foreign
        nop
special_far:
        bra     special
        nop

        .balign 4
l_cold: .long   cold
l_size: .long   0                       ! bytes of code in the table, all of them

        .balign 32
save:   .long   save, 0xFF100000
        .space  36
        .long   0xFFFF0003              ! S_SPMASK: what a short record cannot hold
        .space  16
cold:   .space  64
ext:    .space  64

! emit: one six-word record. R0 kind; R2, R3 deltas; x1, x2 in the cold block; R5 return address.
! Clobbers R0-R3. A record that no longer fits is counted as lost.
emit:   mov.l   @(S_WPTR,r15),r1
        mov.l   r0,@(C_T,r4)
        mov.l   @(C_HARD,r4),r0
        cmp/hs  r0,r1
        bt      1f
        mov.l   l_long,r0
        mov.l   r2,@(4,r1)
        mov.l   @(C_T,r4),r2
        mov.l   r3,@(8,r1)
        or      r2,r0
        mov.l   r0,@r1
        stc     sgr,r0
        mov.l   r0,@(12,r1)
        mov     #-128,r2
        shll8   r2
        add     r2,r0
        mov.l   r0,@(S_SPBASE,r15)
        mov.l   @(C_X1,r4),r0
        mov.l   @(C_X2,r4),r2
        mov.l   r0,@(16,r1)
        mov.l   r2,@(20,r1)
        add     #24,r1
        jmp     @r5
        mov.l   r1,@(S_WPTR,r15)
1:      mov.l   @(C_LOST,r4),r0
        add     #1,r0
        jmp     @r5
        mov.l   r0,@(C_LOST,r4)

! calls: profile-off and profile-on calls made by the program. What it excluded since the last look is taken
! out of the deltas. R5 return address; T=1 if profiling is off now. Clobbers R0, R1.
calls:  mov.l   l_ext,r1
        mov.l   calls_struct,r4
        mov.l   @(16,r4),r0             ! excluded C1 so far
        sub     r0,r2
        mov.l   @(20,r4),r4
        sub     r4,r3
        mov.l   r4,@(X_T,r1)
        mov.l   @(X_SEEN1,r1),r4
        mov.l   r0,@(X_SEEN1,r1)
        add     r4,r2
        mov.l   @(X_SEEN2,r1),r4
        mov.l   @(X_T,r1),r0
        add     r4,r3
        mov.l   r0,@(X_SEEN2,r1)
        mov.l   calls_struct,r4
        mov.l   @(4,r4),r0              ! depth
        mov.l   l_cold2,r4
        jmp     @r5
        cmp/pl  r0
        .balign 4
l_ext:  .long   ext
l_cold2: .long  cold
l_long: .long   LONG
calls_struct: .long 0

        .org    0x400
        ENTER   l_save4
        sub     r0,r3
        COLD    l_cold4
        stc     sgr,r0
        mov.l   r0,@(S_SP,r15)
        mov.l   r5,@(C_R5,r4)
        mov.l   l_next4,r1
        bra     exception
        nop

! The ring is full. Lossless: tell the host and wait in the kernel until it has read the ring; if nobody
! answers, drop from then on. Live: drop at once. R4 and up are the program's.
full:   mov.l   l_cold4,r3
        mov.l   @(C_STATE,r3),r0
        tst     #ST_LIVE,r0
.if SCIF
        bt      drain                   ! whoever is there hears from the kernel
        bra     set_full
        nop
        .space  2 * 11
.else
        bf      set_full
        mov.l   l_sddr,r1
        mov.l   l_ring,r2
        mov.l   l_ext4,r0
        mov.l   @(X_WAIT,r0),r3
        mov.l   r2,@r1
1:      mov.l   @r1,r0
        cmp/eq  r2,r0
        bf      drain
        dt      r3
        bf      1b
        mov.l   l_cold4,r3
        mov.l   @(C_STATE,r3),r0
        or      #ST_LIVE,r0
.endif
set_full:
        or      #ST_FULL,r0
        mov.l   r0,@(C_STATE,r3)
        mov     #0,r0
        bra     exit
        mov.l   r0,@(S_SIZE,r15)

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
        mov.l   @(S_LIMIT,r15),r1
        mov.l   r0,@(S_SP,r15)
        mov.l   @(S_WPTR,r15),r0
        cmp/hs  r1,r0                   ! still full: the kernel has waited for nothing
        bf      1f
        mov.l   l_cold4,r3
        mov.l   @(C_STATE,r3),r0
        bra     set_full
        or      #ST_LIVE,r0
1:      bra     exit
        nop
        .balign 4
l_save4: .long  save
l_cold4: .long  cold
l_ext4: .long   ext
l_next4: .long  0
l_sddr: .long   0xFFF00008
l_ring: .long   0x52494E47              ! 'RING'
l_kernel: .long 0                       ! the kernel's debug_entry

! No site. An RTE slot of ours, a break set to catch the end of a handler, or the program's exception.
! From here on R5 is saved too.
foreign:
        mov.l   r5,@(C_R5,r4)
        stc     spc,r0
        mov.l   l_mask5,r1
        and     r1,r0
        mov.l   l_slots,r5
        and     r1,r5
        sub     r5,r0
        add     #-2,r0
        mov     #NSLOTS,r1
        shlr2   r0                      ! 16 bytes of code, 4 of address
        shll2   r1
        cmp/hs  r1,r0
        bt      not_slot_far
        mov.l   l_slot_spc,r1
        add     r1,r0
        mov.l   @r0,r5
        mov     #0,r1
        mov.l   r1,@r0                  ! free again
        ldc     r5,spc
        mov.l   r5,@(C_X2,r4)           ! not 0: by a slot
! R5: where the program goes on after an interrupt or exception.
ended:  mov.l   r5,@(C_X1,r4)
        mov.l   @(C_STATE,r4),r0
        tst     #ST_TRAP,r0
        bt      ended1
        bra     trap_ended
        nop
ended1:
        tst     #ST_FILTER,r0
        bf      unfilter
        tst     #ST_STOPPED,r0
        bf      leave5
        mova    slow_done5,r0
        mov     r0,r5
        bra     emit
        mov     #K_RTE,r0
leave5: bra     leave
        mov.l   @(C_R5,r4),r5
unfilter:
        and     #0xFD,r0                ! all but ST_FILTER
        SET_STATE
        mov.l   l_ext5,r1
        mov.l   @(X_FPC,r1),r0
        cmp/eq  r0,r5
        mov.l   @(X_FSP,r1),r0
        bf      switched
        stc     sgr,r1
        cmp/eq  r0,r1
        bf      switched
        mov.l   @(C_K1,r4),r0
        mov.l   @(C_PEND1,r4),r1
        mov.l   @(C_R5,r4),r5
        sub     r0,r1
        mov.l   r1,@(C_PEND1,r4)
        mov.l   @(C_K2,r4),r0
        mov.l   @(C_PEND2,r4),r1
        sub     r0,r1
        bra     exit_pending
        mov.l   r1,@(C_PEND2,r4)
! The handler went on with another task: so the interrupt is told after all, and this end of it. What was pending is the first task's.
switched:
        mov.l   l_ext5,r1
        mov.l   @(X_FPC,r1),r0
        mov.l   r0,@(C_X1,r4)
        mov.l   @(X_FSP,r1),r0
        mov.l   r0,@(C_X2,r4)
        mov.l   @(C_PEND1,r4),r2
        mov.l   @(C_PEND2,r4),r3
        mova    1f,r0
        mov     r0,r5
        bra     emit
        mov     #K_SWITCH,r0
        .balign 4
1:      stc     spc,r0
        mov.l   r0,@(C_X1,r4)
        mov     #0,r2
        mov     #0,r3
        mova    slow_done5,r0
        mov     r0,r5
        bra     emit
        mov     #K_RTE,r0
        .balign 4
slow_done5:
        bra     slow_done
        nop
! Perhaps a site executed at another alias of its address.
not_slot_far:
        stc     spc,r0
        mov.l   l_mask5,r1
        and     r1,r0
        mov.l   @(S_TEXT,r15),r5
        and     r1,r5
        sub     r5,r0
        mov.l   l_size5,r1
        cmp/hs  r1,r0
        bt      not_slot
        mov     r0,r5
        mov.l   @(S_BASE,r15),r1
        mov.w   @(r0,r1),r0
        tst     r0,r0
        bt      not_slot
        mov     r5,r0
        bra     lookup
        mov.l   @(C_R5,r4),r5

not_slot:
        mov.l   l_expevt5,r1
        mov.l   @r1,r0
        shlr2   r0
        shlr2   r0
        cmp/eq  #0x1E,r0
        bt      user_break_far
        cmp/eq  #0x16,r0
        bf      exception_far
        add     #-4,r1
        mov.l   @r1,r0                  ! TRA is imm << 2
        mov     #-128,r1
        extu.b  r1,r1
        cmp/eq  r0,r1
        bt      pass1_far               ! TRAPA #0x20: a breakpoint of the debugger
        add     #8,r1
        cmp/eq  r0,r1
        bf      exception_far
        bra     stray                   ! TRAPA #0x22, and no site: one of ours that the program has copied along
        nop
pass1_far:
        bra     pass1
        nop
exception_far:
        mov.l   l_next1,r1
        bra     exception
        nop
user_break_far:
        bra     user_break
        nop
        .balign 4
l_mask5: .long  0x1FFFFFFF
l_slots: .long  slots
l_slot_spc: .long slot_spc
l_size5: .long  0                       ! as l_size
l_expevt5: .long 0xFF000024
l_ext5: .long   ext
l_next1: .long  0

        .org    0x600
        ENTER   l_save6
        sub     r0,r3
        COLD    l_cold6
        mov.l   r5,@(C_R5,r4)
        mov.l   l_intevt,r1
        mov.l   @r1,r0
.if SCIF
.if SCIF == 2
        mov     #0x56,r1                ! ITI: the kernel knows what for
.else
        mov     #0x72,r1                ! RXI
.endif
        shll2   r1
        shll2   r1
.else
        mov     #6,r1
        shll8   r1
        nop                             ! as long as the other
.endif
        cmp/eq  r0,r1
        bt      hudi
        mov.l   l_rom6,r5               ! in ROM: what runs next is no longer known
        mov     #0,r1
        mov.l   r1,@r5
        mov.l   r0,@(R_INTEVT,r5)
        mov.l   r0,@(C_X2,r4)
        mov.l   l_next6,r1
        mov.l   r1,@(C_CHAIN,r4)
        mov.l   @(C_STATE,r4),r0
        tst     #ST_STOPPED + ST_FILTER,r0
        bf      inside_far
unseen: stc     spc,r0                  ! interrupted again before the slot's trap was taken?
        mov.l   l_mask6,r5
        mov.l   l_slots6,r1
        and     r5,r0
        and     r5,r1
        sub     r1,r0
        mov     #NSLOTS / 2,r5
        shll2   r5
        shll2   r5
        shll    r5
        cmp/hs  r5,r0
        bf      again
        stc     sgr,r0                  ! in a section of GNU's user-space atomics, where R15 is -128 at least? Handlers compare its SPC,
        mov     #-128,r5                ! and put it back to the section's start: no slot
        cmp/hs  r5,r0
        bt      plain
        mov.l   l_slot_spc6,r1          ! a free slot: its return address is 0
        mov     #NSLOTS,r5
1:      mov.l   @r1+,r0
        tst     r0,r0
        bt      2f
        dt      r5
        bf      1b
plain:  stc     spc,r0                  ! none: its RTE will give no event
        bra     record6
        mov.l   r0,@(C_X1,r4)
2:      stc     spc,r0
        add     #-4,r1
        mov.l   r0,@r1
        mov.l   r0,@(C_X1,r4)
        mov.l   l_slot_spc6,r5
        sub     r5,r1
        mov.l   l_slots6,r5
        shll2   r1
        add     r5,r1
        cmp/pz  r0                      ! interrupted in P0: the slot's alias there
        bf      3f
        mov.l   l_mask6,r5
        and     r5,r1
3:      ldc     r1,spc
        mov.l   @(C_X2,r4),r0
        mov.l   l_traced,r5
        or      r5,r0
        mov.l   r0,@(C_X2,r4)
        mov.l   @(C_STATE,r4),r0
        tst     #ST_AUTO,r0
        bf      filter
record6:
        bra     record_pass
        mov     #K_INTERRUPT,r1
! Then the same slot serves once more; the record stands for an RTE and an interrupt.
again:  shlr2   r0
        mov.l   l_slot_spc6,r5
        add     r5,r0
        mov.l   @r0,r0
        mov.l   r0,@(C_X1,r4)
        mov.l   @(C_X2,r4),r0
        mov.l   l_again,r5
        or      r5,r0
        bra     record6
        mov.l   r0,@(C_X2,r4)
inside_far:
        bra     inside
        nop
.if SCIF == 0
        .space  2                       ! as long as over SCIF
.endif
! The interrupt filter: time stands still until the handler's RTE.
filter: or      #ST_FILTER,r0
        SET_STATE
        mov.l   l_ext6,r1
        mov.l   @(C_X1,r4),r0
        mov.l   r0,@(X_FPC,r1)
        stc     sgr,r0
        mov.l   r0,@(X_FSP,r1)
        stc     ssr,r0
        mov.l   r0,@(X_FSSR,r1)
        mov.l   r2,@(C_PEND1,r4)
        bra     pass
        mov.l   r3,@(C_PEND2,r4)

! A record (R1 kind) of an interrupt or exception, then on to C_CHAIN.
record_pass:
        stc     dbr,r0
        mov.l   l_ext6,r5
        mov.l   @(X_VBR,r5),r5
        cmp/eq  r0,r5
        bf      new_vbr_far
record_vbr_known:
        mova    passed,r0
        mov     r0,r5
        bra     emit_far
        mov     r1,r0
emit_far:
        bra     emit
        nop
new_vbr_far:
        bra     new_vbr
        nop
        .space  2                       ! to the same boundary over both links
        .balign 4
passed: mov.l   @(S_PMC,r15),r1
        mov.l   @(8,r1),r2
        mov.l   @(16,r1),r3
        mov.l   r2,@(S_LAST1,r15)
        mov.l   r3,@(S_LAST2,r15)
! Everything as it was, on to the next vector (C_CHAIN).
pass:   mov.l   @(C_CHAIN,r4),r1
        mov.l   @(S_R3,r15),r3
        mov.l   @(S_R2,r15),r2
        mov.l   r1,@(S_SP,r15)
        mov.l   @(C_R5,r4),r5
        mov.l   @(C_R4,r4),r4
        mov.l   @(S_R1,r15),r1
        mov.l   @(S_R0,r15),r0
        mov.l   @(S_SP,r15),r15
        jmp     @r15
        stc     sgr,r15
! H-UDI or receive interrupt: the host wants the ring (its word in SDDR says so, or its byte), or a halt.
hudi:   mov.l   l_sddr6,r1
.if SCIF
.if SCIF == 2
        mov     #0,r0                   ! the kernel asks the host
.else
        mov.b   @(12,r1),r0             ! SCFRDR2
.endif
        cmp/eq  #2,r0
        nop
.else
        mov.l   @r1,r0
        mov.l   l_drain,r1
        cmp/eq  r0,r1
.endif
        bt      1f
        mov.l   l_next6,r1
        bra     pass
        mov.l   r1,@(C_CHAIN,r4)
.if SCIF
        .space  2
.endif
1:      mov.l   l_rom6,r5               ! the program's handler may not have read it yet
        mov.l   @(R_INTEVT,r5),r0
        mov.l   l_intevt,r1
        tst     r0,r0
        bt      2f
        mov.l   r0,@r1
2:      mov.l   @(C_STATE,r4),r0
        tst     #ST_STOPPED + ST_FILTER,r0
        bf      timed
        mova    timed,r0
        mov     r0,r5
        bra     emit_far
        mov     #K_TIME,r0
        .balign 4
timed:  mov.l   @(C_R5,r4),r5
        bra     drain
        mov.l   @(C_R4,r4),r4
! Interrupted while another interrupt is filtered. With the mode, bank and mask of what that one struck, and not in one of our
! slots, this is no handler: the filtered one has left for a task by an RTE that we have not seen. Both are told now.
inside: tst     #ST_STOPPED,r0
        bf      pass_far
        mov.l   l_ext6,r1
        stc     ssr,r0
        mov.l   @(X_FSSR,r1),r5
        xor     r5,r0
        mov.l   l_mode6,r5
        tst     r5,r0
        bf      pass_far
        stc     spc,r0
        mov.l   l_slots6,r5
        sub     r5,r0
        mov.l   l_mask6,r5
        and     r5,r0
        mov     #NSLOTS / 2,r5
        shll2   r5
        shll2   r5
        shll    r5
        cmp/hs  r5,r0
        bf      pass_far
        mov.l   @(X_BEGUN,r1),r0
        add     #1,r0
        mov.l   r0,@(X_BEGUN,r1)
        mov.l   @(C_PEND1,r4),r0
        sub     r0,r2
        mov.l   r2,@(X_D1,r1)
        mov     r0,r2
        mov.l   @(C_PEND2,r4),r0
        sub     r0,r3
        mov.l   r3,@(X_D2,r1)
        mov     r0,r3
        mov.l   @(X_FPC,r1),r0
        mov.l   r0,@(C_X1,r4)
        mov.l   @(X_FSP,r1),r0
        mov.l   r0,@(C_X2,r4)
        mova    1f,r0
        mov     r0,r5
        bra     emit_far
        mov     #K_SWITCH,r0
        .balign 4
1:      stc     spc,r0
        mov.l   r0,@(C_X1,r4)
        mov     #1,r0
        mov.l   r0,@(C_X2,r4)
        mov     #0,r2
        mov     #0,r3
        mova    2f,r0
        mov     r0,r5
        bra     emit_far
        mov     #K_RTE,r0
        .balign 4
2:      mov.l   l_ext6,r1
        mov.l   @(X_D1,r1),r2
        mov.l   @(X_D2,r1),r3
        mov.l   @(C_STATE,r4),r0
        and     #0xFD,r0                ! all but ST_FILTER
        mov.l   r0,@(C_STATE,r4)
        mov.l   l_intevt,r1
        mov.l   @r1,r0
        bra     unseen
        mov.l   r0,@(C_X2,r4)
pass_far:
        bra     pass
        nop
        .balign 4
l_save6: .long  save
l_cold6: .long  cold
l_intevt: .long 0xFF000028
l_next6: .long  0
l_slot_spc6: .long slot_spc
l_slots6: .long slots
l_mask6: .long  0x1FFFFFFF
l_traced: .long 0x00010000
l_ext6: .long   ext
l_mode6: .long  0x700000F0              ! SR.MD, RB, BL, IMASK
l_again: .long  0x00030000
.if SCIF
l_sddr6: .long  0xFFE80008
l_rom6: .long   rom
        .long   0
.else
l_sddr6: .long  0xFFF00008
l_rom6: .long   rom
l_drain: .long  0x44524E21              ! host: the ring, please
.endif

exception:                              ! R1: where it goes on
        mov.l   r1,@(C_CHAIN,r4)
        mov.l   l_rom7,r5
        mov     #0,r0
        bra     trap_begins
        mov.l   r0,@r5
exception1:                             ! R0: state
        tst     #ST_STOPPED + ST_FILTER,r0
        bt      1f
        bra     trap_unrecorded
        nop
1:      mov.l   l_expevt6,r1
        mov.l   @r1,r5
        stc     spc,r0
        mov.l   r0,@(C_X1,r4)
        mov.l   r5,@(C_X2,r4)
        mov.l   l_bbrb,r1               ! channel B free or ours: break where the handler will return to
        mov.l   @(C_EXC,r4),r0
        tst     r0,r0
        bf      3f
        mov.w   @r1,r0
        tst     r0,r0
        bf      2f
3:      mov.l   l_traced7,r0
        or      r5,r0
        bra     trap_awaited
        mov.l   r0,@(C_X2,r4)
2:      bra     trap_unseen
        nop
pass1:  mov.l   l_pass1,r1
        mov.l   @r1,r1
        bra     pass
        mov.l   r1,@(C_CHAIN,r4)
! User break: ours if channel B matched at the place we set it to.
break_b:
        mov.l   @(C_EXC,r4),r5
        stc     spc,r0
        cmp/eq  r0,r5
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
        mov.l   r0,@(C_X2,r4)           ! 0: by a break
        mov.w   r0,@r1
        bra     trap_over
        mov.l   r0,@(C_EXC,r4)
        .balign 4
l_pass1: .long  l_next1
l_rom7: .long   rom
l_expevt6: .long 0xFF000024
l_traced7: .long 0x00010000
l_bbrb: .long   0xFF200014
l_cmfb: .long   0x4000

! On as an ordinary site: R1 stub + flags, R2, R3 deltas, C_X2 what a return's slot adds to the stack pointer.
site:   mov.l   @(C_STATE,r4),r0
        tst     #ST_ODD,r0
        bf      odd
record: mov.l   r5,@(C_R5,r4)
        mov     r1,r5
        GO
        mov     r5,r0
        tst     #3,r0
        bt      made                    ! no return address
        mov.l   @(C_X2,r4),r1
        stc     sgr,r0
        add     r1,r0
        RETURN_WORD
        mov.l   @r0,r1
        mov.l   r1,@(C_X1,r4)
        sts     pr,r1
        mov.l   r1,@r0
        mov     r5,r0
        tst     #2,r0
        bt      made
        mov.l   @(C_X1,r4),r0
        cmp/eq  r0,r1
        bt      made
        mov.l   r1,@(C_X1,r4)
        bra     long
        mov     #K_RETURN,r1
made:   mov     r2,r0
        or      r3,r0
        shlr16  r0
        tst     r0,r0
        bf/s    long
        mov     #K_WIDE,r1              ! deltas too big for the short record
        mov.l   @(C_OFF,r4),r0
        shlr16  r0
        add     #-SHORT_PAGES,r0
        cmp/pz  r0
        bt      long                    ! far from the first site: its number does not fit, either
        mov.l   @(C_OFF,r4),r0
        shll16  r2
        or      r3,r2
        shlr    r0
        mov     r0,r3
        mov.l   @(C_R5,r4),r5
        bra     short_sp
        mov.l   @(C_R4,r4),r4
! A long record of the site, kind R1. R5 is saved.
long:   mov.l   @(C_OFF,r4),r0
        shlr    r0
        mov.l   r0,@(C_X2,r4)
        mova    slow_done,r0
        mov     r0,r5
        bra     emit
        mov     r1,r0
! Another window of stack: the short record cannot be made. R2 packed, R3 number.
newsp:  COLD    l_cold8
        mov.l   r5,@(C_R5,r4)
        add     r3,r3
        mov.l   r3,@(C_OFF,r4)
        extu.w  r2,r3
        shlr16  r2
        bra     long
        mov     #K_WIDE,r1

! After a long record: is the ring full?
        .balign 4
slow_done:
        mov.l   @(S_WPTR,r15),r1
        mov.l   @(S_LIMIT,r15),r0
        mov.l   @(C_R5,r4),r5
        cmp/hs  r0,r1
        bf/s    exit_far
        mov.l   @(C_R4,r4),r4
        bra     full
        nop
exit_far:
        bra     exit
        nop
! The state is not plain "recording".
odd:    tst     #ST_TRAP,r0
        bt      odd0
        bra     trap_odd
        nop
odd0:   tst     #ST_STOPPED + ST_FILTER,r0
        bf      quiet
        tst     #ST_CALLS,r0
        bt      odd2
        mov.l   r5,@(C_R5,r4)
        mov.l   r1,@(C_T,r4)
        mova    odd1,r0
        bra     calls
        mov     r0,r5
        .balign 4
odd1:   mov.l   @(C_T,r4),r1
        bt/s    quiet                   ! profiling is switched off by the program
        mov.l   @(C_R5,r4),r5
odd2:   mov.l   @(C_STATE,r4),r0
        tst     #ST_FULL,r0
        bt      record
        mov.l   @(C_LOST,r4),r0         ! live policy, ring full: counted, not recorded
        add     #1,r0
        mov.l   r0,@(C_LOST,r4)
        mov.l   r2,@(C_PEND1,r4)
        mov.l   r3,@(C_PEND2,r4)
        GO
! Leaves like exit, but what was pending for the next record stays pending.
exit_pending:
        mov.l   @(S_PMC,r15),r1
        mov.l   @(C_PEND1,r4),r0
        mov.l   @(8,r1),r2
        mov.l   @(16,r1),r3
        sub     r0,r2
        mov.l   @(C_PEND2,r4),r0
        mov.l   r2,@(S_LAST1,r15)
        sub     r0,r3
        mov.l   r3,@(S_LAST2,r15)
leave:  mov.l   @(S_R3,r15),r3
        mov.l   @(S_R2,r15),r2
        mov.l   @(S_R1,r15),r1
        mov.l   @(S_R0,r15),r0
        mov.l   @(C_R4,r4),r4
        mov.l   @(S_SP,r15),r15
        rte
        nop
! Not recording: only do what the site did.
quiet:  GO
        bra     leave
        nop
        .balign 4
l_cold8: .long  cold

! Start and stop points, indirect targets, stubs out of reach, returns whose slot moves the stack pointer in another way
! than by a pop. R0: which of the structs of its 64 KB of code, from 1. Four words: stub + flags as in the table, flags, what a return's slot adds to the
! stack pointer, last target.
special:
        mov.l   r5,@(C_R5,r4)
        mov     r0,r1
        mov.l   @(C_OFF,r4),r0
        mov.l   l_specials,r5
        shlr16  r0
        shll2   r0
        mov.l   @(r0,r5),r5
        shll2   r1
        shll2   r1
        add     r5,r1
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
        bra     not_slot                ! not by way of the table: it would lead here again
        nop
1:      mov.l   r1,@(C_CHAIN,r4)
        mov.l   @(C_STATE,r4),r0
        tst     #ST_TRAP,r0
        bf      trap_special_far
sp0:    mov     r5,r0
        tst     #SP_START,r0
        bf      sp_start
sp1:    mov     r5,r0
        tst     #SP_STOP,r0
        bf      sp_stop
sp2:    mov     r5,r0
        tst     #SP_STC + SP_SR,r0
        bf      sp_sr_far
        mov.l   @(C_STATE,r4),r0
        tst     #ST_STOPPED + ST_FILTER,r0
        bf      sp3
        mov     r5,r0
        tst     #SP_FILTER,r0
        bf      sp_filter
        tst     #SP_TARGET,r0
        bf      sp_target
! on as an ordinary site
sp3:    mov.l   @(C_CHAIN,r4),r1
        mov.l   @(8,r1),r0
        mov.l   @(C_R5,r4),r5
        mov.l   r0,@(C_X2,r4)
        bra     site
        mov.l   @r1,r1

trap_special_far:
        bra     trap_special
        nop
sp_sr_far:
        bra     sp_sr
        nop
! First instruction of a routine to be kept out of the trace: time stands still until it returns, which it does
! to an RTE slot. R1 struct.
sp_filter:
        mov.l   l_slot_spc7,r1
        mov     #NSLOTS,r5
1:      mov.l   @r1+,r0
        tst     r0,r0
        bt      2f
        dt      r5
        bf      1b
        bra     sp3                     ! no slot: not filtered this time
        nop
2:      sts     pr,r0
        add     #-4,r1
        mov.l   r0,@r1
        mov.l   l_ext7,r5
        mov.l   r0,@(X_FPC,r5)
        stc     sgr,r0
        mov.l   r0,@(X_FSP,r5)
        mov     #-1,r0                  ! what strikes inside is inside
        mov.l   r0,@(X_FSSR,r5)
        sts     pr,r0
        mov.l   l_slot_spc7,r5
        sub     r5,r1
        mov.l   l_slots7,r5
        shll2   r1
        add     r5,r1
        cmp/pz  r0
        bf      3f
        mov.l   l_mask7,r5
        and     r5,r1
3:      lds     r1,pr
        mov.l   @(C_STATE,r4),r0
        or      #ST_FILTER,r0
        SET_STATE
        mov.l   r2,@(C_PEND1,r4)
        mov.l   r3,@(C_PEND2,r4)
        mov.l   @(C_CHAIN,r4),r1
        mov.l   @r1,r1
        ldc     r1,spc
        bra     exit_pending
        mov.l   @(C_R5,r4),r5

sp_start:
        mov.l   @(C_STATE,r4),r0
        tst     #ST_STOPPED,r0
        bt      sp1
        and     #0xFE,r0                ! all but ST_STOPPED
        SET_STATE
        mova    started,r0
        bra     point_record
        mov     #K_START,r1
sp_stop:
        mov.l   @(C_STATE,r4),r0
        tst     #ST_STOPPED,r0
        bf      sp2
        or      #ST_STOPPED,r0
        SET_STATE
        mova    stopped,r0
        mov     #K_STOP,r1
! START or STOP (R1) at SPC - 2; R0: where to go on, the deltas then being zero.
point_record:
        mov     r0,r5
        stc     spc,r0
        add     #-2,r0
        mov.l   r0,@(C_X1,r4)
        bra     emit_far7
        mov     r1,r0
emit_far7:
        bra     emit
        nop
        .balign 4
started:
        mov.l   @(C_CHAIN,r4),r1
        mov     #0,r2
        mov.l   @(4,r1),r5
        bra     sp1
        mov     #0,r3
        .balign 4
stopped:
        mov.l   @(C_CHAIN,r4),r1
        mov     #0,r2
        mov.l   @(4,r1),r5
        bra     sp2
        mov     #0,r3

! An indirect call or jump: R5 flags with the register in bits 8-11. A target other than the last one goes into a
! record of its own kind.
sp_target:
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
        mov.l   r0,@(C_T,r4)
        stc     ssr,r0
        shll2   r0
        shll    r0                      ! MD was shifted out before; T = RB
        bf/s    tgt_have
        mov.l   @(C_T,r4),r0
        mov     r5,r0
        shlr8   r0
        and     #15,r0
        cmp/eq  #6,r0
        bt/s    tgt_have
        mov     r6,r0
        mov     r5,r0
        shlr8   r0
        and     #15,r0
        cmp/eq  #7,r0
        bt/s    tgt_have
        mov     r7,r0
        mov     r5,r0
        shlr8   r0
        and     #15,r0
        cmp/eq  #4,r0
        bt/s    tgt_have
        mov.l   @(C_R4,r4),r0
        mov     r5,r0
        shlr8   r0
        and     #15,r0
        cmp/eq  #5,r0
        bt/s    tgt_have
        mov.l   @(C_R5,r4),r0
        mov     r5,r0
        shlr8   r0
        and     #15,r0
        shll2   r0
        add     r15,r0
        mov.l   @(S_R0,r0),r0           ! R0-R3 lie in order
tgt_have:
        mov     #SP_SR,r1
        tst     r1,r5
        bf      sr_load_far
        shlr16  r5                      ! BSRF and BRAF add their own address + 4
        tst     r5,r5
        bt      1f
        stc     spc,r5
        add     r5,r0
        add     #2,r0
1:      mov.l   @(C_CHAIN,r4),r1
        mov.l   @(12,r1),r5
        cmp/eq  r0,r5
        bt      sp3_far
        mov.l   r0,@(C_X1,r4)
        mov.l   @(C_STATE,r4),r0
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
        mov.l   @(C_CHAIN,r4),r1
2:      mov.l   @(C_X1,r4),r0
        mov.l   r0,@(12,r1)
        mov.l   @r1,r1
        mov     r1,r5
        GO
        mov     r5,r0
        tst     #1,r0
        bt      1f
        KEEP_PR
1:      mov.l   @(C_OFF,r4),r0
        shlr    r0
        mov.l   r0,@(C_X2,r4)
        mova    slow_done7,r0
        mov     r0,r5
        bra     emit_far7
        mov     #K_TARGET,r0
sp3_far:
        bra     sp3
        nop
sr_load_far:
        bra     sr_load
        nop
        .balign 4
slow_done7:
        bra     slow_done
        nop
l_specials: .long 0                     ! for each 64 KB of code 16 bytes before its first struct
l_slot_spc7: .long slot_spc
l_slots7: .long slots
l_mask7: .long  0x1FFFFFFF
l_expevt7: .long 0xFF000024
l_ext7: .long   ext

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
! Calibration of one way in or out: R12 rounds of leaving the agent the R13th way, an RTE leading to R11. R4 is DBR meanwhile, so that what
! is passed on ends at calib_in, too. R9, R10 the counters as a program finds them there. No stack is used.
        .balign 4
calib_out:
        mov.l   l_pmc8,r8
        stc     dbr,r14
        ldc     r4,dbr
calib_next:
        mov.l   l_save_w,r15
        mov.l   l_cold_w,r4
        ldc     r11,spc
        stc     sr,r0
        ldc     r0,ssr
        mov     r13,r1
        shll2   r1
        mova    l_ways,r0
        mov.l   @(r0,r1),r0
        jmp     @r0
        nop
        .balign 4
calib_in:
        mov.l   @(8,r8),r9
        mov.l   @(16,r8),r10
        dt      r12
        bf      calib_next
        ldc     r14,dbr
        trapa   #0x20
        nop
        .balign 4
l_save_w: .long  save
l_cold_w: .long  cold
l_ways: .long   exit, exit_pending, passed
l_pmc8: .long   0xFF100000
        .include "meant.S"              ! behind the rest: rare, and the others' places in the caches stay as they are
        .include "stray.S"
        .balign 32
trace_end:
