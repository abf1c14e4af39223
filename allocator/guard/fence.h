/* The ends of a block: a canary on both sides, and a wall behind large ones (guard/guard.h). */
#pragma once

#include "guard/record.h"

HAK_INLINE bool hak_is_large(const hak_slab *run) {
    return run->kind == HAK_RUN_LARGE;
}

/* Whether there is room for such a block with its canaries, and its wall. */
bool hak_fence_fits(const hak_slab *run, hak_facts facts);

/* Writes the canary on both sides, and puts a wall of inaccessible pages behind a large block. The
 * system may refuse one more mapping: then the block has no wall. */
void hak_fence_put(const hak_slab *run, char *start, hak_facts facts);

/* Takes the wall away. False: the system refuses. */
bool hak_fence_take(const hak_slab *run);

/* False: there are as many walls as may be. The program needs mappings, too, and threads do. */
bool hak_fence_has_walls(void);

/* The first byte of the canaries of a block in use that was written to; NULL: none, or it is no
 * more the block that `facts` were read of. A large block may lose access meanwhile. */
const void *hak_find_overflow(hak_place place, hak_facts facts);

/* Ends the program, naming `function`, if there is such a byte. */
void hak_fence_check(hak_place place, const void *block, const char *function, hak_facts facts);
