/* One of the models as a program, for tests that start probeprof.
 * usage: emulator NAME ELF [halted]    its socket is its first line of output; ends when its input
 * does */
#include <elf.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <unistd.h>

#include <cmocka.h>

#include "tests/sh4_rsp/emu.h"

enum { MOST = 1 << 20 };

static const struct emu_kind *kind_of(const char *name)
{
    static const struct emu_kind *const kinds[] = { &emu_flycast, &emu_lxdream, &emu_redream,
                                                    &emu_washingtondc };
    for (size_t i = 0; i < sizeof kinds / sizeof *kinds; i++)
        if (!strcasecmp(kinds[i]->name, name))
            return kinds[i];
    return NULL;
}

/* Little-endian ELF files on a little-endian host. The model's thread stands: its program is halted
 * and nobody has connected. */
static bool load_elf(struct emu *e, const char *path)
{
    static char file[MOST];
    FILE *f = fopen(path, "rb");
    size_t n = f ? fread(file, 1, sizeof file, f) : 0;
    const Elf32_Ehdr *h = (const Elf32_Ehdr *)(const void *)file;
    if (f)
        fclose(f);
    if (n < sizeof *h || n == sizeof file || memcmp(file, ELFMAG, SELFMAG))
        return false;
    for (unsigned i = 0; i < h->e_phnum; i++) {
        Elf32_Phdr p;
        memcpy(&p, file + h->e_phoff + i * sizeof p, sizeof p);
        if (p.p_type == PT_LOAD && p.p_offset + p.p_filesz <= n)
            emu_write(e, p.p_vaddr, (const uint8_t *)file + p.p_offset, p.p_filesz);
    }
    e->cpu.pc = h->e_entry;
    e->next_pc = h->e_entry + 2;
    return true;
}

int main(int argc, char **argv)
{
    struct emu *e = calloc(1, sizeof *e);
    const struct emu_kind *kind = argc >= 3 ? kind_of(argv[1]) : NULL;
    if (!e || !kind)
        return 2;
    emu_start(e, kind, NULL, true);
    bool good = load_elf(e, argv[2]);
    if (good) {
        atomic_store(&e->let_run, argc < 4 && !kind->waits);
        printf("%s\n", e->path);
        fflush(stdout);
        while (getchar() != EOF)
            ;
    }
    unsigned refused = atomic_load(&e->refused);
    emu_stop(e);
    free(e);
    return good && !refused ? 0 : 1;
}
