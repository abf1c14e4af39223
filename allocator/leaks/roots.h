/* Roots: memory from which the program can find its blocks, as far as it can be known from outside.
 *
 *   writable memory of the program and of its libraries      their variables
 *   all stacks, with what threads have for themselves        thread-local variables lie there, too
 *   what the program has mapped by itself
 *   pages that were written to and can only be read now
 *
 * Not the allocator's own memory, which knows all blocks, and not the suspects. */
#pragma once

#include "base/attributes.h"

#include <stdbool.h>
#include <stdint.h>

/* Reaches from all roots, of the calling thread's stack from `stack` on. False: the system does
 * not say where memory is mapped. */
bool hak_roots_look(uintptr_t stack);
