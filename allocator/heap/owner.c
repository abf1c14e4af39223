#include "heap/owner.h"

#include "heap/seat.h"
#include "magazine/arm.h"
#include "magazine/magazine.h"

hak_lock hak_reclaim_lock;

static bool is_robbed(const hak_heap *heap) {
    return (atomic_load_explicit(&heap->claim, memory_order_acquire) & HAK_CLAIM_ROBBED) != 0;
}

static void set_busy(hak_heap *heap, bool busy) {
    atomic_store_explicit(&heap->busy, busy, memory_order_release);
    atomic_signal_fence(memory_order_seq_cst);
}

/*   | NULL |      |      | block |      | block |   ->   | NULL | block | block |
 *                                         ^ top                          ^ top    */
static void close_holes(hak_heap *heap, unsigned cls) {
    void **to = heap->bins[cls].bottom, **top = hak_magazine_lay_down(heap, cls);
    for (void **from = to + 1; from <= top; from++)
        if (*from != NULL)
            *++to = *from;
    hak_magazine_set_top(heap, cls, to);
}

/* Whether fork left this heap behind; a child is mended first. */
static bool is_lost(const hak_heap *heap) {
    if (HAK_UNLIKELY(hak_forks))
        hak_fork_look();
    return hak_seat_state(heap->seat) == HAK_HEAP_FROZEN;
}

bool hak_owner_meets(hak_heap *heap) {
    if (is_lost(heap))
        return false;
    while (is_robbed(heap)) {
        set_busy(heap, false);
        hak_lock_take(&hak_reclaim_lock);
        hak_lock_give(&hak_reclaim_lock);
        set_busy(heap, true);
    }
    uint8_t left = atomic_fetch_and(&heap->claim, HAK_CLAIM_ROBBED);
    for (unsigned cls = 1; (left & HAK_CLAIM_HOLES) != 0 && cls < HAK_CLASSES; cls++)
        if (!hak_is_armed(heap, cls))
            close_holes(heap, cls);
    return true;
}

void hak_owner_is(hak_heap *heap, hak_os_task task) {
    atomic_store_explicit(&heap->seat->process, task.process, memory_order_relaxed);
    atomic_store_explicit(&heap->seat->thread, task.thread, memory_order_relaxed);
}

bool hak_owner_survives_fork(hak_heap *heap) {
    hak_lock_inherit(&hak_reclaim_lock);
    if (heap == NULL || heap->robbed)
        return false;
    hak_owner_is(heap, hak_os_this_task());
    return true;
}

void hak_owner_outlives_reclaimer(hak_heap *heap) {
    if (is_robbed(heap))
        atomic_fetch_and(&heap->claim, (uint8_t)~HAK_CLAIM_ROBBED);
}
