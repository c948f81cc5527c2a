! The trace agent. While a profile is armed it has the exception vectors. It turns TRAPA patches,
! interrupts and exceptions into records in a ring. Everything else goes on to the next vectors,
! the debug kernel's, which passes it on to the program's at DBR.
!
! targets/sh4/agent/trace_blob.h describes records, blocks and states; it has the same numbers as
! the definitions below. At every entry SGR has the program's R15, so R15 is free. All other
! registers are saved before use, and none keeps a value after an exit: R0-R7 may be the program's
! live ones, since it may run on bank 1 or keep values there.
!
! What is executed before the counters are read at entry, and after they are read at exit, counts
! as the program's. This is the residue, which the host measures with `calib` and subtracts. One
! line of the O-cache, the first of the save block, is touched before that read; two more lines and
! one of the table are touched in all.

        .text
        .global trace_base, save, cold, ext, rom, slots, slot_spc
        .global calib, calib_call, calib_f, calib_out, calib_in, trace_end
        .global l_size, l_size5, l_specials, l_kernel, l_next1, l_next4, l_next6
        .global calls_struct, meant

        ! Offsets in the save block (R15). It has two cache lines, with all that a plain event
        ! needs.
        .equ S_SELF, 0
        .equ S_PMC, 4
        .equ S_R0, 8
        .equ S_R1, 12
        .equ S_R2, 16
        .equ S_R3, 20
        .equ S_LAST1, 24
        .equ S_LAST2, 28
        .equ S_TEXT, 32                 ! SPC of a trap at halfword 0 of the table
        ! Bytes of code in the table that a short record can name; 0: every trap takes the slow
        ! path.
        .equ S_SIZE, 36
        ! The table of halfwords. Return addresses end where it begins; stubs are before them.
        .equ S_BASE, 40
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
        .equ C_SIZE, 16                 ! what S_SIZE is in the plain state
        .equ C_HARD, 20
        .equ C_PEND1, 24
        .equ C_PEND2, 28
        .equ C_OFF, 32
        .equ C_CHAIN, 36
        .equ C_X1, 40
        .equ C_X2, 44
        .equ C_EXC, 48
        ! What a filtered interrupt itself costs; the host sets it.
        .equ C_K1, 52
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
        ! Where the filter began: interrupted address and stack pointer.
        .equ X_FPC, 28
        .equ X_FSP, 32
        .equ X_FSSR, 36
        .equ X_BEGUN, 40                ! number of tasks that filtered handlers have begun
        .equ X_D1, 44
        .equ X_D2, 48
        .equ X_VBR, 52                  ! the program's, as the last record has it
        .equ X_S1, 56
        .equ X_S2, 60
        ! In the block `rom`, whose line an interrupt touches anyway: INTEVT of the program's last
        ! interrupt.
        .equ R_INTEVT, 20
        ! state bits
        .equ ST_STOPPED, 1
        .equ ST_FILTER, 2
        ! The program is in a handler of its own, or may be.
        .equ ST_TRAP, 4
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
        ! kinds of long records; their first word is LONG + kind
        .equ LONG, 0x3FFF0
        .equ SHORT_PAGES, 7             ! code, in 64 KB, whose sites a short record can name
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

! Saves R0-R3. R2 and R3 become the deltas: the counters, less what they were at the last exit.
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

! Does what the site does: SPC = stub, and PR for a call. R1: stub + flags; 1 is a call, 2 a
! return, 3 a return that pops in its slot. Clobbers R0, R1.
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

! Return addresses: 256 words before the table, by bits 9-2 of the stack pointer that a call has
! before its slot, and a return after it. R0: the stack pointer; it becomes the address of the word.
! Clobbers R1.
        .macro  RETURN_WORD
        mov     #-4,r1
        and     r1,r0
        shll8   r1
        or      r1,r0
        mov.l   @(S_BASE,r15),r1
        add     r1,r0
        .endm

! Keeps PR of a call that is recorded. Clobbers R0, R1.
        .macro  KEEP_PR
        stc     sgr,r0
        RETURN_WORD
        sts     pr,r1
        mov.l   r1,@r0
        .endm

