! Every kind of branch with work in its slot; returns 15.
        .text
        .global slots
        .type   slots, @function
slots:
        mov     #1, r0
        bra     1f
        add     #2, r0
        mov     #99, r0
1:      tst     r0, r0
        bf/s    2f
        add     #4, r0
        mov     #99, r0
2:      rts
        add     #8, r0
        .size   slots, . - slots
        .section .note.GNU-stack,"",@progbits
