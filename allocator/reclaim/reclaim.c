#include "reclaim/reclaim.h"

#include "magazine/magazine.h"
#include "reclaim/trim.h"

static hak_robbed robbed; /* under hak_reclaim_lock */

/* Nothing of a robbed heap waits for a later epoch. False: it has to go on. */
static bool settle(hak_heap *heap, uint32_t epoch, size_t *budget) {
    if (hak_heap_trim(heap, epoch, budget) == HAK_TRIM_GOES_ON)
        return false;
    hak_magazines_purge_armed(heap);
    return true;
}

bool hak_reclaim_some(const hak_round *round, size_t budget) {
    hak_lock_take(&hak_reclaim_lock);
    bool all = hak_rob(&robbed, hak_seat_first(), HAK_FEW_SEATS, hak_is_away, round) == NULL;
    size_t cost = robbed.count != 0 ? hak_robbed_empty_some(&robbed) / HAK_TRIM_SHARE : 0;
    budget -= cost < budget ? cost : budget;
    for (size_t i = 0; i < robbed.count; i++) {
        hak_heap *heap = robbed.heaps[i];
        bool settled = robbed.are_empty[i] && settle(heap, round->epoch, &budget);
        all = all && settled;
        hak_rob_release(heap, settled);
    }
    hak_lock_give(&hak_reclaim_lock);
    return all;
}

/* What lies in the magazines of one may be another's: so all magazines come first. */
static void empty_all(void) {
    for (hak_seat *seat = hak_seat_first(); seat != NULL;) {
        hak_lock_take(&hak_reclaim_lock);
        seat = hak_rob(&robbed, seat, HAK_FEW_SEATS, hak_has_something, NULL);
        while (robbed.count != 0 && hak_robbed_empty_some(&robbed) != 0) {
        }
        for (size_t i = 0; i < robbed.count; i++)
            hak_rob_release(robbed.heaps[i], false);
        hak_lock_give(&hak_reclaim_lock);
    }
}

size_t hak_reclaim_all(void) {
    size_t bytes = 0;
    empty_all();
    for (hak_seat *seat = hak_seat_first(); seat != NULL;) {
        hak_lock_take(&hak_reclaim_lock);
        seat = hak_rob(&robbed, seat, 1, hak_has_something, NULL);
        if (robbed.count != 0) {
            bytes += hak_heap_trim_robbed(robbed.heaps[0]);
            bytes += hak_magazines_purge_armed(robbed.heaps[0]);
            hak_rob_release(robbed.heaps[0], true);
        }
        hak_lock_give(&hak_reclaim_lock);
    }
    return bytes;
}
