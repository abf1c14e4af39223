#include "reclaim/steer.h"

#include "limits/limit.h"
#include "pages/epoch.h"
#include "policy/policy.h"
#include "reclaim/background.h"

/* Where memory is never given back from now on, the epoch that runs ends at once, and purges
 * nothing. */
static void follow(void) {
    hak_limit_update();
    hak_epoch_hasten(hak_policy_purges() ? hak_policy_now()->purge_delay_ms : 0);
}

void hak_steer(void) {
    follow();
    hak_purge_expect();
    hak_background_hurry();
}

static _Atomic bool asked;

/* A signal handler: it may have interrupted anything, touches a few words and wakes a thread. */
static void ask(int signal) {
    (void)signal;
    atomic_store(&asked, true);
    hak_epoch_hasten(0);
    hak_background_hurry();
}

void hak_steer_start(void) {
    hak_limit_update();
    hak_policy_on_signal(HAK_OPTION_conf_signal, ask);
}

static HAK_COLD void read_again(void) {
    if (hak_policy_read_again())
        follow();
}

void hak_steer_serve(void) {
    if (HAK_UNLIKELY(atomic_load_explicit(&asked, memory_order_relaxed)) &&
        atomic_exchange(&asked, false))
        read_again();
}

bool hak_steer_is_asked(void) {
    return atomic_load(&asked);
}
