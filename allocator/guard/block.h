/* What the sweep asks of the blocks: guard/block.c. */
#ifndef HAK_GUARD_BLOCK_H
#define HAK_GUARD_BLOCK_H

#include "guard/record.h"

/* The first byte of the canaries of a block in use that was written to; NULL: none, or it is no
 * more the block that `facts` were read of. */
const void *hak_find_overflow(hak_place place, hak_facts facts);

/* True, when a block in quarantine still holds its pattern; else the program ends. */
bool hak_stays(unsigned cls, void *start);

/* A block leaves the quarantine: its pattern is looked at, and the core gets it back. */
void hak_let_go(unsigned cls, void *start);

#endif
