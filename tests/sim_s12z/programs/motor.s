# PMF reload triggers (by software) a conversion list of two channels; its end-of-list interrupt adds up what was read.
start:	ld	s, #0x2f00
	mov.b	#0x08, 0x0500		; PMFCFG0: edge-aligned A
	mov.w	#5000, 0x0524		; PMFMODA
	mov.b	#0x00, 0x0521		; PMFFQCA: every period
	mov.b	#0x83, 0x0520		; PMFENCA: PWMEN, LDOK, PWMRIE
	mov.b	#0x89, 0x0600		; ADC0CTL0: EN, access by software, trigger mode
	mov.b	#0x84, 0x0604		; ADC0FMT: right-justified, 12 bits
	mov.b	#0x00, 0x0603		; ADC0TIM
	mov.p	#0x2100, 0x061d		; ADC0CBP
	mov.p	#0x2200, 0x0621		; ADC0RBP
	mov.w	#0x0001, 0x060a		; ADC0CONIE: end of list
	mov.l	#0x00000000, 0x2100	; channel 0, goes on
	mov.l	#0xc0010000, 0x2104	; channel 1, end of list
	andcc	#-17
loop:	inc.l	0x2010
	bra	loop
reload:	bset.b	0x0521, #0		; PWMRF falls when a one is written
	mov.b	#0x40, 0x0605		; ADC0FLWCTL: TRIG
	inc.w	0x2000
	rti
done:	mov.w	#0x0001, 0x060c		; ADC0CONIF
	inc.w	0x2002
	ld	d2, 0x2200
	st	d2, 0x2004
	ld	d2, 0x2202
	st	d2, 0x2006
	rti
