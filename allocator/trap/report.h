/* What the sampled guard says about a misuse, on stderr: what it is, and the call stacks of the
 * misuse, of the allocation and of the free. */
#pragma once

#include "base/attributes.h"

#include <stddef.h>

/* Reports, and ends the program. */
_Noreturn HAK_COLD void hak_trap_end(const char *what, const char *function, const void *address,
                                     size_t slot);

/* Reports a fault in the pool; returns at any other. */
HAK_COLD void hak_trap_explain(const void *address);
