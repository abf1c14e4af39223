/* The sampled guard: a few blocks lie where each misuse of them faults, or is found at their free.
 *
 *   malloc   one of about N comes here: it gets a slot of the pool, trap/pool.h
 *   free     the pointer lies in the pool: the canary is looked at, the page faults from then on
 *   a fault  in the pool: the report, then the handler that the program had before
 *
 * Each report has the call stacks of the misuse, of the allocation and of the free. */
#pragma once

#include "base/attributes.h"

#include <stdbool.h>
#include <stddef.h>

/* A block at the right or left end of a page. NULL: it is too long, or no slot is free. errno is
 * kept. Any thread. */
HAK_COLD void *hak_trap_take(size_t size, bool right);

/* Frees a block of the pool. False: the pointer lies elsewhere. A misuse ends the program. */
HAK_COLD bool hak_trap_give(void *block);

/* True: the pointer is a block of the pool, of `size` bytes. False: it lies elsewhere. One that
 * lies in the pool and is no block in use ends the program, naming `function`. */
HAK_COLD bool hak_trap_size(const void *block, const char *function, size_t *size);

/* Looks at the canaries of all blocks; one that was written to ends the program. */
HAK_COLD void hak_trap_check(void);

HAK_COLD size_t hak_trap_count(size_t *bytes);

HAK_COLD void hak_trap_after_fork_in_child(void);
