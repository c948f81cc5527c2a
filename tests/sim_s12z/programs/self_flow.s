# Jumps, calls, loops and bit branches. Each path taken leaves its letter; `expect` is the word they spell.
start:	ld	s, #0x2f00
	ld	y, #0x2400
	ld	d0, #'a'
	bsr	put
	jsr	put2			; b
	lea	x, put
	ld	d0, #'c'
	jsr	(0,x)
	ld	d0, #'d'
	mov.p	#put, 0x1f00
	jsr	[0x1f00]
	ld	d1, #3			; dbne: three times e
	ld	d0, #'e'
three:	bsr	put
	dbne	d1, three
	ld	x, #2			; dbpl on a 24-bit register: 2, 1, 0, then -1 falls through
	ld	d0, #'f'
four:	bsr	put
	dbpl	x, four
	mov.w	#1, 0x1f04		; dbeq in memory: 1 becomes 0 and branches
	ld	d0, #'g'
	dbeq.w	0x1f04, zero
	bra	wrong
zero:	bsr	put
	ld	d6, #5			; tbgt, tble, tbmi do not decrement
	ld	d0, #'h'
	tbgt	d6, positive
	bra	wrong
positive: bsr	put
	tble	d6, wrong
	tbmi	d6, wrong
	cmp	d6, #5
	bne	wrong
	ld	d3, #0x0020
	ld	d0, #'i'
	brset	d3, #5, isset
	bra	wrong
isset:	bsr	put
	brset	d3, #4, wrong
	brclr	d3, #5, wrong
	mov.l	#0x80000000, 0x1f08
	ld	d0, #'j'
	ld	d4, #31
	brset.l	0x1f08, d4, isset2
	bra	wrong
isset2:	bsr	put
	brclr.b	0x1f0b, #7, isclr
	bra	wrong
isclr:	ld	d0, #'k'
	bsr	put
	ld	d0, #'l'
	lea	x, table
	ld	d6, #3
	jmp	(d6,x)			; into the middle of a table of jumps
table:	bra	wrong
	bra	wrong2
wrong2:	bsr	put
	jmp	last
wrong:	ld	d0, #'!'
	bsr	put
	bgnd
put:	st	d0, (y+)
	rts
put2:	ld	d0, #'b'
	bra	put
last:	bgnd
expect:	.ascii	"abcdeeefffghijkl"
	.byte	0
end:
