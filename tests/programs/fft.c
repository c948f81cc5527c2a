/* Radix-2 FFT of 32 points in fixed point (Q14) and back; the butterfly is in fft_fast.S. */
#include "program.h"
const u32 expected = 0x1a8b59d3;
enum { N = 32 };
static s32 re[N], im[N];
/* Q14 cosine of k * 2 pi / 32, a quarter of it */
static const s32 quarter[9] = { 16384, 16069, 15137, 13623, 11585, 9102, 6270, 3196, 0 };
void butterfly_fast(s32 *re, s32 *im, s32 *twiddle, u32 bytes);
static s32 cosine(u32 k)
{
    k &= N - 1;
    if (k <= 8)
        return quarter[k];
    if (k <= 16)
        return -quarter[16 - k];
    if (k <= 24)
        return -quarter[k - 16];
    return quarter[32 - k];
}
static s32 sine(u32 k) { return cosine(k + 3 * N / 4); }
static u32 reversed(u32 k)
{
    u32 r = 0;
    for (u32 bit = 1; bit < N; bit <<= 1, k >>= 1)
        r = r << 1 | (k & 1);
    return r;
}
static void shuffle(s32 *v)
{
    for (u32 k = 0; k < N; k++) {
        u32 r = reversed(k);
        if (r > k) {
            s32 t = v[k];
            v[k] = v[r];
            v[r] = t;
        }
    }
}
static void transform(s32 sign)
{
    s32 twiddle[2];
    shuffle(re);
    shuffle(im);
    for (u32 half = 1; half < N; half <<= 1)
        for (u32 k = 0; k < half; k++) {
            u32 step = 0;
            for (u32 m = half; m < N / 2; m <<= 1)
                step++;
            twiddle[0] = cosine(k << step);
            twiddle[1] = sign * sine(k << step);
            for (u32 at = k; at < N; at += 2 * half)
                butterfly_fast(&re[at], &im[at], twiddle, half * 4);
        }
}
u32 program(void)
{
    u32 sum = 0;
    for (u32 k = 0; k < N; k++)
        re[k] = (s32)((k * 7919) & 1023) - 512;
    transform(-1);
    for (u32 k = 0; k < N; k++)
        sum = sum * 33 + (u32)(re[k] ^ im[k]);
    transform(1);
    for (u32 k = 0; k < N; k++)
        sum = sum * 33 + (u32)(re[k] >> 5);
    return sum;
}
