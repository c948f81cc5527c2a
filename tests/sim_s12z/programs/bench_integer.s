# Registers only: no memory operand, one taken branch in nine instructions.
start:	ld	d6, #1
	ld	d7, #0
again:	ld	d2, #60000
loop:	add	d7, d6
	eor	d7, #0x1234567
	lsl	d6, d6, #1
	add	d6, #3
	tfr	d7, d3
	and	d3, #0xff
	bne	skip
	sub	d7, #5
skip:	dbne	d2, loop
	bra	again
