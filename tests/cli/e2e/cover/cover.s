; cover.c by hand: each statement where its .loc says, as a compiler without optimisation would lay it out. The board begins at
; `start` and stays in `done` when all has run once. D2 and D3 carry arguments, D2 the result.
	.section .bss
Total:	.space	2
Odd:	.space	2
Even:	.space	2
Never:	.space	2
bss_end:

	.text
	.file	1 "cover.c"
	.macro	fn name
	.globl	\name
	.type	\name, @function
\name:
	.endm
	.macro	endfn name
	.size	\name, . - \name
	.endm

	fn	start
	ld	s, #0x002FF0
	lea	x, Total
	ld	d0, #bss_end - Total
1:	clr.b	(x+)
	dbne	d0, 1b
	jsr	cover
	bra	done
	endfn	start

	fn	done
	bra	done
	endfn	done

	fn	greatest_divisor
	.loc	1 5
	psh	d4
1:	.loc	1 7
	cmp	d3, #0
	beq	2f
	.loc	1 8
	modu.w	d4, d2, d3
	.loc	1 10
	tfr	d3, d2
	.loc	1 11
	tfr	d4, d3
	bra	1b
2:	.loc	1 13
	nop
	pul	d4
	rts
	endfn	greatest_divisor

	fn	classify
	.loc	1 16
	psh	d3
	.loc	1 18
	tfr	d2, d3
	and	d3, #1
	beq	1f
	.loc	1 19
	inc.w	Odd
	bra	2f
1:	.loc	1 21
	inc.w	Even
2:	.loc	1 22
	cmp	d2, #1000
	bls	3f
	.loc	1 23
	inc.w	Never
3:	.loc	1 24
	pul	d3
	rts
	endfn	classify

	fn	nobody_calls_it
	.loc	1 26
	nop
	.loc	1 28
	inc.w	Never
	.loc	1 29
	dec.w	Odd
	.loc	1 30
	rts
	endfn	nobody_calls_it

	fn	cover
	.loc	1 32
	psh	d5
	.loc	1 36
	ld	d5, #1
1:	.loc	1 36
	cmp	d5, #30
	bhi	2f
	.loc	1 37
	tfr	d5, d2
	ld	d3, #12
	jsr	greatest_divisor
	ld	d3, Total
	add	d2, d3
	st	d2, Total
	.loc	1 38
	tfr	d5, d2
	jsr	classify
	.loc	1 36
	add	d5, #1
	bra	1b
2:	.loc	1 40
	clr	d2
	pul	d5
	rts
	endfn	cover
