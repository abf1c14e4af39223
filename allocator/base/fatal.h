/* The end of a program that misuses the allocator: one line on stderr, then abort. */
#pragma once

#include "base/attributes.h"

/* Writes "hakmem: <what>: <function>(<address>)[: <why>]\n" to stderr and aborts. Allocates
 * nothing, takes no lock, may be called from anywhere. `why` may be NULL. */
_Noreturn HAK_COLD void hak_fatal(const char *what, const char *function, const void *address,
                                  const char *why);

/* Writes a line (base/text.h) to stderr in one system call. */
HAK_FORMAT(1) HAK_COLD void hak_message(const char *format, ...);
