#include "front/profile.h"

#include "base/fatal.h"
#include "include/hakmem.h"
#include "os/file.h"
#include "os/tell.h"
#include "policy/policy.h"
#include "sampling/dump.h"
#include "sampling/sampling.h"
#include "sampling/sites.h"
#include "thread/thread.h"
#include "trap/pool.h"

#include <errno.h>

static _Atomic bool wanted;

void hak_profile_adopt(void) {
    hak_heap *heap = hak_thread_enter();
    if (heap != NULL)
        hak_sampling_adopt(heap);
    hak_thread_leave(heap);
}

HAK_EXPORT int hak_profile_start(size_t rate) {
    if (HAK_GUARD || HAK_HARDENED)
        return ENOTSUP;
    if (!hak_sampling_prepare())
        return ENOMEM;
    hak_sampling_start(rate != 0 ? rate : hak_sampling_usual_rate());
    hak_profile_adopt();
    return 0;
}

HAK_EXPORT void hak_profile_stop(void) {
    hak_sampling_stop();
}

HAK_EXPORT int hak_profile_dump(const char *path) {
    return hak_profile_write(path);
}

/* The signal has come. */
static void begin_or_write(void) {
    if (hak_policy_now()->profile_rate != 0) {
        hak_profile_write_next();
        return;
    }
    hak_sampling_begin();
    hak_tell("a heap profile begins; the next signal writes it");
}

void hak_profile_look(void) {
    bool asked = atomic_load_explicit(&wanted, memory_order_relaxed) &&
                 atomic_exchange_explicit(&wanted, false, memory_order_relaxed);
    if (hak_sites_take_peak())
        hak_profile_write_next();
    if (asked)
        begin_or_write();
}

static void on_signal(int number) {
    (void)number;
    atomic_store_explicit(&wanted, true, memory_order_relaxed);
    hak_counting_changes();
}

/* The program may still make it. */
static HAK_COLD void tell_of_folder(const char *prefix) {
    int error = hak_out_try(prefix);
    if (error != 0 && hak_policy_now()->quiet == 0)
        hak_message("hakmem: HAKMEM_PROFILE_HEAP=%s: no profile can be written there yet: %s",
                    prefix, hak_os_reason(error));
}

static HAK_COLD void begin_at(const char *prefix) {
    if (*prefix != '/') {
        hak_message("hakmem: HAKMEM_PROFILE_HEAP=%s is no absolute path; no heap profile is made",
                    prefix);
        return;
    }
    hak_profile_set_prefix(prefix);
    tell_of_folder(prefix);
    if (HAK_GUARD || HAK_HARDENED || !hak_sampling_prepare()) {
        hak_message("hakmem: no heap profile: out of memory, or a guard or hardened build");
        return;
    }
    hak_sampling_obey();
    hak_policy_on_signal(HAK_OPTION_profile_signal, on_signal);
    hak_profile_adopt();
}

void hak_profile_begin(char *const environment[]) {
    const char *prefix = hak_policy_text(environment, "HAKMEM_PROFILE_HEAP");
    const hak_policy *policy = hak_policy_now();
    if (prefix != NULL)
        begin_at(prefix);
    else if (policy->profile_signal != 0 && policy->quiet == 0)
        hak_message("hakmem: HAKMEM_PROFILE_SIGNAL: HAKMEM_PROFILE_HEAP names no path; not used");
}

static HAK_COLD void begin_traps(unsigned long rate) {
    if (HAK_GUARD || HAK_HARDENED || !hak_trap_open()) {
        hak_message(
            "hakmem: HAKMEM_GUARD_SAMPLE: no sampled guard: out of memory, or a guard or hardened "
            "build");
        return;
    }
    hak_sampling_start_traps(rate);
    hak_profile_adopt();
}

void hak_trap_begin(void) {
    unsigned long rate = hak_policy_now()->guard_sample;
    if (HAK_UNLIKELY(rate != 0))
        begin_traps(rate);
}
