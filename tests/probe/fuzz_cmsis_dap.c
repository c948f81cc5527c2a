/* Answers of a CMSIS-DAP probe and HID report descriptors: any bytes. */
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "probe/base/util.h"
#include "probe/cmsis_dap.h"

/* The first bytes choose clocks, limits and token; the rest is the answer. */
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static const size_t packets[] = { 16, 64, 512, 1024 };
    uint8_t head[40] = { 0 }, buf[DAP_MAX_PACKET], tdo[32] = { 0 }, dst[32];
    memcpy(head, data, MIN(size, sizeof head));
    struct jtag_field f = { dst, 0, head[1] % 64u, head[2] % 190u + 1, true };
    struct jtag_chunk c = { .tms = head + 8,
                            .tdi = head + 8,
                            .field = &f,
                            .nfields = head[0] & 1,
                            .nbits = head[3] % 255u + 1 };
    const struct dap_limits lim = { packets[head[4] % 4], head[4] & 4 ? 64 : 0,
                                    (enum dap_token)(head[5] % 3) };
    struct dap_request r = { .buf = buf };
    uint32_t field = 0;
    if (size < sizeof head)
        return 0;
    uint32_t n = dap_pack(&c, 0, &field, head[0] & 2, &lim, &r);
    if (n == 0 || n > c.nbits || r.len > lim.packet || r.answer_len > lim.packet)
        abort();
    size_t len = size - sizeof head;
    uint8_t *answer = malloc(len ? len : 1); /* exact, so that a read beyond it is seen */
    memcpy(answer, data + sizeof head, len);
    dap_unpack(&r, answer, len, head[0] & 4, tdo, NULL);
    if (dap_report_bytes(answer, len) > DAP_MAX_PACKET)
        abort();
    free(answer);
    return 0;
}
