/* The ELF half: sections, symbol names, function claims of the symbol table, build id. */
#include <elfutils/libdwelf.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "probe/base/array.h"
#include "probe/base/choice.h"
#include "probe/base/util.h"
#include "profiler/core/symbols_priv.h"

/* binutils and GDB give S12Z a number of their own (EM_S12Z in include/elf/common.h of 2.40); 249
 * is the registered one. */
enum { MACHINE_SH = 42, MACHINE_S12Z = 249, MACHINE_S12Z_GNU = 0x4DEF };
/* Ranks of claims to one address; DWARF's, in symbols_dwarf.c, is 3. */
enum { RANK_WEAK_LABEL = 1, RANK_LABEL = 2, RANK_LOCAL = 4, RANK_WEAK = 5, RANK_GLOBAL = 6 };

static int cut_short(const struct symbols *s, const char *path, const char *what, uint64_t end,
                     struct err *err)
{
    return err_set(err, ERR_FORMAT, "copy or build the file again",
                   "%s: cut short: %s reaches to offset %llu, the file has %zu bytes", path, what,
                   (unsigned long long)end, s->nbytes);
}

/* The machine's name for messages. Source: the System V ABI's list of e_machine, as elf.h has it.
 */
static const char *machine_name(unsigned machine)
{
    static const struct {
        unsigned machine;
        const char *name;
    } rows[] = {
        { EM_386, "x86" },       { EM_68K, "68000" },       { EM_MIPS, "MIPS" },
        { EM_PPC, "PowerPC" },   { EM_ARM, "ARM" },         { EM_SPARC, "SPARC" },
        { EM_X86_64, "x86-64" }, { EM_68HC12, "HC12" },     { EM_68HC11, "HC11" },
        { EM_AVR, "AVR" },       { EM_V850, "V850" },       { EM_MSP430, "MSP430" },
        { EM_XTENSA, "Xtensa" }, { EM_RX, "RX" },           { EM_AARCH64, "ARM64" },
        { EM_RISCV, "RISC-V" },  { EM_TRICORE, "TriCore" }, { EM_H8_300, "H8/300" },
        { EM_IA_64, "Itanium" }, { EM_S390, "S/390" },
    };
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++)
        if (rows[i].machine == machine)
            return rows[i].name;
    return NULL;
}

static int check_machine(struct symbols *s, const char *path, const GElf_Ehdr *eh, struct err *err)
{
    s->machine = eh->e_machine;
    if (s->machine == MACHINE_S12Z_GNU)
        s->machine = MACHINE_S12Z;
    const char *name = machine_name(eh->e_machine);
    if (s->machine != MACHINE_SH && s->machine != MACHINE_S12Z && name)
        return err_set(err, ERR_FORMAT,
                       "give the program that runs on the board, built for SH or S12Z",
                       "%s: a program for %s", path, name);
    if (s->machine != MACHINE_SH && s->machine != MACHINE_S12Z)
        return err_set(
            err, ERR_FORMAT, "give the program that runs on the board, built for SH or S12Z",
            "%s: a program for another CPU (number %u in ELF's list)", path, eh->e_machine);
    if (eh->e_type == ET_REL)
        return err_set(err, ERR_FORMAT, "give the linked program",
                       "%s: an object file, not a linked program", path);
    return 0;
}

static int check_tables(const struct symbols *s, const char *path, const GElf_Ehdr *eh,
                        struct err *err)
{
    uint64_t sections = eh->e_shoff + (uint64_t)eh->e_shnum * eh->e_shentsize;
    uint64_t segments = eh->e_phoff + (uint64_t)eh->e_phnum * eh->e_phentsize;
    if (eh->e_shoff && (sections > s->nbytes || sections < eh->e_shoff))
        return cut_short(s, path, "the section table", sections, err);
    if (eh->e_phoff && (segments > s->nbytes || segments < eh->e_phoff))
        return cut_short(s, path, "the program header table", segments, err);
    return 0;
}

