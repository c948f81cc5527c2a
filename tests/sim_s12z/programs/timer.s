# A channel of TIM0 interrupts every 1000 ticks of the bus clock / 8 and counts in RAM; main waits in WAI.
start:	ld	s, #0x2f00
	mov.b	#0x01, 0x05c0		; TIOS: channel 0 compares
	mov.w	#1000, 0x05d0		; TC0
	mov.b	#0x03, 0x05cd		; TSCR2: / 8
	mov.b	#0x01, 0x05cc		; TIE
	mov.b	#0x80, 0x05c6		; TSCR1: TEN
	andcc	#-17
wait:	wai
	inc.w	0x2000			; wakes
	bra	wait
handler: mov.b	#0x01, 0x05ce		; TFLG1
	ld	d2, 0x05d0
	add	d2, #1000
	st	d2, 0x05d0
	inc.w	0x2002
	rti
