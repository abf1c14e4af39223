/* The runs of all ranges that blocks lie in. */
#pragma once

#include "base/types.h"

/* How many blocks of a run were ever handed out: of a slab, or the one of a large run. */
size_t hak_blocks_carved(const hak_slab *run);

/* Calls `visit` for each run that has any. No run becomes another one meanwhile; threads may go on
 * with its blocks. */
void hak_blocks_each_run(void (*visit)(const hak_slab *run));

/* The sum of what they have carved. */
size_t hak_blocks_most(void);
