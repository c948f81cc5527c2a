; motor: a field-oriented motor control as small as it can be and still look like one. It turns a simulated shaft; no pin is touched.
;
; Every round of control_loop reads three "currents", turns them into the rotating frame, runs a regulator and commutates by a
; jump table. TIM0 channel 0 interrupts it every 10,000 bus clocks. Write a number to `burst` and the next round calls a
; tiny leaf that often: more returns than the trace pins can carry, so that the trace buffer overflows. `start_burst` begins with 500.

	.equ	TIM0TIOS, 0x05C0
	.equ	TIM0TSCR1, 0x05C6
	.equ	TIM0TIE, 0x05CC
	.equ	TIM0TSCR2, 0x05CD
	.equ	TIM0TFLG1, 0x05CE
	.equ	TIM0TC0, 0x05D0
	.equ	PERIOD, 10000

	.section .bss
	.globl	burst, rounds, ticks, speed, angle
burst:	.space	2		; calls of tiny in the next round
rounds:	.space	4
ticks:	.space	4		; interrupts
state:	.space	2		; index into states: idle, ramp, run, brake
angle:	.space	2		; 65536 is a turn
speed:	.space	2		; signed, angle per round
target:	.space	2
integral: .space 4
noise:	.space	4
current: .space	6		; three phases
dq:	.space	4		; the same in the rotating frame
window:	.space	32		; of the last readings
slot:	.space	2
variables_end:

	.text
	.macro	fn name
	.globl	\name
	.type	\name, @function
\name:
	.endm
	.macro	endfn name
	.size	\name, . - \name
	.endm

	fn	start
	ld	d2, #0
	bra	begin
	endfn	start

	fn	start_burst
	ld	d2, #500
	bra	begin
	endfn	start_burst

; D2: calls of tiny in the first round
	fn	begin
	ld	s, #0x002FF0
	lea	x, burst
	ld	d3, #variables_end - burst
1:	clr.b	(x+)
	dbne	d3, 1b
	st	d2, burst
	mov.l	#0x1234567, noise
	mov.w	#900, target
	bsr	timer_start
	jsr	control_loop	; for ever
	endfn	begin

	fn	timer_start
	mov.b	#1, TIM0TIOS	; channel 0 compares
	mov.b	#0, TIM0TSCR2
	mov.w	#PERIOD, TIM0TC0
	mov.b	#1, TIM0TFLG1
	mov.b	#1, TIM0TIE
	mov.b	#0x80, TIM0TSCR1
	andcc	#-17		; I = 0
	rts
	endfn	timer_start

; ---- the loop ----
	fn	control_loop
	jsr	read_currents
	jsr	transform
	ld	d2, state
	and	d2, #3
	mulu.b	d2, d2, #4	; bytes a pointer
	lea	x, states	; the table is in motor.ld
	jsr	[d2,x]
	jsr	regulate
	jsr	commutate
	ld	d2, burst
	beq	1f
	jsr	overflow
1:	ld	d6, rounds
	add	d6, #1
	st	d6, rounds
	bra	control_loop
	endfn	control_loop

; ---- measuring: control_loop, read_currents, average, reading: four deep ----
	fn	read_currents
	ld	d0, #3
	lea	y, current
1:	psh	d0
	psh	y
	bsr	average
	pul	y
	pul	d0
	st	d2, (y+)
	dbne	d0, 1b
	rts
	endfn	read_currents

; D2 = mean of the window with one more reading
	fn	average
	bsr	reading
	ld	d3, slot
	and	d3, #15
	lea	x, window
	ld	d4, d3
	add	d4, d3
	lea	x, (d4,x)
	st	d2, (0,x)
	add	d3, #1
	st	d3, slot
	lea	x, window
	ld	d6, #0
	ld	d1, #16
1:	ld	d4, (x+)
	sex	d4, d7
	divs.l	d7, d7, #3	; weighs a third
	add	d6, d7
	dbne	d1, 1b
	asr	d6, d6, #4
	tfr	d6, d2
	rts
	endfn	average

; D2 = -2048..2047: noise around the angle
	fn	reading
	ld	d6, noise
	mulu.l	d6, d6, #1664525
	add	d6, #1013904223
	st	d6, noise
	lsr	d6, d6, #20
	ld	d2, angle
	lsr	d2, d2, #5
	tfr	d6, d3
	add	d2, d3
	and	d2, #4095
	sub	d2, #2048
	rts
	endfn	reading

