/* Every operand form, xb by xb, against the table of the reference (4.4) read once more, row by
 * row, without the decoder. */
#include "tests/sim_s12z/machine.h"

enum { ROUNDS = 300, FREE = 0x1800, FREE_END = 0x2F00 };

struct rng {
    uint64_t s;
};
static uint32_t random_value(struct rng *r)
{
    r->s = r->s * 6364136223846793005u + 1442695040888963407u;
    return (uint32_t)(r->s >> 24);
}

struct forms {
    struct machine m;
    struct rng rng;
    uint32_t *r;     /* the CPU's registers */
    uint8_t tail[3]; /* bytes behind xb */
    unsigned ntail;
    unsigned changed; /* register that the form moves, and by how much */
    int by;
};

static int32_t sign_extend(uint32_t v, unsigned bits)
{
    return v >> (bits - 1) & 1 ? (int32_t)(v | (bits < 32 ? 0xFFFFFFFFu << bits : 0)) : (int32_t)v;
}
static int32_t index_of(const struct forms *f, unsigned dn)
{
    return sign_extend(f->r[dn], 8 * s12z_reg_bytes((enum s12z_reg)dn));
}

static void set_tail(struct forms *f, unsigned n, uint32_t v)
{
    f->ntail = n;
    for (unsigned k = 0; k < n; k++)
        f->tail[k] = (uint8_t)(v >> (8 * (n - 1 - k)));
}

/* Chooses what is behind xb and the registers so that the form comes out at address `at` (before
 * indirection, if it has that). Returns false if xb has no address. size: of the access. */
static bool compose_form(struct forms *f, unsigned xb, uint32_t at, unsigned size, bool *indirect)
{
    static const unsigned bases[] = { S12Z_X, S12Z_Y, S12Z_S, S12Z_P };
    unsigned row = xb >> 4, low = xb & 15, base;
    uint32_t off = random_value(&f->rng);
    *indirect = false;
    f->changed = S12Z_NOREG;
    set_tail(f, 0, 0);
    if (row < 4) { /* 00-3F: 14 bits; only one page of them belongs to this xb */
        set_tail(f, 1, at & 0xFF);
        return (at >> 8) == xb;
    }
    if (row < 7) {
        f->r[bases[row - 4]] = (at - low) & 0xFFFFFF;
        return true;
    }
    if (row == 7)
        return false;
    if (row < 12 && low < 8) { /* 18-bit offset plus Dn as an unsigned number */
        unsigned bits = 8 * s12z_reg_bytes((enum s12z_reg)low);
        uint32_t reg = at - (off & 0x3FFFF);
        /* a narrow register cannot be negative: the offset does it all but a small part */
        if (bits < 24) {
            reg = off % 251;
            off = at - reg;
        }
        f->r[low] = reg & (bits == 32 ? 0xFFFFFFFF : (1u << bits) - 1);
        set_tail(f, 2, off & 0xFFFF);
        return (off >> 16 & 3) == (row & 3) && (bits >= 24 || at >= reg);
    }
    if (row == 11)
        return false; /* B8-BF: a register */
    if (row < 12) {
        f->r[bases[row - 8]] = (at - (uint32_t)index_of(f, low & 7)) & 0xFFFFFF;
        return true;
    }
    base = bases[row - 12];
    switch (xb) {
    case 0xC3:
    case 0xD3:
    case 0xE3:
    case 0xF3: /* before: C, D down, E, F up; C, E are X */
        f->changed = row & 1 ? S12Z_Y : S12Z_X;
        f->by = row < 14 ? -(int)size : (int)size;
        f->r[f->changed] = (at - (uint32_t)f->by) & 0xFFFFFF;
        return true;
    case 0xC7:
    case 0xD7:
    case 0xE7:
    case 0xF7:
        f->changed = row & 1 ? S12Z_Y : S12Z_X;
        f->by = row < 14 ? -(int)size : (int)size;
        f->r[f->changed] = at;
        return true;
    case 0xFB:
    case 0xFF:
        f->changed = S12Z_S;
        f->by = xb == 0xFB ? -(int)size : (int)size;
        f->r[S12Z_S] = xb == 0xFB ? at + size : at;
        return true;
    case 0xFA:
    case 0xFE:
        set_tail(f, 3, at);
        *indirect = xb == 0xFE;
        return true;
    case 0xF8:
    case 0xF9:
    case 0xFC:
    case 0xFD: set_tail(f, 2, at & 0xFFFF); return (at >> 16) == ((xb & 1) | (xb & 4 ? 2u : 0));
    }
    if (row >= 14 && low >= 8) { /* E8-EF: 24-bit offset plus Dn, unsigned */
        if (row == 15)
            return false;
        off = at - f->r[low & 7];
        set_tail(f, 3, off & 0xFFFFFF);
        return true;
    }
    if (low >= 8) { /* C8-DF */
        *indirect = true;
        f->r[base] = (at - (uint32_t)index_of(f, low & 7)) & 0xFFFFFF;
        return true;
    }
    *indirect = low & 4;
    if (low & 2) { /* C2, C6: 24-bit */
        off = base == S12Z_P ? at - CODE : off & 0xFFFFFF;
        set_tail(f, 3, off & 0xFFFFFF);
    } else { /* C0, C1, C4, C5: 9-bit, the sign in xb */
        if (base == S12Z_P)
            off = at - CODE;
        set_tail(f, 1, off & 0xFF);
        off = (off & 0xFF) - (xb & 1 ? 256u : 0);
        if (base == S12Z_P)
            return ((CODE + off) & 0xFFFFFF) == at;
    }
    if (base != S12Z_P)
        f->r[base] = (at - off) & 0xFFFFFF;
    return true;
}

