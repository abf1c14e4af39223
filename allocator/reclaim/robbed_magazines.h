/* The blocks in the magazines of robbed heaps, back to their slabs. */
#pragma once

#include "reclaim/rob.h"

/* Empties as many magazines as there is room for, and says which heaps have none left. Returns the
 * blocks that were taken; 0: there are no more, or the system refused a barrier. Under the lock. */
size_t hak_robbed_empty_some(hak_robbed *robbed);
