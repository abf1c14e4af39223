/* Heaps of threads that fork left behind. */
#include "heap/heap.h"
#include "heap/owner.h"
#include "heap/seat.h"
#include "os/lock.h"
#include "pages/excess.h"
#include "pages/range.h"
#include "pages/run_cache.h"
#include "slab/slab.h"
#include "stats/stats.h"

bool hak_heap_is_forked;
static hak_lock frozen_lock; /* guards the slabs of frozen heaps; may be taken under any other */

bool hak_heap_takes_over(hak_heap *heap, uintptr_t owner, const void *block) {
    if (owner == 0 || hak_seat_state(hak_seat_in(owner)) != HAK_HEAP_FROZEN)
        return false;
    hak_lock_take(&frozen_lock);
    bool is_first = hak_owner_of(block) == owner; /* of those who found it so */
    if (is_first)
        hak_slab_take_over(heap, hak_run_of(block));
    hak_lock_give(&frozen_lock);
    HAK_COUNT(slabs_adopted, is_first);
    return true;
}

static bool is_of_another_thread(const hak_seat *seat, const hak_heap *own,
                                 const hak_heap *borrowed) {
    enum hak_heap_state state = hak_seat_state(seat);
    return state == HAK_HEAP_VISITED ||
           (state == HAK_HEAP_ACTIVE && seat->heap != own && seat->heap != borrowed);
}

/* Its owner may have been in the middle of anything. But the kind of each cached run says that it
 * is one. */
static void freeze(hak_seat *seat) {
    if (hak_seat_state(seat) == HAK_HEAP_ACTIVE && hak_locks_held == 0)
        hak_run_cache_inherit(seat->heap);
    hak_seat_set_state(seat, HAK_HEAP_FROZEN);
}

static size_t cached_by(const hak_heap *heap) {
    return heap != NULL ? heap->cache.most : 0;
}

void hak_heap_after_fork_in_child(const hak_heap *own, const hak_heap *borrowed) {
    HAK_EACH_SEAT(seat)
        if (is_of_another_thread(seat, own, borrowed))
            freeze(seat);
        else if (hak_seat_has_heap(seat))
            hak_owner_outlives_reclaimer(seat->heap);
    hak_excess_borrows(cached_by(own) + cached_by(borrowed));
    hak_seat_after_fork_in_child();
    hak_lock_inherit(&frozen_lock);
    hak_heap_is_forked = true;
}
