#include "front/guard_sample.h"

#include "base/fatal.h"
#include "front/profile.h"
#include "policy/policy.h"
#include "sampling/sampling.h"
#include "trap/pool.h"

static HAK_COLD void begin(unsigned long rate) {
    if (HAK_GUARD || HAK_HARDENED || !hak_trap_open()) {
        hak_message((const char *const[]){
            "hakmem: HAKMEM_GUARD_SAMPLE: no sampled guard: out of memory, or a guard or hardened "
            "build",
            NULL});
        return;
    }
    hak_sampling_start_traps(rate);
    hak_profile_adopt();
}

void hak_trap_begin(void) {
    unsigned long rate = hak_policy_now()->guard_sample;
    if (HAK_UNLIKELY(rate != 0))
        begin(rate);
}