/* Section offsets are within the file; sizes of sections without bytes do not count. */
static int check_section(const struct symbols *s, const char *path, const char *name,
                         const GElf_Shdr *sh, struct err *err)
{
    uint64_t end = sh->sh_offset + sh->sh_size;
    if (sh->sh_type == SHT_NOBITS || sh->sh_type == SHT_NULL)
        return 0;
    if (end <= s->nbytes && end >= sh->sh_offset)
        return 0;
    char what[80];
    snprintf(what, sizeof what, "section %.60s", text_or(text_given(name), "(no name)"));
    return cut_short(s, path, what, end, err);
}

static void add_section(struct symbols *s, const char *name, const GElf_Shdr *sh, size_t number)
{
    s->elf_section[s->image.nsections] = (uint32_t)number;
    s->sections[s->image.nsections++] = (struct image_section){
        .name = text_or(name, ""),
        .addr = sh->sh_addr,
        .size = sh->sh_size,
        .data = sh->sh_type == SHT_NOBITS ? NULL : s->bytes + sh->sh_offset,
        .code = (sh->sh_flags & SHF_EXECINSTR) != 0,
        .writable = (sh->sh_flags & SHF_WRITE) != 0,
    };
}

/* Physical addresses mean nothing where all of them are 0, as some linkers leave them. */
static bool has_load_addresses(const struct symbols *s, size_t nsegments)
{
    GElf_Phdr ph;
    for (size_t i = 0; i < nsegments; i++)
        if (gelf_getphdr(s->elf, (int)i, &ph) && ph.p_type == PT_LOAD && ph.p_paddr)
            return true;
    return false;
}

enum { SEGMENTS_MOST = 1024 }; /* linkers make a handful */

/* A section's bytes are loaded where its segment says: p_paddr. */
static int find_load_addresses(struct symbols *s, const char *path, size_t nsegments,
                               struct err *err)
{
    GElf_Phdr ph;
    uint64_t *load = arena_alloc(&s->arena, (s->image.nsections + 1) * sizeof *load);
    if (!load)
        return err_set(err, ERR_NOMEM, "", "%s: out of memory", path);
    bool known = has_load_addresses(s, nsegments);
    if (nsegments > SEGMENTS_MOST)
        return err_set(err, ERR_FORMAT, "is it a linked program?", "%s: %zu segments", path,
                       nsegments);
    for (size_t k = 0; k < s->image.nsections; k++) {
        const struct image_section *sec = &s->sections[k];
        uint64_t at = 0;
        if (sec->data)
            at = (uint64_t)(sec->data - s->bytes);
        load[k] = sec->addr;
        for (size_t i = 0; sec->data && known && i < nsegments; i++)
            if (gelf_getphdr(s->elf, (int)i, &ph) && ph.p_type == PT_LOAD && at >= ph.p_offset &&
                at - ph.p_offset < ph.p_filesz && sec->addr - ph.p_vaddr == at - ph.p_offset)
                load[k] = sec->addr - ph.p_vaddr + ph.p_paddr;
    }
    s->image.load_addr = load;
    return 0;
}

static int read_sections(struct symbols *s, const char *path, size_t count, struct err *err)
{
    size_t strings = 0;
    GElf_Shdr sh;
    s->sections = arena_alloc(&s->arena, (count + 1) * sizeof *s->sections);
    s->elf_section = arena_alloc(&s->arena, (count + 1) * sizeof *s->elf_section);
    if (!s->sections || !s->elf_section)
        return err_set(err, ERR_NOMEM, "", "%s: out of memory", path);
    elf_getshdrstrndx(s->elf, &strings);
    for (Elf_Scn *scn = NULL; (scn = elf_nextscn(s->elf, scn));) {
        if (!gelf_getshdr(scn, &sh))
            return err_set(err, ERR_FORMAT, "copy or build the file again", "%s: %s", path,
                           elf_errmsg(-1));
        const char *name = elf_strptr(s->elf, strings, sh.sh_name);
        int ret = check_section(s, path, name, &sh, err);
        if (ret < 0)
            return ret;
        if (sh.sh_type != SHT_NULL && sh.sh_flags & SHF_ALLOC && sh.sh_size)
            add_section(s, name, &sh, elf_ndxscn(scn));
    }
    return 0;
}

