/* Large blocks that are samples of a heap profile. */
#pragma once

#include "base/types.h"

/* Counts `bytes` of this thread. True: the block that they are for is to be a sample. */
HAK_COLD bool hak_large_sample_is_due(size_t bytes);
/* The block is a sample, or goes on being one with another size. */
HAK_COLD void hak_large_note_sample(void *block, size_t size);
/* The block ends; `run` is NULL for one apart. */
void hak_large_end_sample(hak_slab *run, const void *block);
