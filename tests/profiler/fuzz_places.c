/* Any text as a place in a program (address, symbol+off, file.c:line, file.c:function) of three
 * ELFs; the first byte picks one, or none. What is refused says so; what a found address is called
 * means that address again. */
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "profiler/core/symbols.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

/* SH-4 shows one byte at several addresses, and symbols are compared without the area. */
static uint64_t without_area(uint64_t addr) { return addr & 0x1FFFFFFF; }

/* A name that several functions have means none of them alone. */
static void check_name(const struct symbols *s, uint64_t addr)
{
    char name[512];
    uint64_t back;
    struct err err = { .code = ERR_OK };
    symbols_describe(s, addr, name, sizeof name);
    int ret = symbols_parse(s, name, &back, &err);
    if (ret == 0 ? without_area(back) != without_area(addr)
                 : ret != -ERR_USAGE || !strstr(err.what, "functions are called"))
        abort();
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static const char *const path[] = { "docs/examples/cxx/cxx.elf",
                                        "docs/examples/profexam/profexam.elf",
                                        "docs/examples/motor/motor.elf" };
    static struct symbols *elf[4]; /* opened once, only read after that */
    char file[512];
    for (size_t i = 0; i < 3 && !elf[i]; i++) {
        snprintf(file, sizeof file, "%s/%s", SOURCE_DIR, path[i]);
        if (symbols_open(file, &elf[i], NULL) < 0 ||
            symbols_set_canonical(elf[i], i < 2 ? without_area : NULL, NULL) < 0)
            abort();
    }
    if (!size)
        return 0;
    struct symbols *s = elf[data[0] % 4];
    char *text = strndup((const char *)data + 1, size - 1);
    uint64_t addr = 0x5A5A5A5A5A;
    struct err err = { .code = ERR_OK };
    int ret = symbols_parse(s, text, &addr, &err);
    if (ret == 0)
        check_name(s, addr);
    else if ((ret != -ERR_USAGE && ret != -ERR_NOT_FOUND) || !*err.what || !*err.hint ||
             addr != 0x5A5A5A5A5A)
        abort();
    free(text);
    return 0;
}
