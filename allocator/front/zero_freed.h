/* Hardened builds: with HAKMEM_ZERO_FREED=1 free zeroes a block before anybody else can have its
 * memory. So what a program has freed is nowhere to be read: not in the next block that lies there,
 * not through an old pointer, and not in a core file.
 *
 * It comes before everything else: from a magazine another thread may take the block at any time
 * (reclaim/reclaim.h). In other builds nothing of it is there. */
#pragma once

#include "base/attributes.h"

#include <stdbool.h>

/* Set once, at load. */
extern HAK_HIDDEN bool hak_zeroes_freed;

/* Reads the option. */
void hak_zero_freed_begin(void);

/* Makes a block zero that is about to be freed; not NULL. What is none ends the program. */
void hak_zero_freed(void *block);
