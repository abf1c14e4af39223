/* The end of a program that misuses the allocator: one line on stderr, then abort. */
#pragma once

#include "base/attributes.h"

#include <stddef.h>

/* Writes "hakmem: <what>: <function>(<address>)[: <why>]\n" to stderr and aborts. Allocates
 * nothing, takes no lock, may be called from anywhere. `why` may be NULL. */
_Noreturn HAK_COLD void hak_fatal(const char *what, const char *function, const void *address,
                                  const char *why);

/* Writes a line (base/text.h) to stderr in one system call. */
HAK_FORMAT(1) HAK_COLD void hak_message(const char *format, ...);

/* Writing without the signals that can end a program: of a pipe that nobody reads any more, and of
 * a file beyond the limit of sizes (base/write.c). As write: -1 and errno, EPIPE and EFBIG among
 * them. By numbers of system calls: libc's write is a point where a thread may be cancelled, malloc
 * and free are none. */
long hak_write(int file, const void *from, size_t size);
