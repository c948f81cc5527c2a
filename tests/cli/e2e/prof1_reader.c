/* Reads a PROF1 file from standard input as a program of the machine that the format was made for
 * would: longs of 8 bytes, ints of 4, the most significant byte first, and the structures that
 * PA-64 declares in section 6. It shares nothing with the program that wrote the file. Compiled for
 * 64-bit big-endian MIPS, without a library, and run by qemu-user: see prof1.py. */

_Static_assert(sizeof(long) == 8 && sizeof(int) == 4, "LP64");
_Static_assert(__BYTE_ORDER__ == __ORDER_BIG_ENDIAN__, "most significant byte first");

enum { SAMPLES = 1, CALL_COUNTS = 2, CALL_ARCS = 3 };
struct prof_secthdr_samples {
    long sect_type, sect_size;
    unsigned long lowpc, highpc;
    int scale, entry_size;
};
struct prof_secthdr_call_counts {
    long sect_type, sect_size;
    int ncounters, counter_size;
};
struct prof_secthdr_call_arcs {
    long sect_type, sect_size;
    int narcs, counter_size;
};
struct arc {
    unsigned long from, to;
};

/* ---- Linux on MIPS, n64 ---- */

enum { SYS_READ = 5000, SYS_WRITE = 5001, SYS_EXIT = 5058 };
static unsigned char file[4 << 20];
static unsigned long size, at;

static long call_system(long number, long a, const void *b, unsigned long c)
{
    register long v0 __asm__("$2") = number;
    register long a0 __asm__("$4") = a;
    register const void *a1 __asm__("$5") = b;
    register unsigned long a2 __asm__("$6") = c;
    register long a3 __asm__("$7");
    __asm__ volatile("syscall"
                     : "+r"(v0), "=r"(a3)
                     : "r"(a0), "r"(a1), "r"(a2)
                     : "$1", "$3", "$8", "$9", "$10", "$11", "$12", "$13", "$14", "$15", "$24",
                       "$25", "memory");
    return a3 ? -1 : v0;
}

static void end_with(int status)
{
    for (;;)
        call_system(SYS_EXIT, status, 0, 0);
}

static void put_text(const char *text)
{
    unsigned long n = 0;
    while (text[n])
        n++;
    call_system(SYS_WRITE, 1, text, n);
}

static void put_number(unsigned long v)
{
    char text[24], *p = text + sizeof text;
    *--p = 0;
    do
        *--p = (char)('0' + v % 10);
    while (v /= 10);
    *--p = ' ';
    put_text(p);
}

static void put_row(const char *word, unsigned long a, unsigned long b)
{
    put_text(word);
    put_number(a);
    put_number(b);
    put_text("\n");
}

/* ---- the file ---- */

/* As fread() would. */
static void take_bytes(void *to, unsigned long n)
{
    unsigned char *p = to;
    if (n > size - at) {
        put_text("cut short\n");
        end_with(1);
    }
    while (n--)
        *p++ = file[at++];
}

static unsigned long take_counter(int bytes)
{
    unsigned short two;
    unsigned int four;
    unsigned long eight;
    switch (bytes) {
    case 2: take_bytes(&two, 2); return two;
    case 4: take_bytes(&four, 4); return four;
    case 8: take_bytes(&eight, 8); return eight;
    default:
        put_text("a counter of that size?\n");
        end_with(1);
        return 0;
    }
}

/* The first address that the mapping of section 1 leads to that bucket. */
static unsigned long first_pc(const struct prof_secthdr_samples *h, unsigned long bucket)
{
    unsigned long pc = h->lowpc;
    while ((pc - h->lowpc) * (unsigned long)h->scale / 65536 / (unsigned long)h->entry_size <
           bucket)
        pc++;
    return pc;
}

static void read_samples(unsigned long end)
{
    struct prof_secthdr_samples h;
    take_bytes(&h, sizeof h);
    put_row("samples", h.lowpc, h.highpc);
    put_row("scale", (unsigned long)h.scale, (unsigned long)h.entry_size);
    unsigned long n = 0;
    for (; at < end; n++) {
        unsigned long count = take_counter(h.entry_size);
        if (count)
            put_row("bucket", first_pc(&h, n), count);
    }
    put_row("buckets", n, 0);
}

static void read_counts(void)
{
    static unsigned long pc[65536];
    struct prof_secthdr_call_counts h;
    take_bytes(&h, sizeof h);
    for (int i = 0; i < h.ncounters; i++)
        take_bytes(&pc[i], sizeof pc[i]);
    for (int i = 0; i < h.ncounters; i++)
        put_row("count", pc[i], take_counter(h.counter_size));
}

static void read_arcs(void)
{
    static struct arc arc[65536];
    struct prof_secthdr_call_arcs h;
    take_bytes(&h, sizeof h);
    for (int i = 0; i < h.narcs; i++)
        take_bytes(&arc[i], sizeof arc[i]);
    for (int i = 0; i < h.narcs; i++) {
        put_text("arc");
        put_number(arc[i].from);
        put_row("", arc[i].to, take_counter(h.counter_size));
    }
}

static void read_section(void)
{
    long head[2];
    unsigned long begin = at;
    take_bytes(head, sizeof head);
    at = begin;
    switch (head[0]) {
    case SAMPLES: read_samples(begin + (unsigned long)head[1]); break;
    case CALL_COUNTS: read_counts(); break;
    case CALL_ARCS: read_arcs(); break;
    default: at = begin + (unsigned long)head[1]; break;
    }
    if (at != begin + (unsigned long)head[1]) {
        put_text("a section ends elsewhere than it says\n");
        end_with(1);
    }
}

void start_reader(void)
{
    static const char magic[] = "<PROF1>\n";
    long n;
    while ((n = call_system(SYS_READ, 0, file + size, sizeof file - size)) > 0)
        size += (unsigned long)n;
    for (; at < 8; at++)
        if (at >= size || file[at] != (unsigned char)magic[at])
            end_with(2);
    while (at < size)
        read_section();
    end_with(0);
}
