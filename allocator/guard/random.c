#include "guard/random.h"

#include "base/attributes.h"
#include "base/bits.h"
#include "os/guard.h"

static HAK_TLS uint64_t state; /* 0: not seeded yet */

static uint64_t seed(void) {
    uint64_t value = hak_os_random();
    return value != 0 ? value : 1;
}

uint32_t hak_random_below(uint32_t below) {
    if (state == 0)
        state = seed();
    return (uint32_t)hak_random_up_to(&state, below);
}
