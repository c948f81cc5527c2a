/* The commands that the packet table (packets.c) names: each takes one packet, and puts its reply
 * into the session's queue, but for those that are answered by a stop, or not at all.
 *
 * args is what stands behind the packet's name. It ends with a NUL that len does not count, and
 * binary packets may hold NULs before it; it may be written to. What a row of the table demands
 * (the target halted, the session in control) holds when the command is called. */
#ifndef GDBSTUB_COMMANDS_H
#define GDBSTUB_COMMANDS_H

#include "gdbstub/state.h"

#define COMMAND(name) void name(struct session *s, char *args, size_t len)

/* cmd_regs.c: registers */
COMMAND(cmd_read_regs);
COMMAND(cmd_write_regs);
COMMAND(cmd_read_reg);
COMMAND(cmd_write_reg);

/* cmd_mem.c: memory and flash */
COMMAND(cmd_read_mem);
COMMAND(cmd_read_mem_binary);
COMMAND(cmd_write_mem);
COMMAND(cmd_write_mem_binary);
COMMAND(cmd_crc);
COMMAND(cmd_search);
COMMAND(cmd_flash_erase);
COMMAND(cmd_flash_write);
COMMAND(cmd_flash_done);

/* cmd_run.c: why it stands, resuming, interrupting, beginning and end */
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

/* cmd_break.c: breakpoints and watchpoints */
COMMAND(cmd_insert_bp);
COMMAND(cmd_remove_bp);

/* cmd_query.c: what is supported, threads, descriptions */
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
COMMAND(cmd_xfer_exec_file);
COMMAND(cmd_xfer_threads);
COMMAND(cmd_empty);

/* cmd_monitor.c: `monitor`; fileio.c: GDB has done what the program asked for */
COMMAND(cmd_monitor);
COMMAND(cmd_fileio_reply);
#undef COMMAND

#endif
