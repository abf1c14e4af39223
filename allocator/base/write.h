/* Writing without the signals that can end a program: of a pipe that nobody reads any more, and of
 * a file beyond the limit of sizes. */
#pragma once

#include <stddef.h>

/* As write: -1 and errno, EPIPE and EFBIG among them. By numbers of system calls: libc's write is a
 * point where a thread may be cancelled, malloc and free are none. */
long hak_write(int file, const void *from, size_t size);
