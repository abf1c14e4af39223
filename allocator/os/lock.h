/* A lock of four bytes. Never held across a call that may allocate or run foreign code.
 *
 * fork neither takes our locks nor waits for them: between its handlers libc waits for locks of its
 * own, whose holders may allocate. So the child may find a lock held by a thread that it does not
 * have, and what the lock guards half changed:
 *
 *   thread A   ---[ take | change, change, change | give ]---
 *   thread B   ---------- fork | --------------------------------
 *   child                  B   | lock held: mend what it guards, then go on
 *
 * The child's memory is a cut through the parent's: it contains a write of a thread only if it
 * contains all that this thread did before, and all that it knew of. (A write that comes too late
 * for the child faults, because the page is shared with the child by then, and waits until the
 * system has copied everything.) So a lock that the child finds free guards something sound. Where
 * it finds one held, each word of what that guards is old or new, in any combination, because
 * compilers order writes between take and give as they like. Each box mends its part so: what each
 * word says by itself counts, the rest is computed anew, and what was on its way is left to nobody.
 */
#pragma once

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

/* True in a thread that forks, from our handler before fork to the one after it. */
extern HAK_HIDDEN HAK_TLS bool hak_forks;
/* Handlers of other libraries that run in between may allocate, in the child, too: it is mended as
 * soon as it wants the first lock. */
HAK_COLD void hak_fork_look(void);

HAK_INLINE bool hak_lock_grab(hak_lock *lock) {
    uint32_t free_state = 0;
    return atomic_compare_exchange_strong_explicit(&lock->state, &free_state, 1,
                                                   memory_order_acquire, memory_order_relaxed);
}

HAK_INLINE bool hak_lock_try(hak_lock *lock) {
    if (HAK_UNLIKELY(hak_forks))
        hak_fork_look();
    hak_lock_enter();
    if (HAK_LIKELY(hak_lock_grab(lock)))
        return true;
    hak_lock_leave();
    return false;
}

HAK_INLINE void hak_lock_take(hak_lock *lock) {
    if (HAK_UNLIKELY(hak_forks))
        hak_fork_look();
    hak_lock_enter();
    if (!hak_lock_grab(lock))
        hak_lock_wait(lock);
}

HAK_INLINE void hak_lock_give(hak_lock *lock) {
    if (atomic_exchange_explicit(&lock->state, 0, memory_order_release) == 2)
        hak_lock_wake(lock);
    hak_lock_leave();
}

/* For a moment in the middle of something others may have the lock. A handler of signals that forks
 * meanwhile still finds a thread that holds locks. */
HAK_INLINE void hak_lock_lend(hak_lock *lock) {
    hak_lock_enter();
    hak_lock_give(lock);
}

HAK_INLINE void hak_lock_take_back(hak_lock *lock) {
    hak_lock_take(lock);
    hak_lock_leave();
}

/* In a forked child: nobody holds the lock any more. True: somebody did, so what it guards has to
 * be mended. Not where a handler of signals forks that has interrupted a thread which holds locks:
 * that thread goes on with what it was about, in the child, too. */
HAK_INLINE bool hak_lock_inherit(hak_lock *lock) {
    bool was_held = atomic_load_explicit(&lock->state, memory_order_relaxed) != 0;
    atomic_store_explicit(&lock->state, 0, memory_order_relaxed);
    return was_held && hak_locks_held == 0;
}
