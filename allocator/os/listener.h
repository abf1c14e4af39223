/* A Unix socket that the library listens on, in a process that knows nothing of it. */
#pragma once

#include "os/socket.h"

/* Listens at `path`, in which %p stands for the number of the process. The file may be used by this
 * user alone, and is removed by hak_listener_close; a socket of this user that nobody listens on
 * any more makes way for it. One per process. NULL: done; else why not. */
const char *hak_listener_open(const char *path);

/* The next who wants something, waiting at most so long for it; none: fd is -1. *ended: no thread
 * of the program is left but the caller, who must not keep the process alive. The main thread has
 * ended, too; or the system does not say. */
hak_socket hak_listener_wait(unsigned ms, bool *ended);

/* False: the program has closed it, or the process is a child. */
bool hak_listener_is_open(void);

/* Removes the file, if it is still ours: the process ends, or who listens does. */
void hak_listener_close(void);

/* Closes all that is still ours, and leaves the file. */
void hak_listener_drop(void);
