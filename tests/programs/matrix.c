/* 4x4 matrices of floats: products by loops and by FMOV pairs; a power, a determinant. */
#include "program.h"
const u32 expected = 0x5a84f536;
typedef float matrix[16];
static matrix a __attribute__((aligned(8))), b __attribute__((aligned(8))), c __attribute__((aligned(8))), d __attribute__((aligned(8)));
void product_fast(float *out, const float *x, const float *y);
static float element(const float *m, u32 row, u32 col) { return m[4 * row + col]; }
static void product(float *out, const float *x, const float *y)
{
    for (u32 r = 0; r < 4; r++)
        for (u32 k = 0; k < 4; k++) {
            float s = 0;
            for (u32 m = 0; m < 4; m++)
                s += element(x, r, m) * element(y, m, k);
            out[4 * r + k] = s;
        }
}
static void copy(float *out, const float *in)
{
    for (u32 k = 0; k < 16; k++)
        out[k] = in[k];
}
static float minor3(const float *m, u32 row, u32 col)
{
    float v[9];
    u32 n = 0;
    for (u32 r = 0; r < 4; r++)
        for (u32 k = 0; k < 4; k++)
            if (r != row && k != col)
                v[n++] = element(m, r, k);
    return v[0] * (v[4] * v[8] - v[5] * v[7]) - v[1] * (v[3] * v[8] - v[5] * v[6]) + v[2] * (v[3] * v[7] - v[4] * v[6]);
}
static float determinant(const float *m)
{
    float s = 0, sign = 1;
    for (u32 k = 0; k < 4; k++, sign = -sign)
        s += sign * element(m, 0, k) * minor3(m, 0, k);
    return s;
}
u32 program(void)
{
    s32 sum = 0;
    for (u32 k = 0; k < 16; k++) {
        a[k] = (float)(s32)(k % 5) - 1;
        b[k] = (float)(s32)(k % 3);
    }
    for (u32 round = 0; round < 6; round++) {
        product(c, a, b);
        product_fast(d, a, b);
        for (u32 k = 0; k < 16; k++) {
            if (c[k] != d[k])
                return 0xBAD00000 + 16 * round + k;
            sum = sum * 17 + (s32)c[k];
            b[k] = c[k] > 100 || c[k] < -100 ? (float)(s32)(k & 3) : c[k];
        }
        copy(c, a);
    }
    return (u32)(sum + (s32)determinant(a));
}
