# Copies 1 KB with a checksum; byte, word and long operands through X, Y and S.
start:	ld	s, #0x2f00
again:	ld	x, #0x1800
	ld	y, #0x2400
	ld	d2, #128
loop:	ld	d6, (0,x)
	add	d7, d6
	st	d6, (0,y)
	ld	d3, (4,x)
	st	d3, (4,y)
	add	d3, (6,x)
	st	d3, (6,y)
	ld	d0, (5,y)
	st	d6, (-s)
	ld	d6, (s+)
	lea	x, (8,x)
	lea	y, (8,y)
	dbne	d2, loop
	bra	again
