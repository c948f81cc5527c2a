# RTI every 1000 us of the 1 MHz reference; the watchdog runs and is served by the handler until the count reaches 20.
start:	ld	s, #0x2f00
	mov.b	#0x80, 0x06cb		; CPMURTI: decimal, 1000
	mov.b	#0x80, 0x06c8		; RTIE
	mov.b	#0x01, 0x06cc		; CPMUCOP: 2^14 us
	andcc	#-17
loop:	inc.l	0x2010
	bra	loop
handler: mov.b	#0x80, 0x06c7		; RTIF
	inc.w	0x2000
	ld	d2, 0x2000
	cmp	d2, #20
	bhs	done
	mov.b	#0x55, 0x06cf
	mov.b	#0xaa, 0x06cf
done:	rti
