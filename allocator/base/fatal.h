/* The end of a program that misuses the allocator: one line on stderr, then abort. */
#pragma once

#include "base/attributes.h"

#include <stddef.h>

/* Writes "hakmem: <what>: <function>(<address>): <why>\n" to stderr and aborts. Allocates nothing,
 * takes no lock, may be called from anywhere. */
_Noreturn HAK_COLD void hak_fatal(const char *what, const char *function, const void *address,
                                  const char *why);

/* Writes a line (base/text.h) to stderr in one system call. */
HAK_FORMAT(1) HAK_COLD void hak_message(const char *format, ...);

/* As write, but without the signals that can end a program, of a broken pipe and of the limit on
 * file sizes (base/write.c): the call returns -1, with EPIPE or EFBIG. By numbers of system calls,
 * because a thread may be cancelled in libc's write, and must not be in malloc and free. */
long hak_write(int file, const void *from, size_t size);
