/* What the sweep asks of the blocks: guard/block.c. */
#ifndef HAK_GUARD_BLOCK_H
#define HAK_GUARD_BLOCK_H

#include "guard/record.h"

/* The first byte of a block in use, counted from its start, that belongs to its canary and was
 * written to; HAK_NO_OVERFLOW: none, or it is no more the block that `facts` were read of. */
#define HAK_NO_OVERFLOW SIZE_MAX
size_t hak_find_overflow(hak_place place, const void *block, hak_facts facts);

/* True, when a block in quarantine still holds its pattern; else the program ends. */
bool hak_stays(unsigned cls, void *block);

/* A block leaves the quarantine: its pattern is looked at, and the core gets it back. */
void hak_let_go(unsigned cls, void *block);

#endif
