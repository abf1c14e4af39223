/* Hardened builds: what their options ask of free. It comes here by its slow path, always while an
 * option asks for something, and nothing on its hot path asks for that. In other builds nothing of
 * it is there. */
#pragma once

#include "base/types.h"

/* Reads the options. */
void hak_strict_begin(void);

/* As hak_retire, with what the options ask for. */
HAK_DOOR void hak_free_strictly(void *block, hak_heap *heap);
