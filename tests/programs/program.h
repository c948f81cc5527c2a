/* What the programs share: types without a library, and the frame in start.S. */
#ifndef PROGRAM_H
#define PROGRAM_H
typedef unsigned char u8;
typedef unsigned short u16;
typedef unsigned int u32;
typedef int s32;
/* What program() returns: seen on qemu. Where a plain function and its hand-written twin do the same work, both have to give it. */
extern const u32 expected;
u32 program(void);
#endif
