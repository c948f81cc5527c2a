/* SVD files: what is inherited, derived, an array; what is wrong in a file. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include "probe/base/util.h"
#include "profiler/core/svd.h"

static const char file[] =
    "<?xml version='1.0'?><device><name>X</name><size>0x10</size><access>read-only</access>"
    "<peripherals>"
    "<peripheral><name>A</name><baseAddress>0x1000</baseAddress><access>read-write</access>"
    "<registers>"
    "<register><name>PLAIN</name><description> of A </description><addressOffset>2</addressOffset>"
    "<fields><field><name>LOW</name><bitRange>[3:0]</bitRange></field>"
    "<field><name>MID</name><lsb>4</lsb><msb>7</msb><access>write-only</access></field>"
    "<field><name>TOP</name><bitOffset>15</bitOffset><readAction>clear</readAction></field>"
    "</fields></register>"
    "<register derivedFrom='PLAIN'><name>ALIKE</name><addressOffset>4</addressOffset>"
    "<size>8</size><fields/></register>"
    "<register><dim>3</dim><dimIncrement>0x4</dimIncrement><dimIndex>4-6</dimIndex>"
    "<name>R%s</name><addressOffset>#1000</addressOffset><size>32</size></register>"
    "<register><dim>2</dim><dimIncrement>2</dimIncrement><dimIndex>in,out</dimIndex>"
    "<name>B[%s]</name><addressOffset>1k</addressOffset></register>"
    "<cluster><dim>2</dim><dimIncrement>256</dimIncrement><name>C%s</name>"
    "<addressOffset>0x100</addressOffset>"
    "<register><name>IN</name><addressOffset>1</addressOffset><size>8</size>"
    "<modifiedWriteValues>oneToClear</modifiedWriteValues>"
    "<fields><field><dim>8</dim><dimIncrement>1</dimIncrement><name>F%s</name>"
    "<bitOffset>0</bitOffset><bitWidth>1</bitWidth></field></fields></register>"
    "</cluster>"
    "<register><name>WIDE</name><addressOffset>0</addressOffset><size>64</size></register>"
    "</registers></peripheral>"
    "<peripheral derivedFrom='A'><name>A2</name><baseAddress>0x2000</baseAddress></peripheral>"
    "<peripheral><name>E</name><baseAddress>0</baseAddress><registers>"
    "<register derivedFrom='A.PLAIN'><name>OTHER</name><addressOffset>0</addressOffset></register>"
    "</registers></peripheral>"
    "</peripherals></device>";

static struct svd *read_svd(void)
{
    struct svd *s = NULL;
    struct err err = { 0 };
    if (svd_read("x.svd", file, strlen(file), &s, &err))
        fail_msg("%s", err.what);
    return s;
}

static void find__registers__have_their_address_and_what_is_above(void **state)
{
    static const struct {
        const char *path, *name;
        uint64_t addr;
        unsigned bits;
        bool write;
    } rows[] = {
        { "A.PLAIN", "A.PLAIN", 0x1002, 16, true },   { "a.plain", "A.PLAIN", 0x1002, 16, true },
        { "A.ALIKE", "A.ALIKE", 0x1004, 8, true },    { "A.R4", "A.R4", 0x1008, 32, true },
        { "A.R6", "A.R6", 0x1010, 32, true },         { "A.B[in]", "A.B[in]", 0x1400, 16, true },
        { "A.B[out]", "A.B[out]", 0x1402, 16, true }, { "A.C0.IN", "A.C0.IN", 0x1101, 8, true },
        { "A.C1.IN", "A.C1.IN", 0x1201, 8, true },    { "A2.C1.IN", "A2.C1.IN", 0x2201, 8, true },
        { "A2.PLAIN", "A2.PLAIN", 0x2002, 16, true }, { "E.OTHER", "E.OTHER", 0, 16, false },
    };
    struct svd *s = read_svd();
    (void)state;
    for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
        struct svd_register r;
        struct svd_field f;
        bool has_field = true;
        struct err err;
        print_message("  %s\n", rows[i].path);
        assert_int_equal(svd_find(s, rows[i].path, &r, &f, &has_field, &err), 0);
        assert_false(has_field);
        assert_string_equal(r.name, rows[i].name);
        assert_int_equal(r.addr, rows[i].addr);
        assert_int_equal(r.bits, rows[i].bits);
        assert_int_equal(r.access.write, rows[i].write);
        assert_true(r.access.read);
    }
    svd_close(s);
}

static void find__fields__have_their_bits_and_what_they_do(void **state)
{
    static const struct {
        const char *path;
        unsigned lsb, width;
        bool read, changes;
        enum svd_write writes;
    } rows[] = {
        { "A.PLAIN.LOW", 0, 4, true, false, SVD_WRITE_VALUE },
        { "A.PLAIN.MID", 4, 4, false, false, SVD_WRITE_VALUE },
        { "A.PLAIN.TOP", 15, 1, true, true, SVD_WRITE_VALUE },
        { "E.OTHER.LOW", 0, 4, true, false, SVD_WRITE_VALUE },
        { "A.C1.IN.F0", 0, 1, true, false, SVD_WRITE_ONE_ACTS },
        { "A2.C0.IN.f7", 7, 1, true, false, SVD_WRITE_ONE_ACTS },
    };
    struct svd *s = read_svd();
    (void)state;
    for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
        struct svd_register r;
        struct svd_field f;
        bool has_field = false;
        struct err err;
        print_message("  %s\n", rows[i].path);
        assert_int_equal(svd_find(s, rows[i].path, &r, &f, &has_field, &err), 0);
        assert_true(has_field);
        assert_int_equal(f.lsb, rows[i].lsb);
        assert_int_equal(f.width, rows[i].width);
        assert_int_equal(f.access.read, rows[i].read);
        assert_int_equal(f.access.read_changes, rows[i].changes);
        assert_int_equal(f.writes, rows[i].writes);
    }
    svd_close(s);
}

static void find__what_is_not_there__is_refused_with_what_is_near(void **state)
{
    static const struct {
        const char *path, *what, *hint;
    } rows[] = {
        { "A.PLAINN", "no register A.PLAINN", "PLAIN" },
        { "A.R7", "no register A.R7", "" },
        { "A.WIDE", "no register A.WIDE", "" }, /* 64 bits: no access is so wide */
        { "A.PLAIN.LO", "A.PLAIN has no field LO", "LOW" },
        { "A.PLAIN.", "A.PLAIN has no field ", "" },
        { "A.C2.IN", "no register A.C2.IN", "" },
        { "B.PLAIN", "has no peripheral B", "--svd" },
        { ".", "has no peripheral ", "" },
    };
    struct svd *s = read_svd();
    (void)state;
    for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
        struct svd_register r;
        struct svd_field f;
        bool has_field;
        struct err err = { 0 };
        print_message("  %s\n", rows[i].path);
        assert_int_equal(svd_find(s, rows[i].path, &r, &f, &has_field, &err), -ERR_NOT_FOUND);
        assert_non_null(strstr(err.what, rows[i].what));
        assert_non_null(strstr(err.hint, rows[i].hint));
        assert_string_not_equal(err.hint, "");
    }
    assert_true(svd_has_peripheral(s, "a2"));
    assert_false(svd_has_peripheral(s, "a3"));
    svd_close(s);
}

