! xtime4_fast(four r4): each byte times x in GF(2^8); a leaf of straight code, its literals between it and the next function.
        .text
        .balign 4
        .global xtime4_fast
        .type xtime4_fast, @function
xtime4_fast:
        mov.l   high, r1
        mov.l   low7, r2
        mov     r4, r0
        and     r1, r0
        and     r2, r4
        shll    r4
        mov     r0, r1
        shlr2   r1
        shlr2   r1
        shlr2   r1
        shlr    r1                      ! 0x01 where the byte had 0x80
        mov     r1, r0
        shll    r0
        xor     r0, r1                  ! 0x03
        mov     r1, r0
        shll2   r0
        shll    r0                      ! 0x18
        xor     r1, r0
        rts
        xor     r4, r0
        .size xtime4_fast, . - xtime4_fast
        .balign 4
high:   .long 0x80808080
low7:   .long 0x7F7F7F7F
