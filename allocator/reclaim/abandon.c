#include "reclaim/abandon.h"

#include "base/classes.h"
#include "bin/bin.h"
#include "heap/heap.h"
#include "heap/owner.h"
#include "heap/seat.h"
#include "magazine/magazine.h"
#include "os/os.h"
#include "pages/run_cache.h"
#include "policy/policy.h"
#include "reclaim/background.h"
#include "reclaim/trim.h"

/* Where threads follow each other, each would fill its magazines from the slabs and flush them at
 * its end. So a few heaps keep ready what the next threads would take first. */
static size_t blocks_to_keep(unsigned cls) {
    size_t usual = hak_classes[cls].depth; /* that of the next thread's magazine */
    if (hak_classes[cls].size > HAK_SMALL_MAX)
        return 0;
    return usual < HAK_FIRST_BATCH ? usual : HAK_FIRST_BATCH;
}

static void flush_most(hak_heap *heap) {
    bool warm = hak_seat_idle_count() < HAK_FEW_SEATS;
    for (unsigned cls = 1; cls < HAK_CLASSES; cls++)
        if (hak_magazine_count(heap, cls) > (warm ? blocks_to_keep(cls) : 0))
            hak_bin_flush(heap, cls);
}

/* When a thread last began, and when one last ended; at first, when the process began. */
static _Atomic uint64_t began_ms, ended_ms;

void hak_abandon_note_begin(void) {
    uint64_t now = hak_os_now_ms(), never = 0;
    atomic_store(&began_ms, now);
    atomic_compare_exchange_strong(&ended_ms, &never, now);
}

/* Threads end, and none has begun for a while, so the next ones will not come soon. Heaps that were
 * kept for them would each hold an empty slab of each size until the epoch ends. */
static bool is_quiet(uint64_t now, uint64_t delay) {
    return now > atomic_load(&began_ms) + delay;
}

/* Notes that a thread ended, and returns whether the teardown it belongs to is rare. All ends since
 * a thread last began are one teardown. It is rare if within a purge delay before its first end no
 * thread ended and the process did not begin: then heaps go back. A program that starts and ends
 * threads in turn wants their heaps again. Threads that end at once agree, as each reads the time
 * of the last end before it writes its own. */
static bool note_end(uint64_t now, uint64_t delay) {
    static _Atomic uint64_t teardown; /* when a thread last began, times 2; bit 0: it is rare */
    uint64_t last = atomic_load(&ended_ms), noted = atomic_load(&teardown);
    uint64_t began = atomic_load(&began_ms);
    if (noted / 2 != began)
        atomic_compare_exchange_strong(&teardown, &noted, began * 2 + (now > last + delay));
    atomic_store(&ended_ms, now);
    return atomic_load(&teardown) % 2 != 0;
}

static bool is_shutdown(void) {
    uint64_t now = hak_os_now_ms(), delay = hak_policy_now()->purge_delay_ms;
    return hak_seat_idle_count() >= HAK_FEW_SEATS && hak_policy_purges() &&
           (is_quiet(now, delay) || note_end(now, delay));
}

/* Warm blocks and empty slabs stay with the heap if a next thread may come. If none does, the purge
 * takes them: in this epoch, or in the next one if the heap was trimmed in this one already. */
void hak_abandon(hak_heap *heap) {
    hak_owner_is(heap, HAK_UNKNOWN_TASK);
    if (hak_seat_is_oldest(heap->seat))
        hak_background_first_lives(false);
    hak_drain(heap);
    flush_most(heap);
    heap->trim.more = true;
    bool for_long = is_shutdown();
    if (for_long)
        hak_heap_release_empty(heap);
    else
        hak_run_cache_empty(heap, false);
    hak_heap_leave(heap, for_long);
}

static bool has_ended(const hak_seat *seat) {
    hak_os_task task = {seat->process, seat->thread};
    return hak_seat_state(seat) == HAK_HEAP_ACTIVE && hak_os_task_is_gone(task);
}

/* Nobody else comes to the heap while the lock is held. What its owner was in the middle of is
 * never finished: such a heap is left as it is, but for its run cache, where the kind of each run
 * shows that it is there. */
static bool take_over(hak_seat *seat) {
    hak_heap *heap = seat->heap;
    if (!has_ended(seat))
        return false;
    hak_owner_is(heap, HAK_UNKNOWN_TASK);
    if (heap->busy) {
        hak_run_cache_inherit(heap);
        hak_seat_set_state(seat, HAK_HEAP_FROZEN);
        return false;
    }
    heap->busy = true;
    return true;
}

static void look_at(hak_seat *seat) {
    if (!has_ended(seat) || !hak_lock_try(&hak_reclaim_lock))
        return;
    bool is_ours = take_over(seat);
    hak_lock_give(&hak_reclaim_lock);
    if (!is_ours)
        return;
    if (seat->heap->claim != 0)
        hak_owner_meets(seat->heap);
    hak_abandon(seat->heap);
}

/* Each look is a system call, so a short list is gone round once. Another thread may have left a
 * seat in `next` that this one has not seen yet: hence acquire. */
void hak_abandoned_find(void) {
    static HAK_EARLY _Atomic(hak_seat *) next;
    const hak_seat *began = NULL;
    for (unsigned looks = HAK_FEW_SEATS; looks > 0; looks--) {
        hak_seat *seat = atomic_load_explicit(&next, memory_order_acquire);
        if (seat == NULL)
            seat = hak_seat_first();
        if (seat == NULL || seat == began)
            return;
        began = began != NULL ? began : seat;
        atomic_store_explicit(&next, seat->registry_next, memory_order_release);
        look_at(seat);
    }
}
