/* A first-fit allocator with coalescing, under a list that grows and shrinks; clearing is in allocator_fast.S. */
#include "program.h"
const u32 expected = 0x799183ec;
enum { WORDS = 512, SLOTS = 12 };
static u32 arena[WORDS]; /* a block: its words << 1 | used, then its data */
static u32 *slot[SLOTS];
static u32 seed = 1;
void *clear_fast(void *p, u32 words);
static u32 next_random(void) { seed = seed * 1664525 + 1013904223; return seed >> 16; }
static u32 size_of(const u32 *b) { return *b >> 1; }
static u32 is_used(const u32 *b) { return *b & 1; }
static u32 *following(u32 *b) { return b + size_of(b); }
static void join(u32 *b)
{
    for (u32 *n = following(b); n < arena + WORDS && !is_used(n); n = following(b))
        *b += *n;
}
static void *allocate(u32 words)
{
    words++;
    for (u32 *b = arena; b < arena + WORDS; b = following(b)) {
        if (is_used(b))
            continue;
        join(b);
        if (size_of(b) < words)
            continue;
        if (size_of(b) > words)
            b[words] = (size_of(b) - words) << 1;
        *b = words << 1 | 1;
        return clear_fast(b + 1, words - 1);
    }
    return 0;
}
static void release(u32 *p) { p[-1] &= ~1u; }
static u32 check(void)
{
    u32 words = 0;
    for (u32 *b = arena; b < arena + WORDS; b = following(b))
        words += size_of(b);
    return words == WORDS;
}
u32 program(void)
{
    u32 sum = 0;
    arena[0] = WORDS << 1;
    for (u32 n = 0; n < 60; n++) {
        u32 k = next_random() % 4 + 4 * (n % 3), words = 1 + (next_random() & 63);
        if (slot[k]) {
            sum += slot[k][0];
            release(slot[k]);
            slot[k] = 0;
        } else if ((slot[k] = allocate(words))) {
            slot[k][0] = n;
            slot[k][words - 1] += words;
        } else {
            sum += 1000;
        }
        sum = sum * 3 + check();
    }
    return sum;
}