! R0 is the new state. In all but plain recording every trap takes the slow path. Clobbers R1.
        .macro  SET_STATE
        mov.l   r0,@(C_STATE,r4)
        mov.l   @(C_SIZE,r4),r1
        tst     #ST_ODD,r0
        bt      8f
        mov     #0,r1
8:      mov.l   r1,@(S_SIZE,r15)
        .endm

trace_base:
        .long   0x50505452              ! 'PPTR', by which a later attach finds the agent
        .long   2                       ! version of the layout
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
        ! Negative: stub before BASE, + flags; positive: special site; 0: none.
        mov.w   @(r0,r1),r0
        shlr    r3                      ! number of the site
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
! R0: stack pointer; R2: packed deltas; R3: number.
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
! A short record does not say where a return goes: the host knows the address that was kept here
! for its stack pointer.
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
        COLD    l_cold                  ! it goes elsewhere, so its record has the address
        mov     r3,r0
        extu.w  r2,r3
        add     r0,r0
        bra     lookup
        shlr16  r2
! The code is outside of the table, or the state makes its size 0. While no time is counted a site
! is only executed.
closed: mov.l   l_cold,r1
        mov.l   @(C_STATE,r1),r0
        ! As long as the way past the table: one calibration holds for both ways into the kernel.
        nop
        tst     #ST_STOPPED + ST_FILTER,r0
        bt      slow_packed
        tst     #ST_TRAP,r0
        bf      slow_packed
        mov.l   l_size,r2               ! the deltas are not needed
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
! A trap that gives no plain record: deltas beyond 16 bits, no site in the table, or a state that
! is not plain.
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
l_size: .long   0                       ! bytes of code in the table, all of it

        .balign 32
save:   .long   save, 0xFF100000
        .space  36
        .long   0xFFFF0003              ! S_SPMASK: what a short record cannot hold
        .space  16
cold:   .space  64
ext:    .space  64

! emit: writes a record of six words. R0: kind; R2, R3: deltas; x1, x2 are in the cold block; R5:
! return address. Clobbers R0-R3. A record that does not fit is counted as lost.
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

! calls: the program has switched profiling off and on. What it has excluded since the last call of
! this is subtracted from the deltas. R5: return address; T=1 if profiling is off now. Clobbers R0,
! R1.
calls:  mov.l   l_ext,r1
        mov.l   calls_struct,r4
        mov.l   @(16,r4),r0             ! C1 excluded so far
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

! The ring is full. Lossless: reports it to the host, and waits in the kernel until the ring is
! read. If nobody answers, events are dropped from then on. Live: drops events at once. R4 and up
! are the program's.
full:   mov.l   l_cold4,r3
        mov.l   @(C_STATE,r3),r0
        tst     #ST_LIVE,r0
.if SCIF
        bt      drain                   ! the kernel reports it to whoever is there
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

! Enters the debug kernel as if the program had halted at drain_ret with BL=1. SPC and SSR are
! restored afterwards. SGR cannot be written, so what it had goes to S_SP.
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
        cmp/hs  r1,r0                   ! still full: nobody has read it
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
l_kernel: .long 0                       ! debug_entry of the kernel

! There is no site. It is an RTE slot, a break at the end of a handler, or the program's exception.
! From here on R5 is saved, too.
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
        shlr2   r0                      ! a slot has 16 bytes of code, and 4 of address
        shll2   r1
        cmp/hs  r1,r0
        bt      not_slot_far
        mov.l   l_slot_spc,r1
        add     r1,r0
        mov.l   @r0,r5
        mov     #0,r1
        mov.l   r1,@r0                  ! the slot is free again
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
! The filtered handler goes on with another task. So the interrupt is recorded after all, and this
! end of it. The deltas that were pending are the first task's.
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
! It may be a site that is executed at another alias of its address.
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
        ! TRAPA #0x22 where no site is: the program has copied a patched instruction.
        bra     stray
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
l_size5: .long  0                       ! like l_size
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
        mov     #0x56,r1                ! ITI, by which the kernel asks the host
.else
        mov     #0x72,r1                ! RXI
.endif
        shll2   r1
        shll2   r1
.else
        mov     #6,r1
        shll8   r1
        nop                             ! as long as the code for the other links
