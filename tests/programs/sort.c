/* Quicksort with an insertion sort for short runs; heap sort; a merge whose inner loop is in sort_fast.S. */
#include "program.h"
const u32 expected = 0x0c57b02f;
enum { N = 48 };
static u32 a[N], b[N], c[N], tmp[N];
void merge_fast(u32 *out, const u32 *x, const u32 *y, u32 nx, u32 ny);
static u32 seed;
static u32 next_random(void) { seed = seed * 1103515245 + 12345; return seed >> 8; }
static void swap(u32 *x, u32 *y) { u32 t = *x; *x = *y; *y = t; }
static void insertion(u32 *v, s32 lo, s32 hi)
{
    for (s32 i = lo + 1; i <= hi; i++)
        for (s32 k = i; k > lo && v[k - 1] > v[k]; k--)
            swap(&v[k - 1], &v[k]);
}
static s32 partition(u32 *v, s32 lo, s32 hi)
{
    u32 pivot = v[hi];
    s32 at = lo;
    for (s32 k = lo; k < hi; k++)
        if (v[k] < pivot)
            swap(&v[k], &v[at++]);
    swap(&v[at], &v[hi]);
    return at;
}
static void quick(u32 *v, s32 lo, s32 hi)
{
    if (hi - lo < 6) {
        insertion(v, lo, hi);
        return;
    }
    s32 p = partition(v, lo, hi);
    quick(v, lo, p - 1);
    quick(v, p + 1, hi);
}
static void sift(u32 *v, s32 root, s32 n)
{
    for (s32 child = 2 * root + 1; child < n; root = child, child = 2 * root + 1) {
        if (child + 1 < n && v[child] < v[child + 1])
            child++;
        if (v[root] >= v[child])
            return;
        swap(&v[root], &v[child]);
    }
}
static void heap(u32 *v, s32 n)
{
    for (s32 k = n / 2; k-- > 0;)
        sift(v, k, n);
    while (n > 1) {
        swap(&v[0], &v[--n]);
        sift(v, 0, n);
    }
}
static void merge_sort(u32 *v, u32 n)
{
    if (n < 2)
        return;
    merge_sort(v, n / 2);
    merge_sort(v + n / 2, n - n / 2);
    merge_fast(tmp, v, v + n / 2, n / 2, n - n / 2);
    for (u32 k = 0; k < n; k++)
        v[k] = tmp[k];
}
u32 program(void)
{
    u32 sum = 0;
    for (u32 k = 0; k < N; k++)
        a[k] = b[k] = c[k] = next_random();
    quick(a, 0, N - 1);
    heap(b, N);
    merge_sort(c, N);
    for (u32 k = 0; k < N; k++) {
        if (a[k] != b[k] || a[k] != c[k])
            return 0xDEAD0000 + k;
        sum = sum * 31 + a[k];
    }
    return sum;
}
