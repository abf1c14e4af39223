/* Whether a heap's owner is on a slow path. Owner and reclaimer (reclaim/reclaim.h) agree on it
 * without an atomic operation or a barrier of the owner's:
 *
 *   owner                          reclaimer
 *     busy = true                    claim = ROBBED
 *     (the compiler keeps it so)     hak_os_barrier(): a full barrier in every thread
 *     claim ? wait : go on           busy ? leave it : it is mine
 *
 * When the owner has looked at the claim before its barrier, then the reclaimer sees that it is
 * busy; when it looks after it, it sees the claim. Source: Dekker's algorithm, asymmetric as in
 * Dice, Huang and Yang, "Asymmetric Dekker Synchronization" (2001). */
#pragma once

#include "base/types.h"
#include "os/barrier.h"
#include "os/lock.h"

/* What a reclaimer wants of a heap, and what it has left behind until its owner comes by. */
enum hak_claim {
    HAK_CLAIM_ROBBED = 1, /* keep off */
    HAK_CLAIM_HOLES = 2,  /* there are empty slots below the tops of magazines */
    HAK_CLAIM_SETTLED = 4 /* there was nothing left to do */
};

/* One reclaimer at a time. Behind the purge lock and in front of the registry's; owners that wait
 * for it hold none. */
extern HAK_HIDDEN hak_lock hak_reclaim_lock;

/* Waits for the reclaimer, and takes back what it left behind. False: see below. */
HAK_DOOR bool hak_owner_meets(hak_heap *heap);

/* The owner's side of the agreement above. True: there is, or was, a reclaimer. */
HAK_INLINE bool hak_owner_is_met(hak_heap *heap) {
    atomic_store_explicit(&heap->busy, true, memory_order_relaxed);
    atomic_signal_fence(memory_order_seq_cst);
    return HAK_UNLIKELY(atomic_load_explicit(&heap->claim, memory_order_acquire) != 0);
}

/* The owner enters a slow path, and leaves it. If it calls something in between that may enter and
 * leave by itself, the heap must be sound at that place, and the owner enters again afterwards.
 * False: the thread has this heap no more, and has to begin again. That happens in a child of fork,
 * where another library's handler allocates before ours has run, if a reclaimer had the heap. */
HAK_INLINE bool hak_owner_enters(hak_heap *heap) {
    return !hak_owner_is_met(heap) || HAK_LIKELY(hak_owner_meets(heap));
}
HAK_INLINE void hak_owner_leaves(hak_heap *heap) {
    atomic_store_explicit(&heap->busy, false, memory_order_release);
}
/* The same for who can go another way. False: there is, or was, a reclaimer; the owner has left. */
HAK_INLINE bool hak_owner_tries(hak_heap *heap) {
    if (!hak_owner_is_met(heap))
        return true;
    hak_owner_leaves(heap);
    return false;
}

/* Who owns the heap from now on: the calling thread, which is on a slow path, or nobody that could
 * be found. */
void hak_owner_is(hak_heap *heap, hak_os_task task);

/* In a forked child: false when the calling thread has no heap, or a reclaimer had it, and it is
 * lost then. */
bool hak_owner_survives_fork(hak_heap *heap);

/* The same for each heap that stays in use, idle ones too. A reclaimer may have marked one, and not
 * looked yet whether it is busy. Meanwhile its owner may leave it, and another one come to it. */
void hak_owner_outlives_reclaimer(hak_heap *heap);
