#include "reclaim/background.h"

#include "os/lock.h"
#include "os/os.h"
#include "os/thread.h"
#include "pages/epoch.h"
#include "policy/policy.h"

#include <stdatomic.h>

enum { NONE, RUNNING, RESTING };
static _Atomic uint32_t state;
static _Atomic bool first_lives;
static _Atomic uint32_t hurried; /* calls of hak_background_hurry */

static bool is_wanted(void) {
    return HAK_UNLIKELY(hak_policy_now()->purge_thread != 0);
}

static bool pass(uint32_t from, uint32_t to) {
    return atomic_compare_exchange_strong(&state, &from, to);
}

void hak_background_wake(void) {
    if (HAK_UNLIKELY(atomic_load(&state) == RESTING) && pass(RESTING, RUNNING))
        hak_os_wake(&state);
}

void hak_background_hurry(void) {
    atomic_fetch_add(&hurried, 1);
    hak_os_wake(&hurried);
    hak_background_wake();
}

void hak_background_first_lives(bool lives) {
    atomic_store(&first_lives, lives);
    hak_background_wake();
}

void hak_background_after_fork_in_child(void) {
    atomic_store(&state, NONE);
    atomic_store(&first_lives, false);
}

bool hak_background_begins(void) {
    return pass(NONE, RUNNING);
}

static uint32_t when_idle(void) {
    return atomic_load(&first_lives) && is_wanted() ? RESTING : NONE;
}

/* The thread says that it rests, or is gone, and then looks once more for work. Whoever brings work
 * looks at the state afterwards: one of the two sees the other. */
bool hak_background_rest(void) {
    uint32_t idle = when_idle();
    atomic_store(&state, idle);
    atomic_thread_fence(memory_order_seq_cst);
    if (hak_purge_is_pending() || when_idle() != idle)
        return pass(idle, RUNNING) || idle == RESTING; /* else another one was started */
    if (idle == NONE)
        return false; /* another one may rest by now: the call that wakes it is not for this one */
    while (atomic_load(&state) == RESTING)
        hak_os_wait(&state, RESTING);
    return true;
}

static uint64_t (*purge_due)(void);

/* When nothing waits the thread stays for a moment, and looks again. */
static void purge_while_pending(void) {
    for (bool rested = false; !rested || hak_purge_is_pending();) {
        uint32_t seen = atomic_load(&hurried);
        uint64_t wait = purge_due();
        rested = wait == 0;
        hak_os_wait_ms(&hurried, seen, rested ? HAK_MOMENT_MS : wait);
    }
}

static void body(void) {
    do
        purge_while_pending();
    while (hak_background_rest());
}

/* A system that refuses the thread, because the user has too many of them or memory is short, may
 * grant it later. */
static void start(uint64_t (*purge)(void)) {
    static hak_os_thread thread = {body, "hakmem-purge"};
    static _Atomic uint64_t next_attempt_ms;
    uint64_t now = hak_os_now_ms();
    if (hak_forks || now < atomic_load(&next_attempt_ms) || !hak_background_begins())
        return;
    purge_due = purge;
    if (hak_os_start_thread(&thread))
        return;
    atomic_store(&next_attempt_ms, now + HAK_MOMENT_MS);
    atomic_store(&state, NONE);
}

bool hak_background_start(uint64_t (*purge)(void)) {
    bool lacks = is_wanted() && atomic_load(&state) == NONE &&
                 (atomic_load(&first_lives) || hak_purge_is_pending());
    if (lacks)
        start(purge);
    return lacks;
}
