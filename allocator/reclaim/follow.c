#include "reclaim/follow.h"

#include "limits/limit.h"
#include "pages/epoch.h"
#include "policy/policy.h"
#include "reclaim/background.h"
#include "sampling/sampling.h"

static _Atomic bool asked; /* to read the file of HAKMEM_CONF again */

/* Where memory is never given back from now on, the epoch that runs ends at once, and purges
 * nothing. */
static void follow(void) {
    hak_limit_update();
    hak_sampling_follow();
    hak_epoch_hasten(hak_policy_purges() ? hak_policy_now()->purge_delay_ms : 0);
}

void hak_follow_policy(void) {
    follow();
    hak_purge_expect();
    hak_background_hurry();
}

/* A signal handler may have interrupted anything: it only sets a few words and wakes a thread. */
static void ask(int signal) {
    (void)signal;
    atomic_store(&asked, true);
    hak_epoch_hasten(0);
    hak_background_hurry();
}

void hak_follow_start(void) {
    hak_limit_update();
    hak_policy_on_signal(HAK_OPTION_conf_signal, ask);
}

/* Once the program has begun: Go's runtime takes every signal at its start. */
static void look_at_signals_once(void) {
    static bool looked;
    if (HAK_LIKELY(looked))
        return;
    looked = true;
    hak_policy_look_at_signals();
}

static HAK_COLD void read_again(void) {
    if (atomic_exchange(&asked, false) && hak_policy_read_again() >= 0)
        follow();
}

bool hak_follow_is_asked(void) {
    return atomic_load(&asked);
}

void hak_follow_the_file(void) {
    look_at_signals_once();
    if (HAK_UNLIKELY(hak_follow_is_asked()))
        read_again();
}
