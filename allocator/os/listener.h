/* A Unix socket that the library listens on, in a process that knows nothing of it. */
#pragma once

#include "os/socket.h"

/* Listens at `path`, in which %p stands for the number of the process. The file may be used by this
 * user alone, and is removed by hak_listener_close; a socket of this user that nobody listens on
 * any more makes way for it. One per process. NULL: done; else why not. */
const char *hak_listener_open(const char *path);

/* In a forked child: closes what its parent listens on. True: the path has %p, so the child may
 * listen at one of its own, by hak_listener_open_own. */
bool hak_listener_inherit(void);

/* In that very child alone, as long as it has not called hak_listener_close. */
bool hak_listener_may_open(void);
/* False: it is refused. */
bool hak_listener_open_own(void);

/* The next who wants something, waiting at most so long for it; none: fd is -1. *ended: no thread
 * of the program is left but the caller, who must not keep the process alive. The main thread has
 * ended, too; or the system does not say. */
hak_socket hak_listener_wait(unsigned ms, bool *ended);

/* False: the program has closed it, or the process is a child. */
bool hak_listener_is_open(void);

/* Removes the file, if it is still ours, because the process or its listener ends. Nobody listens
 * from then on. */
void hak_listener_close(void);

/* Closes all that is still ours, and leaves the file. */
void hak_listener_drop(void);