.endif
        cmp/eq  r0,r1
        bt      hudi
        ! In stepped code the instruction that is executed next is not known now.
        mov.l   l_rom6,r5
        mov     #0,r1
        mov.l   r1,@r5
        mov.l   r0,@(R_INTEVT,r5)
        mov.l   r0,@(C_X2,r4)
        mov.l   l_next6,r1
        mov.l   r1,@(C_CHAIN,r4)
        mov.l   @(C_STATE,r4),r0
        tst     #ST_STOPPED + ST_FILTER,r0
        bf      inside_far
! was the program interrupted again before it took the trap of its slot?
unseen: stc     spc,r0
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
        ! Is it in a section of GNU's user-space atomics, where R15 is -128 or higher? Handlers
        ! compare its SPC and set it back to the start of the section, so no slot is used.
        stc     sgr,r0
        mov     #-128,r5
        cmp/hs  r5,r0
        bt      plain
        mov.l   l_slot_spc6,r1          ! looks for a free slot: its return address is 0
        mov     #NSLOTS,r5
1:      mov.l   @r1+,r0
        tst     r0,r0
        bt      2f
        dt      r5
        bf      1b
plain:  stc     spc,r0                  ! there is none: its RTE will give no event
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
        cmp/pz  r0                      ! interrupted in P0: use the alias of the slot there
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
! The same slot is used again. The record stands for an RTE and an interrupt.
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
! The interrupt filter: no time is counted until the handler's RTE.
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

! Records an interrupt or exception (R1: kind), then goes on to C_CHAIN.
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
        .space  2                       ! to have the same alignment for all links
        .balign 4
passed: mov.l   @(S_PMC,r15),r1
        mov.l   @(8,r1),r2
        mov.l   @(16,r1),r3
        mov.l   r2,@(S_LAST1,r15)
        mov.l   r3,@(S_LAST2,r15)
! Restores all registers, and goes on to the next vector (C_CHAIN).
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
! An interrupt of H-UDI or of the receiver. The host wants the ring to be read (its word in SDDR or
! its byte says so), or a halt.
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
! An interrupt while another one is filtered. If mode, bank and mask are those in which that one
! came, and it is not in a slot, the program is in no handler: the filtered one has left to a task
! by an RTE that was not seen. Both are recorded now.
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
l_drain: .long  0x44524E21              ! host: the ring is to be read
.endif

! R1: where it goes on.
exception:
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
        ! If channel B is free, or used here already, it breaks where the handler will return to.
        mov.l   l_bbrb,r1
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
! A user break. It is the agent's if channel B has matched at the place that the agent has set.
break_b:
        mov.l   @(C_EXC,r4),r5
        stc     spc,r0
        cmp/eq  r0,r5
        bf      pass1
        mov.l   l_bbrb,r1
        mov.w   @(12,r1),r0             ! BRCR
        mov.l   l_cmfb,r1
        tst     r1,r0
        bt      pass1                   ! it is not channel B's, so it is the debugger's
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

! Goes on as at an ordinary site. R1: stub + flags; R2, R3: deltas; C_X2: what a return's slot adds
! to the stack pointer.
site:   mov.l   @(C_STATE,r4),r0
        tst     #ST_ODD,r0
        bf      odd
record: mov.l   r5,@(C_R5,r4)
        mov     r1,r5
        GO
        mov     r5,r0
        tst     #3,r0
        bt      made                    ! it has no return address
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
        mov     #K_WIDE,r1              ! deltas too large for a short record
        mov.l   @(C_OFF,r4),r0
        shlr16  r0
        add     #-SHORT_PAGES,r0
        cmp/pz  r0
        bt      long                    ! too far from the first site for a short record to name it
        mov.l   @(C_OFF,r4),r0
        shll16  r2
        or      r3,r2
        shlr    r0
        mov     r0,r3
        mov.l   @(C_R5,r4),r5
        bra     short_sp
        mov.l   @(C_R4,r4),r4
! A long record of the site. R1: kind. R5 is saved.
long:   mov.l   @(C_OFF,r4),r0
        shlr    r0
        mov.l   r0,@(C_X2,r4)
        mova    slow_done,r0
        mov     r0,r5
        bra     emit
        mov     r1,r0
