/* Whether a heap's owner is on a slow path. Owner and reclaimer (reclaim/reclaim.h) agree on it
 * without an atomic operation or a barrier of the owner's:
 *
 *   owner                          reclaimer
 *     busy = true                    claim = ROBBED
 *     (the compiler keeps it so)     hak_os_barrier(): a full barrier in every thread
 *     claim ? wait : go on           busy ? leave it : it is mine
 *
 * An owner that reads the claim before the barrier has written `busy` before it, too, and the
 * reclaimer sees that. One that reads the claim after the barrier finds it, and waits. Source:
 * Dekker's algorithm, asymmetric as in Dice, Huang and Yang, "Asymmetric Dekker Synchronization"
 * (2001). */
#pragma once

#include "base/types.h"
#include "os/barrier.h"
#include "os/lock.h"

/* What a reclaimer does with a heap, or has done since its owner last came by. */
enum hak_claim {
    HAK_CLAIM_ROBBED = 1, /* keep off */
    HAK_CLAIM_HOLES = 2,  /* there are empty slots below the tops of magazines */
    HAK_CLAIM_SETTLED = 4 /* there was nothing left to do */
};

/* One reclaimer at a time. Taken after the purge lock and before the registry's. An owner that
 * waits for it holds no lock. */
extern HAK_HIDDEN hak_lock hak_reclaim_lock;

/* Waits for the reclaimer, and takes back what it left behind. False: see below. */
HAK_DOOR bool hak_owner_meets(hak_heap *heap);

/* The owner's side of the agreement above. True: there is, or was, a reclaimer. */
HAK_INLINE bool hak_owner_is_met(hak_heap *heap) {
    atomic_store_explicit(&heap->busy, true, memory_order_relaxed);
    atomic_signal_fence(memory_order_seq_cst);
    return HAK_UNLIKELY(atomic_load_explicit(&heap->claim, memory_order_acquire) != 0);
}

/* The owner enters a slow path, and leaves it. What it calls in between may leave the path. So the
 * heap must be sound before such a call, and the owner enters again after it.
 *
 * False: the heap is not this thread's any more, and the call has to begin again. That happens in a
 * child of fork, if a reclaimer had the heap and another library's handler allocates before ours
 * has run. */
HAK_INLINE bool hak_owner_enters(hak_heap *heap) {
    return !hak_owner_is_met(heap) || HAK_LIKELY(hak_owner_meets(heap));
}
HAK_INLINE void hak_owner_leaves(hak_heap *heap) {
    atomic_store_explicit(&heap->busy, false, memory_order_release);
}
/* The same for callers that need not wait. False: there is, or was, a reclaimer; the owner has
 * left. */
HAK_INLINE bool hak_owner_tries(hak_heap *heap) {
    if (!hak_owner_is_met(heap))
        return true;
    hak_owner_leaves(heap);
    return false;
}

/* Notes who owns the heap from now on: the calling thread, which is on a slow path, or
 * HAK_UNKNOWN_TASK. */
void hak_owner_is(hak_heap *heap, hak_os_task task);

/* In a forked child. False: the calling thread has no heap, or lost it because a reclaimer had it
 * at the fork. */
bool hak_owner_survives_fork(hak_heap *heap);

/* In a forked child, for each heap that stays in use, idle ones too: takes back the mark of a
 * reclaimer that had marked the heap, and had not yet looked whether it is busy. */
void hak_owner_outlives_reclaimer(hak_heap *heap);