#define IN(registers)                                                   \
    "<device>\n<peripherals><peripheral><name>A</name><baseAddress>0</" \
    "baseAddress><registers>\n" registers "</registers></peripheral></peripherals></device>"
#define REG(rest)   "<register><name>R</name><addressOffset>0</addressOffset>" rest "</register>"
#define FIELD(rest) REG("<fields><field><name>F</name>" rest "</field></fields>")

static void read__what_is_wrong__is_said_with_its_line(void **state)
{
    static const struct {
        const char *xml, *what;
    } rows[] = {
        { "", "line 1" },
        { "device", "line 1, byte 0" },
        { "<device>\n<peripherals></device>", "line 2" },
        { "<html/>", "<html> instead of <device>" },
        { "<device><peripherals/></device>", "no peripherals" },
        { "<!DOCTYPE device [<!ENTITY a 'aaaa'>]><device>&a;</device>", "document type" },
        { "<device><peripherals><peripheral/></peripherals></device>", "baseAddress" },
        { IN("<register><name>R</name></register>"), "line 3: register R: addressOffset" },
        { IN("<register><addressOffset>0</addressOffset></register>"), "no name" },
        { IN(REG("<size>24</size>")), "size is not" },
        { IN(REG("<size>x</size>")), "size is not" },
        { IN(REG("<dim>0</dim><dimIncrement>1</dimIncrement>")), "dim or dimIncrement" },
        { IN(REG("<dim>99999</dim><dimIncrement>1</dimIncrement>")), "dim or dimIncrement" },
        { IN(REG("<dim>2</dim>")), "dim or dimIncrement" },
        { IN(FIELD("<bitRange>[32:0]</bitRange>")), "outside of the register" },
        { IN(FIELD("<bitRange>[0:4]</bitRange>")), "no bitOffset" },
        { IN(FIELD("<bitOffset>31</bitOffset><bitWidth>2</bitWidth>")), "outside" },
        { IN(FIELD("<lsb>5</lsb><msb>4</msb>")), "no bitOffset" },
        { IN(FIELD("<dim>2</dim><dimIncrement>0</dimIncrement><bitOffset>0</bitOffset>")),
          "dimIncrement is 0" },
        { IN(FIELD("")), "line 3: field F: no bitOffset" },
    };
    (void)state;
    for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
        struct svd *s = NULL;
        struct err err = { 0 };
        print_message("  %s\n", rows[i].xml);
        assert_int_equal(svd_read("x.svd", rows[i].xml, strlen(rows[i].xml), &s, &err),
                         -ERR_FORMAT);
        assert_null(s);
        if (!strstr(err.what, rows[i].what))
            fail_msg("%s", err.what);
        assert_non_null(strstr(err.what, "x.svd"));
        assert_string_not_equal(err.hint, "");
    }
}

/* A derives from B and B from A; a cluster in itself. */
static void read__circles__end(void **state)
{
    static const char circle[] =
        IN("<register derivedFrom='S'><name>R</name><addressOffset>0</addressOffset></register>"
           "<register derivedFrom='R'><name>S</name><addressOffset>4</addressOffset></register>");
    struct svd *s;
    struct err err;
    (void)state;
    assert_int_equal(svd_read("x.svd", circle, strlen(circle), &s, &err), 0);
    svd_close(s);
    svd_close(NULL);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(find__registers__have_their_address_and_what_is_above),
        cmocka_unit_test(find__fields__have_their_bits_and_what_they_do),
        cmocka_unit_test(find__what_is_not_there__is_refused_with_what_is_near),
        cmocka_unit_test(read__what_is_wrong__is_said_with_its_line),
        cmocka_unit_test(read__circles__end),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
