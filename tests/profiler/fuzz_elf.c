/* Any bytes as a program's ELF, and any text as an address in it (what follows the last zero byte):
 * refused with a hint, or functions, lines and addresses hold together. */
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "probe/base/util.h"
#include "profiler/core/symbols.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void check_symbols(const struct symbols *s)
{
    char text[128];
    const char *file;
    int line;
    uint64_t addr, end = 0;
    for (size_t i = 0; i < symbols_nfunctions(s); i++) {
        const struct symbol_function *f = symbols_function(s, i);
        if (!f->name || !f->linkage || f->low >= f->high || f->low < end ||
            symbols_find(s, f->low) != (long)i || symbols_find(s, f->high - 1) != (long)i)
            abort();
        end = f->high;
        symbols_line(s, f->low, &file, &line);
        symbols_directory(s, f->low);
        symbols_lookup(s, f->linkage, &addr);
        if (strlen(symbols_describe(s, f->low + 2, text, sizeof text)) >= sizeof text)
            abort();
    }
}

static void read_sections(const struct image *image)
{
    for (size_t i = 0; i < image->nsections; i++)
        for (uint64_t k = 0; image->sections[i].data && k < image->sections[i].size; k += 64)
            if (image->sections[i].data[k] == 1)
                (void)strlen(image->sections[i].name);
}

static void parse_place(const struct symbols *s, const uint8_t *data, size_t size)
{
    const uint8_t *zero = memrchr(data, 0, size);
    char text[200];
    uint64_t addr;
    struct err err = { .code = ERR_OK };
    size_t n = zero ? MIN((size_t)(data + size - zero - 1), sizeof text - 1) : 0;
    if (n)
        memcpy(text, zero + 1, n);
    text[n] = 0;
    if (symbols_parse(s, text, &addr, &err) < 0 &&
        (!*err.hint || (err.code != ERR_USAGE && err.code != ERR_NOT_FOUND)))
        abort();
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct symbols *s;
    struct err err = { .code = ERR_OK };
    char path[40];
    int fd = memfd_create("fuzz_elf", MFD_CLOEXEC);
    if (fd < 0 || write(fd, data, size) != (ssize_t)size)
        abort();
    snprintf(path, sizeof path, "/proc/self/fd/%d", fd);
    if (symbols_open(path, &s, &err) == 0) {
        check_symbols(s);
        read_sections(symbols_image(s));
        parse_place(s, data, size);
        symbols_close(s);
    } else if (err.code != ERR_NOMEM && !*err.hint) {
        abort();
    }
    close(fd);
    return 0;
}