! The stack pointer is too far from S_SPBASE for a short record. R2: packed deltas; R3: number.
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
! The state is not that of plain recording.
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
        bt/s    quiet                   ! the program has switched profiling off
        mov.l   @(C_R5,r4),r5
odd2:   mov.l   @(C_STATE,r4),r0
        tst     #ST_FULL,r0
        bt      record
        ! live policy, and the ring is full: it is counted, not recorded
        mov.l   @(C_LOST,r4),r0
        add     #1,r0
        mov.l   r0,@(C_LOST,r4)
        mov.l   r2,@(C_PEND1,r4)
        mov.l   r3,@(C_PEND2,r4)
        GO
! Leaves as `exit` does, but the deltas that are pending stay so until the next record.
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
! Nothing is recorded: only does what the site does.
quiet:  GO
        bra     leave
        nop
        .balign 4
l_cold8: .long  cold

! Special sites: start and stop points, indirect targets, stubs that the table cannot reach, and
! returns whose slot changes the stack pointer in another way than by a pop. R0: number of the
! struct within its 64 KB of code, from 1. A struct has four words: stub + flags as in the table,
! flags, what a return's slot adds to the stack pointer, the last target.
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
        mov.l   l_expevt7,r0            ! the next instruction may raise an exception itself
        mov.l   @r0,r0
        shlr2   r0
        shlr2   r0
        cmp/eq  #0x16,r0
        bt      1f
        ! The table would lead here again.
        bra     not_slot
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
! goes on as at an ordinary site
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
! The first instruction of a routine that is left out of the trace. No time is counted until it
! returns, which it does to an RTE slot. R1: struct.
sp_filter:
        mov.l   l_slot_spc7,r1
        mov     #NSLOTS,r5
1:      mov.l   @r1+,r0
        tst     r0,r0
        bt      2f
        dt      r5
        bf      1b
        bra     sp3                     ! no slot is free: it is not filtered this time
        nop
2:      sts     pr,r0
        add     #-4,r1
        mov.l   r0,@r1
        mov.l   l_ext7,r5
        mov.l   r0,@(X_FPC,r5)
        stc     sgr,r0
        mov.l   r0,@(X_FSP,r5)
        mov     #-1,r0                  ! interrupts inside of it belong to it
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
! Records START or STOP (R1) at SPC - 2. R0: where to go on, with deltas of 0.
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

! An indirect call or jump. R5: flags, with the register in bits 8-11. A target other than the last
! one makes a record of its own kind.
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
! R0-R7 are those of the bank on which the program runs. On bank 1 R0-R5 are the saved ones, and R6
! and R7 are untouched.
tgt_bank:
        mov.l   r0,@(C_T,r4)
        stc     ssr,r0
        shll2   r0
        shll    r0                      ! MD has been shifted out before; T = RB
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
        mov.l   @(S_R0,r0),r0           ! the saved R0-R3 are in order
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
        bf      sp3_far                 ! it will be counted as lost
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
l_specials: .long 0                     ! for each 64 KB of code, 16 bytes before its first struct
l_slot_spc7: .long slot_spc
l_slots7: .long slots
l_mask7: .long  0x1FFFFFFF
l_expevt7: .long 0xFF000024
l_ext7: .long   ext

        .include "step.S"

! RTE slots. The return address of interrupted code is set to one of them. Its trap finds the real
! address in slot_spc. There is room for a far jump, which the host leaves in slots that are still
! in use when it disarms.
        .balign 32
slots:  .rept   NSLOTS
        trapa   #0x21
        nop
        .space  12
        .endr
slot_spc: .space 4 * NSLOTS

! Calibration: R4 rounds of a call and a return. R9, R10: the counters before; R11, R12: after. It
! ends with a breakpoint.
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
! Calibration of one way in or out: R12 rounds of leaving the agent by way R13, with an RTE to R11.
! DBR is R4 meanwhile, so that what is passed on also ends at calib_in. R9, R10: the counters as
! the program finds them there. No stack is used.
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
        ! These come last: they are rarely needed, and the rest keeps its place in the caches.
        .include "meant.S"
        .include "stray.S"
        .balign 32
trace_end:
