! crc_fast(crc r4, p r5, n r6): bytes by two nibbles and a table of 16; leaf, dt loop, last instruction in the slot of rts.
        .text
        .balign 4
        .global crc_fast
        .type crc_fast, @function
crc_fast:
        mova    nibbles, r0
        mov     r0, r7
1:      mov.b   @r5+, r1
        extu.b  r1, r1
        xor     r1, r4
        mov     #15, r3
        and     r4, r3
        shll2   r3
        mov     r7, r0
        mov.l   @(r0, r3), r2
        shlr2   r4
        shlr2   r4
        xor     r2, r4
        mov     #15, r3
        and     r4, r3
        shll2   r3
        mov.l   @(r0, r3), r2
        shlr2   r4
        shlr2   r4
        dt      r6
        bf/s    1b
        xor     r2, r4
        rts
        mov     r4, r0
        .size crc_fast, . - crc_fast
        .balign 4
nibbles:
        .long 0x00000000, 0x1DB71064, 0x3B6E20C8, 0x26D930AC, 0x76DC4190, 0x6B6B51F4, 0x4DB26158, 0x5005713C
        .long 0xEDB88320, 0xF00F9344, 0xD6D6A3E8, 0xCB61B38C, 0x9B64C2B0, 0x86D3D2D4, 0xA00AE278, 0xBDBDF21C
