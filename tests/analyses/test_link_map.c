/* Maps of GNU ld as text: what is read of them, and what is refused. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include "probe/base/util.h"
#include "profiler/analyses/link_map.h"

static const char head[] =
    "Discarded input sections\n\n .text.gone    0x00000000       0x1e a.o\n\n"
    "Linker script and memory map\n\nLOAD a.o\n"
    "                0x0c010000                        . = 0xc010000\n\n";

static struct link_map read_map(const char *text)
{
    struct link_map m;
    char all[4096];
    snprintf(all, sizeof all, "%s%s", head, text);
    assert_int_equal(link_map_parse(all, strlen(all), "m", &m, NULL), 0);
    return m;
}

static void check_row(const struct link_map *m, size_t i, const char *output, const char *name,
                      const char *object, uint64_t addr, uint64_t size, uint32_t align)
{
    const struct link_section *s = &m->section[i];
    assert_string_equal(s->output, output);
    assert_string_equal(s->name, name);
    assert_string_equal(s->object, object);
    assert_int_equal(s->addr, addr);
    assert_int_equal(s->size, size);
    assert_int_equal(s->align, align);
}

static void map__of_ld__has_sections_with_their_objects(void **state)
{
    struct link_map m = read_map(
        ".text           0x0c010000      0x200\n"
        " *(.text.main)\n"
        " .text.main     0x0c010000       0x22 a.o\n"
        "                0x0c010000                main\n"
        "                0x0c010022                . = ALIGN (0x100)\n"
        " .text.empty    0x0c010022        0x0 a.o\n"
        " *fill*         0x0c010022        0xe \n"
        " .text.a_name_that_is_long\n"
        "                0x0c010030       0x10 my objects/b c.o\n"
        "                0x0000000000000012 (size before relaxing)\n"
        " .text          0x0c010040       0x20 /usr/lib/libgcc.a(_div.o)\n"
        " .text.far      0x0c0100c0        0x8 a.o\n"
        "\n.text.a_long_output_section\n"
        "                0x0c010200        0x4 load address 0x0c020000\n"
        " .text.b        0x0c010200        0x4 a.o\n"
        "\n.debug_info     0x00000000       0xd3\n .debug_info    0x00000000       0xd3 a.o\n"
        "OUTPUT(a.elf elf32-sh-linux)\n"
        " .text.late     0x0c010300        0x4 a.o\n");
    (void)state;
    assert_int_equal(m.nsections, 5);
    check_row(&m, 0, ".text", ".text.main", "a.o", 0x0c010000, 0x22, 4);
    check_row(&m, 1, ".text", ".text.a_name_that_is_long", "my objects/b c.o", 0x0c010030, 0x10,
              16);
    check_row(&m, 2, ".text", ".text", "/usr/lib/libgcc.a(_div.o)", 0x0c010040, 0x20, 2);
    check_row(&m, 3, ".text", ".text.far", "a.o", 0x0c0100c0, 8, 4); /* no alignment explains it */
    check_row(&m, 4, ".text.a_long_output_section", ".text.b", "a.o", 0x0c010200, 4, 4);
    assert_int_equal(m.noutputs, 3);
    assert_int_equal(m.output[1].size, 4);
    assert_int_equal(m.nsymbols, 1);
    assert_string_equal(m.symbol[0].name, "main");
    assert_ptr_equal(link_map_at(&m, 0x0c010021), &m.section[0]);
    assert_null(link_map_at(&m, 0x0c010022));
    assert_ptr_equal(link_map_at(&m, 0x0c01005f), &m.section[2]);
    assert_null(link_map_at(&m, 0x0c00ffff));
    assert_null(link_map_at(&m, 0x0c010204));
    link_map_fini(&m);
}

static void map__of_something_else__is_refused_with_what_to_do(void **state)
{
    static const struct {
        const char *text, *what, *hint;
    } rows[] = {
        { "", "m: this is no link map", "-Wl,-Map=FILE" },
        { "VMA LMA Size Align Out In Symbol\n", "m: this is no link map", "GNU ld" },
        { "Linker script and memory map\n", "m: the map has no input section", "-Wl,-Map=FILE" },
        { "Linker script and memory map\n.text 0x10 0x20\n .text 0xfffffffffffffff0 0x20 a.o\n",
          "m:3: a section runs beyond the last address", "-Wl,-Map=FILE" },
    };
    (void)state;
    for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
        struct link_map m;
        struct err err = { .code = ERR_OK };
        print_message("  %s\n", rows[i].text);
        assert_int_equal(link_map_parse(rows[i].text, strlen(rows[i].text), "m", &m, &err),
                         -ERR_FORMAT);
        assert_non_null(strstr(err.what, rows[i].what));
        assert_non_null(strstr(err.hint, rows[i].hint));
        assert_int_equal(m.nsections, 0);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(map__of_ld__has_sections_with_their_objects),
        cmocka_unit_test(map__of_something_else__is_refused_with_what_to_do),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
