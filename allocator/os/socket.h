/* File descriptors of the library in a process that knows nothing of them: the program may close
 * all of them and get their numbers for files of its own. So each is remembered with its inode, and
 * no call touches a descriptor that is not its own any more, raises a signal, or blocks for longer
 * than it says. */
#pragma once

#include "base/attributes.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* A descriptor, and what tells whether its number still means the same. */
typedef struct hak_socket {
    int fd; /* -1: none */
    uint64_t device, inode;
} hak_socket;

extern HAK_HIDDEN const hak_socket hak_no_socket;

/* What a number means now; hak_no_socket where it means nothing. */
hak_socket hak_socket_of(int fd);
bool hak_socket_is_same(hak_socket s);

/* The same descriptor with a high number, if the limit of descriptors has one. */
int hak_socket_raise(int fd);

/* What comes from there, up to an empty line or `size` - 1 bytes, with a NUL behind. False: nothing
 * of that came until `ends_us`, by the clock of hak_os_now_us. */
bool hak_socket_read(hak_socket from, char *text, size_t size, uint64_t ends_us);
bool hak_socket_write(hak_socket to, const char *text, size_t length, uint64_t ends_us);

/* Ends the conversation; drop closes the descriptor alone, so that another process may go on. */
void hak_socket_close(hak_socket s);
void hak_socket_drop(hak_socket s);
