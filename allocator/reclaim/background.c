#include "reclaim/background.h"

#include "os/lock.h"
#include "os/os.h"
#include "os/thread.h"
#include "pages/epoch.h"
#include "policy/policy.h"
#include "reclaim/purge.h"

static _Atomic bool running;
static _Atomic uint64_t next_attempt_ms;

/* When nothing waits it rests for a moment, looks again, and ends. */
static void purge_while_pending(void) {
    for (bool rested = false; !rested || hak_purge_is_pending();) {
        uint64_t wait = hak_purge_due();
        rested = wait == 0;
        hak_os_sleep_ms(rested ? HAK_MOMENT_MS : wait);
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

static hak_os_thread purger = {body, "hakmem-purge"};

/* A system that refuses the thread, because the user has too many of them or memory is short, may
 * grant it later. */
static void start(void) {
    uint64_t now = hak_os_now_ms();
    if (hak_forks || now < atomic_load(&next_attempt_ms) || atomic_exchange(&running, true) ||
        hak_os_start_thread(&purger))
        return;
    atomic_store(&next_attempt_ms, now + HAK_MOMENT_MS);
    atomic_store(&running, false);
}

bool hak_background_start(void) {
    bool wanted = HAK_UNLIKELY(hak_policy_now()->purge_thread != 0) &&
                  !atomic_load_explicit(&running, memory_order_relaxed);
    if (wanted)
        start();
    return wanted;
}

void hak_background_after_fork_in_child(void) {
    atomic_store(&running, false);
    atomic_store(&next_attempt_ms, 0);
}
