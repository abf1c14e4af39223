#include "guard/random.h"

#include "base/attributes.h"
#include "os/guard.h"

#include <stdatomic.h>
#include <stdbool.h>

static HAK_TLS uint64_t state; /* 0: not seeded yet */

static uint64_t seed(void) {
    uint64_t value = hak_os_random();
    return value != 0 ? value : 1;
}

/* Source: Vigna, "An experimental exploration of Marsaglia's xorshift generators, scrambled"
 * (2016): xorshift64*. */
uint32_t hak_random_below(uint32_t below) {
    uint64_t x = state != 0 ? state : seed();
    x ^= x >> 12;
    x ^= x << 25;
    x ^= x >> 27;
    state = x;
    uint64_t high = (x * UINT64_C(0x2545f4914f6cdd1d)) >> 32;
    return (uint32_t)((high * below) >> 32);
}

uint64_t hak_secret(void) {
    static _Atomic uint64_t secret;
    uint64_t known = atomic_load_explicit(&secret, memory_order_relaxed);
    if (HAK_LIKELY(known != 0))
        return known;
    uint64_t fresh = seed();
    bool first = atomic_compare_exchange_strong(&secret, &known, fresh);
    return first ? fresh : known;
}
