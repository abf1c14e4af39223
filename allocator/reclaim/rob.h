/* Heaps that a reclaimer has for itself for a while, although they are other threads'. All under
 * hak_reclaim_lock; heap/owner.h says how owner and reclaimer agree. */
#pragma once

#include "heap/owner.h"
#include "heap/seat.h"

typedef struct hak_robbed {
    size_t count;
    hak_heap *heaps[HAK_FEW_SEATS];
    bool are_empty[HAK_FEW_SEATS]; /* all its magazines */
} hak_robbed;

HAK_INLINE uint8_t hak_claim_of(const hak_heap *heap) {
    return atomic_load_explicit(&heap->claim, memory_order_relaxed);
}

/* A round of visits to heaps: when it is, and the epoch that begins when all are done. */
typedef struct hak_round {
    uint64_t now_ms;
    uint32_t epoch;
} hak_round;

typedef bool hak_is_wanted(const hak_seat *seat, const hak_round *round);

/* True when somebody may have left something there since the last reclaimer. */
bool hak_has_something(const hak_seat *seat, const hak_round *unused);
/* The same, and its owner did not come by for a whole purge delay, and this round has not been
 * there yet. What heaps behind it leave there later waits for the next round. */
bool hak_is_away(const hak_seat *seat, const hak_round *round);

/* Robs at most `most` heaps that are wanted, from this seat on. Returns where to go on; NULL: that
 * was the last, or none can be robbed, as the system refuses the barrier. */
hak_seat *hak_rob(hak_robbed *robbed, hak_seat *seat, size_t most, hak_is_wanted *is_wanted,
                  const hak_round *round);

/* Gives the heap back to its owner. Until that one comes by it stays `settled`: nothing was left to
 * do. */
void hak_rob_release(hak_heap *heap, bool settled);

/* ---- their magazines ---- */

/* Empties as many magazines as there is room for, and says which heaps have none left. Returns the
 * blocks that were taken; 0: there are no more, or the system refused a barrier. Under the lock. */
size_t hak_robbed_empty_some(hak_robbed *robbed);
