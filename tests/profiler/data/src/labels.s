! Hand-written code as it is found: no sizes, no types, labels inside, one C++ name.
	.text
	.global	start
start:
	mov.l	main_at, r0
	jsr	@r0
	nop
again:
	bra	again
	nop
	.align	2
main_at:
	.long	main

	.global	plain
plain:
	mov	#4, r0
loop:
	dt	r0
	bf	loop
	rts
	nop

	.global	_ZN4list4walkEP4nodei
	.type	_ZN4list4walkEP4nodei, @function
_ZN4list4walkEP4nodei:
	rts
	nop
	.size	_ZN4list4walkEP4nodei, . - _ZN4list4walkEP4nodei

	.weak	also_plain
	.set	also_plain, plain
