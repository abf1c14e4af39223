/* A lock of four bytes. Never held across a call that may allocate or run foreign code. */
#ifndef HAK_OS_LOCK_H
#define HAK_OS_LOCK_H

#include "base/attributes.h"

#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

/* 0 free, 1 held, 2 held and somebody may wait. Source: Drepper, "Futexes Are Tricky" (2011),
 * section 6, mutex 2. Not recursive; usable from zero-initialised memory. */
typedef struct hak_lock {
    _Atomic uint32_t state;
} hak_lock;

HAK_COLD void hak_lock_wait(hak_lock *lock);
HAK_COLD void hak_lock_wake(hak_lock *lock);

/* Locks that this thread holds or is about to hold. Signal handlers may ask: it counts before the
 * lock is taken and until after it was given back. */
extern HAK_HIDDEN HAK_TLS uint32_t hak_locks_held;

HAK_INLINE void hak_lock_enter(void) {
    hak_locks_held++;
    atomic_signal_fence(memory_order_seq_cst);
}

HAK_INLINE void hak_lock_leave(void) {
    atomic_signal_fence(memory_order_seq_cst);
    hak_locks_held--;
}

/* True in a thread that forks, from our handler before fork to the one after it: it holds all
 * locks, and other handlers that run in between may allocate. */
extern HAK_HIDDEN HAK_TLS bool hak_lock_holds_all;

HAK_INLINE bool hak_lock_grab(hak_lock *lock) {
    uint32_t free_state = 0;
    return atomic_compare_exchange_strong_explicit(&lock->state, &free_state, 1,
                                                   memory_order_acquire, memory_order_relaxed);
}

HAK_INLINE bool hak_lock_try(hak_lock *lock) {
    if (HAK_UNLIKELY(hak_lock_holds_all))
        return true;
    hak_lock_enter();
    if (HAK_LIKELY(hak_lock_grab(lock)))
        return true;
    hak_lock_leave();
    return false;
}

HAK_INLINE void hak_lock_take(hak_lock *lock) {
    if (HAK_UNLIKELY(hak_lock_holds_all))
        return;
    hak_lock_enter();
    if (!hak_lock_grab(lock))
        hak_lock_wait(lock);
}

HAK_INLINE void hak_lock_give(hak_lock *lock) {
    if (HAK_UNLIKELY(hak_lock_holds_all))
        return;
    if (atomic_exchange_explicit(&lock->state, 0, memory_order_release) == 2)
        hak_lock_wake(lock);
    hak_lock_leave();
}

/* In a forked child, where the holder may not exist any more. */
HAK_INLINE void hak_lock_reset(hak_lock *lock) {
    atomic_store_explicit(&lock->state, 0, memory_order_relaxed);
}

#endif