static void scramble_registers(struct forms *f)
{
    for (unsigned k = 0; k <= S12Z_S; k++)
        f->r[k] =
            random_value(&f->rng) & (0xFFFFFFFFu >> (32 - 8 * s12z_reg_bytes((enum s12z_reg)k)));
}

/* Runs opcode xb tail; the registers but `dest` and the one the form moves are as before. */
static void step_form(struct forms *f, unsigned opcode, unsigned xb, unsigned dest)
{
    uint8_t code[5] = { (uint8_t)opcode, (uint8_t)xb, f->tail[0], f->tail[1], f->tail[2] };
    uint32_t before[S12Z_P];
    memcpy(before, f->r, sizeof before);
    machine_load(&f->m, CODE, code, 2 + f->ntail);
    f->m.cpu->state = CPU_BDM;
    f->r[S12Z_P] = CODE;
    cpu_step(f->m.cpu);
    assert_int_equal(f->r[S12Z_P], CODE + 2 + f->ntail);
    for (unsigned k = 0; k < S12Z_P; k++) {
        uint32_t want = before[k] + (k == f->changed ? (uint32_t)f->by : 0);
        if (k != dest &&
            f->r[k] != (want & (0xFFFFFFFFu >> (32 - 8 * s12z_reg_bytes((enum s12z_reg)k)))))
            fail_msg("opcode %02x xb %02x: %s is %x, was %x", opcode, xb,
                     s12z_reg_name((enum s12z_reg)k), f->r[k], before[k]);
    }
}

static void open_forms(struct forms *f)
{
    *f = (struct forms){ .m = machine_open(""), .rng = { 7 } };
    f->r = f->m.cpu->r;
}

/* A place in RAM that this xb can name. P-relative forms of 9 bits reach 256 bytes around the code
 * only. */
static uint32_t place_for(struct forms *f, unsigned xb)
{
    if (xb >= 0x18 && xb < 0x2F)
        return xb << 8 | (random_value(&f->rng) & 0xF0);
    if (xb == 0xF0 || xb == 0xF4)
        return CODE + 16 + random_value(&f->rng) % 0xE0;
    return FREE + 16 + random_value(&f->rng) % (FREE_END - FREE - 32);
}

