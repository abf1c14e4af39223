#include "os/lock.h"

#include "os/thread.h"

enum { SPINS = 100 }; /* about the time that the short sections under our locks take */

HAK_TLS uint32_t hak_locks_held;

void hak_lock_wait(hak_lock *lock) {
    for (int i = 0; i < SPINS; i++) {
        if (atomic_load_explicit(&lock->state, memory_order_relaxed) == 0 && hak_lock_grab(lock))
            return;
        HAK_PAUSE();
    }
    while (atomic_exchange_explicit(&lock->state, 2, memory_order_acquire) != 0)
        hak_os_wait(&lock->state, 2);
}

void hak_lock_wake(hak_lock *lock) {
    hak_os_wake(&lock->state);
}
