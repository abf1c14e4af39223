/* Taking blocks out of the magazines of heaps that a reclaimer has for itself for a while, although
 * they are other threads'. All under hak_reclaim_lock; heap/owner.h says how owner and reclaimer
 * agree. */
#pragma once

#include "heap/owner.h"
#include "heap/seat.h"

typedef struct hak_robbed {
    size_t count;
    hak_heap *heaps[HAK_FEW_SEATS];
    bool are_empty[HAK_FEW_SEATS]; /* all its magazines */
} hak_robbed;

/* Empties as many magazines as there is room for, and says which heaps have none left. Returns the
 * blocks that were taken; 0: there are no more, or the system refused a barrier. */
size_t hak_robbed_empty_some(hak_robbed *robbed);
