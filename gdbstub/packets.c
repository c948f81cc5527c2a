/* Which packet goes where. Source: GDB manual, "Packets" and "General Query Packets". */
#include <string.h>

#include "gdbstub/commands.h"
#include "gdbstub/packets.h"

enum {
    LOOK = NEEDS_HALT | NEEDS_TARGET,
    CHANGE = NEEDS_CONTROL | NEEDS_HALT | NEEDS_TARGET,
};

static const struct packet_row rows[] = {
    /* The ones a debugger sends most, first. */
    { "g", cmd_read_regs, EXACT | LOOK },
    { "m", cmd_read_mem, NEEDS_TARGET },
    { "x", cmd_read_mem_binary, NEEDS_TARGET },
    { "X", cmd_write_mem_binary, NEEDS_CONTROL | NEEDS_TARGET },
    { "M", cmd_write_mem, NEEDS_CONTROL | NEEDS_TARGET },
    { "p", cmd_read_reg, LOOK },
    { "P", cmd_write_reg, CHANGE },
    { "G", cmd_write_regs, CHANGE },
    { "Z", cmd_insert_bp, NEEDS_CONTROL | NEEDS_TARGET | TEXT_ERRORS },
    { "z", cmd_remove_bp, NEEDS_CONTROL | TEXT_ERRORS },
    { "vCont?", cmd_vcont_query, EXACT },
    { "vCont", cmd_vcont, TEXT_ERRORS },
    { "c", cmd_continue, TEXT_ERRORS },
    { "s", cmd_step, TEXT_ERRORS },
    { "C", cmd_continue_signal, TEXT_ERRORS },
    { "S", cmd_step_signal, TEXT_ERRORS },
    { "?", cmd_why, EXACT | TEXT_ERRORS },
    { "H", cmd_set_thread, 0 },
    { "T", cmd_thread_alive, 0 },
    { "D", cmd_detach, TEXT_ERRORS },
    { "k", cmd_kill, 0 },
    { "!", cmd_extended, EXACT },
    { "R", cmd_restart, NEEDS_CONTROL | NEEDS_TARGET },
    { "F", cmd_fileio_reply, 0 },
    { "vCtrlC", cmd_vctrlc, EXACT },
    { "vStopped", cmd_vstopped, EXACT },
    { "vRun", cmd_run_program, NEEDS_CONTROL | NEEDS_TARGET | TEXT_ERRORS },
    { "vAttach;", cmd_vattach, NEEDS_TARGET | TEXT_ERRORS },
    { "vFlashErase:", cmd_flash_erase, CHANGE },
    { "vFlashWrite:", cmd_flash_write, CHANGE },
    { "vFlashDone", cmd_flash_done, EXACT | CHANGE },
    { "vKill", cmd_vkill, NEEDS_CONTROL | NEEDS_TARGET | TEXT_ERRORS },
    { "vMustReplyEmpty", cmd_empty, EXACT },
    { "qSupported", cmd_supported, 0 },
    { "QStartNoAckMode", cmd_no_ack, EXACT },
    { "QNonStop:", cmd_non_stop, 0 },
    { "qAttached", cmd_attached, 0 },
    { "qCRC:", cmd_crc, NEEDS_TARGET },
    { "qC", cmd_current_thread, EXACT },
    { "qfThreadInfo", cmd_thread_info, EXACT },
    { "qsThreadInfo", cmd_thread_info_more, EXACT },
    { "qThreadExtraInfo,", cmd_thread_extra, 0 },
    { "qXfer:features:read:", cmd_xfer_features, 0 },
    { "qXfer:memory-map:read:", cmd_xfer_memory_map, 0 },
    { "qXfer:exec-file:read:", cmd_xfer_exec_file, 0 },
    { "qXfer:threads:read:", cmd_xfer_threads, 0 },
    { "qSearch:memory:", cmd_search, NEEDS_TARGET },
    { "qRcmd,", cmd_monitor, 0 },
};

const struct packet_row *packet_rows(size_t *n)
{
    *n = ARRAY_LEN(rows);
    return rows;
}

const struct packet_row *packet_find(const char *payload)
{
    for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
        const char *name = rows[i].name;
        if (payload[0] != name[0])
            continue;
        if (rows[i].flags & EXACT ? strcmp(payload, name) == 0
                                  : strncmp(payload, name, strlen(name)) == 0)
            return &rows[i];
    }
    return NULL;
}
