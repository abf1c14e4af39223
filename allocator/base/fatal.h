/* The end of a program that misuses the allocator: one line on stderr, then abort. */
#pragma once

#include "base/attributes.h"
#include "base/text.h" /* numbers in messages */

/* Writes "hakmem: <what>: <function>(<address>)[: <why>]\n" to stderr and aborts. Allocates
 * nothing, takes no lock, may be called from anywhere. `why` may be NULL. */
_Noreturn HAK_COLD void hak_fatal(const char *what, const char *function, const void *address,
                                  const char *why);

/* Writes the parts, up to the first NULL, and a newline to stderr in one system call. */
HAK_COLD void hak_message(const char *const parts[]);
#define HAK_MESSAGE(...) hak_message(HAK_PARTS(__VA_ARGS__))
