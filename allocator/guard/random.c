#include "guard/random.h"

#include "base/attributes.h"
#include "os/guard.h"

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