/* An ELF without section table: loaded segments stand in. */
static int read_segments(struct symbols *s, const char *path, size_t count, struct err *err)
{
    GElf_Phdr ph;
    s->sections = arena_alloc(&s->arena, (2 * count + 1) * sizeof *s->sections);
    s->elf_section = arena_alloc(&s->arena, (2 * count + 1) * sizeof *s->elf_section);
    if (!s->sections || !s->elf_section)
        return err_set(err, ERR_NOMEM, "", "%s: out of memory", path);
    for (size_t i = 0; i < count; i++) {
        if (!gelf_getphdr(s->elf, (int)i, &ph) || ph.p_type != PT_LOAD || !ph.p_memsz)
            continue;
        if (ph.p_offset + ph.p_filesz > s->nbytes || ph.p_offset + ph.p_filesz < ph.p_offset)
            return cut_short(s, path, "a segment", ph.p_offset + ph.p_filesz, err);
        GElf_Shdr sh = { .sh_type = SHT_PROGBITS,
                         .sh_addr = ph.p_vaddr,
                         .sh_size = ph.p_filesz,
                         .sh_offset = ph.p_offset };
        sh.sh_flags =
            bits_if(ph.p_flags & PF_X, SHF_EXECINSTR) | bits_if(ph.p_flags & PF_W, SHF_WRITE);
        if (ph.p_filesz)
            add_section(s, "(segment)", &sh, SHN_UNDEF);
        if (ph.p_memsz <= ph.p_filesz)
            continue;
        sh.sh_type = SHT_NOBITS;
        sh.sh_addr += ph.p_filesz;
        sh.sh_size = ph.p_memsz - ph.p_filesz;
        add_section(s, "(segment)", &sh, SHN_UNDEF);
    }
    return 0;
}

static int claim_rank(const GElf_Sym *sym)
{
    int bind = GELF_ST_BIND(sym->st_info);
    bool label = GELF_ST_TYPE(sym->st_info) == STT_NOTYPE;
    if (label && bind == STB_LOCAL)
        return 0; /* local labels are places inside of functions */
    if (label && bind == STB_WEAK)
        return RANK_WEAK_LABEL;
    if (label)
        return RANK_LABEL;
    if (bind == STB_GLOBAL)
        return RANK_GLOBAL;
    if (bind == STB_WEAK)
        return RANK_WEAK;
    return RANK_LOCAL;
}

static bool add_claim(struct symbols *s, const GElf_Sym *sym, const char *name)
{
    int type = GELF_ST_TYPE(sym->st_info), rank = claim_rank(sym);
    if ((type != STT_FUNC && type != STT_NOTYPE) || !rank || sym->st_shndx == SHN_ABS)
        return true;
    uint64_t low = overlay_address(sym->st_value, sym_overlay_of(s, sym->st_shndx));
    const struct image_section *section = sym_section(s, low);
    if (!section || !section->code)
        return true;
    if (!array_room(&s->claims, s->nclaims, &s->cap_claims, sizeof *s->claims))
        return false;
    uint64_t most = sym_section_low(s, section, low) + section->size - low;
    s->claims[s->nclaims++] =
        (struct claim){ .low = low,
                        .high =
                            low + (overlay_number(low) ? MIN(sym->st_size, most) : sym->st_size),
                        .linkage = name,
                        .rank = rank };
    return true;
}

static bool useful_name(const GElf_Sym *sym, const char *name)
{
    int type = GELF_ST_TYPE(sym->st_info);
    return name && *name && *name != '.' && *name != '$' && sym->st_shndx != SHN_UNDEF &&
           type != STT_FILE && type != STT_SECTION && type != STT_TLS;
}

