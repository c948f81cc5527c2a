# A call and a return in every five instructions, some through a register.
start:	ld	s, #0x2f00
	lea	x, leaf
again:	ld	d2, #20000
loop:	bsr	leaf
	bsr	middle
	jsr	(0,x)
	dbne	d2, loop
	bra	again
middle:	bsr	leaf
	inc	d1
	rts
leaf:	inc	d0
	bne	out
	inc	d3
out:	rts