static void load__every_form__reads_its_place(void **state)
{
    static const struct {
        uint8_t opcode, dest;
        unsigned size;
    } loads[] = { { 0xA4, S12Z_D0, 1 }, { 0xA1, S12Z_D3, 2 }, { 0xA7, S12Z_D7, 4 } };
    (void)state;
    struct forms f;
    unsigned tried[256] = { 0 };
    open_forms(&f);
    for (unsigned xb = 0; xb < 256; xb++)
        for (unsigned round = 0; round < ROUNDS; round++) {
            unsigned k = round % ARRAY_LEN(loads), size = loads[k].size;
            uint32_t at = place_for(&f, xb), v = random_value(&f.rng),
                     data = FREE + random_value(&f.rng) % 0x600;
            bool indirect;
            scramble_registers(&f);
            if (!compose_form(&f, xb, at, size, &indirect))
                continue;
            if (indirect && data < at + 3 && at < data + 4)
                continue; /* pointer and data would overlap */
            machine_put(&f.m, indirect ? data : at, 4, v);
            if (indirect)
                machine_put(&f.m, at, 3, data);
            step_form(&f, loads[k].opcode, xb, loads[k].dest);
            if (f.r[loads[k].dest] != v >> (32 - 8 * size))
                fail_msg("xb %02x, %u bytes at %x: %x, not %x", xb, size, at, f.r[loads[k].dest],
                         v);
            tried[xb]++;
        }
    for (unsigned xb = 0x40; xb < 0xF0; xb++) /* forms that can reach RAM were met */
        if ((xb >> 4) != 7 && !(xb >= 0x90 && xb <= 0xB7 && (xb & 8) == 0) && xb < 0xB0 &&
            !tried[xb])
            fail_msg("xb %02x never tried", xb);
    assert_true(tried[0x20] && tried[0xC0] && tried[0xD5] && tried[0xE6] && tried[0xF2] &&
                tried[0xF8] && tried[0xFE] && tried[0xFF]);
    machine_close(&f.m);
}

/* LEA gives the address itself: any of 24 bits. */
static void lea__every_form__wraps_at_24_bits(void **state)
{
    (void)state;
    struct forms f;
    unsigned tried[256] = { 0 };
    open_forms(&f);
    for (unsigned xb = 0; xb < 256; xb++)
        for (unsigned round = 0; round < ROUNDS; round++) {
            uint32_t at = random_value(&f.rng) & 0xFFFFFF;
            bool indirect;
            if (xb < 0x40)
                at = xb << 8 | (at & 0xFF);
            if ((xb >= 0x80 && xb < 0xB8 && !(xb & 8)) || (xb & 0xFA) == 0xF8)
                at &= 0x3FFFF;
            scramble_registers(&f);
            /* what moves a register does so by D6's size */
            if (!compose_form(&f, xb, at, 4, &indirect) || indirect)
                continue;
            step_form(&f, 0x06, xb, S12Z_D6);
            if (f.r[S12Z_D6] != at)
                fail_msg("xb %02x: %x, not %x", xb, f.r[S12Z_D6], at);
            tried[xb]++;
        }
    for (unsigned xb = 0; xb < 256; xb++) {
        bool p9 = xb == 0xF0 || xb == 0xF1,
             none = (xb >= 0x70 && xb < 0x80) || (xb >= 0xB8 && xb < 0xC0) ||
                    (xb >= 0xC8 && xb < 0xE0) ||
                    (xb >= 0xC0 && (xb & 0x0F) >= 4 && (xb & 0x0F) <= 6) || xb == 0xFE;
        if (!tried[xb] && !p9 && !none)
            fail_msg("xb %02x never tried", xb);
    }
    machine_close(&f.m);
}

static void store__registers_and_immediates__as_their_codes_say(void **state)
{
    (void)state;
    struct forms f;
    open_forms(&f);
    for (unsigned n = 0; n < 16; n++) { /* 70-7F: -1, 1 .. 15 */
        scramble_registers(&f);
        set_tail(&f, 0, 0);
        f.changed = S12Z_NOREG;
        step_form(&f, 0xA6, 0x70 + n, S12Z_D6);
        assert_int_equal(f.r[S12Z_D6], n ? n : 0xFFFFFFFF);
    }
    for (unsigned to = 0; to < 8; to++)
        for (unsigned from = 0; from < 8;
             from++) { /* LD Dto, Dfrom: wider ones are cut, narrower extended with their sign */
            unsigned have = 8 * s12z_reg_bytes((enum s12z_reg)from),
                     want = 8 * s12z_reg_bytes((enum s12z_reg)to);
            scramble_registers(&f);
            uint32_t v = (uint32_t)sign_extend(f.r[from], have);
            set_tail(&f, 0, 0);
            f.changed = S12Z_NOREG;
            step_form(&f, 0xA0 + to, 0xB8 + from, to);
            assert_int_equal(f.r[to], v & (0xFFFFFFFFu >> (32 - want)));
        }
    machine_close(&f.m);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(load__every_form__reads_its_place),
        cmocka_unit_test(lea__every_form__wraps_at_24_bits),
        cmocka_unit_test(store__registers_and_immediates__as_their_codes_say),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
