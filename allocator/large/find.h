/* From a pointer to its large block. A pointer that is none ends the program, naming `function`. */
#pragma once

#include "base/types.h"

/* Returns NULL for an address outside of all ranges. */
hak_slab *hak_large_find(const void *block, const char *function);

/* Blocks outside of all ranges: those of the sampled guard, and those apart. */
size_t hak_large_size_apart(const void *block, const char *function);
void hak_large_give_apart(void *block, const char *function);