static bool add_symbols(struct symbols *s, Elf_Data *data, const GElf_Shdr *sh, size_t *cap)
{
    size_t n = 0;
    if (sh->sh_entsize)
        n = sh->sh_size / sh->sh_entsize;
    GElf_Sym sym;
    for (size_t i = 1; i < n && gelf_getsym(data, (int)i, &sym); i++) {
        const char *name = elf_strptr(s->elf, sh->sh_link, sym.st_name);
        if (!useful_name(&sym, name))
            continue;
        if (!array_room(&s->names, s->nnames, cap, sizeof *s->names) || !add_claim(s, &sym, name))
            return false;
        s->names[s->nnames++] =
            (struct symbol_name){ name, sym.st_value, GELF_ST_BIND(sym.st_info) != STB_LOCAL };
    }
    return true;
}

static int by_name(const void *a, const void *b)
{
    const struct symbol_name *x = a, *y = b;
    int d = strcmp(x->name, y->name);
    if (d)
        return d;
    if (x->rank != y->rank)
        return y->rank - x->rank;
    return (x->addr > y->addr) - (x->addr < y->addr);
}

/* The full table if there is one, else the dynamic one. */
static int read_symbols(struct symbols *s, const char *path, struct err *err)
{
    GElf_Shdr sh;
    size_t cap = 0;
    static const GElf_Word kinds[] = { SHT_SYMTAB, SHT_DYNSYM };
    for (size_t k = 0; k < 2 && !s->nnames; k++)
        for (Elf_Scn *scn = NULL; (scn = elf_nextscn(s->elf, scn));) {
            if (!gelf_getshdr(scn, &sh) || sh.sh_type != kinds[k])
                continue;
            Elf_Data *data = elf_getdata(scn, NULL);
            if (data && !add_symbols(s, data, &sh, &cap))
                return err_set(err, ERR_NOMEM, "", "%s: out of memory", path);
        }
    if (s->nnames)
        qsort(s->names, s->nnames, sizeof *s->names, by_name);
    return 0;
}

static void read_build_id(struct symbols *s)
{
    const void *id;
    ssize_t n = dwelf_elf_gnu_build_id(s->elf, &id);
    if (n <= 0)
        return;
    s->image.build_id_len = MIN((size_t)n, sizeof s->image.build_id);
    memcpy(s->image.build_id, id, s->image.build_id_len);
}

int symbols_read_elf(struct symbols *s, const char *path, struct err *err)
{
    GElf_Ehdr eh;
    size_t nsections = 0, nsegments = 0;
    int ret;
    elf_version(EV_CURRENT);
    bool magic = s->nbytes >= SELFMAG && !memcmp(s->bytes, ELFMAG, SELFMAG);
    if (!magic)
        return err_set(err, ERR_FORMAT, "give the linked program in ELF format",
                       "%s: not an ELF file", path);
    s->elf = elf_memory((char *)s->bytes, s->nbytes);
    if (!s->elf || elf_kind(s->elf) != ELF_K_ELF || !gelf_getehdr(s->elf, &eh))
        return err_set(err, ERR_FORMAT, "copy or build the file again",
                       "%s: cut short or damaged: no whole ELF header in its %zu bytes", path,
                       s->nbytes);
    if ((ret = check_machine(s, path, &eh, err)) < 0 || (ret = check_tables(s, path, &eh, err)) < 0)
        return ret;
    s->image.big_endian = eh.e_ident[EI_DATA] == ELFDATA2MSB;
    s->image.entry = eh.e_entry;
    elf_getshdrnum(s->elf, &nsections);
    elf_getphdrnum(s->elf, &nsegments);
    if (nsections > 1)
        ret = read_sections(s, path, nsections, err);
    else
        ret = read_segments(s, path, nsegments, err);
    if (ret < 0)
        return ret;
    ret = find_load_addresses(s, path, nsegments, err);
    if (ret == 0)
        ret = symbols_find_overlays(s, err);
    if (ret == 0)
        ret = symbols_index_sections(s, err);
    if (ret < 0)
        return ret;
    s->image.sections = s->sections;
    read_build_id(s);
    return read_symbols(s, path, err);
}
