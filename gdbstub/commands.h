/* Every command of the packet table (packets.c). args: what stands behind the name, NUL-terminated;
 * len: its length, since it may hold NULs. */
#ifndef GDBSTUB_COMMANDS_H
#define GDBSTUB_COMMANDS_H

#include "gdbstub/state.h"

#define COMMAND(name) void name(struct session *s, char *args, size_t len)
COMMAND(cmd_read_regs);
COMMAND(cmd_write_regs);
COMMAND(cmd_read_reg);
COMMAND(cmd_write_reg);
COMMAND(cmd_read_mem);
COMMAND(cmd_read_mem_binary);
COMMAND(cmd_write_mem);
COMMAND(cmd_write_mem_binary);
COMMAND(cmd_crc);
COMMAND(cmd_search);
COMMAND(cmd_flash_erase);
COMMAND(cmd_flash_write);
COMMAND(cmd_flash_done);
COMMAND(cmd_why);
COMMAND(cmd_continue);
COMMAND(cmd_step);
COMMAND(cmd_continue_signal);
COMMAND(cmd_step_signal);
COMMAND(cmd_vcont);
COMMAND(cmd_vcont_query);
COMMAND(cmd_vctrlc);
COMMAND(cmd_vstopped);
COMMAND(cmd_run_program);
COMMAND(cmd_vattach);
COMMAND(cmd_vkill);
COMMAND(cmd_kill);
COMMAND(cmd_detach);
COMMAND(cmd_restart);
COMMAND(cmd_extended);
COMMAND(cmd_insert_bp);
COMMAND(cmd_remove_bp);
COMMAND(cmd_supported);
COMMAND(cmd_no_ack);
COMMAND(cmd_non_stop);
COMMAND(cmd_attached);
COMMAND(cmd_current_thread);
COMMAND(cmd_thread_info);
COMMAND(cmd_thread_info_more);
COMMAND(cmd_thread_extra);
COMMAND(cmd_set_thread);
COMMAND(cmd_thread_alive);
COMMAND(cmd_xfer_features);
COMMAND(cmd_xfer_memory_map);
COMMAND(cmd_monitor);
COMMAND(cmd_fileio_reply);
COMMAND(cmd_empty);
#undef COMMAND

#endif
