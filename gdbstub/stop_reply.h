/* Stop replies and notifications of stops. Source: GDB manual, "Stop Reply Packets". */
#ifndef GDBSTUB_STOP_REPLY_H
#define GDBSTUB_STOP_REPLY_H

#include "gdbstub/state.h"

/* Reports the stop in last_stop to a session that waits for it, or notifies it. */
void stop_reply_tell(struct session *s);
/* Sends it as a reply. news: the stop happens now; else the session asks what the state is. */
void stop_reply_send(struct session *s, bool news);
/* Answers what waits for a stop that will not come: the session believes in one, but reads no
 * registers. */
void stop_reply_give_up(struct session *s);

#endif
