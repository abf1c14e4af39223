/* Hardened builds: what their options ask of free. It comes here by its slow path, always while an
 * option asks for something, and nothing on its hot path asks for that. In other builds nothing of
 * it is there. */
#pragma once

#include "base/types.h"

/* Reads the options. */
void hak_strict_begin(void);

/* With HAKMEM_ZERO_FREED=1 free zeroes a block before anybody else can have its memory. So what a
 * program has freed is nowhere to be read: not in the next block that lies there, not through an
 * old pointer, and not in a core file. It comes before everything else: from a magazine another
 * thread may take the block at any time (reclaim/reclaim.h). Set once, at load. */
extern HAK_HIDDEN bool hak_zeroes_freed;

/* As hak_retire, with what the options ask for. */
HAK_DOOR void hak_free_strictly(void *block, hak_heap *heap);
