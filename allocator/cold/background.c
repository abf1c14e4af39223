#include "cold/background.h"

#include "cold/purge.h"
#include "os/lock.h"
#include "os/thread.h"
#include "policy/policy.h"

enum { LOOK_MS = 500, IDLE_LOOKS = 4 }; /* when nothing waits it looks as often again, and ends */

static _Atomic bool running;

static void purge_while_pending(void) {
    for (int idle = 0; idle < IDLE_LOOKS;) {
        uint64_t wait = hak_purge_due();
        idle = wait == 0 ? idle + 1 : 0;
        hak_os_sleep_ms(wait == 0 ? LOOK_MS : wait);
    }
}

/* Whoever expects a purge after the last look and before the thread said that it is gone has not
 * started another one. */
static void body(void) {
    do {
        purge_while_pending();
        atomic_store(&running, false);
    } while (hak_purge_is_pending() && !atomic_exchange(&running, true));
}

/* A system that refuses the thread is not asked again: the option then does nothing. */
static void start(void) {
    if (!hak_lock_holds_all && !atomic_exchange(&running, true))
        hak_os_start_thread(body, "hakmem-purge");
}

void hak_background_start(void) {
    if (HAK_UNLIKELY(hak_policy_now()->purge_thread != 0) &&
        !atomic_load_explicit(&running, memory_order_relaxed))
        start();
}

void hak_background_after_fork_in_child(void) {
    atomic_store(&running, false);
}
