; few.S for an S12Z: in each pass of main's loop
;   setup   1 call
;   work    3 calls, each calling leaf twice
; leaf divides for a while, so that a buffer of profiling lines lasts some milliseconds.
	.text
	.globl	start
	.type	start, @function
start:	ld	s, #0x002FF0
	bra	main
	.size	start, . - start

	.type	main, @function
main:	bsr	setup
	ld	d0, #3
1:	bsr	work
	dbne	d0, 1b
	bra	main
	.size	main, . - main

	.type	setup, @function
setup:	ld	d6, #0
	rts
	.size	setup, . - setup

	.type	work, @function
work:	bsr	leaf
	bsr	leaf
	rts
	.size	work, . - work

	.type	leaf, @function
leaf:	ld	d1, #100
1:	.rept	8
	divs.l	d7, d6, #127
	.endr
	dbne	d1, 1b
	add	d6, #1
	rts
	.size	leaf, . - leaf

	.globl	fault
	.type	fault, @function
fault:	bra	fault
	.size	fault, . - fault
