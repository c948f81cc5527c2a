/* What the programs share: types without a library, and the frame in start.S. */
#ifndef PROGRAM_H
#define PROGRAM_H
typedef unsigned char u8;
typedef unsigned short u16;
typedef unsigned int u32;
typedef int s32;
extern const u32 expected; /* what program() returns: seen on qemu, and the same by the plain and the fast functions */
u32 program(void);
#endif
