/* What the program prints on the line that it shares with the agent; and the sum that separates the
 * agent's words from damaged ones. */
#include "probe/base/log.h"
#include "targets/sh4/driver/driver.h"

/* Two damaged bits must not cancel each other, as they may in the sum used over JTAG. */
uint32_t sh4_stream_sum(uint32_t c, uint32_t word)
{
    c = (c + word) * SH4_AGENT_FACTOR;
    return c << 16 | c >> 16;
}

/* What the program itself sends: a line at a time. */
void sh4_stream_text_byte(struct sh4_link *l, uint8_t c)
{
    l->text_bytes++;
    if (c == '\r')
        return;
    if (c != '\n')
        l->text[l->text_len++] = c >= ' ' && c < 0x7F ? (char)c : '?';
    if (c != '\n' && l->text_len < sizeof l->text - 1)
        return;
    l->text[l->text_len] = 0;
    log_msg(l->p->log, LOG_TARGET, "%s: the program says: %s", l->p->name, l->text);
    l->text_len = 0;
}

void sh4_stream_text(struct sh4_link *l, const uint8_t *text, size_t n)
{
    for (size_t i = 0; i < n; i++)
        sh4_stream_text_byte(l, text[i]);
}
