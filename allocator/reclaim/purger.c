#include "reclaim/purger.h"

#include "os/lock.h"
#include "os/os.h"
#include "os/thread.h"
#include "pages/epoch.h"
#include "policy/policy.h"
#include "reclaim/background.h"
#include "reclaim/purge.h"

static _Atomic uint64_t next_attempt_ms;

/* When nothing waits it stays for a moment, and looks again. */
static void purge_while_pending(void) {
    for (bool rested = false; !rested || hak_purge_is_pending();) {
        uint32_t hurried = hak_background_hurried();
        uint64_t wait = hak_purge_due();
        rested = wait == 0;
        hak_background_sleep(hurried, rested ? HAK_MOMENT_MS : wait);
    }
}

static void body(void) {
    do
        purge_while_pending();
    while (hak_background_rest());
}

static hak_os_thread purger = {body, "hakmem-purge"};

/* A system that refuses the thread, because the user has too many of them or memory is short, may
 * grant it later. */
static void start(void) {
    uint64_t now = hak_os_now_ms();
    if (hak_forks || now < atomic_load(&next_attempt_ms) || !hak_background_begins() ||
        hak_os_start_thread(&purger))
        return;
    atomic_store(&next_attempt_ms, now + HAK_MOMENT_MS);
    hak_background_is_refused();
}

bool hak_purger_start(void) {
    bool lacks = hak_background_lacks();
    if (lacks)
        start();
    return lacks;
}
