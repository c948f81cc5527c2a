/* Stop replies and notifications of stops. Source: GDB manual, "Stop Reply Packets". */
#ifndef GDBSTUB_STOP_REPLY_H
#define GDBSTUB_STOP_REPLY_H

#include "gdbstub/state.h"

/* The stop in last_stop is told to whoever waits for it, or is to be notified. */
void stop_reply_tell(struct session *s);
/* The same as a reply. news: it happens now; else a session asks what the state is. */
void stop_reply_send(struct session *s, bool news);
/* Answers what waits for a stop that will not come: the session believes in one, but reads no
 * registers. */
void stop_reply_give_up(struct session *s);

#endif
