/* Call stacks of the calling thread, as libc's unwinder sees them. */
#pragma once

#include "base/attributes.h"

#include <stdint.h>

/* Loads what the unwinder needs, which allocates. Once, before the first hak_os_stack. */
void hak_os_stack_start(void);

/* Writes up to `most` return addresses, the innermost first, and returns how many; 0 where libc has
 * no unwinder. Those in this library are left out, unless it is a part of the program. Takes some
 * microseconds; allocates nothing after hak_os_stack_start. Any thread. */
unsigned hak_os_stack(void **frames, unsigned most);

/* A call stack on stderr, a line for each frame. */
void hak_os_stack_write(void *const *frames, unsigned depth);
