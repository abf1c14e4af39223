/* What the sweep asks of the blocks: guard/block.c. */
#ifndef HAK_GUARD_BLOCK_H
#define HAK_GUARD_BLOCK_H

#include "guard/record.h"

/* Ends the program when the canary of a block in use was written to, and the block is still the
 * same that `facts` were read of. */
void hak_check_fence(hak_place place, const void *block, const char *function, hak_facts facts);

/* True, when a block in quarantine still holds its pattern; else the program ends. */
bool hak_stays(unsigned cls, void *block);

/* A block leaves the quarantine: its pattern is looked at, and the core gets it back. */
void hak_let_go(unsigned cls, void *block);

#endif
