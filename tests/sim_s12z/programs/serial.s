# Sends a text over SCI0, then sends back what comes in, one greater; interrupt-driven receiver.
start:	ld	s, #0x2f00
	mov.w	#434, 0x0700		; 50 MHz / 434: 115200 baud
	mov.b	#0x2c, 0x0703		; RIE, TE, RE
	lea	x, text
next:	ld	d0, (0,x)
	beq	listen
send:	brclr.b	0x0704, #7, send	; until TDRE
	st	d0, 0x0707
	lea	x, (1,x)
	bra	next
listen:	andcc	#-17
idle:	wai
	bra	idle
handler: ld	d0, 0x0704
	ld	d0, 0x0707
	inc	d0
	st	d0, 0x0707
	rti
text:	.ascii	"ready\n"
	.byte	0
