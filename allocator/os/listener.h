/* A Unix socket that the library listens on, in a process that knows nothing of it. No call blocks
 * for longer than it says, raises a signal or touches a file descriptor that is not its own: a
 * program may close all of them and get their numbers for files of its own. */
#ifndef HAK_OS_LISTENER_H
#define HAK_OS_LISTENER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* A descriptor, and what tells whether its number still means the same. */
typedef struct hak_socket {
    int fd; /* -1: none */
    uint64_t device, inode;
} hak_socket;

/* Listens at `path`, in which %p stands for the number of the process. The file may be used by this
 * user alone, and is removed by hak_listener_close; a socket of this user that nobody listens on
 * any more makes way for it. One per process. NULL: done; else why not. */
const char *hak_listener_open(const char *path);

/* The next who wants something, waiting at most so long for it; none: fd is -1. */
hak_socket hak_listener_wait(unsigned ms);

/* False: the program has closed it, or the process is a child. */
bool hak_listener_is_open(void);

/* Removes the file, if it is still ours. */
void hak_listener_close(void);

/* Closes all that is still ours, and leaves the file. In a forked child, too: the parent alone goes
 * on listening. */
void hak_listener_drop(void);

/* What comes from there, up to an empty line or `size` - 1 bytes, with a NUL behind. False: nothing
 * of that came until `ends_us`, by the clock of hak_os_now_us. */
bool hak_socket_read(hak_socket from, char *text, size_t size, uint64_t ends_us);
bool hak_socket_write(hak_socket to, const char *text, size_t length, uint64_t ends_us);
void hak_socket_close(hak_socket s);

/* Once, before hak_listener_is_last_thread. False: the system does not tell of threads. */
bool hak_listener_watch_threads(void);

/* True when no thread of the program is left but the caller: the main thread has ended, too. Or
 * when the system does not say. */
bool hak_listener_is_last_thread(void);

#endif
