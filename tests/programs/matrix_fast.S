! product_fast(out r4, x r5, y r6): rows of x moved by FMOV pairs (SZ=1), columns of y by elements, products and sums in pairs.
        .text
        .balign 4
        .global product_fast
        .type product_fast, @function
product_fast:
        sts.l   pr, @-r15
        mov.l   r8, @-r15
        mov.l   r9, @-r15
        fmov.s  fr12, @-r15
        fmov.s  fr13, @-r15
        fmov.s  fr14, @-r15
        fmov.s  fr15, @-r15
        sts     fpscr, r7               ! PR=1 in compiled code
        mov.l   single, r0
        lds     r0, fpscr
        mov     #4, r8
1:      fmov.s  @r5+, fr8
        fmov.s  @r5+, fr9
        fmov.s  @r5+, fr10
        fmov.s  @r5+, fr11
        fschg
        fmov    dr8, dr0
        fmov    dr10, dr2
        fschg
        bsr     row_fast
        mov     #4, r9
        dt      r8
        bf      1b
        lds     r7, fpscr
        fmov.s  @r15+, fr15
        fmov.s  @r15+, fr14
        fmov.s  @r15+, fr13
        fmov.s  @r15+, fr12
        mov.l   @r15+, r9
        mov.l   @r15+, r8
        lds.l   @r15+, pr
        rts
        nop
        .size product_fast, . - product_fast
        .balign 4
single: .long 0x00040001
! One row: fr0-fr3 times each column of r6; r9 columns, results at r4.
        .type row_fast, @function
row_fast:
        mov     r6, r1
1:      mov     r1, r2
        fmov.s  @r2, fr4
        add     #16, r2
        fmov.s  @r2, fr5
        add     #16, r2
        fmov.s  @r2, fr6
        add     #16, r2
        fmov.s  @r2, fr7
        fmul    fr0, fr4
        add     #4, r1
        fmul    fr1, fr5
        fmul    fr2, fr6
        fmul    fr3, fr7
        fadd    fr4, fr5
        fadd    fr6, fr7
        fadd    fr5, fr7
        fmov.s  fr7, @r4
        dt      r9
        bf/s    1b
        add     #4, r4
        rts
        nop
        .size row_fast, . - row_fast
