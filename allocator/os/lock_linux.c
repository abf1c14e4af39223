#include "os/lock.h"

#include <errno.h>
#include <linux/futex.h>
#include <sys/syscall.h>
#include <unistd.h>

enum { SPINS = 100 }; /* about the time that the short sections under our locks take */

HAK_TLS uint32_t hak_locks_held;

static void futex(hak_lock *lock, int operation, uint32_t value) {
    int saved_errno = errno;
    syscall(SYS_futex, &lock->state, operation | FUTEX_PRIVATE_FLAG, value, NULL, NULL, 0);
    errno = saved_errno;
}

void hak_lock_wait(hak_lock *lock) {
    for (int i = 0; i < SPINS; i++) {
        if (atomic_load_explicit(&lock->state, memory_order_relaxed) == 0 && hak_lock_grab(lock))
            return;
        HAK_PAUSE();
    }
    while (atomic_exchange_explicit(&lock->state, 2, memory_order_acquire) != 0)
        futex(lock, FUTEX_WAIT, 2);
}

void hak_lock_wake(hak_lock *lock) {
    futex(lock, FUTEX_WAKE, 1);
}
