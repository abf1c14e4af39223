#include "limits/limit.h"

#include "os/os.h"
#include "os/tell.h"
#include "policy/policy.h"

HAK_EARLY hak_limits hak_limit = {SIZE_MAX, SIZE_MAX, SIZE_MAX};
_Atomic bool hak_limit_moves;

static size_t share_of(size_t all, unsigned long percent) {
    return all == SIZE_MAX ? SIZE_MAX : all / 100 * percent + all % 100 * percent / 100;
}

static bool is_share(unsigned long value) {
    return (value & HAK_SHARE) != 0;
}

static size_t pages_of(unsigned long value, size_t granted) {
    size_t bytes = is_share(value) ? share_of(granted, value & ~HAK_SHARE) : value;
    return value == 0 || bytes == SIZE_MAX ? SIZE_MAX : bytes >> HAK_PAGE_SHIFT;
}

static void set(size_t soft, size_t hard) {
    atomic_store_explicit(&hak_limit.soft, soft, memory_order_relaxed);
    atomic_store_explicit(&hak_limit.hard, hard, memory_order_relaxed);
    atomic_store_explicit(&hak_limit.lowest, soft < hard ? soft : hard, memory_order_relaxed);
}

/* Where memory is short all that is in use counts as too much. */
static bool is_short(unsigned long percent) {
    return percent != 0 && hak_cgroup_pressure() >= percent;
}

/* What can no longer be read is taken to be as before: descriptors may be used up, or the program
 * may have changed its root. */
static size_t granted_now(void) {
    static _Atomic size_t granted = SIZE_MAX;
    size_t now = hak_cgroup_limit(atomic_load_explicit(&granted, memory_order_relaxed));
    atomic_store_explicit(&granted, now, memory_order_relaxed);
    return now;
}

/* Returns what the cgroup grants; SIZE_MAX where nobody asks. */
static size_t follow_policy(void) {
    hak_policy policy;
    hak_policy_copy(&policy);
    bool shares = is_share(policy.soft_limit) || is_share(policy.hard_limit);
    size_t granted = shares ? granted_now() : SIZE_MAX;
    size_t soft = is_short(policy.pressure) ? 0 : pages_of(policy.soft_limit, granted);
    set(soft, pages_of(policy.hard_limit, granted));
    atomic_store_explicit(&hak_limit_moves, shares || policy.pressure != 0, memory_order_relaxed);
    if (shares && granted == SIZE_MAX && policy.quiet == 0)
        return 0;
    return granted;
}

/* Who follows an older policy may come last, and does it again then. */
static size_t update(void) {
    const hak_policy *seen;
    size_t granted;
    do {
        seen = hak_policy_now();
        granted = follow_policy();
    } while (seen != hak_policy_now());
    return granted;
}

/* Other options change, too: once for each pair of limits. */
static bool is_new(const hak_policy *policy) {
    static _Atomic unsigned long soft, hard;
    unsigned long soft_now = policy->soft_limit, hard_now = policy->hard_limit;
    bool is_same = atomic_exchange(&soft, soft_now) == soft_now;
    return atomic_exchange(&hard, hard_now) != hard_now || !is_same;
}

void hak_limit_update(void) {
    if (update() == 0 && is_new(hak_policy_now()))
        hak_tell("no cgroup limits its memory: shares of it limit nothing");
}

/* At most the standard purge delay: memory may go back later, or never. */
static uint64_t pause_ms(void) {
    uint64_t delay = hak_policy_now()->purge_delay_ms;
    uint64_t most = hak_options[HAK_OPTION_purge_delay_ms].standard;
    delay = delay < most ? delay : most;
    return delay > HAK_MOMENT_MS ? delay : HAK_MOMENT_MS;
}

void hak_limit_look_again(void) {
    static _Atomic uint64_t next_ms;
    uint64_t now = hak_os_now_ms(), next = atomic_load_explicit(&next_ms, memory_order_relaxed);
    if (now >= next && atomic_compare_exchange_strong(&next_ms, &next, now + pause_ms()))
        update();
}
