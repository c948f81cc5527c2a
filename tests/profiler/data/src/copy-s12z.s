; Initialised data that the program copies from flash to RAM itself, as every C start-up does: loaded at another address than it has.
 .text
 .global start, copied, missing
 .type start, @function
start: mov.l from, var
 ld d6, var
 cmp d6, #0x12345678
 beq copied
 .type missing, @function
missing: bra missing
 .type copied, @function
copied: bra copied
 .data
 .global var
var: .long 0x12345678
