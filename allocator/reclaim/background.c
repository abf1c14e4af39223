#include "reclaim/background.h"

#include "os/lock.h"
#include "os/os.h"
#include "os/thread.h"
#include "pages/epoch.h"
#include "policy/policy.h"
#include "reclaim/purge.h"

enum { NONE, RUNNING, RESTING };
static _Atomic uint32_t state;
static _Atomic bool first_lives;
static _Atomic uint64_t next_attempt_ms;

static bool is_wanted(void) {
    return HAK_UNLIKELY(hak_policy_now()->purge_thread != 0);
}

static bool pass(uint32_t from, uint32_t to) {
    return atomic_compare_exchange_strong(&state, &from, to);
}

/* ---- the thread ---- */

/* When nothing waits it stays for a moment, and looks again. */
static void purge_while_pending(void) {
    for (bool rested = false; !rested || hak_purge_is_pending();) {
        uint64_t wait = hak_purge_due();
        rested = wait == 0;
        hak_os_sleep_ms(rested ? HAK_MOMENT_MS : wait);
    }
}

static uint32_t when_idle(void) {
    return atomic_load(&first_lives) && is_wanted() ? RESTING : NONE;
}

/* It says that it rests, or is gone, and then looks once more at what would call for it. Whoever
 * sets that looks at the state afterwards: one of the two sees the other. False: it ends. */
static bool rest(void) {
    uint32_t idle = when_idle();
    atomic_store(&state, idle);
    atomic_thread_fence(memory_order_seq_cst);
    if (hak_purge_is_pending() || when_idle() != idle)
        return pass(idle, RUNNING) || idle == RESTING; /* else another one was started */
    while (atomic_load(&state) == RESTING)
        hak_os_wait(&state, RESTING);
    return idle == RESTING;
}

static void body(void) {
    do
        purge_while_pending();
    while (rest());
}

static hak_os_thread purger = {body, "hakmem-purge"};

/* ---- those that call for it ---- */

/* A system that refuses the thread, because the user has too many of them or memory is short, may
 * grant it later. */
static void start(void) {
    uint64_t now = hak_os_now_ms();
    if (hak_forks || now < atomic_load(&next_attempt_ms) || !pass(NONE, RUNNING) ||
        hak_os_start_thread(&purger))
        return;
    atomic_store(&next_attempt_ms, now + HAK_MOMENT_MS);
    atomic_store(&state, NONE);
}

bool hak_background_start(void) {
    bool needed = is_wanted() && atomic_load(&state) == NONE &&
                  (atomic_load(&first_lives) || hak_purge_is_pending());
    if (needed)
        start();
    return needed;
}

void hak_background_wake(void) {
    if (HAK_UNLIKELY(atomic_load(&state) == RESTING) && pass(RESTING, RUNNING))
        hak_os_wake(&state);
}

void hak_background_first_lives(bool lives) {
    atomic_store(&first_lives, lives);
    hak_background_wake();
}

void hak_background_after_fork_in_child(void) {
    atomic_store(&state, NONE);
    atomic_store(&first_lives, false);
    atomic_store(&next_attempt_ms, 0);
}
