/* Which suspects memory points to, and which of those that are left hold the others. */
#pragma once

#include "leaks/suspects.h"

/* Roots: memory from which the program can find its blocks, as far as it can be known from outside.
 *
 *   writable memory of the program and of its libraries      their variables
 *   all stacks, with what threads have for themselves        thread-local variables lie there, too
 *   what the program has mapped by itself
 *   pages that were written to and can only be read now
 *
 * Not the allocator's own memory, which knows all blocks, and not the suspects.
 *
 * Reaches from all roots, of the calling thread's stack from `stack` on, and then from all that is
 * reached. False: the system does not say where memory is mapped. */
bool hak_roots_look(uintptr_t stack);

/* Says of all that were not reached whether they are direct. Returns how many were not. */
size_t hak_reach_split(void);

/* Calls `count` for each indirect suspect that this direct one holds, but for those that it was
 * called for already. */
void hak_reach_count(hak_suspect *direct, void (*count)(const hak_suspect *held, void *context),
                     void *context);