; ---- the rotating frame: dq = current times rows of a table, as one multiply-accumulate after the other ----
	fn	transform
	ld	d6, #0
	ld	d0, #24
	lea	x, sines
	lea	y, current
1:	ld	d2, (x+)
	ld	d3, (0,y)
	macs	d6, d2, d3
	brclr	d0, #0, 2f	; every other step
	ld	d3, (2,y)
	macs	d6, d2, d3
2:	dbne	d0, 1b
	asr	d6, d6, #15
	st	d6, dq
	rts
	endfn	transform

; ---- what to do, by state ----
	fn	idle
	ld	d6, rounds
	and	d6, #7
	bne	1f
	mov.w	#1, state
1:	rts
	endfn	idle

	fn	ramp
	ld	d2, target
	add	d2, #25
	cmp	d2, #3000
	ble	1f
	mov.w	#2, state
1:	st	d2, target
	rts
	endfn	ramp

	fn	run
	ld	d6, rounds
	and	d6, #255
	bne	1f
	mov.w	#3, state
1:	rts
	endfn	run

	fn	brake
	ld	d2, target
	sub	d2, #100
	bpl	1f
	ld	d2, #0
	clr.w	state
1:	st	d2, target
	rts
	endfn	brake

; ---- the regulator: control_loop, regulate, pi_step, clamp, magnitude: five deep ----
	fn	regulate
	ld	d0, #4		; four small steps in a round
1:	psh	d0
	bsr	pi_step
	pul	d0
	dbne	d0, 1b
	rts
	endfn	regulate

	fn	pi_step
	ld	d2, target
	sub	d2, speed
	sex	d2, d6
	add	d6, integral
	st	d6, integral
	ld	d0, #40
1:	divs.l	d7, d6, #11	; the plant: follows slowly
	sub	d6, d7
	ld	d4, dq
	sex	d4, d7
	asr	d7, d7, #9
	add	d6, d7
	dbne	d0, 1b
	bsr	clamp
	st	d2, speed
	rts
	endfn	pi_step

; D2 = D6 within +-8000
	fn	clamp
	bsr	magnitude
	cmp	d7, #8000
	ble	1f
	ld	d7, #8000
1:	tfr	d7, d2
	tbpl	d6, 2f
	neg.w	d2
2:	rts
	endfn	clamp

; D7 = |D6|
	fn	magnitude
	ld	d7, d6
	bpl	1f
	neg.l	d7
1:	rts
	endfn	magnitude

; ---- commutation: one of six, by the angle ----
	fn	commutate
	ld	d2, angle
	add	d2, speed
	st	d2, angle
	lsr	d2, d2, #13	; 0..7
	cmp	d2, #5
	ble	1f
	ld	d2, #5
1:	mulu.b	d2, d2, #4	; bytes a pointer
	lea	x, sectors	; the table is in motor.ld
	jmp	[d2,x]
	endfn	commutate

	fn	phase_a
	ld	d0, #60
	bsr	duty
	rts
	endfn	phase_a
	fn	phase_b
	ld	d0, #80
	bsr	duty
	rts
	endfn	phase_b
	fn	phase_c
	ld	d0, #100
	bsr	duty
	rts
	endfn	phase_c

; D0 steps of a duty cycle's computation
	fn	duty
	ld	d6, #0
	ld	d3, speed
1:	tfr	d0, d2
	macs	d6, d2, d3
	divs.l	d7, d6, #127
	eor	d6, d7
	dbne	d0, 1b
	rts
	endfn	duty

; ---- on demand: D2 calls, each with a return ----
	fn	overflow
1:	bsr	tiny
	dbne	d2, 1b
	clr.w	burst
	rts
	endfn	overflow

	fn	tiny
	inc	d1
	rts
	endfn	tiny

; ---- interrupts ----
	fn	tick
	mov.b	#1, TIM0TFLG1
	ld	d2, TIM0TC0
	add	d2, #PERIOD
	st	d2, TIM0TC0
	bsr	count_tick
	rti
	endfn	tick

	fn	count_tick
	ld	d6, ticks
	add	d6, #1
	st	d6, ticks
	rts
	endfn	count_tick

	fn	trap
	rti
	endfn	trap

	fn	fault		; a machine exception cannot be returned from: stays here for the debugger
	bgnd
	bra	fault
	endfn	fault

sines:	.short	0, 4277, 8481, 12539, 16384, 19947, 23170, 25996, 28377, 30273, 31650, 32487
	.short	32767, 32487, 31650, 30273, 28377, 25996, 23170, 19947, 16384, 12539, 8481, 4277
