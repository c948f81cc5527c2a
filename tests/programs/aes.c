/* AES-128: key schedule and encryption of two blocks; the S-box is computed, multiplication by x of four bytes at once is in aes_fast.S. */
#include "program.h"
const u32 expected = 0x10b3ddcd;
static u8 sbox[256], state[16], key[176];
u32 xtime4_fast(u32 four);
static u8 rotate(u8 x, u32 n) { return x << n | x >> (8 - n); }
static void make_sbox(void)
{
    u8 p = 1, q = 1; /* p runs through all elements, q is its inverse */
    do {
        p = p ^ p << 1 ^ (p & 0x80 ? 0x1B : 0);
        q ^= q << 1;
        q ^= q << 2;
        q ^= q << 4;
        q ^= q & 0x80 ? 0x09 : 0;
        sbox[p] = q ^ rotate(q, 1) ^ rotate(q, 2) ^ rotate(q, 3) ^ rotate(q, 4) ^ 0x63;
    } while (p != 1);
    sbox[0] = 0x63;
}
static u8 xtime(u8 v) { return v << 1 ^ (v & 0x80 ? 0x1B : 0); }
static void expand(void)
{
    u8 round = 1, t[4];
    for (u32 k = 16; k < 176; k += 4) {
        for (u32 n = 0; n < 4; n++)
            t[n] = key[k - 4 + n];
        if (k % 16 == 0) {
            u8 first = t[0];
            for (u32 n = 0; n < 3; n++)
                t[n] = sbox[t[n + 1]];
            t[3] = sbox[first];
            t[0] ^= round;
            round = xtime(round);
        }
        for (u32 n = 0; n < 4; n++)
            key[k + n] = key[k - 16 + n] ^ t[n];
    }
}
static void add_key(u32 round)
{
    for (u32 k = 0; k < 16; k++)
        state[k] ^= key[16 * round + k];
}
static void substitute(void)
{
    u8 t[16];
    for (u32 k = 0; k < 16; k++)
        t[k] = sbox[state[k]];
    for (u32 k = 0; k < 16; k++)
        state[k] = t[(k + 4 * (k & 3)) & 15];
}
static void mix_column(u8 *c)
{
    u32 v = c[0] | c[1] << 8 | c[2] << 16 | (u32)c[3] << 24, x = xtime4_fast(v);
    u32 r1 = v >> 8 | v << 24, x1 = x >> 8 | x << 24, r2 = v >> 16 | v << 16, r3 = v >> 24 | v << 8;
    v = x ^ x1 ^ r1 ^ r2 ^ r3;
    for (u32 k = 0; k < 4; k++)
        c[k] = v >> 8 * k;
}
static void encrypt(void)
{
    add_key(0);
    for (u32 round = 1; round <= 10; round++) {
        substitute();
        if (round < 10)
            for (u32 k = 0; k < 16; k += 4)
                mix_column(state + k);
        add_key(round);
    }
}
u32 program(void)
{
    u32 sum = 0;
    make_sbox();
    for (u32 k = 0; k < 16; k++) { /* FIPS-197, appendix C.1: 69c4e0d8 6a7b0430 d8cdb780 70b4c55a */
        key[k] = k;
        state[k] = k * 0x11;
    }
    expand();
    encrypt();
    if (state[0] != 0x69 || state[1] != 0xC4 || state[14] != 0xC5 || state[15] != 0x5A)
        return 0;
    encrypt();
    for (u32 k = 0; k < 16; k++)
        sum = sum * 257 + state[k];
    return sum;
}
