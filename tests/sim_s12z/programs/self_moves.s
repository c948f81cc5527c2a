# Moves and the stack. Results are stored one behind the other from 0x2400; `expect` says what they are to be.
start:	ld	s, #0x2f00
	ld	y, #0x2400
	ld	d6, #0x89abcdef
	st	d6, (0,y)
	tfr	d6, d2			; narrower: the low part
	st	d2, (4,y)
	ld	d0, #0x80
	tfr	d0, d2			; wider: zeros
	st	d2, (6,y)
	sex	d0, d2			; wider: the sign
	st	d2, (8,y)
	sex	d2, d7
	st	d7, (10,y)
	ld	d0, #0x12
	ld	d1, #0x34
	exg	d0, d1
	st	d0, (14,y)
	st	d1, (15,y)
	lea	y, (16,y)
	mov.b	#0x77, (0,y)
	mov.w	#0x1234, (1,y)
	mov.p	#0x56789a, (3,y)
	mov.l	#0xdeadbeef, (6,y)
	mov.w	(1,y), (10,y)		; memory to memory
	mov.l	d6, (12,y)		; register to memory
	lea	y, (16,y)
	clr.w	(0,y)
	mov.b	#-1, (0,y)		; 0xff00
	ld	x, #0x123456
	st	x, (2,y)
	clr	x
	st	x, (5,y)
	lea	y, (8,y)
	ld	d2, #0x1122		; pushed in the order of the table: the lowest register at the lowest address
	ld	d3, #0x3344
	ld	x, #0xabcdef
	psh	d2, d3
	psh	d6, x
	tfr	s, d7
	st	d7, (0,y)
	mov.l	(0,s), (4,y)
	mov.p	(4,s), (8,y)
	mov.l	(7,s), (11,y)
	pul	d6, x
	pul	d4, d5			; other registers take what was pushed
	st	d4, (15,y)
	st	d5, (17,y)
	tfr	s, d7
	st	d7, (19,y)
	lea	y, (23,y)
	ld	d2, #0x8000		; flags: load N, clear Z, store, move
	tfr	ccl, d0
	and	d0, #0x0f
	st	d0, (0,y)
	clr	d2
	tfr	ccl, d0
	and	d0, #0x0f
	st	d0, (1,y)
	orcc	#0x03			; V and C
	ld	d2, #1
	tfr	ccl, d0
	and	d0, #0x0f
	st	d0, (2,y)
	mov.b	#-128, (3,y)
	tfr	ccl, d0
	and	d0, #0x0f
	st	d0, (4,y)
	orcc	#0x0f
	lea	x, (1,x)		; no flags
	tfr	ccl, d0
	and	d0, #0x0f
	st	d0, (5,y)
	bgnd
expect:	.long	0x89abcdef
	.short	0xcdef, 0x0080, 0xff80
	.long	0xffffff80
	.byte	0x34, 0x12
	.byte	0x77, 0x12, 0x34, 0x56, 0x78, 0x9a, 0xde, 0xad, 0xbe, 0xef, 0x12, 0x34
	.long	0x89abcdef
	.byte	0xff, 0x00, 0x12, 0x34, 0x56, 0, 0, 0
	.long	0x00002ef5		; 2 + 2 + 4 + 3 below the top
	.long	0x89abcdef
	.byte	0xab, 0xcd, 0xef
	.byte	0x11, 0x22, 0x33, 0x44
	.short	0x1122, 0x3344
	.long	0x00002f00
	.byte	0x08, 0x04, 0x01, 0x80, 0x09, 0x0f
end:
